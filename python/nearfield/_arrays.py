"""Arrays of every framework, as memory: found out by what an array is or offers, importing none of the frameworks.

Each framework is a class here with the same functions: convert to its array, find memory, device and stream, and make
new memory of the same kind.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from nearfield import _core
from nearfield._foreign import refuse_image, refuse_no_array
from nearfield._request import said
from nearfield._traced import refuse_traced
from nearfield._untouched import Untouched

# Element types of the library, by NumPy's names.
TYPES = frozenset("bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split())


MOST_AXES = 8  # of an image; coordinates of sites have one more
_PART = 2**22  # cells, which NumPy copies in some milliseconds
_LARGE = 2**22  # bytes


class Place(NamedTuple):
    """Place of memory: ordinal -1 is the host. `stream` is the one on which the caller orders work on that device."""

    ordinal: int
    stream: int = 0

    def __str__(self) -> str:
        return "the CPU" if self.ordinal < 0 else f"cuda:{self.ordinal}"


HOST = Place(-1)


class Framework(Protocol):
    name: str

    def array(self, name: str, x: Any) -> Any:
        """Converts the argument to an array of this framework that `describe` takes."""

    def shape(self, x: Any) -> tuple[int, ...]: ...

    def dtype(self, x: Any) -> str: ...

    def place(self, x: Any) -> Place: ...

    def describe(self, name: str, x: Any, writable: bool) -> _core.Array: ...

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any: ...

    def empty_like(self, x: Any, dtype: str) -> Any:
        """Makes an array of this shape, with its axes in the same memory order if the framework exposes that."""


def framework_of(x: Any) -> Framework:
    """Framework of an array. Lists, numbers and anything that converts to NumPy belong to NumPy."""
    if isinstance(x, np.ndarray):
        return NUMPY if type(x) is not Untouched else UNTOUCHED
    for module, type_name, framework in _BY_TYPE:
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(x, getattr(loaded, type_name)):
            return framework
    if hasattr(x, "__cuda_array_interface__"):
        return CUDA_INTERFACE
    if hasattr(x, "__array_namespace__") and hasattr(x, "__dlpack__"):
        return ARRAY_API
    return NUMPY


def check_type(name: str, dtype: str, verb: str = "has element type") -> str:
    if dtype not in TYPES:
        raise TypeError(f"{name} {verb} {dtype}; give bool, an integer of 8 to 64 bits, float16, float32 or float64")
    return dtype


def check_axes(name: str, count: int, most: int = MOST_AXES) -> None:
    if not 1 <= count <= most:
        raise ValueError(f"{name} has {count} axes; give an array of 1 to {most} axes")


def is_jax(x: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(x, jax.Array)


def framework_of_output(name: str, out: Any) -> Framework:
    """Framework of a caller's array that is to be filled."""
    framework = framework_of(out)
    if framework is NUMPY and not isinstance(out, np.ndarray):
        raise TypeError(f"{name} is {type(out).__name__}; give an array to be filled")
    if is_jax(out):
        raise TypeError(f"{name} is an array of JAX, which cannot be written; leave it out, or give one of NumPy")
    return framework


@lru_cache(maxsize=64)
def numpy_name(dtype: np.dtype[Any]) -> str:
    """Name of an element type without its byte order; cached, because NumPy builds it every time."""
    return str(dtype.name if dtype.kind in "biuf" else dtype)


@lru_cache(maxsize=64)
def _torch_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def in_elements(a: np.ndarray[Any, Any]) -> bool:
    """Says whether strides are multiples of the element size, and the address is aligned to it."""
    flags = a.flags
    return flags.aligned and (flags.c_contiguous or not any(step % a.itemsize for step in a.strides))


def parts_of(a: np.ndarray[Any, Any]) -> Iterator[tuple[Any, ...]]:
    """Yields indices of parts that together are the whole array.

    Python handles signals between NumPy's calls, not within one.
    """
    axis = next((axis for axis, length in enumerate(a.shape) if length > 1), 0)
    length = a.shape[axis] if a.ndim else 1
    rows = max(1, length * _PART // max(1, a.size))
    for first in range(0, length, rows):
        yield ((slice(None),) * axis + (slice(first, first + rows),)) if a.ndim else ()


def copied(a: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    """Returns a contiguous copy with elements of another type."""
    made: np.ndarray[Any, Any] = np.empty(a.shape, dtype)
    for part in parts_of(a):
        made[part] = a[part]
    return made


def in_rows(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the array, or a copy in C order if columns are closer in memory than rows.

    Reading such rows one by one would fetch every cache line many times; the copy is made square by square.
    """
    steps = [abs(step) if n > 1 else 2**63 for n, step in zip(a.shape, a.strides)]
    if a.ndim < 2 or a.flags.c_contiguous or not a.size or steps[-1] == min(steps):
        return a
    close, last, square = steps.index(min(steps)), a.ndim - 1, 64
    made = np.empty(a.shape, a.dtype)
    part: list[Any] = [slice(None)] * a.ndim
    for i in range(0, a.shape[close], square):
        for j in range(0, a.shape[last], square):
            part[close], part[last] = slice(i, i + square), slice(j, j + square)
            made[tuple(part)] = a[tuple(part)]
    return made


class NumPy:
    name = "numpy"

    def array(self, name: str, x: Any) -> np.ndarray[Any, Any]:
        refuse_no_array(name, x)
        try:
            a = np.asarray(x)
        except ValueError as error:
            if "inhomogeneous" not in str(error):
                raise
            for each in x if isinstance(x, list | tuple) else ():
                refuse_image(name, each)
            raise ValueError(f"{name} makes no array ({error}); give rows of equal length") from None
        except OverflowError:
            raise ValueError(f"{name} has integers of more than 64 bits; give smaller ones") from None
        check_type(name, numpy_name(a.dtype))
        if a.dtype.isnative and in_elements(a):
            return a
        return copied(a, a.dtype.newbyteorder("="))

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def dtype(self, x: Any) -> str:
        return numpy_name(x.dtype)

    def place(self, x: Any) -> Place:
        return HOST

    def describe(self, name: str, x: Any, writable: bool) -> _core.Array:
        if writable:
            _check_output(name, x)
        a = np.asarray(x)  # a subclass may report any shape
        check_axes(name, a.ndim, MOST_AXES + writable)
        strides = None if a.flags.c_contiguous else [step // a.itemsize for step in a.strides]
        return _core.Array(a.__array_interface__["data"][0], numpy_name(a.dtype), a.shape, strides, x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> np.ndarray[Any, Any]:
        """Returns new memory; large memory is the library's, which starts at a page and is kept when it is freed."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        return np.empty(shape, dtype) if size < _LARGE else np.ndarray(shape, dtype, _core.field_memory(size))

    def empty_like(self, x: Any, dtype: str) -> np.ndarray[Any, Any]:
        return np.empty_like(x, dtype, subok=False)


class _OfPlans(NumPy):
    def array(self, name: str, x: Any) -> np.ndarray[Any, Any]:
        check_type(name, numpy_name(x.dtype))
        return np.asanyarray(x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> np.ndarray[Any, Any]:
        return Untouched.of(shape, dtype)

    def empty_like(self, x: Any, dtype: str) -> np.ndarray[Any, Any]:
        return Untouched.of(x.shape, dtype)


def _check_output(name: str, given: Any) -> None:
    if not isinstance(given, np.ndarray):
        raise TypeError(f"{name} is {type(given).__name__}; give an array to be filled, such as np.empty(shape, dtype)")
    x = np.asarray(given)
    check_type(name, numpy_name(x.dtype))
    if not x.flags.writeable:
        raise ValueError(f"{name} is read-only; give an array that may be written")
    if not x.dtype.isnative or not in_elements(x):
        raise ValueError(f"{name} is not aligned or not in this machine's byte order; give an array from np.empty")


class Torch:
    name = "torch"

    def array(self, name: str, x: Any) -> Any:
        if str(x.layout) != "torch.strided":
            raise TypeError(f"{name} is a tensor of layout {x.layout}; give {name}.to_dense()")
        if x.device.type not in ("cpu", "cuda"):
            raise TypeError(f"{name} is on device {x.device}; nearfield works on the CPU and on CUDA devices")
        refuse_traced(name, x)
        check_type(name, self.dtype(x))
        return x.detach().resolve_neg()

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def dtype(self, x: Any) -> str:
        return _torch_name(x.dtype)

    def place(self, x: Any) -> Place:
        if not x.is_cuda:
            return HOST
        torch = sys.modules["torch"]
        number, raw = x.get_device(), getattr(torch._C, "_cuda_getCurrentRawStream", None)
        if raw is not None:  # makes no object of Python's
            return Place(number, raw(number))
        return Place(number, torch.cuda.current_stream(number).cuda_stream)

    def describe(self, name: str, x: Any, writable: bool) -> _core.Array:
        check_axes(name, x.ndim, MOST_AXES + writable)
        return _core.Array(x.data_ptr(), check_type(name, self.dtype(x)), tuple(x.shape), x.stride(), x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)

    def empty_like(self, x: Any, dtype: str) -> Any:
        torch = sys.modules["torch"]
        return torch.empty_like(x, dtype=getattr(torch, dtype), requires_grad=False)


class CuPy:
    name = "cupy"

    def array(self, name: str, x: Any) -> Any:
        check_type(name, self.dtype(x))
        return x.copy() if any(step % x.itemsize for step in x.strides) else x

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def dtype(self, x: Any) -> str:
        return str(x.dtype.name)

    def place(self, x: Any) -> Place:
        with x.device:
            return Place(x.device.id, sys.modules["cupy"].cuda.get_current_stream().ptr)

    def describe(self, name: str, x: Any, writable: bool) -> _core.Array:
        check_axes(name, x.ndim, MOST_AXES + writable)
        size = x.itemsize
        dtype = check_type(name, self.dtype(x))
        return _core.Array(x.data.ptr, dtype, x.shape, [step // size for step in x.strides], x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype)

    def empty_like(self, x: Any, dtype: str) -> Any:
        with x.device:
            return sys.modules["cupy"].empty_like(x, dtype)


class CudaInterface:
    """Arrays that offer ``__cuda_array_interface__`` (version 2 or 3) and nothing else, such as Numba's."""

    name = "cuda array interface"

    def array(self, name: str, x: Any) -> Any:
        check_type(name, self.dtype(x))
        return x

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.__cuda_array_interface__["shape"])

    def dtype(self, x: Any) -> str:
        return str(np.dtype(x.__cuda_array_interface__["typestr"]).name)

    def place(self, x: Any) -> Place:
        interface = x.__cuda_array_interface__
        return Place(_core.device_of(interface["data"][0]), interface.get("stream") or 0)

    def describe(self, name: str, x: Any, writable: bool) -> _core.Array:
        interface = x.__cuda_array_interface__
        data, read_only = interface["data"]
        shape, size = interface["shape"], np.dtype(interface["typestr"]).itemsize
        check_axes(name, len(shape), MOST_AXES + writable)
        if writable and read_only:
            raise ValueError(f"{name} is read-only; give an array that may be written")
        strides = interface.get("strides")
        steps = None if strides is None else [step // size for step in strides]
        return _core.Array(data, check_type(name, self.dtype(x)), shape, steps, x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        raise TypeError(
            f"{type(like).__name__} offers no way to make another array like it; give out= (and indices_out=), "
            "or a CuPy, PyTorch or JAX array"
        )

    def empty_like(self, x: Any, dtype: str) -> Any:
        return self.empty(self.shape(x), dtype, x)


class ArrayApi:
    """Arrays of the array API standard on the CPU, through DLPack."""

    name = "array API"

    def array(self, name: str, x: Any) -> Any:
        refuse_traced(name, x)
        if x.__dlpack_device__()[0] != 1:
            raise TypeError(f"{name} is not in CPU memory; give a CuPy, PyTorch or JAX array")
        check_type(name, self.dtype(x))
        return x

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def dtype(self, x: Any) -> str:
        """Reads the type's name, since arrays that JAX traces have a type but no memory."""
        return str(getattr(x.dtype, "name", x.dtype)).rpartition(".")[2]

    def place(self, x: Any) -> Place:
        return HOST

    def describe(self, name: str, x: Any, writable: bool) -> _core.Array:
        return NUMPY.describe(name, np.from_dlpack(x), False)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        space = like.__array_namespace__()
        return space.empty(shape, dtype=getattr(space, dtype), device=like.device)

    def empty_like(self, x: Any, dtype: str) -> Any:
        return self.empty(self.shape(x), dtype, x)


NUMPY = NumPy()
UNTOUCHED = _OfPlans()
CUDA_INTERFACE = CudaInterface()
ARRAY_API = ArrayApi()
_BY_TYPE: Sequence[tuple[str, str, Framework]] = (("torch", "Tensor", Torch()), ("cupy", "ndarray", CuPy()))


def name_of(dtype: Any, argument: str = "dtype") -> str:
    """NumPy's name of a type of any framework: np.float32, 'float32', torch.float32, jnp.float32."""
    try:
        text = str(dtype)
        if text.startswith("torch."):
            return text.removeprefix("torch.")
        return str(np.dtype(dtype).name)
    except Exception:  # usually a TypeError; a value that looks like a list of fields can raise others
        raise TypeError(f"{argument} is {said(dtype)}; give a type such as 'float32'") from None
