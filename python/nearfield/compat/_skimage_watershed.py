"""scikit-image's watershed and what goes with it."""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np

from nearfield._basins import h_maxima as marks_of
from nearfield._basins import peaks
from nearfield._request import said
from nearfield._watershed import reconstruct_gray
from nearfield._watershed import watershed as flooded

Array = np.ndarray[Any, Any]


def watershed(
    image: Any,
    markers: Any = None,
    connectivity: Any = 1,
    offset: Any = None,
    mask: Any = None,
    compactness: float = 0,
    watershed_line: bool = False,
) -> Array:
    """Basins of an image, flooded from markers; int32. `markers` may be a number of basins: those of greatest height.

    Not taken: `offset`, `compactness`, and an array as `connectivity`.
    """
    if offset is not None or compactness != 0 or not isinstance(connectivity, int | np.integer):
        raise NotImplementedError(
            f"offset={said(offset)}, compactness={said(compactness)} and connectivity={said(connectivity)}: only a "
            "number as connectivity is supported, without offset and compactness"
        )
    values = np.asarray(image)
    inside = None if mask is None else np.asarray(mask).astype(bool)
    given = None if markers is None else np.asarray(markers)
    if given is not None and given.ndim == 0:
        raise NotImplementedError("markers is a number; give an array of the image's shape")
    found = flooded(
        values, None if given is None else given.astype(np.int32), mask=inside, connectivity=int(connectivity),
        lines=bool(watershed_line),
    )  # fmt: skip
    return np.asarray(found, np.int32)


def h_maxima(image: Any, h: float, footprint: Any = None) -> Array:
    """Cells of maxima of height `h` at least; uint8. `footprint` None or of ones: all neighbours."""
    values = np.asarray(image)
    return np.asarray(marks_of(values, h, connectivity=_connectivity(footprint, values.ndim)), np.uint8)


def peak_local_max(
    image: Any,
    min_distance: int = 1,
    threshold_abs: float | None = None,
    threshold_rel: float | None = None,
    num_peaks: float = np.inf,
    labels: Any = None,
) -> Array:
    """Coordinates of peaks, the highest first. Each maximum has one cell, and `min_distance` is Euclidean."""
    values = np.asarray(image)
    found = peaks(values, min_distance=min_distance, labels=labels)
    least = values.min() if threshold_abs is None else threshold_abs
    if threshold_rel is not None:
        least = max(least, threshold_rel * values.max())
    high = found[values[tuple(found.T)] > least]
    most: Array = high if np.isinf(num_peaks) else high[: int(num_peaks)]
    return most


def reconstruction(seed: Any, mask: Any, method: str = "dilation", footprint: Any = None, offset: Any = None) -> Array:
    """Grey reconstruction of `mask` from `seed`, in the type that holds both."""
    if offset is not None:
        raise NotImplementedError(f"offset={said(offset)} is not supported; leave it out")
    values, start = np.asarray(mask), np.asarray(seed)
    kind = np.result_type(values, start)
    if method == "dilation" and (start > values).any() or method == "erosion" and (start < values).any():
        raise ValueError("seed lies above the mask somewhere (erosion: below); clip it")
    how = cast(Literal["dilation", "erosion"], method)
    near = _connectivity(footprint, values.ndim)
    found = reconstruct_gray(start.astype(kind), values.astype(kind), method=how, connectivity=near)
    return np.asarray(found)


def _connectivity(footprint: Any, axes: int) -> int:
    """Of a footprint of ones, or of the cross."""
    if footprint is None:
        return axes
    given = np.asarray(footprint).astype(bool)
    steps = np.abs(np.indices((3,) * axes) - 1).sum(axis=0)
    for changes in range(1, axes + 1):
        if given.shape == steps.shape and np.array_equal(given, steps <= changes):
            return changes
    raise NotImplementedError("footprint is none of a cell's neighbours that change 1, 2, ... coordinates")
