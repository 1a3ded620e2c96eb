"""From meshes to grids and back: cells and distances of a mesh, isosurfaces of a field, offset surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._arrays import HOST, name_of
from nearfield._call import target
from nearfield._filled import Filled
from nearfield._mesh import Array, Mesh, OffsetMesh, mesh_made, mesh_of
from nearfield._progress import Progress, callable_of
from nearfield._request import (
    check_flags,
    count_of,
    flag_of,
    items_of,
    length_of,
    max_distance_of,
    not_taken,
    said,
    threads_of,
    word_of,
)
from nearfield._run_at import RunAt
from nearfield._workplace import Workplace

Lengths = float | Sequence[float]


class VoxelGrid:
    """A grid in the space of a mesh, and cells on it: the centre of cell (i, j, k) is ``origin + pitch * (i, j, k)``.

    Parameters
    ----------
    shape : three integers
    origin : three numbers
        Centre of the first cell.
    pitch : float or three floats
        Length of a cell along each axis; positive.

    Attributes
    ----------
    cells : array of bool, or what `voxelize` was given as `out`, or None
        Cells that `voxelize` marked; ``np.asarray(grid)`` reads them.
    """

    def __init__(self, shape: Sequence[int], origin: Sequence[float] = (0, 0, 0), pitch: Lengths = 1.0) -> None:
        sizes = items_of(shape)
        if sizes is None or len(sizes) != 3:
            raise not_taken("shape", shape, "three integers")
        self.shape = tuple(count_of("shape", each, 0) for each in sizes)
        self.origin = _three("origin", origin)
        self.pitch = pitch if isinstance(pitch, float | int) and not isinstance(pitch, bool) else _three("pitch", pitch)
        self.cells: Any = None

    @classmethod
    def around(
        cls, mesh: Any, pitch: float | None = None, *, shape: int | Sequence[int] | None = None, margin: int = 1
    ) -> VoxelGrid:
        """Smallest grid of cubes that holds a mesh and `margin` cells on every side, by its pitch or its shape."""
        if (pitch is None) == (shape is None):
            raise TypeError("pitch or shape: give one of them")
        sizes = items_of(shape) or ([0] * 3 if shape is None else [shape] * 3)
        if len(sizes) != 3:
            raise not_taken("shape", shape, "an integer or three")
        counts = [count_of("shape", each, 0, 2**20) for each in sizes]
        length = 0.0 if pitch is None else length_of("pitch", pitch)
        rim = count_of("margin", margin, 0, 2**20)
        made, origin, lengths = _core.grid_around(*mesh_of(mesh)._described(), length, counts, pitch is None, rim)
        return cls(made, origin, lengths[0])

    @property
    def spacing(self) -> tuple[float, ...]:
        """The pitch along each axis."""
        return _three("pitch", self.pitch)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.cells is None:
            raise ValueError("the grid has no cells; voxelize() makes one that has")
        return np.array(self.cells, dtype=dtype, copy=bool(copy) or (dtype is not None and dtype != self.cells.dtype))

    def __repr__(self) -> str:
        return f"VoxelGrid({self.shape}, origin={self.origin}, pitch={self.pitch})"


def voxelize(
    mesh: Any,
    pitch: float | None = None,
    *,
    shape: int | Sequence[int] | None = None,
    grid: VoxelGrid | None = None,
    margin: int = 1,
    solid: bool = True,
    surface: bool = False,
    winding: bool = False,
    out: Any = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> VoxelGrid:
    """Marks the cells of a mesh, by exact tests.

    Parameters
    ----------
    mesh : Mesh, or one of trimesh, PyVista or VTK, or a pair of vertices and faces
    pitch : float
        Side of a cell, in the mesh's unit. Or give `shape` (one integer for all axes, or three), or a whole `grid`.
    margin : int
        Number of cells to leave on every side of the mesh.
    solid : bool
        Mark cells whose centre lies inside.
    surface : bool
        Mark cells that a triangle meets.
    winding : bool
        Take cells as inside if the size of their generalised winding number is above 1/2. This accepts open meshes, and
        keeps regions that several shells cover. Else the mesh must be closed, and regions of two shells are outside.
    out : array of bool or uint8, of the grid's shape
        Array to use as `cells`: of NumPy, or on a GPU of CuPy, torch and others, in which case the call runs there.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    VoxelGrid
        The grid with its `cells` (bool); ``np.asarray`` gives the cells. Axis k runs along coordinate k.

    Examples
    --------
    >>> import nearfield as nf
    >>> corner = nf.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> nf.voxelize(corner, 1, margin=0).cells.sum(axis=2)
    array([[3, 2, 1, 0],
           [2, 1, 0, 0],
           [1, 0, 0, 0],
           [0, 0, 0, 0]])
    """
    check_flags(solid=solid, surface=surface, winding=winding)
    given = mesh_of(mesh)
    if grid is None:
        made = VoxelGrid.around(given, pitch, shape=shape, margin=margin)
    else:
        if pitch is not None or shape is not None:
            raise TypeError("pitch or shape: leave out both where a grid is given")
        count_of("margin", margin, 0)
        made = VoxelGrid(*_checked(grid))
    filled = Filled(made.shape, [("out", out, "bool")], device, threads, progress)
    (cells,), (vertices, faces) = filled.described(), given._described()
    _core.voxelize(
        vertices, faces, cells, made.origin, made.spacing, bool(solid), bool(surface), bool(winding),
        *filled.where.place(),
    )  # fmt: skip
    (made.cells,) = filled.finish()
    return made


def mesh_distance(
    mesh: Any,
    grid: VoxelGrid,
    *,
    signed: bool = False,
    winding: bool = False,
    max_distance: float | None = None,
    samples: bool = False,
    return_triangle: bool = False,
    dtype: Any = "float32",
    out: Any = None,
    triangle_out: Any = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Measures the distance from every cell of a grid to a mesh, exactly unless `samples`, and the nearest triangle.

    Parameters
    ----------
    mesh : Mesh, or one of trimesh, PyVista or VTK, or a pair of vertices and faces
    grid : VoxelGrid
        Grid such as ``nf.VoxelGrid.around(mesh, 0.5)``. Distances are measured from cell centres.
    signed : bool
        Make distances inside negative; `voxelize` defines inside.
    winding : bool
        As in `voxelize`.
    max_distance : float, optional
        Largest distance to compute; a small one is faster. Farther cells get inf (inside -inf) and triangle -1.
    samples : bool
        Compute faster, with exact distances only within two cell diagonals of the mesh. Farther cells take a triangle
        from the nearest of those; their distances are never too small, and too large by at most a cell's diagonal. The
        mesh must lie within the grid.
    return_triangle : bool
        Also return the number of the nearest face, the first one if several are equally near.
    dtype : {'float32', 'float64'}
        Type of the distances and of `out`.
    out, triangle_out : arrays of the grid's shape
        Arrays to fill, the second one of int32: of NumPy, or of a GPU's framework, in which case the call runs there.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array of the grid's shape, or with `return_triangle` a pair of it and an array of int32

    Examples
    --------
    >>> import nearfield as nf
    >>> plate = nf.Mesh([[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0]], [[0, 1, 2], [0, 2, 3]])
    >>> nf.mesh_distance(plate, nf.VoxelGrid((1, 3, 3), origin=(1, 2, 0)), return_triangle=True)
    (array([[[0., 1., 2.],
            [0., 1., 2.],
            [0., 1., 2.]]], dtype=float32), array([[[1, 1, 1],
            [1, 1, 1],
            [1, 1, 1]]], dtype=int32))
    """
    check_flags(signed=signed, winding=winding, samples=samples, return_triangle=return_triangle)
    given, most = mesh_of(mesh), max_distance_of(max_distance)
    where = VoxelGrid(*_checked(grid))
    made = name_of(dtype)
    if made not in ("float32", "float64"):
        raise ValueError(f"dtype is {said(made)}; give float32 or float64")
    wanted = [("out", out, made)]
    if return_triangle or triangle_out is not None:
        wanted.append(("triangle_out", triangle_out, "int32"))
    filled = Filled(where.shape, wanted, device, threads, progress)
    (distance, *more), (vertices, faces) = filled.described(), given._described()
    _core.mesh_distance(
        vertices, faces, distance, more[0] if more else None, where.origin, where.spacing, bool(signed),
        bool(winding), most, bool(samples), *filled.where.place(),
    )  # fmt: skip
    fields = filled.finish()
    return fields[0] if len(fields) == 1 else tuple(fields)


def isosurface(
    field: Any,
    level: float,
    *,
    spacing: Lengths | None = None,
    origin: Sequence[float] | None = None,
    inside: Literal["above", "below"] = "above",
    closed: bool = False,
    method: Literal["marching_cubes", "dual_contouring"] = "marching_cubes",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Mesh:
    """Makes a mesh of the surface on which a field has a given value; its faces look outwards.

    Parameters
    ----------
    field : array of three axes, or VoxelGrid
        Values of any type but complex.
    level : float
    spacing, origin : optional
        Distance between values along each axis, and position of the first one. Default: those of a `VoxelGrid`, else 1
        and 0.
    inside : {'above', 'below'}
        Says which values are inside: above the level for a bright part, below it for a signed distance.
    closed : bool
        Treat the space beyond the ends of the grid as outside: caps close the surface there.
    method : {'marching_cubes', 'dual_contouring'}
        Algorithm. 'dual_contouring' keeps sharp edges of distance fields.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    Mesh
        The surface. It is closed if it stays away from the ends of the grid, or if `closed`.

    Examples
    --------
    >>> import nearfield as nf
    >>> import numpy as np
    >>> one = np.zeros((3, 3, 3))
    >>> one[1, 1, 1] = 1
    >>> ball = nf.isosurface(one, 0.5)
    >>> ball, ball.closed, ball.volume
    (Mesh(6 vertices, 8 faces), True, 0.16666666666666666)
    """
    check_flags(closed=closed)
    below = word_of("inside", inside, ("above", "below")) == "below"
    dual = word_of("method", method, ("marching_cubes", "dual_contouring")) == "dual_contouring"
    at = length_of("level", level)
    if isinstance(field, VoxelGrid):
        spacing = field.spacing if spacing is None else spacing
        origin = field.origin if origin is None else origin
        field = np.asarray(field) if field.cells is None else field.cells
    work = Workplace("field", field)
    where = RunAt(work, device, threads, progress)
    if len(work.shape) != 3:
        raise ValueError(f"field has {len(work.shape)} axes; give 3")
    steps = _three("spacing", 1.0 if spacing is None else spacing)
    first = _three("origin", (0, 0, 0) if origin is None else origin)
    made = _core.isosurface(where.read(), at, first, steps, below, bool(closed), dual, *where.place())
    return mesh_made(Mesh, made)


def offset(
    mesh: Any,
    distance: float,
    *,
    pitch: float | None = None,
    method: Literal["exact", "voxels"] = "exact",
    sharp: bool = False,
    hollow: bool = False,
    winding: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> OffsetMesh:
    """Computes the surface at a distance from a mesh: outside for a positive distance, inside for a negative one.

    Parameters
    ----------
    mesh : Mesh, or one of trimesh, PyVista or VTK, or a pair of vertices and faces
        Closed surface, unless `winding`.
    distance : float
        Signed distance, in units of the coordinates. With `hollow` it must be at least 2 pitches in size.
    pitch : float, optional
        Pitch of the grid on which distances are computed. Default: 1/256 of the longest side of the answer's box.
    method : {'exact', 'voxels'}
        Distances to measure: to the triangles, or to the faces of the cells of the voxelised part.
    sharp : bool
        Keep edges and corners, by dual contouring.
    hollow : bool
        Return the wall between the surface and its offset. A negative distance makes the part hollow and keeps its
        outside.
    winding : bool
        Accept open meshes and overlapping shells, as in `voxelize`.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    OffsetMesh
        A closed `Mesh` with `pitch`, `error_bound` and `thickness`. It has no faces if nothing is left.

    Examples
    --------
    >>> import nearfield as nf
    >>> corner = nf.Mesh([[0, 0, 0], [6, 0, 0], [0, 6, 0], [0, 0, 6]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> wall = nf.offset(corner, -0.5, pitch=0.1, hollow=True)
    >>> wall.closed, wall.euler, round(corner.volume), round(wall.volume, 1)
    (True, 4, 36, 28.1)
    >>> wall.thickness[:4].round(1)
    array([0.9, 2.1, 2.1, 2.1])
    """
    check_flags(sharp=sharp, hollow=hollow, winding=winding)
    voxels = word_of("method", method, ("exact", "voxels")) == "voxels"
    given, far = mesh_of(mesh), length_of("distance", distance)
    step = 0.0 if pitch is None else length_of("pitch", pitch)
    if pitch is not None and not step > 0:
        raise ValueError(f"pitch is {said(pitch)}; give a positive length")
    arrays, used, bound, thickness = _core.offset(
        *given._described(), far, step, voxels, flag_of("sharp", sharp), flag_of("hollow", hollow),
        flag_of("winding", winding), target(device, HOST, "mesh"), threads_of(threads), callable_of(progress),
    )  # fmt: skip
    made = mesh_made(OffsetMesh, arrays)
    made.pitch, made.error_bound, made._asked = used, bound, abs(far)
    if thickness:
        made.thickness = np.frombuffer(thickness, np.float64).copy()
    return made


def _three(name: str, value: Any) -> tuple[float, ...]:
    """Converts to three lengths or coordinates; one number stands for all."""
    items = items_of(value)
    if items is None:
        items = [value] * 3
    if len(items) != 3:
        raise not_taken(name, value, "a number or three")
    return tuple(length_of(name, each) for each in items)


def _checked(grid: Any) -> tuple[Any, Any, Any]:
    if not isinstance(grid, VoxelGrid):
        raise not_taken("grid", grid, "a VoxelGrid, such as VoxelGrid.around(mesh, 0.5)")
    return grid.shape, grid.origin, grid.pitch
