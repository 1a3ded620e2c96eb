"""Lengths that readers meet: files, functions, lines.

A file has at most 400 lines, unless one of its first 15 says why: a comment with the words "over 400 lines because".
A function's body has at most 40, unless a comment before it or at its beginning says "over 40 lines because".
A line has at most 120 columns.
"""

import argparse
import sys
from pathlib import Path

import functions
import tree

FILE_LINES = 400
FUNCTION_LINES = 40
COLUMNS = 120
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".py", ".pyi", ".sh", ".cmake"}
SCRIPTS = ("dev", ".ci/run")
# Folders in which functions and columns are checked.
FOLDERS = ("src", "include", "cli", "python", "tests", "bench")
# The folder that is being rewritten, and how many of its functions and lines may be too long until it is. These numbers
# only go down: whoever makes one smaller writes the new one here.
REWRITTEN = "src/exact"
LONG_FUNCTIONS_LEFT = 4
LONG_LINES_LEFT = 0


def reason(lines: int) -> str:
    return f"over {lines} lines because"


def long_files(root: Path) -> list[str]:
    found = []
    for path in [*tree.files(root, SUFFIXES), *(root / name for name in SCRIPTS if (root / name).is_file())]:
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > FILE_LINES and reason(FILE_LINES) not in "\n".join(lines[:15]):
            found.append(f"{path.relative_to(root)}: {len(lines)} lines; split it where the seam means something")
    return found


def gives_reason(lines: list[str], function: functions.Function) -> bool:
    """Whether the comment right before a function, its head or its first three lines say why it is long."""
    first = function.first - 1
    while first > 0 and lines[first - 1].lstrip().startswith(("//", "#")):
        first -= 1
    said = " ".join(line.strip().lstrip("/# ") for line in lines[first : function.opened + 3])
    return reason(FUNCTION_LINES) in said.lower()


def long_functions(root: Path) -> list[str]:
    found = []
    for path in tree.files(root, functions.SUFFIXES):
        here = path.relative_to(root)
        if here.parts[0] not in FOLDERS:
            continue
        try:
            inside = functions.functions(path)
        except (ValueError, SyntaxError) as problem:
            found.append(f"{here}: {problem}")
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for each in inside:
            if each.lines > FUNCTION_LINES and not gives_reason(lines, each):
                found.append(
                    f"{here}:{each.first}: the body of {each.name} has {each.lines} lines; split it, or say why in a "
                    f'comment before it: "{reason(FUNCTION_LINES)} ..."'
                )
    return found


def long_lines(root: Path) -> list[str]:
    found = []
    for path in tree.files(root, functions.SUFFIXES):
        here = path.relative_to(root)
        if here.parts[0] in FOLDERS:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if len(line) > COLUMNS:
                    found.append(f"{here}:{number}: {len(line)} columns; {COLUMNS} at most")
    return found


def beyond(found: list[str], left: int) -> list[str]:
    """The complaints, and of the folder that is being rewritten only those beyond the number that is left."""
    old = [each for each in found if each.startswith(f"{REWRITTEN}/")]
    new = [each for each in found if not each.startswith(f"{REWRITTEN}/")]
    if len(old) > left:
        new += [*old, f"{REWRITTEN}: {len(old)} of these, and there were {left}; the number may only fall"]
    elif 0 < len(old) < left:
        print(f"{REWRITTEN} has {len(old)} of {left}; write the smaller number into lengths.py")
    return new


def complaints(root: Path, functions_left: int = LONG_FUNCTIONS_LEFT, lines_left: int = LONG_LINES_LEFT) -> list[str]:
    return [
        *long_files(root),
        *beyond(long_functions(root), functions_left),
        *beyond(long_lines(root), lines_left),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=tree.ROOT)
    found = complaints(parser.parse_args().root)
    print("\n".join(found) or f"no file over {FILE_LINES} lines, function over {FUNCTION_LINES}, line over {COLUMNS}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
