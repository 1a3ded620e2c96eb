"""Distances to cells of another class by slabs and pencils: labels of an image, or the two sides of a signed field.

A pass along an axis is the pass of plain distances, and then the ends of the cell's own run of equal classes: cells of
other classes beyond them are never nearer, so that the pass itself need not know classes. This does not hold if some
cells take no part: then each class of sites is searched by itself, which is also faster for the sides of signed fields.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np

from nearfield._chunk_lines import (
    Grid,
    Partial,
    by_passes,
    finish,
    held,
    lines,
    none_of,
    parts_of,
    pass_along,
    planes,
    rows_at_once,
    space_of,
)
from nearfield._distance import distance_transform
from nearfield._request import Request

_FAR = 1 << 40  # rows; no line is as long
_AT_A_TIME, _AT_A_TIME_THERE = 1 << 18, 1 << 22  # cells on the CPU, which take about 30 MB, and on a GPU


class Classes:
    """Decides, by a call's options, which cells are sites for each other."""

    def __init__(self, request: Request, dtype: Any) -> None:
        self.labels = request.sites == "other_labels"
        self.zero = request.sites != "nonzero"
        self.sign = request.sign
        self.dtype = np.dtype(dtype if self.labels else "bool")

    def of(self, slab: Any) -> Any:
        return slab if self.labels else slab == 0 if self.zero else slab != 0

    def held(self, of: Grid) -> dict[str, Any]:
        """Types of the fields between the passes; classes take the place of labels."""
        return held(of, self.dtype)

    def slab(self, of: Grid, slab: Any, first: int, part: Any = None, threads: int | None = None) -> Iterable[Any]:
        """Computes the fields of `held` within each plane, as `planes`."""
        classes = self.of(slab)
        if self.labels and not by_passes(of) and (self.sign == "none" or classes.itemsize < 8):
            labels = classes
            if self.sign != "none":  # zero is a label like any other
                labels = classes.view(f"u{classes.itemsize}").astype(f"u{2 * classes.itemsize}") + 1
            return planes(of, labels, first, "other_labels", threads=threads)._replace(label=classes)
        return self.planes(of, classes, first, threads)._replace(label=classes)

    def pencil(
        self, of: Grid, fields: dict[str, Any], start: Sequence[int], limit: float, threads: int | None = None
    ) -> Partial:
        """Computes the fields of the whole grid from those of `held`, as `lines`, and overwrites these."""
        pencil = Partial(**fields)
        part = pencil._replace(label=None)
        pass_of_classes(of, part, pencil.label, 0, start, threads)
        finish(of, part, start, limit)
        return pencil

    def signed(self, field: Any, classes: Any) -> Any:
        """Gives distances the sign of their side. Cells are outside if their class is True, or their label zero."""
        if self.sign != "none" and field.dtype.kind == "f":
            outside = classes == 0 if self.labels else classes
            side = outside if self.sign == "outside" else ~outside
            if (xp := space_of(field)) is np:
                np.negative(field, out=field, where=side)
            else:
                xp.copyto(field, -field, where=side)
        return field

    def planes(self, of: Grid, classes: Any, first: int, threads: int | None) -> Partial:
        """Computes the fields within each plane of a slab."""
        part, start = _nothing(of, classes), (first,) + (0,) * (classes.ndim - 1)
        if self.labels and self.sign == "none":  # the background is a site
            _settle(of, part, classes == 0, start)
        for axis in range(classes.ndim - 1, 0, -1):
            pass_of_classes(of, part, classes, axis, start, threads)
        return part


class Searches(Classes):
    """Classes among cells of which some may take no part: searches each value of each bit in which classes differ.

    `bits` holds these bits. The nearest cell of another class is the nearest one that differs in some bit.
    """

    def __init__(self, request: Request, dtype: Any, bits: int) -> None:
        super().__init__(request, dtype)
        self.searches = [(bit, value) for bit in range(64) if bits >> bit & 1 for value in (1, 0)]

    def held(self, of: Grid) -> dict[str, Any]:
        each = held(of).items()
        types = {f"{name}{k}": kind for k in range(len(self.searches)) for name, kind in each}
        return {**types, "label": self.dtype}

    def slab(self, of: Grid, slab: Any, first: int, part: Any = None, threads: int | None = None) -> Iterable[Any]:
        classes = self.of(slab)
        for bit, value in self.searches:
            mask = (classes >> bit & 1) == value
            mask = mask if part is None else mask & part
            yield from planes(of, mask, first, "nonzero", threads=threads)[:2]
        yield classes

    def pencil(
        self, of: Grid, fields: dict[str, Any], start: Sequence[int], limit: float, threads: int | None = None
    ) -> Partial:
        classes = fields["label"]
        best = _nothing(of, classes)._replace(label=classes)
        for k, (bit, value) in enumerate(self.searches):
            found = Partial(fields[f"squared{k}"], fields.get(f"index{k}"))
            lines(of, found, start, limit=limit, overwrite=True, threads=threads)
            for own, new in zip(parts_of(best), parts_of(found), strict=True):
                _take(of, own, new, (own.label >> bit & 1) != value)
        if self.labels and self.sign == "none":
            _settle(of, best, classes == 0, start)
        return best


def bits_of(classes: Any) -> tuple[int, int]:
    """Returns the bits that some labels have, and the bits that all have."""
    codes = classes.reshape(-1).view(f"u{classes.itemsize}")
    return int(np.bitwise_or.reduce(codes)), int(np.bitwise_and.reduce(codes))


def differing(bits: Iterable[tuple[int, int]]) -> int:
    """Returns the bits in which labels differ, by `bits_of` of all chunks; at least the first, for one search."""
    some, each = zip(*bits, strict=True)
    return reduce(or_, some, 0) & ~reduce(and_, each, -1) | 1


def _nothing(of: Grid, classes: Any) -> Partial:
    """Makes the fields of cells without a site."""
    xp, shape = space_of(classes), classes.shape
    squared = xp.full(shape, none_of(of.squared_type), of.squared_type)
    return Partial(squared, xp.full(shape, -1, of.index_type) if of.sites else None)


def _take(of: Grid, best: Partial, found: Partial, asked: Any) -> None:
    """Keeps the nearer site of cells that are asked for; a site wins over an equally near border."""
    xp = space_of(asked)
    nearer = asked & (found.squared < best.squared)
    if best.index is not None:
        tied = asked & (found.squared == best.squared) & (found.index >= 0)
        before = best.index[tied]
        tied[tied] = (before < 0) | _comes_before(found.index[tied], xp.maximum(before, 0), of.shape)
        nearer |= tied
        xp.copyto(best.index, found.index, where=nearer)
    xp.copyto(best.squared, found.squared, where=nearer)


def _settle(of: Grid, part: Partial, sites: Any, start: Sequence[int]) -> None:
    """Makes cells that begin at `start` in the grid sites of their own."""
    part.squared[sites] = 0
    if part.index is None:
        return
    within = _places(of, sites, start, range(1, sites.ndim)).reshape(sites.shape[1:])
    xp, step = space_of(sites), rows_at_once(sites)
    for k in range(0, len(sites), step):
        some = slice(k, k + step)
        firsts = (start[0] + xp.arange(k, min(k + step, len(sites)))) * math.prod(of.shape[1:])
        own = firsts.reshape(-1, *(1,) * within.ndim) + within
        xp.copyto(part.index[some], own, where=sites[some], casting="same_kind")


def classes_for(request: Request, dtype: Any, bits: Callable[[], int] | None = None) -> Classes | None:
    """Returns None if one kind of cells are the sites of all others. Throws if the image's values are no labels.

    `bits` returns the bits in which labels differ; it is given if some cells take no part.
    """
    labels = request.sites == "other_labels"
    if request.sign == "none" and not labels:
        return None
    distance_transform(np.zeros((1,), dtype), multilabel=labels)
    if labels and bits is None:
        return Classes(request, dtype)
    return Searches(request, dtype, bits() if labels and bits is not None else 1)


def pass_of_classes(
    of: Grid, part: Partial, classes: Any, axis: int, start: Sequence[int], threads: int | None
) -> None:
    """Computes one pass of cells that begin at `start` in the grid, in place."""
    pass_along(of, part, axis, threads)
    xp, shape, axes = space_of(classes), classes.shape, range(classes.ndim)
    three = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
    before, own, after = (
        _places(of, classes, start, some) for some in (axes[:axis], axes[axis : axis + 1], axes[axis + 1 :])
    )
    squared, classes = part.squared.reshape(three), classes.reshape(three)
    index = None if part.index is None else part.index.reshape(three)
    for block in _blocks(three, _AT_A_TIME if xp is np else _AT_A_TIME_THERE):
        steps, row = _ends(classes[block], of.border[axis] == "periodic")
        far = steps >= _FAR // 2
        away = (of.spacing[axis] * of.spacing[axis]) * xp.where(far, 0, of.reach(steps) ** 2)
        value = xp.where(far, none_of(of.squared_type), away.astype(of.squared_type))
        nearer = value < squared[block]
        if index is not None:
            site = before[block[0], None, None] + own[row] + after[None, None, block[2]]
            tied = (value == squared[block]) & ~far
            nearer[tied] = _comes_before(site[tied], index[block][tied], of.shape)
            xp.copyto(index[block], site, where=nearer, casting="same_kind")
        xp.copyto(squared[block], value, where=nearer)


def _places(of: Grid, classes: Any, start: Sequence[int], axes: Sequence[int]) -> Any:
    """Returns what positions along some axes add to linear indices in the grid."""
    xp = space_of(classes)
    made = xp.zeros(1, np.int64)
    for k in axes:
        along = (start[k] + xp.arange(classes.shape[k])) * math.prod(of.shape[k + 1 :])
        made = (made[:, None] + along).reshape(-1)
    return made


def _blocks(shape: Sequence[int], cells: int) -> Iterator[tuple[slice, slice, slice]]:
    lines = max(1, cells // max(1, shape[1]))
    columns = min(lines, max(1, shape[2]))
    many = max(1, lines // columns) if columns == shape[2] else 1
    for b in range(0, shape[0], many):
        for c in range(0, shape[2], columns):
            yield slice(b, b + many), slice(None), slice(c, c + columns)


def _ends(classes: Any, periodic: bool) -> tuple[Any, Any]:
    """Returns steps along axis 1 to the nearer end of the run of equal classes, and its row, the smaller of two."""
    xp, rows = space_of(classes), classes.shape[1]
    number = xp.arange(rows)[None, :, None]
    begins = xp.zeros(classes.shape, bool)
    begins[:, 1:] = classes[:, 1:] != classes[:, :-1]
    low, high = xp.where(begins, number, -_FAR), xp.full(classes.shape, _FAR)
    high[:, :-1] = xp.where(begins[:, 1:], number[:, 1:], _FAR)
    if periodic:
        begins[:, 0] = classes[:, 0] != classes[:, -1]
        low[:, 0] = xp.where(begins, number, -_FAR).max(axis=1) - rows
        low[:, 0] = xp.where(begins[:, 0], 0, low[:, 0])
        high[:, -1] = xp.where(begins, number, _FAR).min(axis=1) + rows
    low = _running_maximum(low) - 1  # the row before the run
    high = -_running_maximum(-high[:, ::-1])[:, ::-1]  # the row after it
    to_low, to_high = number - low, high - number
    low, high = low % rows, high % rows
    take_low = (to_low < to_high) | ((to_low == to_high) & (low < high))
    return xp.where(take_low, to_low, to_high), xp.where(take_low, low, high)


def _running_maximum(x: Any) -> Any:
    """Computes the maximum of each line along axis 1 up to each row."""
    xp, step = space_of(x), 1
    if xp is np:
        return np.maximum.accumulate(x, axis=1)
    while step < x.shape[1]:  # CuPy has no such function
        x[:, step:] = xp.maximum(x[:, step:], x[:, :-step])
        step *= 2
    return x


def _comes_before(a: Any, b: Any, shape: Sequence[int]) -> Any:
    """Compares linear indices by the tie rule: by the last coordinate, then by the axis before."""
    xp = space_of(a)
    made, same = xp.zeros(len(a), bool), xp.full(len(a), True)
    for one, other in zip(xp.unravel_index(a, shape)[::-1], xp.unravel_index(b, shape)[::-1], strict=True):
        made |= same & (one < other)
        same &= one == other
    return made
