"""Interpolates label images between drawn slices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._dispatch import workplace_of
from nearfield._methods import _on_host
from nearfield._progress import Progress
from nearfield._request import Request, Spacing, count_of, flag_of, items_of, length_of, said, spacing_of
from nearfield._run_at import RunAt, in_our_words, packed_of
from nearfield._workplace import Workplace

_FINEST = 1000  # largest denominator for positions that are floats


def interpolate_slices(
    labels: Any,
    axis: int = 0,
    positions: Sequence[float | Rational] | np.ndarray[Any, Any] | None = None,
    *,
    drawn: Sequence[int] | None = None,
    align: bool = False,
    spacing: Spacing = None,
    out: Any = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Makes label images between drawn ones, by the signed distances to their outlines.

    Parameters
    ----------
    labels : array of bool or integers, 2 to 4 axes
        Slices along `axis`; 0 is background. On the CPU or a GPU.
    axis : int
        Axis across the slices; a negative one counts from the last. Default: 0.
    positions : sequence of numbers, optional
        Positions of the answer's slices, counted in slices of `labels`: integers, fractions, or floats, which stand for
        the nearest fraction with a denominator of at most 1000. Default: all slices of `labels`.
    drawn : sequence of ints, optional
        Ascending numbers of the drawn slices; the others are not read. Default: all slices if `positions` are given,
        else those that hold a value other than 0.
    align : bool
        Align the shapes of each label by their centroids first, for shapes that move from slice to slice.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis of `labels`; the one along `axis` has no effect. Default: 1.
    out : array, optional
        Array to fill instead of a new one.
    device, threads, progress
        As in `distance_transform`. On a GPU the call waits to learn which labels the slices hold.

    Returns
    -------
    array
        Labels of the type and kind of `labels`, with a slice for each position along `axis`. The position of a drawn
        slice gives that slice. Slices beyond the outermost drawn ones are 0.

    Notes
    -----
    Between slices a and b, at the share t of the way, a cell gets the label with the smallest ``(1 - t) A + t B``. A
    and B are its distances to the label in both slices, negative within it. Among equals the smaller label wins, and 0
    is a label like the others; a label that only one of the slices holds ends there. `align` reads distances after it
    moves the shapes by the whole cells nearest to the path of their centroids; 0 takes what the other labels leave.
    Roots are compared exactly if the lengths have a common measure: the CPU and GPUs give the same bits.

    References
    ----------
    Raya, Udupa, "Shape-based interpolation of multidimensional objects", IEEE TMI 9(1), 1990.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.interpolate_slices([[1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0]], 0, [0, 0.5, 1])
    array([[1, 1, 0, 0, 0, 0],
           [1, 1, 1, 0, 0, 0],
           [1, 1, 1, 1, 1, 0]])
    """
    work = workplace_of("labels", labels)
    if work.given_dtype.startswith("float"):
        raise TypeError(f"labels has element type {work.given_dtype}; give bool or integers")
    across, axes = _axis_of(axis, len(work.shape)), len(work.shape)
    given = [(k, 1) for k in range(work.shape[across])] if positions is None else _positions_of(positions)
    held = _drawn_of(work, across, drawn, positions is None)
    request = Request((), spacing_of(spacing, axes, 0))
    shape = (*work.shape[:across], len(given), *work.shape[across + 1 :])
    slot = work.empty(shape, work.dtype) if out is None else work.given("out", out)
    where = RunAt(work, device, threads, progress)
    with in_our_words(work.name):
        packed = packed_of(slot) if where.staged else None
        to = slot.described if packed is None else packed.described()
        moves = flag_of("align", align)
        _core.interpolate_slices(where.read(), across, given, to, request.options(), held, moves, *where.place())
        if packed is not None:
            packed.finish()
        work.finish()
    return work.hand_out(slot)


def _axis_of(axis: Any, axes: int) -> int:
    number = count_of("axis", axis, -axes, axes - 1)
    return number + axes if number < 0 else number


def _positions_of(positions: Any) -> list[tuple[int, int]]:
    each = items_of(positions)
    if each is None:
        raise TypeError(f"positions is {said(positions)}; give a sequence of numbers")
    made = []
    for one in each:
        if isinstance(one, Rational) and not isinstance(one, bool):
            at = Fraction(int(one.numerator), int(one.denominator))
        else:
            at = _fraction_of(one)
        if not 0 <= at < 2**31 or at.denominator > 2**20:
            raise ValueError(f"positions has {said(one)}; give numbers of slices from 0, with denominators up to 2**20")
        made.append((at.numerator, at.denominator))
    return made


def _fraction_of(value: Any) -> Fraction:
    number = length_of("positions", value)
    if not 0 <= number < 2**31:
        raise ValueError(f"positions has {said(value)}; give numbers of slices from 0")
    return Fraction(number).limit_denominator(_FINEST)


def _drawn_of(work: Workplace, axis: int, drawn: Any, seen: bool) -> list[int]:
    """Numbers of the drawn slices; empty for all."""
    if drawn is not None:
        each = items_of(drawn)
        if not each:
            raise ValueError(f"drawn is {said(drawn)}; give ascending numbers of slices")
        return [count_of("drawn", one, 0, 2**31) for one in each]
    if not seen:
        return []
    filled = work.array != 0
    for other in reversed(range(len(work.shape))):
        if other != axis:
            filled = filled.any(axis=other)
    return [int(k) for k in np.flatnonzero(_on_host(filled))]
