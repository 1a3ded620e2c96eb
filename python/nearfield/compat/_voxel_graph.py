"""Distances among walls between cells, for `nearfield.compat.edt`: the transform of a grid of half the cell size."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from nearfield._distance import distance_transform
from nearfield._label import link_bit

Array = np.ndarray[Any, Any]


def distances_in_graph(
    image: Array,
    graph: Any,
    spacing: float | tuple[float, ...] | None,
    closed: bool,
    squared: bool,
    threads: int | None,
) -> Array:
    """Distances in cells that are not zero, to zeros and to the middles of faces that the graph does not let through.

    Of each cell its own bits count, forwards along each axis. Labels that differ are no walls.
    """
    if image.ndim not in (2, 3):
        raise TypeError(f"Voxel connectivity graph is only supported for 2D and 3D. Got {image.ndim}.")
    walls = np.asarray(graph)
    if walls.shape != image.shape or walls.dtype.kind not in "biu":
        raise ValueError(
            f"voxel_graph has shape {walls.shape} and type {walls.dtype}; "
            f"give integers of the image's shape {image.shape}"
        )
    if image.flags.f_contiguous:  # in both orders too, as there
        lengths = tuple(reversed(spacing)) if isinstance(spacing, tuple) else spacing
        return _in_c_order(image.T, walls.T, lengths, closed, squared, threads).T
    return _in_c_order(image, walls, spacing, closed, squared, threads)


def _in_c_order(
    image: Array,
    walls: Array,
    spacing: float | tuple[float, ...] | None,
    closed: bool,
    squared: bool,
    threads: int | None,
) -> Array:
    if image.size == 0:
        return np.zeros(image.shape, "float32")
    field = distance_transform(
        _doubled(image > 0 if image.dtype.kind == "f" else image != 0, walls, closed),
        spacing=spacing,
        squared=squared,
        dtype="float64" if squared else "float32",
        border="closed" if closed else "open",
        threads=threads,
    )
    # Exact: by 2 or by 4.
    own = field[(slice(None, None, 2),) * image.ndim] * (0.25 if squared else 0.5)
    return own.astype("float32")


def _doubled(foreground: Array, walls: Array, closed: bool) -> Array:
    """Each cell with a place for its face, edge and corner behind it, of which a face may be a wall."""
    made = np.empty([2 * n for n in foreground.shape], bool)
    for behind in itertools.product((0, 1), repeat=foreground.ndim):
        where = made[tuple(slice(at, None, 2) for at in behind)]
        if sum(behind) == 1:
            np.logical_and(foreground, walls & link_bit(behind), out=where)
        else:
            where[...] = foreground
    for axis in range(foreground.ndim):
        if closed:
            made[(slice(None),) * axis + (-1,)] = False
    return made
