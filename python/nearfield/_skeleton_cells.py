"""The cells of a skeleton as a graph: pairs of neighbours, components, spanning trees."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Cells(NamedTuple):
    """The cells of a skeleton in C order, and each pair of neighbours once, the first one before the second."""

    shape: tuple[int, ...]
    linear: Array
    values: Array | None
    spacing: tuple[float, ...]
    first: Array
    second: Array
    step: Array  # axes along which the two differ, as bits: 1 << axis


def with_pairs(shape: tuple[int, ...], index: Array, values: Array | None, spacing: tuple[float, ...]) -> Cells:
    at = np.unravel_index(index, shape)
    first, second, steps = [], [], []
    for to in product((-1, 0, 1), repeat=len(shape)):
        if to <= (0,) * len(shape):
            continue
        there = [axis + step for axis, step in zip(at, to)]
        inside = np.ones(index.size, bool)
        for axis, size in zip(there, shape):
            inside &= (axis >= 0) & (axis < size)
        here = np.flatnonzero(inside)
        wanted = np.ravel_multi_index(tuple(axis[here] for axis in there), shape) if here.size else here
        found = np.minimum(np.searchsorted(index, wanted), max(index.size - 1, 0))
        hit = index[found] == wanted
        first.append(here[hit])
        second.append(found[hit])
        steps.append(np.full(int(hit.sum()), sum(1 << axis for axis, step in enumerate(to) if step), np.int64))
    return Cells(shape, index, values, spacing, np.concatenate(first), np.concatenate(second), np.concatenate(steps))


def kept(cells: Cells, keep: Array) -> Cells:
    new = np.cumsum(keep) - 1
    both = keep[cells.first] & keep[cells.second]
    values = None if cells.values is None else cells.values[keep]
    pairs = new[cells.first[both]], new[cells.second[both]], cells.step[both]
    return Cells(cells.shape, cells.linear[keep], values, cells.spacing, *pairs)


def joined(count: int, a: Array, b: Array) -> Array:
    """The smallest member of each one's component: round by round each component joins its smallest neighbour."""
    parent = np.arange(count)
    while True:
        low, high = np.minimum(parent[a], parent[b]), np.maximum(parent[a], parent[b])
        if np.array_equal(low, high):
            return parent
        np.minimum.at(parent, high, low)
        while not np.array_equal(parent, parent[parent]):
            parent = parent[parent]


def tree(cells: Cells) -> Iterator[tuple[int, int]]:
    """Each cell and its parent, -1 for the first of a skeleton; a parent comes before its children."""
    n = cells.linear.size
    ends = np.concatenate([cells.first, cells.second]), np.concatenate([cells.second, cells.first])
    order = np.lexsort((ends[1], ends[0]))
    near = ends[1][order].tolist()
    start = np.searchsorted(ends[0][order], np.arange(n + 1)).tolist()
    seen = [False] * n
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        wave = [(root, -1)]
        for cell, parent in wave:
            yield cell, parent
            for other in near[start[cell] : start[cell + 1]]:
                if not seen[other]:
                    seen[other] = True
                    wave.append((other, cell))
