"""The functions of a C++ or Python file and how many lines their bodies take, found without a parser for C++.

C++ is read as text: comments, literals and preprocessor lines are blanked, and of #if and #else only the first branch
is kept. What stands before a brace outside of functions then says what it opens. A Python body starts after its
docstring.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PYTHON = {".py", ".pyi"}
CPP = {".hpp", ".cpp", ".cu", ".cuh", ".h"}
SUFFIXES = PYTHON | CPP

_SKIPPED = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"'  # a raw string
    r"|//[^\n]*|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'",  # but not digit separators
    re.DOTALL,
)
_CONTAINER = re.compile(r"\b(namespace|class|struct|union|extern)\b")
_NAME = re.compile(r"\b(?!__launch_bounds__|alignas|requires|noexcept|decltype)([~\w:]+|operator\s*\S+)\s*\(")
_BEFORE_HEAD = re.compile(r"(?:\s|\b(?:public|private|protected)\s*:)*")


@dataclass
class Function:
    name: str
    first: int  # first line that belongs to it, from 1
    opened: int  # line where its body begins
    lines: int  # number of lines of the body


def without_literals(text: str) -> str:
    """Comments and literals become blanks; every line keeps its number."""
    return _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def without_directives(text: str) -> str:
    """Preprocessor lines and all but the first branch of each #if become empty."""
    kept, branches, goes_on = [], [], False
    for line in text.split("\n"):
        directive = goes_on or line.lstrip().startswith("#")
        word = "" if goes_on else line.lstrip().removeprefix("#").split("(")[0].strip().split(" ")[0]
        goes_on = directive and line.rstrip().endswith("\\")
        if directive and word.startswith("if"):
            branches.append(True)
        elif directive and word.startswith("el"):
            branches[-1:] = [False]
        elif directive and word == "endif":
            del branches[-1:]
        kept.append("" if directive or not all(branches) else line)
    return "\n".join(kept)


def _is_container(head: str) -> bool:
    """Whether the text before a brace opens a namespace or a class, in which functions are looked for."""
    before = None
    while before != head:  # text in brackets does not matter
        before, head = head, re.sub(r"\([^()]*\)|<[^<>]*>", " ", head)
    return _CONTAINER.search(head) is not None and not head.rstrip().endswith("=")


def _is_function(head: str) -> bool:
    """Also what follows the braces of a constructor's members, whose head is empty."""
    if re.search(r"\benum\b", head) or head.rstrip().endswith("="):
        return False
    return "(" in head or not head.strip(" ,\n")


def _end_of(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


def in_cpp(text: str) -> Iterator[Function]:
    """Functions outside of functions. Throws ValueError where braces do not match."""
    text = without_directives(without_literals(text))
    containers = 0  # number of open braces that belong to namespaces and classes
    depth = 0
    start = opened = 0
    head = ""
    line = 1
    for at, mark in ((found.start(), found[0]) for found in re.finditer(r"[{};\n]", text)):
        if mark == "\n":
            line += 1
        elif depth > containers:  # within a function, or a block that is not searched
            depth += {"{": 1, "}": -1, ";": 0}[mark]
            if depth == containers:
                if _is_function(head):
                    named = _NAME.search(head)
                    before = start + _end_of(_BEFORE_HEAD, head)
                    first = text.count("\n", 0, before) + 1
                    yield Function(named[1] if named else "a block", first, opened, max(line - opened - 1, 1))
                start = at + 1
        elif mark == "{":
            head, opened = text[start:at], line
            depth += 1
            if _is_container(head):
                containers += 1
                start = at + 1
        else:
            start = at + 1
            if mark == "}":
                depth -= 1
                containers -= 1
        if depth < 0:
            raise ValueError(f"line {line} closes a brace that nothing opened")
    if depth != 0:
        raise ValueError("a brace is not closed")


def in_python(text: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            documented = ast.get_docstring(node, clean=False) is not None
            body = node.body[1:] if documented else node.body
            if body:
                last = node.end_lineno or node.lineno
                yield Function(node.name, first, body[0].lineno, last - body[0].lineno + 1)


def functions(path: Path) -> list[Function]:
    text = path.read_text(encoding="utf-8")
    return list(in_python(text) if path.suffix in PYTHON else in_cpp(text))
