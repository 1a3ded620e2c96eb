"""Signed distance fields of shapes in images."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield import _core
from nearfield._arrays import name_of
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import Border, Request, batch_of, border_of, count_of, flag_of, length_of
from nearfield._run_at import RunAt, filled
from nearfield._traced import is_traced

TYPES = ("float32", "uint8", "uint16")


def sdf(
    image: Any,
    *,
    radius: float = 8.0,
    cutoff: float = 0.25,
    supersample: int = 1,
    antialias: bool | None = None,
    border: Border = "open",
    dtype: Any = "float32",
    out: Any = None,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Signed distance field of a shape, such as a glyph or an icon: positive inside, in pixels of the output.

    Parameters
    ----------
    image : array of 2 axes, besides those of a batch
        Coverage: bool, uint8 or uint16 whose largest value is full, or float32 or float64 in [0, 1]. Or a mask of any
        type. It may be on the CPU or a GPU.
    radius, cutoff : number
        For integer types: the number of pixels that the whole range spans (default 8), and the share of it that lies
        above the outline's value (default 0.25). A value is ``floor(most * (1 - cutoff + d / radius) + 0.5)``, clamped.
    supersample : int
        Number of cells of the image along each axis that make a pixel, 1 to 256; the image's sides are multiples of it.
    antialias : bool, optional
        True: values are coverage, and the outline runs between pixels. False: the image is a mask; its shape consists
        of the whole cells that are not zero, and distances to it are exact. Default: False for bool, else True, which
        arrays of NumPy with 0 and 1 in uint8 or uint16 refuse.
    border : {'open', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis: nothing, or the other end, for fields that tile.
    dtype : {'float32', 'uint8', 'uint16'}
        Type of the answer. Default: float32.
    out : array, optional
        Array to fill instead of a new one; its type replaces `dtype`.
    batch_axes, device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array
        The field, of the shape of `image` with its last two sides divided by `supersample`. It is infinite if there is
        no outline.

    Notes
    -----
    For coverage, the error within two pixels of straight and round outlines is 0.01 pixels RMS, and 0.05 with corners;
    supersampling divides it. sdf.hpp has the definition. The CPU and GPUs give the same bits.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> nf.sdf(np.array([[0, 0, 128, 255, 255]], np.uint8)).round(1)
    array([[-2., -1.,  0.,  1.,  2.]], dtype=float32)
    >>> nf.sdf(np.array([[False, True, True]]))
    array([[-0.5,  0.5,  1.5]], dtype=float32)
    """
    kind = name_of(dtype)
    if kind not in TYPES:
        raise ValueError(f"dtype is {kind}; give one of {', '.join(TYPES)}")
    times = count_of("supersample", supersample, 1, 256)
    reach, share = length_of("radius", radius), length_of("cutoff", cutoff)
    if is_traced(image):
        from nearfield import _jax_workplace

        words: dict[str, Any] = {"radius": radius, "cutoff": cutoff, "supersample": times, "antialias": antialias}
        words |= {"border": border, "dtype": kind, "batch_axes": batch_axes, "device": device, "threads": threads}
        return _jax_workplace.called_back(sdf, "image", image, _shape_of(image.shape, times), kind, out, False, **words)
    work = workplace_of("image", image)
    batch = batch_of(batch_axes, len(work.shape))
    request = Request((), border=border_of(border, len(work.shape), batch), batch_axes=batch)
    soft = work.given_dtype != "bool" if antialias is None else flag_of("antialias", antialias)
    if antialias is None and isinstance(work.array, np.ndarray):
        _refuse_mask(work.array)
    slot = work.empty(_shape_of(work.shape, times), kind) if out is None else work.given("out", out)
    where = RunAt(work, device, threads, progress)

    def call(read: _core.Array, to: _core.Array) -> None:
        _core.sdf(read, to, request.options(), reach, share, times, soft, *where.place())

    return filled(work, slot, where, call)


def _shape_of(shape: tuple[int, ...], supersample: int) -> tuple[int, ...]:
    return (*shape[:-2], *(n // supersample for n in shape[-2:]))


def _refuse_mask(given: np.ndarray[Any, Any]) -> None:
    """Refuses a mask of 0 and 1 as coverage, whose 1 would be the least one above 0."""
    if given.dtype.kind == "u" and given.size and given.max() == 1:
        raise ValueError(
            f"image is a mask of 0 and 1 in {given.dtype}, whose full coverage is {np.iinfo(given.dtype).max}; give "
            "antialias=False for a mask, antialias=True for coverage"
        )
