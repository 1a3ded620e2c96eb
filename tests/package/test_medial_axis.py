"""The medial axis against its definition on SciPy's indices, and shapes from balls."""

import inspect

import numpy as np
import pytest
from scipy import ndimage

import nearfield as nf

RNG = np.random.default_rng(7)


def blobs(shape, seed, sigma=2.0, above=0.5):
    rng = np.random.default_rng(seed)
    smooth = ndimage.gaussian_filter(rng.random(shape), sigma)
    return smooth > np.quantile(smooth, above)


def mask_of(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, (40, 14, 8)[(axes := int(rng.integers(1, 4))) - 1], axes))
    if seed % 2:
        return rng.random(shape) < rng.uniform(0.3, 0.99)
    return blobs(shape, seed, 1.0, rng.uniform(0.1, 0.6))


def by_definition(mask, spacing, keep):
    """Hesselink and Roerdink, pair by pair; `keep` is told |e|^2, N^2, (p - q).e and C."""
    _, f = ndimage.distance_transform_edt(mask, sampling=spacing, return_indices=True)
    w = np.square(np.broadcast_to(np.asarray(spacing), mask.ndim)).astype(float)
    axis = np.zeros(mask.shape, bool)
    if mask.all():
        return axis
    for p in np.ndindex(mask.shape):
        for along in range(mask.ndim):
            q = (*p[:along], p[along] + 1, *p[along + 1 :])
            if q[along] == mask.shape[along] or not (mask[p] or mask[q]):
                continue
            fp, fq = f[(slice(None), *p)].astype(int), f[(slice(None), *q)].astype(int)
            at_p, at_q, e = np.array(p), np.array(q), fp - fq
            both = at_p - fp + at_q - fq
            if (e * e).sum() <= 1 or not keep(
                (w * e * e).sum(), (w * both * both).sum(), (w * (at_p - at_q) * e).sum(), w.sum() / 2
            ):
                continue
            side = (w * e * (fp + fq - at_p - at_q)).sum()
            axis[p] |= bool(side >= 0 and mask[p])
            axis[q] |= bool(side <= 0 and mask[q])
    return axis


@pytest.mark.parametrize("seed", range(240))
def test_axis_is_the_definition(seed):
    mask = mask_of(seed)
    spacing = ((1, 1, 1), (2, 1, 3), (1, 1, 1))[seed % 3][: mask.ndim]
    for pruning, gamma, keep in (
        ("constant", None, lambda apart, both, along, c: apart > 1),
        ("constant", 2.5, lambda apart, both, along, c: apart > 6.25),
        ("linear", 0.5, lambda apart, both, along, c: apart > 0.25 * both),
        ("sqrt", None, lambda apart, both, along, c: apart > np.sqrt(both) + 2 * along + c),
    ):
        if len(set(spacing)) == 1 and spacing[0] != 1:
            continue  # square_root counts in cells for this spacing
        got = nf.medial_axis(mask, spacing=spacing, pruning=pruning, gamma=gamma)
        np.testing.assert_array_equal(got, by_definition(mask, spacing, keep), f"{pruning} {gamma}")


@pytest.mark.parametrize("method", ["balls", "reduced"])
@pytest.mark.parametrize("seed", range(60))
def test_shapes_come_back(method, seed):
    mask = mask_of(seed)
    for keywords in ({}, {"spacing": (2, 1, 3)[: mask.ndim]}, {"spacing": 0.7}, {"border": "periodic"}):
        axis, squared = nf.medial_axis(mask, method=method, squared=True, **keywords)
        closed = nf.reconstruct(axis, squared, **keywords)
        np.testing.assert_array_equal(closed, mask & ~mask.all())
        assert not (axis & ~mask).any()


def test_labels_are_the_loop():
    labels = np.zeros((40, 50), int)
    for k, (y, x, r) in enumerate([(10, 10, 8), (12, 25, 9), (30, 20, 12), (25, 42, 7), (5, 40, 3)], 1):
        grid = np.mgrid[:40, :50]
        labels[(grid[0] - y) ** 2 + (grid[1] - x) ** 2 < r * r] = k
    for keywords in ({}, {"pruning": "sqrt"}, {"method": "balls"}, {"method": "reduced"}):
        together = nf.medial_axis(labels, multilabel=True, **keywords)
        alone = sum(nf.medial_axis(labels == k, **keywords).astype(int) for k in range(1, 6))
        if keywords.get("method") != "reduced":  # with it seeds of other labels may tie
            np.testing.assert_array_equal(together, alone)
    axis, squared = nf.medial_axis(labels, multilabel=True, method="reduced", squared=True)
    np.testing.assert_array_equal(nf.reconstruct(np.where(axis, labels, 0), squared), labels)


def test_periodic_is_the_middle_of_a_tiling():
    # Sites are in general position, so that no tie depends on the place of copies.
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        mask = np.ones((17, 19), bool)
        mask[tuple(rng.integers(0, (17, 19), (5, 2)).T)] = False
        tiled = np.tile(mask, (3, 3))
        got, middle = nf.medial_axis(mask, border="periodic"), nf.medial_axis(tiled)[17:34, 19:38]
        # Cells whose neighbours all have a unique nearest site.
        d2 = np.square(ndimage.distance_transform_edt(tiled)).round().astype(int)
        sites = np.argwhere(~tiled)
        grid = np.stack(np.mgrid[:51, :57], -1)
        nearest = sum((np.square(grid - site).sum(-1) == d2).astype(int) for site in sites)
        tied = ndimage.binary_dilation(nearest > 1)[17:34, 19:38]
        np.testing.assert_array_equal(got[~tied], middle[~tied])
        compared += (~tied).sum()
    assert compared > 10000


def test_mirrored_up_to_ties():
    mask = blobs((60, 70), 3)
    sites = np.argwhere(~mask)
    d2 = np.square(ndimage.distance_transform_edt(mask)).round().astype(int)
    nearest = np.zeros(mask.shape, int)
    for site in sites:
        nearest += np.square(np.stack(np.mgrid[:60, :70], -1) - site).sum(-1) == d2
    untied = ~ndimage.binary_dilation(mask & (nearest > 1))
    axis = nf.medial_axis(mask)
    for turn in (np.flipud, np.fliplr, np.rot90, np.transpose):
        turned = nf.medial_axis(np.ascontiguousarray(turn(mask)))
        np.testing.assert_array_equal(turned[turn(untied)], turn(axis)[turn(untied)])


def test_batches_outputs_and_sites():
    masks = np.stack([blobs((20, 21), k) for k in range(4)])
    axis, distance, sites = nf.medial_axis(masks, batch_axes=1, return_distance=True, return_sites=True)
    assert (axis.dtype, distance.dtype, sites.dtype, sites.shape) == (bool, np.float32, np.int32, (2, 4, 20, 21))
    for k, mask in enumerate(masks):
        np.testing.assert_array_equal(axis[k], nf.medial_axis(mask))
        np.testing.assert_array_equal(distance[k], nf.distance_transform(mask))
        np.testing.assert_array_equal(
            sites[0, k], nf.distance_transform(mask, return_distances=False, return_indices="linear")
        )
        assert ((sites[1, k] >= 0) == axis[k]).all() and not mask.ravel()[sites[1, k][axis[k]]].any()
    filled = np.zeros((20, 21, 4), np.uint8).transpose(2, 0, 1)
    assert nf.medial_axis(masks, batch_axes=1, out=filled) is filled
    np.testing.assert_array_equal(filled, axis)
    assert nf.medial_axis(np.ones((3, 0), bool)).shape == (3, 0)
    assert not nf.medial_axis(np.ones((3, 4), bool), method="reduced").any()
    with_float16 = nf.medial_axis(masks[0].astype(np.float16))
    np.testing.assert_array_equal(with_float16, axis[0])


def test_refusals_speak_of_keywords():
    mask = np.ones((3, 4), bool)
    for keywords, words in (
        ({"method": "balls", "gamma": 2}, "pruning and gamma go with method='integer'"),
        ({"gamma": -1}, "gamma is -1"),
        ({"pruning": "angle", "gamma": 200}, "gamma is 200"),
        ({"pruning": "root"}, "pruning is 'root'"),
        ({"method": "thin"}, "method is 'thin'"),
        ({"method": "balls", "return_sites": True}, "return_sites"),
        ({"method": "balls", "spacing": (1, 2**0.5)}, "spacing"),
        ({"out": np.zeros((4, 3), bool)}, "out has shape"),
        ({"border": ("open", "closed", "open")}, "border"),
    ):
        with pytest.raises(ValueError, match=words):
            nf.medial_axis(mask, **keywords)
    with pytest.raises(TypeError, match="out"):
        nf.medial_axis(mask, out=[0])
    with pytest.raises(ValueError, match="4 axes"):
        nf.medial_axis(np.ones((2, 2, 2, 2), bool))
    with pytest.raises(TypeError, match="axis has element type float64"):
        nf.reconstruct(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="squared"):
        nf.reconstruct(mask, np.ones((4, 3), np.uint32))


def test_torch_and_jax():
    mask = blobs((30, 31), 5)
    axis, squared = nf.medial_axis(mask, method="reduced", squared=True)
    torch = pytest.importorskip("torch")
    there, away = nf.medial_axis(torch.from_numpy(mask), method="reduced", return_distance=True)
    assert there.dtype == torch.bool and away.dtype == torch.float32
    np.testing.assert_array_equal(there.numpy(), axis)
    again = nf.reconstruct(there, torch.from_numpy(squared.astype(np.int64)))
    np.testing.assert_array_equal(again.numpy(), mask)
    jax = pytest.importorskip("jax")
    there, sites = nf.medial_axis(jax.numpy.asarray(mask), return_sites=True)
    np.testing.assert_array_equal(np.asarray(there), nf.medial_axis(mask))
    assert sites.shape == (2, 30, 31)
    again = nf.reconstruct(jax.numpy.asarray(axis), jax.numpy.asarray(squared))
    np.testing.assert_array_equal(np.asarray(again), mask)


def test_scikit_images_signature():
    mask = blobs((40, 50), 9)
    morphology = pytest.importorskip("skimage.morphology")
    mine, theirs = (inspect.signature(f) for f in (nf.compat.skimage.medial_axis, morphology.medial_axis))
    assert [(p.name, p.kind) for p in mine.parameters.values()] == [
        (p.name, p.kind) for p in theirs.parameters.values()
    ]
    axis, distance = nf.compat.skimage.medial_axis(mask, return_distance=True, rng=3)
    _, expected = morphology.medial_axis(mask, return_distance=True, rng=3)
    np.testing.assert_array_equal(distance, expected)
    assert axis.dtype == bool and not (axis & ~mask).any()
    part = np.zeros_like(mask)
    part[:20] = True
    kept = nf.compat.skimage.medial_axis(mask, part)
    np.testing.assert_array_equal(kept[20:], mask[20:])


@pytest.mark.skipif(not nf.devices(), reason="no GPU")
@pytest.mark.parametrize("shape", [(300,), (70, 95), (20, 33, 41)])
def test_devices_give_the_same_bits(shape):
    mask = blobs(shape, 11, 1.5)
    for keywords in ({}, {"pruning": "sqrt"}, {"border": "periodic"}, {"method": "balls"}, {"method": "reduced"}):
        here, squared = nf.medial_axis(mask, squared=True, **keywords)
        there = nf.medial_axis(mask, device="cuda", **keywords)
        np.testing.assert_array_equal(there, here)
        if "method" in keywords:
            np.testing.assert_array_equal(nf.reconstruct(here, squared, device="cuda"), mask)
    here, sites = nf.medial_axis(mask, return_sites=True)
    there = nf.medial_axis(mask, return_sites=True, device="cuda")
    np.testing.assert_array_equal(there[1], sites)


def test_cupy_stays_on_its_device(cupy):
    if not nf.devices():
        pytest.skip("no GPU")
    mask = blobs((40, 50), 12)
    axis, squared = nf.medial_axis(cupy.asarray(mask), method="reduced", squared=True)
    assert isinstance(axis, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(axis), nf.medial_axis(mask, method="reduced"))
    np.testing.assert_array_equal(cupy.asnumpy(nf.reconstruct(axis, squared)), mask)
