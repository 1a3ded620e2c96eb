"""The files of a source tree, without what was built in it."""

from collections.abc import Iterator
from pathlib import Path

NOT_SOURCE = {".git", ".venv", ".cache", "build", "out", "__pycache__", ".ruff_cache"}
ROOT = Path(__file__).resolve().parents[2]


def files(root: Path, suffixes: set[str]) -> Iterator[Path]:
    """Paths below `root`, sorted, whose suffix is one of `suffixes`."""
    for path in sorted(root.rglob("*")):
        if path.suffix in suffixes and path.is_file() and NOT_SOURCE.isdisjoint(path.relative_to(root).parts):
            yield path
