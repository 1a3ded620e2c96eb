"""Kinds of arrays for type checkers: the argument's kind decides the result's."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeVar

from numpy.typing import NDArray

Cells = NDArray[Any]


class HasMemory(Protocol):
    """An array of PyTorch, JAX, CuPy or the array API standard."""

    @property
    def __dlpack__(self) -> Any: ...


Tensor = TypeVar("Tensor", bound=HasMemory)
Asked = Literal[True, "coordinates", "linear"]  # values of `return_indices`
