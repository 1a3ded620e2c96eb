"""Centroidal Voronoi diagrams, and images as dots of ink."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY
from nearfield._call import target
from nearfield._capacities import Capacities, counted, diameters, shares_of, with_capacities
from nearfield._dispatch import workplace_of
from nearfield._methods import _on_host
from nearfield._progress import Progress, callable_of
from nearfield._request import (
    Border,
    Request,
    Spacing,
    border_of,
    count_of,
    flag_of,
    length_of,
    said,
    spacing_of,
    threads_of,
    word_of,
)
from nearfield._traced import refuse_traced
from nearfield._untouched import Untouched
from nearfield._workplace import Workplace

Array = np.ndarray[Any, Any]

_TYPES = ("bool", "uint8", "uint16")
_MOST_ROUNDS, _MOST_PARTS = 1_000_000, 8


@dataclass(frozen=True)
class CentroidalVoronoi:
    """Sites at the centroids of their Voronoi regions. Arrays are NumPy's, except `labels`."""

    #: float64, (n, axes): positions in cells, in array order; cell centres are at integers.
    points: Array
    #: float64, (n,): density summed over each region.
    weights: Array
    #: Density times squared distance to the nearest site, summed over parts of cells: before each round, and at last.
    energy: tuple[int, ...]
    #: int32, shape and kind of the density: number of the site nearest to each cell; None unless requested.
    labels: Any
    #: Parts of a cell along each axis, in which sites are placed.
    supersample: int
    #: Report of `capacities`; None without them.
    capacities: Capacities | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class Stipples(CentroidalVoronoi):
    """Points whose density follows an image's darkness. `weights` is in black cells; `energy` is of the last rounds."""

    #: float64, (n,): diameter in cells of a dot that holds the ink of its region.
    sizes: Array


def centroidal_voronoi(
    density: Any,
    sites: Any,
    *,
    rounds: int | None = None,
    relax: float = 1,
    tolerance: float = 0,
    capacities: Any = None,
    supersample: int = 1,
    seed: int = 0,
    spacing: Spacing = None,
    border: Border = "open",
    return_labels: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> CentroidalVoronoi:
    """Moves sites to the centroids of their Voronoi regions, weighted by a density: Lloyd's method, in integers.

    Parameters
    ----------
    density : array of 1 to 3 axes
        Weights of the cells. bool, uint8 and uint16 count as they are. Other types must not be negative; they are
        scaled so that the largest value is 65535, and rounded. A mask gives equal regions of a shape.
    sites : int, or array of shape (n, axes)
        Different positions at which sites begin, in cells; or their number, to sample the density by `seed`.
    rounds : int, optional
        Largest number of rounds; they end earlier if no site moves. Default: 100, with `capacities` 20.
    relax : float
        Factor of the moves. 1 is Lloyd's method, whose energy never rises. Up to 2, sites move so many times as far in
        the first three quarters of the rounds, and reach lower energies sooner. Use 1.9 if regions have a hundred
        parts, 1.5 if they have ten.
    tolerance : float
        Stop if a round of Lloyd's method lowers the energy by less than this share of it. Excludes `capacities`.
    capacities : True or array of shape (n,), optional
        Mass of every region: equal masses, or masses in these ratios. Regions become those of the power diagram whose
        powers give these masses; single parts at their borders move to neighbours. `.capacities` tells how well masses
        are met; 1 % takes a hundred parts a region. With ``rounds=0`` sites stay.
    supersample : int
        Number of places for sites along each axis of a cell, 1 to 8. Time and memory grow by its power.
    spacing : number or sequence, optional
        Length of a cell along each axis, in whole numbers up to 1000. Default: 1.
    border : {'open', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis: nothing, or the other end.
    return_labels : bool
        Also return the number of the nearest site of every cell.
    device, threads, progress
        As in `distance_transform`. The call waits for a GPU.

    Returns
    -------
    CentroidalVoronoi

    Notes
    -----
    centroidal.hpp states the rules, including those for ties. The CPU and GPUs give the same bits, for any number of
    threads.

    References
    ----------
    Du, Faber, Gunzburger, "Centroidal Voronoi tessellations: applications and algorithms", SIAM Review 41(4), 1999.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.centroidal_voronoi([1, 1, 1, 1, 1, 1, 1, 1, 1], [[0], [8]]).points
    array([[2.],
           [6.]])
    """
    call = _Call("density", density, spacing, border, device, threads, progress)
    parts = count_of("supersample", supersample, 1, _MOST_PARTS)
    usual = 100 if capacities is None else 20
    asked = usual if rounds is None else count_of("rounds", rounds, 0, _MOST_ROUNDS)
    far, least = length_of("relax", relax), length_of("tolerance", tolerance)
    labelled = flag_of("return_labels", return_labels)
    origin = count_of("seed", seed, 0, 2**64 - 1)
    if capacities is not None and least != 0:
        raise ValueError(f"tolerance is {least}; leave it out with capacities")
    start = _start(call, sites, parts, origin)
    if capacities is not None:
        return _with_capacities(call, start, capacities, asked, far, parts, labelled)
    with _words():
        moved, weights, energy, labels = call.relaxed(start, asked, far, least, parts, labelled)
    kept = _until_at_rest(energy)
    points = (moved + 0.5) / parts - 0.5
    return CentroidalVoronoi(points, weights / float(parts) ** moved.shape[1], kept, labels, parts)


def stipple(
    image: Any,
    n: int | None = None,
    *,
    size: float | None = None,
    method: Literal["lloyd", "lbg"] = "lloyd",
    rounds: int | None = None,
    seed: int = 0,
    invert: bool = False,
    capacities: bool = False,
    channel_axis: int | None = None,
    supersample: int | None = None,
    spacing: Spacing = None,
    border: Border = "open",
    return_labels: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Stipples:
    """Draws an image as dots of ink: points whose density follows its darkness, and that keep apart from each other.

    Parameters
    ----------
    image : array of 1 to 3 axes, not counting `channel_axis`
        Gray values: bool, uint8, uint16, or floating point from 0 (black) to 1 (white).
    n : int, optional
        Number of points. Give either this or `size`.
    size : float, optional
        Diameter of a dot in cells. The number of points then makes all dots together hold the ink of the image.
    method : {'lloyd', 'lbg'}
        'lloyd' moves samples of the image by `centroidal_voronoi`. 'lbg' (Linde-Buzo-Gray) begins with one point,
        splits points that have much more than their share of the ink, and removes those that have much less.
    rounds : int, optional
        Largest number of rounds. Default: 60 for 'lloyd', 50 for 'lbg'. 0 with 'lloyd' returns the samples.
    seed : int
        Seed of the samples.
    invert : bool
        Draw light dots on black.
    capacities : bool
        Give every point the same ink, by ten more rounds of `centroidal_voronoi` with `capacities`.
    channel_axis : int, optional
        Axis of the channels of a colour image, whose luminance (ITU-R BT.709) is drawn.
    supersample : int, optional
        Number of places for points along each axis of a cell, 1 to 8. Default: 1 to 4, the more the closer points are.
    spacing, border, return_labels, device, threads, progress
        As in `centroidal_voronoi`.

    Returns
    -------
    Stipples

    Notes
    -----
    The CPU and GPUs give the same points, for any number of threads.

    References
    ----------
    Secord, "Weighted Voronoi stippling", NPAR 2002. Deussen, Spicker, Zheng, "Weighted Linde-Buzo-Gray stippling", ACM
    TOG 36(6), 2017.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.stipple([[0.0, 0.0, 1.0, 0.0, 0.0]], 2, supersample=1).points
    array([[0., 0.],
           [0., 3.]])
    """
    gray = image if channel_axis is None else luminance("image", image, channel_axis)
    call = _Call("image", gray, spacing, border, device, threads, progress, of_light=True)
    points = 0 if n is None else count_of("n", n, 1)
    diameter = 0.0 if size is None else length_of("size", size)
    if (n is None) == (size is None) or (size is not None and not diameter > 0):
        raise ValueError(f"n is {said(n)} and size is {said(size)}; give one of them, above 0")
    lbg = word_of("method", method, ("lloyd", "lbg")) == "lbg"
    asked = -1 if rounds is None else count_of("rounds", rounds, 0, _MOST_ROUNDS)
    parts = 0 if supersample is None else count_of("supersample", supersample, 1, _MOST_PARTS)
    drawn = points, diameter, lbg, asked, count_of("seed", seed, 0, 2**64 - 1), flag_of("invert", invert), parts
    labelled, equal = flag_of("return_labels", return_labels), flag_of("capacities", capacities)
    with _words(points="n", density="image"):
        where, weights, energy, parts, full = call.stippled(*drawn)
        if equal:
            shown = call.cells if invert else full - call.cells.astype("uint16")
            made = _with_capacities(call.of(shown), where, True, 10, 1, parts, labelled)
            ink = made.weights / full
            sizes = diameters(ink, where.shape[1])
            return Stipples(made.points, ink, made.energy, made.labels, parts, sizes, capacities=made.capacities)
        labels = call.relaxed(where, 0, 1, 0, parts, True)[3] if labelled else None
    ink = weights / (full * float(parts) ** where.shape[1])
    return Stipples((where + 0.5) / parts - 0.5, ink, energy, labels, parts, diameters(ink, where.shape[1]))


# ---- the calls -------------------------------------------------------------------------------------------------------


@contextmanager
def _words(**renamed: str) -> Iterator[None]:
    """Makes errors of the library name Python's arguments."""
    try:
        yield
    except ValueError as problem:
        text = str(problem)
        for theirs, ours in renamed.items():
            text = re.sub(rf"\b{theirs}\b", ours, text)
        raise ValueError(text) from None


def _start(call: _Call, sites: Any, parts: int, seed: int) -> Array:
    """Returns the first positions of the sites, in parts of cells."""
    shape = call.work.shape
    if isinstance(sites, int) and not isinstance(sites, bool):
        if isinstance(call.work.array, Untouched):  # no values to draw by
            first = np.arange(count_of("sites", sites, 1))
            return np.stack(np.unravel_index(first, np.multiply(shape, parts)), 1).astype("int32")
        with _words(points="sites", image="density", **{"has no ink; .*": "is 0 everywhere", "has ink": "is above 0"}):
            return call.stippled(count_of("sites", sites, 1), 0.0, False, 0, seed, True, parts)[0]
    given = workplace_of("sites", sites)
    rows = _on_host(given.array)
    if rows.ndim != 2 or rows.shape[1] != len(shape):
        raise ValueError(f"sites has shape {rows.shape}; give a number, or (n, {len(shape)})")
    if not np.isfinite(rows).all():
        raise ValueError("sites has values that are NaN or infinite; give coordinates in cells")
    wide = np.floor((rows.astype("float64") + 0.5) * parts)
    if ((wide < 0) | (wide >= np.multiply(shape, parts))).any():
        raise ValueError(f"sites has coordinates outside of the grid of shape {shape}; give coordinates in cells")
    return wide.astype("int32")


def _with_capacities(
    call: _Call, start: Array, capacities: Any, rounds: int, relax: float, parts: int, labelled: bool
) -> CentroidalVoronoi:
    shares = shares_of(capacities, len(start))
    grid = call.options, rounds, relax, parts, call.ordinal, call.threads, call.tell
    with _words():
        moved, mass, energy, labels, made = with_capacities(call.cells, start, shares, *grid)
    points, weights = (moved + 0.5) / parts - 0.5, mass / float(parts) ** moved.shape[1]
    told = call.work.constant(labels) if labelled else None
    return CentroidalVoronoi(points, weights, _wide(energy), told, parts, capacities=made)


def _until_at_rest(energy: tuple[int, ...]) -> tuple[int, ...]:
    """Drops the last rounds, in which nothing changed."""
    last = len(energy) - 1
    while last > 0 and energy[last - 1] == energy[last]:
        last -= 1
    return energy[: last + 1]


def luminance(name: str, image: Any, axis: Any) -> Array:
    """One value for each cell of a colour image, in CPU memory."""
    refuse_traced(name, image)
    colour = _on_host(workplace_of(name, image).array)
    if not -colour.ndim <= count_of("channel_axis", axis, -colour.ndim) < colour.ndim:
        raise ValueError(f"channel_axis is {said(axis)}, but {name} has {colour.ndim} axes")
    first = np.moveaxis(colour, axis, 0)
    if len(first) not in (3, 4):
        raise ValueError(f"channel_axis is {said(axis)}, but {name} has {len(first)} channels there; give 3 or 4")
    red, green, blue = first[:3].astype("float64")
    made: Array = (2126 * red + 7152 * green + 722 * blue) / 10000
    return np.rint(made).astype(colour.dtype) if colour.dtype.kind in "bui" else made


class _Call:
    """A density or an image, and the place of the work. If it is `there`, on the GPU that works, it is not copied."""

    def __init__(
        self,
        name: str,
        x: Any,
        spacing: Spacing,
        border: Border,
        device: str | None,
        threads: int | None,
        progress: Progress,
        of_light: bool = False,
    ) -> None:
        refuse_traced(name, x)
        self.work: Workplace = workplace_of(name, x)
        self.threads, self.tell = threads_of(threads), callable_of(progress)
        self.ordinal = target(device, self.work.place, name)
        ndim = len(self.work.shape)
        if ndim > 3:
            raise ValueError(f"{name} has {ndim} axes; give 1 to 3")
        request = Request((), spacing_of(spacing, ndim, 0), border=border_of(border, ndim, 0))
        with _words(density=name):
            self.options = request.options()
        self.name, self.of_light = name, of_light
        self.there = 0 <= self.ordinal == self.work.place.ordinal and self.work.dtype in _TYPES
        if not self.there:
            _ = self.cells  # refuses values

    @cached_property
    def cells(self) -> Array:
        """The cells on the host, in a type that the library counts in."""
        given = np.ascontiguousarray(_on_host(self.work.array)).reshape(self.work.shape)
        native = given.dtype.name in _TYPES
        if isinstance(self.work.array, Untouched) and not native:  # of a plan
            return Untouched.of(given.shape, "uint16")
        return given if native else counted(self.name, given, self.of_light)

    def of(self, cells: Array) -> _Call:
        other = copy(self)
        other.cells, other.there = np.ascontiguousarray(cells, "uint16"), False
        return other

    def _place(self) -> tuple[int, int, bool, int, Any]:
        return self.ordinal, self.work.place.stream, self.there, self.threads, self.tell

    def _described(self) -> _core.Array:
        return self.work.described() if self.there else NUMPY.describe(self.name, self.cells, False)

    def relaxed(
        self, start: Array, rounds: int, relax: float, tolerance: float, parts: int, labelled: bool
    ) -> tuple[Array, Array, tuple[int, ...], Any]:
        moved, weights = np.empty_like(start), np.empty(len(start), "int64")
        energy = np.empty((rounds + 1, 2), "uint64")
        slot = self.work.empty(self.work.shape, "int32") if labelled and self.there else None
        labels = np.empty(self.work.shape, "int32") if labelled and slot is None else None
        shown = slot.described if slot else None if labels is None else NUMPY.describe("out", labels, True)
        given = NUMPY.describe("sites", np.ascontiguousarray(start), False)
        made, sums, energies = (NUMPY.describe("out", each, True) for each in (moved, weights, energy))
        _core.centroidal_voronoi(self._described(), given, made, sums, energies,
                                 shown, self.options, rounds, relax, tolerance, parts, *self._place())  # fmt: skip
        self.work.finish()
        told = self.work.hand_out(slot) if slot else None if labels is None else self.work.constant(labels)
        return moved, weights, _wide(energy), told

    def stippled(
        self, points: int, size: float, lbg: bool, rounds: int, seed: int, invert: bool, parts: int
    ) -> tuple[Array, Array, tuple[int, ...], int, int]:
        where, weights, energy, used, full = _core.stipple(
            self._described(), points, size, lbg, rounds, seed, invert, parts, self.options, *self._place()
        )
        rows = np.frombuffer(where, "int32").reshape(-1, len(self.work.shape)).copy()
        wide = _wide(np.frombuffer(energy, "uint64").reshape(-1, 2))
        return rows, np.frombuffer(weights, "int64"), wide, used, full


def _wide(pairs: Array) -> tuple[int, ...]:
    return tuple((int(high) << 64) | int(low) for high, low in pairs)
