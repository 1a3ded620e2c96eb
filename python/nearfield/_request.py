"""Checks the keywords of the public functions and translates them for the library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike

from nearfield import _core
from nearfield._traced import is_traced

Spacing = ArrayLike | None
Sites = Literal["zero", "nonzero", "other_labels"]
Signed = bool | Literal["inside", "outside"]
Border = Literal["open", "closed", "periodic"] | Sequence[Literal["open", "closed", "periodic"]]
Indices = bool | Literal["coordinates", "linear"]

BORDERS = ("open", "closed", "periodic")
NARROWEST = "narrowest"  # type of squared distances that PyTorch's operation chooses by the shape
FIELDS = ("distance", "squared", "index", "coordinates", "label", "trusted")


class Request(NamedTuple):
    """Options of one call, hashable, and the fields it fills: pairs of a name of `FIELDS` and an element type."""

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
        """Shape of a field of an image of `shape`: coordinates have one more axis, in front."""
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
    """Request for the keywords of `distance_transform` and an image of `ndim` axes, without fields."""
    batch = batch_of(batch_axes, ndim)
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
    """One length per axis, in array order. With batch axes, one per axis of an image suffices."""
    if value is None:
        return ()
    each = items_of(value)
    if each is None:
        return (length_of("spacing", value),)
    lengths = tuple(length_of("spacing", one) for one in each)
    _check_enough("spacing", len(lengths), ndim - batch_axes)
    return (1.0,) * batch_axes + lengths if len(lengths) == ndim - batch_axes else lengths


def border_of(value: Border, ndim: int, batch_axes: int) -> tuple[str, ...]:
    each = items_of(value)
    if each is None:
        return (word_of("border", value, BORDERS),)
    ends = tuple(word_of("border", one, BORDERS) for one in each)
    _check_enough("border", len(ends), ndim - batch_axes)
    return ("open",) * batch_axes + ends if len(ends) == ndim - batch_axes else ends


def _check_enough(name: str, came: int, axes: int) -> None:
    """Refuses a sequence of one for several axes, which the library would accept; it refuses other wrong lengths."""
    if came == 0 or (came == 1 and axes > 1):
        raise ValueError(
            f"{name} has {came} value{'' if came else 's'} for {axes} axes; give one per axis, or one for all "
            "without brackets"
        )


def items_of(value: Any) -> list[Any] | None:
    """Items of a sequence, in their order; None if the value is no sequence."""
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        return None
    return None if getattr(value, "ndim", 1) == 0 else list(value)


def sign_of(value: Signed) -> str:
    if isinstance(value, str):
        if value not in ("inside", "outside"):
            raise ValueError(f"signed is {said(value)}; give True or 'inside' (negative inside), 'outside', or False")
        return value
    return "inside" if flag_of("signed", value) else "none"


def sites_of(sites: Sites, multilabel: bool) -> str:
    word = word_of("sites", sites, ("zero", "nonzero", "other_labels"))
    if not flag_of("multilabel", multilabel):
        return word
    if word == "nonzero":
        raise ValueError("multilabel=True makes every other label a site; it does not go with sites='nonzero'")
    return "other_labels"


def max_distance_of(value: float | None) -> float:
    return math.inf if value is None else length_of("max_distance", value)


# ---- single values ---------------------------------------------------------------------------------------------------


def said(value: Any) -> str:
    """Prints any value for a message: on one line, and not too long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= 80 else f"{text[:76]} ..."


def not_taken(name: str, value: Any, wanted: str) -> TypeError:
    if is_traced(value):
        return TypeError(
            f"{name} is traced by JAX, and a call needs its value; give one that is known before, or name the argument "
            "it comes from in static_argnames= of jax.jit"
        )
    return TypeError(f"{name} is {said(value)}; give {wanted}")


def word_of(name: str, value: Any, words: Sequence[str]) -> str:
    """Checks that a value is one of a few words."""
    if isinstance(value, str) and value in words:
        return str(value)
    wanted = f"one of {', '.join(map(repr, words))}"
    if isinstance(value, str):
        raise ValueError(f"{name} is {said(value)}; give {wanted}")
    raise not_taken(name, value, wanted)


_LARGEST = 2**63 - 1


def count_of(name: str, value: Any, least: int, most: int = _LARGEST) -> int:
    """Checks that a value is an integer from `least` to `most`; refuses True and False."""
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        number = True
    if isinstance(value, bool) or isinstance(number, bool):
        raise not_taken(name, value, f"an integer of at least {least}")
    if number < least:
        raise ValueError(f"{name} is {said(number)}; give an integer of at least {least}")
    if number > most:
        raise ValueError(
            f"{name} is {said(number)}; give an integer {'below 2**63' if most == _LARGEST else f'of at most {most}'}"
        )
    return int(number)


_NO_NUMBERS = ("S", "U", "m", "M", "c")  # kinds of NumPy's types that float() would accept: words, times, complex


def _kind_of(value: Any) -> str | None:
    return getattr(getattr(value, "dtype", None), "kind", None)


def number_of(name: str, value: Any) -> int | float:
    """Returns an integer exactly, and any other number as a float."""
    if isinstance(value, str | bytes | bytearray) or _kind_of(value) in _NO_NUMBERS:
        raise TypeError(f"{name} is {said(value)}; give a number")
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        pass
    try:
        return float(value)
    except (TypeError, ValueError):
        raise not_taken(name, value, "a number") from None


def length_of(name: str, value: Any) -> float:
    """Returns a number as a float; refuses words and bools. The library checks its sign."""
    if str(getattr(value, "dtype", type(value).__name__)) == "bool":
        raise not_taken(name, value, "a number")
    try:
        return float(number_of(name, value))
    except OverflowError:
        raise ValueError(f"{name} is {said(value)}, too large; give a number below 1e308") from None


def flag_of(name: str, value: Any) -> bool:
    """Accepts True and False, NumPy's bools, and 0 and 1; refuses everything else that Python counts as true."""
    if isinstance(value, bool):
        return value
    if hasattr(value, "__bool__") and value is not None and _kind_of(value) not in (*_NO_NUMBERS, "O"):
        try:
            flag = bool(value)
            if flag == value:
                return flag
        except (TypeError, ValueError):
            pass
    raise not_taken(name, value, "True or False")


def batch_of(batch_axes: Any, ndim: int) -> int:
    batch = count_of("batch_axes", batch_axes, 0)
    if batch and batch >= ndim:
        raise ValueError(f"batch_axes is {said(batch)} for an array of {ndim} axes; leave one axis to search")
    return batch


def check_flags(**flags: Any) -> None:
    """Refuses values that are neither true nor false, before any work."""
    for name, value in flags.items():
        flag_of(name, value)


def threads_of(threads: Any) -> int:
    """Number of threads for the library: 0 for every core, and never more than it uses."""
    return 0 if threads is None else min(count_of("threads", threads, 1), 4096)
