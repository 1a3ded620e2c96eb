"""What one call asks for: the keywords of the public functions, checked and in the library's words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import is_traced

Spacing = float | Sequence[float] | np.ndarray[Any, Any] | None
Sites = Literal["zero", "nonzero", "other_labels"]
Signed = bool | Literal["inside", "outside"]
Border = Literal["open", "closed", "periodic"] | Sequence[Literal["open", "closed", "periodic"]]
Indices = bool | Literal["coordinates", "linear"]

FIELDS = ("distance", "squared", "index", "coordinates", "label", "trusted")


class Request(NamedTuple):
    """One call's options, hashable, and the fields it fills: pairs of a name of `FIELDS` and an element type."""

    fields: tuple[tuple[str, str], ...]
    spacing: tuple[float, ...] = ()
    sites: str = "zero"
    sign: str = "none"
    half_cell: bool = False
    border: tuple[str, ...] = ("open",)
    max_distance: float = math.inf
    batch_axes: int = 0

    def options(self) -> _core.Options:
        return _options(self[1:])

    def shape_of(self, field: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of a field of an image of `shape`: coordinates have one axis more, in front."""
        return (len(shape) - self.batch_axes, *shape) if field == "coordinates" else shape


def request_for(
    ndim: int,
    *,
    spacing: Spacing,
    sites: Sites,
    signed: Signed,
    multilabel: bool,
    half_cell: bool,
    border: Border,
    max_distance: float | None,
    batch_axes: int,
) -> Request:
    """The keywords of `distance_transform` for an image of `ndim` axes, no fields yet."""
    batch = count_of("batch_axes", batch_axes, 0)
    return Request(
        (),
        spacing_of(spacing, ndim, batch),
        sites_of(sites, multilabel),
        sign_of(signed),
        flag_of("half_cell", half_cell),
        border_of(border, ndim, batch),
        max_distance_of(max_distance),
        batch,
    )


@lru_cache(maxsize=256)
def _options(words: tuple[Any, ...]) -> _core.Options:
    spacing, sites, sign, half_cell, border, max_distance, batch_axes = words
    return _core.Options(list(spacing), sites, sign, half_cell, list(border), max_distance, batch_axes)


def spacing_of(value: Spacing, ndim: int, batch_axes: int) -> tuple[float, ...]:
    """One length per axis, in array order. With batch axes one per axis of an image will do."""
    if value is None:
        return ()
    if isinstance(value, int | float):
        return (float(value),)
    if isinstance(value, str):
        raise TypeError(f"spacing is {value!r}; give a length, or a sequence of one per axis")
    lengths = (
        tuple(_number("spacing", each) for each in value)
        if isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0
        else (_number("spacing", value),)
    )
    if batch_axes and len(lengths) == ndim - batch_axes and len(lengths) > 1:
        return (1.0,) * batch_axes + lengths
    return lengths


def border_of(value: Border, ndim: int, batch_axes: int) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"border is {value!r}; give 'open', 'closed' or 'periodic', or a sequence of one per axis")
    ends = tuple(value)
    if batch_axes and len(ends) == ndim - batch_axes and len(ends) > 1:
        return ("open",) * batch_axes + ends
    return ends


def sign_of(value: Signed) -> str:
    if isinstance(value, str):
        if value not in ("inside", "outside"):
            raise ValueError(f"signed is {value!r}; give True or 'inside' (negative inside), 'outside', or False")
        return value
    return "inside" if flag_of("signed", value) else "none"


def sites_of(sites: Sites, multilabel: bool) -> str:
    if not flag_of("multilabel", multilabel):
        return sites
    if sites not in ("zero", "other_labels"):
        raise ValueError(f"multilabel=True makes every other label a site; it does not go with sites={sites!r}")
    return "other_labels"


def max_distance_of(value: float | None) -> float:
    return math.inf if value is None else _number("max_distance", value)


def count_of(name: str, value: Any, least: int) -> int:
    """An integer of at least `least`."""
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        raise not_taken(name, value, f"an integer of at least {least}") from None
    if number < least:
        raise ValueError(f"{name} is {number}; give an integer of at least {least}")
    if number >= 2**63:
        raise ValueError(f"{name} is {number}; give an integer below 2**63")
    return int(number)


def flag_of(name: str, value: Any) -> bool:
    """True or False, also NumPy's and as 0 or 1. A word is refused, since every word counts as true."""
    if isinstance(value, bool):
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", "b")
    word = isinstance(value, str | bytes) or kind in ("U", "S", "O")
    if hasattr(value, "__bool__") and value is not None and not word:
        try:
            return bool(value)
        except (TypeError, ValueError):
            pass
    raise not_taken(name, value, "True or False")


def check_flags(**flags: Any) -> None:
    """Throws for what is neither true nor false, before anything is done."""
    for name, value in flags.items():
        flag_of(name, value)


def threads_of(threads: Any) -> int:
    """As the library takes them: 0 for every core, never more than it uses."""
    return 0 if threads is None else min(count_of("threads", threads, 1), 4096)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise not_taken(name, value, "a number") from None


def not_taken(name: str, value: Any, wanted: str) -> TypeError:
    if is_traced(value):
        return TypeError(
            f"{name} is traced by JAX, and a call needs its value; give one that is known before, or name the argument "
            "it comes from in static_argnames= of jax.jit"
        )
    return TypeError(f"{name} is {value!r}; give {wanted}")
