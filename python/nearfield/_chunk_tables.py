"""Tables of components from chunks, by rows of integers that add up; public in nearfield.chunks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nearfield._chunk_labels import labelled
from nearfield._component_table import ComponentTable
from nearfield._components import component_statistics
from nearfield._label_request import lengths_of
from nearfield._request import Spacing


class Rows(NamedTuple):
    """Measurements of the components in a chunk; `measure` makes them. Arrays of int64."""

    number: Any  #: number of the component in the whole grid
    size: Any  #: number of its cells here
    total: Any  #: sums of their coordinates in the grid
    box: Any  #: shape (n, 2, axes); the type's maximum, and 0, if there is no cell
    faces: Any  #: faces towards other cells and ends; those between equal cells of two chunks are subtracted


def measure(window: Any, start: Sequence[int], size: Sequence[int], table: Any, **how: Any) -> Rows:
    """Measures a chunk's components, from its window as `faces` takes it and the numbers that `merge` returned."""
    labels = labelled(window, **how)
    table = np.concatenate([np.zeros(1, np.int64), np.asarray(table, np.int64)])
    own = labels[tuple(slice(0, n) for n in size)]
    pairs = []
    for axis, n in enumerate(size):
        last, beyond = (
            labels[tuple(slice(k, k + 1) if a == axis else slice(0, m) for a, m in enumerate(size))] for k in (n - 1, n)
        )
        if beyond.size:
            pairs.append((table[last], table[beyond]))
    return rows_of(own, start, table[1:], pairs)


def rows_of(labels: Any, start: Sequence[int], number: Any, pairs: Iterable[tuple[Any, Any]]) -> Rows:
    """Measures labels whose numbers in the whole grid are `number`.

    `pairs` holds numbers of neighbouring cells whose adjacency `labels` does not show.
    """
    numbers, place = np.unique(number, return_inverse=True)
    if not np.array_equal(numbers, number):  # several labels may be one component, without faces between its cells
        labels = np.concatenate([[0], place + 1]).astype(labels.dtype)[labels]
    found = component_statistics(labels, count=len(numbers))
    some = found.size > 0
    size, begin = np.where(some, found.size, 0), np.asarray(start, np.int64)
    # A rounded mean times so few cells is nearer to the exact sum than to any other integer.
    total = np.rint(np.where(some[:, None], found.centroid, 0) * size[:, None]).astype(np.int64) + begin * size[:, None]
    box = np.where(some[:, None, None], found.box + begin, np.array([[np.iinfo(np.int64).max], [0]]))
    made = Rows(numbers, size, total, box, np.where(some, found.faces, 0))
    for one, other in pairs:
        same = one[(one == other) & (one > 0)]
        np.subtract.at(made.faces, np.searchsorted(numbers, same), 2)
    return made


def tabulate(
    parts: Iterable[Rows], count: int, shape: Sequence[int], *, spacing: Spacing = None, periodic: Sequence[bool] = ()
) -> ComponentTable:
    """Makes the table of `nearfield.components` from the rows of all chunks of a grid with `count` components."""
    lengths = lengths_of(spacing, len(shape))
    made = _empty(np.arange(1, count + 1), len(shape))
    for part in parts:
        _add(made, part.number - 1, part)
    centroid = made.total.astype(np.float64) / made.size[:, None].astype(np.float64)
    if any(each != 1 for each in lengths):
        centroid = centroid * np.array(lengths)
    border = np.zeros(count, bool)
    for axis, n in enumerate(shape):
        if not (len(periodic) > 0 and periodic[axis]):
            border |= (made.box[:, 0, axis] == 0) | (made.box[:, 1, axis] == n)
    return ComponentTable(made.number, made.size, made.box, centroid, border, made.faces, lengths)


def _empty(number: Any, axes: int) -> Rows:
    count = len(number)
    box = np.zeros((count, 2, axes), np.int64)
    box[:, 0] = np.iinfo(np.int64).max
    return Rows(number, np.zeros(count, np.int64), np.zeros((count, axes), np.int64), box, np.zeros(count, np.int64))


def _add(to: Rows, place: Any, part: Rows) -> None:
    np.add.at(to.size, place, part.size)
    np.add.at(to.total, place, part.total)
    np.add.at(to.faces, place, part.faces)
    np.minimum.at(to.box[:, 0], place, part.box[:, 0])
    np.maximum.at(to.box[:, 1], place, part.box[:, 1])
