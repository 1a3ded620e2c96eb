"""Geodesic distances inside a mask, and travel costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._arrays import framework_of, name_of
from nearfield._call import as_numpy
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import (
    Border,
    Request,
    Spacing,
    batch_of,
    border_of,
    check_flags,
    count_of,
    items_of,
    length_of,
    said,
    spacing_of,
    word_of,
)
from nearfield._run_at import RunAt
from nearfield._watershed import markers_of, words
from nearfield._workplace import Workplace

Weights = str | Sequence[int]

_WORDS = ("cityblock", "chessboard", "3-4-5", "5-7-11", "quasi-euclidean", "quasi-euclidean-2", "quasi-euclidean-3")
_TYPES = ("int32", "uint32", "int64", "uint64", "float32", "float64")
_PER_CELL = 4096  # price of the shortest side of a cell


def geodesic(
    mask: Any,
    seeds: Any,
    *,
    weights: Weights = "quasi-euclidean",
    cost: Any = None,
    cost_rule: str = "entered",
    spacing: Spacing = None,
    border: Border = "open",
    cut_corners: bool = True,
    return_sites: bool = False,
    return_labels: bool = False,
    max_cost: float | None = None,
    dtype: Any = None,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Cost of the cheapest path inside a mask from a seed to every cell, exact in integer prices of steps.

    Parameters
    ----------
    mask : array of 1 to 8 axes, on the CPU or a GPU
        Cells that are not zero can be on a path. The call does not change it.
    seeds : array of integers of the same shape, or coordinates
        An array of labels, in which every cell that is not 0 is a seed; or rows of coordinates, ``(n, axes)``, whose
        labels are 1, 2, ... Seeds outside the mask are ignored. An array of the mask's shape holds labels, even where
        it could hold coordinates: those of n seeds in an image of n rows and two columns.
    weights : str or sequence of int
        Prices of steps that change 1, 2, ... coordinates, such as ``(3, 4)``; or 'cityblock' (1), 'chessboard' (1, 1,
        ...), '3-4-5', '5-7-11' (2-D, with knight's moves). The answer then holds sums of these prices, in integers.
        'quasi-euclidean' prices steps to all neighbours by their Euclidean length, in units of 1/4096 of the shortest
        side of a cell. With the suffix '-2' or '-3', steps follow all directions of up to 2 or 3 cells. The answer then
        holds lengths.
    cost : array of integers of up to 32 bits, optional
        Factors of the prices, one for each cell. Cells that are not positive are outside the mask.
    cost_rule : {'entered', 'both'}
        Says which costs multiply a step's price: that of the cell it enters, seen from the seed; or the sum of those of
        both ends, twice the trapezoidal rule.
    spacing : float or sequence, optional
        Length of a cell along each axis, for 'quasi-euclidean'. Default: 1.
    border : {'open', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis: nothing, or its other end.
    cut_corners : bool
        Allow a step past cells outside the mask if the straight line between the centres of its ends only touches
        them.
    return_sites, return_labels : bool
        Also return the coordinates of the seed, int32 of shape ``(axes, ...)``, or -1 without a path; and its label, or
        0 without a path. Among seeds at the same price the one with the smallest coordinates wins, compared from the
        last axis.
    max_cost : float, optional
        Largest cost of a path, in the units of the answer. Cells that cost more have no path.
    dtype : optional
        Type of the costs: int32, uint32, int64, uint64, float32 or float64. Default: float32 for lengths. For prices,
        it is uint32 if the largest possible cost of a path fits, else uint64; a `cost` on a GPU is assumed to hold the
        largest number of its type.
    batch_axes : int
        Number of leading axes that number images; each image is solved by itself. Default: 0.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array, or a tuple of arrays
        Costs, of the kind of `mask` and on its device; cells without a path have the type's maximum, +inf in floats.
        Then coordinates and labels, if requested.

    Notes
    -----
    At every cell but the seeds, the answer is the least sum of a neighbour's cost and the price of the step from it.
    That equation has one solution, so the order of work has no influence: the CPU gives the same bits with any number
    of threads, and so does a GPU, for which the call does not wait. A step of 2**31 prices or more does not exist on a
    GPU; the CPU refuses it.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.geodesic([[1, 1, 1], [0, 0, 1], [1, 1, 1]], [[0, 0]], weights=(3, 4))
    array([[         0,          3,          6],
           [4294967295, 4294967295,          7],
           [        14,         11,         10]], dtype=uint32)
    """
    check_flags(cut_corners=cut_corners, return_sites=return_sites, return_labels=return_labels)
    work = workplace_of("mask", mask)
    batch = batch_of(batch_axes, len(work.shape))
    steps = _Steps(weights, len(work.shape), batch, spacing)
    both = word_of("cost_rule", cost_rule, ("entered", "both")) == "both"
    return _solved(work, seeds, cost, steps, both, border, cut_corners, max_cost, dtype, batch,
                   return_sites, return_labels, device, threads, progress)  # fmt: skip


def travel_cost(
    cost: Any,
    seeds: Any,
    *,
    mask: Any = None,
    weights: Weights = "quasi-euclidean",
    spacing: Spacing = None,
    border: Border = "open",
    cut_corners: bool = True,
    return_sites: bool = False,
    return_labels: bool = False,
    max_cost: float | None = None,
    dtype: Any = "float64",
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Cost of the cheapest journey from a seed: a step costs its length times the mean of the costs of its ends.

    Parameters
    ----------
    cost : array of integers of up to 32 bits
        Cost of a unit of length in each cell. Cells that are not positive cannot be entered. Multiply and round costs
        that have fractions.
    mask : array, optional
        Cells that can be entered. Default: all whose cost is positive.
    seeds, weights, spacing, border, cut_corners, return_sites, return_labels, max_cost, batch_axes, device, threads, \
progress
        As in `geodesic`. Prices of integer weights count as lengths.
    dtype : {'float64', 'float32'}
        Type of the costs.

    Returns
    -------
    array, or a tuple of arrays
        As from `geodesic`.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.travel_cost([1, 3, 3, 1, 1], [[0]])
    array([0., 2., 5., 7., 8.])
    """
    check_flags(cut_corners=cut_corners, return_sites=return_sites, return_labels=return_labels)
    work = workplace_of("cost", cost)
    batch = batch_of(batch_axes, len(work.shape))
    steps = _Steps(weights, len(work.shape), batch, spacing)
    steps.unit /= 2
    if name_of(dtype) not in ("float32", "float64"):
        raise ValueError(f"dtype is {name_of(dtype)}; give float32 or float64")
    cells = work.array > 0 if mask is None else mask
    place = workplace_of("cost" if mask is None else "mask", cells)
    if place.shape != work.shape:
        raise ValueError(f"mask has shape {place.shape} and cost {work.shape}; give the same shape for both")
    return _solved(place, seeds, work.array, steps, True, border, cut_corners, max_cost, dtype, batch,
                   return_sites, return_labels, device, threads, progress)  # fmt: skip


class _Steps:
    """The steps that `weights` asks for: prices by number of changes, or the reach of Euclidean steps."""

    def __init__(self, weights: Weights, ndim: int, batch: int, spacing: Spacing) -> None:
        axes = ndim - batch
        self.prices: list[int] = []
        self.reach, self.knights, self.per_unit, self.unit, self.is_length = 0, False, 1.0, 1.0, False
        self.lengths = list(spacing_of(spacing, ndim, batch))
        given = items_of(weights)
        if given is not None:
            self.prices = [count_of("weights", each, 1, 2**31 - 1) for each in given]
            if not 1 <= len(self.prices) <= axes:
                raise ValueError(f"weights has {len(self.prices)} prices for {axes} axes; give 1 to {axes}")
        else:
            self._of_word(word_of("weights", weights, _WORDS), axes, batch)
        if self.lengths and not self.is_length:
            raise ValueError("spacing goes with weights='quasi-euclidean'; other weights are prices as they are")

    def _of_word(self, word: str, axes: int, batch: int) -> None:
        if word.startswith("quasi"):
            self.is_length = True
            self.reach = int(word.removeprefix("quasi-euclidean").lstrip("-") or 1)
            self.lengths = self.lengths[batch:] if len(self.lengths) > 1 else self.lengths
            if len(self.lengths) not in (0, 1, axes):
                raise ValueError(f"spacing has {len(self.lengths)} values for {axes} axes; give one per axis, or one")
            if not all(each > 0 and 0 < each * each < math.inf for each in self.lengths):
                raise ValueError(f"spacing is {self.lengths}; give positive numbers whose squares a double can hold")
            self.per_unit = _PER_CELL / min(self.lengths, default=1.0)
            self.unit = 1 / self.per_unit
        elif word == "5-7-11":
            if axes != 2:
                raise ValueError(f"weights is '5-7-11' for {axes} axes; give it for 2, or '3-4-5'")
            self.prices, self.knights = [5, 7, 11], True
        else:
            self.prices = {"cityblock": [1], "chessboard": [1] * axes, "3-4-5": [3, 4, 5][:axes]}[word]

    def options(
        self, grid: _core.Options, axes: int, both: bool, cut_corners: bool, max_cost: float
    ) -> _core.GeodesicOptions:
        return _core.GeodesicOptions(
            grid, axes, self.prices, self.knights, self.reach, self.lengths, self.per_unit,
            both, cut_corners, max_cost, self.unit,
        )  # fmt: skip


def _solved(
    work: Workplace, seeds: Any, cost: Any, steps: _Steps, both: bool, border: Border, cut_corners: bool,
    max_cost: float | None, dtype: Any, batch: int, return_sites: bool, return_labels: bool, device: str | None,
    threads: int | None, progress: Progress,
) -> Any:  # fmt: skip
    shape, axes = work.shape, len(work.shape) - batch
    grid = Request((), border=border_of(border, len(shape), batch), batch_axes=batch).options()
    most = math.inf if max_cost is None else length_of("max_cost", max_cost)
    options = steps.options(grid, axes, both, bool(cut_corners), most / steps.unit)
    with words(work.name):
        given = markers_of(work, seeds, "seeds")
    cells = work if work.dtype in ("bool", "uint8") else workplace_of("mask", work.array != 0)
    where = RunAt(cells, device, threads, progress)
    paid = None if cost is None else where.other("cost", _in_32_bits(cost))
    made = [cells.empty(shape, _type_of(dtype, steps, shape, cost))]
    made += [cells.empty((axes, *shape), "int32")] if return_sites else []
    made += [cells.empty(shape, framework_of(given).dtype(given))] if return_labels else []
    sites = made[1].described if return_sites else None
    labels = made[-1].described if return_labels else None
    with words(work.name):
        _core.geodesic(where.read(), where.other("seeds", given), paid, made[0].described, sites, labels, options,
                       *where.place())  # fmt: skip
    cells.finish()
    found = tuple(cells.hand_out(each) for each in made)
    return found if len(found) > 1 else found[0]


def _in_32_bits(cost: Any) -> Any:
    """Converts costs of NumPy's usual 64 bits to uint32 if they fit; those that are not positive become 0."""
    framework = framework_of(cost)
    given = framework.array("cost", cost)
    if framework.dtype(given) not in ("int64", "uint64") or framework.place(given).ordinal >= 0:
        return given
    values = as_numpy(given)
    if values.size and int(values.max()) >= 2**31:
        raise ValueError(f"cost goes up to {int(values.max())}; give costs below 2**31")
    return np.maximum(values, 0).astype(np.uint32)


def _type_of(dtype: Any, steps: _Steps, shape: tuple[int, ...], cost: Any) -> str:
    if dtype is not None:
        name = name_of(dtype)
        if name not in _TYPES or (steps.unit != 1 and not name.startswith("float")):
            raise ValueError(f"dtype is {said(name)}; give {'float32 or float64' if steps.unit != 1 else _TYPES}")
        return name
    if steps.is_length:
        return "float32"
    longest = math.prod(shape) * max(steps.prices)
    dearest = 1 if cost is None else 2 * _dearest(cost)
    return "uint32" if longest * dearest < 2**32 - 1 else "uint64"


def _dearest(cost: Any) -> int:
    """Largest cost; on a GPU, for which no call waits, that of the element type."""
    framework = framework_of(cost)
    given = framework.array("cost", cost)
    if framework.place(given).ordinal < 0:
        return int(np.max(as_numpy(given), initial=1))
    return int(np.iinfo(framework.dtype(given).replace("bool", "uint8")).max)
