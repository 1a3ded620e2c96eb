"""Runs one call, from arrays and a request to filled arrays, wherever they live; _jax.py serves JAX's arrays."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, Framework, Place, check_axes, framework_of, framework_of_output, in_rows
from nearfield._progress import Progress, callable_of
from nearfield._request import FIELDS, Request, said, threads_of

# Names of the public functions' arguments for the fields, for errors.
_ARGUMENT = {
    "distance": "out",
    "squared": "out",
    "index": "indices_out",
    "coordinates": "indices_out",
    "label": "labels_out",
    "trusted": "return_trusted",
}

_VALUES = ("distance", "squared", "trusted")

_KEYWORDS = (
    (r"\bsites(::| = )other_labels\b", "multilabel=True"),
    (r"^sign\b", "signed"),
    (r"^rounds_(after|before)\b", r"\1"),
    (r"^sites_per_cell\b", "sites"),
    (r"\bsites_per_cell = ", "sites="),
)

_WORTH_ASKING = 2**26  # bytes; smaller outputs are made at once


def compute(
    image: Any,
    request: Request,
    given: dict[str, Any],
    *,
    name: str = "image",
    weights: Any = None,
    bounds: Any = None,
    where: Any = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> list[Any]:
    """Fills and returns the requested fields, in the request's order: those in `given` in place, the others new.

    `bounds` holds `max_distance` of each cell. `where` marks the cells that take part; others keep what `given` held.
    """
    threads = threads_of(threads)
    tell = callable_of(progress)
    framework, array, place, out = taken(image, request, given, name)
    weighed = None if weights is None else _at(place, "weights", weights)
    shape = tuple(array.shape)
    bounded = None if bounds is None else _at(place, "max_distance", _broadcast("max_distance", bounds, shape))
    part = None if where is None else _at(place, "where", _broadcast("where", where, shape))
    cleared = tuple(given.get(field) is None for field in FIELDS)
    ordinal = target(device, place, name)
    if ordinal >= 0 and place.ordinal < 0:
        with arguments_named(name, given):
            return _staged(framework, array, out, request, weighed, bounded, (part, cleared), ordinal)
    described = _described(request, out)
    seen = framework.describe(name, array, False)
    scales = None if weighed is None else framework_of(weighed).describe("weights", weighed, False)
    limits = None if bounded is None else framework_of(bounded).describe("max_distance", bounded, False)
    parts = () if part is None else (framework_of(part).describe("where", part, False), *cleared)
    with arguments_named(name, given):
        if place.ordinal < 0:
            _core.run_on_host(seen, described, request.options(), scales, threads, tell, [], limits, parts)
        else:
            _core.run_on_stream(seen, described, request.options(), scales, *place, [], limits, parts)
    return out


def compute_several(
    images: Sequence[Any], request: Request, *, name: str, threads: int | None, progress: Progress
) -> list[list[Any]]:
    """Runs `compute` for images of one framework, place, element type and number of axes, in one call."""
    used, tell = threads_of(threads), callable_of(progress)
    first_framework = framework_of(images[0])
    if first_framework.place(images[0]).ordinal < 0:
        _check_room([(first_framework.dtype(x), tuple(x.shape)) for x in images], request, {})
    all_taken = [taken(each, request, {}, name) for each in images]
    jobs = [(framework.describe(name, x, False), _described(request, out)) for framework, x, _, out in all_taken]
    place, (first, *more) = all_taken[0][2], jobs
    with arguments_named(name, {}):
        if place.ordinal < 0:
            _core.run_on_host(*first, request.options(), None, used, tell, more)
        else:
            _core.run_on_stream(*first, request.options(), None, *place, more)
    return [out for *_, out in all_taken]


def taken(image: Any, request: Request, given: dict[str, Any], name: str) -> tuple[Framework, Any, Place, list[Any]]:
    """Returns the image as an array of its framework, its place, and the arrays to fill."""
    framework = framework_of(image)
    array = framework.array(name, image)
    place = framework.place(array)
    shape = framework.shape(array)
    check_axes(name, len(shape))
    if place.ordinal < 0:
        _check_room([(framework.dtype(array), shape)], request, given)
    # Values alone are solved in the order of the axes in memory; sites need the order of the image's axes.
    follows = all(field in _VALUES for field, _ in request.fields)
    out = [
        _output(framework, array, place, field, dtype, request.shape_of(field, shape), given, follows)
        for field, dtype in request.fields
    ]
    if framework is NUMPY and not (follows and all(_lies_as(array, x) for x in out)):
        array = in_rows(array)
    return framework, array, place, out


def _lies_as(array: np.ndarray[Any, Any], other: Any) -> bool:
    def order(x: np.ndarray[Any, Any]) -> list[int]:
        return sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))

    return isinstance(other, np.ndarray) and (array.flags.c_contiguous or order(array) == order(other))


def _check_room(images: Sequence[tuple[str, tuple[int, ...]]], request: Request, given: Mapping[str, Any]) -> None:
    """Raises MemoryError if the new outputs and the engine's workspace do not fit together, which NumPy does not check.

    `images` holds the element type and shape of each image.
    """
    made = [(field, np.dtype(type_).itemsize) for field, type_ in request.fields if given.get(field) is None]
    new = sum(math.prod(request.shape_of(field, shape)) * size for _, shape in images for field, size in made)
    if new <= _WORTH_ASKING:
        return
    dtype, shape = max(images, key=lambda image: math.prod(image[1]))
    try:
        workspace = planned(_core.Array(0, dtype, shape), request)["workspace_bytes"]
    except (TypeError, ValueError):  # the call itself reports it in the caller's words
        workspace = 0
    _core.require_memory(min(new + workspace, 2**63 - 1), "the call with its outputs")


def planned(
    image: _core.Array,
    request: Request,
    weights: _core.Array | None = None,
    on_device: bool = False,
    threads: int = 1,
) -> dict[str, Any]:
    """Reports what the library would do for an image, without reading it. Raises what a call would raise."""
    out = {field: _core.Array(0, type_, request.shape_of(field, image.shape)) for field, type_ in request.fields}
    fields = tuple(out.get(field) for field in FIELDS)
    return _core.plan(image, fields, request.options(), weights, on_device, threads)


@contextmanager
def arguments_named(image: str, given: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Makes errors of the library name Python's arguments: `out.distance` becomes out, and the image may become seeds.

    `given` holds the caller's outputs, and None for new ones, whose type `dtype` sets. Functions of seeds and labels
    have no `dtype`; only `out` sets another type.
    """
    dtype_is, give = ("dtype is", "give") if image == "image" else ("distances are", "give out= of")
    try:
        yield
    except ValueError as problem:
        text = re.sub(r"^jobs(\[\d+\]): (?:image\b *)?", rf"{image}\1: ", str(problem))
        for field, argument in _ARGUMENT.items():
            if given is not None and given.get(field) is None:
                text = re.sub(
                    rf"^(\S+: )?out\.{field} has element type (.*)give an array of", rf"\1{dtype_is} \2{give}", text
                )
            text = text.replace(f"out.{field}", argument)
        for theirs, ours in _KEYWORDS:
            text = re.sub(theirs, ours, text)
        raise ValueError(re.sub(r"^image\b", image, text)) from None


def _output(
    framework: Framework,
    array: Any,
    place: Place,
    field: str,
    dtype: str,
    shape: tuple[int, ...],
    given: dict[str, Any],
    follows: bool,
) -> Any:
    out = given.get(field)
    if out is None:
        return framework.empty_like(array, dtype) if follows else framework.empty(shape, dtype, array)
    argument = _ARGUMENT[field]
    other = framework_of_output(argument, out)
    if other.place(out).ordinal != place.ordinal:
        raise ValueError(f"{argument} is on {other.place(out)} and the image on {place}; give both on the same device")
    return out


def _at(place: Place, name: str, x: Any) -> Any:
    framework = framework_of(x)
    array = framework.array(name, x)
    if framework.place(array).ordinal != place.ordinal:
        raise ValueError(
            f"{name} is on {framework.place(array)} and the image on {place}; give both on the same device"
        )
    return array


def _described(request: Request, out: list[Any]) -> tuple[_core.Array | None, ...]:
    described: list[_core.Array | None] = [None] * len(FIELDS)
    for (field, _), x in zip(request.fields, out):
        described[FIELDS.index(field)] = framework_of(x).describe(_ARGUMENT[field], x, True)
    return tuple(described)


def target(device: str | None, place: Place, name: str) -> int:
    """Ordinal of the device to compute on; -1 for the CPU."""
    if device is None:
        return place.ordinal
    text = str(device) if isinstance(device, str) or type(device).__module__ == "torch" else said(device)
    found = re.fullmatch(r"cpu(?::0)?|cuda(?::([0-9]{1,4}))?", text)
    if found is None:
        raise ValueError(f"device is {said(text)}; give 'cpu', 'cuda' or 'cuda:1'")
    number = found[1]
    wanted = -1 if text.startswith("cpu") else int(number) if number else max(place.ordinal, 0)
    if place.ordinal >= 0 and wanted != place.ordinal:
        raise ValueError(f"device is {said(text)}, but {name} is on {place}; move the array, or leave out device=")
    return wanted


def _staged(
    framework: Framework,
    array: Any,
    out: list[Any],
    request: Request,
    weights: Any,
    bounds: Any,
    where: tuple[Any, tuple[bool, ...]],
    ordinal: int,
) -> list[Any]:
    """Computes host arrays on a device: the library copies contiguous memory there and back."""
    views = [as_numpy(x) for x in out]
    packed = [v if v.flags.c_contiguous else v.copy() for v in views]
    image = np.ascontiguousarray(as_numpy(array))
    scales = None if weights is None else np.ascontiguousarray(as_numpy(weights))
    limits = None if bounds is None else np.ascontiguousarray(as_numpy(bounds))
    part, cleared = where
    part = None if part is None else np.ascontiguousarray(as_numpy(part))
    _core.run_staged(
        NUMPY.describe("image", image, False),
        _described(request, packed),
        request.options(),
        None if scales is None else NUMPY.describe("weights", scales, False),
        ordinal,
        None if limits is None else NUMPY.describe("max_distance", limits, False),
        () if part is None else (NUMPY.describe("where", part, False), *cleared),
    )
    for view, filled in zip(views, packed):
        if view is not filled:
            view[...] = filled
    return out


def _broadcast(name: str, x: Any, shape: tuple[int, ...]) -> Any:
    """Broadcasts x to the shape of an image, by its own framework; integer bounds become float64."""
    if not hasattr(x, "__dlpack__") and not hasattr(x, "__cuda_array_interface__"):
        x = NUMPY.array(name, x)
    if name == "max_distance" and isinstance(x, np.ndarray) and x.dtype.kind in "biu":
        x = x.astype(np.float64)
    try:
        return sys.modules[type(x).__module__.split(".")[0]].broadcast_to(x, shape)
    except (AttributeError, RuntimeError, ValueError):
        one = "one number or one" if name == "max_distance" else "one value"
        raise ValueError(
            f"{name} has shape {tuple(x.shape)}, which does not broadcast to {shape}; give {one} for each cell"
        ) from None


def as_numpy(x: Any) -> np.ndarray[Any, Any]:
    if isinstance(x, np.ndarray):
        return x
    return x.numpy() if hasattr(x, "numpy") else np.from_dlpack(x)
