"""Fields of grids that do not fit into memory, from chunks that do: the steps of which drivers are made.

`nearfield.dask` is one. Arrays are NumPy's, no step keeps anything, and the answers have the bits of the whole grid.

Distances and nearest sites, for any content: `planes` of slabs of whole planes of the grid, then `lines` of pencils,
chunks that are whole along axis 0. Between the two lies one number a cell, which changes places once: write what
`planes` gives chunked as slabs, read it as pencils. Within a limit there is a simpler way: fields of windows, which are
chunks and what lies within the limit round them (`halo`).

Components: `faces` of every window, a chunk with one more cell at the high end of each axis; `merge` of all of them;
`renumber` of every window by its table.

>>> import numpy as np
>>> from nearfield import chunks
>>> image = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], np.uint8)
>>> grid = chunks.grid(image.shape, spacing=(2, 1))
>>> slabs = [chunks.planes(grid, image[k : k + 1]) for k in range(3)]
>>> chunks.lines(grid, np.concatenate(slabs)).distance
array([[2.236068, 2.      , 2.236068],
       [1.      , 0.      , 1.      ],
       [2.236068, 2.      , 2.236068]], dtype=float32)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from nearfield._distance import distance_transform
from nearfield._label import label
from nearfield._request import Spacing, said, spacing_of
from nearfield._voronoi import voronoi

# Of docs/semantics.md, "Squared distance"; the last one is where float64 no longer holds every integer.
MOST_COUNTED = 2.0**52
MOST_BOTTOM = 1000
MOST_MULTIPLE = 2.0**26
EXACT = 2.0**53


class Grid(NamedTuple):
    """What all chunks of one call have to know; made by `grid`."""

    shape: tuple[int, ...]  #: of the whole grid
    spacing: tuple[float, ...]  #: of each axis, in the length that is counted
    unit2: float  #: square of that length
    counted: bool  #: squared distances are integers in that unit
    step: int  #: 1, or with sites a power of four above every key: the place of a site in its plane, by the tie rule

    @property
    def largest(self) -> float:
        """A bound of squared distances, in `unit2`."""
        return sum((s * max(n - 1, 1)) ** 2 for s, n in zip(self.spacing, self.shape, strict=True))


class Fields(NamedTuple):
    """What `lines` gives of a pencil. Without any site: inf, -1 and 0."""

    distance: Any  #: float32
    squared: Any  #: float64
    index: Any  #: int64: C-order linear index of the nearest site in the whole grid; None of a grid without `sites`
    label: Any  #: the image's value there, where `lines` was given those of planes; else None


def grid(shape: Sequence[int], *, spacing: Spacing = None, sites: bool = False) -> Grid:
    """How squared distances of a grid are counted; with `sites` also which of equally near ones is nearest.

    Raises
    ------
    ValueError
        A wrong spacing. With `sites`: one whose lengths have no common measure, or a grid on which the largest squared
        distance times the cells of a plane reaches 2**53.
    """
    lengths = spacing_of(spacing, len(shape), 0) or (1.0,)
    each = lengths * len(shape) if len(lengths) == 1 else lengths
    if len(each) != len(shape):
        raise ValueError(f"spacing has {len(each)} values for {len(shape)} axes; give one per axis, or one for all")
    made = _counted(tuple(shape), each)
    if not sites:
        return made
    if not made.counted:
        raise ValueError(
            f"spacing is {said(spacing)}, whose lengths have no common measure; nearest sites of chunks need one, "
            "or a limit"
        )
    plane = math.prod(shape[1:])
    step = 4
    while step < plane:
        step *= 4
    if made.largest * step >= EXACT:
        raise ValueError(
            f"a grid of shape {tuple(shape)} is too large for nearest sites by chunks of planes and lines: squared "
            f"distances up to {made.largest:.3g} and {plane} cells of a plane do not fit into 53 bits; give a limit"
        )
    return made._replace(step=step)


def _counted(shape: tuple[int, ...], spacing: tuple[float, ...]) -> Grid:
    """The rules of docs/semantics.md, "Squared distance"."""
    plain = Grid(shape, spacing, 1.0, all(s == round(s) for s in spacing), 1)
    if len(set(spacing)) == 1:
        cells = Grid(shape, (1.0,) * len(shape), spacing[0] ** 2, True, 1)
        return cells if cells.largest < MOST_COUNTED else plain
    for bottom in range(1, 2 if plain.counted else MOST_BOTTOM + 1):
        multiples = [float(round(s * bottom)) for s in spacing]
        if all(1 <= m < MOST_MULTIPLE and m / bottom == s for m, s in zip(multiples, spacing, strict=True)):
            top = math.gcd(*(int(m) for m in multiples))
            if plain.counted and top == 1:
                return plain
            made = Grid(shape, tuple(m / top for m in multiples), (top * top) / (bottom * bottom), True, 1)
            return made if made.largest < MOST_COUNTED else plain
    return plain


def planes(of: Grid, slab: Any, sites: Literal["zero", "nonzero"] = "zero", *, labels: bool = False) -> Any:
    """Squared distances within each plane of a slab of the grid, in `unit2`; with sites, times `step` and a key.

    Parameters
    ----------
    slab : array
        Whole planes of the image: any number along axis 0, all cells along the others.
    sites : {'zero', 'nonzero'}
        As in `nearfield.distance_transform`.
    labels : bool
        Also give the image's values at these sites; of a grid with `sites`.

    Returns
    -------
    array of float64, or with `labels` a tuple of it and an array of the slab's type
        Shape of `slab`. inf, and 0, in planes without a site.
    """
    slab = np.asarray(slab)
    if slab.shape[1:] != of.shape[1:]:
        raise ValueError(f"slab has shape {slab.shape}; give whole planes, of shape {of.shape[1:]}")
    if slab.ndim == 1:
        alone = distance_transform(slab[:, None], sites=sites, batch_axes=1, dtype="float64")[:, 0]
        return (alone, np.where(np.isfinite(alone), slab, slab.dtype.type(0))) if labels else alone
    how: dict[str, Any] = dict(spacing=of.spacing[1:], sites=sites, batch_axes=1, squared=True, dtype="float64")
    if of.step == 1:
        return distance_transform(slab, **how)
    squared, index = distance_transform(slab, return_indices="linear", **how)
    at = np.unravel_index(np.maximum(index, 0), of.shape[1:])
    values = squared * of.step + np.ravel_multi_index(at[::-1], of.shape[:0:-1])
    if not labels:
        return values
    flat, places = slab.reshape(len(slab), -1), np.maximum(index, 0).reshape(len(slab), -1)
    carried = np.take_along_axis(flat, places, axis=1).reshape(slab.shape)
    return values, np.where(index < 0, slab.dtype.type(0), carried)


def lines(of: Grid, pencil: Any, labels: Any = None) -> Fields:
    """The fields of a pencil: cells whose lines along axis 0 are whole, with what `planes` gave of them."""
    pencil = np.asarray(pencil)
    if pencil.shape[:1] != of.shape[:1] or pencil.ndim != len(of.shape):
        raise ValueError(f"pencil has shape {pencil.shape}; give whole lines of {of.shape[0]} cells along axis 0")
    last = np.ascontiguousarray(np.moveaxis(pencil, 0, -1)).reshape(-1, of.shape[0])
    there = np.isfinite(last)
    row, power = voronoi(
        there,
        weights=np.where(there, -last, 0.0),
        spacing=of.spacing[0] * math.sqrt(of.step),
        batch_axes=1,
        return_indices="linear",
        return_distances=True,
    )
    row, power = (np.moveaxis(f.reshape(*pencil.shape[1:], of.shape[0]), -1, 0) for f in (row, power))
    found = row >= 0
    number, index = power, None
    if of.step > 1:
        known = np.where(found, power, 0.0)
        whole = np.floor(known / of.step)
        key = (known - whole * of.step).astype(np.int64)
        at = np.unravel_index(key, of.shape[:0:-1])[::-1] if pencil.ndim > 1 else ()
        index = np.where(found, np.ravel_multi_index((np.maximum(row, 0), *at), of.shape), -1)
        number = np.where(found, whole, np.inf)
    if labels is not None:
        at_row = np.take_along_axis(np.asarray(labels), np.maximum(row, 0), axis=0)
        labels = np.where(found, at_row, at_row.dtype.type(0))
    squared = number * of.unit2
    return Fields(np.sqrt(squared).astype(np.float32), squared, index, labels)


def halo(limit: float, spacing: Spacing, axes: int) -> tuple[int, ...]:
    """How many cells round a chunk, along each axis, a field within `limit` depends on."""
    lengths = spacing_of(spacing, axes, 0) or (1.0,)
    return tuple(math.floor(limit / s) + 1 for s in (lengths * axes if len(lengths) == 1 else lengths))


class Faces(NamedTuple):
    """What `merge` has to know of a chunk; made by `faces`."""

    first: Any  #: int64: of each component of the window, its first cell's linear index in the grid
    low: dict[tuple[int, ...], Any]  #: labels of the chunk's own cells at its low ends
    high: dict[tuple[int, ...], Any]  #: labels of the cells beyond its high ends


def faces(window: Any, start: Sequence[int], size: Sequence[int], shape: Sequence[int], **how: Any) -> Faces:
    """Components of a window, as far as its neighbours see them.

    Parameters
    ----------
    window : array
        The chunk with one more cell at the high end of each axis, where the grid goes on.
    start, size : sequence of int
        Where the chunk begins in the grid, and its size without these cells.
    shape : sequence of int
        Of the grid.
    how
        `connectivity`, `criterion`, `background` of `nearfield.label`.
    """
    labels, count = label(window, return_num=True, dtype="int64", **how)
    flat = labels.ravel()
    # Numbers rise in the order of first cells.
    seen = np.maximum.accumulate(flat)
    at = np.flatnonzero(np.diff(seen, prepend=0))
    inside = np.unravel_index(at, labels.shape)
    first = np.ravel_multi_index([i + s for i, s in zip(inside, start, strict=True)], tuple(shape)).astype(np.int64)
    assert len(first) == count
    low, high = {}, {}
    for corner in itertools.product((0, 1), repeat=labels.ndim):
        if not any(corner):
            continue
        low[corner] = labels[tuple(slice(0, 1) if c else slice(0, n) for c, n in zip(corner, size, strict=True))].copy()
        beyond = labels[tuple(slice(n, n + 1) if c else slice(0, n) for c, n in zip(corner, size, strict=True))]
        if beyond.size:
            high[corner] = beyond.copy()
    return Faces(first, low, high)


def merge(parts: dict[tuple[int, ...], Faces]) -> tuple[dict[tuple[int, ...], Any], int]:
    """Which components of windows are one: a table of numbers for each window, and how many components there are.

    Parameters
    ----------
    parts : dict
        `faces` of all windows, by the numbers of their chunks along each axis.

    Returns
    -------
    tables : dict
        For each window the number of component k + 1 at place k: int64, in the order of first cells.
    count : int
    """
    begin, all_cells = {}, 0
    for chunk, part in parts.items():
        begin[chunk] = all_cells
        all_cells += len(part.first)
    pairs = [np.empty((2, 0), np.int64)]
    for chunk, part in parts.items():
        for corner, beyond in part.high.items():
            other = tuple(c + d for c, d in zip(chunk, corner, strict=True))
            own = parts[other].low[corner]
            both = (beyond > 0) & (own > 0)
            mine, theirs = beyond[both] - 1 + begin[chunk], own[both] - 1 + begin[other]
            pairs.append(np.unique(np.stack([mine, theirs]), axis=1))
    root = _roots(all_cells, *np.concatenate(pairs, axis=1))
    first = np.concatenate([part.first for part in parts.values()]) if parts else np.empty(0, np.int64)
    least = np.full(all_cells, np.iinfo(np.int64).max)
    np.minimum.at(least, root, first)
    heads = np.flatnonzero(root == np.arange(all_cells))
    number = np.zeros(all_cells, np.int64)
    number[heads[np.argsort(least[heads], kind="stable")]] = np.arange(1, len(heads) + 1)
    number = number[root]
    return {chunk: number[begin[chunk] : begin[chunk] + len(part.first)] for chunk, part in parts.items()}, len(heads)


def _roots(count: int, a: Any, b: Any) -> Any:
    """Of `count` things of which a[i] and b[i] are joined, the smallest of each one's set."""
    root = np.arange(count)
    while True:
        low, high = np.minimum(root[a], root[b]), np.maximum(root[a], root[b])
        if np.array_equal(low, high):
            return root
        np.minimum.at(root, high, low)
        while not np.array_equal(root, shorter := root[root]):
            root = shorter


def renumber(window: Any, size: Sequence[int], table: Any, **how: Any) -> Any:
    """Labels of a chunk in the numbers of the whole grid: int64, of shape `size`."""
    labels = label(window, dtype="int64", **how)[tuple(slice(0, n) for n in size)]
    return np.concatenate([np.zeros(1, np.int64), np.asarray(table, np.int64)])[labels]


__all__ = ["Faces", "Fields", "Grid", "faces", "grid", "halo", "lines", "merge", "planes", "renumber"]
