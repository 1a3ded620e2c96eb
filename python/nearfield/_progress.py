"""A progress bar for terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from nearfield._request import said

Progress = bool | Callable[[float], object] | None


class Bar:
    """Draws on a terminal's standard error after the first half second, and clears its line at the end."""

    width = 40

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._drawn = False
        self._first: float | None = None  # share that was done at the first call

    def __call__(self, share: float) -> None:
        elapsed = time.monotonic() - self._start
        self._first = share if self._first is None else self._first
        if share >= 1.0:
            if self._drawn:
                self.draw("")
        elif elapsed > 0.5:
            filled, done = round(share * self.width), share - (self._first or 0.0)
            left = f", {elapsed * (1.0 - share) / done:.0f} s left" if done > 0 else ""
            self.draw(f"nearfield [{'#' * filled}{'.' * (self.width - filled)}] {share:4.0%} {elapsed:.1f} s{left}")
            self._drawn = True

    def draw(self, line: str) -> None:
        sys.stderr.write(f"\r{line}\x1b[K")
        sys.stderr.flush()


class NotebookBar(Bar):
    """Draws in an output of the notebook's cell, which each line replaces: a page ignores a terminal's codes."""

    _output: Any = None

    def draw(self, line: str) -> None:
        from IPython.display import display

        shown = {"text/plain": line, "text/html": f"<pre>{line}</pre>" if line else ""}
        if self._output is None:
            self._output = display(shown, raw=True, display_id=True)
        else:
            self._output.update(shown, raw=True)


def callable_of(progress: Progress) -> Callable[[float], object] | None:
    """Returns what the library is to call: None without progress; a bar only in terminals and notebooks."""
    if progress is None or progress is False:
        return None
    if progress is True:
        if "ipykernel" in sys.modules:
            return NotebookBar()
        return Bar() if sys.stderr is not None and sys.stderr.isatty() else None
    if not callable(progress):
        raise TypeError(f"progress is {said(progress)}; give True, or a callable that takes the share done")

    def told(share: float) -> bool:
        return not is_false(progress(share))

    return told


def is_false(answer: object) -> bool:
    """True for False of Python, NumPy and other frameworks. None, 0 and other values of callables do not stop work."""
    return "bool" in (type(answer).__name__, str(getattr(answer, "dtype", "")).removeprefix("torch.")) and not answer
