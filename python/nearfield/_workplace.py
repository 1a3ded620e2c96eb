"""Where a call's arrays live and how new ones of the same kind are made, for calls whose outputs are known late.

JAX, whose arrays cannot be written, has its own class (_jax_workplace.py); `_dispatch.workplace_of` chooses.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, Framework, Place, check_axes, copied, framework_of, framework_of_output, in_rows


class Slot(NamedTuple):
    """An array to fill, as its framework sees it and as the library does; `given` marks one of the caller's."""

    array: Any
    described: _core.Array
    given: bool = False


class Workplace:
    """Arrays of one framework in one place. Errors call the first of them `name`."""

    def __init__(self, name: str, x: Any) -> None:
        self.framework: Framework = framework_of(x)
        given = self.framework.array(name, x)
        if self.framework is NUMPY:
            given = in_rows(given)
        self.given_dtype = self.framework.dtype(given)
        self.array = self._in_known_type(given)
        self.name = name
        self.place: Place = self.framework.place(self.array)
        self.shape = self.framework.shape(self.array)
        check_axes(name, len(self.shape))

    def _in_known_type(self, x: Any) -> Any:
        """Converts float16 to float32, which keeps the values: the library compares no float16."""
        if self.framework.dtype(x) != "float16":
            return x
        if self.framework.name == "torch":
            return x.float()
        if not hasattr(x, "astype"):
            raise TypeError(f"{type(x).__name__} has element type float16, which is not compared; give float32")
        return copied(x, "float32") if isinstance(x, np.ndarray) else x.astype("float32")

    @property
    def dtype(self) -> str:
        return self.framework.dtype(self.array)

    def described(self) -> _core.Array:
        return self.framework.describe(self.name, self.array, False)

    def read(self, name: str, x: Any) -> _core.Array:
        """Describes another array for reading; it must be in the same place."""
        framework = framework_of(x)
        array = framework.array(name, x)
        self._check_place(name, framework.place(array))
        return framework.describe(name, self._in_known_type(array), False)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Slot:
        if self.place.ordinal < 0:
            _core.require_memory(min(math.prod(shape) * np.dtype(dtype).itemsize, 2**63 - 1), "the output")
        made = self.framework.empty(shape, dtype, self.array)
        return Slot(made, self.framework.describe("out", made, True))

    def given(self, name: str, out: Any) -> Slot:
        """Describes a caller's array for filling."""
        framework = framework_of_output(name, out)
        self._check_place(name, framework.place(out))
        return Slot(out, framework.describe(name, out, True), given=True)

    def hand_out(self, slot: Slot) -> Any:
        return slot.array

    def constant(self, values: np.ndarray[Any, Any]) -> Any:
        """Copies a small host array to this framework and device."""
        if self.framework.name == "torch":
            return sys.modules["torch"].from_numpy(values).to(self.array.device)
        if self.framework.name == "cupy":
            with self.array.device:
                return sys.modules["cupy"].asarray(values)
        if self.framework.name == "array API":
            space = self.array.__array_namespace__()
            return space.asarray(values.tolist(), dtype=getattr(space, values.dtype.name), device=self.array.device)
        return values

    def in_given_type(self, x: Any) -> Any:
        """Converts results back to float16 if the input was float16."""
        if self.given_dtype != "float16":
            return x
        return x.half() if self.framework.name == "torch" else x.astype("float16")

    def finish(self) -> None:
        """Marks that the work is under way."""

    def _check_place(self, name: str, there: Place) -> None:
        if there.ordinal != self.place.ordinal:
            raise ValueError(f"{name} is on {there} and {self.name} on {self.place}; give both on the same device")


_KEYWORDS = (
    (r"\b(?:out\.)?tables\.(\w+)", r"\1"),
    (r"\bout\.(label|labels)\b", "out"),
    (r"\btolerance\b", "criterion"),
    (r"\bkeep_largest\b", "largest"),
    (r"\bborder along axis", "periodic along axis"),
)


@contextmanager
def keywords_named(image: str, out: Slot | None = None) -> Iterator[None]:
    """Makes errors of the library name Python's keywords, and `dtype` if `out` is a new array."""
    try:
        yield
    except ValueError as problem:
        text = str(problem)
        for theirs, ours in _KEYWORDS:
            text = re.sub(theirs, ours, text)
        if out is not None and not out.given:
            text = re.sub(r"^out has element type", "dtype is", text)
        raise ValueError(re.sub(r"^(?:image|shape)\b", image, text)) from None
