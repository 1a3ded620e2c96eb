"""What the documents show is run. The second word after the fence of a code block says how:

    sh run        in an empty folder, `nearfield` and the Python of the tests on the path; must exit with status 0
    sh ci         every line of it is a line of .ci/run
    cpp run       a whole program: built by the test of the installed package, and run
    python run    a whole program, run by the tests of the Python package in an empty folder; words after `run` name
                  modules that it needs: without one of them it is skipped
    python copy   equals a file of docs/examples, which those tests run
    ... shown     is not run; only for what would change the reader's machine or takes hours

A block in one of these languages without a second word is an error, so that none is forgotten.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tree

KINDS = {"sh": {"run", "ci", "shown"}, "cpp": {"run", "shown"}, "python": {"run", "copy", "shown"}}
FENCE = re.compile(r"^```(\w*)[ \t]*([^\n]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    document: Path
    line: int
    language: str
    kind: str
    text: str
    needs: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        return f"{self.document.name}:{self.line}"


def documents(root: Path) -> list[Path]:
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def blocks(root: Path) -> list[Block]:
    found = []
    for document in documents(root):
        text = document.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            if match[1] in KINDS:
                line = text.count("\n", 0, match.start()) + 1
                kind, *needs = match[2].split() if match[1] == "python" and match[2].strip() else [match[2].strip()]
                found.append(Block(document, line, match[1], kind, match[3], tuple(needs)))
    return found


def unmarked(found: list[Block]) -> list[str]:
    return [
        f"{block.where}: `{block.language}` block needs one of: {', '.join(sorted(KINDS[block.language]))}"
        for block in found
        if block.kind not in KINDS[block.language]
    ]


def not_copied(root: Path, found: list[Block]) -> list[str]:
    examples = [path.read_text(encoding="utf-8") for path in sorted((root / "docs" / "examples").glob("*.py"))]
    return [
        f"{block.where}: no file of docs/examples ends with this block; run ./dev docs"
        for block in found
        if (block.language, block.kind) == ("python", "copy")
        and not any(text.endswith(block.text) for text in examples)
    ]


def not_in_ci(root: Path, found: list[Block]) -> list[str]:
    ci = {line.strip() for line in (root / ".ci" / "run").read_text().splitlines()}
    bad = []
    for block in found:
        if (block.language, block.kind) == ("sh", "ci"):
            commands = [line.split("#")[0].strip() for line in block.text.splitlines()]
            bad += [f"{block.where}: .ci/run does not run `{line}`" for line in commands if line and line not in ci]
    return bad


def run_shell(block: Block, path: list[str], pictures: Path | None = None) -> str | None:
    """What went wrong, or None. With `pictures`, those that the block's document shows are copied there."""
    environment = dict(os.environ, PATH=os.pathsep.join([*path, os.environ["PATH"]]))
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.text],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        shown = re.findall(r"\(images/([\w.-]+\.png)\)", block.document.read_text(encoding="utf-8")) if pictures else []
        for name in shown:
            if (Path(folder) / name).exists():
                shutil.copy(Path(folder) / name, pictures)
    if run.returncode == 0:
        return None
    return f"{block.where}: exit status {run.returncode}\n{block.text}{run.stdout[-2000:]}{run.stderr[-2000:]}"


def run_python(block: Block, python: str) -> str | None:
    """What went wrong, or None."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [python, "-W", "error", "-c", block.text], cwd=folder, capture_output=True, text=True, check=False
        )
    if run.returncode == 0:
        return None
    return f"{block.where}: exit status {run.returncode}\n{block.text}{run.stdout[-2000:]}{run.stderr[-2000:]}"


def extract_programs(found: list[Block], folder: Path) -> int:
    """Writes each `cpp run` block as a program of its own; returns how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    programs = [block for block in found if (block.language, block.kind) == ("cpp", "run")]
    for block in programs:
        name = f"{block.document.stem}_{block.line}.cpp".lower()
        (folder / name).write_text(f'#line {block.line + 1} "{block.document}"\n{block.text}', encoding="utf-8")
    return len(programs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=tree.ROOT)
    parser.add_argument("--path", action="append", default=[], help="folder to put on the path; runs the shell blocks")
    parser.add_argument("--pictures", type=Path, help="copy the pictures that documents show from their blocks to here")
    parser.add_argument("--programs", type=Path, help="only write the C++ programs into this folder")
    options = parser.parse_args()
    found = blocks(options.root)
    if options.programs:
        print(f"{extract_programs(found, options.programs)} programs")
        return 0
    bad = unmarked(found) + not_copied(options.root, found) + not_in_ci(options.root, found)
    if options.path:
        runnable = [block for block in found if (block.language, block.kind) == ("sh", "run")]
        bad += [text for block in runnable if (text := run_shell(block, options.path, options.pictures))]
        print(f"{len(runnable)} shell blocks run")
    print("\n".join(bad) or f"{len(found)} blocks, all as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
