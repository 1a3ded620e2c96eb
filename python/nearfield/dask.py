"""Fields of dask arrays, chunk by chunk: grids that fit neither memory nor one machine, on any scheduler of dask.

Functions have the names, keywords and answers of `nearfield`, bit for bit: distances, squares, sites where several are
equally near, numbers of components. They take and return `dask.array.Array` of NumPy's or CuPy's blocks, with chunks of
any size, or DataArrays of xarray that hold one. They are lazy, except that the first half of `label` and `components`
runs immediately. They need the package dask, 2024 or newer.

With a limit (`max_distance`, the radius of a ball) a chunk and what lies within the limit round it are enough: there is
one task for each chunk, and nothing is exchanged. Limits shorter than chunks are best; smaller chunks are joined.
Without a limit, distances go through slabs of whole planes and pencils of whole lines (`nearfield.chunks`). A slab has
as many cells as float64 fit into dask's ``array.chunk-size``, but at least one plane. Between the two, the cluster or
the Zarr store `scratch` holds 4 or 8 bytes for each cell, and as many for its site and for its label.

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

import functools
import math
from typing import Any

import dask.array as da
import numpy as np

import nearfield
from nearfield import chunks
from nearfield._components import Components
from nearfield._dask_blocks import Gate, Name, Types, coordinates, meta_of, of_named, wants
from nearfield._dask_content import by_content, content_limit, sites_near
from nearfield._dask_fields import OfWindow, by_lines, ends_of_window, part_of, serves, within
from nearfield._dask_labels import numbered, tabled
from nearfield._distance import distance_type
from nearfield._label_request import Periodic, lengths_of
from nearfield._request import Border, Indices, Request, Signed, Sites, Spacing, flag_of, max_distance_of, request_for


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
    where: Any = None,
    return_distances: bool = True,
    return_indices: Indices = False,
    return_trusted: bool = False,
    dtype: Any = None,
    scratch: Any = None,
    try_within: float | str | None = None,
) -> Any:
    """`nearfield.distance_transform` of a dask array.

    Parameters
    ----------
    image : dask.array.Array
        1 to 8 axes, any chunks.
    where : array of bool or uint8, optional
        Of dask or NumPy; broadcasts to the shape of `image`. Cells where it is zero take no part. With `multilabel`
        and without `max_distance` the call reads both immediately, for the bits in which labels differ.
    scratch : str or store of Zarr, optional
        Without `max_distance`, or for nearest sites across periodic borders: the first pass runs immediately and is
        written there, so that no worker has to keep it. This needs the package zarr.
    try_within : float or 'auto', optional
        Without `max_distance`: if each chunk has a site within this distance of each of its cells, chunks are computed
        with their surroundings, as with that limit; otherwise by slabs and pencils. The answer is the same. Tasks
        decide it, or the call itself with `scratch`; for this they read the image once more. 'auto' tries a quarter of
        a chunk, 0 nothing. Default: 'auto' with `scratch`, else 0. Nearest sites across periodic borders, and labels
        with `where`, are not tried.
    spacing, sites, squared, signed, multilabel, half_cell, border, max_distance
        As in `nearfield.distance_transform`.
    return_distances, return_indices, return_trusted, dtype
        As in `nearfield.distance_transform`.

    Returns
    -------
    dask array or tuple of them
        In the order distances, indices, trusted. Coordinates are int32 of shape ``(axes, *image.shape)``.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid; nothing was computed.
    """
    image = _checked("image", image)
    limit, axes = max_distance_of(max_distance), image.ndim
    how: dict[str, Any] = dict(signed=signed, multilabel=multilabel, half_cell=half_cell, sites=sites)
    request = request_for(axes, spacing=spacing, border=border, max_distance=limit, batch_axes=0, **how)
    field: Name = "squared" if flag_of("squared", squared) else "distance"
    types: Types = {}
    if flag_of("return_distances", return_distances):
        types[field] = np.dtype(distance_type(field, dtype, None, image.shape, request))
    if wants(return_indices):
        types["index"] = np.dtype("int64")
    if flag_of("return_trusted", return_trusted):
        types["trusted"] = np.dtype("bool")
    if not types:
        raise ValueError("nothing is asked for; give at least one of return_distances, return_indices, return_trusted")
    of = chunks.grid(image.shape, spacing=spacing, border=border, sites="index" in types, half_cell=half_cell)
    kind = types.get(field)
    asked: dict[str, Any] = dict(squared=field == "squared", return_distances=kind is not None, dtype=kind)
    asked["return_trusted"] = "trusted" in types
    how.update(asked, spacing=spacing, border=ends_of_window(of.border))

    def of_window(window: Any, where: Any = None, limit: float = limit) -> Any:
        return nearfield.distance_transform(
            window, where=where, max_distance=limit, **how, return_indices="index" in types
        )

    made = _made(image, where, spacing, of, request, types, scratch, try_within, of_window)
    return _answers(made, image, return_indices)


@of_named
def voronoi(
    seeds: Any,
    *,
    spacing: Spacing = None,
    border: Border = "open",
    max_distance: float | None = None,
    where: Any = None,
    return_indices: Indices = True,
    return_labels: bool = False,
    return_distances: bool = False,
    return_trusted: bool = False,
    scratch: Any = None,
    try_within: float | str | None = None,
) -> Any:
    """`nearfield.voronoi` of a dask array: the nearest of the cells that are not zero, and its value.

    `where`, `scratch` and `try_within` as in `distance_transform`.
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
    if flag_of("return_trusted", return_trusted):
        types["trusted"] = np.dtype("bool")
    if not types:
        raise ValueError(
            "nothing is asked for; give at least one of return_indices, return_labels, return_distances, return_trusted"
        )
    of = chunks.grid(seeds.shape, spacing=spacing, border=border, sites=bool(types.keys() & {"index", "label"}))
    wanted = dict(return_indices="index", return_labels="label", return_distances="distance", return_trusted="trusted")
    asked: dict[str, Any] = {word: name in types for word, name in wanted.items()}
    asked.update(spacing=spacing, border=ends_of_window(of.border))

    def of_window(window: Any, where: Any = None, limit: float = limit) -> Any:
        return nearfield.voronoi(window, where=where, max_distance=limit, **asked)

    request = Request((), sites="nonzero", max_distance=limit)
    made = _made(seeds, where, spacing, of, request, types, scratch, try_within, of_window)
    return _answers(made, seeds, return_indices)


@of_named
def expand_labels(
    labels: Any,
    distance: float | None = 1,
    spacing: Spacing = None,
    *,
    border: Border = "open",
    where: Any = None,
    return_distances: bool = False,
    scratch: Any = None,
    try_within: float | str | None = None,
) -> Any:
    """`nearfield.expand_labels` of a dask array; `where`, `scratch` and `try_within` as in `distance_transform`."""
    how: dict[str, Any] = dict(border=border, where=where, return_distances=return_distances, scratch=scratch)
    how["try_within"] = try_within
    return voronoi(labels, spacing=spacing, max_distance=distance, return_indices=False, return_labels=True, **how)


@of_named
def erosion(
    image: Any, radius: float, *, spacing: Spacing = None, border: Border = "open", labels: bool = False
) -> Any:
    """`nearfield.erosion` of a dask array."""
    return _by_ball(1, nearfield.erosion, image, radius, spacing, border, labels)


@of_named
def dilation(
    image: Any, radius: float, *, spacing: Spacing = None, border: Border = "open", labels: bool = False
) -> Any:
    """`nearfield.dilation` of a dask array."""
    if flag_of("labels", labels):
        return expand_labels(image, radius, spacing, border=border)
    return _by_ball(1, nearfield.dilation, image, radius, spacing, border, labels)


@of_named
def opening(
    image: Any, radius: float, *, spacing: Spacing = None, border: Border = "open", labels: bool = False
) -> Any:
    """`nearfield.opening` of a dask array."""
    return _by_ball(2, nearfield.opening, image, radius, spacing, border, labels)


@of_named
def closing(
    image: Any, radius: float, *, spacing: Spacing = None, border: Border = "open", labels: bool = False
) -> Any:
    """`nearfield.closing` of a dask array."""
    closed = _by_ball(2, nearfield.closing, image, radius, spacing, border, False)
    return dilation(image, radius, spacing=spacing, border=border, labels=True) * closed if labels else closed


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

    The call reads the image twice: immediately, to compare the components at the faces of chunks, and when labels are
    computed. Between, it keeps a number for each component of each chunk and the labels at the faces.

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

    Labels are lazy, as those of `label`. The table, of arrays of NumPy, is computed immediately, for which the call
    reads the image once more.
    """
    image = _checked("image", image)
    if image.ndim > 3:
        raise ValueError(f"image has {image.ndim} axes; tables are of at most 3")
    lengths_of(spacing, image.ndim)
    how = dict(connectivity=connectivity, criterion=criterion, background=background)
    labels, count, known = numbered(image, how, periodic, dtype)
    table = tabled(image, how, count, known, spacing)
    return Components(labels, table)


# ---- what all have in common ----------------------------------------------------------------------------------------


def _made(
    image: Any,
    where: Any,
    spacing: Spacing,
    of: chunks.Grid,
    request: Request,
    types: Types,
    scratch: Any,
    try_within: float | str | None,
    of_window: OfWindow,
) -> dict[Name, Any]:
    limit, part = request.max_distance, part_of(where, image)
    of_lines = functools.partial(by_lines, of=of, request=request, types=types)

    def by_windows(image: Any, part: Any, gate: Gate | None = None, limit: float = limit) -> dict[Name, Any]:
        reach = chunks.halo(limit, spacing, image.ndim)
        return within(image, part, reach, of.border, types, functools.partial(of_window, limit=limit), gate)

    lengths = lengths_of(spacing, image.ndim)
    near = content_limit(try_within, scratch, lengths, image.chunks)
    if serves(limit, of.border, types, scratch):
        return by_windows(image, part)
    of_labels = part is not None and request.sites == "other_labels"
    if near <= 0 or not math.isinf(limit) or of_labels or not serves(near, of.border, types, None):
        return of_lines(image, part, scratch=scratch)
    holds = sites_near(image, part, request, lengths, near)
    if scratch is None:
        return by_content(image, part, holds, functools.partial(by_windows, limit=near), of_lines)
    return by_windows(image, part, limit=near) if holds.compute() else of_lines(image, part, scratch=scratch)


def _by_ball(
    times: int, function: Any, image: Any, radius: float, spacing: Spacing, border: Border, labels: bool
) -> Any:
    image = _checked("image", image)
    ends = chunks.grid(image.shape, border=border).border
    how = dict(spacing=spacing, labels=labels, border=ends_of_window(ends))
    kind = function(np.zeros((1,) * image.ndim, image.dtype), radius, **how).dtype
    reach = [times * r for r in chunks.halo(float(radius), spacing, image.ndim)]
    return within(image, None, reach, ends, {"label": kind}, lambda window: function(window, radius, **how))["label"]


# ---- what is given and returned -----------------------------------------------------------------------------------


def _checked(name: str, image: Any) -> Any:
    if not isinstance(image, da.Array):
        raise TypeError(f"{name} is of type {type(image).__name__}; give an array of dask, or use nearfield itself")
    if any(math.isnan(n) for n in image.shape):
        raise ValueError(f"{name} has chunks of unknown size; call its compute_chunk_sizes() first")
    if not 1 <= image.ndim <= 8:
        raise ValueError(f"{name} has {image.ndim} axes; give an array of 1 to 8 axes")
    return image


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
