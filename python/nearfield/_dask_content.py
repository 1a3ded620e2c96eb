"""Distances and nearest sites of dask arrays without a limit, by windows if sites are near."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.graph_manipulation import clone

import nearfield
from nearfield import chunks
from nearfield._dask_blocks import Gate, Name, passed
from nearfield._request import Request, length_of

Way = Callable[..., dict[Name, Any]]  #: computes fields, given the image, what takes part, and perhaps a gate


def content_limit(given: Any, scratch: Any, spacing: Sequence[float], sizes: Sequence[Sequence[int]]) -> float:
    """Returns how far windows reach that are tried: as `given`, or with "auto" a quarter of a chunk; 0 if none are.

    By default they are tried if the first pass runs immediately: then the graph has only the way that is taken.
    """
    if given is None:
        given = 0 if scratch is None else "auto"
    if given != "auto":
        limit = length_of("try_within", given)
        if not 0 <= limit < math.inf:
            raise ValueError(f"try_within is {limit}; give a length, 'auto' or None")
        return limit
    cut = [s * (max(c) // 4 - 1) for s, c in zip(spacing, sizes, strict=True) if len(c) > 1]
    return max(min(cut, default=0.0), 0.0)


def sites_near(image: Any, part: Any, request: Request, spacing: Sequence[float], limit: float) -> Any:
    """Tells, lazily, whether each chunk has a site within `limit` of each of its cells.

    If so, that is true of the grid. The image is read by tasks of its own, so that no worker keeps it for later.
    """
    first = [clone(each) for each in (image, part) if each is not None]
    signed = False if request.sign == "none" else request.sign
    how: dict[str, Any] = dict(signed=signed, half_cell=request.half_cell, spacing=spacing, max_distance=limit)
    how.update(dict(multilabel=True) if request.sites == "other_labels" else dict(sites=request.sites))

    def of_chunk(chunk: Any, *part: Any) -> Any:
        away = nearfield.distance_transform(chunk, where=part[0] if part else None, **how)
        return np.full((1,) * chunk.ndim, chunks.certified(away[part[0]] if part else away))

    ones = tuple((1,) * n for n in image.numblocks)
    return da.map_blocks(of_chunk, *first, dtype=bool, chunks=ones, meta=np.empty((0,) * image.ndim, bool)).all()


def by_content(image: Any, part: Any, holds: Any, windows: Way, lines: Way) -> dict[Name, Any]:
    """Computes windows(image, part, gate=gate) if `holds`, else lines(...); this is decided by tasks.

    The graph has both. Tasks of the way that is not taken neither compute nor move cells.
    """
    made = []
    for way, wanted in ((windows, True), (lines, False)):
        gate = Gate(holds, wanted)
        made.append(way(*(None if each is None else passed(each, gate) for each in (image, part)), gate=gate))
    near, far = made
    return {
        name: da.map_blocks(_either, field, far[name].rechunk(field.chunks), holds, dtype=field.dtype, meta=field._meta)
        for name, field in near.items()
    }


def _either(near: Any, far: Any, holds: Any) -> Any:
    return near if bool(holds) else far
