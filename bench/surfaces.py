#!/usr/bin/env python3
"""Times meshes as cells, distances to them, isosurfaces, offsets, steps, rays and pictures beside other libraries.

surfaces.py host [--quick] [--json FILE]      arrays in memory, beside SciPy, trimesh, Embree, libigl and scikit-image
surfaces.py device [--quick] [--json FILE]    CuPy's arrays
surfaces.py --table FILE...                   writes docs/tables/surfaces-host.md and surfaces-device.md from such files

Peers that are not installed are named and left out. With --quick distances of peers that differ from ours are an error.
Needs nearfield and NumPy.
"""

import datetime
import importlib
import time
from contextlib import suppress
from functools import partial

import numpy as np

from forms import smooth_mask
from paths import Sheet, write_rows
from shapes import main

FACES = {False: (167, 300), True: (34, 60)}  # of a torus: across and around, two for each pair
SIDES = {"host": (192, 24), "device": (512, 64)}
PICTURES = {"host": (640, 480), "device": (1920, 1080)}
STEPS = {"trimesh": (24, 6), "libigl": (4, 2)}  # along each axis, between the cells at which peers measure
HEAD = (
    "Surfaces, on the {place}",
    "A torus of 100,200 triangles across 0.82 of the grid, in cells of 1. All calls are Python's, and take the mesh "
    "from memory of the CPU. Times are medians; on a GPU answers are filled where they are; on the CPU ms are of "
    "processor time, which threads share and other programs change least, of the second run. Peers ran in the same "
    "process, those of distances for a part of the cells (trimesh 1 of 24^3, libigl 1 of 4^3), and their times are "
    "scaled to all. Masks are smooth ones with 10 % of the cells inside, and noise of 10 %; rays are those of a "
    "picture of 640 x 480 on the CPU and 1920 x 1080 on a GPU. The plain walk looks at each cell of a ray. Embree's "
    "rays meet the triangles of the mask's isosurface; its hierarchy is made before. "
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


def peers_of_distances(mesh, side, quick):
    """(distribution, call that gives distances of some cells, cells for each of them)."""

    def points(who):
        at = np.arange(0, side, STEPS[who][quick])
        return np.stack(np.meshgrid(at, at, at, indexing="ij"), -1).reshape(-1, 3).astype(float)

    def trimesh():
        library = importlib.import_module("trimesh.proximity")
        theirs, at = mesh.to_trimesh(), points("trimesh")
        return lambda: library.closest_point(theirs, at)[1]

    def libigl():
        library = importlib.import_module("igl")
        faces, at = mesh.faces.astype(np.int64), points("libigl")
        return lambda: np.sqrt(library.point_mesh_squared_distance(at, mesh.vertices, faces)[0])

    for who, call in (("trimesh", trimesh), ("libigl", libigl)):
        yield who, call, side**3 / len(points(who))


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
    of_peers = list(peers_of_distances(mesh, side, quick)) if place == "host" else []
    ours = partial(nf.mesh_distance, mesh, grid, out=field)
    sheet.add("torus", shape, "every cell", ours, of_peers)
    for distribution, theirs, _ in of_peers if quick else ():
        step = STEPS[distribution][quick]
        with suppress(ImportError):
            same = np.allclose(theirs()(), field[::step, ::step, ::step].ravel(), atol=1e-4)
            assert same, f"{distribution} gives other distances"
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


def peers_of_steps(nf, image, metric, out, place):
    def scipy():
        library = importlib.import_module("scipy.ndimage")
        return lambda: library.distance_transform_cdt(image, metric if metric == "chessboard" else "taxicab")

    yield "Euclidean, ours", lambda: partial(nf.distance_transform, image, out=out)
    if place == "host":
        yield "scipy", scipy


def peers_of_rays(nf, mask, rays, place):
    def embree():
        library, trimesh = importlib.import_module("trimesh.ray.ray_pyembree"), importlib.import_module("trimesh")
        solid = nf.isosurface(mask, 0.5)
        caster = library.RayMeshIntersector(trimesh.Trimesh(solid.vertices, solid.faces, process=False))
        caster.intersects_first(*(each[:1] for each in rays))
        return lambda: caster.intersects_first(*rays)

    yield "plain walk", lambda: partial(nf.raycast, mask, rays, skips="none")
    if place == "host":
        yield "embreex", embree


def add_steps(nf, sheet, place, noise, smooth):
    steps, far = sheet.device.empty(noise.shape, "i4"), sheet.device.empty(noise.shape, "f4")
    for title, image in (("noise", noise), ("smooth", smooth)):
        for metric in ("chessboard", "cityblock"):
            ours = partial(nf.distance_transform, image, metric=metric, out=steps)
            sheet.add(title, image.shape, metric, ours, peers_of_steps(nf, image, metric, far, place))


def add_pictures(nf, sheet, place, solid, picture):
    width, height = picture
    camera = nf.Camera.fit(solid.shape, aspect=width / height)
    rays = tuple(sheet.device.move(each) for each in camera.rays(width, height))
    sheet.add("smooth", solid.shape, "raycast", partial(nf.raycast, solid, rays), peers_of_rays(nf, solid, rays, place))
    field = nf.distance_transform(solid, signed="inside", half_cell=True)
    sheet.add(
        "smooth", solid.shape, "sphere_trace", partial(nf.sphere_trace, field, camera, width=width, height=height)
    )
    draw = partial(nf.render, solid, camera, width=width, height=height)
    sheet.add("smooth", solid.shape, "render", draw)
    sheet.add("smooth", solid.shape, "render, no shadows", partial(draw, shadows=0, ambient=0))
    points = [(0, (0, 0, 1), 0), (0.5, (0, 1, 1), 0.02), (1, (1, 1, 1), 0.1)]
    sheet.add("smooth", solid.shape, "render, transfer function", partial(draw, mode="volume", transfer=points))


def measure(place, quick):
    import nearfield as nf

    sheet, side = Sheet(place, quick), SIDES[place][quick]
    if place == "host":
        sheet.device.clock, sheet.repeat = time.process_time, 1
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
    random, shape = np.random.default_rng(5), (grid.shape[0] * 4 // 3 if place == "host" else side,) * 3
    noise, smooth = random.random(shape, np.float32) > 0.1, smooth_mask(random, shape, 6, 0.9) > 0
    add_steps(nf, sheet, place, *(sheet.device.move(each) for each in (noise, ~smooth)))
    add_pictures(nf, sheet, place, sheet.device.move(smooth), PICTURES[place] if not quick else (64, 48))
    info = nf.info()
    machine = info.devices[0].name if place == "device" else f"{info.cores} cores, {info.simd}"
    if sheet.missing:
        print(f"not installed: {', '.join(sorted(sheet.missing))}")
    return {"place": place, "device": machine, "date": f"{datetime.date.today()}", "rows": sheet.rows}


if __name__ == "__main__":
    main(__doc__, measure, partial(write_rows, "surfaces", HEAD))
