"""Geodesic distances, paths and distance fields. tests/geodesic has the random cases against Dijkstra and Kruskal."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import nearfield as nf

RNG = np.random.default_rng(8)
MASK = RNG.random((40, 50)) > 0.3


def certified(cost, mask, seeds, prices):
    """The local equation at every cell, which has one solution."""
    wide = np.where(cost == np.iinfo(cost.dtype).max, 2**40, cost.astype(np.int64))
    big = np.pad(wide, 1, constant_values=2**40)
    least = np.where(seeds != 0, 0, 2**40)
    for by in itertools.product((-1, 0, 1), repeat=mask.ndim):
        changes = sum(map(abs, by))
        if 0 < changes <= len(prices):
            moved = np.roll(big, by, tuple(range(mask.ndim)))[(slice(1, -1),) * mask.ndim]
            least = np.minimum(least, moved + prices[changes - 1])
    least = np.where(mask & (least < 2**40), least, np.iinfo(cost.dtype).max)
    np.testing.assert_array_equal(cost, least)


@pytest.mark.parametrize("prices", [(1,), (1, 1), (3, 4)])
def test_geodesic_satisfies_the_local_equation(prices):
    seeds = (RNG.random(MASK.shape) < 0.002) & MASK
    seeds[np.argwhere(MASK)[0][0], np.argwhere(MASK)[0][1]] = True
    cost = nf.geodesic(MASK, seeds, weights=prices)
    assert cost.dtype == np.uint32
    certified(cost, MASK, seeds, prices)
    np.testing.assert_array_equal(nf.geodesic(MASK.T, seeds.T, weights=prices, threads=2), cost.T)


def test_geodesic_of_a_volume():
    caves = RNG.random((20, 21, 22)) > 0.6
    caves[0, 0, 0] = True
    certified(
        nf.geodesic(caves, [[0, 0, 0]], weights="3-4-5"),
        caves,
        np.arange(caves.size).reshape(caves.shape) == 0,
        (3, 4, 5),
    )


def test_geodesic_sites_labels_and_limits():
    mask = np.ones(7, bool)
    cost, sites, labels = nf.geodesic(mask, [[1], [5]], weights=(1,), return_sites=True, return_labels=True, max_cost=1)
    assert cost.tolist() == [1, 0, 1, 2**32 - 1, 1, 0, 1]
    assert sites.tolist() == [[1, 1, 1, -1, 5, 5, 5]] and labels.tolist() == [1, 1, 1, 0, 2, 2, 2]
    lengths = nf.geodesic(mask, [[0]], spacing=0.5)
    assert lengths.dtype == np.float32 and lengths.tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    batch = nf.geodesic(np.ones((3, 7)), np.eye(3, 7, dtype=int), weights=(1,), batch_axes=1)
    assert batch[2].tolist() == [2, 1, 0, 1, 2, 3, 4]
    assert nf.geodesic(mask, [[0]], weights=(1,), border="periodic").tolist() == [0, 1, 2, 3, 3, 2, 1]


def test_geodesic_costs():
    cost = np.array([1, 2, 0, 1], np.int32)
    assert nf.geodesic(cost > -1, [[0]], weights=(3,), cost=cost).tolist() == [0, 6, 2**32 - 1, 2**32 - 1]
    assert nf.travel_cost([2, 4, 4], [[0]], spacing=0.5).tolist() == [0, 1.5, 3.5]


def test_corners():
    mask = np.eye(2, dtype=bool)
    assert nf.geodesic(mask, [[0, 0]], weights=(3, 4))[1, 1] == 4
    assert nf.geodesic(mask, [[0, 0]], weights=(3, 4), cut_corners=False)[1, 1] == 2**32 - 1


def test_paths():
    free = nf.plan_path(np.zeros((9, 9)), [(0, 0), (4, 4)], [(8, 8)], smooth=True)
    assert [len(each.cells) for each in free] == [2, 2]
    assert free[0].clearance == np.inf and free[0].length == pytest.approx(8 * 2**0.5)
    unknown = np.array([[0, -1, 0]], np.int8)
    assert not nf.plan_path(unknown, (0, 0), (0, 2))
    assert nf.plan_path(unknown, (0, 0), (0, 2), unknown="free").length == 2
    assert nf.plan_path([[0, 1], [0, 0]], (0, 0), (1, 1), connectivity=1).length == 2
    blocked = nf.plan_path([1, 0, 0], [1], [2], radius=1)
    assert blocked.reason.startswith("the start is 1 from an obstacle") and blocked.goal == -1
    assert nf.plan_path([1, 0, 0], [0], [2]).reason == "the start is in an obstacle"


def test_paths_by_a_table_of_costs():
    walls = np.zeros((21, 31), np.uint8)
    walls[:9, 15] = walls[12:17, 15] = 1
    ends, how = ((10, 2), (10, 28)), {"objective": "safe"}
    assert nf.plan_path(walls, *ends).clearance == 2
    for table in ([(2, 50)], np.array([[2, 50]]), [[2, 50.0], [np.inf, 1]]):
        assert nf.plan_path(walls, *ends, clearance_costs=table, **how).clearance > 2
    beside = [[1] * 31] + [[0] * 31] * 5
    assert nf.plan_path(beside, (3, 0), (3, 30), clearance_costs=[(1, 0.25), (np.inf, 4)], **how).clearance == 1
    step = nf.plan_path([0, 0, 1], [0], [1], clearance_costs=[(1, 0.25), (2, 8)], **how)
    assert step.cost == 4096 * (4 + 8 * 16)
    for table in ([], [1, 2], [[1, 2, 3]], [[2, 1], [1, 1]], [[1, 0]], [["a", "b"]], "nav2", [[np.nan, 1]]):
        with pytest.raises(ValueError, match="clearance_costs"):
            nf.plan_path(walls, *ends, clearance_costs=table, **how)
    with pytest.raises(ValueError, match="clearance_costs.*safe"):
        nf.plan_path(walls, *ends, clearance_costs=[(1, 2)])


def test_paths_by_the_costs_of_nav2():
    costmap = np.where(RNG.random((60, 70)) < 0.01, 254, 0).astype(np.uint8)
    costmap[0, 0] = costmap[-1, -1] = 0
    words = {"inscribed_radius": 0.1, "inflation_radius": 0.6, "cost_scaling_factor": 4, "resolution": 0.05}
    table = nf.nav2_clearance_costs(**words, weight=2)
    distance = nf.distance_transform(costmap, sites="nonzero", spacing=0.05, dtype="float64")
    prices = np.append(table[:, 1], 1)[np.searchsorted(table[:, 0] * (1 + 2**-40), distance)]
    inflated = np.minimum(nf.inflate_costmap(costmap, **words), 252).astype(float)
    np.testing.assert_array_equal(prices, 1 + 2 * inflated / 252)
    how = {"spacing": 0.05, "radius": 0.1, "objective": "safe"}
    safe = nf.plan_path(costmap, (0, 0), (59, 69), clearance_costs=table, **how)
    assert safe and safe.clearance > 0.1
    for name, value in (("inscribed_radius", -1), ("resolution", 0), ("weight", np.nan), ("inflation_radius", 1e9)):
        with pytest.raises(ValueError, match=name):
            nf.nav2_clearance_costs(**{name: value})


def test_paths_go_on_at_the_other_end():
    walls = np.zeros((6, 20), bool)
    walls[:, 10] = True
    path = nf.plan_path(walls, (2, 8), [(2, 12)], border=("open", "periodic"))
    assert (
        path.length == 16
        and path.cells[-1].tolist() == [2, -8]
        and not walls[tuple((path.cells % walls.shape).T)].any()
    )
    assert path.clearance == 2  # the wall across the periodic end is equally near
    assert not nf.plan_path(walls, (2, 8), [(2, 12)])
    with pytest.raises(ValueError, match="border"):
        nf.plan_path(walls, (2, 8), [(2, 12)], border="closed")


def test_esdf_and_its_updates():
    occupancy = (RNG.random((30, 40)) < 0.02).astype(np.int8)
    field = nf.esdf(occupancy, spacing=(1, 0.5), signed=True, max_distance=4)
    np.testing.assert_array_equal(
        field.distance,
        nf.distance_transform(occupancy, sites="nonzero", spacing=(1, 0.5), signed="outside", max_distance=4),
    )
    length = np.sqrt((field.gradient.astype(float) ** 2).sum(0))
    near = np.isfinite(field.distance)
    np.testing.assert_allclose(length[near], 1, atol=1e-6)
    memory = field.distance
    occupancy[5:9, 10:20] ^= 1
    assert field.update(occupancy, box=((5, 10), (9, 20))).distance is memory
    whole = nf.esdf(occupancy, spacing=(1, 0.5), signed=True, max_distance=4)
    for mine, theirs in (
        (field.distance, whole.distance),
        (field.sites, whole.sites),
        (field.gradient, whole.gradient),
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_refusals():
    for call, words in (
        (lambda: nf.geodesic(MASK, [[0, 0]], weights=(1, 2, 3)), "weights"),
        (lambda: nf.geodesic(MASK, [[0, 0]], weights="taxi"), "weights"),
        (lambda: nf.geodesic(MASK, [[0, 0]], weights=(1,), spacing=2), "spacing"),
        (lambda: nf.geodesic(MASK, [[99, 0]]), "seeds"),
        (lambda: nf.plan_path(MASK, (0, 0), (99, 0)), "goals"),
        (lambda: nf.plan_path(MASK, (0, 0), (1, 1), objective="fast"), "objective"),
        (lambda: nf.esdf(MASK).update(np.zeros((3, 3))), "occupancy"),
        (lambda: nf.esdf(MASK, max_distance=2).update(MASK, box=[(0, 0)]), "box"),
        (lambda: nf.inflate_costmap(np.zeros((3, 3), np.uint8), resolution=0), "resolution"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_maps_of_ros(tmp_path):
    costs = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    nf.write_map(tmp_path / "costs.yaml", costs, resolution=0.1, origin=(-1, 2.5, 0))
    again = nf.read_map(tmp_path / "costs.yaml")
    np.testing.assert_array_equal(again.costs, costs)
    assert again.resolution == 0.1 and again.origin == (-1, 2.5, 0)
    again.costs[0, 0] = 7  # the caller's own
    (tmp_path / "map.pgm").write_bytes(b"P5 3 1 255\n" + bytes([0, 205, 254]))
    drawn = nf.read_map(str(tmp_path / "map.pgm"))
    assert drawn.costs.tolist() == [[254, 255, 0]] and drawn.resolution == 0.05
    assert nf.inflate_costmap(drawn.costs, resolution=drawn.resolution).tolist() == [[254, 253, 253]]
    for call in (nf.plan_path, nf.roadmap, nf.esdf):
        with pytest.raises(TypeError, match="map; give its costs, and its resolution"):
            call(drawn, *([(0, 0), (0, 2)] if call is nf.plan_path else []))
    assert nf.plan_path(drawn.costs % 255, (0, 1), (0, 2)).length == 1
    with pytest.raises(OSError, match="none.yaml"):
        nf.read_map(tmp_path / "none.yaml")
    with pytest.raises(TypeError, match="uint8"):
        nf.write_map(tmp_path / "costs.yaml", costs.astype(int))
    for words in ({"origin": (1, 2)}, {"resolution": 0}, {"resolution": float("nan")}):
        with pytest.raises(ValueError, match=next(iter(words))):
            nf.write_map(tmp_path / "costs.yaml", costs, **words)
    for value in (None, 3, [1]):
        with pytest.raises(TypeError, match="path"):
            nf.read_map(value)


def test_a_field_like_another_array_keeps_its_memory():
    field = nf.Esdf(MASK.shape, like=MASK, max_distance=3)
    kept = field.distance
    assert isinstance(field.sites, np.ndarray) and field.sites.shape == (MASK.ndim, *MASK.shape)
    field.update(MASK).update(MASK == 0)
    assert field.distance is kept
    assert (kept == nf.esdf(MASK == 0, max_distance=3).distance).all()


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_fields_and_roadmaps_refuse_to_be_copied(again):
    for made, name in ((nf.esdf(MASK), "Esdf"), (nf.roadmap(MASK), "Roadmap")):
        with pytest.raises(TypeError, match=f"{name} cannot be pickled or copied"):
            again(made)


def test_roadmaps():
    rng = np.random.default_rng(3)
    walls = rng.random((40, 50)) < 0.25
    walls[0, 0] = walls[-1, -1] = False
    made = nf.roadmap(walls)
    assert made.edges.shape == (len(made.roads), 2) and made.nodes.shape == (len(made.radii), 2)
    assert "nodes" in repr(made)
    for (a, b), cells, length in zip(made.edges, made.roads, made.lengths):
        assert (cells[0] == made.nodes[a]).all() and (cells[-1] == made.nodes[b]).all()
        assert np.isclose(np.sqrt((np.diff(cells, axis=0) ** 2).sum(1)).sum(), length)
    found, best = made.path((0, 0), (39, 49)), nf.plan_path(walls, (0, 0), (39, 49))
    assert bool(found) == bool(best)
    if found:
        assert found.length >= best.length - 1e-9 and not walls[tuple(found.cells.T)].any()
        assert made.path((0, 0), (39, 49), smooth=True).length <= found.length + 1e-9
    with pytest.raises(ValueError, match="start"):
        made.path((0, 99), (0, 0))
    with pytest.raises(ValueError, match="radius"):
        nf.roadmap(walls, radius=-1)


def test_a_missing_gpu_is_said():
    if nf.devices():
        pytest.skip("there is a GPU")
    for call in (
        lambda: nf.esdf(MASK, device="cuda"),
        lambda: nf.inflate_costmap(MASK.astype(np.uint8), device="cuda"),
        lambda: nf.geodesic(MASK, [[0, 0]], device="cuda"),
        lambda: nf.plan_path(MASK, (0, 0), (0, 0), device="cuda"),
        lambda: nf.roadmap(MASK, device="cuda"),
    ):
        with pytest.raises(RuntimeError, match="device"):
            call()


@pytest.mark.skipif(not nf.devices(), reason=f"no GPU: {nf.info().why_no_device}")
@pytest.mark.parametrize("library", ["cupy", "torch", "host"])
def test_a_gpu_gives_the_bits_of_the_cpu(library, request):
    if library == "host":
        there, back, words = np.asarray, np.asarray, {"device": "cuda"}
    elif library == "cupy":
        there, back, words = request.getfixturevalue("cupy").asarray, lambda x: x.get(), {}
    else:
        torch = request.getfixturevalue("torch")
        there, back, words = (lambda x: torch.from_numpy(x).cuda()), (lambda x: x.cpu().numpy()), {}
    walls = ~MASK
    wanted, field = nf.esdf(walls, max_distance=6), nf.esdf(there(walls), max_distance=6, **words)
    for mine, theirs in zip((field.distance, field.sites, field.gradient),
                            (wanted.distance, wanted.sites, wanted.gradient)):  # fmt: skip
        np.testing.assert_array_equal(back(mine), theirs)
    costs = np.where(walls, 254, 0).astype(np.uint8)
    np.testing.assert_array_equal(back(nf.inflate_costmap(there(costs), **words)), nf.inflate_costmap(costs))
    seeds = np.zeros(MASK.shape, np.int32)
    seeds[5, 5] = seeds[30, 40] = 7
    options = {"weights": (3, 4), "return_sites": True, "return_labels": True}
    came = nf.geodesic(there(MASK), there(seeds), **options, **words)
    for mine, theirs in zip(came, nf.geodesic(MASK, seeds, **options)):
        np.testing.assert_array_equal(back(mine), theirs)
    one, other = nf.plan_path(there(walls), (0, 0), (39, 49), **words), nf.plan_path(walls, (0, 0), (39, 49))
    np.testing.assert_array_equal(one.cells, other.cells)
    one, other = nf.roadmap(there(walls), **words), nf.roadmap(walls)
    for name in ("nodes", "radii", "edges", "lengths", "clearances"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    one, other = one.path((0, 0), (39, 49)), other.path((0, 0), (39, 49))
    np.testing.assert_array_equal(one.cells, other.cells)
