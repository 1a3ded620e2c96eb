#!/usr/bin/env python3
"""Prints what the tree weighs: files, lines, kernels and long lines by room, long pages, and built libraries.

Where a room has a budget, what exceeds it is named. Nothing fails: the numbers are for whoever reads CI's output.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# (what, most files, most lines, most kernels); None where nobody has set a number.
BUDGETS = {
    "src/exact, device": (50, 8000, 34),
    "src/exact, host": (None, 2800, None),
}
LIBRARY_BYTES = 12_000_000  # code and data for one GPU architecture
PAGE_LINES = 300
COLUMNS = 120

ROOMS = ("include", "src", "cli", "python", "tests", "bench", "tools")
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".py", ".pyi"}
NOT_OURS = {"build", "out", "__pycache__"}
KERNEL = re.compile(r"^(?!\s*//).*\b__global__\b", re.MULTILINE)


def room_of(path: Path) -> str:
    """The room of a source, relative to the root; src/exact counts as three."""
    if path.parts[0] != "src" or len(path.parts) < 3:
        return path.parts[0]
    room = "/".join(path.parts[:2])
    if room != "src/exact":
        return room
    part = re.match(r"(gpu|cuda|host)\b|(cuda|host)_", path.parts[2])
    side = part[1] or part[2] if part else None
    return f"{room}, " + {"gpu": "device", "cuda": "device", "host": "host"}.get(side or "", "common")


def sources(root: Path) -> list[Path]:
    found = [path for room in ROOMS for path in sorted((root / room).rglob("*")) if path.suffix in SUFFIXES]
    return [path for path in found if NOT_OURS.isdisjoint(path.relative_to(root).parts)]


def weights(root: Path) -> dict[str, list[int]]:
    """By room: files, lines, kernels, long lines."""
    found: dict[str, list[int]] = {}
    for path in sources(root):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        mine = (1, len(lines), len(KERNEL.findall(text)), sum(len(line) > COLUMNS for line in lines))
        room = found.setdefault(room_of(path.relative_to(root)), [0, 0, 0, 0])
        room[:] = [a + b for a, b in zip(room, mine)]
    return found


def over_budget(room: str, weighed: list[int]) -> str:
    most = BUDGETS.get(room, (None, None, None))
    named = zip(weighed, most, ("files", "lines", "kernels"))
    beyond = [f"{n - limit:,} {unit}" for n, limit, unit in named if limit is not None and n > limit]
    return f"over budget by {', '.join(beyond)}" if beyond else "within its budget" if room in BUDGETS else ""


def long_pages(root: Path) -> list[str]:
    """Of the documentation, but for the notebook and generated tables."""
    pages = [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]
    pages = [page for page in pages if {"notebook", "tables"}.isdisjoint(page.relative_to(root).parts)]
    counted = {page: len(page.read_text(encoding="utf-8").splitlines()) for page in pages}
    return [f"{page.relative_to(root)}: {n:,}" for page, n in counted.items() if n > PAGE_LINES]


def loaded_bytes(library: Path) -> int:
    """Code and data of a library or an archive, as binutils' size adds them up."""
    said = subprocess.run(["size", str(library)], capture_output=True, text=True, check=True).stdout
    return sum(sum(map(int, line.split()[:2])) for line in said.splitlines()[1:])


def architectures(cache: Path) -> int:
    """How many GPU architectures a build has; 0 without CUDA."""
    text = cache.read_text(encoding="utf-8", errors="replace") if cache.is_file() else ""
    if re.search(r"^NEARFIELD_CUDA:\w+=OFF", text, re.MULTILINE):
        return 0
    found = re.search(r"^CMAKE_CUDA_ARCHITECTURES:\w+=(.+)$", text, re.MULTILINE)
    return len(found[1].split(";")) if found else 0


def libraries(root: Path) -> list[str]:
    said = []
    for library in sorted(root.glob("build/*/src/libnearfield.*")):
        if library.suffix not in (".a", ".so"):
            continue
        try:
            size = loaded_bytes(library)
        except (OSError, subprocess.CalledProcessError):
            continue
        gpus = architectures(library.parents[1] / "CMakeCache.txt")
        beyond = size - LIBRARY_BYTES
        note = f", over budget by {beyond / 1e6:.1f} MB" if gpus == 1 and beyond > 0 else ""
        said.append(f"{library.relative_to(root)}: {size / 1e6:.1f} MB for {gpus} GPU architecture(s){note}")
    return said


def row(room: str, weighed: list[int]) -> str:
    files, lines, kernels, columns = weighed
    return f"{room:24}{files:7,}{lines:9,}{kernels:9,}{columns:10,}  {over_budget(room, weighed)}".rstrip()


def main() -> int:
    found = weights(ROOT)
    print(f"{'room':24}{'files':>7}{'lines':>9}{'kernels':>9}{f'over {COLUMNS}':>10}")
    print(*(row(room, weighed) for room, weighed in sorted(found.items())), sep="\n")
    print(row("all", [sum(each) for each in zip(*found.values())]))
    for title, lines in ((f"pages over {PAGE_LINES} lines", long_pages(ROOT)), ("libraries", libraries(ROOT))):
        print(f"{title}: {len(lines)}", *lines, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
