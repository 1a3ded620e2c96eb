"""Triangle meshes: vertices and faces as arrays, measures, files, and meshes of other packages."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY
from nearfield._request import flag_of, not_taken, said

Array = np.ndarray[Any, Any]


class _Measures(NamedTuple):
    closed: bool
    open_edges: int
    euler: int
    volume: float
    area: float


class Mesh:
    """Triangles in space. Coordinate k of a vertex runs along axis k of a grid.

    Parameters
    ----------
    vertices : array of numbers, shape (n, 3); or a mesh of trimesh, PyVista or VTK, without `faces`
    faces : array of integers, shape (m, 3)
        Numbers of three vertices each, counter-clockwise seen from outside.

    Attributes
    ----------
    vertices : array of float64, shape (n, 3)
    faces : array of int32, shape (m, 3)
    closed : bool
        True if every edge belongs to two faces that traverse it in opposite directions.
    open_edges : int
        Number of edges that faces do not traverse equally often in both directions.
    euler : int
        Euler number: used vertices - edges + faces; 2 for a sphere, 0 for a torus.
    volume, area : float
        Enclosed volume, which is negative if faces point inwards; and area of the surface.

    Examples
    --------
    >>> import nearfield as nf
    >>> corner = nf.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> corner, corner.closed, corner.euler
    (Mesh(4 vertices, 4 faces), True, 2)
    """

    def __init__(self, vertices: Any, faces: Any = None) -> None:
        if faces is None:
            vertices, faces = _of_other_package(vertices)
        self.vertices = _table("vertices", vertices, "f8")
        self.faces = _table("faces", faces, "i4")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Mesh:
        """Reads a mesh from a file, by suffix: ``.stl .obj .ply .off``, as text or binary. See docs/surfaces.md."""
        name = os.fspath(path)
        with open(name, "rb") as file:
            return cls(*_core.read_mesh(file.read(), str(name)))

    def write(self, path: str | os.PathLike[str], *, text: bool = False) -> None:
        """Writes a file by suffix: ``.stl .obj .ply .off``; STL and PLY are binary unless `text`."""
        name = os.fspath(path)
        values, title, low, high = self._shown()
        told = None if values is None else NUMPY.describe(title, values, False)
        data = _core.mesh_bytes(*self._described(), str(name), flag_of("text", text), told, title, low, high)
        with open(name, "wb") as file:
            file.write(data)

    def _shown(self) -> tuple[Array | None, str, float, float]:
        """Returns a number per vertex, which PLY files store, its name, and the numbers shown in blue and in red."""
        return None, "", 0.0, 1.0

    @cached_property
    def _measures(self) -> _Measures:
        return _Measures(*_core.measure_mesh(*self._described()))

    @property
    def closed(self) -> bool:
        return self._measures.closed

    @property
    def open_edges(self) -> int:
        return self._measures.open_edges

    @property
    def euler(self) -> int:
        return self._measures.euler

    @property
    def volume(self) -> float:
        return self._measures.volume

    @property
    def area(self) -> float:
        return self._measures.area

    def to_trimesh(self) -> Any:
        """Returns a ``trimesh.Trimesh`` with the same vertices and faces."""
        import trimesh

        return trimesh.Trimesh(self.vertices, self.faces, process=False)

    def to_pyvista(self) -> Any:
        """Returns a ``pyvista.PolyData`` with the same vertices and faces."""
        import pyvista

        threes = np.full((len(self.faces), 1), 3, np.int64)
        return pyvista.PolyData(self.vertices, np.hstack([threes, self.faces]).ravel())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.vertices)} vertices, {len(self.faces)} faces)"

    def _described(self) -> tuple[_core.Array, _core.Array]:
        return NUMPY.describe("vertices", self.vertices, False), NUMPY.describe("faces", self.faces, False)


class OffsetMesh(Mesh):
    """A mesh that `offset` returns.

    Attributes
    ----------
    pitch : float
        Pitch of the grid on which distances were computed.
    error_bound : float
        Largest distance of points of the offset surface from where the mesh's distance is the requested one.
    thickness : array of float64, shape (n,), or None
        Thickness of a hollow part's wall at each vertex: the exact distance to the nearest point of its other side. PLY
        files store it, and colours: blue where it is the requested distance, red where it is at least twice that.
    """

    pitch: float
    error_bound: float
    thickness: Array | None = None
    _asked: float

    def _shown(self) -> tuple[Array | None, str, float, float]:
        if self.thickness is None:
            return super()._shown()
        return self.thickness, "thickness", self._asked, 2 * self._asked


def mesh_of(x: Any) -> Mesh:
    """Converts the argument `mesh` of a call."""
    if isinstance(x, Mesh):
        return x
    try:
        return Mesh(*x) if isinstance(x, tuple) and len(x) == 2 else Mesh(x)
    except (TypeError, ValueError) as problem:
        raise type(problem)(f"mesh: {problem}") from None


def is_mesh(x: Any) -> bool:
    """True for a Mesh, and for a mesh of trimesh, PyVista or VTK."""
    return isinstance(x, Mesh) or (hasattr(x, "vertices") and hasattr(x, "faces")) or hasattr(x, "GetPolys")


Kind = TypeVar("Kind", bound=Mesh)


def mesh_made(kind: type[Kind], arrays: tuple[Array, Array]) -> Kind:
    """Takes over arrays that the library made, without checks."""
    made = kind.__new__(kind)
    made.vertices, made.faces = arrays
    return made


def _table(name: str, given: Any, dtype: str) -> Array:
    try:
        table = np.asarray(given)
    except Exception:
        raise not_taken(name, given, "an array of shape (n, 3)") from None
    if table.size == 0 and table.ndim <= 2:
        return np.empty((0, 3), dtype)
    if table.ndim != 2 or table.shape[1] != 3:
        raise ValueError(f"{name} has shape {table.shape}; give an array of shape (n, 3)")
    if table.dtype.kind not in ("biuf" if dtype == "f8" else "iu"):
        raise TypeError(f"{name} has element type {table.dtype}; give {'numbers' if dtype == 'f8' else 'integers'}")
    if dtype == "i4" and (int(table.min()) < 0 or int(table.max()) >= 2**31):
        span = f"{int(table.min())} to {int(table.max())}"
        raise ValueError(f"{name} names vertices {span}; give numbers from 0 below 2**31")
    return np.ascontiguousarray(table, dtype)


def _of_other_package(x: Any) -> tuple[Any, Any]:
    """Vertices and faces of a mesh of trimesh, PyVista or VTK; polygons become fans of triangles."""
    if isinstance(x, Mesh):
        return x.vertices, x.faces
    if hasattr(x, "vertices") and hasattr(x, "faces"):
        return x.vertices, x.faces
    if hasattr(x, "GetPoints") and hasattr(x, "GetPolys"):
        from vtkmodules.util.numpy_support import vtk_to_numpy

        polys = x.GetPolys()
        if polys.GetNumberOfCells() == 0:
            raise ValueError(f"vertices is a {type(x).__name__} without polygons; extract its surface first")
        corner, first = vtk_to_numpy(polys.GetConnectivityArray()), vtk_to_numpy(polys.GetOffsetsArray())
        return vtk_to_numpy(x.GetPoints().GetData()), _fans(corner, first)
    raise TypeError(f"vertices is {said(x)} and faces is left out; give both, or a mesh of trimesh, PyVista or VTK")


def _fans(corner: Array, first: Array) -> Array:
    """Triangulates the polygons corner[first[i]:first[i + 1]], in their order."""
    size = np.maximum(np.diff(first) - 2, 0)
    polygon = np.repeat(np.arange(len(size)), size)
    step = np.arange(len(polygon)) - np.repeat(np.cumsum(size) - size, size)
    start = first[polygon]
    return np.stack([corner[start], corner[start + step + 1], corner[start + step + 2]], axis=1)
