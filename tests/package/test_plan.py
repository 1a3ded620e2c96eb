"""Plans of functions besides distances: what each would take, on shapes that need not exist."""

import numpy as np
import pytest

import nearfield as nf
from nearfield import _plan

SHAPE = (64, 80, 96)
CELLS = 64 * 80 * 96
# Function, arguments after the image, keywords, and bytes of the result for each cell; None if it is a table.
FUNCTIONS = [
    (nf.distance_transform, (), {}, 4),
    (nf.voronoi, (), {}, 12),
    (nf.expand_labels, (3,), {}, 1),
    (nf.erosion, (3,), {}, 1),
    (nf.dilation, (3,), {}, 1),
    (nf.opening, (3,), {}, 1),
    (nf.closing, (3,), {"labels": True}, 1),
    (nf.local_thickness, (), {}, 4),
    (nf.local_thickness, (), {"squared": True, "spacing": (2, 1, 1)}, 4),
    (nf.granulometry, (), {}, None),
    (nf.porosimetry, (SHAPE, [2, 4]), {}, 4),
    (nf.medial_axis, (), {}, 1),
    (nf.medial_axis, (), {"method": "reduced"}, 1),
    (nf.reconstruct, (SHAPE,), {}, 1),
    (nf.skeletonize, (), {}, 1),
    (nf.skeletonize, (), {"keep": np.ones(SHAPE, bool)}, 1),
    (nf.natural_neighbor, (SHAPE,), {}, 8),
    (nf.label, (), {}, 4),
    (nf.label, (), {"criterion": "equal", "connectivity": 3}, 4),
    (nf.components, (), {}, 4),
    (nf.remove_small, (5,), {}, 1),
    (nf.watershed, (), {}, 4),
    (nf.watershed, (SHAPE,), {"return_passes": True, "mask": np.ones(SHAPE, bool)}, 2),
    (nf.flood, (SHAPE,), {}, 1),
    (nf.fill_holes, (), {}, 1),
    (nf.reconstruct_gray, (SHAPE,), {}, 1),
    (nf.h_maxima, (2,), {}, 1),
    (nf.h_minima, (2,), {}, 1),
    (nf.peaks, (), {}, None),
    (nf.split, (), {}, 4),
    (nf.metrics.surface, (SHAPE,), {"tolerance": 1}, None),
    (nf.fill_nearest, (0,), {}, 1),
    (nf.interpolate_slices, (), {"axis": 0, "positions": [0, 0.5]}, None),
    (nf.pore_network, (), {}, None),
    (nf.geodesic, (SHAPE,), {}, 4),
    (nf.travel_cost, (SHAPE,), {}, 8),
    (nf.esdf, (), {}, 28),
    (nf.plan_path, ((0, 0, 0), (9, 9, 9)), {"objective": "safe"}, 0),
    (nf.plan_path, ((0, 0, 0), (9, 9, 9)), {"objective": "safe", "clearance_costs": [(2, 3), (5, 2)]}, 0),
    (nf.plan_path, ((0, 0, 0), [[9, 9, 9], [8, 8, 8]]), {"objective": "widest", "radius": 2}, 0),
    (nf.roadmap, (), {"radius": 1}, 0),
]


PICTURE = 640, 768
RAYS = np.zeros((100, 3)), np.ones((100, 3))
GRID = nf.VoxelGrid(SHAPE, (0, 0, 0), 0.5)
BALL = nf.isosurface(np.hypot(np.hypot(*np.mgrid[-5:6, -5:6][:, :, :, None]), np.arange(-5, 6)), 4, inside="below")
# Those that have a plan on the CPU only: besides bytes of the answer, the least bytes of workspace that their headers
# tell for each cell, or part of a cell.
ON_HOST = [
    (nf.sdf, (PICTURE,), {}, 4 * CELLS, 8 * CELLS),
    (nf.sdf, (PICTURE,), {"dtype": "uint8", "radius": 4}, CELLS, CELLS),
    *((layer, (PICTURE,), {"image_dtype": "float32"}, 4 * CELLS, 0) for layer in _plan._EFFECTS[:6]),
    (nf.effects.light, (PICTURE, 3, 4), {"image_dtype": "float32"}, 4 * CELLS, 0),
    (nf.effects.halftone, (PICTURE,), {"image_dtype": "float32"}, 4 * CELLS, 0),
    (nf.effects.pad, ((640, 192, 4),), {}, CELLS, 5 * CELLS // 4),
    (nf.effects.pad, ((640, 256, 3),), {"known": np.ones((640, 256), bool), "radius": 4}, CELLS, 4 * CELLS // 3),
    (nf.isosurface, (SHAPE, 0.5), {}, 0, 0),
    (nf.raycast, (SHAPE, RAYS), {}, 100 * (3 * 4 + 1 + 8), CELLS),
    (nf.raycast, (SHAPE, RAYS), {"skips": "octants"}, 100 * (3 * 4 + 1 + 8), 8 * CELLS),
    (nf.render, (SHAPE,), {"width": 40, "height": 30, "threshold": 1}, 40 * 30 * 3, 5 * CELLS),
    (nf.centroidal_voronoi, (SHAPE, 50), {"return_labels": True}, 4 * CELLS, 11 * CELLS),
    (nf.centroidal_voronoi, (SHAPE, [[1, 2, 3], [9, 8, 7]]), {"supersample": 2}, 0, 72 * CELLS),
    (nf.centroidal_voronoi, (SHAPE, 50), {"capacities": True}, 0, 10 * CELLS),
    (nf.stipple, (SHAPE, 50), {"supersample": 1}, 50 * 5 * 8, 13 * CELLS),
    (nf.stipple, (SHAPE, 50), {"supersample": 1, "method": "lbg", "capacities": True}, 0, 13 * CELLS),
    (nf.voxelize, (BALL,), {"grid": GRID}, CELLS, CELLS // 8),
    (nf.mesh_distance, (BALL, GRID), {"return_triangle": True}, 8 * CELLS, 0),
    (nf.mesh_distance, (BALL, GRID), {"signed": True}, 4 * CELLS, CELLS // 8),
    (nf.offset, (BALL, 1), {"pitch": 0.1}, 0, 4 * 104**3),
    (nf.offset, (BALL, -1), {"pitch": 0.1, "hollow": True, "method": "voxels"}, 0, 6 * 84**3),
]


def test_all_functions_are_tried():
    elsewhere = {nf.balls, nf.skeleton_graph, nf.inflate_costmap}
    tried = {function for function, *_ in FUNCTIONS} | {function for function, *_ in ON_HOST}
    assert tried | elsewhere == set(_plan._PLANNED)
    assert {function for function, *_ in ON_HOST} == set(_plan._ON_HOST)


@pytest.mark.parametrize(("function", "arguments", "keywords", "output", "least"), ON_HOST)
def test_functions_of_the_host_tell_memory(function, arguments, keywords, output, least):
    told = nf.plan(function, *arguments, threads=2, **keywords)
    assert told.place == "host" and told.passes
    assert told.cells == CELLS or function is nf.offset
    assert output <= told.output_bytes <= output + 200_000  # tables of sites besides
    assert least <= told.workspace_bytes < 40 * max(CELLS, least) and "workspace" in str(told)
    with pytest.raises(TypeError, match="has a plan on the CPU only"):
        nf.plan(function, *arguments, device="cuda", **keywords)


@pytest.mark.parametrize(("function", "arguments", "keywords", "output"), FUNCTIONS)
def test_functions_tell_memory(function, arguments, keywords, output):
    told = nf.plan(function, SHAPE, *arguments, threads=2, **keywords)
    assert (told.place, told.cells) == ("host", CELLS)
    assert told.passes and "workspace" in str(told) and told.input_bytes >= CELLS
    assert told.workspace_bytes > CELLS // 8
    assert output is None or told.output_bytes == output * CELLS


def test_porosimetry_is_planned_to_its_end():
    told = [each.method for each in nf.plan(nf.porosimetry, SHAPE, SHAPE).passes]
    assert any("basins merge" in each for each in told) and "crescents" in told[-1]
    assert nf.plan(nf.porosimetry, (1200,) * 3, (1200,) * 3).output_bytes == 4 * 1200**3


def test_balls_are_read_and_the_skeleton_is_not():
    for radius, kind in ((3, 2), (400, 8)):
        told = nf.plan(nf.balls, [[1, 2, 3]], radius, SHAPE, threads=2)
        assert (told.cells, told.input_bytes, told.output_bytes) == (CELLS, kind * CELLS, 4 * CELLS)
        assert told.workspace_bytes >= CELLS and "crescents" in told.passes[-1].method
    vast = nf.plan(nf.balls, np.zeros((4, 3), int), [1, 2, 3, 4], shape=(1000,) * 3, squared=True)
    assert vast.output_bytes == 8 * 1000**3
    with pytest.raises(ValueError, match="outside of shape"):
        nf.plan(nf.balls, [[1, 2, 300]], 3, SHAPE)
    for skeleton in (SHAPE, np.ones(SHAPE, bool)):
        told = nf.plan(nf.skeleton_graph, skeleton, values=np.ones(SHAPE, np.float32))
        assert (told.place, told.cells, told.input_bytes) == ("host", CELLS, CELLS)
        assert told.workspace_bytes >= CELLS and "bytes a cell of the skeleton" in told.passes[0].method
    with pytest.raises(ValueError, match="spacing"):
        nf.plan(nf.skeleton_graph, SHAPE, spacing=(1, 2))


def test_costmaps_tell_memory():
    for device in (None, "cuda"):
        told = nf.plan(nf.inflate_costmap, (600, 500), device=device)
        assert told.cells == told.input_bytes == told.output_bytes == 600 * 500 and told.workspace_bytes > 0


def test_paths_tell_memory():
    """A path takes 16 bytes a cell and those of a flood, a roadmap on a GPU 18 more on the host."""
    for device in (None, "cuda"):
        path = nf.plan(nf.plan_path, SHAPE, (0, 0, 0), (9, 9, 9), device=device)
        roads = nf.plan(nf.roadmap, SHAPE, device=device)
        assert 20 * CELLS < path.workspace_bytes < 90 * CELLS and path.input_bytes == CELLS
        assert any("not connected" in each.method for each in path.passes)
        assert any("simple cells" in each.method for each in roads.passes)
        assert roads.workspace_bytes > (35 if device else 18) * CELLS
    with pytest.raises(ValueError, match="goals"):
        nf.plan(nf.plan_path, SHAPE, (0, 0, 0), (64, 0, 0))


def test_plateaus_may_need_basins():
    """Regional extrema are searched cell by cell only if plateaus are small, which a plan cannot know."""
    assert nf.plan(nf.peaks, SHAPE).workspace_bytes >= 8 * CELLS


def test_is_what_c_plus_plus_tells():
    assert nf.plan(nf.distance_transform, SHAPE, threads=2) == nf.plan(SHAPE, threads=2)
    told = nf.plan(nf.erosion, SHAPE, 3)
    assert told.workspace_bytes >= nf.plan(SHAPE, max_distance=3, dtype="bool").workspace_bytes + CELLS


def test_arrays_stand_for_their_shape_and_type():
    image = np.zeros(SHAPE, np.float32)
    assert nf.plan(nf.watershed, image).input_bytes == 4 * CELLS
    told = nf.plan(nf.watershed, SHAPE, SHAPE, image_dtype=["float32", "int16"])
    assert (told.input_bytes, told.output_bytes) == (6 * CELLS, 2 * CELLS)
    assert told == nf.plan(nf.watershed, image, np.zeros(SHAPE, np.int16))
    assert nf.plan(nf.fill_nearest, SHAPE, SHAPE, image_dtype=["float64", "bool"]).input_bytes == 9 * CELLS
    torch = pytest.importorskip("torch")
    assert nf.plan(nf.skeletonize, torch.zeros(SHAPE)) == nf.plan(nf.skeletonize, image)


def test_a_plan_takes_no_memory_and_leaves_nothing():
    vast = (8000, 8000, 8000)
    assert nf.plan(nf.skeletonize, vast).workspace_bytes > 5 * 8000**3
    assert nf.plan(nf.erosion, vast, 5).output_bytes == 8000**3
    assert nf.plan(nf.fill_nearest, vast, 0, image_dtype="float64").output_bytes == 8 * 8000**3
    assert nf.plan(nf.stipple, (20000, 20000), 1000, supersample=2).workspace_bytes > 9 * 4 * 20000**2
    assert nf.plan(nf.raycast, vast, RAYS).workspace_bytes >= 8000**3
    assert nf.skeletonize([0, 1, 1, 1, 0], keep=None).sum() == 1
    assert type(nf.erosion(np.ones((3, 3)), 1)) is np.ndarray


def test_errors_are_those_of_the_call():
    with pytest.raises(ValueError, match="spacing"):
        nf.plan(nf.skeletonize, SHAPE, spacing=(1, 2))
    with pytest.raises(TypeError, match="unexpected keyword"):
        nf.plan(nf.skeletonize, SHAPE, colour=3)
    with pytest.raises(TypeError, match="has no plan; give one of distance_transform, "):
        nf.plan(np.ones, SHAPE)
    with pytest.raises(TypeError, match="no image"):
        nf.plan(nf.skeletonize)
    with pytest.raises(ValueError, match="image_dtype has fewer"):
        nf.plan(nf.watershed, SHAPE, SHAPE, image_dtype=["uint8"])
    with pytest.raises(TypeError, match="image_dtype is complex64"):
        nf.plan(nf.watershed, SHAPE, image_dtype="complex64")
    with pytest.raises(TypeError, match="positional"):
        nf.plan(SHAPE, SHAPE)
    assert nf.plan(image=SHAPE).cells == CELLS


@pytest.mark.skipif(nf.info().cuda_runtime == 0, reason="the library has no kernels")
@pytest.mark.parametrize(("function", "arguments", "keywords", "output"), FUNCTIONS)
def test_functions_of_a_device(function, arguments, keywords, output):
    told = nf.plan(function, SHAPE, *arguments, device="cuda", **keywords)
    assert (told.place, told.cells, told.threads) == ("device", CELLS, 0) and told.passes


@pytest.mark.skipif(nf.info().cuda_runtime != 0, reason="the library has kernels")
def test_a_build_without_cuda_says_so():
    with pytest.raises(RuntimeError):
        nf.plan(nf.watershed, SHAPE, device="cuda")


@pytest.mark.parametrize(
    "shape, turned", [((1000, 3), True), ((1000, 16), False), ((63, 3), False), ((2, 90, 5), True)]
)
def test_labels_of_short_rows_follow_a_longer_axis(shape, turned):
    steps = [step.method for step in nf.plan(nf.label, shape).passes]
    assert ("rows of a copy along a longer axis" in steps) == turned
