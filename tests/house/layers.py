"""Data flows one way: grid -> algorithm -> field -> application -> edge. Fails on an #include that points back.

The public headers are the contract between the layers, so a room may include the field headers it implements, and
nothing above a room may include what the room keeps to itself. Inside a room with folders, ROOMS lists which folder
may include which. Headers of an operating system are for src/os alone.
"""

import argparse
import re
import sys
from pathlib import Path

import tree

# Public headers by layer; one that is not listed is an application's.
GRID_HEADERS = {"call_plan.hpp", "grid.hpp", "error.hpp", "system.hpp"}
FIELD_HEADERS = {
    "distance.hpp",
    "distance_bounds.hpp",
    "distance_where.hpp",
    "voronoi.hpp",
    "plan.hpp",
    "chamfer.hpp",
    "chunks.hpp",
    "label.hpp",
    "components.hpp",
    "link_propagation.hpp",
    "methods.hpp",
    "metrics.hpp",
    "morphology.hpp",
    "medial_axis.hpp",
    "thickness.hpp",
    "skeleton.hpp",
    "skeleton_graph.hpp",
    "natural_neighbor.hpp",
    "sdf.hpp",
    "effects.hpp",
    "split.hpp",
    "watershed.hpp",
    "centroidal.hpp",
    "stipple.hpp",
    "geodesic.hpp",
    "fill.hpp",
    "pores.hpp",
    "esdf.hpp",
    "occupancy_map.hpp",
    "path.hpp",
    "roadmap.hpp",
    "chessboard.hpp",
    "raycast.hpp",
    "render.hpp",
    "sphere_trace.hpp",
    "mesh.hpp",
    "voxelize.hpp",
    "mesh_distance.hpp",
    "isosurface.hpp",
    "offset.hpp",
}

# Who may include whom.
MAY_INCLUDE = {
    "grid": {"grid"},
    "os": {"os"},
    "base": {"grid", "base", "os"},
    "field": {"grid", "field"},
    "room": {"grid", "base", "field", "room"},
    "application": {"grid", "field", "application"},
    "app": {"grid", "base", "field", "application", "app"},
    "umbrella": {"grid", "field", "application"},
    "io": {"grid", "base", "io", "os"},
    "edge": {"grid", "field", "application", "umbrella", "edge"},
    "cli": {"grid", "field", "application", "umbrella", "io", "edge", "cli", "os"},
    "python": {"grid", "field", "application", "umbrella", "edge", "python", "os"},
    "bench": {"grid", "field", "application", "umbrella", "io", "bench"},
    "oracle": {"oracle"},
    "fuzz": {"grid", "field", "io", "fuzz"},
}
# What a room may use of another one: mathematics that both share, and what it has to implement for it.
SHARED_BY_ROOMS = {
    "core.hpp",
    "room.hpp",
    "rounds.cuh",
    "statistics.hpp",
    "statistics_rows.hpp",
    "statistics_values.hpp",
}
# The folders of a room, and which other folders of it each may include. Headers beside the folders are for all of them
# and include none of them; sources beside the folders are the room's entry and may include every folder. Host and GPU
# share those headers only.
GROUND = {"gpu/ground"}
LINES = GROUND | {"gpu/rows", "gpu/epilogue"}
WORDS = GROUND | {"gpu/rows"}
SITES = WORDS | {"gpu/tiles"}
LADDER = LINES | SITES | {"gpu/lines", "gpu/sites", "gpu/small"}
ROOMS: dict[str, dict[str, set[str]]] = {
    "exact": {
        "host": set(),
        "gpu/ground": set(),
        "gpu/rows": GROUND,
        "gpu/epilogue": GROUND,
        "gpu/lines": LINES,
        "gpu/small": WORDS,
        "gpu/tiles": WORDS,
        "gpu/sites": SITES,
        "gpu/route": LADDER,
    },
    "label": {
        "host": set(),
        "gpu": set(),
        "gpu/tiles": {"gpu"},
        "gpu/links": {"gpu", "gpu/tiles"},
        "gpu/cells": {"gpu"},
    },
}
# Files of src/exact whose prefix says where they will lie: they may include every folder until they have moved.
TO_BE_MOVED = re.compile(r"exact/host(_\w+)?\.\w+")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
# Headers that only some systems have: src/os alone asks those.
OF_A_SYSTEM = re.compile(
    r"(arpa|linux|mach|net|netinet|sys)/.+"
    r"|(dirent|dlfcn|fcntl|glob|io|poll|process|pthread|pwd|sched|semaphore|signal|spawn|termios|unistd|windows)\.h"
)
SYSTEM_FREE = {"include", "src", "cli", "python"}
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".h"}


def layer_of(path: Path) -> str | None:
    """The layer of a path relative to the root; None for those that may include anything, such as tests."""
    top, *rest = path.parts
    if top == "include":
        if path.name in GRID_HEADERS:
            return "grid"
        if path.name == "nearfield.hpp":
            return "umbrella"
        return "field" if path.name in FIELD_HEADERS else "application"
    if top == "src":
        return rest[0] if rest[0] in {"base", "app", "io", "edge", "os"} else "room"
    if top == "tests":
        return "oracle" if rest[0] == "oracle" else None
    return top if top in MAY_INCLUDE else None


def resolve(root: Path, includer: Path, name: str) -> Path | None:
    """The file of this tree that the include means, relative to the root; None for a system header."""
    top = includer.relative_to(root).parts[0]
    for folder in (includer.parent, root / "include", root / "src", root / top, root):
        candidate = (folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root)
    return None


def wrong_in_room(here: Path, target: Path) -> str | None:
    """Why a file of a room may not include another one of src/; both relative to src/."""
    room, other = here.parts[0], target.parts[0]
    if room != other:
        if len(target.parts) == 2 and target.name in SHARED_BY_ROOMS:
            return None
        return f"a room includes src/{target}; of another room it may use: {', '.join(sorted(SHARED_BY_ROOMS))}"
    folder, to = ("/".join(path.parts[1:-1]) for path in (here, target))
    folders = ROOMS.get(room, {})
    for each in (folder, to):
        if each and each not in folders:
            return f"layers.py does not know the folder {each} of src/{room}; say in ROOMS what it may include"
    if to in ("", folder):
        return None
    if folder:
        allowed = folders[folder]
        if to in allowed:
            return None
        named = ", ".join(sorted(allowed)) or "none"
        return f"src/{room}/{folder} includes src/{target}; of the room's other folders it may use: {named}"
    if here.suffix in (".cpp", ".cu") or TO_BE_MOVED.fullmatch(here.as_posix()):
        return None
    return f"src/{target} lies in a folder; a header that all folders of src/{room} share includes none of them"


def complaints(root: Path) -> list[str]:
    root = root.resolve()
    found = []
    for path in tree.files(root, SUFFIXES):
        here = path.relative_to(root)
        layer = layer_of(here)
        if layer is None:
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            target = resolve(root, path, match[1])
            line = text.count("\n", 0, match.start()) + 1
            if target is None:
                if layer != "os" and here.parts[0] in SYSTEM_FREE and OF_A_SYSTEM.fullmatch(match[1]):
                    found.append(f"{here}:{line}: <{match[1]}> is not on every system; ask it through src/os")
                continue
            other = layer_of(target) or target.parts[0]
            if other not in MAY_INCLUDE[layer]:
                allowed = ", ".join(sorted(MAY_INCLUDE[layer]))
                found.append(
                    f"{here}:{line}: layer '{layer}' includes {target} of layer '{other}'; it may use: {allowed}"
                )
            elif layer == other == "room":
                wrong = wrong_in_room(here.relative_to("src"), target.relative_to("src"))
                if wrong is not None:
                    found.append(f"{here}:{line}: {wrong}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=tree.ROOT)
    found = complaints(parser.parse_args().root)
    print("\n".join(found) or "every include points the right way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
