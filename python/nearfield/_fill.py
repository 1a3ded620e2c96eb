"""Missing values, filled from the nearest cell that has one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._arrays import TYPES, check_axes, framework_of
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import Border, Spacing, check_flags, items_of, number_of, request_for
from nearfield._run_at import RunAt, in_our_words
from nearfield._traced import is_traced
from nearfield._workplace import Workplace


def fill_nearest(
    image: Any,
    missing: Any = np.isnan,
    *,
    channels: bool = False,
    spacing: Spacing = None,
    border: Border = "open",
    max_distance: float | None = None,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Fills missing values with the value of the nearest cell that has one.

    Parameters
    ----------
    image : array of 1 to 8 axes, on the CPU or a GPU
        Any element type but objects; arrays that `distance_transform` takes, and NumPy's arrays of other types. The
        call does not change it.
    missing : function, array of bool, or value
        Says which cells are missing: a function of the image, such as `numpy.isnan`; an array of the image's shape,
        with or without channels; or the value that stands for a missing one.
    channels : bool
        The last axis holds the channels of a cell. A cell is missing if one of its channels is.
    spacing, border, max_distance, batch_axes, device, threads, progress
        As in `distance_transform`, for the axes without channels. Cells farther than `max_distance` from every value
        keep their content.

    Returns
    -------
    array
        Shape, type and kind of `image`, on its device. If several values are equally near, the cell with the smallest
        coordinates wins, compared from the last axis. If there is no value at all, nothing is filled.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.fill_nearest([7, 0, 0, 3, 0], missing=0)
    array([7, 7, 3, 3, 3])
    """
    check_flags(channels=channels)
    how: dict[str, Any] = {"spacing": spacing, "border": border, "max_distance": max_distance, "batch_axes": batch_axes}
    if is_traced(image):
        from nearfield import _jax_workplace

        words = {**how, "missing": missing, "channels": channels, "device": device, "threads": threads}
        name = image.dtype.name
        return _jax_workplace.called_back(fill_nearest, "image", image, image.shape, name, None, False, **words)
    run = device, threads, progress
    own = _of_other_type(image)
    if own is not None:
        check_axes("image", own.ndim)
        cells = _cells_of(own.shape, bool(channels))
        filled = _filled(
            workplace_of("image", _as_words(own, cells)), _missing_of(own, missing, cells), cells, how, run
        )
        return filled.view(own.dtype).reshape(own.shape)
    work = workplace_of("image", image)
    cells = _cells_of(work.shape, bool(channels))
    return work.in_given_type(_filled(work, _missing_of(work.array, missing, cells), cells, how, run))


# ---- the work --------------------------------------------------------------------------------------------------------


def _filled(work: Workplace, gone: Any, cells: tuple[int, ...], how: dict[str, Any], run: tuple[Any, ...]) -> Any:
    request = request_for(len(cells), sites="zero", signed=False, multilabel=False, half_cell=False, **how)
    where = RunAt(work, *run)
    slot = work.empty(work.shape, work.dtype)
    with in_our_words(work.name):
        held = where.other("missing", gone)
        _core.fill_nearest(where.read(), held, slot.described, request.options(), *where.place())
        work.finish()
    return work.hand_out(slot)


def _cells_of(shape: tuple[int, ...], channels: bool) -> tuple[int, ...]:
    if channels and len(shape) < 2:
        raise ValueError(f"channels is true for an image of {len(shape)} axis; give one with cells and channels")
    return shape[:-1] if channels else shape


def _missing_of(image: Any, missing: Any, cells: tuple[int, ...]) -> Any:
    if missing is np.isnan:
        found = image != image
    elif callable(missing):
        found = _called(missing, image)
    elif getattr(missing, "ndim", 0) > 0 or items_of(missing) is not None:
        found = missing
    else:
        value = number_of("missing", missing) if _of_other_type(image) is None else missing
        found = image != image if value != value else image == value
    framework = framework_of(found)
    found = framework.array("missing", found)
    shape, kind = framework.shape(found), framework.dtype(found)
    if kind != "bool" or shape not in (framework_of(image).shape(image), cells):
        hint = ", or channels=True" if shape == cells[:-1] else ""
        raise ValueError(
            f"missing has shape {shape} of {kind}; give bool of shape {cells}, a function that gives that or a value"
            + hint
        )
    return found if shape == cells else found.any(axis=-1)


def _called(missing: Callable[[Any], Any], image: Any) -> Any:
    try:
        return missing(image)
    except Exception as problem:
        raise ValueError(f"missing was called with the image and raised {type(problem).__name__}") from None


def _of_other_type(image: Any) -> np.ndarray[Any, Any] | None:
    """An array of NumPy whose elements the library does not know, such as complex numbers, dates and records."""
    known = not isinstance(image, np.ndarray) or image.dtype.name in TYPES
    return None if known or image.dtype.hasobject or image.itemsize == 0 else np.asarray(image)


def _as_words(values: np.ndarray[Any, Any], cells: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Views the bytes of each cell as unsigned integers along one more axis."""
    unit = next(size for size in (8, 4, 2, 1) if values.itemsize % size == 0)
    each = values.itemsize // unit * (values.size // max(math.prod(cells), 1))
    return np.ascontiguousarray(values).view(f"u{unit}").reshape(*cells, each)
