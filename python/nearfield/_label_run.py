"""Runs calls that number components: makes arrays for the labels and calls the library."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, name_of
from nearfield._call import as_numpy, target
from nearfield._dispatch import workplace_of
from nearfield._label_request import LABEL_TYPES, LabelRequest, label_request
from nearfield._progress import Progress, callable_of
from nearfield._request import threads_of
from nearfield._workplace import Slot, Workplace, keywords_named

MakeTables = Callable[[int], tuple[_core.Array | None, ...]]


def numbered(
    image: Any,
    keywords: dict[str, Any],
    return_num: bool,
    dtype: Any,
    out: Any,
    device: str | None,
    threads: int | None,
    progress: Progress,
) -> Any:
    """Runs `label` for arrays that have values; `keywords` are those of `label_request`."""
    work = workplace_of("image", image)
    request = label_request(len(work.shape), **keywords)
    slot = label_slot(work, request, dtype, out)
    counts = run(work, request, slot, return_num, None, device, threads, progress)
    labels = work.hand_out(slot)
    return (labels, number_in(counts, request.images(work.shape))) if return_num else labels


def number_in(counts: np.ndarray[Any, Any], images: tuple[int, ...]) -> Any:
    return counts.reshape(images) if images else int(counts[0])


def label_slot(work: Workplace, request: LabelRequest, dtype: Any, out: Any) -> Slot:
    """Array of the labels: the caller's, or a new one of the requested type."""
    if out is not None:
        slot = work.given("out", out)
        came = slot.described.dtype
        if dtype is not None and name_of(dtype) != came:
            raise ValueError(f"dtype is {name_of(dtype)} and out has {came}; leave out one of them")
        _check_type("out has element type", came)
        return slot
    return work.empty(request.grid(work.shape), label_type(work.shape, request, dtype))


def label_type(shape: tuple[int, ...], request: LabelRequest, dtype: Any) -> str:
    if dtype is not None:
        return _check_type("dtype is", name_of(dtype))
    with keywords_named("image"):
        return _core.label_type(list(shape), request.options)


def _check_type(what: str, dtype: str) -> str:
    if dtype not in LABEL_TYPES:
        raise ValueError(f"{what} {dtype}; labels are one of {', '.join(LABEL_TYPES)}")
    return dtype


def run(
    work: Workplace,
    request: LabelRequest,
    labels: Slot | None,
    counted: bool,
    make_tables: MakeTables | None,
    device: str | None,
    threads: int | None,
    progress: Progress,
) -> np.ndarray[Any, Any]:
    """Calls the library once; returns the number of components of each image if `counted`."""
    used = threads_of(threads)
    tell = callable_of(progress)
    ordinal = target(device, work.place, work.name)
    counts = np.zeros(math.prod(request.images(work.shape)) if counted else 0, np.int64)
    described = None if labels is None else labels.described
    with keywords_named(work.name, labels):
        if work.place.ordinal >= 0:
            found = _core.label_on_stream(
                work.described(), described, counts.size, make_tables, request.options, *work.place
            )
            work.finish()
            return np.array(found, np.int64)
        count = NUMPY.describe("count", counts, True) if counted else None
        if ordinal >= 0:
            _staged(work, labels, count, make_tables, request, ordinal)
        else:
            _core.label_on_host(work.described(), described, count, make_tables, request.options, used, tell)
    return counts


def _staged(
    work: Workplace,
    labels: Slot | None,
    count: _core.Array | None,
    make_tables: MakeTables | None,
    request: LabelRequest,
    ordinal: int,
) -> None:
    """Computes host arrays on a device: the library copies contiguous memory there and back."""
    image = np.ascontiguousarray(as_numpy(work.array))
    view = None if labels is None else as_numpy(labels.array)
    packed = view if view is None or view.flags.c_contiguous else np.empty(view.shape, view.dtype)
    described = None if packed is None else NUMPY.describe("out", packed, True)
    _core.label_staged(NUMPY.describe(work.name, image, False), described, count, make_tables, request.options, ordinal)
    if view is not None and packed is not None and packed is not view:
        view[...] = packed
