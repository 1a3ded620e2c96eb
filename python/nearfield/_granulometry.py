"""Tables of sizes, unions of given balls and porosimetry, all based on local thickness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from nearfield._columns import html_of, pandas_of
from nearfield._dispatch import workplace_of
from nearfield._distance import distance_transform
from nearfield._morphology import open_ends
from nearfield._progress import Progress
from nearfield._request import Border, Spacing, count_of, flag_of, items_of, length_of, said, word_of
from nearfield._thickness import ThicknessCall, filled, local_thickness, sizes_of


class Granulometry(NamedTuple):
    """Amounts of a shape by size: arrays of NumPy, one row a size, ascending."""

    squared: np.ndarray[Any, Any]
    """Squared radius, exact: uint32, uint64 or float64."""
    diameter: np.ndarray[Any, Any]
    """float64, in units of `spacing`: of the balls."""
    cells: np.ndarray[Any, Any]
    """int64: cells whose local thickness it is; of openings, cells that the opening keeps."""
    volume: np.ndarray[Any, Any]
    """float64: of these cells, in units of `spacing` (area in 2-D, length in 1-D)."""

    def _repr_html_(self) -> str:
        """Shows the first rows, for notebooks."""
        return html_of(self._asdict(), len(self.squared))

    def to_pandas(self) -> Any:
        """Returns the columns as a ``pandas.DataFrame``."""
        return pandas_of(self._asdict())


def granulometry(
    mask: Any,
    *,
    method: Literal["thickness", "openings"] = "thickness",
    sizes: Sequence[float] | np.ndarray[Any, Any] | None = None,
    spacing: Spacing = None,
    border: Border = "open",
    multilabel: bool = False,
    device: str | None = None,
    threads: int | None = None,
) -> Granulometry:
    """Table of sizes of a shape: numbers of cells by local thickness, or that survive each opening.

    Parameters
    ----------
    mask, spacing, border, multilabel, device, threads
        As in `local_thickness`; every axis is an axis of space.
    method : {'thickness', 'openings'}
        'thickness': a histogram of `local_thickness`, with a row for each value that occurs. 'openings': for each size,
        the cells of the opening by a ball of that diameter, which lie in some ball of that size that fits; it needs
        `sizes`.
    sizes : sequence of floats, optional
        Ascending diameters in units of `spacing`. With 'thickness', balls are rounded down to these; cells in no ball
        are in no row.

    Returns
    -------
    Granulometry
        Columns of the table. A call on a GPU waits for them.

    Examples
    --------
    >>> import nearfield as nf
    >>> table = nf.granulometry([0, 1, 1, 1, 0, 1, 0], spacing=0.5)
    >>> table.diameter, table.cells, table.volume
    (array([1., 2.]), array([1, 3]), array([0.5, 1.5]))
    """
    words: dict[str, Any] = {"spacing": spacing, "border": border, "multilabel": multilabel}
    how: dict[str, Any] = {**words, "device": device, "threads": threads}
    given = sizes_of(sizes)
    cell = _cell_volume(spacing, len(workplace_of("mask", mask).shape))
    if word_of("method", method, ("thickness", "openings")) == "openings":
        if not given:
            raise ValueError("sizes is not given; an opening needs a diameter: give sizes=[...]")
        return _openings(mask, given, how, cell)
    squared = local_thickness(mask, squared=True, sizes=sizes, **how)
    values, cells = _counted(squared)
    diameter = 2 * np.sqrt(values.astype(np.float64))
    if values.dtype.kind == "u":
        diameter[values == np.iinfo(values.dtype).max] = np.inf  # the image has no background
    if given:
        size = np.array(given)
        diameter = np.where(np.isinf(diameter), np.inf, size[np.searchsorted(size, diameter, side="right") - 1])
    return Granulometry(values, diameter, cells, cells * cell)


def balls(
    centres: Any,
    radii: Any,
    shape: Sequence[int],
    *,
    squared: bool = False,
    spacing: Spacing = None,
    border: Border = "open",
    device: str | None = None,
    threads: int | None = None,
) -> Any:
    """Union of balls of given radii: for every cell the diameter of the largest ball that holds it, else 0.

    Parameters
    ----------
    centres : array of ints, shape (n, axes)
        Centres, in cells. Among balls with the same centre, the largest counts.
    radii : array of shape (n,), or one number for all
        Radii in units of `spacing`. A ball holds the cells whose distance from its centre is less than its radius.
    shape : sequence of 1 to 3 ints
        Shape of the answer.
    squared : bool
        Return squared radii instead, as uint64: the smallest whole number that is at least the squared radius.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis, in whole numbers. Multiply radii and lengths by one factor to make them whole.
    border, device, threads
        As in `local_thickness`.

    Returns
    -------
    array
        Diameters as float32, or squared radii as uint64, of the centres' kind and on their device. ``balls(...) > 0``
        is the union.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.balls([[1], [5]], [1, 2.5], (8,), squared=True)
    array([0, 1, 0, 7, 7, 7, 7, 7], dtype=uint64)
    """
    at = array_of("centres", centres)
    size = tuple(count_of("shape", n, 0, 2**31 - 1) for n in items_of(shape) or ())
    if not 1 <= len(size) <= 3:
        raise ValueError(f"shape is {said(shape)}; give 1 to 3 numbers of cells")
    if at.ndim != 2 or at.shape[1] != len(size) or at.dtype.kind not in "iu":
        raise ValueError(
            f"centres has shape {at.shape} and type {at.dtype}; give integers of shape (n, {len(size)}), one row a ball"
        )
    if ((at < 0) | (at >= np.array(size))).any():
        raise ValueError(f"centres has cells outside of shape {size}; leave these balls out")
    radius = array_of("radii", radii, np.float64)
    if radius.shape not in ((), at.shape[:1]):
        raise ValueError(f"radii has shape {radius.shape}; give one number, or one for each of {len(at)} centres")
    radius = np.broadcast_to(radius, at.shape[:1])
    if not (np.isfinite(radius) & (radius >= 0) & (radius < 2.0**28)).all():
        raise ValueError("radii has negative, infinite or huge values; give lengths from 0 on")
    radius2 = np.ceil(radius * radius)
    field = np.zeros(size, np.uint16 if radius2.max(initial=0) < 2**16 else np.uint64)  # uint16 takes the fast path
    np.maximum.at(field, tuple(at.T), radius2.astype(field.dtype))
    call = ThicknessCall("centres", flag_of("squared", squared), (), True, device, threads, None)
    field = workplace_of("centres", centres).constant(field)
    return filled(workplace_of("centres", field), call, {"border": border, "spacing": spacing}, None, None)


def porosimetry(
    mask: Any,
    inlets: Any,
    sizes: Sequence[float] | np.ndarray[Any, Any] | None = None,
    *,
    squared: bool = False,
    connectivity: int = 1,
    spacing: Spacing = None,
    border: Border = "open",
    dtype: Any = None,
    out: Any = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """For every cell, the diameter of the largest ball that enters through the inlets and covers it; 0 if none does.

    Parameters
    ----------
    mask : array of 1 to 3 axes
        Cells that are not zero are the pores. Any element type, from any framework that `distance_transform` takes.
    inlets : array of bool or integers, of the mask's shape and on its device
        Cells where balls enter: those that are not zero.
    sizes : sequence of floats, optional
        Ascending diameters in units of `spacing`, as in `local_thickness`. Default: every size counts.
    connectivity : int
        Neighbours between which the centre of a ball may move, as in `label`; also across periodic ends.
    squared, spacing, border, dtype, out, device, threads, progress
        As in `local_thickness`.

    Returns
    -------
    array
        Diameters, of the mask's kind and shape and on its device. A ball of a size fits round the cells whose distance
        from the background is at least half of it. It enters if these cells are connected to a cell of `inlets`, and
        covers all cells nearer to one of them than half its size.

    Examples
    --------
    >>> import nearfield as nf
    >>> pores = [0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0]
    >>> nf.porosimetry(pores, [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [2, 4, 6])
    array([0., 4., 4., 4., 0., 0., 0., 0., 0., 0., 0.], dtype=float32)
    """
    work = workplace_of("mask", mask)
    entered = inlets if hasattr(inlets, "shape") else array_of("inlets", inlets)
    if isinstance(entered, np.ndarray) and entered.dtype.kind not in "biu":
        if entered.dtype.kind != "f":
            raise TypeError(f"inlets has element type {entered.dtype}; give bool or integers")
        entered = array_of("inlets", entered, bool)
    if tuple(entered.shape) != work.shape:
        raise ValueError(f"inlets has shape {tuple(entered.shape)} and mask {work.shape}; give the same shape for both")
    moves = count_of("connectivity", connectivity, 1, 3**8)
    call = ThicknessCall(
        "mask", flag_of("squared", squared), sizes_of(sizes), False, device, threads, progress, entered, moves
    )
    return filled(work, call, {"spacing": spacing, "border": border}, dtype, out)


# ---- the work --------------------------------------------------------------------------------------------------------


def array_of(name: str, value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """Numbers of any kind of array in memory of the CPU."""
    try:
        if np.asarray(given := on_cpu(value)).dtype.kind in "SUc":  # NumPy would convert them
            raise TypeError(f"{name} holds words or complex numbers")
        return np.asarray(given, dtype)
    except Exception as problem:
        raise ValueError(f"{name} is {said(value)}; give an array of numbers") from problem


def on_cpu(x: Any) -> Any:
    """A copy in CPU memory of an array of CuPy or PyTorch on a GPU; others as they are."""
    return x.get() if type(x).__module__.startswith("cupy") else x.cpu() if hasattr(x, "cpu") else x


def _within(centres: Any, size: float, how: dict[str, Any]) -> Any:
    """Cells nearer to one of the centres than half a size."""
    return distance_transform(centres, sites="nonzero", max_distance=np.nextafter(size / 2, 0), dtype="bool", **how)


def _cell_volume(spacing: Spacing, ndim: int) -> float:
    each = items_of(1.0 if spacing is None else spacing)
    if each is None:
        each = [1.0 if spacing is None else spacing] * ndim
    return math.prod(length_of("spacing", one) for one in each)


def _counted(squared: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns the values above 0 and their counts: on the device if its framework can, else from a copy."""
    if not isinstance(squared, np.ndarray) and hasattr(squared, "get"):  # CuPy
        import cupy

        values, cells = map(on_cpu, cupy.unique(squared, return_counts=True))
    else:
        flat = np.asarray(on_cpu(squared)).ravel()
        most = int(flat.max(initial=0)) if flat.dtype.kind == "u" else 2**62
        if most <= max(2 * flat.size, 2**16):
            cells = np.bincount(flat.astype(np.int64), minlength=1)
            values = np.flatnonzero(cells).astype(flat.dtype)
            cells = cells[values]
        else:
            values, cells = np.unique(flat, return_counts=True)
    above = values > 0
    return values[above], cells[above].astype(np.int64)


def _openings(mask: Any, sizes: tuple[float, ...], how: dict[str, Any], cell: float) -> Granulometry:
    """Counts cells of openings: those nearer than half a size to a centre round which a ball of the size fits."""
    far = distance_transform(mask, dtype="float64", **how)
    nearest = {**how, "multilabel": False, "border": open_ends(how["border"])}
    cells = [int(_within(far >= size / 2, size, nearest).sum()) for size in sizes]
    diameter = np.array(sizes)
    count = np.array(cells, np.int64)
    return Granulometry((diameter / 2) ** 2, diameter, count, count * cell)
