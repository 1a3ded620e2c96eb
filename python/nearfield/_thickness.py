"""Local thickness: diameter of the largest ball over every cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import name_of
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import Border, Request, Spacing, flag_of, items_of, length_of, request_for, said
from nearfield._run_at import RunAt, packed_of
from nearfield._traced import is_traced
from nearfield._workplace import Slot, Workplace, keywords_named

THICKNESS_TYPES = ("float32", "float64")
SQUARED_TYPES = ("uint32", "uint64", "float64")


def local_thickness(
    mask: Any,
    *,
    squared: bool = False,
    sizes: Sequence[float] | np.ndarray[Any, Any] | None = None,
    spacing: Spacing = None,
    border: Border = "open",
    multilabel: bool = False,
    dtype: Any = None,
    out: Any = None,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """For every cell, the diameter of the largest ball that covers it and fits into the foreground. Exact.

    Parameters
    ----------
    mask : array of 1 to 3 axes besides batch axes
        Cells that are not zero are foreground; NaN is not. Any element type, from any framework that
        `distance_transform` takes.
    squared : bool
        Return the squared radius T2 instead of the diameter ``2 * sqrt(T2)``: exact integers if the spacing is
        integral.
    sizes : sequence of floats, optional
        Ascending diameters in units of `spacing`. Each ball's diameter is rounded down to one of them; smaller balls
        are left out, and cells in no ball get 0.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis, in array order; positive. Default: 1.
    border : {'open', 'closed', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis, as in `distance_transform`.
    multilabel : bool
        Treat every label of an integer image as a shape of its own, all in one pass.
    dtype : dtype, optional
        Type of the answer: float32 (default) or float64. With `squared` it is uint32, uint64 or float64; the default is
        the narrowest that holds every answer.
    out : array, optional
        Array to fill instead of a new one, on the device of `mask`.
    batch_axes : int
        Number of leading axes that number images; each image is solved by itself. Default: 0.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array
        Diameters, of the mask's kind and shape and on its device. Background is 0. Without any background, all cells
        have inf (squared: the type's maximum).

    Notes
    -----
    ``T2(p) = max { D2(c) : |p - c|^2 < D2(c) }`` over all foreground cells c, where D2 is the squared distance to the
    nearest background cell. All foreground cells serve as centres, and no radius is rounded. The CPU and GPUs give the
    same bits.

    References
    ----------
    Hildebrand, Rueegsegger, "A new method for the model-independent assessment of thickness in three-dimensional
    images", Journal of Microscopy 185(1), 1997.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.local_thickness([0, 1, 1, 1, 0, 1, 0])
    array([0., 4., 4., 4., 0., 2., 0.], dtype=float32)
    >>> nf.local_thickness([0, 1, 1, 1, 0, 1, 0], squared=True)
    array([0, 4, 4, 4, 0, 1, 0], dtype=uint32)
    >>> nf.local_thickness([0, 1, 1, 1, 0, 1, 0], sizes=[3])
    array([0., 3., 3., 3., 0., 0., 0.], dtype=float32)
    """
    words: dict[str, Any] = {"spacing": spacing, "border": border, "multilabel": multilabel, "batch_axes": batch_axes}
    call = ThicknessCall("mask", flag_of("squared", squared), sizes_of(sizes), False, device, threads, progress)
    if is_traced(mask):
        from nearfield import _jax_workplace

        made = call.type_of(mask.shape, _request_of(mask.ndim, **words), dtype)
        words |= {"dtype": made, "squared": squared, "sizes": sizes, "device": device, "threads": threads}
        return _jax_workplace.called_back(local_thickness, "mask", mask, mask.shape, made, out, False, **words)
    return filled(workplace_of("mask", mask), call, words, dtype, out)


# ---- the work --------------------------------------------------------------------------------------------------------


class ThicknessCall(NamedTuple):
    """Request to the library. With `balls`, the image holds squared radii; with `inlets`, balls enter through them."""

    name: str
    squared: bool
    sizes: tuple[float, ...]
    balls: bool
    device: str | None
    threads: int | None
    progress: Progress
    inlets: Any = None
    connectivity: int = 1

    def type_of(self, shape: tuple[int, ...], request: Request, dtype: Any) -> str:
        if dtype is not None:
            asked, known = name_of(dtype), SQUARED_TYPES if self.squared else THICKNESS_TYPES
            if asked not in known:
                raise ValueError(f"dtype is {asked}; give one of {', '.join(known)}")
            return asked
        if not self.squared:
            return "float32"
        with keywords_named(self.name):
            return "uint64" if self.balls else _core.squared_distance_type(list(shape), request.options())


def _request_of(
    ndim: int, *, spacing: Spacing = None, border: Border = "open", multilabel: bool = False, batch_axes: int = 0
) -> Request:
    return request_for(
        ndim,
        spacing=spacing,
        sites="zero",
        signed=False,
        multilabel=multilabel,
        half_cell=False,
        border=border,
        max_distance=None,
        batch_axes=batch_axes,
    )


def filled(work: Workplace, call: ThicknessCall, words: dict[str, Any], dtype: Any, out: Any) -> Any:
    """Returns the answer as an array of the workplace: `out` if it is given."""
    request = _request_of(len(work.shape), **words)
    slot = _slot_of(work, call, request, dtype, out)
    where = RunAt(work, call.device, call.threads, call.progress)
    if work.place.ordinal >= 0 and where.tell is not None:
        raise ValueError("progress is told on the CPU only; leave it out on a GPU")
    with keywords_named(work.name, slot):
        packed = packed_of(slot) if where.staged else None
        to = slot.described if packed is None else packed.described()
        inlets = None if call.inlets is None else where.other("inlets", call.inlets)
        thickness, squared = (None, to) if call.squared else (to, None)
        _core.thickness(where.read(), inlets, thickness, squared, request.options(), list(call.sizes), call.balls,
                        call.connectivity, *where.place())  # fmt: skip
        if packed is not None:
            packed.finish()
        work.finish()
    return work.hand_out(slot)


def _slot_of(work: Workplace, call: ThicknessCall, request: Request, dtype: Any, out: Any) -> Slot:
    if out is None:
        return work.empty(work.shape, call.type_of(work.shape, request, dtype))
    slot = work.given("out", out)
    if dtype is not None and name_of(dtype) != slot.described.dtype:
        raise ValueError(f"dtype is {name_of(dtype)} and out has {slot.described.dtype}; leave out one of them")
    return slot


def sizes_of(sizes: Any) -> tuple[float, ...]:
    """Converts diameters to ascending floats; None gives ()."""
    if sizes is None:
        return ()
    each = items_of(sizes)
    if each is None or not each:
        raise ValueError(f"sizes is {said(sizes)}; give one or more ascending diameters")
    lengths = tuple(length_of("sizes", one) for one in each)
    if not all(low < high for low, high in zip((0.0, *lengths), (*lengths, math.inf))):
        raise ValueError(f"sizes is {said(sizes)}; give ascending diameters above 0")
    return lengths
