"""JAX arrays: immutable, so answers are made outside and handed over through DLPack. Imported only when JAX is there.

Under `jax.jit` the call becomes an operation of the program (_jax_calls.py); with `method=`, `device=` or `progress=` a
host callback: the image is copied to the CPU, computed there, and copied back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from nearfield import _call, _core, _jax_calls, _methods
from nearfield._arrays import HOST, NUMPY, Place, check_axes, check_type
from nearfield._progress import Progress
from nearfield._request import FIELDS, Request
from nearfield._traced import is_traced

_ALIGNMENT = 64  # bytes; JAX copies memory that is aligned to less


def compute(
    image: Any,
    request: Request,
    given: dict[str, Any],
    name: str,
    weights: Any,
    device: str | None,
    threads: int,
    progress: Progress,
) -> list[Any]:
    _check(image, request, given, name)

    def on_host(image: Any, *weights: Any) -> list[Any]:
        return _on_host(image, request, name, weights[0] if weights else None, device, threads, progress)

    inputs = [image] if weights is None else [image, weights]
    if any(map(is_traced, inputs)):
        inputs[1:] = [each if is_traced(each) else NUMPY.array("weights", each) for each in inputs[1:]]
        _check_traced(inputs, request, name, device)
        native = device is None and progress is None
        return _traced(on_host, inputs, request, threads if native else None)
    where = _usable_device(name, image)
    if where.platform == "cpu":
        return [jax.dlpack.from_dlpack(each) for each in on_host(*inputs)]
    _call.target(device, Place(where.local_hardware_id), name)
    if weights is not None and (not isinstance(weights, jax.Array) or _only_device("weights", weights) != where):
        raise ValueError(f"weights is not on {where}, where {name} is; give both on the same device")
    with _call.arguments_named(name, given):
        return _on_device(inputs, request, name, where.local_hardware_id)


def compute_by_method(
    image: Any,
    request: Request,
    given: dict[str, Any],
    method: str,
    name: str,
    device: str | None,
    threads: int | None,
    progress: Progress,
) -> tuple[list[Any], dict[str, Any]]:
    """Computes by a published method: copies an array from a GPU and back, since these methods wait.

    A traced call reports nothing.
    """
    _check(image, request, given, name)
    took: dict[str, Any] = {}

    def on_host(image: Any, where: str | None = device, tell: Progress = progress) -> list[Any]:
        seen = np.asarray(image)
        fresh = {field: _aligned(request.shape_of(field, seen.shape), dtype) for field, dtype in request.fields}
        options: dict[str, Any] = {"name": name, "device": where, "threads": threads, "progress": tell}
        filled, said = _methods.compute_by_method(seen, request, dict(fresh), method, **options)
        took.update(said)
        return filled

    if is_traced(image):
        check_axes(name, image.ndim)
        on_host(np.empty((0,) * image.ndim, image.dtype), tell=None)  # raises what the callback would raise
        return _traced(on_host, [image], request), took
    where = _usable_device(name, image)
    if where.platform == "cpu":
        return [jax.dlpack.from_dlpack(each) for each in on_host(image)], took
    ordinal = _call.target(device, Place(where.local_hardware_id), name)
    return [jax.device_put(each, where) for each in on_host(image, f"cuda:{ordinal}")], took


def _check(image: Any, request: Request, given: dict[str, Any], name: str) -> None:
    if any(each is not None for each in given.values()):
        raise TypeError("JAX arrays cannot be written; leave out out= and indices_out=")
    check_type(name, image.dtype.name)
    _check_widths(request)


def _check_traced(inputs: list[Any], request: Request, name: str, device: str | None) -> None:
    """Refuses during the trace what the callback would refuse, since JAX turns errors of a callback into its own."""
    _call.target(device, HOST, name)
    known = [_known(called, each) for called, each in zip((name, "weights"), inputs)]
    with _call.arguments_named(name, {}):
        _call.planned(known[0], request, known[1] if len(known) > 1 else None)


def _known(name: str, x: Any) -> _core.Array:
    """Describes an array during a trace by its type and shape."""
    check_axes(name, x.ndim)
    return _core.Array(0, check_type(name, x.dtype.name), x.shape)


def _usable_device(name: str, x: Any) -> Any:
    where = _only_device(name, x)
    if where.platform not in ("cpu", "gpu", "cuda"):
        raise TypeError(f"{name} is on {where}; nearfield works on the CPU and on CUDA devices")
    return where


def _only_device(name: str, x: Any) -> Any:
    if len(x.devices()) != 1:
        raise ValueError(f"{name} is spread over {len(x.devices())} devices; give an array on one of them")
    (where,) = x.devices()
    return where


def _check_widths(request: Request) -> None:
    for _, dtype in request.fields:
        check_width(dtype)


def check_width(dtype: str) -> None:
    config: Any = jax.config
    if np.dtype(dtype).itemsize == 8 and not config.read("jax_enable_x64"):
        raise TypeError(
            f"the answer is {dtype}, which JAX narrows; ask for another dtype or field where there is one, such as "
            "coordinates for linear indices, give an array of NumPy, or set jax.config.update('jax_enable_x64', True)"
        )


def _on_host(
    image: Any, request: Request, name: str, weights: Any, device: str | None, threads: int, progress: Progress
) -> list[Any]:
    seen = np.asarray(image)
    scales = None if weights is None else np.asarray(weights)
    _call._check_room([(str(seen.dtype), seen.shape)], request, {})
    fresh = {field: _aligned(request.shape_of(field, seen.shape), dtype) for field, dtype in request.fields}
    return _call.compute(
        seen,
        request,
        dict(fresh),
        name=name,
        weights=scales,
        device=device,
        threads=threads or None,
        progress=progress,
    )


def _aligned(shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.empty(size + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


_shape: Any = jax.ShapeDtypeStruct


def _traced(
    call: Callable[..., list[Any]], inputs: list[Any], request: Request, threads: int | None = None
) -> list[Any]:
    """Uses a callback if there is no `threads`."""
    if all(field != "label" for field, _ in request.fields):  # constant around almost every image
        inputs = [jax.lax.stop_gradient(inputs[0]), *inputs[1:]]
    shapes = [_shape(request.shape_of(field, inputs[0].shape), np.dtype(dtype)) for field, dtype in request.fields]

    def called_back(*inputs: Any) -> list[Any]:
        return list(jax.pure_callback(call, shapes, *inputs, vmap_method="sequential"))

    if threads is None:
        return called_back(*inputs)
    return _jax_calls.compute(inputs, request, shapes, threads, called_back)


# ---- on a device ------------------------------------------------------------------------------------------------

# Inputs that a device still reads: JAX does not know of our stream, so they are held until it has passed.
_held: list[tuple[_core.StreamMark, Any]] = []


def hold(ordinal: int, stream: int, inputs: list[_core.Array]) -> None:
    _held[:] = [each for each in _held if not each[0].passed()]
    _held.append((_core.StreamMark(ordinal, stream), inputs))


class _Answer:
    """Memory of ours as an array that JAX can take over; JAX's stream waits for ours, and the host does not wait."""

    def __init__(self, memory: _core.DeviceMemory, shape: tuple[int, ...], dtype: str, ordinal: int, stream: int):
        self._array = _core.device_array(memory, shape, dtype, ordinal)
        self._ordinal, self._stream = ordinal, stream

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self._ordinal)

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> Any:
        if stream != -1:
            _core.order_after(self._ordinal, _handle(stream), self._stream)
        return self._array.__dlpack__()


def _handle(stream: int | None) -> int:
    """Handle of a DLPack stream number: they are equal, but the default stream is 1 there (or None)."""
    return 0 if stream is None else stream


def _on_device(inputs: list[Any], request: Request, name: str, ordinal: int) -> list[Any]:
    image, stream = inputs[0], _core.own_stream(ordinal)
    described = [_describe(called, each, stream) for called, each in zip((name, "weights"), inputs)]
    memory: dict[str, tuple[_core.DeviceMemory, tuple[int, ...], str]] = {}
    for field, dtype in request.fields:
        shape = request.shape_of(field, image.shape)
        memory[field] = (_core.DeviceMemory(ordinal, math.prod(shape) * np.dtype(dtype).itemsize), shape, dtype)
    out = tuple(_core.Array(memory[f][0].data, memory[f][2], memory[f][1]) if f in memory else None for f in FIELDS)
    _core.run_on_stream(
        described[0], out, request.options(), described[1] if len(described) > 1 else None, ordinal, stream, []
    )
    hold(ordinal, stream, described)
    return [jax.dlpack.from_dlpack(_Answer(m, shape, dtype, ordinal, stream)) for m, shape, dtype in memory.values()]


def _describe(name: str, x: Any, stream: int) -> _core.Array:
    check_axes(name, x.ndim)
    return _core.array_of(x.__dlpack__(stream=stream))
