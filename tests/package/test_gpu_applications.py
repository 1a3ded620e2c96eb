"""Densities, paths and fields for robots of arrays on a GPU: the answers of the host. Skipped without one."""

import numpy as np
import pytest

import nearfield as nf

pytestmark = pytest.mark.skipif(not nf.devices(), reason=f"no GPU: {nf.info().why_no_device}")


def same(device, host):
    np.testing.assert_array_equal(device, host)


def test_densities_stay_on_the_gpu(torch, cupy):
    density = np.random.default_rng(4).integers(0, 255, (90, 120)).astype(np.uint8)
    wanted = nf.centroidal_voronoi(density, 40, rounds=5, return_labels=True)
    start = np.random.default_rng(5).permutation(density.size)[:40]
    sites = np.stack(np.unravel_index(start, density.shape), 1)
    placed = nf.centroidal_voronoi(density, sites, rounds=3)
    dots = nf.stipple(density, 60, rounds=4)
    for move in (cupy.asarray, lambda a: torch.from_numpy(a).cuda()):
        given = move(density)
        view = move(np.asfortranarray(np.pad(density, 3)))[3:-3, 3:-3]
        for there in (given, view):
            found = nf.centroidal_voronoi(there, 40, rounds=5, return_labels=True)
            assert type(found.labels) is type(given)
            same(found.labels.get() if move is cupy.asarray else found.labels.cpu(), wanted.labels)
            same(found.points, wanted.points)
            same(nf.centroidal_voronoi(there, sites, rounds=3).points, placed.points)
            same(nf.stipple(there, 60, rounds=4).points, dots.points)


def test_paths_are_the_host_s(torch, cupy):
    walls = np.random.default_rng(6).random((150, 200)) < 0.2
    walls[5, 5] = walls[140, 190] = walls[80, 100] = False
    for options in ({}, {"objective": "safe"}, {"objective": "widest"}, {"smooth": True}, {"border": "periodic"}):
        wanted = nf.plan_path(walls, [(5, 5), (80, 100)], (140, 190), **options)
        for there in (cupy.asarray(walls), torch.from_numpy(walls).cuda()):
            for mine, theirs in zip(nf.plan_path(there, [(5, 5), (80, 100)], (140, 190), **options), wanted):
                same(mine.cells, theirs.cells)
                assert (mine.cost, mine.clearance, mine.reason) == (theirs.cost, theirs.clearance, theirs.reason)


def test_fields_for_robots_are_the_host_s(torch, cupy):
    for shape, options in (((60, 70), {}), ((20, 30, 40), {}), ((50, 40), {"spacing": 0.3, "signed": True})):
        walls = np.random.default_rng(7).random(shape) < 0.02
        wanted = nf.esdf(walls, **options)
        for there in (cupy.asarray(walls), torch.from_numpy(walls).cuda()):
            found = nf.Esdf(shape, like=there, **options).update(there)
            for name in ("distance", "sites", "gradient"):
                field = getattr(found, name)
                same(field.get() if isinstance(there, cupy.ndarray) else field.cpu(), getattr(wanted, name))
