"""Several fields from one task of dask: they are the first axis of its block, as the bits of each in 64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import dask.array as da
import numpy as np

Name = Literal["distance", "squared", "index", "label"]
Types = dict[Name, Any]


def packed(fields: Sequence[Any]) -> Any:
    if len(fields) == 1:
        return fields[0]
    return np.stack([np.ascontiguousarray(f).view(f"u{f.dtype.itemsize}").astype(np.uint64) for f in fields])


def _field(bits: Any, kind: Any) -> Any:
    return bits.astype(f"u{kind.itemsize}").view(kind)


def parts(block: Any, types: Types) -> list[Any]:
    return [block] if len(types) == 1 else [_field(block[k], kind) for k, kind in enumerate(types.values())]


def blocks(function: Callable[..., Any], array: Any, sizes: Any, types: Types) -> Any:
    """function(block) of all blocks: of the grid, whose chunks are `sizes`, packed where it gives several fields."""
    several, had = len(types) > 1, array.ndim > len(sizes)
    kind = np.dtype("uint64") if several else next(iter(types.values()))
    return da.map_blocks(
        function,
        array,
        dtype=kind,
        meta=np.empty((0,) * (len(sizes) + several), kind),
        chunks=((len(types),), *sizes) if several else sizes,
        new_axis=0 if several and not had else None,
        drop_axis=0 if had and not several else None,
    )


def unpacked(made: Any, types: Types) -> dict[Name, Any]:
    if len(types) == 1:
        return dict.fromkeys(types, made)
    return {
        name: made[k].map_blocks(_field, kind, dtype=kind, meta=np.empty((0,) * (made.ndim - 1), kind))
        for k, (name, kind) in enumerate(types.items())
    }
