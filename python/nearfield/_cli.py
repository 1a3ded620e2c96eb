"""The command line, for the script `nearfield` and `python -m nearfield`: the package carries the program itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).parent / "bin" / "nearfield"
    if not program.is_file():
        sys.exit("nearfield: this installation has no command line; it was built with NEARFIELD_CLI=OFF")
    os.execv(program, [str(program), *sys.argv[1:]])
