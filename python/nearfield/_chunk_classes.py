"""Distances to cells of another class by slabs and pencils: labels of an image, or the two sides of a signed field.

A pass along an axis is the pass of plain distances, and then the ends of the cell's own run of equal classes: cells of
other classes beyond them are never nearer, so that the pass itself need not know classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nearfield._chunk_lines import Grid, Partial, finish, none_of, pass_along
from nearfield._distance import distance_transform
from nearfield._request import Request

_FAR = 1 << 40  # rows; no line is as long
_AT_A_TIME = 1 << 18  # cells; they take about 30 MB


class Classes:
    """Whose cells are sites for each other, by a call's options."""

    def __init__(self, request: Request, dtype: Any) -> None:
        self.labels = request.sites == "other_labels"
        self.zero = request.sites != "nonzero"
        self.sign = request.sign
        self.dtype = np.dtype(dtype if self.labels else "bool")

    def of(self, slab: Any) -> Any:
        return slab if self.labels else slab == 0 if self.zero else slab != 0

    def slab(self, of: Grid, slab: Any, first: int, threads: int | None = None) -> Partial:
        """As `planes`; classes take the place of labels."""
        classes = self.of(slab)
        return self.planes(of, classes, first, threads)._replace(label=classes)

    def pencil(
        self, of: Grid, pencil: Partial, start: Sequence[int], limit: float, threads: int | None = None
    ) -> Partial:
        """As `lines`, in place, of what `slab` made."""
        part = pencil._replace(label=None)
        pass_of_classes(of, part, pencil.label, 0, start, threads)
        finish(of, part, start, limit)
        return pencil

    def signed(self, field: Any, classes: Any) -> Any:
        """Distances with the sign of the side: classes of both sides are true outside, and labels not zero inside."""
        if self.sign != "none" and field.dtype.kind == "f":
            outside = classes == 0 if self.labels else classes
            np.negative(field, out=field, where=outside if self.sign == "outside" else ~outside)
        return field

    def planes(self, of: Grid, classes: Any, first: int, threads: int | None) -> Partial:
        """The fields within each plane of a slab."""
        squared = np.full(classes.shape, none_of(of.squared_type), of.squared_type)
        index = np.full(classes.shape, -1, of.index_type) if of.sites else None
        if self.labels and self.sign == "none":  # the background is a site
            squared[classes == 0] = 0
            if index is not None:
                at = np.flatnonzero(classes == 0)
                index.reshape(-1)[at] = at + first * math.prod(of.shape[1:])
        part = Partial(squared, index)
        for axis in range(classes.ndim - 1, 0, -1):
            pass_of_classes(of, part, classes, axis, (first,) + (0,) * (classes.ndim - 1), threads)
        return part


def classes_for(request: Request, dtype: Any) -> Classes | None:
    """None where one kind of cells are the sites of all others. Throws for an image whose values are no labels."""
    labels = request.sites == "other_labels"
    if request.sign == "none" and not labels:
        return None
    distance_transform(np.zeros((1,), dtype), multilabel=labels)
    return Classes(request, dtype)


def pass_of_classes(
    of: Grid, part: Partial, classes: Any, axis: int, start: Sequence[int], threads: int | None
) -> None:
    """One pass of cells that begin at `start` in the grid, in place."""
    pass_along(of, part, axis, threads)
    shape, axes = classes.shape, range(classes.ndim)
    three = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
    squared, classes = part.squared.reshape(three), classes.reshape(three)
    index = None if part.index is None else part.index.reshape(three)
    before, own, after = (
        _places(of, shape, start, some) for some in (axes[:axis], axes[axis : axis + 1], axes[axis + 1 :])
    )
    for block in _blocks(three):
        steps, row = _ends(classes[block], of.border[axis] == "periodic")
        far = steps >= _FAR // 2
        away = (of.spacing[axis] * of.spacing[axis]) * np.where(far, 0, of.reach(steps) ** 2)
        value = np.where(far, none_of(of.squared_type), away.astype(of.squared_type))
        nearer = value < squared[block]
        if index is not None:
            site = before[block[0], None, None] + own[row] + after[None, None, block[2]]
            tied = (value == squared[block]) & ~far
            nearer[tied] = _comes_before(site[tied], index[block][tied], of.shape)
            np.copyto(index[block], site, where=nearer, casting="same_kind")
        np.copyto(squared[block], value, where=nearer)


def _places(of: Grid, shape: Sequence[int], start: Sequence[int], axes: Sequence[int]) -> Any:
    """Of the cells along some axes what these add to linear indices in the grid."""
    made = np.zeros(1, np.int64)
    for k in axes:
        along = (start[k] + np.arange(shape[k])) * math.prod(of.shape[k + 1 :])
        made = np.add.outer(made, along).reshape(-1)
    return made


def _blocks(shape: Sequence[int]) -> Iterator[tuple[slice, slice, slice]]:
    lines = max(1, _AT_A_TIME // max(1, shape[1]))
    columns = min(lines, max(1, shape[2]))
    many = max(1, lines // columns) if columns == shape[2] else 1
    for b in range(0, shape[0], many):
        for c in range(0, shape[2], columns):
            yield slice(b, b + many), slice(None), slice(c, c + columns)


def _ends(classes: Any, periodic: bool) -> tuple[Any, Any]:
    """Steps along axis 1 to the nearer cell that ends the run of equal classes, and its row: the smaller of two."""
    rows = classes.shape[1]
    number = np.arange(rows)[None, :, None]
    begins = np.zeros(classes.shape, bool)
    begins[:, 1:] = classes[:, 1:] != classes[:, :-1]
    low, high = np.where(begins, number, -_FAR), np.full(classes.shape, _FAR)
    high[:, :-1] = np.where(begins[:, 1:], number[:, 1:], _FAR)
    if periodic:
        begins[:, 0] = classes[:, 0] != classes[:, -1]
        low[:, 0] = np.where(begins, number, -_FAR).max(axis=1) - rows
        low[:, 0] = np.where(begins[:, 0], 0, low[:, 0])
        high[:, -1] = np.where(begins, number, _FAR).min(axis=1) + rows
    low = np.maximum.accumulate(low, axis=1) - 1  # the row before the run
    high = np.minimum.accumulate(high[:, ::-1], axis=1)[:, ::-1]  # the row after it
    to_low, to_high = number - low, high - number
    low, high = low % rows, high % rows
    take_low = (to_low < to_high) | ((to_low == to_high) & (low < high))
    return np.where(take_low, to_low, to_high), np.where(take_low, low, high)


def _comes_before(a: Any, b: Any, shape: Sequence[int]) -> Any:
    """Of linear indices, by the tie rule: the smallest last coordinate first, then by the axis before."""
    made, same = np.zeros(len(a), bool), np.ones(len(a), bool)
    for one, other in zip(np.unravel_index(a, shape)[::-1], np.unravel_index(b, shape)[::-1], strict=True):
        made |= same & (one < other)
        same &= one == other
    return made
