"""Watersheds, floods and reconstructions: all follow from the lowest pass between two cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._arrays import framework_of
from nearfield._call import as_numpy
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import (
    Border,
    Request,
    border_of,
    check_flags,
    count_of,
    flag_of,
    length_of,
    number_of,
    said,
    word_of,
)
from nearfield._run_at import RunAt, described_of, packed_of
from nearfield._workplace import Slot, Workplace, keywords_named


def watershed(
    image: Any,
    markers: Any = None,
    *,
    connectivity: int = 1,
    mask: Any = None,
    border: Border = "open",
    lines: bool = False,
    maxima: bool = False,
    h: float = 0,
    squared: bool = False,
    return_passes: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Watershed of an image: every cell gets the label of the marker from which water reaches it first.

    Parameters
    ----------
    image : array of 1 to 8 axes; on a GPU 1 to 4, with a periodic one 1 to 3
        The landscape: bool, integers, float32 or float64. NaN cells take no part. The call does not change it.
    markers : array of integers of the image's shape, or coordinates, optional
        An array of labels, in which every cell that is not 0 is a marker; or rows of coordinates, ``(n, axes)``, whose
        labels are 1, 2, ... Default: the minima of height `h`, numbered in raster order.
    connectivity : int
        Number of coordinates that a step to a neighbour may change; or number of neighbours: 4, 8, 6, 18, 26.
        Default: 1.
    mask : array of bool, optional
        Cells that take part. Default: all.
    border : {'open', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis: nothing, or its other end.
    lines : bool
        Set cells between labels to 0.
    maxima : bool
        Turn the image upside down: labels grow from maxima, as for distances.
    h : float
        Without markers: least height of a minimum below its lowest pass to a lower minimum. 0 takes every minimum.
    squared : bool
        The image holds squared lengths, and `h` is a length: heights are differences of roots, compared exactly.
    return_passes : bool
        Also return the level to which water rises until it reaches each cell. Cells that it does not reach get the
        type's largest value (with `maxima` the least).
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array, or with `return_passes` a tuple of two
        Labels, of the type of the markers, else int32; cells that no marker reaches get 0. Then the levels.

    Notes
    -----
    Let v be the image. L(p) is the least, over all paths to p from markers, of the largest v on the path; s(p) is the
    number of steps since a path reached L(p). A cell takes the label of its neighbour with the smallest (L, s); if
    several tie, the one with the smallest coordinates wins, compared from the last axis. The order of work has no
    influence: the CPU and GPUs give the same bits, and every increasing map of the values gives the same partition.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.watershed([0, 1, 3, 2, 0, 2, 1])
    array([1, 1, 1, 2, 2, 2, 3], dtype=int32)
    >>> nf.watershed([0, 1, 3, 2, 0, 2, 1], h=2)
    array([1, 1, 1, 2, 2, 2, 2], dtype=int32)
    >>> nf.watershed([0, 1, 3, 2, 0, 2, 1], [[1], [5]], lines=True)
    array([1, 1, 0, 2, 2, 2, 2], dtype=int32)
    """
    check_flags(lines=lines, maxima=maxima, squared=squared, return_passes=return_passes)
    work = workplace_of("image", image)
    options = options_of(len(work.shape), connectivity, border, maxima, lines, h, squared)
    given = None if markers is None else markers_of(work, markers)
    kind = "int32" if given is None else framework_of(given).dtype(given)
    label = work.empty(work.shape, kind)
    passes = work.empty(work.shape, work.dtype) if return_passes else None
    call = Call(work, device, threads, progress)
    with words(work.name):
        call.flood(given, mask, label, passes, options)
    found = work.hand_out(label)
    return found if passes is None else (found, work.in_given_type(work.hand_out(passes)))


def flood(
    image: Any,
    seeds: Any,
    level: float | None = None,
    *,
    connectivity: int = 1,
    mask: Any = None,
    border: Border = "open",
    maxima: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Cells of at most `level` that are connected to the seeds; without a level, the least such level of every cell.

    Parameters
    ----------
    seeds : array or coordinates
        Where the water comes from; given as the markers of `watershed`.
    level : float, optional
        Highest value that water covers. Default: answer for all levels at once.
    maxima : bool
        Take cells of at least `level` instead, and the largest such level.
    image, connectivity, mask, border, device, threads, progress
        As in `watershed`.

    Returns
    -------
    array
        bool with a level. Without one, the least levels in the image's type; cells that no water reaches get its
        largest value (with `maxima` the least).

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.flood([0, 2, 1, 5, 0], [[0]], 2).astype(int)
    array([1, 1, 1, 0, 0])
    >>> nf.flood([0, 2, 1, 5, 0], [[0]])
    array([0, 2, 2, 5, 5])
    """
    check_flags(maxima=maxima)
    work = workplace_of("image", image)
    limit = None if level is None else _level_of(level)
    options = options_of(len(work.shape), connectivity, border, maxima)
    given = markers_of(work, seeds, "seeds")
    reached = None if limit is None else work.empty(work.shape, framework_of(given).dtype(given))
    passes = work.empty(work.shape, work.dtype)
    call = Call(work, device, threads, progress)
    with words(work.name, markers="seeds"):
        call.flood(given, mask, reached, passes, options)
    levels = work.hand_out(passes)
    if limit is None or reached is None:
        return work.in_given_type(levels)
    if work.framework.name == "torch" and work.dtype in ("uint16", "uint32"):
        levels = levels.long()  # PyTorch compares none of these on a GPU
    return (work.hand_out(reached) != 0) & (levels >= limit if maxima else levels <= limit)


def reconstruct_gray(
    seed: Any,
    mask: Any,
    *,
    method: Literal["dilation", "erosion"] = "dilation",
    connectivity: int = 1,
    border: Border = "open",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Gray reconstruction of `mask` from `seed`.

    Parameters
    ----------
    seed, mask : arrays of one shape and type
        By dilation, the seed grows as far as the mask allows. The value of a cell is the greatest over all paths to it;
        a path counts with the least of the seed at its beginning and the mask along it. Erosion exchanges least and
        greatest. A seed above the mask (by erosion: below it) counts as the mask.
    method : {'dilation', 'erosion'}
        Says how the seed grows. Default: 'dilation'.
    connectivity, border, device, threads, progress
        As in `watershed`.

    Returns
    -------
    array
        Shape and type of `mask`.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.reconstruct_gray([0, 0, 2, 0, 0], [1, 3, 4, 1, 5])
    array([1, 2, 2, 1, 1])
    """
    how = word_of("method", method, ("dilation", "erosion"))
    work = workplace_of("mask", mask)
    options = options_of(len(work.shape), connectivity, border, how == "dilation")
    made = work.empty(work.shape, work.dtype)
    call = Call(work, device, threads, progress)
    with words("mask"):
        call.regrown(framework_of(seed).array("seed", seed), made, options)
    return work.in_given_type(work.hand_out(made))


def zeros_of(work: Workplace, dtype: str) -> tuple[Any, bool]:
    """An array to write to, where the image is if its framework can write to arrays there, else NumPy's."""
    there = work.place.ordinal >= 0 and work.framework.name in ("torch", "cupy")
    made = work.empty(work.shape, dtype).array if there else np.empty(work.shape, dtype)
    made[...] = 0
    return made, there


# ---- the calls -------------------------------------------------------------------------------------------------------


class Call(RunAt):
    """One call of the library: where its arrays are, or on a device to which the library copies them."""

    def flood(
        self, markers: Any, mask: Any, label: Slot | None, passes: Slot | None, options: _core.WatershedOptions,
        extrema: Slot | None = None,
    ) -> None:  # fmt: skip
        wanted = (label, passes, extrema)
        packed = [packed_of(slot) if self.staged and slot is not None else None for slot in wanted]
        to = [described_of(slot) if p is None else p.described() for p, slot in zip(packed, wanted)]
        image = self.read()
        held, cells = self._other("markers", markers), self._other("mask", mask)
        _core.watershed(image, held, cells, to[0], to[1], to[2], options, *self.place())
        self._finish(packed)

    def peaks(self, mask: Any, labels: Any, options: _core.WatershedOptions) -> bytes:
        image = self.read()
        cells, parts = self._other("mask", mask), self._other("labels", labels)
        found = _core.peaks(image, cells, parts, options, *self.place())
        self.work.finish()
        return found

    def split(self, out: Slot, options: _core.SplitOptions) -> None:
        packed = [packed_of(out)] if self.staged else []
        to = packed[0].described() if packed else out.described
        _core.split(self.read(), to, options, *self.place())
        self._finish(packed)

    def regrown(self, seed: Any, out: Slot, options: _core.WatershedOptions) -> None:
        packed = [packed_of(out)] if self.staged else []
        to = packed[0].described() if packed else out.described
        held = self._other("seed", seed)
        assert held is not None
        _core.reconstruct_gray(held, self.read(), to, options, *self.place())
        self._finish(packed)

    def _other(self, name: str, x: Any) -> _core.Array | None:
        if x is None:
            return None
        return self._copied(name, x) if self.staged else self.work.read(name, x)

    def _finish(self, packed: list[Any]) -> None:
        for each in packed:
            if each is not None:
                each.finish()
        self.work.finish()


def options_of(
    axes: int,
    connectivity: Any,
    border: Border,
    maxima: bool,
    lines: bool = False,
    h: Any = 0,
    squared: bool = False,
) -> _core.WatershedOptions:
    request = Request((), border=border_of(border, axes, 0))
    number = count_of("connectivity", connectivity, 1, 3**8)
    height = length_of("h", h)
    flags = flag_of("maxima", maxima), flag_of("lines", lines)
    return _core.WatershedOptions(request.options(), number, *flags, height, flag_of("squared", squared))


def markers_of(work: Workplace, markers: Any, name: str = "markers") -> Any:
    """Converts markers to an array of the image's shape; rows of coordinates become one."""
    markers = np.empty((0, len(work.shape)), int) if isinstance(markers, list | tuple) and not markers else markers
    framework = framework_of(markers)
    given = framework.array(name, markers)
    shape = framework.shape(given)
    if framework.dtype(given).startswith("float"):
        raise TypeError(f"{name} has element type {framework.dtype(given)}; give integers")
    if shape == work.shape or len(shape) != 2 or shape[1] != len(work.shape):
        if shape != work.shape:
            raise ValueError(
                f"{name} has shape {shape} and {work.name} {work.shape}; give the same shape for both, or rows of "
                f"{len(work.shape)} coordinates"
            )
        return given
    rows = np.asarray(as_numpy(given)).astype(np.int64)
    if rows.size and not ((rows >= 0) & (rows < np.asarray(work.shape))).all():
        raise ValueError(f"{name} has coordinates outside of the image's shape {work.shape}; give cells of it")
    made, there = zeros_of(work, "int32")
    if len(rows) > 0:
        cells = np.ravel_multi_index(tuple(rows.T), work.shape)
        _, last = np.unique(cells[::-1], return_index=True)  # of equal coordinates the last one stays
        number = len(rows) - last.astype(np.int32)
        at = tuple(rows[number - 1].T)
        if there:
            made[tuple(work.constant(np.ascontiguousarray(each)) for each in at)] = work.constant(number)
        else:
            made[at] = number
    return made if there else work.constant(made)


def _level_of(level: Any) -> int | float:
    if isinstance(level, bool | np.bool_):
        raise TypeError(f"level is {said(level)}; give a number, or leave it out")
    value = number_of("level", level)
    if value != value:
        raise ValueError("level is nan, which no value reaches; give a number, or leave it out")
    return value


@contextmanager
def words(name: str, **renamed: str) -> Iterator[None]:
    """Makes errors of the library name Python's arguments."""
    with keywords_named(name):
        try:
            yield
        except ValueError as problem:
            text = re.sub(r"\broots\b", "squared", str(problem))
            for theirs, ours in renamed.items():
                text = re.sub(rf"\b{theirs}\b", ours, text)
            raise ValueError(text.replace("the image's shape", f"the shape of {name}")) from None
