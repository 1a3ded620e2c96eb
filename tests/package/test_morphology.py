"""Erosion, dilation, opening and closing: their definitions, SciPy's and scikit-image's answers, every framework."""

import numpy as np
import pytest
from scipy import ndimage as scipy_ndimage

import nearfield as nf
from nearfield.compat import skimage as compat

OPERATIONS = {"erosion": nf.erosion, "dilation": nf.dilation, "opening": nf.opening, "closing": nf.closing}


def blobs(shape, seed=1):
    noise = np.random.default_rng(seed).random(shape)
    smooth = scipy_ndimage.gaussian_filter(noise, 2, mode="wrap")
    return smooth > np.median(smooth)


def ball(radius, ndim, spacing):
    reach = [int(radius / each) + 1 for each in spacing]
    axes = np.ogrid[tuple(slice(-r, r + 1) for r in reach)]
    return sum((axis * each) ** 2 for axis, each in zip(axes, spacing)) <= radius * radius


@pytest.mark.parametrize("shape, spacing", [((50, 70), (1, 1)), ((20, 30, 25), (1, 1, 1)), ((24, 30), (2, 0.5))])
@pytest.mark.parametrize("radius", [0, 1, 2.5, 4])
def test_is_scipys_with_a_ball(shape, spacing, radius):
    image = blobs(shape)
    cells = ball(radius, len(shape), spacing)
    eroded = scipy_ndimage.binary_erosion(image, cells, border_value=1)
    dilated = scipy_ndimage.binary_dilation(image, cells)
    assert np.array_equal(nf.erosion(image, radius, spacing=spacing), eroded)
    assert np.array_equal(nf.dilation(image, radius, spacing=spacing), dilated)
    assert np.array_equal(nf.opening(image, radius, spacing=spacing), scipy_ndimage.binary_dilation(eroded, cells))
    assert np.array_equal(
        nf.closing(image, radius, spacing=spacing), scipy_ndimage.binary_erosion(dilated, cells, border_value=1)
    )


def test_closed_and_periodic_borders():
    image = blobs((40, 60))
    cells = ball(3, 2, (1, 1))
    closed = scipy_ndimage.binary_erosion(image, cells, border_value=0)
    assert np.array_equal(nf.erosion(image, 3, border="closed"), closed)
    assert np.array_equal(
        nf.opening(image, 3, border=("closed", "closed")), scipy_ndimage.binary_dilation(closed, cells)
    )
    assert np.array_equal(
        nf.dilation(image, 3, border="closed"), scipy_ndimage.binary_dilation(image, cells, border_value=1)
    )
    middle = np.s_[40:80, 60:120]
    for name, operation in OPERATIONS.items():
        tiled = operation(np.tile(image, (3, 3)), 3)
        assert np.array_equal(operation(image, 3, border="periodic"), tiled[middle]), name


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int32", "uint64"])
def test_labels(dtype):
    image = (scipy_ndimage.label(blobs((40, 50)))[0] % 4).astype(dtype)
    for name in ("erosion", "opening"):
        answer = OPERATIONS[name](image, 2, labels=True)
        assert answer.dtype == image.dtype
        for label in np.unique(image[image != 0]):
            assert np.array_equal(answer == label, OPERATIONS[name](image == label, 2)), name
    assert np.array_equal(nf.dilation(image, 2, labels=True), nf.expand_labels(image, 2))
    closed = nf.closing(image, 2, labels=True)
    assert np.array_equal(closed != 0, nf.closing(image, 2))
    assert np.array_equal(closed[image != 0], image[image != 0])


def test_batches():
    images = np.stack([blobs((20, 30), seed) for seed in (1, 2, 3)])
    for operation in OPERATIONS.values():
        assert np.array_equal(operation(images, 2, batch_axes=1), np.stack([operation(each, 2) for each in images]))


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_other_frameworks(name):
    framework = pytest.importorskip(name)
    made = framework.from_numpy if name == "torch" else framework.numpy.asarray
    image = blobs((30, 40))
    labels = scipy_ndimage.label(image)[0].astype("int32")
    for each, operation in OPERATIONS.items():
        answer = operation(made(image), 2.5)
        assert type(answer) is type(made(image))
        assert np.array_equal(np.asarray(answer), operation(image, 2.5)), each
        assert np.array_equal(np.asarray(operation(made(labels), 2, labels=True)), operation(labels, 2, labels=True))


def test_a_site_within_reach_as_bool():
    image = blobs((30, 40))
    near = nf.distance_transform(image, max_distance=2, dtype=bool)
    assert near.dtype == bool
    assert np.array_equal(near, nf.distance_transform(image) <= 2)
    with pytest.raises(ValueError, match="bool"):
        nf.distance_transform(image, signed=True, dtype=bool)


def test_errors_name_the_arguments():
    image = blobs((5, 6))
    for operation in OPERATIONS.values():
        with pytest.raises(ValueError, match="radius"):
            operation(image, -1)
        with pytest.raises((TypeError, ValueError), match="radius"):
            operation(image, "wide")
        with pytest.raises(TypeError, match="radius"):
            operation(image, None)
        with pytest.raises(ValueError, match="border"):
            operation(image, 1, border="shut")
        with pytest.raises((TypeError, ValueError), match="labels"):
            operation(image, 1, labels="yes")
        with pytest.raises(ValueError, match="spacing"):
            operation(image, 1, spacing=(1, 2, 3))
    with pytest.raises(ValueError, match="labels=True"):
        nf.erosion(image.astype(float), 1, labels=True)


def test_scikit_images_signatures():
    morphology = pytest.importorskip("skimage.morphology")
    segmentation = pytest.importorskip("skimage.segmentation")
    image = blobs((40, 60))
    for name in OPERATIONS:
        ours, theirs = getattr(compat, f"isotropic_{name}"), getattr(morphology, f"isotropic_{name}")
        for radius in (1, 2.5, 6):
            assert np.array_equal(ours(image, radius), theirs(image, radius)), name
            assert np.array_equal(ours(image, radius, spacing=(1, 2)), theirs(image, radius, spacing=(1, 2))), name
        out = np.empty(image.shape, bool)
        assert ours(image, 2, out=out) is out
        assert np.array_equal(out, theirs(image, 2))
        if name in ("erosion", "dilation"):  # the results of its own tests
            ones, filled = np.ones((10, 10)), np.zeros((10, 10))
            ours(ones, 3, out=filled)
            assert filled.any() and np.array_equal(filled, ours(ones, 3))
    random = np.random.default_rng(2)
    for distance in (0, 0.5, 1, 1.5, 2.3, 3, 4, 5):
        for ndim in (1, 2, 3):
            labels = (random.random((12,) * ndim) < 0.05) * random.integers(1, 5, (12,) * ndim)
            ours = compat.expand_labels(labels, distance)
            assert np.array_equal(ours, segmentation.expand_labels(labels, distance)), (distance, ndim)


def test_isotropic_operations_are_those_of_a_disk():
    morphology = pytest.importorskip("skimage.morphology")
    image = blobs((50, 90))
    beside = {"border_value": 1}
    for disk, words in (
        (morphology.disk(3), {"radius": 3}),
        (np.add.outer(np.arange(-6, 7) ** 2, (2 * np.arange(-6, 7)) ** 2) <= 36, {"radius": 6, "spacing": (1, 2)}),
    ):
        eroded = scipy_ndimage.binary_erosion(image, disk, **beside)
        dilated = scipy_ndimage.binary_dilation(image, disk)
        assert np.array_equal(compat.isotropic_erosion(image, **words), eroded)
        assert np.array_equal(compat.isotropic_dilation(image, **words), dilated)
        opened, closed = (compat.isotropic_opening(image, **words), compat.isotropic_closing(image, **words))
        assert np.array_equal(opened, scipy_ndimage.binary_dilation(eroded, disk))
        assert np.array_equal(closed, scipy_ndimage.binary_erosion(dilated, disk, **beside))
