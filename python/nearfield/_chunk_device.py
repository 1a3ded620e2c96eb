"""A GPU for calls out of core: several threads each copy a piece there, compute it, and copy the result back."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np

from nearfield._arrays import HOST
from nearfield._call import target
from nearfield._info import devices

Piece = tuple[Sequence[Any], Callable[..., Sequence[Any]], Callable[..., object]]

_TO_DEVICE, _TO_HOST = 1, 2  # of cudaMemcpyKind
_MOST = 1 << 24  # cells of a piece
_SLOTS, _TAKEN = 16, 128  # pieces at a time, at most; bytes that a cell of one takes there
_PINNED = 32  # bytes of the host's memory that a cell takes on its ways, unless many fields travel


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
        slots = max(2, min(_SLOTS, (os.cpu_count() or 1) // 2, memory >> 30))
        self._cells = min(_MOST, memory // (8 * _PINNED * slots))
        with self._device:
            self._slots = [_Slot(cupy) for _ in range(slots)]

    def rows(self, row: int, least: int = 1, taken: int = 0) -> int:
        """Rows of so many cells that go there at a time; a cell takes `taken` bytes on its ways."""
        return max(least, self._cells * _PINNED // max(_PINNED, taken) // max(row, 1))

    def pinned(self, row: int, taken: int) -> int:
        """Bytes of the host's memory that pieces of such rows take on their ways, at most."""
        return len(self._slots) * max(_PINNED * self._cells, max(_PINNED, taken) * row)

    def holds(self, bytes_: int) -> bool:
        with self._device:
            return bool(bytes_ < self._device.mem_info[0])

    def each(self, pieces: Iterable[Piece], cells: int) -> None:
        """Runs store(*compute(*arrays)) for each piece (arrays, compute, store) of at most so many cells.

        Several threads do this at a time. What compute() gets is there; what store() gets is here, until it returns.
        """
        free: SimpleQueue[_Slot] = SimpleQueue()
        for slot in self._slots:
            free.put(slot)

        def run(piece: Piece) -> None:
            slot = free.get()
            try:
                with self._device:
                    slot.run(*piece)
            finally:
                free.put(slot)

        with self._device:
            most = self._device.mem_info[1] // (_TAKEN * max(cells, 1))
        with ThreadPoolExecutor(max(1, min(len(self._slots), most))) as pool:
            for _ in pool.map(run, pieces):
                pass


class _Slot:
    """One stream, and memory of the host that it copies from and to without the host's help."""

    def __init__(self, cupy: Any) -> None:
        self._cupy, self._stream = cupy, cupy.cuda.Stream(non_blocking=True)
        self._pinned: dict[str, Any] = {}

    def run(self, arrays: Sequence[Any], compute: Callable[..., Sequence[Any]], store: Callable[..., object]) -> None:
        with self._stream:
            try:
                made = compute(*(self._up(f"in {k}", a) for k, a in enumerate(arrays)))
                here = [self._down(f"out {k}", a) for k, a in enumerate(made)]
            finally:
                self._stream.synchronize()
        store(*here)

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
