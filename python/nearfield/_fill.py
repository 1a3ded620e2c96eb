"""Missing values, filled from the nearest cell that has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield._basins import on_host
from nearfield._call import as_numpy
from nearfield._distance import distance_transform
from nearfield._request import Border, Spacing, check_flags, number_of

Array = np.ndarray[Any, Any]


def fill_nearest(
    image: Any,
    missing: Any = np.isnan,
    *,
    channels: bool = False,
    spacing: Spacing = None,
    border: Border = "open",
    max_distance: float | None = None,
    threads: int | None = None,
) -> Any:
    """Fill missing values with that of the nearest cell that has one.

    Parameters
    ----------
    image : array on the CPU
        Of any element type. Not changed.
    missing : function, array of bool, or value
        Which cells are missing: a function of the image, such as `numpy.isnan`; an array of the image's shape, without
        channels; or the value that stands for a missing one.
    channels : bool
        The last axis holds the channels of a cell. A cell of which one is missing is missing.
    spacing, border, max_distance, threads
        As in `distance_transform`. Cells farther than `max_distance` from every value stay as they are.

    Returns
    -------
    array
        Of equally near values that of the cell with the smallest coordinates, the last axis first. Without any value
        nothing is filled.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.fill_nearest([7, 0, 0, 3, 0], missing=0)
    array([7, 7, 3, 3, 3])
    """
    check_flags(channels=channels)
    values = np.asarray(as_numpy(on_host("image", image).array))
    if channels and values.ndim < 2:
        raise ValueError(f"channels is true for an image of {values.ndim} axis; give one with cells and channels")
    gone = _missing_of(values, missing, bool(channels))
    index = distance_transform(
        gone,
        spacing=spacing,
        border=border,
        max_distance=max_distance,
        return_distances=False,
        return_indices="linear",
        threads=threads,
    )
    cells = values.reshape(-1, values.shape[-1]) if channels else values.reshape(-1)
    own = np.arange(index.size, dtype=index.dtype).reshape(index.shape)
    filled: Array = cells[np.where(index < 0, own, index)]
    return filled.reshape(values.shape)


def _missing_of(values: Array, missing: Any, channels: bool) -> Array:
    cells = values.shape[:-1] if channels else values.shape
    if callable(missing):
        found = np.asarray(_called(missing, values))
    elif isinstance(missing, np.ndarray) and missing.ndim > 0:
        found = missing
    else:
        value = number_of("missing", missing)
        found = np.isnan(values) if value != value else values == value
    if found.dtype != bool or found.shape not in (values.shape, cells):
        raise ValueError(
            f"missing has shape {found.shape} of {found.dtype}; give bool of shape {cells}, a function that gives that "
            "or a value"
        )
    made: Array = np.asarray(found if found.shape == cells else np.any(found, axis=-1))
    return made


def _called(missing: Callable[[Array], Any], values: Array) -> Any:
    try:
        return missing(values)
    except Exception as problem:
        raise ValueError(f"missing was called with the image and raised {type(problem).__name__}") from None
