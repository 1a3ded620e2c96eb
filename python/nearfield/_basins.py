"""Basins of an image, kept for many queries; extrema of a given height."""

from __future__ import annotations

import sys
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, framework_of
from nearfield._call import as_numpy
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress, callable_of
from nearfield._request import Border, check_flags, count_of, length_of, said, threads_of, word_of
from nearfield._watershed import Call, markers_of, options_of, words
from nearfield._workplace import Slot, Workplace

Array = np.ndarray[Any, Any]
Attribute = Literal["height", "area", "volume"]
ATTRIBUTES = ("height", "area", "volume")
PEAK = [("cell", "i8"), ("value", "f8")]  # rows of Call.peaks
_EXTREMUM = [("cell", "i8"), ("value", "f8"), ("saddle", "f8"), ("into", "i8")]
_EXTINCTION = [("cell", "i8"), ("amount", "f8"), ("into", "i8")]


class Extrema(NamedTuple):
    """Minima or maxima, one a row, in raster order of their first cells."""

    coordinates: Array  #: (n, axes) of int64
    value: Array  #: values of the image, float64
    saddle: Array  #: values of the passes to the next lower (higher) extremum; infinite if there is none
    into: Array  #: rows of those extrema; -1 if there is none


class Extinctions(NamedTuple):
    """Ends of regions, one a row, in raster order of the first cells of their minima."""

    coordinates: Array  #: (n, axes) of int64, the minimum of each
    amount: Array  #: attribute at the region's end, float64; infinite if it has none
    into: Array  #: row of the region that absorbs it; -1 if none does


class Basins:
    """The basins of an image and the lowest passes between them. `basins` makes it."""

    def __init__(
        self, name: str, image: Any, connectivity: int, mask: Any, border: Border, maxima: bool, threads: Any, tell: Any
    ) -> None:
        check_flags(maxima=maxima)
        self._work, self._threads = workplace_of(name, image), threads_of(threads)
        self._like = (connectivity, border, maxima)
        self.shape = self._work.shape
        held = None if mask is None else self._work.read("mask", mask)
        with words(name):
            self._graph = _core.Basins(self._work.described(), held, self._options(), *self._place(), callable_of(tell))
        self._work.finish()
        self._type = self._work.dtype

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "Basins: the library's own graph cannot be pickled or copied; hand on the image and call basins"
        )

    def extrema(self, h: float = 0, *, squared: bool = False) -> Extrema:
        """Minima (maxima) of height `h`, as `watershed` takes them."""
        check_flags(squared=squared)
        with words(self._work.name):
            rows = np.frombuffer(self._graph.extrema(length_of("h", h), bool(squared)), _EXTREMUM)
        value, saddle, into = (rows[name].copy() for name in ("value", "saddle", "into"))
        return Extrema(self._coordinates(rows["cell"]), value, saddle, into)

    def peaks(self, h: float = 0, *, squared: bool = False) -> Array:
        """Coordinates of the extrema of height `h`, ``(n, axes)``: the lowest minimum or highest maximum first."""
        check_flags(squared=squared)
        with words(self._work.name):
            rows = self._graph.peaks(length_of("h", h), bool(squared), self.shape)
        return np.frombuffer(rows, np.int64).reshape(-1, len(self.shape)).copy()

    def marks(self, h: float = 0, *, squared: bool = False) -> Any:
        """Marks all cells of the minima (maxima) of height `h`, as bool. Equal ones that merge are all marked."""
        check_flags(squared=squared)
        made = self._empty("bool")
        with words(self._work.name):
            self._graph.mark(made.described, length_of("h", h), bool(squared), *self._place())
        return self._hand_out(made)

    def watershed(
        self, markers: Any = None, *, h: float = 0, squared: bool = False, lines: bool = False,
        return_passes: bool = False,
    ) -> Any:  # fmt: skip
        """Watershed of the image, as by the function `watershed`."""
        check_flags(squared=squared, lines=lines, return_passes=return_passes)
        given = None if markers is None else markers_of(self._work, markers)
        if given is not None and self._on_host():
            given = np.asarray(as_numpy(given))
        label = self._empty("int32" if given is None else framework_of(given).dtype(given))
        passes = self._empty(self._type) if return_passes else None
        held = None if given is None else self._work.read("markers", given)
        levels = None if passes is None else passes.described
        with words(self._work.name):
            self._graph.watershed(held, label.described, levels, self._options(lines, h, squared), *self._place())
        made = self._hand_out(label)
        return made if passes is None else (made, self._hand_out(passes))

    def extinctions(self, by: Attribute = "height", *, squared: bool = False) -> Extinctions:
        """Ends of the regions of all minima (maxima) as water rises from them, in raster order.

        If regions meet at a pass, the one with the largest attribute absorbs the others; among equals the one with the
        lower minimum does, then the first. A region's lake consists of the cells below the pass that are connected to
        its minimum. 'height' is the lake's depth, 'area' its number of cells, 'volume' the sum of the pass less the
        values of its cells. All are exact for integers; volumes of floating-point images use values rounded to 2^-62
        of the largest.
        """
        check_flags(squared=squared)
        how = _attribute_of("by", by, squared)
        with words(self._work.name):
            rows = np.frombuffer(self._graph.extinctions(how, bool(squared)), _EXTINCTION)
        return Extinctions(self._coordinates(rows["cell"]), rows["amount"].copy(), rows["into"].copy())

    def cut(
        self, h: float | None = None, *, volume: float | None = None, area: float | None = None,
        regions: int | None = None, by: Attribute = "height", squared: bool = False,
    ) -> Any:  # fmt: skip
        """Cuts the hierarchy: merges regions of the watershed from all minima. int32, from 1 in raster order.

        `h`, `volume` and `area` merge regions that end below that amount. `regions` keeps this many: those that end
        with the largest attribute `by`. A cut of a larger amount, or of fewer regions, only merges regions. Every
        connected part keeps one.
        """
        check_flags(squared=squared)
        given = {"height": h, "volume": volume, "area": area, "regions": regions}
        named = [name for name, each in given.items() if each is not None]
        if len(named) != 1:
            raise TypeError("h, volume, area and regions: give one of them")
        if named[0] == "regions":
            how, least, most = _attribute_of("by", by, squared), 0.0, count_of("regions", regions, 1)
        else:
            how, least, most = _attribute_of("by", named[0], squared), length_of(named[0], given[named[0]]), 0
        made = self._empty("int32")
        with words(self._work.name, least="h" if named[0] == "height" else named[0]):
            self._graph.cut(made.described, how, least, most, bool(squared), *self._place())
        return self._hand_out(made)

    def passes(self, a: Any, b: Any) -> Array:
        """Lowest values over which pairs of cells are connected, float64; infinite if they are not.

        `a` and `b` are rows of coordinates, ``(n, axes)``.
        """
        cells = [self._cells(name, x) for name, x in (("a", a), ("b", b))]
        with words(self._work.name):
            return np.array(self._graph.passes(*cells), float)

    def _on_host(self) -> bool:
        return self._work.place.ordinal < 0

    def _place(self) -> tuple[int, int, int]:
        """Where a question runs: the basins' device, the caller's current stream there, threads."""
        stream = 0 if self._on_host() else self._work.framework.place(self._work.array).stream
        return self._work.place.ordinal, stream, self._threads

    def _empty(self, dtype: str) -> Slot:
        if not self._on_host():
            return self._work.empty(self.shape, dtype)
        made = np.empty(self.shape, dtype)
        return Slot(made, NUMPY.describe("out", made, True))

    def _hand_out(self, slot: Slot) -> Any:
        if self._on_host():
            return slot.array
        self._work.finish()
        return self._work.hand_out(slot)

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

    def _coordinates(self, cells: Array) -> Array:
        where = np.unravel_index(cells, self.shape) if len(cells) else [[]] * len(self.shape)
        return np.stack([np.asarray(w, np.int64) for w in where], axis=1)


def _attribute_of(name: str, by: Any, squared: bool) -> int:
    how = word_of(name, by, ATTRIBUTES)
    if squared and how != "height":
        raise ValueError(f"squared goes with heights, not {name}={how!r}; leave it out")
    return ATTRIBUTES.index(how)


def basins(
    image: Any, *, connectivity: int = 1, mask: Any = None, border: Border = "open", maxima: bool = False,
    threads: int | None = None, progress: Progress = None,
) -> Basins:  # fmt: skip
    """Finds the basins of an image and the lowest passes between them, for many queries.

    Parameters
    ----------
    image : array of 1 to 8 axes; on a GPU 1 to 3
        As in `watershed`. On a GPU the cells stay there, in 45 bytes each (70 for types of 8 bytes); all calls wait.
    connectivity, mask, border, maxima, threads, progress
        As in `watershed`.

    Returns
    -------
    Basins
        An object with the methods `extrema`, `peaks`, `marks`, `watershed`, `cut`, `extinctions` and `passes`. Answers
        for every cell are on the device of `image`, lists are NumPy's.

    Examples
    --------
    >>> import nearfield as nf
    >>> found = nf.basins([0, 1, 3, 2, 0, 2, 1])
    >>> found.peaks(h=2).tolist()
    [[0], [4]]
    >>> found.cut(regions=2)
    array([1, 1, 1, 2, 2, 2, 2], dtype=int32)
    >>> found.extinctions("volume").amount
    array([ 5., inf,  1.])
    >>> found.cut(volume=2)
    array([1, 1, 1, 2, 2, 2, 2], dtype=int32)
    >>> found.passes([[0], [4]], [[4], [6]])
    array([3., 2.])
    """
    return Basins("image", image, connectivity, mask, border, maxima, threads, progress)


watershed_hierarchy = basins


def h_maxima(
    image: Any,
    h: float,
    *,
    squared: bool = False,
    connectivity: int = 1,
    mask: Any = None,
    border: Border = "open",
    device: str | None = None,
    threads: int | None = None,
) -> Any:
    """Marks all cells of maxima from which every path to a higher one falls by at least `h`.

    Parameters
    ----------
    image : array
        As in `watershed`.
    h : float
        Height, in units of the image; with `squared`, in units of the roots of its values. 0 takes every maximum.
    squared, connectivity, mask, border, device, threads
        As in `watershed`.

    Returns
    -------
    array of bool
        The marks. Equal maxima that are connected above their height less `h` are all marked.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.h_maxima([0, 3, 1, 2, 0], 2).astype(int)
    array([0, 1, 0, 0, 0])
    """
    return _marks(image, h, squared, connectivity, mask, border, True, device, threads)


def h_minima(
    image: Any,
    h: float,
    *,
    squared: bool = False,
    connectivity: int = 1,
    mask: Any = None,
    border: Border = "open",
    device: str | None = None,
    threads: int | None = None,
) -> Any:
    """Marks all cells of minima from which every path to a lower one rises by at least `h`; as `h_maxima`.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.h_minima([3, 0, 2, 1, 3], 2).astype(int)
    array([0, 1, 0, 0, 0])
    """
    return _marks(image, h, squared, connectivity, mask, border, False, device, threads)


def regional_maxima(
    image: Any,
    *,
    connectivity: int = 1,
    mask: Any = None,
    border: Border = "open",
    device: str | None = None,
    threads: int | None = None,
) -> Any:
    """Marks all cells of maxima, plateaus without a higher neighbour, as bool; arguments as in `h_maxima`.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.regional_maxima([0, 3, 3, 2, 4]).astype(int)
    array([0, 1, 1, 0, 1])
    """
    return _marks(image, 0, False, connectivity, mask, border, True, device, threads)


def _marks(
    image: Any, h: float, squared: bool, connectivity: int, mask: Any, border: Border, maxima: bool, device: str | None,
    threads: int | None,
) -> Any:  # fmt: skip
    check_flags(squared=squared)
    work = workplace_of("image", image)
    options = options_of(len(work.shape), connectivity, border, maxima, False, h, squared)
    found = work.empty(work.shape, "bool")
    call = Call(work, device, threads, None)
    with words("image"):
        call.flood(None, mask, None, None, options, found)
    return work.hand_out(found)


def peaks(
    distance: Any,
    *,
    h: float = 0,
    min_distance: float = 0,
    labels: Any = None,
    squared: bool = False,
    connectivity: int | None = None,
    border: Border = "open",
    device: str | None = None,
    threads: int | None = None,
) -> Array:
    """Finds the peaks of a distance: one cell for each maximum that stands `h` above its pass to a higher one.

    Parameters
    ----------
    distance : array
        Any image; values of 0 and less are background. On a GPU as in `watershed`; the call waits for it.
    h : float
        Least height of a peak.
    min_distance : float
        If two peaks are nearer to each other than this, in cells, only the higher one is kept.
    labels : array of integers, optional
        Regions whose peaks are found separately, all in one pass. There are none where it is 0.
    squared : bool
        `distance` holds squared distances. `h` is a length all the same, and heights are compared exactly.
    connectivity : int, optional
        As in `watershed`. Default: all cells that share a corner are neighbours.
    border, device, threads
        As in `watershed`.

    Returns
    -------
    array of int64, (n, axes), of NumPy
        Coordinates of the peaks, the highest first; among equals, the first in raster order.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.peaks([0, 1, 2, 1, 2, 3, 1], h=1).tolist()
    [[5], [2]]
    >>> nf.peaks([0, 1, 2, 1, 2, 3, 1], h=1.5).tolist()
    [[5]]
    """
    check_flags(squared=squared)
    work, apart = workplace_of("distance", distance), length_of("min_distance", min_distance)
    if not apart >= 0:
        raise ValueError(f"min_distance is {apart:g}; give a length of 0 or more, in cells")
    axes = len(work.shape)
    options = options_of(axes, axes if connectivity is None else connectivity, border, True, False, h, squared)
    with words("distance"):
        rows = Call(work, device, threads, None).peaks(_positive(work), labels, options)
    return sorted_peaks(rows, work, apart)


def _positive(work: Workplace) -> Any:
    """Where the image is above 0. PyTorch compares no unsigned integers of more than 8 bits on a GPU."""
    if work.framework.name == "torch" and work.dtype in ("uint16", "uint32", "uint64"):
        return work.array.view(getattr(sys.modules["torch"], work.dtype[1:])) != 0
    return work.array > 0


def sorted_peaks(rows: bytes, work: Workplace, apart: float) -> Array:
    """Coordinates of peaks of an image, the highest first; of equal ones the first in raster order."""
    place = work.place
    cells = np.frombuffer(_core.sorted_peaks(rows, work.shape, apart, place.ordinal, place.stream), PEAK)["cell"]
    made: Array = np.stack(np.unravel_index(cells, work.shape), axis=1).astype(np.int64)
    return made
