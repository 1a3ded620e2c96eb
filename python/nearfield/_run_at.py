"""Where a call runs: where its arrays are, or on a device to which the library copies them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, framework_of
from nearfield._call import arguments_named, as_numpy, target
from nearfield._progress import Progress, callable_of
from nearfield._request import threads_of
from nearfield._workplace import Slot, Workplace


class Packed(NamedTuple):
    """A contiguous host array that the library fills, and the caller's own array, which receives its content."""

    view: np.ndarray[Any, Any]
    filled: np.ndarray[Any, Any]

    def described(self) -> _core.Array:
        return NUMPY.describe("out", self.filled, True)

    def finish(self) -> None:
        if self.view is not self.filled:
            self.view[...] = self.filled


def packed_of(slot: Slot) -> Packed:
    view = as_numpy(slot.array)
    return Packed(view, view if view.flags.c_contiguous else np.empty(view.shape, view.dtype))


class RunAt:
    """Says where a call runs: where its arrays are, or on a device to which the library copies them."""

    def __init__(self, work: Workplace, device: str | None, threads: int | None, progress: Progress) -> None:
        self.work = work
        self.threads, self.tell = threads_of(threads), callable_of(progress)
        self.ordinal = target(device, work.place, work.name)
        self.staged = self.ordinal >= 0 and work.place.ordinal < 0

    def read(self) -> _core.Array:
        return self._copied(self.work.name, self.work.array) if self.staged else self.work.described()

    def other(self, name: str, x: Any) -> _core.Array:
        """Describes another array for reading."""
        return self._copied(name, x) if self.staged else self.work.read(name, x)

    @staticmethod
    def _copied(name: str, x: Any) -> _core.Array:
        return NUMPY.describe(name, np.ascontiguousarray(as_numpy(framework_of(x).array(name, x))), False)

    def place(self) -> tuple[int, int, bool, int, Any]:
        return self.ordinal, self.work.place.stream, self.staged, self.threads, self.tell


def described_of(slot: Slot | None) -> _core.Array | None:
    return None if slot is None else slot.described


def filled(work: Workplace, slot: Slot, where: RunAt, call: Callable[[_core.Array, _core.Array], None]) -> Any:
    """Fills `slot` by a call that receives what it reads and what it writes."""
    with in_our_words(work.name):
        packed = packed_of(slot) if where.staged else None
        call(where.read(), slot.described if packed is None else packed.described())
        if packed is not None:
            packed.finish()
        work.finish()
    return work.hand_out(slot)


_WORDS = (
    (r"\bout\.axis\b", "out"),
    (r"\bout\.second\b", "return_sites"),
    (r"\bprune\b", "pruning"),
    (r"\bweights\b", "squared"),
)


@contextmanager
def in_our_words(name: str) -> Iterator[None]:
    """Makes errors of the library name Python's keywords."""
    with arguments_named(name, {}):
        try:
            yield
        except ValueError as problem:
            text = str(problem)
            for theirs, ours in _WORDS:
                text = re.sub(theirs, ours, text)
            raise ValueError(text.replace("the image's shape", f"the shape of {name}")) from None
