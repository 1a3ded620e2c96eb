"""JAX arrays as workplaces: memory is made outside and handed over through DLPack. Imported only when JAX is there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from nearfield import _core, _jax, _jax_calls
from nearfield._arrays import HOST, NUMPY, Place, check_axes, check_type
from nearfield._call import target
from nearfield._label_request import LabelRequest
from nearfield._progress import callable_of
from nearfield._request import threads_of
from nearfield._traced import refuse_traced
from nearfield._workplace import Slot, Workplace


class _OnCpu(Workplace):
    def __init__(self, name: str, x: Any) -> None:
        super().__init__(name, np.asarray(x))

    def read(self, name: str, x: Any) -> _core.Array:
        return super().read(name, np.asarray(x))

    def empty(self, shape: tuple[int, ...], dtype: str) -> Slot:
        _jax.check_width(dtype)
        made = _jax._aligned(shape, dtype)
        return Slot(made, NUMPY.describe("out", made, True))

    def given(self, name: str, out: Any) -> Slot:
        raise TypeError(f"JAX arrays cannot be written; leave out {name}=")

    def hand_out(self, slot: Slot) -> Any:
        return jax.dlpack.from_dlpack(slot.array)

    def constant(self, values: np.ndarray[Any, Any]) -> Any:
        return jax.numpy.asarray(values)


class _OnDevice(_OnCpu):
    """Work is put on a stream of the library's own; what it reads is held until that stream has passed."""

    def __init__(self, name: str, x: Any, ordinal: int) -> None:
        check_axes(name, x.ndim)
        check_type(name, x.dtype.name)
        self.framework = NUMPY  # not asked: every function of it has its own form here
        self.name, self.array, self.shape = name, self._of_known_type(x), tuple(x.shape)
        self.given_dtype = x.dtype.name
        self.place = Place(ordinal, _core.own_stream(ordinal))
        self._read: list[_core.Array] = []

    def _of_known_type(self, x: Any) -> Any:
        return x.astype("float32") if x.dtype.name == "float16" else x

    @property
    def dtype(self) -> str:
        return str(self.array.dtype.name)

    def described(self) -> _core.Array:
        return self.read(self.name, self.array)

    def read(self, name: str, x: Any) -> _core.Array:
        if not isinstance(x, jax.Array) or x.devices() != self.array.devices():
            raise ValueError(f"{name} is not on {self.place}, where {self.name} is; give both on the same device")
        self._read.append(_jax._describe(name, self._of_known_type(x), self.place.stream))
        return self._read[-1]

    def empty(self, shape: tuple[int, ...], dtype: str) -> Slot:
        _jax.check_width(dtype)
        memory = _core.DeviceMemory(self.place.ordinal, math.prod(shape) * np.dtype(dtype).itemsize)
        return Slot((memory, shape, dtype), _core.Array(memory.data, dtype, shape))

    def hand_out(self, slot: Slot) -> Any:
        memory, shape, dtype = slot.array
        return jax.dlpack.from_dlpack(_jax._Answer(memory, shape, dtype, *self.place))

    def constant(self, values: np.ndarray[Any, Any]) -> Any:
        (where,) = self.array.devices()
        return jax.device_put(values, where)

    def finish(self) -> None:
        _jax.hold(self.place.ordinal, self.place.stream, self._read)


def workplace_of(name: str, x: Any) -> Workplace:
    refuse_traced(name, x)
    check_type(name, x.dtype.name)
    where = _jax._only_device(name, x)
    if where.platform == "cpu":
        return _OnCpu(name, x)
    if where.platform not in ("gpu", "cuda"):
        raise TypeError(f"{name} is on {where}; nearfield works on the CPU and on CUDA devices")
    return _OnDevice(name, x, where.local_hardware_id)


def called_back(
    function: Callable[..., Any],
    name: str,
    image: Any,
    shape: tuple[int, ...],
    made: str,
    out: Any,
    return_num: bool,
    request: LabelRequest | None = None,
    **words: Any,
) -> Any:
    """Under `jax.jit`: `function` of the image as a callback on the host, whose answer has this shape and type.

    With `request`, where XLA can call the library, as an operation of the program. What can be refused is refused here:
    JAX turns errors of either into its own.
    """
    if out is not None or return_num:
        raise TypeError(
            f"under jax.jit nearfield.{function.__name__} takes no out= and no return_num=; labels.max() is the number"
        )
    check_type(name, image.dtype.name)
    check_axes(name, image.ndim)
    _jax.check_width(made)
    threads = threads_of(words.get("threads"))
    target(words.get("device"), HOST, name)
    answer = _jax._shape(shape, np.dtype(made))
    constant = jax.lax.stop_gradient(image)

    def otherwise(image: Any) -> Any:
        return jax.pure_callback(lambda x: function(np.asarray(x), **words), answer, image, vmap_method="sequential")

    if request is None or words.get("device") is not None or callable_of(words.get("progress")) is not None:
        return otherwise(constant)
    return _jax_calls.label(constant, request, answer, threads, otherwise)
