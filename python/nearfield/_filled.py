"""Outputs of a known shape of calls that read no array: the caller's own, or new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield import _core
from nearfield._progress import Progress
from nearfield._run_at import RunAt, packed_of
from nearfield._workplace import Workplace


class Filled:
    """Arrays of a grid's shape for a call to fill: the caller's, else new ones of NumPy.

    `wanted` holds for each its name, the caller's array or None, and the type of a new one.
    """

    def __init__(
        self, shape: tuple[int, ...], wanted: list[tuple[str, Any, str]],
        device: str | None, threads: int | None, progress: Progress,
    ) -> None:  # fmt: skip
        name, first, dtype = next((each for each in wanted if each[1] is not None), wanted[0])
        work = Workplace(name, np.empty((0,) * 3, dtype) if first is None else first)
        self.where = RunAt(work, device, threads, progress)
        self.slots = []
        for name, given, dtype in wanted:
            self.slots.append(work.empty(shape, dtype) if given is None else work.given(name, given))
            if (came := tuple(self.slots[-1].described.shape)) != shape:
                raise ValueError(f"{name} has shape {came}; give the grid's, {shape}")
        self.packed = [packed_of(each) for each in self.slots] if self.where.staged else []

    def described(self) -> list[_core.Array]:
        return [each.described() for each in self.packed] or [each.described for each in self.slots]

    def finish(self) -> list[Any]:
        for each in self.packed:
            each.finish()
        return [each.array for each in self.slots]
