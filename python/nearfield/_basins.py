"""The basins of an image, kept for many questions; extrema of a given height."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY
from nearfield._call import as_numpy
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress, callable_of
from nearfield._request import Border, check_flags, count_of, length_of, said, threads_of
from nearfield._watershed import markers_of, options_of, words
from nearfield._workplace import Workplace

Array = np.ndarray[Any, Any]


class Extrema(NamedTuple):
    """Minima or maxima, one in each row, in raster order of their first cells."""

    coordinates: Array  #: (n, axes) of int64
    value: Array  #: of the image, float64
    saddle: Array  #: value of the pass to the next lower (higher) one; infinite where there is none
    into: Array  #: row of that one; -1: none


class Basins:
    """The basins of an image and the lowest passes between them; made by `basins`."""

    def __init__(
        self, name: str, image: Any, connectivity: int, mask: Any, border: Border, maxima: bool, threads: Any, tell: Any
    ) -> None:
        check_flags(maxima=maxima)
        self._work, self._threads, self._maxima = on_host(name, image), threads_of(threads), bool(maxima)
        self._like = (connectivity, border, maxima)
        self.shape = self._work.shape
        held = None if mask is None else self._work.read("mask", mask)
        with words(name):
            self._graph = _core.Basins(self._work.described(), held, self._options(), self._threads, callable_of(tell))
        self._type = self._work.dtype

    def extrema(self, h: float = 0, *, squared: bool = False) -> Extrema:
        """Minima (maxima) of a height, as `watershed` takes them."""
        check_flags(squared=squared)
        with words(self._work.name):
            rows = self._graph.extrema(length_of("h", h), bool(squared))
        cell, value, saddle, into = (np.array(column) for column in zip(*rows)) if rows else ([], [], [], [])
        where = np.unravel_index(np.asarray(cell, np.int64), self.shape) if rows else [[]] * len(self.shape)
        coordinates = np.stack([np.asarray(w, np.int64) for w in where], axis=1)
        return Extrema(coordinates, np.asarray(value, float), np.asarray(saddle, float), np.asarray(into, np.int64))

    def peaks(self, h: float = 0, *, squared: bool = False) -> Array:
        """Coordinates of the extrema of a height, ``(n, axes)``: the lowest minimum, or the highest maximum, first."""
        found = self.extrema(h, squared=squared)
        order = np.argsort(-found.value if self._maxima else found.value, kind="stable")
        made: Array = found.coordinates[order]
        return made

    def marks(self, h: float = 0, *, squared: bool = False) -> Array:
        """All cells of the minima (maxima) of a height; of equal ones that merge all are marked. Bool."""
        check_flags(squared=squared)
        made = np.empty(self.shape, bool)
        with words(self._work.name):
            self._graph.mark(NUMPY.describe("out", made, True), length_of("h", h), bool(squared), self._threads)
        return made

    def watershed(
        self, markers: Any = None, *, h: float = 0, squared: bool = False, lines: bool = False,
        return_passes: bool = False,
    ) -> Any:  # fmt: skip
        """The watershed of the image, as the function."""
        check_flags(squared=squared, lines=lines, return_passes=return_passes)
        given = None if markers is None else np.asarray(as_numpy(markers_of(self._work, markers)))
        label = np.empty(self.shape, "int32" if given is None else given.dtype)
        passes = np.empty(self.shape, self._type) if return_passes else None
        held = None if given is None else NUMPY.describe("markers", given, False)
        levels = None if passes is None else NUMPY.describe("passes", passes, True)
        with words(self._work.name):
            self._graph.watershed(
                held, NUMPY.describe("out", label, True), levels, self._options(lines, h, squared), self._threads
            )
        return label if passes is None else (label, passes)

    def cut(self, h: float | None = None, *, regions: int | None = None, squared: bool = False) -> Array:
        """Regions of the hierarchy: those of all minima, merged over the lowest passes first. int32, from 1.

        `h` merges what `watershed` would give no marker; `regions` leaves so many, those of the greatest heights. A cut
        of a larger `h`, or of fewer regions, only merges regions.
        """
        if (h is None) == (regions is None):
            raise TypeError("h and regions are both given or both left out; give one of them")
        every = self.extrema(0, squared=squared)
        if h is not None:
            stay = self._numbers(self.extrema(h, squared=squared), every)
        else:
            stay = np.sort(self._highest(every, squared)[: count_of("regions", regions, 1)])
        number = np.zeros(len(every.into) + 1, np.int32)
        number[stay + 1] = np.arange(1, len(stay) + 1)
        # Who merges later is lower: from there on every number is known.
        for i in self._highest(every, squared):
            if number[i + 1] == 0 and every.into[i] >= 0:
                number[i + 1] = number[every.into[i] + 1]
        made: Array = number[self.watershed(squared=squared)]
        return made

    def passes(self, a: Any, b: Any) -> Array:
        """The lowest values over which cells hang together, pair by pair; infinite where they do not. float64.

        `a` and `b` are rows of coordinates, ``(n, axes)``.
        """
        cells = [self._cells(name, x) for name, x in (("a", a), ("b", b))]
        with words(self._work.name):
            return np.array(self._graph.passes(*cells), float)

    def _options(self, lines: bool = False, h: float = 0, squared: bool = False) -> _core.WatershedOptions:
        connectivity, border, maxima = self._like
        return options_of(len(self._work.shape), connectivity, border, maxima, lines, h, squared)

    def _cells(self, name: str, x: Any) -> list[int]:
        rows = np.atleast_2d(np.asarray(x))
        if rows.ndim != 2 or rows.shape[1] != len(self.shape) or rows.dtype.kind not in "iu":
            raise ValueError(f"{name} is {said(x)}; give rows of {len(self.shape)} coordinates")
        if not ((rows >= 0) & (rows < np.asarray(self.shape))).all():
            raise ValueError(f"{name} has coordinates outside of the shape {self.shape}; give cells of it")
        return [int(i) for i in np.ravel_multi_index(tuple(rows.T), self.shape)]

    def _numbers(self, some: Extrema, every: Extrema) -> Array:
        """Rows of `every` in which those of `some` stand."""
        cells = [np.ravel_multi_index(tuple(each.coordinates.T), self.shape) for each in (some, every)]
        made: Array = np.searchsorted(cells[1], cells[0])
        return made

    def _highest(self, every: Extrema, squared: bool) -> Array:
        """Rows by height, the greatest first; of equal ones the lowest minimum, then the first."""
        value, saddle = (np.sqrt(each) if squared else each for each in (every.value, every.saddle))
        height = np.where(every.into < 0, np.inf, np.abs(saddle - value))
        return np.lexsort((np.arange(len(value)), -value if self._maxima else value, -height))


def basins(
    image: Any,
    *,
    connectivity: int = 1,
    mask: Any = None,
    border: Border = "open",
    maxima: bool = False,
    threads: int | None = None,
    progress: Progress = None,
) -> Basins:
    """The basins of an image and the lowest passes between them: made once, asked many times.

    Parameters
    ----------
    image : array on the CPU, 1 to 8 axes
        As in `watershed`.
    connectivity, mask, border, maxima, threads, progress
        As in `watershed`.

    Returns
    -------
    Basins
        Its methods are `extrema`, `peaks`, `marks`, `watershed`, `cut` and `passes`.

    Examples
    --------
    >>> import nearfield as nf
    >>> found = nf.basins([0, 1, 3, 2, 0, 2, 1])
    >>> found.peaks(h=2).tolist()
    [[0], [4]]
    >>> found.cut(regions=2)
    array([1, 1, 1, 2, 2, 2, 2], dtype=int32)
    >>> found.passes([[0], [4]], [[4], [6]])
    array([3., 2.])
    """
    return Basins("image", image, connectivity, mask, border, maxima, threads, progress)


def h_maxima(
    image: Any,
    h: float,
    *,
    squared: bool = False,
    connectivity: int = 1,
    mask: Any = None,
    border: Border = "open",
    threads: int | None = None,
) -> Array:
    """All cells of maxima from which every way to a higher one falls by at least `h`. Bool.

    Parameters
    ----------
    image : array on the CPU
    h : float
        In units of the image, with `squared` of the roots of its values. 0: every maximum.
    squared, connectivity, mask, border, threads
        As in `watershed`.

    Returns
    -------
    array of bool
        Equal maxima that hang together above their height less `h` are all marked.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.h_maxima([0, 3, 1, 2, 0], 2).astype(int)
    array([0, 1, 0, 0, 0])
    """
    return Basins("image", image, connectivity, mask, border, True, threads, None).marks(h, squared=squared)


def h_minima(
    image: Any,
    h: float,
    *,
    squared: bool = False,
    connectivity: int = 1,
    mask: Any = None,
    border: Border = "open",
    threads: int | None = None,
) -> Array:
    """All cells of minima from which every way to a lower one rises by at least `h`. Bool; as `h_maxima`.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.h_minima([3, 0, 2, 1, 3], 2).astype(int)
    array([0, 1, 0, 0, 0])
    """
    return Basins("image", image, connectivity, mask, border, False, threads, None).marks(h, squared=squared)


def regional_maxima(
    image: Any,
    *,
    connectivity: int = 1,
    mask: Any = None,
    border: Border = "open",
    threads: int | None = None,
) -> Array:
    """All cells of maxima: plateaus without a higher neighbour. Bool; arguments as `h_maxima`.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.regional_maxima([0, 3, 3, 2, 4]).astype(int)
    array([0, 1, 1, 0, 1])
    """
    return Basins("image", image, connectivity, mask, border, True, threads, None).marks()


def peaks(
    distance: Any,
    *,
    h: float = 0,
    min_distance: float = 0,
    labels: Any = None,
    squared: bool = False,
    connectivity: int | None = None,
    border: Border = "open",
    threads: int | None = None,
) -> Array:
    """The peaks of a distance: one cell for each maximum that stands `h` above its pass to a higher one.

    Parameters
    ----------
    distance : array on the CPU
        Any image; 0 and less is background.
    h : float
        Height of a peak at least.
    min_distance : float
        Of two peaks nearer to each other than this, in cells, only the higher one is kept.
    labels : array of integers, optional
        Peaks of every label by itself, and none where it is 0.
    squared : bool
        `distance` holds squared distances; `h` is a length all the same, and compared exactly.
    connectivity : int, optional
        As in `watershed`; default: all cells that share a corner are neighbours.
    border, threads
        As in `watershed`.

    Returns
    -------
    array of int64, (n, axes)
        Coordinates, the highest peak first; of equal ones the first in raster order.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.peaks([0, 1, 2, 1, 2, 3, 1], h=1).tolist()
    [[5], [2]]
    >>> nf.peaks([0, 1, 2, 1, 2, 3, 1], h=1.5).tolist()
    [[5]]
    """
    check_flags(squared=squared)
    work, apart = on_host("distance", distance), length_of("min_distance", min_distance)
    values = np.asarray(as_numpy(work.array))
    near = len(work.shape) if connectivity is None else connectivity
    inside = values > 0
    if labels is None:
        found = Basins("distance", values, near, inside, border, True, threads, None).peaks(h, squared=squared)
    else:
        found = _of_labels(values, inside, labels, lambda part, cells: Basins(
            "distance", part, near, cells, border, True, threads, None).peaks(h, squared=squared))  # fmt: skip
    return _apart(found, apart)


def _of_labels(values: Array, inside: Array, labels: Any, peaks_of: Any) -> Array:
    """Peaks of every label, all together by height."""
    given = np.asarray(as_numpy(on_host("labels", labels).array))
    if given.shape != values.shape or given.dtype.kind not in "biu":
        raise ValueError(f"labels has shape {given.shape} of {given.dtype}; give integers of shape {values.shape}")
    found = [np.empty((0, values.ndim), np.int64)]
    found += [peaks_of(values, inside & (given == each)) for each in np.unique(given[inside]) if each != 0]
    together = np.concatenate(found)
    cell = np.ravel_multi_index(tuple(together.T), values.shape) if len(together) else np.empty(0, np.int64)
    return together[np.lexsort((cell, -values[tuple(together.T)].astype(float)))]


def _apart(found: Array, least: float) -> Array:
    """From the highest on, what is as far as that from all that were kept."""
    if least == 0:
        return found
    kept: list[int] = []
    for i, each in enumerate(found):
        if not kept or (((found[kept] - each) ** 2).sum(axis=1) >= least * least).all():
            kept.append(i)
    return found[kept]


def on_host(name: str, image: Any) -> Workplace:
    work = workplace_of(name, image)
    if work.place.ordinal >= 0:
        raise ValueError(f"{name} is on {work.place}, and basins are kept on the CPU; give a copy there")
    return work
