"""Homotopic skeletons: shapes thinned to curves or points that keep their components, tunnels and cavities."""

from __future__ import annotations

from typing import Any

from nearfield import _core
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import (
    Border,
    Request,
    Spacing,
    batch_of,
    border_of,
    count_of,
    said,
    spacing_of,
)
from nearfield._run_at import RunAt, filled
from nearfield._traced import is_traced
from nearfield._workplace import Workplace

KEPT = ("ends", "isthmuses")


def skeletonize(
    image: Any,
    *,
    keep: Any = "ends",
    connectivity: int | None = None,
    spacing: Spacing = None,
    border: Border = "open",
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Thin a shape to a skeleton with the same components, tunnels and cavities.

    Parameters
    ----------
    image : array of 1 to 3 axes, besides those of batches
        Cells that are not zero are the shape. NumPy, CuPy, PyTorch, JAX and others, as in `distance_transform`. The
        call does not change it.
    keep : {'ends', 'isthmuses'}, array or None
        Says which cells stay although the topology does not need them. ``'ends'``: cells with one neighbour, where
        curves end. ``'isthmuses'``: cells that join two or more parts of their surroundings. An array of the image's
        shape: cells that are not zero in it. None: no cell, so that a solid body shrinks to one cell.
    connectivity : int, optional
        Says which cells of the shape are neighbours: those that share a face (1; 4 in 2-D, 6 in 3-D), or also those
        that share an edge or a corner (2 or 8 in 2-D, 3 or 26 in 3-D), which is the default. Cells outside the shape
        take the other rule.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis, in array order. Default: 1.
    border : {'open', 'closed', 'periodic'} or sequence of one per axis
        Ends of the axes for distances, as in `distance_transform`. The shape stops at open and closed ends; along a
        periodic axis it continues at the other end.
    batch_axes : int
        Number of leading axes that number images; each image is thinned by itself. Default: 0.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array of bool
        Shape and kind of `image`.

    Raises
    ------
    TypeError, ValueError, MemoryError, RuntimeError
        As in `distance_transform`.

    Notes
    -----
    Cells are removed in the order of their exact distance to the nearest cell outside, in layers a sixteenth of a cell
    thick. Within a layer, cells take turns by the parity of their coordinates. Only a simple cell is removed, one whose
    removal changes no component, tunnel or cavity. The CPU and GPUs give the same bits with any number of threads.
    `skeleton_graph` turns the answer into branches.

    Examples
    --------
    >>> import nearfield as nf
    >>> bar = [[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]]
    >>> nf.skeletonize(bar, border="closed").astype(int)
    array([[0, 0, 0, 0, 0, 0],
           [0, 1, 1, 1, 1, 0],
           [0, 0, 0, 0, 0, 0]])
    """
    if is_traced(image):
        from nearfield import _jax_workplace

        words = {"keep": keep, "connectivity": connectivity, "spacing": spacing, "border": border}
        words |= {"batch_axes": batch_axes, "device": device, "threads": threads}
        return _jax_workplace.called_back(skeletonize, "image", image, image.shape, "bool", None, False, **words)
    work = workplace_of("image", image)
    ndim = len(work.shape)
    batch = batch_of(batch_axes, ndim)
    options = Request((), spacing_of(spacing, ndim, batch), border=border_of(border, ndim, batch), batch_axes=batch)
    faces = _faces(connectivity, ndim - batch)
    word, anchors = _kept(work, keep)
    where, slot = RunAt(work, device, threads, progress), work.empty(work.shape, "bool")

    def call(read: _core.Array, to: _core.Array) -> None:
        held = None if anchors is None else where.other("keep", anchors)
        _core.skeletonize(read, held, to, options.options(), word, faces, *where.place())

    return filled(work, slot, where, call)


def _kept(work: Workplace, keep: Any) -> tuple[str, Any]:
    """Returns the library's word, and the cells that stay as bool."""
    if keep is None:
        return "nothing", None
    if isinstance(keep, str):
        if keep not in KEPT:
            raise ValueError(f"keep is {said(keep)}; give 'ends', 'isthmuses', an array of the image's shape, or None")
        return keep, None
    given = workplace_of("keep", keep)
    if given.shape != work.shape:
        raise ValueError(f"keep has shape {given.shape} and {work.name} {work.shape}; give the same shape for both")
    cells = given.array
    return "nothing", cells if given.dtype in ("bool", "uint8") else cells != 0


def _faces(connectivity: int | None, axes: int) -> bool:
    """Says whether neighbours in the shape share faces only."""
    if connectivity is None:
        return False
    number = count_of("connectivity", connectivity, 1)
    if number in (1, 2 * axes) and axes > 1:
        return True
    if number not in (axes, 3**axes - 1):
        raise ValueError(
            f"connectivity is {said(connectivity)}; give 1 (neighbours share a face) or {axes} (a face, an edge or a "
            f"corner) for {axes} axes"
        )
    return False
