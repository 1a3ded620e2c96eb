"""Medial axes of shapes, and shapes rebuilt from balls."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import (
    Border,
    Request,
    Sites,
    Spacing,
    batch_of,
    border_of,
    check_flags,
    length_of,
    request_for,
    spacing_of,
    word_of,
)
from nearfield._run_at import RunAt, described_of, filled, in_our_words, packed_of
from nearfield._traced import is_traced
from nearfield._workplace import Slot

AxisMethod = Literal["integer", "balls", "reduced"]
Pruning = Literal["constant", "linear", "sqrt", "angle"]
METHODS = ("integer", "balls", "reduced")
PRUNINGS = ("constant", "linear", "sqrt", "angle")
_USUAL_GAMMA = {"constant": 1.0, "linear": 0.5, "sqrt": 1.0, "angle": 60.0}


def medial_axis(
    mask: Any,
    *,
    method: AxisMethod = "integer",
    pruning: Pruning = "constant",
    gamma: float | None = None,
    spacing: Spacing = None,
    sites: Sites = "zero",
    multilabel: bool = False,
    border: Border = "open",
    return_distance: bool = False,
    squared: bool = False,
    return_sites: bool = False,
    out: Any = None,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Medial axis of a shape: cells whose nearest sites outside lie apart from those of a neighbour.

    Parameters
    ----------
    mask : array of 1 to 3 axes, besides those of a batch
        Cells that are not zero are the shape. Any element type, on the CPU or a GPU.
    method : {'integer', 'balls', 'reduced'}
        'integer': the integer medial axis of Hesselink and Roerdink. 'balls': centres of balls that no neighbour's ball
        is known to contain. 'reduced': those of these centres that own a cell of the shape in their power diagram.
        `reconstruct` restores the shape exactly from the last two.
    pruning, gamma : {'constant', 'linear', 'sqrt', 'angle'} and number
        Rule of 'integer' for the neighbours that count, by the distance between their sites. The distance exceeds
        `gamma`, a length (constant, default 1, which keeps all); or `gamma` times the sum of the distances to the sites
        (linear, 0.5); or that plus a root (sqrt, 1); or the sites are seen under at least `gamma` degrees (angle, 60).
        docs/medial-axis.md has the formulas.
    multilabel : bool
        Treat every label as a shape of its own, all in one pass, as in `distance_transform`; zero is background.
    return_distance, squared : bool
        Also return the distances of all cells as float32, or with `squared` their squares, which are exact integers if
        the spacing is integral. They are the radii that `reconstruct` takes.
    return_sites : bool
        Also return linear indices of shape ``(2, *mask.shape)``, int32, or int64 if that does not suffice. The first
        array holds every cell's nearest site. The second holds, for cells of the axis, the site of the neighbour that
        puts them there. -1 stands for none.
    out : array, optional
        Array of bool or uint8 to fill instead of a new one.
    spacing, sites, border, batch_axes, device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array or tuple of arrays
        The axis as bool, then the distances and the sites if requested.

    Notes
    -----
    The axis may be two cells thick and need not be connected: use it to measure, not to trace curves. The CPU and GPUs
    give the same bits; on a GPU the call does not wait.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.medial_axis([0, 1, 1, 1, 0]).astype(int)
    array([0, 0, 1, 0, 0])
    >>> axis, radius2 = nf.medial_axis([0, 1, 1, 1, 1, 0], method="balls", return_distance=True, squared=True)
    >>> nf.reconstruct(axis, radius2).astype(int)
    array([0, 1, 1, 1, 1, 0])
    """
    check_flags(return_distance=return_distance, squared=squared, return_sites=return_sites, multilabel=multilabel)
    how, prune = word_of("method", method, METHODS), word_of("pruning", pruning, PRUNINGS)
    if how != "integer" and (prune != "constant" or gamma is not None):
        raise ValueError(f"pruning and gamma go with method='integer', not {how!r}; leave them out")
    reach = _USUAL_GAMMA[prune] if gamma is None else length_of("gamma", gamma)
    words: dict[str, Any] = {"spacing": spacing, "sites": sites, "multilabel": multilabel}
    words |= {"border": border, "batch_axes": batch_axes}
    if is_traced(mask):
        words |= {"method": method, "pruning": pruning, "gamma": gamma, "device": device, "threads": threads}
        return _called_back(mask, out, return_distance or squared or return_sites, **words)
    work = workplace_of("mask", mask)
    request = request_for(len(work.shape), signed=False, half_cell=False, max_distance=None, **words)
    axis = work.empty(work.shape, "bool") if out is None else work.given("out", out)
    distance, two = None, None
    if return_distance or squared:
        kind = _core.squared_distance_type(list(work.shape), request.options()) if squared else "float32"
        distance = work.empty(work.shape, kind)
    if return_sites:
        two = work.empty((2, *work.shape), "int32" if math.prod(work.shape) < 2**31 else "int64")
    place = RunAt(work, device, threads, progress)
    with in_our_words(work.name):
        rule = METHODS.index(how), PRUNINGS.index(prune), reach
        _axis(place, axis, None if squared else distance, distance if squared else None, two, request, rule)
    found = [work.hand_out(slot) for slot in (axis, distance, two) if slot is not None]
    return found[0] if len(found) == 1 else tuple(found)


def _called_back(mask: Any, out: Any, more: bool, **words: Any) -> Any:
    """Runs the call under jax.jit."""
    from nearfield import _jax_workplace

    if more:
        raise TypeError("under jax.jit medial_axis gives the axis alone; distances are those of distance_transform")
    return _jax_workplace.called_back(medial_axis, "mask", mask, mask.shape, "bool", out, False, **words)


def reconstruct(
    axis: Any,
    squared: Any,
    *,
    spacing: Spacing = None,
    border: Border = "open",
    out: Any = None,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """The union of balls: all cells nearer to a cell of the axis than that cell's radius.

    Parameters
    ----------
    axis : array of bool or integers, 1 to 3 axes besides those of a batch
        Cells that are not zero are centres of balls. A ball's cells take its centre's value: labels give labels.
    squared : array of the same shape
        Squared radii in squared units of `spacing`, such as from ``medial_axis(..., squared=True)``. Only cells of the
        axis are read.
    out : array, optional
        Array of the type of `axis` to fill instead of a new one.
    spacing, border, batch_axes, device, threads, progress
        As in `medial_axis`; a closed border has the effect of an open one.

    Returns
    -------
    array
        Shape and type of `axis`; cells outside all balls get 0. If several balls hold a cell, the one with the smallest
        squared distance less squared radius wins.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.reconstruct([0, 0, 3, 0, 0, 0], [0, 0, 4, 0, 0, 0])
    array([0, 3, 3, 3, 0, 0])
    """
    work = workplace_of("axis", axis)
    if work.given_dtype.startswith("float"):
        raise TypeError(f"axis has element type {work.given_dtype}; give bool or integers")
    ndim = len(work.shape)
    batch = batch_of(batch_axes, ndim)
    request = Request((), spacing_of(spacing, ndim, batch), border=border_of(border, ndim, batch), batch_axes=batch)
    made = work.empty(work.shape, work.dtype) if out is None else work.given("out", out)
    place = RunAt(work, device, threads, progress)

    def call(read: _core.Array, to: _core.Array) -> None:
        _core.reconstruct(read, place.other("squared", squared), to, request.options(), *place.place())

    return filled(work, made, place, call)


# ---- the calls -------------------------------------------------------------------------------------------------------


def _axis(
    at: RunAt,
    axis: Slot,
    distance: Slot | None,
    squared: Slot | None,
    two: Slot | None,
    request: Request,
    how: tuple[int, int, float],
) -> None:
    packed = packed_of(axis) if at.staged else None
    first = axis.described if packed is None else packed.described()
    out = (first, described_of(distance), described_of(squared), *_halves(two))
    method, pruning, gamma = how
    _core.medial_axis(at.read(), out, request.options(), method, pruning, gamma, *at.place())
    if packed is not None:
        packed.finish()
    at.work.finish()


def _halves(two: Slot | None) -> tuple[_core.Array | None, _core.Array | None]:
    """Splits an array made here, and so contiguous, into its two arrays."""
    if two is None:
        return None, None
    whole = two.described
    shape = whole.shape[1:]
    bytes_of_one = math.prod(shape) * np.dtype(whole.dtype).itemsize
    return (
        _core.Array(whole.data, whole.dtype, shape, None, whole),
        _core.Array(whole.data + bytes_of_one, whole.dtype, shape, None, whole),
    )
