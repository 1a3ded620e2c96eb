"""Objects of gray images: counts of samples, and the rule of docs/objects.md by NumPy and SciPy."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage
from skimage import data, filters, io

import nearfield as nf


def discs(shape, count, seed, radii):
    rng = np.random.default_rng(seed)
    at = np.indices(shape)
    made = np.zeros(shape, bool)
    for _ in range(count):
        centre, radius = rng.integers(0, shape), rng.integers(*radii)
        made |= sum((a - c) ** 2 for a, c in zip(at, centre)) <= radius**2
    return made


def test_the_coins_are_counted():
    assert nf.split(data.coins(), gray=True).max() == 24


def sample(name):
    """An image that scikit-image downloads when it is first used, from a folder that holds it."""
    folder = os.environ.get("NEARFIELD_SAMPLES")
    if folder is None:
        pytest.skip(f"NEARFIELD_SAMPLES names no folder with scikit-image's {name}")
    return io.imread(Path(folder) / name)


def test_the_nuclei_of_human_mitosis_are_counted():
    """On enlarged parts of the image 337 were counted by eye."""
    nuclei = sample("mitosis.tif")
    assert abs(nf.split(nuclei, gray=True).max() - 337) <= 0.02 * 337
    twice = nf.split(nuclei.repeat(2, 0).repeat(2, 1), gray=True)  # in units of the objects, nothing changes
    assert abs(twice.max() - 337) <= 0.02 * 337


def test_the_nuclei_of_cells3d_are_counted():
    """In its slices 24 were counted by eye: the halves of the dividing one, and those at the ends, count as well."""
    cells = sample("cells3d.tif")
    cells = cells[:, 1] if cells.ndim == 4 else cells
    assert nf.split(cells, gray=True, spacing=(0.29, 0.26, 0.26)).max() == nf.split(cells, gray=True).max() == 24


def typical(labels):
    sizes = np.sort(np.bincount(labels.ravel())[1:])
    return sizes[np.searchsorted(np.cumsum(sizes), sizes.sum() / 2)]


def within(values, weights):
    """Means along every axis, of the cells that there are."""
    for axis, each in enumerate(weights):
        there = ndimage.convolve1d(np.ones(values.shape), each, axis, mode="constant")
        values = ndimage.convolve1d(values, each, axis, mode="constant") / there
    return values


def otsu(values):
    """The edge between two of 1024 bins that separates the classes best."""
    counts, edges = np.histogram(values, 1024)
    middles, below = (edges[1:] + edges[:-1]) / 2, np.cumsum(counts)[:-1]
    moment = np.cumsum(counts * middles)
    above = counts.sum() - below
    return edges[1 + np.argmax(below * above * (moment[:-1] / below - (moment[-1] - moment[:-1]) / above) ** 2)]


def filled(mask):
    return mask if mask.ndim == 1 else ndimage.binary_fill_holes(mask)


def split_by_the_words(image, cell):
    """What the documentation says of gray images."""
    foreground = filled(image > otsu(image))
    volume = typical(nf.split(foreground, spacing=cell)) * np.prod(cell)
    r = (volume / 2, (volume / np.pi) ** (1 / 2), (volume * 3 / 4 / np.pi) ** (1 / 3))[image.ndim - 1]
    sigmas, steps = (
        [r / 8 / c for c in cell],
        [np.arange(-int(3 * r / 8 / c + 0.5), int(3 * r / 8 / c + 0.5) + 1) for c in cell],
    )
    blurred = within(image.astype(float), [np.exp(-(k**2) / 2 / s**2) for k, s in zip(steps, sigmas)])
    apart = blurred - within(blurred, [np.ones(2 * int(np.round(1.5 * r / c)) + 1) for c in cell])
    foreground = filled(apart > otsu(apart))
    h = max(0.75 * min(cell), r / 16)
    least = max(1, round(typical(nf.split(foreground, spacing=cell, h=h)) / 20))
    return nf.split(foreground, spacing=cell, h=h, min_size=least)


@pytest.mark.parametrize("cell", [(1,), (1, 1), (2, 0.7), (1, 1, 1), (3, 1, 1)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_gray_images_are_split_as_documented(cell, dtype):
    rng = np.random.default_rng(len(cell))
    shape = len(cell) * ((400, 150, 50)[len(cell) - 1],)
    image = 120.0 * discs(shape, (15, 30, 40)[len(cell) - 1], 4, (4, 9)) + 40 * np.indices(shape)[0] / shape[0]
    image = rng.poisson(ndimage.gaussian_filter(image, 1) + 8).clip(0, 255).astype(dtype)
    found = nf.split(image, gray=True, spacing=cell)
    assert found.max() > 5 and (found == split_by_the_words(image, cell)).all()
    assert (nf.split(image[::-1], gray=True, spacing=cell) > 0).sum() == pytest.approx((found > 0).sum(), rel=0.01)
    assert (nf.split(np.asfortranarray(image), gray=True, spacing=cell, threads=1) == found).all()
    assert (nf.split(image.astype(np.float64), gray=True, spacing=cell) == found).all()
    assert nf.split(image, gray=True, spacing=cell, min_size=10**6).max() == 0


def test_gray_images_of_odd_values():
    assert nf.split(np.zeros((5, 6)), gray=True).max() == nf.split(np.full(7, np.nan), gray=True).max() == 0
    assert nf.split(np.zeros((0, 3)), gray=True).shape == (0, 3)
    mask = discs((240, 260), 40, 3, (8, 22))
    image = ndimage.gaussian_filter(mask.astype(float), 2)
    image[0, :3] = np.nan, np.inf, -np.inf
    assert nf.split(image, gray=True).max() >= nf.label(mask).max()
    with pytest.raises(ValueError, match="4 axes; give one image"):
        nf.split(np.zeros((2, 2, 2, 2)), gray=True)


@pytest.mark.parametrize("gray", [True, "dark"])
@pytest.mark.parametrize("value", [0, 0.1, 1e308, -1e308, 5e-324, np.nan, np.inf, -np.inf])
def test_one_value_is_no_object(gray, value):
    for shape in [(1,), (7,), (1, 1), (40, 50), (1, 1, 1), (20, 20, 20)]:
        assert nf.split(np.full(shape, value), gray=gray).max() == 0


def test_gray_images_of_any_type_scale_and_sign():
    coins = data.coins()
    found = nf.split(coins, gray=True)
    for given in (coins.astype(np.float16), coins * 1e-290, coins * 7e305, (coins - 128.0) * 1.4e306):
        assert np.isfinite(given).all() and (nf.split(given, gray=True) == found).all()
    for given in (255 - coins, -coins.astype(np.int16), -1e306 * coins.clip(0, 170)):
        same = nf.split(-given.astype(float), gray=True)
        assert (nf.split(given, gray="dark") == same).all() and abs(int(same.max()) - 24) <= 1


def test_colours_are_taken_by_their_luminance():
    coins = data.coins()
    found = nf.split(coins, gray=True)
    colours = np.stack([coins] * 3, -1)
    assert (nf.split(colours, gray=True, channel_axis=-1) == found).all()
    assert (nf.split(colours.transpose(2, 0, 1), gray=True, channel_axis=0, spacing=(1, 1)) == found).all()
    with pytest.raises(ValueError, match="looks like colours; give channel_axis=-1"):
        nf.split(colours, gray=True)
    with pytest.raises(ValueError, match="a mask has one value a cell"):
        nf.split(colours, channel_axis=-1)
    with pytest.raises(ValueError, match="gray is 'bright'; give True, False or 'dark'"):
        nf.split(coins, gray="bright")


def test_otsus_threshold_of_integers_is_that_of_scikit_image():
    assert nf.threshold_otsu(data.coins()) == filters.threshold_otsu(data.coins()) == 107
    rng = np.random.default_rng(0)
    for dtype in ("uint8", "int8", "int16", "uint16"):
        for _ in range(20):
            image = np.concatenate([rng.normal(30, 9, 500), rng.normal(80, 12, 300)]).clip(-100, 120).astype(dtype)
            here, there = nf.threshold_otsu(image), filters.threshold_otsu(image)
            assert ((image > here) == (image > there)).all()


def test_otsus_threshold_of_odd_values():
    values = np.array([1.0, 2.0, 2.0, 9.0, 8.0, np.nan, np.inf, -np.inf])
    assert 2 <= nf.threshold_otsu(values) < 8 and nf.threshold_otsu([[3, 3]]) == 3
    assert 2 <= nf.threshold_otsu(values.astype(np.float16)[::-1].reshape(2, 2, 2)) < 8
    assert -1e308 <= nf.threshold_otsu(np.array([-1e308, 1e308])) < 1e308
    for none in (np.zeros((0, 3)), [np.nan, np.inf]):
        with pytest.raises(ValueError, match="no finite value"):
            nf.threshold_otsu(none)
