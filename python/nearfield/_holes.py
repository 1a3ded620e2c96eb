"""Holes of masks and of gray values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield._components import remove_small
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import Border, border_of
from nearfield._watershed import Call, options_of, words, zeros_of
from nearfield._workplace import Workplace


def fill_holes(
    image: Any,
    *,
    connectivity: int = 1,
    border: Border = "open",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Fills holes: raises cells that no water from the ends of the axes reaches to their lowest pass.

    Parameters
    ----------
    image : array
        A mask, whose holes are background enclosed by foreground; or values of any other type that `watershed` takes.
    connectivity : int
        Neighbours through which water flows, as in `watershed`; 1 is the rule of SciPy's `binary_fill_holes`.
    border : {'open', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis. Water enters at open ends, not at periodic ones.
    device, threads, progress
        As in `watershed`.

    Returns
    -------
    array
        Shape and type of `image`.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.fill_holes([0, 3, 1, 2, 0, 1])
    array([0, 3, 2, 2, 1, 1])
    """
    work = workplace_of("image", image)
    options = options_of(len(work.shape), connectivity, border, False)
    ends = border_of(border, len(work.shape), 0)
    each = ends * len(work.shape) if len(ends) == 1 else ends
    if "closed" in each:
        raise ValueError("border is closed along an axis; give open or periodic")
    mask, top = _mask_of(work, "open" in each)
    if mask is not None:
        # Holes of a mask are the components of its background that touch no open end.
        holes = remove_small(
            ~mask,
            0,
            connectivity=connectivity,
            periodic=[end == "periodic" for end in each],
            clear_border=True,
            device=device,
            threads=threads,
            progress=progress,
        )
        return mask | holes if top is None else np.where(mask | holes, top, np.zeros_like(top))
    inlets = _inlets_of(work, each)
    passes = work.empty(work.shape, work.dtype)
    call = Call(work, device, threads, progress)
    with words(work.name):
        call.flood(inlets, None, None, passes, options)
    return work.in_given_type(work.hand_out(passes))


def _mask_of(work: Workplace, inlets: bool) -> tuple[Any, Any]:
    """Returns an image as a mask, and the value of its foreground unless that is True; None if it is no mask.

    Integers of NumPy that have one value besides 0 make a mask, which takes a third of the time of gray values. Without
    inlets no pass is finite, so that gray values become infinite.
    """
    given = work.array
    if work.dtype == "bool":
        return (given if work.place.ordinal < 0 or len(work.shape) <= 3 else None), None
    if inlets and isinstance(given, np.ndarray) and given.dtype.kind in "iu" and given.size:
        top = given.max()
        if top > 0 and given.min() == 0 and ((given == 0) | (given == top)).all():
            return given != 0, top
    return None, None


def _inlets_of(work: Workplace, ends: Sequence[str]) -> Any:
    """Markers at the open ends of axes."""
    made, there = zeros_of(work, "uint8")
    for axis, end in enumerate(ends):
        if end == "open" and work.shape[axis] > 0:
            for at in (0, -1):
                made[(slice(None),) * axis + (at,)] = 1
    return made if there else work.constant(made)
