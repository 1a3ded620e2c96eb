"""Rays through masks and distance fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._dispatch import workplace_of
from nearfield._medial_axis import _packed, _Where, _words
from nearfield._progress import Progress
from nearfield._request import Request, Spacing, length_of, said, spacing_of, word_of
from nearfield._traced import refuse_traced
from nearfield._workplace import Slot, Workplace

_SKIPS = ("none", "cubes", "octants")


@dataclass(frozen=True, eq=False)
class RayHits:
    """What rays hit, a row for each."""

    cells: Any  #: (n, axes) int32: the first occupied cell; -1 where none is hit
    faces: Any  #: (n,) int8: 2 * axis + side of the face it is entered by, side 0 at the smaller coordinate; or -1
    entry: Any  #: (n,) float64: t at that face, at origin + t * direction; inf where none is hit
    steps: Any  #: (n,) int32: cells looked at


@dataclass(frozen=True, eq=False)
class SurfaceHits:
    """Where rays meet a surface, a row for each."""

    entry: Any  #: (n,) float64: t of the point origin + t * direction; inf where none is met
    normals: Any  #: (n, axes) float32: unit vectors towards larger values of the field; 0 where none is met
    steps: Any  #: (n,) int32: cells looked at


def raycast(
    mask: Any,
    rays: Any,
    *,
    skips: Literal["none", "cubes", "octants"] = "cubes",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> RayHits:
    """The first occupied cell on each ray: that of the plain walk from cell to cell, always.

    Parameters
    ----------
    mask : array of 2 or 3 axes
        Occupied is what is not zero. Any element type; on the CPU or a GPU.
    rays : pair of arrays, each (n, axes) or (axes,)
        Origins and directions in cells, in the order of the mask's axes; cell centres are at integers. A direction may
        have any length but 0. `Camera.rays` makes those of a picture.
    skips : {'none', 'cubes', 'octants'}
        How empty cells are passed: one by one, by cubes of chessboard distances, or by those that lie ahead, which are
        larger and take longer to find (CPU only). The hits are the same.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    RayHits
        ``cells``, ``faces``, ``entry`` and ``steps``, of the mask's kind and on its device.

    Notes
    -----
    Origins are rounded to 1/65536 of a cell and directions to 26 bits; from there on all is integers, so the same hits
    come from the CPU and GPUs. Of faces at the same t that across the last axis is first. raycast.hpp has the details.

    References
    ----------
    Amanatides, Woo, "A fast voxel traversal algorithm for ray tracing", Eurographics 1987.

    Examples
    --------
    >>> import nearfield as nf
    >>> hits = nf.raycast([[0, 0, 0], [0, 0, 1]], ([[1, -2], [0, 0]], [[0, 1], [0, 1]]))
    >>> hits.cells
    array([[ 1,  2],
           [-1, -1]], dtype=int32)
    >>> hits.faces, hits.entry
    (array([ 2, -1], dtype=int8), array([3.5, inf]))
    """
    refuse_traced("mask", mask)
    way = _SKIPS.index(word_of("skips", skips, _SKIPS))
    work = workplace_of("mask", mask)
    ndim = _axes_of(work)
    origins, directions = _rays_of(rays, ndim)
    n = len(origins)
    out = [work.empty(shape, kind) for shape, kind in (((n, ndim), "int32"), ((n,), "int8"), ((n,), "float64"))]
    out.append(work.empty((n,), "int32"))
    where = _Where(work, device, threads, progress)
    with _words(work.name):
        first, second = _read(work, where, origins, directions)
        cells, faces, entry, steps = _written(out)
        _core.raycast(where.read(), first, second, cells, faces, entry, steps, way, *where.place())
        work.finish()
    return RayHits(*(work.hand_out(each) for each in out))


def sphere_trace(
    field: Any,
    rays: Any,
    level: float = 0.0,
    *,
    spacing: Spacing = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> SurfaceHits:
    """Where each ray first meets the surface on which a distance field has a value.

    Parameters
    ----------
    field : array of 2 or 3 axes
        Distances, signed or not: rays are free where they exceed `level`. Computed with float32; on the CPU or a GPU.
    rays : pair of arrays, each (n, axes) or (axes,)
        Origins and directions in cells, as in `raycast`.
    level : float
        Value of the field on the surface, in units of `spacing`.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    SurfaceHits
        ``entry``, ``normals`` and ``steps``, of the field's kind and on its device.

    Notes
    -----
    Between the cells' centres the field is linear along each axis. Steps are proved to be safe, see sphere_trace.hpp,
    so no surface of the interpolated field is passed, however thin; the same bits on the CPU and on GPUs.

    References
    ----------
    Hart, "Sphere tracing: a geometric method for the antialiased ray tracing of implicit surfaces", The Visual
    Computer 12, 1996.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> z, y, x = np.indices((21, 21, 21)) - 10
    >>> ball = np.sqrt(x * x + y * y + z * z) - 5
    >>> nf.sphere_trace(ball, ([10, 10, 0], [0, 0, 1])).entry
    array([5.])
    """
    refuse_traced("field", field)
    height = length_of("level", level)
    work = workplace_of("field", field)
    ndim = _axes_of(work)
    if work.dtype != "float32":
        work = workplace_of("field", as_floats(work))
    request = Request((), spacing_of(spacing, ndim, 0))
    origins, directions = _rays_of(rays, ndim)
    n = len(origins)
    out = [work.empty((n,), "float64"), work.empty((n, ndim), "float32"), work.empty((n,), "int32")]
    where = _Where(work, device, threads, progress)
    with _words(work.name):
        first, second = _read(work, where, origins, directions)
        entry, normals, steps = _written(out)
        options = request.options()
        _core.sphere_trace(where.read(), first, second, entry, normals, steps, options, height, *where.place())
        work.finish()
    return SurfaceHits(*(work.hand_out(each) for each in out))


def _axes_of(work: Workplace) -> int:
    if len(work.shape) not in (2, 3):
        raise ValueError(f"{work.name} has {len(work.shape)} axes; give an image or a volume")
    return len(work.shape)


def as_floats(work: Workplace) -> Any:
    """The array as float32."""
    return work.array.float() if work.framework.name == "torch" else work.array.astype("float32")


def _rays_of(rays: Any, ndim: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if not isinstance(rays, tuple | list) or len(rays) != 2:
        raise TypeError(f"rays is {said(rays)}; give a pair of arrays, origins and directions")
    both = []
    for name, each in zip(("origins", "directions"), rays):
        try:
            table = np.atleast_2d(np.asarray(each, "float64"))
        except (TypeError, ValueError):
            raise TypeError(f"rays: {name} is {said(each)}; give rows of numbers") from None
        if table.ndim != 2 or table.shape[1] != ndim:
            raise ValueError(f"rays: {name} has shape {table.shape}; give (n, {ndim})")
        both.append(np.ascontiguousarray(table))
    if len(both[0]) != len(both[1]):
        raise ValueError(f"rays has {len(both[0])} origins and {len(both[1])} directions; give as many of both")
    return both[0], both[1]


def _read(work: Workplace, where: _Where, *tables: np.ndarray[Any, Any]) -> list[_core.Array]:
    names = ("origins", "directions")
    return [where.other(name, table if where.staged else work.constant(table)) for name, table in zip(names, tables)]


def _written(slots: list[Slot]) -> list[_core.Array]:
    """Arrays made here are contiguous."""
    return [_packed(each).described() if isinstance(each.array, np.ndarray) else each.described for each in slots]
