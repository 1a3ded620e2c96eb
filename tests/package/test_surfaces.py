"""Meshes, their cells and distances, isosurfaces and offsets in Python."""

import math

import numpy as np
import pytest

import nearfield as nf


def box(low, high):
    corners = [[(high if k >> axis & 1 else low)[2 - axis] for axis in (2, 1, 0)] for k in range(8)]
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
             [0, 6, 4], [1, 5, 7], [1, 7, 3]]  # fmt: skip
    return nf.Mesh(corners, faces)


BOX = box((0, 0, 0), (2, 3, 4))


def test_measures_and_files(tmp_path):
    assert (BOX.closed, BOX.open_edges, BOX.euler, BOX.volume, BOX.area) == (True, 0, 2, 24, 52)
    for suffix in ("stl", "obj", "ply", "off"):
        for text in (False, True):
            path = tmp_path / f"box.{suffix}"
            BOX.write(path, text=text)
            back = nf.Mesh.read(path)
            assert back.closed and back.volume == 24
            if suffix != "stl":
                np.testing.assert_array_equal(back.vertices, BOX.vertices)
                np.testing.assert_array_equal(back.faces, BOX.faces)
    (tmp_path / "bad.stl").write_bytes(b"solid\nfacet\nvertex 1 2\n")
    with pytest.raises(OSError, match="line 3"):
        nf.Mesh.read(tmp_path / "bad.stl")
    with pytest.raises(OSError, match="suffix"):
        BOX.write(tmp_path / "box.step")
    with pytest.raises(ValueError, match="face 0 names vertex 9"):
        assert nf.Mesh([[0, 0, 0]], [[0, 0, 9]]).closed


class Other:
    """As trimesh has it."""

    vertices, faces = BOX.vertices, BOX.faces.astype(np.int64)


def test_meshes_of_other_packages():
    assert nf.Mesh(Other()).volume == 24
    assert nf.voxelize((BOX.vertices, BOX.faces), 1).cells.sum() == 24
    with pytest.raises(TypeError, match="^mesh: vertices is"):
        nf.voxelize(7, 1)
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(2)
    assert math.isclose(nf.Mesh(ball).volume, ball.volume)
    assert nf.Mesh(ball).to_trimesh().is_watertight


def test_pyvista_meshes():
    pyvista = pytest.importorskip("pyvista")
    cube = pyvista.Cube()  # of quads
    made = nf.Mesh(cube)
    assert math.isclose(abs(made.volume), 1) and len(made.faces) == 12
    assert BOX.to_pyvista().n_cells == 12


def test_fans():
    from nearfield._mesh import _fans

    corner, first = np.array([0, 1, 2, 3, 9, 8, 5, 6, 7]), np.array([0, 4, 6, 9])
    assert _fans(corner, first).tolist() == [[0, 1, 2], [0, 2, 3], [5, 6, 7]]


def test_cells():
    grid = nf.voxelize(BOX, 0.5, margin=2)
    assert grid.shape == (8, 10, 12) and grid.pitch == 0.5 and grid.origin == (-0.75, -0.75, -0.75)
    cells = np.asarray(grid)
    assert cells.dtype == bool and cells.sum() == 24 * 8 and cells[2:6, 2:8, 2:10].all()
    assert np.asarray(nf.voxelize(BOX, shape=10, solid=False, surface=True)).any()
    half = nf.Mesh(BOX.vertices, BOX.faces[:-1])
    with pytest.raises(ValueError, match="open edges"):
        nf.voxelize(half, 0.5)
    np.testing.assert_array_equal(nf.voxelize(half, 0.5, winding=True, margin=2).cells, cells)
    same = nf.voxelize(BOX, grid=nf.VoxelGrid(grid.shape, grid.origin, (0.5, 0.5, 0.5)), threads=1)
    np.testing.assert_array_equal(same.cells, cells)
    for wrong in ({}, {"pitch": 1, "shape": 9}, {"pitch": 1, "grid": grid}):
        with pytest.raises(TypeError, match="pitch or shape"):
            nf.voxelize(BOX, **wrong)
    of_bytes = np.zeros((9, *grid.shape), np.uint8)[::2].transpose(1, 2, 3, 0)[..., 1]
    assert nf.voxelize(BOX, grid=grid, out=of_bytes).cells is of_bytes
    np.testing.assert_array_equal(of_bytes, cells)
    with pytest.raises(ValueError, match="out has shape"):
        nf.voxelize(BOX, grid=grid, out=of_bytes[1:])


def test_distances():
    grid = nf.VoxelGrid((7, 8, 9), (-1.5, -2, -2.25), (0.75, 1, 1))
    found, triangle = nf.mesh_distance(BOX, grid, return_triangle=True, dtype="float64", signed=True)
    at = np.stack(np.meshgrid(*(np.arange(n) for n in grid.shape), indexing="ij"), -1) * grid.spacing + grid.origin
    beyond = np.maximum(np.maximum(-at, at - (2, 3, 4)), 0)
    outside, inside = np.linalg.norm(beyond, axis=-1), np.minimum(at, (2, 3, 4) - at).min(-1)
    np.testing.assert_allclose(np.abs(found), np.where(outside > 0, outside, np.abs(inside)), atol=1e-12)
    assert ((found < -1e-9) == (inside > 1e-9)).all()
    assert triangle.min() >= 0 and triangle.max() < 12
    near = nf.mesh_distance(BOX, grid, max_distance=0.5)
    assert np.isinf(near[np.abs(found) > 0.5]).all()
    np.testing.assert_array_equal(near[np.abs(found) <= 0.5], np.abs(found)[np.abs(found) <= 0.5].astype(np.float32))


def test_distances_by_samples():
    grid = nf.VoxelGrid.around(BOX, 0.3, margin=20)
    exact, own = nf.mesh_distance(BOX, grid, return_triangle=True, signed=True, dtype="float64")
    found, triangle = nf.mesh_distance(BOX, grid, samples=True, return_triangle=True, signed=True, dtype="float64")
    diagonal = 0.3 * 3**0.5
    near = np.abs(exact) < 2 * diagonal
    assert 0 < near.mean() < 0.5
    np.testing.assert_array_equal(found[near], exact[near])
    np.testing.assert_array_equal(triangle[near], own[near])
    assert ((found >= exact) | (found < 0)).all() and np.abs(found - exact).max() <= diagonal
    with pytest.raises(ValueError, match="beyond the grid"):
        nf.mesh_distance(BOX, nf.VoxelGrid((9, 9, 9), pitch=0.3), samples=True)


def test_isosurfaces_agree_with_scikit_image():
    measure = pytest.importorskip("skimage.measure")
    z, y, x = np.mgrid[-10:11, -11:12, -12:13] / 6.0
    field = (np.hypot(np.hypot(z, y) - 1.1, x) - 0.45).astype(np.float32)
    made = nf.isosurface(field, 0, inside="below", spacing=(1, 2, 3), origin=(5, 6, 7))
    vertices, faces, *_ = measure.marching_cubes(field, 0, spacing=(1, 2, 3), gradient_direction="ascent")
    assert made.closed and made.euler == 0
    assert len(made.vertices) == len(vertices) and len(made.faces) == len(faces)
    theirs = nf.Mesh(vertices + np.array([5, 6, 7]), faces)
    assert math.isclose(made.volume, abs(theirs.volume), rel_tol=5e-3)
    order = np.lexsort(made.vertices.round(3).T), np.lexsort(theirs.vertices.round(3).T)
    assert np.abs(made.vertices.sum(0) - theirs.vertices.sum(0)).max() < 0.5 and len(order[0]) == len(order[1])


def test_isosurfaces_of_masks_are_closed():
    mask = np.random.default_rng(1).random((9, 10, 11)) < 0.5
    made = nf.isosurface(mask, 0.5, closed=True)
    assert made.closed and 0 < made.volume < mask.sum()
    assert not nf.isosurface(mask, 0.5).closed
    with pytest.raises(ValueError, match="field has 2 axes"):
        nf.isosurface(mask[0], 0.5)


def test_offsets():
    grown = nf.offset(BOX, 1, pitch=0.125)
    steiner = 24 + 52 + math.pi * 9 + 4 / 3 * math.pi
    assert grown.closed and grown.euler == 2 and abs(grown.volume - steiner) < 0.01 * steiner
    assert grown.pitch == 0.125 and 0.18 < grown.error_bound < 0.19
    back = nf.offset(grown, -1, pitch=0.125)
    assert abs(back.volume - 24) < 0.5
    wall = nf.offset(BOX, -0.5, pitch=0.125, hollow=True)
    assert wall.closed and wall.euler == 4 and abs(wall.volume - (24 - 1 * 2 * 3)) < 0.3
    assert len(nf.offset(BOX, -3, pitch=0.5).faces) == 0
    sharp = nf.offset(BOX, -0.3, pitch=0.1, sharp=True)
    assert sharp.closed and abs(sharp.volume - 1.4 * 2.4 * 3.4) < abs(
        nf.offset(BOX, -0.3, pitch=0.1).volume - 1.4 * 2.4 * 3.4
    )
    cells = nf.offset(BOX, 1, pitch=0.125, method="voxels")
    assert cells.closed and abs(cells.volume - steiner) < 0.03 * steiner


def test_thickness(tmp_path):
    wall = nf.offset(BOX, -0.5, pitch=0.1, hollow=True)
    assert len(wall.thickness) == len(wall.vertices)
    assert np.abs(wall.thickness[8:] - 0.5).max() < wall.error_bound  # of the offset surface
    assert np.abs(wall.thickness[:8] - 0.5 * 3**0.5).max() < wall.error_bound  # at corners
    wall.write(tmp_path / "wall.ply")
    head, rows = (tmp_path / "wall.ply").read_bytes().split(b"end_header\n", 1)
    kind = np.dtype([("at", "<f8", 3), ("thickness", "<f8"), ("colour", "u1", 3)])
    told = np.frombuffer(rows, kind, len(wall.vertices))
    assert b"property double thickness" in head and (told["thickness"] == wall.thickness).all()
    assert (told["colour"][:8, 0] > told["colour"][8:, 0].max()).all()  # redder where it is thicker
    np.testing.assert_array_equal(nf.Mesh.read(tmp_path / "wall.ply").vertices, wall.vertices)
    assert nf.offset(BOX, 0.5, pitch=0.1).thickness is None
    assert nf.offset(BOX, -1.5, pitch=0.1, hollow=True).thickness is None  # nothing is left inside


def test_opening_by_offsets_equals_morphology():
    """What is left of a part after -d and +d, beside the opening of its cells by a ball."""
    tee = nf.isosurface(np.pad(np.array([[[1] * 9, [1] * 9, [0, 0, 0, 1, 1, 1, 0, 0, 0]]] * 9, bool), 1), 0.5)
    rounded = nf.offset(nf.offset(tee, -0.4, pitch=0.1), 0.4, pitch=0.1)
    cells = nf.voxelize(tee, 0.1, margin=8)
    opened = nf.opening(cells.cells, 4)
    assert abs(rounded.volume - opened.sum() * 1e-3) < 0.06 * rounded.volume
