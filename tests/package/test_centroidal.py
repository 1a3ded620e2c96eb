"""Centroidal Voronoi diagrams and stippling: the definition, forms of arrays, errors. tests/centroidal has the rest."""

import numpy as np
import pytest

import nearfield as nf


def lloyd(density, sites, rounds, spacing):
    """One cell after the other, in integers; sites must not collide."""
    energies = []
    grid = np.indices(density.shape).reshape(density.ndim, -1)
    for round in range(rounds + 1):
        apart = grid[None] - sites[:, :, None]
        away = ((apart * np.asarray(spacing)[:, None]) ** 2).sum(1)
        # Among equally near sites the one with the smallest coordinates wins, the last axis first.
        order = np.lexsort(sites.T)
        owner = order[away[order].argmin(0)]
        weight = density.ravel().astype("int64")
        energies.append(int((weight * away.min(0)).sum()))
        mass = np.bincount(owner, weight, len(sites)).astype("int64")
        if round == rounds:
            return sites, mass, energies, owner.reshape(density.shape)
        wanted = sites.copy()
        for axis in range(density.ndim):
            first = np.bincount(owner, weight * apart[owner, axis, np.arange(len(owner))], len(sites)).astype("int64")
            # Takes the nearest integer, ties down: the least t with 2 t mass >= 2 first - mass.
            by = -((mass - 2 * first) // np.maximum(2 * mass, 1))
            wanted[:, axis] += np.where(mass > 0, by, 0)
        taken = {tuple(each) for each in sites}
        moved = sites.copy()
        for i, each in enumerate(map(tuple, wanted)):
            if each not in taken:
                taken.add(each)
                moved[i] = each
        sites = moved


@pytest.mark.parametrize("seed", range(12))
def test_definition(seed):
    random = np.random.default_rng(seed)
    shape = [(60,), (14, 17), (6, 7, 8)][seed % 3]
    spacing = (1, 2, 3)[: len(shape)] if seed % 2 else (1,) * len(shape)
    density = random.integers(0, 256, shape).astype("uint8")
    sites = np.stack(np.unravel_index(random.choice(density.size, 9, replace=False), shape), 1)
    made = nf.centroidal_voronoi(density, sites, rounds=6, spacing=spacing, return_labels=True)
    points, mass, energies, owner = lloyd(density, sites.astype("int64"), 6, spacing)
    np.testing.assert_array_equal(made.points, points)
    np.testing.assert_array_equal(made.weights, mass)
    np.testing.assert_array_equal(made.labels, owner)
    assert list(made.energy) == energies[: len(made.energy)]
    assert set(energies[len(made.energy) :]) <= {made.energy[-1]}


def test_energy_never_rises_and_threads_do_not_show():
    density = np.exp(-((np.indices((90, 80)) - 40) ** 2).sum(0) / 900)
    one = nf.centroidal_voronoi(density, 120, rounds=200, supersample=2, threads=1)
    assert all(a >= b for a, b in zip(one.energy, one.energy[1:]))
    many = nf.centroidal_voronoi(density, 120, rounds=200, supersample=2, threads=3)
    np.testing.assert_array_equal(one.points, many.points)
    assert one.energy == many.energy and all(isinstance(each, int) for each in one.energy)
    further = nf.centroidal_voronoi(density, 120, rounds=200, supersample=2, relax=2)
    assert further.energy[-1] < one.energy[-1]
    assert one.weights.sum() == np.rint(density * 65535 / density.max()).sum()
    early = nf.centroidal_voronoi(density, 120, rounds=200, supersample=2, tolerance=0.01)
    assert len(early.energy) < len(one.energy)


def test_equal_regions_of_a_mask():
    mask = ((np.indices((20, 24, 28)) - 12) ** 2).sum(0) < 100
    cells = nf.centroidal_voronoi(mask, 30, relax=2, return_labels=True)
    sizes = np.bincount(cells.labels[mask], minlength=30)
    np.testing.assert_array_equal(sizes, cells.weights)
    assert sizes.std() < 0.25 * sizes.mean()


@pytest.mark.parametrize("seed", range(8))
def test_capacities_are_optimal_transport(seed):
    """Beside the cheapest assignment of cells to sites; masses that cells can share out are met exactly."""
    optimize = pytest.importorskip("scipy.optimize")
    random = np.random.default_rng(seed)
    shape, ratios = ((16, 18), (1, 2, 3, 3)) if seed % 2 else ((6, 6, 8), (1, 1, 2, 4))
    cells = int(np.prod(shape))
    share = np.repeat(ratios, 2)
    counts = share * cells // share.sum()
    sites = np.stack(np.unravel_index(random.choice(cells, 8, replace=False), shape), 1)
    made = nf.centroidal_voronoi(np.ones(shape, bool), sites, capacities=share, rounds=0, return_labels=True)
    np.testing.assert_array_equal(made.weights, counts)
    np.testing.assert_array_equal(np.bincount(made.labels.ravel()), counts)
    assert made.capacities.converged and made.capacities.error == 0
    grid = np.indices(shape).reshape(len(shape), -1).T
    price = ((grid[:, None] - np.repeat(sites, counts, 0)[None]) ** 2).sum(2)
    least = price[optimize.linear_sum_assignment(price)].sum()
    assert made.capacities.bound - 1e-6 <= least <= made.energy[-1] <= 1.03 * least


def test_capacities_in_rounds_and_errors():
    density = np.exp(-((np.indices((60, 70)) - 30) ** 2).sum(0) / 900)
    made = nf.centroidal_voronoi(density, 20, capacities=True, rounds=6, supersample=2, threads=1)
    assert made.capacities.converged and made.energy[-1] < made.energy[0]
    np.testing.assert_allclose(made.weights, made.capacities.wanted, rtol=0.01)
    few = nf.centroidal_voronoi([9, 1, 0], [[0], [2]], capacities=True, rounds=0)
    assert not few.capacities.converged and few.capacities.error > 0.5
    for words, said in (
        ({"capacities": [1, 2]}, r"capacities is .*; give True, or 3 numbers"),
        ({"capacities": False}, "capacities is False"),
        ({"capacities": [1, 0, 1]}, "capacities has 0 at row 1"),
        ({"capacities": True, "tolerance": 0.1}, "tolerance is 0.1"),
        ({"capacities": True, "density": np.eye(1, 9)}, "only 1 parts of the density"),
    ):
        with pytest.raises(ValueError, match=said):
            nf.centroidal_voronoi(**{"density": np.ones((4, 5), bool), "sites": [[0, 0], [0, 3], [0, 4]], **words})


@pytest.mark.parametrize("method", ["lloyd", "lbg"])
def test_stipple(method):
    x = np.linspace(0, 1, 120)
    ramp = np.broadcast_to(x, (80, 120))
    made = nf.stipple(ramp, 400, method=method, return_labels=True)
    assert made.points.shape == (400, 2) and len(made) == 400
    assert len(np.unique(made.points, axis=0)) == 400
    # Three times the ink gets three times the points.
    left, right = (made.points[:, 1] < 60).sum(), (made.points[:, 1] >= 60).sum()
    assert 2.6 < left / right < 3.4
    ink = (65535 - np.rint(ramp * 65535)).sum() / 65535
    np.testing.assert_allclose(made.weights.sum(), ink)
    np.testing.assert_allclose((np.pi / 4 * made.sizes**2), made.weights)
    assert made.labels.shape == ramp.shape and np.bincount(made.labels.ravel()).size == 400
    again = nf.stipple(ramp, 400, method=method, threads=1)
    np.testing.assert_array_equal(made.points, again.points)
    inverted = nf.stipple(1 - ramp, 400, method=method, invert=True)
    assert abs((inverted.points[:, 1] < 60).sum() - left) < 20
    sized = nf.stipple(ramp, size=4, method=method)
    assert len(sized) == pytest.approx(ink / (np.pi * 4), rel=0.25)


@pytest.mark.parametrize("invert", [False, True])
def test_stipples_of_equal_ink(invert):
    ramp = np.broadcast_to(np.linspace(0, 1, 90), (60, 90))
    made = nf.stipple(ramp, 50, capacities=True, invert=invert, return_labels=True)
    ink = ramp if invert else 1 - ramp
    assert made.capacities.converged
    np.testing.assert_allclose(made.weights, ink.sum() / 50, rtol=0.012)
    np.testing.assert_allclose(np.pi / 4 * made.sizes**2, made.weights)
    np.testing.assert_allclose(np.bincount(made.labels.ravel(), ink.ravel()), made.weights, rtol=0.25)
    assert len(np.unique(made.points, axis=0)) == 50
    volume = nf.stipple(np.zeros((9, 10, 11)), 9, capacities=True)
    np.testing.assert_allclose(np.pi / 6 * volume.sizes**3, volume.weights)
    np.testing.assert_allclose(volume.weights, 110, rtol=0.01)


def test_colours_have_luminance():
    random = np.random.default_rng(0)
    colour = random.integers(0, 256, (40, 50, 3)).astype("uint8")
    gray = np.rint((colour @ np.array([2126, 7152, 722])) / 10000).astype("uint8")
    wanted = nf.stipple(gray, 60).points
    np.testing.assert_array_equal(nf.stipple(colour, 60, channel_axis=-1).points, wanted)
    np.testing.assert_array_equal(nf.stipple(np.moveaxis(colour, 2, 0), 60, channel_axis=0).points, wanted)


def test_tiles_of_a_texture():
    """Points of a periodic image keep apart across its ends as well."""
    made = nf.stipple(np.zeros((64, 64), "uint8"), 100, border="periodic")
    apart = np.abs(made.points[:, None] - made.points[None])
    apart = np.minimum(apart, 64 - apart)
    away = np.sqrt((apart**2).sum(2)) + 99 * np.eye(100)
    assert away.min() > 0.6 * away.min(1).mean()


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_other_frameworks(name):
    framework = pytest.importorskip(name)
    made = framework.from_numpy if name == "torch" else framework.numpy.asarray
    density = np.random.default_rng(3).integers(0, 256, (30, 40)).astype("uint8")
    wanted = nf.centroidal_voronoi(density, 20, return_labels=True)
    found = nf.centroidal_voronoi(made(density), 20, return_labels=True)
    np.testing.assert_array_equal(found.points, wanted.points)
    assert type(found.labels) is type(made(density))
    np.testing.assert_array_equal(np.asarray(found.labels), wanted.labels)
    np.testing.assert_array_equal(nf.stipple(made(density), 20).points, nf.stipple(density, 20).points)


def test_errors_name_the_arguments():
    density = np.ones((4, 5), "uint8")
    for words, said in (
        ({"sites": [[0, 9]]}, "sites has coordinates outside"),
        ({"sites": [[0, 1], [0, 1]]}, "sites has the place of row 1 twice"),
        ({"sites": [[1]]}, "sites has shape"),
        ({"sites": 50}, "sites is 50"),
        ({"relax": 3}, "relax is 3"),
        ({"tolerance": 2}, "tolerance is 2"),
        ({"rounds": -1}, "rounds is -1"),
        ({"supersample": 0}, "supersample is 0"),
        ({"border": "closed"}, "border"),
        ({"spacing": 0.5}, "spacing"),
        ({"density": density - 2.0}, "density has values"),
    ):
        with pytest.raises(ValueError, match=said):
            nf.centroidal_voronoi(**{"density": density, "sites": 3, **words})
    for words, said in (
        ({}, "n is None and size is None"),
        ({"n": 3, "size": 2}, "n is 3 and size is 2"),
        ({"n": 3, "image": density + 0.5}, "image has values above 1"),
        ({"n": 3, "image": np.full((4, 5), 255, "uint8")}, "image has no ink"),
        ({"n": 3, "method": "x"}, "method"),
        ({"n": 3, "channel_axis": 1}, "channel_axis is 1"),
    ):
        with pytest.raises(ValueError, match=said):
            nf.stipple(**{"image": density, **words})
    with pytest.raises(TypeError, match="image has element type int64"):
        nf.stipple(density.astype("int64"), 3)
