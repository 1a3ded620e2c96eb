"""No file over 400 lines, unless its first lines say why: a comment with the words "over 400 lines because"."""

import argparse
import sys
from pathlib import Path

import tree

LIMIT = 400
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".py", ".pyi", ".sh", ".cmake"}
SCRIPTS = ("dev", ".ci/run")
REASON = "over 400 lines because"


def complaints(root: Path) -> list[str]:
    found = []
    for path in [*tree.files(root, SUFFIXES), *(root / name for name in SCRIPTS if (root / name).is_file())]:
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > LIMIT and REASON not in "\n".join(lines[:15]):
            found.append(f"{path.relative_to(root)}: {len(lines)} lines; split it where the seam means something")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=tree.ROOT)
    found = complaints(parser.parse_args().root)
    print("\n".join(found) or f"no file over {LIMIT} lines")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
