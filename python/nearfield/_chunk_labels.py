"""Components of chunks, and how they join; public in nearfield.chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, framework_of
from nearfield._chunk_lines import space_of
from nearfield._label import label


class Faces(NamedTuple):
    """Facts about a chunk that `merge` needs; `faces` makes them. Labels are int64, in host memory.

    There is a low and a high box for each set of axes but the empty one, in the order of the binary numbers of which
    the first axis is the lowest digit. The low box holds the chunk's first cell along these axes, and the high box the
    cell beyond its last one; along all other axes both hold the whole chunk.
    """

    size: tuple[int, ...]  #: number of the chunk's cells along each axis
    more: tuple[int, ...]  #: 1 for axes along which the window has a cell beyond the chunk, else 0
    first: Any  #: linear index in the grid of the first cell of each of the window's components
    low: Any  #: labels of the low boxes, one after another
    high: Any  #: labels of the high boxes, of those axes that all have a cell beyond the chunk


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
    labels, count = label(window, return_num=True, **how)
    framework = framework_of(labels)
    described = framework.describe("labels", labels, False)
    made = _core.chunk_faces(described, count, list(start), list(size), list(shape), *framework.place(labels), 0)
    return Faces(tuple(size), tuple(made[0]), *(np.frombuffer(each, np.int64) for each in made[1:]))


def labelled(window: Any, **how: Any) -> Any:
    """Labels a window by itself: int64, in host memory."""
    labels = label(window, dtype="int64", **how)
    return labels if isinstance(labels, np.ndarray) else labels.get()


def _numbers(values: Any) -> _core.Array:
    return NUMPY.describe("numbers", np.ascontiguousarray(values, np.int64), False)


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
    if not parts:
        return {}, 0
    at = sorted(parts)
    facts = [
        (each.size, each.more, _numbers(each.first), _numbers(each.low), _numbers(each.high))
        for each in map(parts.__getitem__, at)
    ]
    tables, count = _core.merge_chunks(facts, [max(k) + 1 for k in zip(*at, strict=True)])
    return {chunk: np.frombuffer(table, np.int64) for chunk, table in zip(at, tables, strict=True)}, count


def roots(count: int, a: Any, b: Any) -> Any:
    """Smallest member of the set of each of `count` items, where a[i] and b[i] are joined."""
    return np.frombuffer(_core.joined_sets(count, _numbers(a), _numbers(b)), np.int64)


def renumber(window: Any, size: Sequence[int], table: Any, **how: Any) -> Any:
    """Labels a chunk with the numbers of the whole grid: int64, of shape `size`."""
    labels = label(window, **how)[tuple(slice(0, n) for n in size)]
    made, framework = space_of(labels).empty(labels.shape, np.int64), framework_of(labels)
    described = framework.describe("labels", labels, False), _numbers(table), framework.describe("out", made, True)
    _core.renumber(*described, *framework.place(labels), 0)
    return made
