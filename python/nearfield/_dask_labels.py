"""Components of dask arrays: the numbers of the whole grid, and their table."""

from __future__ import annotations

import itertools
from typing import Any

import dask
import dask.array as da
import numpy as np

import nearfield
from nearfield import chunks
from nearfield._component_table import ComponentTable
from nearfield._dask_blocks import meta_of, place_of, renumbered, windows_of
from nearfield._label_request import Periodic, _periodic_of
from nearfield._request import Spacing


def numbered(image: Any, how: dict[str, Any], periodic: Periodic, dtype: Any) -> tuple[Any, int, Any]:
    made = np.dtype(nearfield.label(np.zeros((1,) * image.ndim, image.dtype), dtype=dtype, **how).dtype)
    ends = _periodic_of(periodic, image.ndim)
    wraps = ends * image.ndim if len(ends) == 1 else ends
    windows = windows_of(image, wraps)
    numbers = list(itertools.product(*map(range, image.numblocks)))
    faces = [
        dask.delayed(chunks.faces)(window, *place_of(image.chunks, at), image.shape, **how)
        for at, window in zip(numbers, windows.to_delayed().ravel(), strict=True)
    ]
    tables, count = chunks.merge(dict(zip(numbers, dask.compute(*faces), strict=True)))
    if count > np.iinfo(made).max:
        raise ValueError(f"there are {count} components, more than dtype={made} can number; give a wider one")
    of_chunk = np.empty(image.numblocks, object)
    for at, table in tables.items():
        of_chunk[at] = table.astype(made)
    labels = da.map_blocks(
        renumbered,
        windows,
        da.from_array(of_chunk, chunks=1, meta=np.empty((0,) * image.ndim, object)),
        chunks=image.chunks,
        dtype=made,
        meta=meta_of(image, image.ndim, made),
        sizes=image.chunks,
        how=how,
    )
    return labels, count, (numbers, windows, tables, wraps)


def tabled(image: Any, how: dict[str, Any], count: int, known: Any, spacing: Spacing) -> ComponentTable:
    numbers, windows, tables, wraps = known
    rows = [
        dask.delayed(chunks.measure)(window, *place_of(image.chunks, at), tables[at], **how)
        for at, window in zip(numbers, windows.to_delayed().ravel(), strict=True)
    ]
    return chunks.tabulate(dask.compute(*rows), count, image.shape, spacing=spacing, periodic=wraps)
