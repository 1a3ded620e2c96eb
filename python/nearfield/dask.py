"""Fields of dask arrays, chunk by chunk: grids that fit neither memory nor one machine, on any scheduler of dask.

Functions have the names, keywords and answers of `nearfield`, bit for bit: distances, squares, sites where several are
equally near, numbers of components. They take and return `dask.array.Array` of NumPy's or CuPy's blocks, with chunks of
any size, or DataArrays of xarray that hold one, and are lazy, but for `label` and `components`, whose first half runs
at once. Needs the package dask, 2024 or newer.

With a limit (`max_distance`, the radius of a ball) a chunk and what lies within the limit round it are enough: one task
a chunk, nothing is exchanged. Limits shorter than chunks are best; smaller chunks are joined. Without one, distances go
through slabs of whole planes and pencils of whole lines (`nearfield.chunks`): a task has as many cells as float64 fit
into dask's ``array.chunk-size``, but at least a plane; between the two lie 4 bytes a cell, or 8, and as many for its
site and its label, which the cluster holds, or the Zarr store `scratch`.

>>> import dask.array as da
>>> import nearfield.dask as nfd
>>> image = da.ones((4, 6), chunks=(2, 2), dtype="uint8")
>>> image[0, 0] = 0
>>> nfd.distance_transform(image, squared=True).compute()
array([[ 0,  1,  4,  9, 16, 25],
       [ 1,  2,  5, 10, 17, 26],
       [ 4,  5,  8, 13, 20, 29],
       [ 9, 10, 13, 18, 25, 34]], dtype=uint32)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks
from dask.array.overlap import ensure_minimum_chunksize

import nearfield
from nearfield import chunks
from nearfield._chunk_lines import space_of
from nearfield._components import Components
from nearfield._dask_blocks import (
    Name,
    Types,
    blocks,
    coordinates,
    field_of,
    meta_of,
    of_named,
    on_host,
    packed,
    parts,
    place_of,
    unpacked,
    wants,
)
from nearfield._dask_labels import numbered, tabled
from nearfield._distance import distance_type
from nearfield._label_request import Periodic, lengths_of
from nearfield._request import (
    Border,
    Indices,
    Signed,
    Sites,
    Spacing,
    border_of,
    flag_of,
    max_distance_of,
    request_for,
    word_of,
)


@of_named
def distance_transform(
    image: Any,
    *,
    spacing: Spacing = None,
    sites: Sites = "zero",
    squared: bool = False,
    signed: Signed = False,
    multilabel: bool = False,
    half_cell: bool = False,
    border: Border = "open",
    max_distance: float | None = None,
    return_distances: bool = True,
    return_indices: Indices = False,
    dtype: Any = None,
    scratch: Any = None,
) -> Any:
    """`nearfield.distance_transform` of a dask array.

    Parameters
    ----------
    image : dask.array.Array
        1 to 8 axes, any chunks.
    signed, multilabel, half_cell, sites='other_labels'
        Only with `max_distance` and open borders.
    scratch : str or store of Zarr, optional
        Without `max_distance`, or with borders that are not open: the first pass runs at once and is written there, so
        that no worker has to keep it. Needs the package zarr.
    spacing, sites, squared, border, max_distance, return_distances, return_indices, dtype
        As in `nearfield.distance_transform`.

    Returns
    -------
    dask array or tuple of them
        In the order distances, indices. Coordinates are int32 of shape ``(axes, *image.shape)``.

    Raises
    ------
    TypeError, ValueError
        An argument is not what it has to be; nothing was computed.
    """
    image = _checked("image", image)
    limit = max_distance_of(max_distance)
    flags: dict[str, Any] = dict(signed=signed, multilabel=multilabel, half_cell=half_cell)
    request = request_for(
        image.ndim, spacing=spacing, sites=sites, border=border, max_distance=limit, batch_axes=0, **flags
    )
    field: Name = "squared" if flag_of("squared", squared) else "distance"
    types: Types = {}
    if flag_of("return_distances", return_distances):
        types[field] = np.dtype(distance_type(field, dtype, None, image.shape, request))
    if wants(return_indices):
        types["index"] = np.dtype("int64")
    if not types:
        raise ValueError("nothing is asked for; give at least one of return_distances, return_indices")
    if math.isinf(limit) or set(request.border) != {"open"}:
        if any(flags.values()) or sites == "other_labels":
            raise ValueError(
                "signed, multilabel, half_cell and sites='other_labels' of chunks need a limit and open borders; give "
                "max_distance, and leave border out"
            )
        made = _by_lines(image, spacing, border, sites, types, limit, scratch)
    else:
        _refuse_scratch(scratch)
        how: dict[str, Any] = dict(spacing=spacing, sites=sites, max_distance=limit, **flags)

        def of_window(window: Any) -> Any:
            kind = types.get(field)
            asked: dict[str, Any] = dict(squared=field == "squared", return_distances=kind is not None, dtype=kind)
            return nearfield.distance_transform(window, **how, **asked, return_indices="index" in types)

        made = _within(image, chunks.halo(limit, spacing, image.ndim), types, of_window)
    return _answers(made, image, return_indices)


@of_named
def voronoi(
    seeds: Any,
    *,
    spacing: Spacing = None,
    border: Border = "open",
    max_distance: float | None = None,
    return_indices: Indices = True,
    return_labels: bool = False,
    return_distances: bool = False,
    scratch: Any = None,
) -> Any:
    """`nearfield.voronoi` of a dask array: the nearest of the cells that are not zero, and its value.

    `scratch` as in `distance_transform`.
    """
    seeds = _checked("seeds", seeds)
    limit = max_distance_of(max_distance)
    types: Types = {}
    if wants(return_indices):
        types["index"] = np.dtype("int64")
    if flag_of("return_labels", return_labels):
        types["label"] = seeds.dtype
    if flag_of("return_distances", return_distances):
        types["distance"] = np.dtype("float32")
    if not types:
        raise ValueError("nothing is asked for; give at least one of return_indices, return_labels, return_distances")
    if math.isinf(limit) or set(border_of(border, seeds.ndim, 0)) != {"open"}:
        return _answers(_by_lines(seeds, spacing, border, "nonzero", types, limit, scratch), seeds, return_indices)
    _refuse_scratch(scratch)
    wanted = {"return_indices": "index", "return_labels": "label", "return_distances": "distance"}
    asked: dict[str, Any] = {word: name in types for word, name in wanted.items()}

    def of_window(window: Any) -> Any:
        return nearfield.voronoi(window, spacing=spacing, max_distance=limit, **asked)

    made = _within(seeds, chunks.halo(limit, spacing, seeds.ndim), types, of_window)
    return _answers(made, seeds, return_indices)


@of_named
def expand_labels(labels: Any, distance: float | None = 1, spacing: Spacing = None, *, scratch: Any = None) -> Any:
    """`nearfield.expand_labels` of a dask array."""
    return voronoi(
        labels, spacing=spacing, max_distance=distance, return_indices=False, return_labels=True, scratch=scratch
    )


@of_named
def erosion(image: Any, radius: float, *, spacing: Spacing = None, labels: bool = False) -> Any:
    """`nearfield.erosion` of a dask array."""
    return _by_ball(1, nearfield.erosion, image, radius, spacing, labels)


@of_named
def dilation(image: Any, radius: float, *, spacing: Spacing = None, labels: bool = False) -> Any:
    """`nearfield.dilation` of a dask array."""
    return _by_ball(1, nearfield.dilation, image, radius, spacing, labels)


@of_named
def opening(image: Any, radius: float, *, spacing: Spacing = None, labels: bool = False) -> Any:
    """`nearfield.opening` of a dask array."""
    return _by_ball(2, nearfield.opening, image, radius, spacing, labels)


@of_named
def closing(image: Any, radius: float, *, spacing: Spacing = None, labels: bool = False) -> Any:
    """`nearfield.closing` of a dask array."""
    return _by_ball(2, nearfield.closing, image, radius, spacing, labels)


@of_named
def label(
    image: Any,
    *,
    connectivity: int = 1,
    criterion: Any = "nonzero",
    background: float | None = 0,
    periodic: Periodic = False,
    return_num: bool = False,
    dtype: Any = "int32",
) -> Any:
    """`nearfield.label` of a dask array, with the numbers of the whole grid.

    The image is read twice: at once, when the components at the faces of chunks are compared, and when labels are
    computed. What is kept between are a number for each component of each chunk and the labels at the faces.

    Parameters
    ----------
    image : dask.array.Array
        1 to 8 axes, any chunks.
    connectivity, criterion, background, periodic
        As in `nearfield.label`.
    dtype
        Of the labels: uint16, int32, uint32, int64 or uint64.

    Returns
    -------
    labels : dask array
    num : int
        With `return_num`.

    Raises
    ------
    ValueError
        There are more components than `dtype` can number.
    """
    image = _checked("image", image)
    how = dict(connectivity=connectivity, criterion=criterion, background=background)
    labels, count, _ = numbered(image, how, periodic, dtype)
    return (labels, count) if flag_of("return_num", return_num) else labels


def components(
    image: Any,
    *,
    connectivity: int = 1,
    criterion: Any = "nonzero",
    background: float | None = 0,
    periodic: Periodic = False,
    spacing: Spacing = None,
    dtype: Any = "int32",
) -> Components:
    """`nearfield.components` of a dask array of 1 to 3 axes; intensities are not measured.

    Labels are lazy, as those of `label`. The table is computed at once, of arrays of NumPy; for it the image is read
    once more.
    """
    image = _checked("image", image)
    if image.ndim > 3:
        raise ValueError(f"image has {image.ndim} axes; tables are of at most 3")
    lengths_of(spacing, image.ndim)
    how = dict(connectivity=connectivity, criterion=criterion, background=background)
    labels, count, known = numbered(image, how, periodic, dtype)
    table = tabled(image, how, count, known, spacing)
    return Components(labels, table)


# ---- chunks and what lies round them ------------------------------------------------------------------------------


def _within(image: Any, reach: Sequence[int], types: Types, function: Callable[[Any], Any]) -> dict[Name, Any]:
    """Fields of chunks that depend on `reach` cells round them; function(window) gives that or those of a window."""
    depth = [min(r, n) for r, n in zip(reach, image.shape, strict=True)]
    wide = tuple(ensure_minimum_chunksize(max(d, 1), c) for d, c in zip(depth, image.chunks, strict=True))
    windows = da.overlap.overlap(image.rechunk(wide), depth=dict(enumerate(depth)), boundary="none")

    def of_block(window: Any, block_info: Any = None) -> Any:
        at = block_info[0]["chunk-location"]
        start, size = place_of(wide, at)
        low = [d if k > 0 else 0 for d, k in zip(depth, at, strict=True)]
        inside = tuple(slice(b, b + n) for b, n in zip(low, size, strict=True))
        made = function(window)
        fields = dict(zip(types, made if isinstance(made, tuple) else (made,), strict=True))
        if "index" in fields:
            xp, at_site = space_of(window), 0
            for s, b, x, n in zip(start, low, fields["index"], image.shape, strict=True):
                at_site = at_site * n + (s - b + x.astype(np.int64))
            fields["index"] = xp.where(fields["index"][0] >= 0, at_site, -1)
        return packed([field[inside] for field in fields.values()])

    return unpacked(blocks(of_block, windows, wide, types), types)


def _by_ball(times: int, function: Any, image: Any, radius: float, spacing: Spacing, labels: bool) -> Any:
    image = _checked("image", image)
    how = dict(spacing=spacing, labels=labels)
    kind = function(np.zeros((1,) * image.ndim, image.dtype), radius, **how).dtype
    reach = [times * r for r in chunks.halo(float(radius), spacing, image.ndim)]
    return _within(image, reach, {"label": kind}, lambda window: function(window, radius, **how))["label"]


# ---- slabs and pencils --------------------------------------------------------------------------------------------


def _by_lines(
    image: Any, spacing: Spacing, border: Border, sites: Any, types: Types, limit: float, scratch: Any
) -> dict[Name, Any]:
    word_of("sites", sites, ("zero", "nonzero"))
    labels = "label" in types
    of = chunks.grid(image.shape, spacing=spacing, border=border, sites=labels or "index" in types)
    whole = tuple("auto" if axis == 0 else -1 for axis in range(image.ndim))
    slabs = image.rechunk(normalize_chunks(whole, shape=image.shape, dtype=np.float64))  # of what is made of them

    def planes(slab: Any, block_info: Any = None) -> Any:
        made = chunks.planes(of, slab, block_info[0]["array-location"][0][0], sites, labels=labels)
        return packed([field for field in made if field is not None])

    held: Types = {"squared": np.dtype(of.squared_type)}
    if of.sites:
        held["index"] = np.dtype(of.index_type)
    if labels:
        held["label"] = image.dtype
    between = blocks(planes, slabs, slabs.chunks, held)
    if scratch is not None:
        meta = between._meta
        da.to_zarr(between.map_blocks(on_host, meta=np.empty(meta.shape, meta.dtype)), scratch, overwrite=True)
        between = da.from_zarr(scratch).map_blocks(space_of(meta).asarray, meta=meta)
    lead = between.ndim - image.ndim
    pencils = between.rechunk({axis: -1 if axis <= lead else "auto" for axis in range(between.ndim)})

    def lines(pencil: Any, block_info: Any = None) -> Any:
        start = [begin for begin, _ in block_info[0]["array-location"][lead:]]
        part = chunks.lines(of, chunks.Partial(*parts(pencil, held)), start, limit=limit)
        return packed([field_of(of, part, name, kind) for name, kind in types.items()])

    return unpacked(blocks(lines, pencils, pencils.chunks[lead:], types), types)


# ---- what is given and returned -----------------------------------------------------------------------------------


def _checked(name: str, image: Any) -> Any:
    if not isinstance(image, da.Array):
        raise TypeError(f"{name} is of type {type(image).__name__}; give an array of dask, or use nearfield itself")
    if any(math.isnan(n) for n in image.shape):
        raise ValueError(f"{name} has chunks of unknown size; call its compute_chunk_sizes() first")
    if not 1 <= image.ndim <= 8:
        raise ValueError(f"{name} has {image.ndim} axes; give an array of 1 to 8 axes")
    return image


def _refuse_scratch(scratch: Any) -> None:
    if scratch is not None:
        raise ValueError("scratch does not go with a limit, which needs none; leave one of them out")


def _answers(made: dict[Name, Any], image: Any, indices: Indices) -> Any:
    if "index" in made and indices != "linear":
        made["index"] = made["index"].map_blocks(
            coordinates,
            image.shape,
            dtype=np.int32,
            meta=meta_of(image, image.ndim + 1, np.int32),
            chunks=((image.ndim,), *made["index"].chunks),
            new_axis=0,
        )
    each = tuple(made.values())
    return each if len(each) > 1 else each[0]


__all__ = [
    "closing",
    "components",
    "dilation",
    "distance_transform",
    "erosion",
    "expand_labels",
    "label",
    "opening",
    "voronoi",
]
