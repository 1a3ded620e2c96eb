"""Distances and nearest sites of dask arrays: by windows within a limit, or by slabs and pencils."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks
from dask.array.overlap import ensure_minimum_chunksize

from nearfield import chunks
from nearfield._chunk_classes import classes_for
from nearfield._chunk_lines import held, no_site, space_of
from nearfield._dask_blocks import Name, Types, blocks, field_of, meta_of, on_host, packed, parts, place_of, unpacked
from nearfield._request import Request

OfWindow = Callable[[Any], Any]  #: the fields asked for of a window, in a tuple where there are several


def serves(limit: float, border: Sequence[str], types: Types, scratch: Any) -> bool:
    """Whether windows do. Of equally near sites a window that goes round takes another one than the grid."""
    if math.isinf(limit) or ("periodic" in border and types.keys() & {"index", "label"}):
        return False
    if scratch is not None:
        raise ValueError("scratch does not go with this limit, which needs none; leave one of them out")
    return True


def ends_of_window(border: Sequence[str]) -> tuple[str, ...]:
    """What lies beyond the ends of a window.

    Closed ends within the grid are farther than the limit from the chunk. A window that goes round has a copy of what
    lies beyond.
    """
    return tuple("open" if end == "periodic" else end for end in border)


def within(
    image: Any, reach: Sequence[int], border: Sequence[str], types: Types, function: OfWindow
) -> dict[Name, Any]:
    """Fields of chunks that depend on `reach` cells round them; function(window) gives that or those of a window."""
    depth = [min(r, n) for r, n in zip(reach, image.shape, strict=True)]
    wide = tuple(ensure_minimum_chunksize(max(d, 1), c) for d, c in zip(depth, image.chunks, strict=True))
    rounds = [end == "periodic" for end in border]
    ends = {axis: "periodic" if round_ends else "none" for axis, round_ends in enumerate(rounds)}
    windows = da.overlap.overlap(image.rechunk(wide), depth=dict(enumerate(depth)), boundary=ends)

    def of_block(window: Any, block_info: Any = None) -> Any:
        at = block_info[0]["chunk-location"]
        start, size = place_of(wide, at)
        low = [d if k > 0 or round_ends else 0 for d, k, round_ends in zip(depth, at, rounds, strict=True)]
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


def by_lines(image: Any, of: chunks.Grid, request: Request, types: Types, scratch: Any) -> dict[Name, Any]:
    classes, labels = classes_for(request, image.dtype), "label" in types
    sites: Any = request.sites
    whole = tuple("auto" if axis == 0 else -1 for axis in range(image.ndim))
    slabs = image.rechunk(normalize_chunks(whole, shape=image.shape, dtype=np.float64))  # of what is made of them

    def planes(slab: Any, block_info: Any = None) -> Any:
        first = block_info[0]["array-location"][0][0]
        if classes is None:
            made = chunks.planes(of, slab, first, sites, labels=labels)
        else:
            made = classes.slab(of, on_host(slab), first)
        return packed([space_of(slab).asarray(field) for field in made if field is not None])

    types_between: Any = held(of, classes.dtype if classes is not None else image.dtype if labels else None)
    between = blocks(planes, slabs, slabs.chunks, types_between)
    if scratch is not None:
        meta = between._meta
        da.to_zarr(between.map_blocks(on_host, meta=np.empty(meta.shape, meta.dtype)), scratch, overwrite=True)
        between = da.from_zarr(scratch).map_blocks(space_of(meta).asarray, meta=meta)
    lead = between.ndim - image.ndim
    pencils = between.rechunk({axis: -1 if axis <= lead else "auto" for axis in range(between.ndim)})

    def lines(pencil: Any, block_info: Any = None) -> Any:
        start = [begin for begin, _ in block_info[0]["array-location"][lead:]]
        fields: Any = dict(zip(types_between, parts(pencil, types_between), strict=True))
        if classes is None:
            part = chunks.lines(of, chunks.Partial(**fields), start, limit=request.max_distance)
            return packed([field_of(of, part, name, kind) for name, kind in types.items()])
        part = chunks.Partial(**{name: np.array(on_host(field)) for name, field in fields.items()})
        part = classes.pencil(of, part, start, request.max_distance)
        made = [field_of(of, part, name, kind) for name, kind in types.items()]
        signs = (f if name == "index" else classes.signed(f, part.label) for name, f in zip(types, made, strict=True))
        return packed([space_of(pencil).asarray(field) for field in signs])

    return unpacked(blocks(lines, pencils, pencils.chunks[lead:], types), types)


# ---- cells that take no part --------------------------------------------------------------------------------------


def taking_part(
    where: Any, image: Any, request: Request, made_of: Callable[[Any, Request], dict[Name, Any]]
) -> dict[Name, Any]:
    """made_of(image, request) where only cells of `where` take part. The two sides of a signed field are two calls."""
    if request.sites == "other_labels":
        raise ValueError("where does not go with labels of chunks; leave out multilabel and sites='other_labels'")
    part, plain = _part_of(where, image), request._replace(sign="none")

    def to(sites: str) -> dict[Name, Any]:
        return made_of(da.where(part, image, image.dtype.type(sites == "zero")), plain._replace(sites=sites))

    made = to(request.sites)
    if request.sign != "none":
        zero = image == 0
        inside, other = (~zero, to("nonzero")) if request.sites == "zero" else (zero, to("zero"))
        for name, field in made.items():
            here, there = field, other[name]
            if name != "index" and field.dtype.kind == "f":
                here, there = (-here, there) if request.sign == "inside" else (here, -there)
            made[name] = da.where(inside.rechunk(field.chunks), here, there)
    return {name: _kept(part, name, field) for name, field in made.items()}


def _part_of(where: Any, image: Any) -> Any:
    """Whether each cell takes part, in the chunks of `image`."""
    mask = where.data if type(where).__module__.partition(".")[0] == "xarray" else where
    mask = mask if isinstance(mask, da.Array) else da.from_array(np.asarray(mask))
    if mask.dtype not in ("bool", "uint8"):
        raise ValueError(f"where has element type {mask.dtype}; give an array of bool or uint8")
    try:
        mask = da.broadcast_to(mask, image.shape)
    except ValueError:
        raise ValueError(
            f"where has shape {mask.shape}, which does not broadcast to {image.shape}; give one value for each cell"
        ) from None
    made = mask.rechunk(image.chunks) != 0
    return made.map_blocks(space_of(image._meta).asarray, meta=meta_of(image, image.ndim, "bool"))


def _kept(part: Any, name: Name, field: Any) -> Any:
    """The field of cells that take part; others have no site."""
    none = field.dtype.type(no_site(name, field.dtype))
    return da.where(part.rechunk(field.chunks[-part.ndim :]), field, none)
