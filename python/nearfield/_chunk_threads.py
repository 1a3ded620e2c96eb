"""Threads for what NumPy and the system do without Python's lock: to copy, to convert, to read and to write."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

_MOST = 16


def in_parallel(function: Callable[[int], object], numbers: Sequence[int], threads: int | None = None) -> None:
    """Runs function(k) for each number by several threads."""
    count = min(len(numbers), threads or os.cpu_count() or 1, _MOST)
    if count < 2:
        for k in numbers:
            function(k)
        return
    with ThreadPoolExecutor(count) as pool:
        for _ in pool.map(function, numbers):
            pass
