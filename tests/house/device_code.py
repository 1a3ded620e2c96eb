"""Device code without what nvcc 13.0 compiles wrongly; tests/toolchain/device_test.cu shows each fault on a GPU.

- ptxas joins two minima (or maxima) into one instruction and loses the sign of a negated operand of the inner one.
- A `__vneg2` of which one half is used becomes a complement: off by one.

Only an operand negated where it stands is seen; one negated before, in a variable or an inlined function, is not.
"""

import argparse
import re
import sys
from pathlib import Path

import tree

RULES = (
    (
        re.compile(r"\b(?:min|max)\((?:[^;()]|\([^()]*\))*?(?<=[(,])\s*[-~]\s*[A-Za-z_(]"),
        "an operand of min or max is negated; ptxas may lose the sign: shift the range, or negate what goes into no "
        "further min or max",
    ),
    (re.compile(r"\b__vneg2\b"), "__vneg2 may become ~; negate the halves as plain integers"),
)


def complaints(root: Path) -> list[str]:
    found = []
    for path in tree.files(root / "src", {".cu", ".cuh", ".hpp"}):
        code = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
        for rule, why in RULES:
            for hit in rule.finditer(code):
                line = code.count("\n", 0, hit.end()) + 1
                found.append(f"{path.relative_to(root)}:{line}: {why}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=tree.ROOT)
    found = complaints(parser.parse_args().root)
    print("\n".join(found) or "no device code that nvcc 13.0 is known to miscompile")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
