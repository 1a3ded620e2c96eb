"""Checks and outputs of SciPy's distance functions: the same rules and errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nearfield._foreign import refuse_image
from nearfield._request import not_taken
from nearfield._traced import is_traced

Array = np.ndarray[Any, Any]
Sampling = float | Sequence[float] | Array | None


def check_asked(return_distances: Any, return_indices: Any, distances: Any, indices: Any) -> None:
    """Checks that something is requested, and that every given output is requested."""
    if not return_distances and not return_indices:
        raise RuntimeError("at least one of return_distances/return_indices must be True")
    if distances is not None and not return_distances:
        raise RuntimeError("return_distances must be True if distances is supplied")
    if indices is not None and not return_indices:
        raise RuntimeError("return_indices must be True if indices is supplied")


def mask_of(input: Any) -> Array:
    """Converts the image to an array that the library reads; any type that NumPy can test for zero.

    A DataArray stands for its cells, as in SciPy. Images that NumPy would flatten are refused.
    """
    refuse_image("input", input, taken=("xarray",))
    a = np.asarray(input)
    if a.dtype.kind in "biu" or (a.dtype.kind == "f" and a.dtype.itemsize <= 8):
        return a
    return np.asarray(np.where(a, True, False))


def lengths_of(sampling: Any, ndim: int) -> tuple[float, ...]:
    """One length per axis; empty without sampling."""
    if sampling is None:
        return ()
    if is_traced(sampling):
        raise not_taken("sampling", sampling, "a number")
    if isinstance(sampling, str) or not isinstance(sampling, Iterable) or getattr(sampling, "ndim", 1) == 0:
        return (float(sampling),) * ndim
    lengths = list(sampling)
    for each in filter(is_traced, lengths):
        raise not_taken("sampling", each, "a number")
    if len(lengths) != ndim:
        raise RuntimeError(
            f"sequence argument must have length equal to input rank: sampling has {len(lengths)} values for an array "
            f"of {ndim} axes; give one per axis in array order, or a single number"
        )
    return tuple(float(each) for each in lengths)


class Output:
    """An output: the caller's array, a new one, or one that is copied to the caller's at the end."""

    def __init__(
        self,
        name: str,
        given: Any,
        shape: tuple[int, ...],
        dtype: str,
        reads: Sequence[Any],
        wrong: type[Exception] = RuntimeError,
    ) -> None:
        self.given = given
        if given is None:
            self.array: Array = np.empty(shape, dtype)
            return
        if not isinstance(given, np.ndarray):
            raise TypeError(f"{name} is {type(given).__name__}; give a NumPy array of {dtype} to be filled")
        if given.dtype.type is not np.dtype(dtype).type:
            raise wrong(f"{name} array must be {dtype}; it is {given.dtype}")
        if given.shape != shape:
            raise wrong(f"{name} array has wrong shape: {given.shape}; give one of shape {shape}")
        if not given.flags.writeable:
            raise ValueError(f"{name} is read-only; give an array that may be written")
        steps_ok = not any(step % given.itemsize for step in given.strides)
        plain = given.dtype.isnative and given.flags.aligned and steps_ok and 0 not in given.strides
        shared = any(np.may_share_memory(given, each) for each in reads)
        self.array = given if plain and not shared else np.empty(shape, dtype)

    def finish(self) -> Any:
        """Copies to the caller's array if there is one, and returns what the function returns."""
        if self.given is not None:
            if self.given is not self.array:
                self.given[...] = self.array
            return None
        return self.array


def array_of(field: Output | None) -> Array | None:
    return None if field is None else field.array


def answer(*fields: Output | None) -> Any:
    """Returns two fields as a tuple, a single one without it, and None if all were filled in place."""
    made = [each.finish() for each in fields if each is not None]
    new = [each for each in made if each is not None]
    return tuple(new) if len(new) == 2 else new[0] if new else None
