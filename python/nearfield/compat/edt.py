"""The functions of the package `edt`, with its signatures; to migrate, ``import nearfield.compat.edt as edt``.

Distances are float32 and measured to the centres of cells: a cell next to another label, or to 0, has the length of one
cell. The border of the image is open unless `black_border`. Arrays whose first axis is contiguous give such arrays.

Values are the exact distances, rounded once to float32. Those of `edt` are equal as long as the lengths are whole
numbers and squared distances stay below 2**24. Beyond that, `edt` computes in float32, and its last digits differ
(squares around 4e8 by up to 17). Deliberate differences:

- float16 is read (`edt` returns zeros for it); types that are no numbers are a TypeError (`edt` returns zeros); any
  byte order is read as what it is; up to 8 axes.
- `anisotropy` may be one number for all axes; a wrong number of values, or one that is not positive, is a ValueError.
- With `voxel_graph` squared distances are exact as well; a graph of another shape than the image is a ValueError.
- `each` reads labels and distances of different memory orders cell by cell, and distances of any type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from nearfield._arrays import MOST_AXES, NUMPY, check_axes
from nearfield._distance import distance_transform
from nearfield._foreign import refuse_no_cells
from nearfield._request import items_of, length_of
from nearfield.compat._voxel_graph import distances_in_graph

__all__ = ["each", "edt", "edtsq", "sdf", "sdfsq"]

Array = np.ndarray[Any, Any]
Anisotropy = float | Sequence[float] | None

_EXACT_IN_FLOAT32 = 2.0**24


def edt(
    data: Any,
    anisotropy: Anisotropy = None,
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Any = None,
    order: str | None = None,
) -> Array:
    """Euclidean distance of every cell to the nearest cell of another label; 0 in the background.

    Parameters
    ----------
    data : array_like of 1 to 8 axes
        Labels: bool, integers, or floats compared by value, each NaN a label of its own. 0 is background.
    anisotropy : float or sequence of floats, optional
        Length of a cell along each axis of the array, or along all of them.
    black_border : bool
        Treat everything beyond the image as background.
    parallel : int
        Number of threads; 0 or less takes every core. The answer does not depend on it.
    voxel_graph : array_like of integers, shape of `data`, 2 or 3 axes, optional
        Marks the allowed steps between cells, as by `cc3d.voxel_connectivity_graph`. A cell's bits stand for the step
        forward along the last axis (1; the first axis if that is contiguous), along the one before it (4) and along
        the first of three (16). If a bit is not set, the middle of that face is background. Labels that differ are then
        no boundary. The graph takes 4 or 8 times the cells: about 10 or 40 bytes a cell while it runs.
    order : str, optional
        Ignored: the memory order is that of `data`.

    Returns
    -------
    numpy.ndarray
        Distances as float32, of the shape of `data`; inf if there is no other label.

    Raises
    ------
    TypeError, ValueError
        `data` is not an array of numbers; `anisotropy` has a wrong length or is not positive; `voxel_graph` has another
        shape.

    Examples
    --------
    >>> import nearfield.compat.edt as edt
    >>> import numpy as np
    >>> edt.edt([0, 1, 1, 1, 2, 2])
    array([0., 1., 2., 1., 1., 2.], dtype=float32)
    >>> edt.edt(np.ones((2, 4)), voxel_graph=[[7, 6, 7, 7], [7, 6, 7, 7]])  # a wall behind the second column
    array([[1.5, 0.5, 0.5, 1.5],
           [1.5, 0.5, 0.5, 1.5]], dtype=float32)
    >>> edt.edt([0, 1, 1, 1, 2, 2], anisotropy=0.5, black_border=True)
    array([0. , 0.5, 1. , 0.5, 0.5, 0.5], dtype=float32)
    """
    return _field(data, anisotropy, black_border, parallel, voxel_graph, squared=False, signed=False)


def edtsq(
    data: Any,
    anisotropy: Anisotropy = None,
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Any = None,
    order: str | None = None,
) -> Array:
    """Squares of the distances of `edt`, with its parameters: the exact squares, rounded once to float32.

    Examples
    --------
    >>> import nearfield.compat.edt as edt
    >>> edt.edtsq([0, 1, 1, 1, 2, 2])
    array([0., 1., 4., 1., 1., 4.], dtype=float32)
    """
    return _field(data, anisotropy, black_border, parallel, voxel_graph, squared=True, signed=False)


def sdf(
    data: Any,
    anisotropy: Anisotropy = None,
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Any = None,
    order: str | None = None,
) -> Array:
    """Distances of `edt`, with its parameters, and in the background minus the distance to the nearest label.

    Examples
    --------
    >>> import nearfield.compat.edt as edt
    >>> edt.sdf([0, 0, 1, 1, 1, 2])
    array([-2., -1.,  1.,  2.,  1.,  1.], dtype=float32)
    """
    return _field(data, anisotropy, black_border, parallel, voxel_graph, squared=False, signed=True)


def sdfsq(
    data: Any,
    anisotropy: Anisotropy = None,
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Any = None,
) -> Array:
    """Squares of the distances of `sdf` with their signs.

    Examples
    --------
    >>> import nearfield.compat.edt as edt
    >>> edt.sdfsq([0, 0, 1, 1, 1, 2])
    array([-4., -1.,  1.,  4.,  1.,  1.], dtype=float32)
    """
    return _field(data, anisotropy, black_border, parallel, voxel_graph, squared=True, signed=True)


def each(labels: Any, dt: Any, in_place: bool = False) -> _Each:
    """Yields one image per label: the distances in the label's cells, 0 elsewhere.

    Parameters
    ----------
    labels : array_like
        Labels from which the distances were computed.
    dt : array_like of the shape of `labels`
        Distances.
    in_place : bool
        Reuse one read-only array for every image: this is faster, but each step overwrites the last image.

    Returns
    -------
    iterable
        Pairs of a label and an image, labels ascending, without 0. It has a length, and can be iterated again.

    Examples
    --------
    >>> import nearfield.compat.edt as edt
    >>> labels = [3, 3, 0, 1]
    >>> for label, image in edt.each(labels, edt.edt(labels)):
    ...     print(label, image)
    1 [0. 0. 0. 1.]
    3 [2. 1. 0. 0.]
    """
    for name, x in (("labels", labels), ("dt", dt)):
        refuse_no_cells(name, x)
    return _Each(np.asarray(labels), np.asarray(dt), in_place)


class _Each:
    """Sorts cells by label once; an image then costs its own cells, and, unless in place, new memory."""

    def __init__(self, labels: Array, dt: Array, in_place: bool) -> None:
        if labels.shape != dt.shape:
            raise ValueError(f"dt has shape {dt.shape}; give the distances of labels, of shape {labels.shape}")
        self._order = "F" if dt.flags.f_contiguous and not dt.flags.c_contiguous else "C"
        numbers = labels.view("uint8") if labels.dtype.kind == "b" else labels
        flat = numbers.ravel(self._order)  # type: ignore[arg-type]
        self._shape, self._dt, self._in_place = dt.shape, dt.ravel(self._order), in_place  # type: ignore[arg-type]
        self._cells = np.argsort(flat, kind="stable")
        found, starts = np.unique(flat[self._cells], return_index=True)
        ends = [*starts[1:].tolist(), flat.size]
        self._runs = [(k, a, b) for k, a, b in zip(found.tolist(), starts.tolist(), ends) if k != 0]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[tuple[Any, Array]]:
        shared = np.zeros(self._dt.size, self._dt.dtype)
        for label, first, last in self._runs:
            cells = self._cells[first:last]
            flat = shared if self._in_place else np.zeros_like(shared)
            flat[cells] = self._dt[cells]
            image = flat.reshape(self._shape, order=self._order)  # type: ignore[call-overload]
            image.flags.writeable = not self._in_place
            yield label, image
            if self._in_place:
                shared[cells] = 0


# ---- the work --------------------------------------------------------------------------------------------------------


def _field(
    data: Any,
    anisotropy: Anisotropy,
    black_border: bool,
    parallel: int,
    voxel_graph: Any,
    *,
    squared: bool,
    signed: bool,
) -> Array:
    refuse_no_cells("data", data)
    image = np.asarray(data)
    if image.ndim == 0:
        raise TypeError(f"data is a number; give an array of 1 to {MOST_AXES} axes")
    check_axes("data", image.ndim)
    spacing = _lengths_of(anisotropy, image.ndim)
    threads = int(min(parallel, 4096)) if parallel >= 1 else None
    with _anisotropy_named():
        return _field_of(image, spacing, bool(black_border), threads, voxel_graph, squared, signed)


@contextmanager
def _anisotropy_named() -> Iterator[None]:
    """Makes errors about lengths name `anisotropy`; there is no other type of distances."""
    try:
        yield
    except ValueError as problem:
        text = re.sub(r"^spacing\b", "anisotropy", str(problem))
        type_is = "(?:out has element type|dtype is) float32"
        text = re.sub(
            rf"^{type_is}(, .*)[:;] give .*", r"distances are float32\1; give anisotropy in another unit", text
        )
        raise ValueError(text) from None


def _field_of(
    image: Array,
    spacing: float | tuple[float, ...] | None,
    black_border: bool,
    threads: int | None,
    voxel_graph: Any,
    squared: bool,
    signed: bool,
) -> Array:
    if voxel_graph is not None:
        words = (voxel_graph, spacing, black_border, squared, threads)
        inside = distances_in_graph(image, *words)
        return inside - distances_in_graph(image == 0, *words) if signed else inside
    order = "F" if image.flags.f_contiguous and not image.flags.c_contiguous else "C"
    out: Array = np.empty(image.shape, "float32", order=order)  # type: ignore[call-overload]
    exact = not squared or _fits(image.shape, spacing)
    answer = distance_transform(
        _labels_of(NUMPY.array("data", image)),
        spacing=spacing,
        multilabel=True,
        squared=squared,
        signed="outside" if signed else False,
        border="closed" if black_border else "open",
        out=out if exact else np.empty(image.shape, "float64", order=order),  # type: ignore[call-overload]
        threads=threads,
    )
    if not exact:
        with np.errstate(over="ignore"):  # values too large for float32 become inf
            out[...] = answer
    return out


def _lengths_of(anisotropy: Anisotropy, ndim: int) -> float | tuple[float, ...] | None:
    if anisotropy is None:
        return None
    each = items_of(anisotropy)
    if each is None:
        return length_of("anisotropy", anisotropy)
    lengths = tuple(length_of("anisotropy", one) for one in each)
    if len(lengths) != ndim:
        raise ValueError(f"anisotropy has {len(lengths)} values for an array of {ndim} axes; give one per axis")
    return lengths


def _fits(shape: tuple[int, ...], spacing: float | tuple[float, ...] | None) -> bool:
    """True if all squared distances are integers that float32 holds."""
    lengths = spacing if isinstance(spacing, tuple) else (1.0 if spacing is None else float(spacing),) * len(shape)
    whole = all(each.is_integer() for each in lengths)
    return whole and sum((n * each) ** 2 for n, each in zip(shape, lengths)) < _EXACT_IN_FLOAT32


def _labels_of(image: Array) -> Array:
    """Labels as integers that are equal if the labels are: floats by their bits, without the sign of zero."""
    if image.dtype.kind == "b":
        return image.view("uint8")
    if image.dtype.kind != "f":
        return image
    bits: Array = (image + image.dtype.type(0)).view(f"uint{8 * image.itemsize}")
    nothing = np.isnan(image)
    if not nothing.any():
        return bits
    # Not equal to itself either.
    kinds = np.unique(bits[~nothing])
    labels: Array = np.searchsorted(kinds, bits).astype("int64") + 1
    labels[bits == 0] = 0
    labels[nothing] = kinds.size + 1 + np.arange(np.count_nonzero(nothing))
    return labels
