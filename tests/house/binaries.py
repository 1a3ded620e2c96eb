"""What is installed is hardened, says nothing of the machine that built it, and exports its interface alone."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

# A path of the build machine: absolute, of a source file that is no system header.
SOURCE_PATH = re.compile(rb"(?<![\w./-])/(?!usr/)[\w.+-]+/[\w./+-]*\.(?:cpp|hpp|cu|cuh|h)\b")


def readelf(path: Path, *options: str) -> str:
    command = ["readelf", "--wide", *options, str(path)]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    ).stdout


def exported(path: Path) -> list[str]:
    """Names of dynamic symbols that the file defines and others can see."""
    names = []
    for line in readelf(path, "--dyn-syms").splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK", "UNIQUE") and fields[6] not in ("UND", "ABS"):
            names.append(fields[7].split("@")[0])
    return names


def complaints(path: Path, exports: str | None, small: bool = False) -> list[str]:
    """`exports`: what every exported symbol has to match; None: not looked at. `small`: may have nothing to fortify."""
    header, segments, dynamic, symbols = (readelf(path, o) for o in ("-h", "-l", "-d", "--dyn-syms"))
    found = []
    if "DYN" not in header:
        found.append("is not position-independent")
    if "GNU_RELRO" not in segments or not re.search(r"BIND_NOW|\bNOW\b", dynamic):
        found.append("its relocations stay writable (no full RELRO)")
    if re.search(r"GNU_STACK.*RWE", segments):
        found.append("has an executable stack")
    if "__stack_chk_fail" not in symbols:
        found.append("has no stack protector")
    if not small and not re.search(r"__\w+_chk\b", symbols):
        found.append("has no fortified call")
    for run_path in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic):
        if not all(part.startswith("$ORIGIN") for part in run_path.split(":")):
            found.append(f"looks for libraries in {run_path}")
    leaks = sorted({hit.decode() for hit in SOURCE_PATH.findall(path.read_bytes())})
    found += [f"contains the path {leak}" for leak in leaks[:5]]
    if exports is not None:
        foreign = [name for name in exported(path) if not re.search(exports, name)]
        if foreign:
            found.append(f"exports {len(foreign)} symbols that are not its interface: {', '.join(foreign[:5])}")
    return [f"{path.name} {each}" for each in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exports", help="regular expression that every exported symbol matches")
    parser.add_argument("--small", action="store_true", help="the files may have no call that could be fortified")
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    found = [text for path in options.files for text in complaints(path, options.exports, options.small)]
    print("\n".join(found) or f"{len(options.files)} binaries are hardened and keep to themselves")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
