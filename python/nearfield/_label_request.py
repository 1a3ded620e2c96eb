"""Checks the keywords that `label` and related functions share, and translates them for the library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypedDict

from nearfield import _core
from nearfield._request import count_of, flag_of, items_of, length_of, number_of, said, word_of

Criterion = Literal["nonzero", "equal", "links"] | float
Norm = Literal["maximum", "sum", "euclidean"]
Periodic = bool | Sequence[bool]

CRITERIA = ("nonzero", "equal", "links")
LABEL_TYPES = ("uint16", "int32", "uint32", "int64", "uint64")
_MOST = 2**63 - 1


class RemovalKeywords(TypedDict, total=False):
    """Keywords of `remove_small` besides the image and a size."""

    connectivity: int
    criterion: Criterion
    background: float | None
    norm: Norm
    channels: bool
    periodic: Periodic
    batch_axes: int
    max_size: int | None
    largest: int | None
    clear_border: bool


class LabelKeywords(RemovalKeywords, total=False):
    """Keywords that functions which label an image take besides it."""

    min_size: int


class LabelWords(NamedTuple):
    """Arguments of `_core.LabelOptions`."""

    connectivity: int
    criterion: str
    tolerance: int | float
    background: int | float | None
    channels: bool
    norm: str
    periodic: list[bool]
    batch_axes: int
    steps: list[int]
    smallest: int
    largest: int
    keep_largest: int
    clear_border: bool


class LabelRequest(NamedTuple):
    """Options of one call for an image of a known number of axes."""

    options: _core.LabelOptions
    words: LabelWords

    @property
    def batch_axes(self) -> int:
        return self.words.batch_axes

    @property
    def channels(self) -> bool:
        return self.words.channels

    def grid(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of the labels: the image's shape without channels."""
        return shape[:-1] if self.channels else shape

    def images(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[: self.batch_axes]

    def axes(self, shape: tuple[int, ...]) -> int:
        return len(self.grid(shape)) - self.batch_axes


def label_request(
    ndim: int,
    *,
    connectivity: int = 1,
    criterion: Criterion = "nonzero",
    background: float | None = 0,
    norm: Norm = "maximum",
    channels: bool = False,
    periodic: Periodic = False,
    batch_axes: int = 0,
    min_size: int = 1,
    max_size: int | None = None,
    largest: int | None = None,
    clear_border: bool = False,
    steps: Sequence[int] = (),
) -> LabelRequest:
    batch = count_of("batch_axes", batch_axes, 0)
    has_channels = flag_of("channels", channels)
    if batch + has_channels >= ndim:
        raise ValueError(
            f"batch_axes is {said(batch)}{' and the last axis holds channels' if has_channels else ''} "
            f"in an image of {ndim} axes; leave at least one axis to label"
        )
    word, tolerance = _criterion_of(criterion)
    _check_background(word, background)
    words = LabelWords(
        connectivity_of(connectivity),
        word,
        tolerance,
        None if background is None else number_of("background", background),
        has_channels,
        word_of("norm", norm, ("maximum", "sum", "euclidean")),
        _periodic_of(periodic, ndim - batch - has_channels),
        batch,
        list(steps),
        count_of("min_size", min_size, 0),
        _MOST if max_size is None else count_of("max_size", max_size, 0),
        _MOST if largest is None else count_of("largest", largest, 0),
        flag_of("clear_border", clear_border),
    )
    return LabelRequest(_core.LabelOptions(*words), words)


def _criterion_of(criterion: Criterion) -> tuple[str, int | float]:
    if isinstance(criterion, str):
        if criterion not in CRITERIA:
            raise ValueError(
                f"criterion is {said(criterion)}; give 'nonzero', 'equal', 'links', or the largest difference of "
                "neighbours as a number"
            )
        return criterion, 0
    if isinstance(criterion, bool) or criterion is None:
        raise TypeError(f"criterion is {said(criterion)}; give 'nonzero', 'equal', 'links', or a number")
    tolerance = number_of("criterion", criterion)
    if not tolerance >= 0:
        raise ValueError(f"criterion is {said(criterion)}; a difference is 0 or more")
    return "within", tolerance


def _check_background(word: str, background: Any) -> None:
    if word == "links" and background is not None and number_of("background", background) != 0:
        raise ValueError(
            f"background is {said(background)}, and criterion='links' has no background; min_size=2 drops cells "
            "without links"
        )
    if word != "nonzero":
        return
    if background is None or number_of("background", background) != 0:
        raise ValueError(
            f"background is {said(background)}, and criterion='nonzero' has zero for its background; "
            "give criterion='equal' or a number"
        )


def connectivity_of(value: Any) -> int:
    """Checks the range only; the library checks which values the number of axes allows."""
    return count_of("connectivity", value, 1, 26)


def _periodic_of(value: Periodic, axes: int) -> list[bool]:
    each = items_of(value)
    if each is None:
        return [flag_of("periodic", value)]
    ends = [flag_of("periodic", one) for one in each]
    if len(ends) != axes:
        raise ValueError(
            f"periodic has {len(ends)} values for an image of {axes} axes; give True, False, or one per axis that is "
            "neither batch nor channel"
        )
    return ends


def lengths_of(spacing: Any, axes: int) -> tuple[float, ...]:
    """One positive length per axis of an image."""
    if spacing is None:
        return (1.0,) * axes
    each = items_of(spacing)
    lengths = tuple(length_of("spacing", one) for one in ([spacing] * axes if each is None else each))
    if len(lengths) != axes:
        raise ValueError(
            f"spacing has {len(lengths)} values for an image of {axes} axes; give one per axis or one for all"
        )
    if not all(one > 0 and math.isfinite(one) for one in lengths):
        raise ValueError(f"spacing is {lengths}; every length must be positive and finite")
    if not 0 < math.prod(lengths) < math.inf:
        raise ValueError(f"spacing is {lengths}, and a cell's size is no finite double; use another unit of length")
    return lengths
