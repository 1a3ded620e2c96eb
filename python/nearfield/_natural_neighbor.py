"""Smooth fields interpolated from values at some cells."""

from __future__ import annotations

from typing import Any

from nearfield import _core
from nearfield._arrays import name_of
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import Border, Request, Spacing, batch_of, border_of, spacing_of
from nearfield._run_at import RunAt, in_our_words, packed_of
from nearfield._traced import is_traced

TYPES = ("float32", "float64")


def natural_neighbor(
    values: Any,
    known: Any = None,
    *,
    spacing: Spacing = None,
    border: Border = "open",
    dtype: Any = None,
    out: Any = None,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Interpolates smoothly from values at some cells by Sibson's natural neighbours, in their discrete form.

    Parameters
    ----------
    values : array of 1 to 3 axes, besides those of batches
        Numbers, on the CPU or a GPU. NaN and infinite values are never known.
    known : array of the same shape, optional
        Cells that are not zero have a known value. Default: all cells whose value is finite, so that NaN marks what is
        to be filled.
    spacing, batch_axes, device, threads, progress
        As in `distance_transform`.
    border : {'open', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis: nothing, or the other end.
    dtype : {'float32', 'float64'}, optional
        Type of the answer. Default: float32 if `values` is float32 or is traced by JAX, else float64.
    out : array, optional
        Array to fill instead of a new one.

    Returns
    -------
    array
        Values of the shape and kind of `values`. Known cells keep theirs. Without any known cell, all are NaN.

    Notes
    -----
    Every cell sends the value of its nearest known cell to itself and to all cells that are nearer to it than that one
    is; the answer is the mean of what a cell receives. Sums are exact integers of values rounded once (see
    natural_neighbor.hpp), so the CPU and GPUs give the same bits. In an image the time grows with the number of cells
    times their mean distance to the nearest known cell, in a volume times the square of that distance.

    References
    ----------
    Park, Linsen, Kreylos, Owens, Hamann, "Discrete Sibson interpolation", IEEE TVCG 12(2), 2006.

    Examples
    --------
    >>> import nearfield as nf
    >>> nan = float("nan")
    >>> nf.natural_neighbor([0, nan, nan, nan, nan, nan, 60])
    array([ 0.,  0.,  0., 20., 30., 40., 60.])
    """
    if is_traced(values):
        from nearfield import _jax_workplace

        made = _type_of(values.dtype.name, dtype, "float32")  # JAX has no float64 by default
        words = {"known": known, "spacing": spacing, "border": border, "dtype": made, "batch_axes": batch_axes}
        words |= {"device": device, "threads": threads}
        return _jax_workplace.called_back(natural_neighbor, "values", values, values.shape, made, out, False, **words)
    work = workplace_of("values", values)
    ndim = len(work.shape)
    batch = batch_of(batch_axes, ndim)
    request = Request((), spacing_of(spacing, ndim, batch), border=border_of(border, ndim, batch), batch_axes=batch)
    slot = work.empty(work.shape, _type_of(work.dtype, dtype)) if out is None else work.given("out", out)
    if known is not None:
        seen = workplace_of("known", known)
        if seen.shape != work.shape:
            raise ValueError(f"known has shape {seen.shape} and values {work.shape}; give the same shape for both")
        known = seen.array if seen.dtype in ("bool", "uint8") else seen.array != 0
    where = RunAt(work, device, threads, progress)
    with in_our_words(work.name):
        packed = packed_of(slot) if where.staged else None
        to = slot.described if packed is None else packed.described()
        mask = None if known is None else where.other("known", known)
        _core.natural_neighbor(where.read(), mask, to, request.options(), *where.place())
        if packed is not None:
            packed.finish()
        work.finish()
    return work.hand_out(slot)


def _type_of(given: str, dtype: Any, usual: str = "float64") -> str:
    if dtype is None:
        return "float32" if given == "float32" else usual
    name = name_of(dtype)
    if name not in TYPES:
        raise ValueError(f"dtype is {name}; give one of {', '.join(TYPES)}")
    return name
