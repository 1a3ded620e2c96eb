"""Arrays that stand for others while a call is planned."""

from __future__ import annotations

import math
import mmap
import sys
from typing import Any

import numpy as np


class Untouched(np.ndarray[Any, Any]):
    """An array of a plan: it has addresses, and memory only where it is written. So has what NumPy computes from it."""

    bytes_made = 0  # of all of them, by the one plan at a time

    @staticmethod
    def of(shape: tuple[int, ...], dtype: Any) -> Untouched:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        Untouched.bytes_made += size
        unreserved = 0x4000 if sys.platform == "linux" else 0  # MAP_NORESERVE
        memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | unreserved)
        return Untouched(shape, dtype, memory)

    def nonzero(self) -> tuple[np.ndarray[Any, Any], ...]:
        """None, as no values are known."""
        return (np.empty(0, np.intp),) * self.ndim

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if "out" in keywords:
            return keywords["out"][0]
        if method != "__call__" or keywords:
            plain = [np.asarray(x) if isinstance(x, Untouched) else x for x in inputs]
            return getattr(ufunc, method)(*plain, **keywords)
        kinds = [np.empty(0, x.dtype) if isinstance(x, np.ndarray) and x.ndim else x for x in inputs]
        return Untouched.of(np.broadcast_shapes(*map(np.shape, inputs)), ufunc(*kinds).dtype)
