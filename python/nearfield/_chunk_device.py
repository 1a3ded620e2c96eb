"""A GPU for calls out of core: while pieces are computed on one stream, others travel on a second one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from nearfield._arrays import HOST
from nearfield._call import target
from nearfield._info import devices

Piece = tuple[Sequence[Any], Callable[..., Sequence[Any]], Callable[..., object]]

_TO_DEVICE, _TO_HOST = 1, 2  # of cudaMemcpyKind
_MOST = 1 << 24  # cells of a piece


def gpu_for(device: str | None, memory: int) -> Gpu | None:
    """The GPU of a call that may take `memory` bytes of the host's; None: the CPU, also where no GPU is asked for."""
    ordinal = target(device, HOST, "source")
    if device is not None and ordinal < 0:
        return None
    try:
        import cupy

        there = bool(devices()) and cupy.cuda.runtime.getDeviceCount() > ordinal
    except Exception:  # no CuPy, or none that finds a driver
        there = False
    if there:
        return Gpu(cupy, max(ordinal, 0), memory)
    if device is not None:
        raise ValueError(f"device is {device!r}, for which calls out of core need a GPU and the package cupy")
    return None


class Gpu:
    def __init__(self, cupy: Any, ordinal: int, memory: int) -> None:
        self.name = f"cuda:{ordinal}"
        self._device = cupy.cuda.Device(ordinal)
        self._cells = min(_MOST, memory >> 10)
        with self._device:
            self._slots = [_Slot(cupy), _Slot(cupy)]

    def rows(self, row: int, least: int = 1) -> int:
        """Rows of so many cells that go there at a time."""
        return max(least, self._cells // max(row, 1))

    def pinned(self, row: int) -> int:
        """Bytes of the host's memory that pieces of such rows take on their ways, at most."""
        return 64 * max(self._cells, row)

    def holds(self, bytes_: int) -> bool:
        with self._device:
            return bool(bytes_ < self._device.mem_info[0])

    def each(self, pieces: Iterable[Piece]) -> None:
        """Of each piece (arrays, compute, store): store(*compute(*arrays)), computed there, in order.

        What store() gets is overwritten later. Arrays of the host are read while this runs.
        """
        with self._device:
            try:
                for piece in pieces:
                    self._slots.reverse()
                    self._slots[0].finish()
                    self._slots[0].start(*piece)
                for slot in self._slots[::-1]:
                    slot.finish()
            finally:
                for slot in self._slots:
                    slot.drop()


class _Slot:
    """One stream, and memory of the host that it copies from and to without the host's help."""

    def __init__(self, cupy: Any) -> None:
        self._cupy, self._stream = cupy, cupy.cuda.Stream(non_blocking=True)
        self._pinned: dict[str, Any] = {}
        self._came: tuple[Callable[..., object], list[Any]] | None = None

    def start(self, arrays: Sequence[Any], compute: Callable[..., Sequence[Any]], store: Callable[..., object]) -> None:
        with self._stream:
            there = [self._up(f"in {k}", a) for k, a in enumerate(arrays)]
            self._came = store, [self._down(f"out {k}", a) for k, a in enumerate(compute(*there))]

    def finish(self) -> None:
        self._stream.synchronize()
        if self._came is not None:
            (store, here), self._came = self._came, None
            store(*here)

    def drop(self) -> None:
        self._stream.synchronize()
        self._came = None

    def _up(self, name: str, array: Any) -> Any:
        here = self._memory(name, array.shape, array.dtype)
        np.copyto(here, array)
        there = self._cupy.empty(array.shape, array.dtype)
        self._copy(there.data.ptr, here.ctypes.data, here.nbytes, _TO_DEVICE)
        return there

    def _down(self, name: str, there: Any) -> Any:
        there = self._cupy.ascontiguousarray(there)
        here = self._memory(name, there.shape, there.dtype)
        self._copy(here.ctypes.data, there.data.ptr, here.nbytes, _TO_HOST)
        return here

    def _copy(self, to: int, source: int, count: int, kind: int) -> None:
        self._cupy.cuda.runtime.memcpyAsync(to, source, count, kind, self._stream.ptr)

    def _memory(self, name: str, shape: Sequence[int], dtype: Any) -> Any:
        count = math.prod(shape)
        held = self._pinned.get(name)
        if held is None or held[1] < count * dtype.itemsize:
            self._pinned[name] = held = None  # given back first
            held = self._cupy.cuda.alloc_pinned_memory(count * dtype.itemsize), count * dtype.itemsize
            self._pinned[name] = held
        return np.frombuffer(held[0], dtype, count).reshape(shape)
