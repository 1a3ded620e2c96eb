"""Every public header compiles alone, twice over, without a warning, and pulls in nothing but the standard library."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import tree

FLAGS = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wold-style-cast",
    "-Werror",
]
# Users of the headers must not need any of these.
FOREIGN = re.compile(r"(^|/)(cuda|hwy|fmt|thrust|nv)[^/]*(/|$)|cuda")
SEARCH_PATHS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")


def complaint(compiler: str, include: Path, header: str) -> str | None:
    """What is wrong with one header, or None."""
    environment = {name: value for name, value in os.environ.items() if name not in SEARCH_PATHS}
    probe = f'#include "nearfield/{header}"\n#include "nearfield/{header}"\nint main() {{}}\n'
    # The compiler writes the list of included files to standard output.
    options = ["-fsyntax-only", "-MD", "-MF", "/dev/stdout", "-x", "c++", "-"]
    command = [compiler, *FLAGS, "-I", str(include), *options]
    run = subprocess.run(command, input=probe, env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return f"{header} does not compile alone:\n{run.stderr}"
    foreign = sorted(path for path in run.stdout.split() if FOREIGN.search(path.removeprefix(str(include))))
    if foreign:
        return f"{header} needs more than the standard library: {', '.join(foreign[:5])}"
    return None


def complaints(compiler: str, include: Path) -> list[str]:
    headers = sorted(path.name for path in (include / "nearfield").glob("*.hpp"))
    found = [text for header in headers if (text := complaint(compiler, include, header))]
    if not headers:
        found.append(f"no headers in {include / 'nearfield'}")
    umbrella = include / "nearfield" / "nearfield.hpp"
    included = set(re.findall(r'#include "nearfield/([^"]+)"', umbrella.read_text())) if umbrella.is_file() else set()
    missing = set(headers) - included - {"nearfield.hpp"}
    if missing:
        found.append(f"nearfield.hpp does not include {', '.join(sorted(missing))}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--include", type=Path, default=tree.ROOT / "include")
    options = parser.parse_args()
    found = complaints(options.compiler, options.include.resolve())
    print("\n".join(found) or "every public header compiles alone")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
