"""The modules of the Python package import each other one way. Fails on a circle, imports inside functions included."""

import argparse
import ast
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path

import tree


def modules(source: Path) -> dict[str, Path]:
    """The files of the packages in a folder, by the names they are imported by."""
    found = {}
    for path in tree.files(source, {".py"}):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, package: str) -> Iterator[str]:
    """Names that a file imports, anywhere in it; `from a import b` yields a.b, which need not be a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{each.name}" for each in node.names)


def module_of(name: str, known: dict[str, Path]) -> str | None:
    """The module that an imported name is or comes from; None for those of other packages and compiled ones."""
    if name in known:
        return name
    parent = name.rpartition(".")[0]
    return parent if parent in known and not name.endswith("._core") else None


def complaints(root: Path) -> list[str]:
    known = modules(root / "python")
    if not known:
        return [f"{root / 'python'} has no modules"]
    arrows: dict[str, set[str]] = {}
    for name, path in known.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        arrows[name] = {to for each in imported(path, package) if (to := module_of(each, known)) and to != name}
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as circle:
        # The sorter names each module before the one that imports it.
        return ["a circle of imports: " + " imports ".join(reversed(circle.args[1]))]
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=tree.ROOT)
    found = complaints(parser.parse_args().root)
    print("\n".join(found) or "no circle of imports")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
