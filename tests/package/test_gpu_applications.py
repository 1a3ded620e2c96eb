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


def test_frames_for_robots_are_replayed(torch, cupy):
    walls, random = np.zeros((40, 50, 60), np.uint8), np.random.default_rng(8)
    for move, onto in ((torch.from_numpy, torch.Tensor.cuda), (cupy.asarray, cupy.copy)):
        there = onto(move(walls))
        back = (lambda a: a.cpu()) if isinstance(there, torch.Tensor) else cupy.asnumpy
        near = nf.Esdf(walls.shape, like=there, max_distance=4)
        whole = nf.Esdf(walls.shape, like=there)
        for frame in range(12):  # the same array, then a copy, and a box that moves every fourth frame
            first = [5 * (frame // 4)] * 3
            box = [first, [x + 6 for x in first]]
            walls[tuple(map(slice, *box))] = random.random((6, 6, 6)) < 0.1
            there[...] = move(walls)
            if frame == 7:
                there = onto(there)
            near.update(there, box)
            whole.update(there)
            for found, options in ((near, {"max_distance": 4}), (whole, {})):
                wanted = nf.esdf(walls, **options)
                for name in ("distance", "sites", "gradient"):
                    same(back(getattr(found, name)), getattr(wanted, name))


def test_rays_stay_on_the_gpu(torch, cupy):
    mask = np.random.default_rng(6).random((20, 30, 40)) < 0.01
    rays = nf.Camera.fit(mask.shape).rays(24, 18)
    far, hits = nf.distance_transform(mask), nf.raycast(mask, rays)
    wanted = nf.sphere_trace(far, rays, level=0.5)
    for move, back in ((cupy.asarray, cupy.asnumpy), (lambda a: torch.from_numpy(a).cuda(), lambda a: a.cpu().numpy())):
        there = tuple(move(np.asfortranarray(each)) for each in rays)
        found, met = nf.raycast(move(mask), there), nf.sphere_trace(move(far), there, level=0.5)
        same(back(found.cells), hits.cells), same(back(found.entry), hits.entry)
        same(back(met.entry), wanted.entry), same(back(met.normals), wanted.normals)
        one = nf.raycast(move(mask), tuple(each[7] for each in there))
        same(back(one.cells), hits.cells[7:8])
        with pytest.raises(ValueError, match="origins"):
            nf.raycast(mask, there)
        with pytest.raises(ValueError, match="directions has shape"):
            nf.raycast(move(mask), (there[0], there[1][:, :2]))
