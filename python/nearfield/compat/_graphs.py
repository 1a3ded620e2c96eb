"""Voxel connectivity graphs of `nearfield.compat.cc3d`: a bit for each neighbour of a cell, by `nearfield.link_bit`."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from nearfield._label import label, link_bit
from nearfield.compat._labels import DimensionError, cells, changes_of

Array = np.ndarray[Any, Any]

_BLOCK = 1 << 14  # cells whose bits stay in the cache during all steps


def voxel_connectivity_graph(data: Any, connectivity: int = 26) -> Array:
    """Marks which neighbours of each cell have its value, by a bit each; bits across the image's ends are set too.

    Parameters
    ----------
    data : array_like of 1 to 3 axes
        Bool or integers. 0 is a value like others.
    connectivity : {26, 18, 6} or, in 2-D, {8, 4}
        Number of neighbours. With 26, 18 and 6 an image is a volume of one plane.

    Returns
    -------
    numpy.ndarray
        uint8 for 4, 8 and 6 neighbours, else uint32; in Fortran order. The order of bits is `nearfield.link_bit`'s,
        whose last axis is the first here.

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> cc3d.voxel_connectivity_graph([[1, 1], [2, 1]], connectivity=4)
    array([[14, 15],
           [ 9,  7]], dtype=uint8)
    """
    labels = cells("data", data)
    if not 1 <= labels.ndim <= 3:
        raise DimensionError(f"Only 1D, 2D, and 3D arrays supported. Got: {labels.ndim}")
    changes_of(connectivity, labels.ndim)
    dtype = np.dtype("uint8" if connectivity in (4, 8, 6) else "uint32")
    if labels.dtype.kind not in "biu":
        raise TypeError(f"Type {labels.dtype} is not currently supported; give bool or integers")
    axes = 2 if connectivity in (4, 8) else 3
    changes = {4: 1, 6: 1, 18: 2}.get(connectivity, axes)
    # Transposed, so that the first axis lies contiguous; missing axes in front.
    turned = np.asfortranarray(labels).T
    grid = turned.reshape((1,) * (axes - labels.ndim) + turned.shape)
    graph = _graph_of(np.ascontiguousarray(grid), _steps_back(axes, changes), dtype)
    return graph.reshape(turned.shape).T


def color_connectivity_graph(vcg: Any, connectivity: int = 26, return_N: bool = False) -> Any:
    """Numbers the components of a voxel connectivity graph in Fortran order. No cell is background.

    Of two neighbours, the one that comes later in that order decides whether they belong together, as in `cc3d`.

    Parameters
    ----------
    vcg : array_like of uint8 or uint32, 2 or 3 axes
        Result of `voxel_connectivity_graph`, or alike. An image of uint32 has the bits of a volume of one plane.
    connectivity : {26, 6} or, in 2-D, {8, 4} also
        Bits that count.
    return_N : bool
        Also return the number of components.

    Returns
    -------
    numpy.ndarray of uint32, or with `return_N` a pair of it and the number

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> graph = cc3d.voxel_connectivity_graph([[1, 1], [2, 1]], connectivity=4)
    >>> cc3d.color_connectivity_graph(graph, connectivity=4, return_N=True)
    (array([[1, 1],
           [2, 1]], dtype=uint32), 2)
    """
    graph = cells("vcg", vcg)
    if graph.ndim not in (2, 3):
        raise DimensionError(f"Only 2D, and 3D arrays supported. Got: {graph.ndim}")
    if connectivity not in ((4, 8, 6, 26) if graph.ndim == 2 else (6, 26)):
        names = "4, 8, 6 and 26" if graph.ndim == 2 else "6 and 26"
        raise ValueError(f"Only {names} connectivity are supported for {graph.ndim}D images. Got: {connectivity}")
    if graph.dtype not in (np.uint8, np.uint32):
        raise ValueError(f"Only uint8 and uint32 are supported. Got: {graph.dtype}")
    if graph.size == 0:
        empty: Array = np.zeros((0,) * graph.ndim, "uint32", order="F")
        return (empty, 0) if return_N else empty
    flat = graph.ndim == 2 or graph.shape[2] == 1
    if not flat and connectivity == 26 and graph.dtype != np.uint32:
        raise ValueError(f"Only uint32 is supported for 18 and 26 connected. Got: {graph.dtype}")
    turned = np.asfortranarray(graph).T
    grid = turned.reshape(turned.shape[-2:] if flat and graph.dtype == np.uint8 else (-1, *turned.shape[-2:]))
    changes = 1 if connectivity in (4, 6) else grid.ndim
    back = sum(link_bit(step) for step in _steps_back(grid.ndim, changes))
    labels, count = label(
        grid & grid.dtype.type(back),
        criterion="links",
        connectivity=changes,
        dtype="uint32",
        return_num=True,
    )
    labels = labels.reshape(turned.shape).T
    return (labels, count) if return_N else labels


def estimate_provisional_labels(data: Any) -> tuple[int, int, int]:
    """Runs of equal cells that are not zero, and the first and the last line that has one.

    Lines go along the axis that lies contiguous; -1 where there is no such cell.

    Parameters
    ----------
    data : array_like
        Bool, integers or floats.

    Returns
    -------
    tuple of three ints

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> cc3d.estimate_provisional_labels([[0, 0, 0], [1, 1, 2], [0, 3, 0]])
    (3, 1, 2)
    """
    image = cells("data", data)
    if image.dtype.kind not in "biuf" or image.dtype == np.float16 or image.dtype.itemsize > 8:
        raise TypeError(f"Type {image.dtype} is not currently supported; give bool, integers, float32 or float64")
    if image.ndim == 0:
        raise DimensionError("Only 1D, 2D, and 3D arrays supported. Got: 0")
    if image.size == 0:
        return 0, -1, -1
    lines = image.T if image.flags.f_contiguous else image  # a line in both orders is as long as its first axis
    lines = lines.reshape(-1, lines.shape[-1])
    starts = lines != 0
    filled = np.flatnonzero(starts.any(axis=1))
    starts[:, 1:] &= lines[:, 1:] != lines[:, :-1]
    if filled.size == 0:
        return 0, -1, -1
    return int(np.count_nonzero(starts)), int(filled[0]), int(filled[-1])


def _steps_back(axes: int, changes: int) -> list[list[int]]:
    """Steps to the neighbours that come before a cell."""
    all_steps = itertools.product((-1, 0, 1), repeat=axes)
    return [list(step) for step in all_steps if step < (0,) * axes and np.count_nonzero(step) <= changes]


def _graph_of(grid: Array, steps: list[list[int]], dtype: np.dtype[Any]) -> Array:
    """All bits, less those between cells that differ; bits across ends of rows, which meet in memory, are mended."""
    named = [(link_bit(step), link_bit([-by for by in step])) for step in steps]
    graph = np.full(grid.shape, sum(map(sum, named)), dtype)
    cells, bits = grid.reshape(-1), graph.reshape(-1)
    strides = [math.prod(grid.shape[axis + 1 :]) for axis in range(grid.ndim)]
    for first in range(0, cells.size, _BLOCK):
        for step, (back, forth) in zip(steps, named):
            if any(by != 0 and n == 1 for by, n in zip(step, grid.shape)):
                continue
            away = -sum(by * stride for by, stride in zip(step, strides))
            here = slice(max(first, away), max(first, away, min(first + _BLOCK, cells.size)))
            there = slice(here.start - away, here.stop - away)
            unlike = (cells[here] != cells[there]).astype(dtype)
            # Each bit is set so far and cleared once at most.
            bits[here] ^= unlike * dtype.type(back)
            bits[there] ^= unlike * dtype.type(forth)
    both_ways = [(step, bit) for step, pair in zip(steps, named) for step, bit in zip((step, [-b for b in step]), pair)]
    for axis in range(grid.ndim if grid.size else 0):
        for end, by in ((0, -1), (-1, 1)):
            leaving = sum(bit for step, bit in both_ways if step[axis] == by)
            graph[(slice(None),) * axis + (end,)] |= dtype.type(leaving)
    return graph
