"""Rays through masks and distance fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._arrays import framework_of
from nearfield._camera import Camera, view_of
from nearfield._dispatch import workplace_of
from nearfield._progress import Progress
from nearfield._request import Request, Spacing, count_of, length_of, said, spacing_of, word_of
from nearfield._run_at import RunAt, in_our_words, packed_of
from nearfield._traced import refuse_traced
from nearfield._workplace import Slot, Workplace

_SKIPS = ("none", "cubes", "octants")


@dataclass(frozen=True, eq=False)
class RayHits:
    """Hits of rays on cells, one a row."""

    cells: Any  #: (n, axes) int32: first occupied cell; -1 if the ray hits none
    faces: Any  #: (n,) int8: 2 * axis + side of the face through which the ray enters, side 0 at the lower end; or -1
    entry: Any  #: (n,) float64: t at that face, at origin + t * direction; inf if the ray hits nothing
    steps: Any  #: (n,) int32: number of cells inspected


@dataclass(frozen=True, eq=False)
class SurfaceHits:
    """Hits of rays on a surface: one a row, or one a pixel of a camera's picture, of shape (height, width)."""

    entry: Any  #: (n,) float64: t of the point origin + t * direction; inf if the ray meets nothing
    normals: Any  #: (n, axes) float32: unit vectors towards larger values of the field; 0 if the ray meets nothing
    steps: Any  #: (n,) int32: number of cells inspected


def raycast(
    mask: Any,
    rays: Any,
    *,
    skips: Literal["none", "cubes", "octants"] = "cubes",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> RayHits:
    """Finds the first occupied cell on each ray, always that of the plain walk from cell to cell.

    Parameters
    ----------
    mask : array of 2 or 3 axes
        Cells that are not zero are occupied. Any element type, on the CPU or a GPU.
    rays : pair of arrays, each (n, axes) or (axes,)
        Origins and directions in cells, in the order of the mask's axes; cell centres are at integers. A direction may
        have any length but 0. `Camera.rays` makes the rays of a picture. A ray whose origin has a coordinate
        beyond 2^19 cells in size, or that has NaN, infinity or no direction, hits nothing. Arrays of CuPy and PyTorch
        beside a mask on the same GPU are used there; others are copied, which takes 15 ms for two million rays.
    skips : {'none', 'cubes', 'octants'}
        How to pass empty cells: one by one, by cubes of chessboard distances, or by cubes that lie ahead, which are
        larger and take longer to find (CPU only). The hits are the same.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    RayHits
        Arrays ``cells``, ``faces``, ``entry`` and ``steps``, of the mask's kind and on its device.

    Notes
    -----
    Origins are rounded to 1/65536 of a cell and directions to 26 bits; all later steps use integers, so the CPU and
    GPUs give the same hits. If a ray meets faces at the same t, the one across the last axis comes first. raycast.hpp
    has the details.

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
    where = RunAt(work, device, threads, progress)
    with in_our_words(work.name):
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
    width: int | None = None,
    height: int | None = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> SurfaceHits:
    """Finds the first point on each ray at which a distance field has a given value.

    Parameters
    ----------
    field : array of 2 or 3 axes
        Distances, signed or not; rays are free where they exceed `level`. They are used as float32, on the CPU or a
        GPU.
    rays : Camera, or pair of arrays, each (n, axes) or (axes,)
        A camera that looks at a field of 3 axes, as in `render`: ``entry`` is the distance from its eye, in units of
        `spacing`. Or origins and directions in cells, as in `raycast`.
    level : float
        Value of the field on the surface, in units of `spacing`.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis. Default: 1.
    width, height : int, optional
        Size of a camera's picture in pixels. Default: 800 x 600.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    SurfaceHits
        Arrays ``entry``, ``normals`` and ``steps``, of the field's kind and on its device, with a row for each ray or
        of the shape of a camera's picture.

    Notes
    -----
    Between the cells' centres the field is linear along each axis. Steps are proved to be safe (see sphere_trace.hpp):
    a ray never passes a surface of the interpolated field, however thin. The CPU and GPUs give the same bits.

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
    value = length_of("level", level)
    work = workplace_of("field", field)
    ndim = _axes_of(work)
    if work.dtype != "float32":
        work = workplace_of("field", as_floats(work))
    request = Request((), spacing_of(spacing, ndim, 0))
    shape: tuple[int, ...]
    if isinstance(rays, Camera):
        rows = 600 if height is None else count_of("height", height, 1, 2**20)
        shape = (rows, 800 if width is None else count_of("width", width, 1, 2**20))
    else:
        if width is not None or height is not None:
            raise ValueError("width and height go with a camera; leave them out beside rays")
        tables = _rays_of(rays, ndim)
        shape = (len(tables[0]),)
    out = [work.empty(shape, "float64"), work.empty((*shape, ndim), "float32"), work.empty(shape, "int32")]
    where = RunAt(work, device, threads, progress)
    with in_our_words(work.name):
        entry, normals, steps = _written(out)
        options, place = request.options(), where.place()
        if isinstance(rays, Camera):
            _core.sphere_trace_camera(where.read(), view_of(rays), entry, normals, steps, options, value, *place)
        else:
            first, second = _read(work, where, *tables)
            _core.sphere_trace(where.read(), first, second, entry, normals, steps, options, value, *place)
        work.finish()
    return SurfaceHits(*(work.hand_out(each) for each in out))


def _axes_of(work: Workplace) -> int:
    if len(work.shape) not in (2, 3):
        raise ValueError(f"{work.name} has {len(work.shape)} axes; give an image or a volume")
    return len(work.shape)


def as_floats(work: Workplace) -> Any:
    """Converts the array to float32; refuses an array of the host with numbers that float32 does not hold."""
    if work.framework.name == "torch":
        return work.array.float()
    try:
        with np.errstate(over="raise"):
            return work.array.astype("float32")
    except FloatingPointError:
        raise ValueError(f"{work.name} has values beyond float32, which ends at 3.4e38; scale them") from None


def _rays_of(rays: Any, ndim: int) -> tuple[Any, Any]:
    if not isinstance(rays, tuple | list) or len(rays) != 2:
        raise TypeError(f"rays is {said(rays)}; give a pair of arrays, origins and directions")
    both = []
    for name, each in zip(("origins", "directions"), rays):
        table = _on_gpu(each)
        if table is None:
            try:
                table = np.ascontiguousarray(np.atleast_2d(np.asarray(each, "float64")))
            except (TypeError, ValueError):
                raise TypeError(f"rays: {name} is {said(each)}; give rows of numbers") from None
        if table.ndim != 2 or table.shape[1] != ndim:
            raise ValueError(f"rays: {name} has shape {tuple(table.shape)}; give (n, {ndim})")
        both.append(table)
    if len(both[0]) != len(both[1]):
        raise ValueError(f"rays has {len(both[0])} origins and {len(both[1])} directions; give as many of both")
    return both[0], both[1]


def _on_gpu(x: Any) -> Any:
    """Returns rows of float64 where they are; None for arrays of other kinds, and those in memory of the CPU."""
    framework = framework_of(x)
    if framework.name not in ("torch", "cupy") or framework.place(x).ordinal < 0:
        return None
    table = x.double() if framework.name == "torch" else x.astype("float64", copy=False)
    return table[None] if table.ndim == 1 else table


def _read(work: Workplace, where: RunAt, *tables: Any) -> list[_core.Array]:
    return [
        where.other(name, work.constant(each) if isinstance(each, np.ndarray) and not where.staged else each)
        for name, each in zip(("origins", "directions"), tables)
    ]


def _written(slots: list[Slot]) -> list[_core.Array]:
    """Describes arrays made here, which are contiguous."""
    return [packed_of(each).described() if isinstance(each.array, np.ndarray) else each.described for each in slots]
