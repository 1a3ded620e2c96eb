"""Distances and nearest sites of dask arrays: by windows within a limit, or by slabs and pencils."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import dask
import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks
from dask.array.overlap import ensure_minimum_chunksize

from nearfield import chunks
from nearfield._chunk_classes import bits_of, classes_for, differing
from nearfield._chunk_lines import held, no_site, space_of
from nearfield._dask_blocks import (
    Gate,
    Name,
    Types,
    blocks,
    field_of,
    meta_of,
    on_host,
    packed,
    parts,
    place_of,
    unpacked,
)
from nearfield._request import Request

OfWindow = Callable[..., Any]  #: returns the requested fields of a window, in a tuple if there are several


def serves(limit: float, border: Sequence[str], types: Types, scratch: Any) -> bool:
    """Tells whether windows serve. One that goes round decides ties differently from the grid, and trusts less."""
    if math.isinf(limit) or ("periodic" in border and types.keys() & {"index", "label", "trusted"}):
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
    image: Any,
    part: Any,
    reach: Sequence[int],
    border: Sequence[str],
    types: Types,
    function: OfWindow,
    gate: Gate | None = None,
) -> dict[Name, Any]:
    """Computes fields of chunks that depend on `reach` cells round them.

    function(window, part) returns that or those of a window; `part` marks the cells that take part, if not all do.
    """
    depth = [min(r, n) for r, n in zip(reach, image.shape, strict=True)]
    wide = tuple(ensure_minimum_chunksize(max(d, 1), c) for d, c in zip(depth, image.chunks, strict=True))
    rounds = [end == "periodic" for end in border]
    how: Any = dict(depth=dict(enumerate(depth)))
    how["boundary"] = {axis: "periodic" if round_ends else "none" for axis, round_ends in enumerate(rounds)}
    windows = [da.overlap.overlap(each.rechunk(wide), **how) for each in (image, part) if each is not None]

    def of_block(window: Any, *part: Any, block_info: Any = None) -> Any:
        at = block_info[0]["chunk-location"]
        start, size = place_of(wide, at)
        low = [d if k > 0 or round_ends else 0 for d, k, round_ends in zip(depth, at, rounds, strict=True)]
        inside = tuple(slice(b, b + n) for b, n in zip(low, size, strict=True))
        made = function(window, *part)
        fields = dict(zip(types, made if isinstance(made, tuple) else (made,), strict=True))
        if "index" in fields:
            xp, at_site = space_of(window), 0
            for s, b, x, n in zip(start, low, fields["index"], image.shape, strict=True):
                at_site = at_site * n + (s - b + x.astype(np.int64))
            fields["index"] = xp.where(fields["index"][0] >= 0, at_site, -1)
        return packed([field[inside] for field in fields.values()])

    return unpacked(blocks(of_block, windows, wide, types, gate), types)


def by_lines(
    image: Any,
    part: Any,
    of: chunks.Grid,
    request: Request,
    types: Types,
    scratch: Any = None,
    gate: Gate | None = None,
) -> dict[Name, Any]:
    bits = None if part is None else functools.partial(_bits, image, part)
    classes, labels = classes_for(request, image.dtype, bits), "label" in types
    sites, limit = cast(Any, request.sites), request.max_distance
    whole = tuple("auto" if axis == 0 else -1 for axis in range(image.ndim))
    slabs = image.rechunk(normalize_chunks(whole, shape=image.shape, dtype=np.float64))  # of what is made of them
    both = [slabs] if part is None else [slabs, part.rechunk(slabs.chunks)]

    def planes(slab: Any, mask: Any = None, block_info: Any = None) -> Any:
        first = block_info[0]["array-location"][0][0]
        if classes is None:
            given = slab if mask is None else space_of(slab).where(mask, slab, slab.dtype.type(sites == "zero"))
            made: Any = chunks.planes(of, given, first, sites, labels=labels)
        else:
            made = classes.slab(of, slab, first, mask)
        return packed([field for field in made if field is not None])

    types_between: Any = classes.held(of) if classes is not None else held(of, image.dtype if labels else None)
    between = blocks(planes, both, slabs.chunks, types_between, gate)
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
            found = chunks.lines(of, chunks.Partial(**fields), start, limit=limit)
        else:
            fields = {name: space_of(pencil).array(field, order="C") for name, field in fields.items()}
            found = classes.pencil(of, fields, start, limit)
        made = [field_of(of, found, name, kind, start, limit) for name, kind in types.items()]
        if classes is not None:
            made = [classes.signed(field, found.label) for field in made]
        return packed(made)

    made = unpacked(blocks(lines, [pencils], pencils.chunks[lead:], types, gate), types)
    return made if part is None else {name: _kept(part, name, field) for name, field in made.items()}


# ---- cells that take no part --------------------------------------------------------------------------------------


def _bits(labels: Any, part: Any) -> int:
    """Reads, immediately, in which bits labels differ among cells that take part."""
    pairs = zip(labels.to_delayed().ravel(), part.to_delayed().ravel(), strict=True)
    return differing(dask.compute(*(dask.delayed(_bits_among)(*pair) for pair in pairs)))


def _bits_among(labels: Any, part: Any) -> tuple[int, int]:
    return bits_of(on_host(labels)[on_host(part)])


def part_of(where: Any, image: Any) -> Any:
    """Returns which cells take part, in the chunks of `image`; None if all do."""
    if where is None:
        return None
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
    """Keeps the field of cells that take part; others get no site."""
    none = field.dtype.type(no_site(name, field.dtype))
    return da.where(part.rechunk(field.chunks[-part.ndim :]), field, none)
