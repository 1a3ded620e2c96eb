"""Several fields from one task of dask: they are the first axis of its block, as bits in as many as the widest has."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import dask
import dask.array as da
import numpy as np

from nearfield import chunks
from nearfield._chunk_lines import space_of, trusted
from nearfield._distance import add_indices
from nearfield._request import Indices

Name = Literal["distance", "squared", "index", "label", "trusted"]
Types = dict[Name, Any]


def of_named(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets `function` of dask arrays also take, and then return, DataArrays of xarray that hold one."""

    @functools.wraps(function)
    def either(image: Any, *more: Any, **keywords: Any) -> Any:
        if type(image).__module__.partition(".")[0] != "xarray":
            with dask.config.set(_rechunking(image)):
                return function(image, *more, **keywords)
        from nearfield.compat import xarray

        with dask.config.set(_rechunking(getattr(image, "data", None))):
            return xarray.run_lazily(function, image, more, keywords)

    return either


def _rechunking(image: Any) -> dict[str, str]:
    """Blocks of CuPy change their chunks in tasks: dask's p2p transfer reads blocks as bytes of the host."""
    return {} if isinstance(getattr(image, "_meta", None), np.ndarray) else {"array.rechunk.method": "tasks"}


def wants(indices: Indices) -> bool:
    fields: list[tuple[str, str]] = []
    add_indices(fields, {}, indices, None)
    return bool(fields)


def packed(fields: Sequence[Any]) -> Any:
    if len(fields) == 1:
        return fields[0]
    wide, xp = _bits(f.dtype for f in fields), space_of(fields[0])
    return xp.stack([xp.ascontiguousarray(f).view(f"u{f.dtype.itemsize}").astype(wide) for f in fields])


def _bits(kinds: Iterable[Any]) -> str:
    return f"u{max(kind.itemsize for kind in kinds)}"


def _field(bits: Any, kind: Any) -> Any:
    return bits.astype(f"u{kind.itemsize}").view(kind)


def on_host(block: Any) -> Any:
    return block if isinstance(block, np.ndarray) else block.get()


def meta_of(array: Any, axes: int, kind: Any) -> Any:
    """Makes an empty array of the kind that the blocks of `array` are."""
    return np.empty_like(array._meta, shape=(0,) * axes, dtype=kind)


def parts(block: Any, types: Types) -> list[Any]:
    return [block] if len(types) == 1 else [_field(block[k], kind) for k, kind in enumerate(types.values())]


class Gate(NamedTuple):
    """A condition that is computed with the blocks: they are made where it is as `wanted`, else they hold nothing."""

    holds: Any  #: array of dask with no axis
    wanted: bool


def blocks(
    function: Callable[..., Any], arrays: Sequence[Any], sizes: Any, types: Types, gate: Gate | None = None
) -> Any:
    """Maps function(*blocks) over the grid, whose chunks are `sizes`; several fields are packed."""
    array, several = arrays[0], len(types) > 1
    if gate is not None:
        function = functools.partial(_through, function, gate.wanted)
        arrays = [*arrays, gate.holds]
    had = array.ndim > len(sizes)
    kind = np.dtype(_bits(types.values())) if several else next(iter(types.values()))
    return da.map_blocks(
        function,
        *arrays,
        dtype=kind,
        meta=meta_of(array, len(sizes) + several, kind),
        chunks=((len(types),), *sizes) if several else sizes,
        new_axis=0 if several and not had else None,
        drop_axis=0 if had and not several else None,
    )


def _through(function: Callable[..., Any], wanted: bool, *given: Any, block_info: Any = None) -> Any:
    if bool(given[-1]) != wanted:
        return nothing(space_of(given[0]), block_info[None]["chunk-shape"], block_info[None]["dtype"])
    return function(*given[:-1], block_info=block_info)


def nothing(xp: Any, shape: Sequence[int], kind: Any) -> Any:
    """Makes an array that takes no memory, and that dask sends as one cell."""
    return xp.broadcast_to(xp.zeros((), kind), shape)


def passed(array: Any, gate: Gate) -> Any:
    """Returns the array, of whose blocks nothing is left if the condition is not as wanted."""

    def through(block: Any, holds: Any) -> Any:
        return block if bool(holds) == gate.wanted else nothing(space_of(block), block.shape, block.dtype)

    return da.map_blocks(through, array, gate.holds, dtype=array.dtype, meta=array._meta)


def unpacked(made: Any, types: Types) -> dict[Name, Any]:
    if len(types) == 1:
        return dict.fromkeys(types, made)
    return {
        name: made[k].map_blocks(_field, kind, dtype=kind, meta=meta_of(made, made.ndim - 1, kind))
        for k, (name, kind) in enumerate(types.items())
    }


def field_of(of: chunks.Grid, part: chunks.Partial, name: Name, kind: Any, start: Sequence[int], limit: float) -> Any:
    """Computes a field from what `chunks.lines` returns for a pencil that begins at `start`."""
    if name == "trusted":
        return trusted(of, part.squared, start, limit)
    if name in ("distance", "squared"):
        return chunks.distance(of, part.squared, kind, squared=name == "squared")
    return (part.index if name == "index" else part.label).astype(kind, copy=False)


def coordinates(index: Any, shape: Sequence[int]) -> Any:
    xp = space_of(index)
    at = xp.stack(xp.unravel_index(xp.maximum(index, 0), shape)).astype(np.int32)
    return xp.where(index < 0, np.int32(-1), at)


# ---- chunks and where they lie -------------------------------------------------------------------------------------


def windows_of(image: Any, periodic: Sequence[bool]) -> Any:
    """Makes chunks with one more cell at the high end of each axis; at the end of a periodic one, its first cell."""
    wraps = [axis for axis, round_ends in enumerate(periodic) if round_ends and image.shape[axis] > 0]
    numbers = image.numblocks
    for axis in wraps:
        image = da.concatenate([image, da.take(image, [0], axis=axis)], axis=axis)
    windows = da.overlap.overlap(image, depth={axis: (0, 1) for axis in range(image.ndim)}, boundary="none")
    return windows.blocks[tuple(slice(0, n) for n in numbers)] if wraps else windows


def place_of(sizes: Sequence[Sequence[int]], at: Sequence[int]) -> tuple[list[int], list[int]]:
    """Returns where chunk number `at` begins, and its size."""
    pairs = list(zip(sizes, at, strict=True))
    return [int(sum(each[:k])) for each, k in pairs], [int(each[k]) for each, k in pairs]


def renumbered(window: Any, table: Any, sizes: Any, how: Any, block_info: Any = None) -> Any:
    _, size = place_of(sizes, block_info[0]["chunk-location"])
    of_chunk = table.ravel()[0]
    return chunks.renumber(window, size, of_chunk, **how).astype(of_chunk.dtype, copy=False)
