"""Components of chunks, and how they join; public in nearfield.chunks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nearfield._chunk_lines import space_of
from nearfield._label import label


class Faces(NamedTuple):
    """Facts about a chunk that `merge` needs; `faces` makes them."""

    first: Any  #: int64: linear index in the grid of the first cell of each of the window's components
    low: dict[tuple[int, ...], Any]  #: labels of the chunk's own cells at its low ends
    high: dict[tuple[int, ...], Any]  #: labels of the cells beyond its high ends


def faces(window: Any, start: Sequence[int], size: Sequence[int], shape: Sequence[int], **how: Any) -> Faces:
    """Finds the components of a window and what its neighbours see of them.

    Parameters
    ----------
    window : array
        The chunk with one more cell at the high end of each axis along which the grid continues. At the end of a
        periodic axis, that is the grid's first cell.
    start, size : sequence of int
        Position of the chunk in the grid, and its size without these cells.
    shape : sequence of int
        Shape of the grid.
    how
        `connectivity`, `criterion`, `background` of `nearfield.label`.
    """
    labels = labelled(window, **how)
    flat = labels.ravel()
    # Numbers rise in the order of first cells.
    seen = np.maximum.accumulate(flat)
    at = np.flatnonzero(np.diff(seen, prepend=0))
    inside = np.unravel_index(at, labels.shape)
    cells = [i + s for i, s in zip(inside, start, strict=True)]
    first = np.ravel_multi_index(cells, tuple(shape), mode="wrap").astype(np.int64)
    low, high = {}, {}
    for corner in itertools.product((0, 1), repeat=labels.ndim):
        if not any(corner):
            continue
        low[corner] = labels[tuple(slice(0, 1) if c else slice(0, n) for c, n in zip(corner, size, strict=True))].copy()
        beyond = labels[tuple(slice(n, n + 1) if c else slice(0, n) for c, n in zip(corner, size, strict=True))]
        if beyond.size:
            high[corner] = beyond.copy()
    return Faces(first, low, high)


def labelled(window: Any, **how: Any) -> Any:
    """Labels a window by itself: int64, in host memory."""
    labels = label(window, dtype="int64", **how)
    return labels if isinstance(labels, np.ndarray) else labels.get()


def merge(parts: dict[tuple[int, ...], Faces]) -> tuple[dict[tuple[int, ...], Any], int]:
    """Joins the components of windows: returns a table of numbers for each window, and the number of components.

    Parameters
    ----------
    parts : dict
        Results of `faces` for all windows, keyed by the chunks' numbers along each axis.

    Returns
    -------
    tables : dict
        For each window, place k holds the number of its component k + 1: int64, in the order of first cells.
    count : int
    """
    begin, all_cells = {}, 0
    for chunk, part in parts.items():
        begin[chunk] = all_cells
        all_cells += len(part.first)
    last = [max(at) for at in zip(*parts, strict=True)]
    pairs = [np.empty((2, 0), np.int64)]
    for chunk, part in parts.items():
        for corner, beyond in part.high.items():
            other = tuple((c + d) % (m + 1) for c, d, m in zip(chunk, corner, last, strict=True))
            own = parts[other].low[corner]
            both = (beyond > 0) & (own > 0)
            mine, theirs = beyond[both] - 1 + begin[chunk], own[both] - 1 + begin[other]
            pairs.append(np.unique(np.stack([mine, theirs]), axis=1))
    root = roots(all_cells, *np.concatenate(pairs, axis=1))
    first = np.concatenate([part.first for part in parts.values()]) if parts else np.empty(0, np.int64)
    least = np.full(all_cells, np.iinfo(np.int64).max)
    np.minimum.at(least, root, first)
    heads = np.flatnonzero(root == np.arange(all_cells))
    number = np.zeros(all_cells, np.int64)
    number[heads[np.argsort(least[heads], kind="stable")]] = np.arange(1, len(heads) + 1)
    number = number[root]
    return {chunk: number[begin[chunk] : begin[chunk] + len(part.first)] for chunk, part in parts.items()}, len(heads)


def roots(count: int, a: Any, b: Any) -> Any:
    """Smallest member of the set of each of `count` items, where a[i] and b[i] are joined."""
    root = np.arange(count)
    while True:
        low, high = np.minimum(root[a], root[b]), np.maximum(root[a], root[b])
        if np.array_equal(low, high):
            return root
        np.minimum.at(root, high, low)
        while not np.array_equal(root, shorter := root[root]):
            root = shorter


def renumber(window: Any, size: Sequence[int], table: Any, **how: Any) -> Any:
    """Labels a chunk with the numbers of the whole grid: int64, of shape `size`."""
    labels = label(window, dtype="int64", **how)[tuple(slice(0, n) for n in size)]
    xp = space_of(labels)
    return xp.asarray(np.concatenate([np.zeros(1, np.int64), np.asarray(table, np.int64)]))[labels]
