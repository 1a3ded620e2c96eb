#!/usr/bin/env python3
"""Times meshes as cells, distances to them, isosurfaces and offsets beside other libraries, on the same inputs.

surfaces.py host [--quick] [--json FILE]      arrays in memory, beside trimesh, libigl and scikit-image
surfaces.py device [--quick] [--json FILE]    CuPy's arrays
surfaces.py --table FILE...                   writes docs/tables/surfaces-host.md and surfaces-device.md from such files

Peers that are not installed are named and left out. With --quick distances of peers that differ from ours are an error.
Needs nearfield and NumPy.
"""

import datetime
import importlib
from contextlib import suppress
from functools import partial

import numpy as np

from paths import Sheet, write_rows
from shapes import main

FACES = {False: (167, 300), True: (34, 60)}  # of a torus: across and around, two for each pair
SIDES = {"host": (192, 24), "device": (512, 64)}
POINTS = {False: 48, True: 12}  # a side of the grids on which peers measure
HEAD = (
    "Surfaces, on the {place}",
    "A torus across 0.82 of the grid, in cells of 1. All calls are Python's, medians, and take the mesh from memory of "
    "the CPU; on a GPU the answers are filled where they are. Peers ran in the same process for the same points. "
    "`./dev bench surfaces {place}` times every row.",
)


def torus(nf, quick, side):
    across, around = FACES[quick]
    phi, theta = np.meshgrid(np.arange(around) / around * 2 * np.pi, np.arange(across) / across * 2 * np.pi)
    wide = side * (0.293 + 0.117 * np.cos(theta))
    at = np.stack([wide * np.cos(phi), wide * np.sin(phi), side * 0.117 * np.sin(theta)], -1) + side / 2 + 0.3
    i, k = np.meshgrid(np.arange(across), np.arange(around), indexing="ij")
    a, b = i * around + k, i * around + (k + 1) % around
    c, d = (i + 1) % across * around + (k + 1) % around, (i + 1) % across * around + k
    faces = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    return nf.Mesh(at.reshape(-1, 3), faces)


def peers_of_distances(mesh, points):
    """(distribution, call that gives distances of points)."""

    def trimesh():
        library = importlib.import_module("trimesh.proximity")
        theirs = mesh.to_trimesh()
        return lambda: library.closest_point(theirs, points)[1]

    def libigl():
        library = importlib.import_module("igl")
        faces = mesh.faces.astype(np.int64)
        return lambda: np.sqrt(library.point_mesh_squared_distance(points, mesh.vertices, faces)[0])

    yield "trimesh", trimesh
    yield "libigl", libigl


def peers_of_cells(mesh):
    def trimesh():
        importlib.import_module("trimesh")
        theirs = mesh.to_trimesh()
        return lambda: theirs.voxelized(1.0).fill()

    yield "trimesh", trimesh


def peers_of_surfaces(field):
    def skimage():
        library = importlib.import_module("skimage.measure")
        return lambda: library.marching_cubes(field, 0)

    yield "scikit-image", skimage


def add_distances(nf, sheet, place, quick, mesh, side):
    def filled(dtype):
        return sheet.device.empty((side,) * 3, dtype)

    grid, shape = nf.VoxelGrid((side,) * 3), (side,) * 3
    field, face = filled("f4"), filled("i4")
    for name, how in (
        ("signed band of 3 cells", {"signed": True, "max_distance": 3}),
        ("every cell, signed", {"signed": True}),
        ("every cell, with triangles", {"triangle_out": face}),
        ("every cell, by samples", {"samples": True}),
    ):
        sheet.add("torus", shape, name, partial(nf.mesh_distance, mesh, grid, out=field, **how))
    nf.mesh_distance(mesh, grid, out=field, signed=True)
    of_surfaces = peers_of_surfaces(field) if place == "host" else ()
    sheet.add("torus", shape, "isosurface", partial(nf.isosurface, field, 0, inside="below"), of_surfaces)
    if place == "device":
        return
    few = POINTS[quick]
    coarse = nf.VoxelGrid((few,) * 3, (0, 0, 0), side / few)
    points = np.stack(np.meshgrid(*[np.arange(few) * (side / few)] * 3, indexing="ij"), -1).reshape(-1, 3)
    of_peers = list(peers_of_distances(mesh, points))
    ours = partial(nf.mesh_distance, mesh, coarse, dtype="float64")
    for distribution, theirs in of_peers if quick else ():
        with suppress(ImportError):
            assert np.allclose(theirs()(), ours().ravel(), atol=1e-6), f"{distribution} gives other distances"
    sheet.add("torus", (few,) * 3, "every cell", ours, of_peers)


def measure(place, quick):
    import nearfield as nf

    sheet, side = Sheet(place, quick), SIDES[place][quick]
    mesh = torus(nf, quick, side)
    grid, cells = nf.VoxelGrid((side,) * 3), sheet.device.empty((side,) * 3, bool)
    of_peers = peers_of_cells(mesh) if place == "host" else ()
    sheet.add("torus", grid.shape, "voxelize", partial(nf.voxelize, mesh, grid=grid, out=cells), of_peers)
    add_distances(nf, sheet, place, quick, mesh, side)
    where = {"device": "cuda"} if place == "device" else {}
    for method in ("exact", "voxels"):
        sheet.add(
            "torus", grid.shape, f"offset, {method}", partial(nf.offset, mesh, 3, pitch=1, method=method, **where)
        )
    info = nf.info()
    machine = info.devices[0].name if place == "device" else f"{info.cores} cores, {info.simd}"
    if sheet.missing:
        print(f"not installed: {', '.join(sorted(sheet.missing))}")
    return {"place": place, "device": machine, "date": f"{datetime.date.today()}", "rows": sheet.rows}


if __name__ == "__main__":
    main(__doc__, measure, partial(write_rows, "surfaces", HEAD))
