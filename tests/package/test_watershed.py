"""Watersheds and their kin: the library's answers in Python, beside scikit-image and SciPy."""

import copy
import pickle

import numpy as np
import pytest
from scipy import ndimage
from skimage import data, feature, filters, morphology, segmentation

import nearfield as nf
from nearfield.compat import skimage as compat

RNG = np.random.default_rng(5)


def discs(shape=(240, 260), count=40, seed=3):
    rng = np.random.default_rng(seed)
    at = np.indices(shape)
    made = np.zeros(shape, bool)
    for _ in range(count):
        centre, radius = rng.integers(0, shape), rng.integers(8, 22)
        made |= sum((a - c) ** 2 for a, c in zip(at, centre)) <= radius**2
    return made


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float32", "float64", "float16"])
def test_markers_keep_their_labels_and_type(dtype):
    image = RNG.integers(0, 9, (20, 30)).astype(dtype)
    markers = np.zeros(image.shape, np.uint16)
    markers[3, 4], markers[15, 20] = 700, 5
    label, passes = nf.watershed(image, markers, return_passes=True)
    assert label.dtype == np.uint16 and set(np.unique(label)) == {5, 700}
    assert passes.dtype == image.dtype and (passes >= image).all()
    listed = nf.watershed(image, [[3, 4], [15, 20]])
    assert np.array_equal(listed == 1, label == 700)
    assert np.array_equal(nf.watershed(image, [[15, 20], [3, 4], [15, 20]]) == 3, label == 5)
    kept = nf.basins(image)
    assert np.array_equal(kept.watershed(markers), label)
    where = np.stack(np.indices(image.shape), -1).reshape(-1, 2)
    for cell in ((3, 4), (15, 20)):
        lowest = kept.passes(np.tile(cell, (len(where), 1)), where).reshape(image.shape)
        assert (lowest >= passes).all()
    least = np.minimum(*(kept.passes(np.tile(c, (len(where), 1)), where) for c in ((3, 4), (15, 20))))
    assert np.array_equal(least.reshape(image.shape), passes)


def test_flood_is_connected_at_every_threshold():
    image = RNG.integers(0, 9, (25, 31)).astype(np.uint8)
    for level in (2, 5, 8):
        below, _ = ndimage.label(image <= level)
        assert np.array_equal(nf.flood(image, [[12, 12]], level), (below == below[12, 12]) & (below > 0))
        above, _ = ndimage.label(image >= level)
        found = nf.flood(image, [[12, 12]], level, maxima=True)
        assert np.array_equal(found, (above == above[12, 12]) & (above > 0))


def test_holes_and_reconstruction_are_those_of_scipy_and_scikit_image():
    mask = RNG.random((60, 70)) < 0.55
    assert np.array_equal(nf.fill_holes(mask), ndimage.binary_fill_holes(mask))
    image = RNG.integers(0, 30, (40, 50)).astype(np.int32)
    seed = np.maximum(image - RNG.integers(0, 12, image.shape), 0).astype(np.int32)
    assert np.array_equal(compat.reconstruction(seed, image), morphology.reconstruction(seed, image))
    above = image + 4
    found = compat.reconstruction(above, image, "erosion", np.ones((3, 3)))
    assert np.array_equal(found, morphology.reconstruction(above, image, "erosion", np.ones((3, 3))))
    grey = image.copy()
    grey[1:-1, 1:-1] = grey.max()
    filled = morphology.reconstruction(grey, image, "erosion", ndimage.generate_binary_structure(2, 1))
    assert np.array_equal(nf.fill_holes(image), filled)


@pytest.mark.parametrize("border", ["open", "periodic", ("open", "periodic", "open")])
def test_holes_of_masks_are_those_of_two_values(border):
    for each in range(20):
        mask = RNG.random(RNG.integers(1, 9, 3)) < (0.5, 0.7, 0.9)[each % 3]
        for connectivity in (1, 2, 3):
            found = nf.fill_holes(mask, connectivity=connectivity, border=border)
            values = nf.fill_holes(mask.astype(np.float32), connectivity=connectivity, border=border)
            for kind in (np.uint8, np.int64):
                bytes_ = nf.fill_holes(mask.astype(kind) * kind(7), connectivity=connectivity, border=border)
                assert bytes_.dtype == kind and (border == "periodic" or np.array_equal(bytes_, found * 7))
            if border == "open":
                near = ndimage.generate_binary_structure(3, connectivity)
                assert np.array_equal(found, ndimage.binary_fill_holes(mask, near))
            assert found.dtype == bool and (border == "periodic" or np.array_equal(found, values != 0))


@pytest.mark.parametrize("h", [1, 2, 5])
def test_h_maxima_are_scikit_images(h):
    image = ndimage.gaussian_filter(RNG.random((80, 90)), 2)
    image = (255 * (image - image.min()) / np.ptp(image)).astype(np.uint8)
    assert np.array_equal(compat.h_maxima(image, h), morphology.h_maxima(image, h))
    assert np.array_equal(nf.h_minima(255 - image, h, connectivity=2), morphology.h_maxima(image, h) != 0)
    assert np.array_equal(nf.regional_maxima(image, connectivity=2), morphology.local_maxima(image))


def test_few_cells_differ_from_scikit_images_watershed():
    mask = discs()
    distance = nf.distance_transform(mask)
    markers = np.zeros(mask.shape, np.int32)
    found = nf.peaks(distance, h=1)
    markers[tuple(found.T)] = np.arange(1, len(found) + 1)
    ours = compat.watershed(-distance, markers, connectivity=2, mask=mask)
    theirs = segmentation.watershed(-distance, markers, connectivity=2, mask=mask)
    assert len(found) > 10 and (ours != theirs)[mask].mean() < 0.01
    lines = compat.watershed(-distance, markers, connectivity=2, mask=mask, watershed_line=True)
    assert ((lines == 0) | (lines == ours)).all() and 0 < ((lines == 0) & mask).sum() < 2000


def test_an_empty_list_has_no_markers():
    image = np.arange(12.0).reshape(3, 4)
    assert not nf.watershed(image, []).any() and not nf.basins(image).watershed([]).any()
    assert np.isinf(nf.flood(image, ())).all() and np.isinf(nf.geodesic(image, [])).all()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "uint32", "int64", "uint64"])
def test_basins_have_the_type_of_the_markers_as_in_scikit_image(dtype):
    image, markers = discs(), np.zeros(discs().shape, dtype)
    markers[3, 4], markers[50, 60] = 1, np.iinfo(dtype).max if dtype != "bool" else True
    ours, theirs = compat.watershed(image, markers), segmentation.watershed(image, markers)
    assert ours.dtype == theirs.dtype and np.array_equal(np.unique(ours), np.unique(theirs))


def test_peaks_are_the_same_of_distances_and_of_their_squares():
    mask = discs(seed=8)
    distance, squared = nf.distance_transform(mask, dtype="float64"), nf.distance_transform(mask, squared=True)
    for h in (0.5, 1, 1.75):
        of_roots = nf.peaks(squared, h=h, squared=True)
        assert np.array_equal(of_roots, nf.peaks(distance, h=h)) and len(of_roots)
    far = nf.peaks(squared, min_distance=25, squared=True)
    apart = np.linalg.norm(far[:, None] - far[None], axis=2) + 1e9 * np.eye(len(far))
    assert apart.min() >= 25
    halves = np.where(np.arange(mask.shape[1]) < 130, 1, 2) * np.ones(mask.shape, int)
    both = [nf.peaks(np.where(halves == each, squared, 0), squared=True) for each in (1, 2)]
    assert {*map(tuple, np.concatenate(both))} == {*map(tuple, nf.peaks(squared, labels=halves, squared=True))}


def test_cuts_of_the_hierarchy_are_nested():
    image = ndimage.gaussian_filter(RNG.random((70, 80)), 2).astype(np.float32)
    kept = nf.basins(image)
    every = kept.watershed()
    assert np.array_equal(kept.cut(0), every)
    last = every
    for regions in (40, 11, 3, 1):
        cut = kept.cut(regions=regions)
        assert cut.max() == regions and set(np.unique(cut)) == set(range(1, regions + 1))
        for each in np.unique(last):
            assert len(np.unique(cut[last == each])) == 1
        last = cut
    assert kept.cut(0.02).max() == len(kept.peaks(0.02))
    for by in ("height", "area", "volume"):
        amount = kept.extinctions(by).amount
        least = float(np.sort(amount)[len(amount) // 2])
        cut = kept.cut(least) if by == "height" else kept.cut(**{by: least})
        assert cut.max() == (amount >= least).sum() and np.isinf(amount).sum() == 1
        assert kept.cut(regions=7, by=by).max() == 7
    assert nf.watershed_hierarchy is nf.basins
    found = kept.extrema()
    order = np.argsort(found.value, kind="stable")
    assert np.array_equal(kept.peaks(), found.coordinates[order])
    lower = found.into >= 0
    assert (found.value[found.into[lower]] <= found.value[lower]).all()


def test_basins_say_that_they_cannot_be_pickled():
    kept = nf.basins(np.zeros((3, 4), np.uint8))
    for use in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied; hand on the image"):
            use(kept)


def test_the_coins_are_counted():
    """scikit-image's sample, outlined as in its own tutorial, without the specks: 24 coins, of which some touch."""
    coins = data.coins()
    seeds = np.where(coins < 30, 1, np.where(coins > 150, 2, 0)).astype(np.uint8)
    mask = nf.remove_small(nf.fill_holes(nf.watershed(filters.sobel(coins), seeds) == 2), 20)
    assert nf.split(mask).max() == 24
    assert nf.split(nf.dilation(mask, 8)).max() == 24  # now many of them touch
    assert nf.label(nf.dilation(mask, 8)).max() == 9


def test_peaks_of_labels_are_those_of_each_alone():
    image, labels = RNG.integers(0, 9, (40, 50)), RNG.integers(0, 5, (4, 5)).repeat(10, 0).repeat(10, 1)
    for kind in (np.uint8, np.int64, np.uint32):
        each = [nf.peaks(np.where(labels == i, image, 0), h=2) for i in range(1, 5)]
        together = nf.peaks(image, h=2, labels=labels.astype(kind))
        assert {*map(tuple, np.concatenate(each))} == {*map(tuple, together)}
        assert (np.diff(image[tuple(together.T)]) <= 0).all()
    with pytest.raises(ValueError, match="labels"):
        nf.peaks(image, labels=-labels)


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"exclude_border": False},
        {"exclude_border": (3, 0)},
        {"num_peaks": 4},
        {"threshold_rel": 0.5},
        {"threshold_abs": 0.7, "exclude_border": 6},
    ],
)
def test_peak_local_max_takes_what_scikit_image_takes(words):
    image = ndimage.gaussian_filter(RNG.random((60, 70)), 2)
    image = (image - image.min()) / np.ptp(image)
    assert np.array_equal(compat.peak_local_max(image, **words), feature.peak_local_max(image, **words))
    assert np.array_equal(
        compat.peak_local_max(image - 2, exclude_border=0), compat.peak_local_max(image, exclude_border=0)
    )


@pytest.mark.parametrize(
    ("shape", "sigma", "apart"), [((90, 70), 2, 5), ((30, 24, 20), 0, 3), ((400,), 1, 9), ((5, 80), 0, 7)]
)
def test_peaks_are_the_largest_of_their_cubes_as_in_scikit_image(shape, sigma, apart):
    image = ndimage.gaussian_filter(RNG.random(shape), sigma)
    labels = (np.indices(shape)[-1] % 40 < 30) * (1 + np.indices(shape)[-1] // 40)
    for border in (False, True):
        words = {"min_distance": apart, "exclude_border": border}
        assert np.array_equal(compat.peak_local_max(image, **words), feature.peak_local_max(image, **words))
    words = {"min_distance": apart, "exclude_border": False, "labels": labels}
    ours, theirs = compat.peak_local_max(image, **words), feature.peak_local_max(image, **words)
    assert np.array_equal(ours, theirs) and len(ours) > 0


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"min_distance": 3},
        {"min_distance": 2, "p_norm": 2, "exclude_border": 1},
        {"min_distance": 4, "num_peaks": 5, "exclude_border": False},
        {"threshold_abs": 1, "threshold_rel": 0.2},
        {"min_distance": 2, "num_peaks_per_label": 2, "labels": True},
        {"num_peaks": 7, "labels": True},
        {"min_distance": 1, "exclude_border": 4, "labels": True},
    ],
)
@pytest.mark.parametrize("shape", [(23, 31), (9, 8, 10), (60,), (1, 40)])
def test_equal_peaks_are_those_of_scikit_image(words, shape):
    for most in (1, 3, 200):
        for kind in (np.uint8, np.int64, np.float32):
            image = RNG.integers(0, most, shape).astype(kind) + kind(1)
            given = dict(words)
            if "labels" in given:
                given["labels"] = np.indices(shape)[-1] // 6 * (RNG.random(shape) < 0.9)
            ours, theirs = compat.peak_local_max(image, **given), feature.peak_local_max(image, **given)
            assert np.array_equal(ours, theirs) or len(ours) == len(theirs) == 0
    away = ndimage.distance_transform_edt(RNG.random(shape) < 0.9)
    assert np.array_equal(compat.peak_local_max(away), feature.peak_local_max(away))


def test_an_image_of_less_height_has_no_maxima_as_in_scikit_image():
    for image in (np.array([3, 4]), RNG.integers(0, 9, (7, 8)), np.zeros((3, 3), np.uint8)):
        for h in range(1, 11):
            assert np.array_equal(compat.h_maxima(image, h), morphology.h_maxima(image, h))


def test_a_number_of_markers_is_an_even_grid():
    image = RNG.integers(0, 200, (50, 70)).astype(np.uint8)
    for count in (1, 6, 30):
        assert (compat.watershed(image, count) != segmentation.watershed(image, count)).mean() < 0.03
    mask = np.indices(image.shape)[1] < 40
    ours, theirs = compat.watershed(image, 12, mask=mask), segmentation.watershed(image, 12, mask=mask)
    assert ours.max() == theirs.max() and ((ours == 0) == (theirs == 0)).all()


def test_split_separates_discs_that_touch():
    mask = np.zeros((50, 120), bool)
    at = np.indices(mask.shape)
    for x in (24, 58, 92):
        mask |= (at[0] - 25) ** 2 + (at[1] - x) ** 2 <= 18**2
    for method in ("watershed", "lecture", "voronoi", "geodesic"):
        label, table = nf.split(mask, method=method, h=None if method == "watershed" else 12, return_table=True)
        assert label.max() == 3 and np.array_equal(label > 0, mask) and label.dtype == np.int32
        assert np.allclose([c[1] for c in table.centroid], [24, 58, 92], atol=2.5), method
    assert nf.split(mask, h=20).max() == 1
    mask[2, 2] = True
    assert nf.split(mask).max() == 4 and nf.split(mask, min_size=2).max() == 3
    assert nf.split(mask, spacing=(0.5, 0.5)).max() == 4
    assert np.array_equal(nf.split(mask, spacing=(2, 2)), nf.split(mask))


def test_fill_nearest_takes_the_nearest_value():
    image = RNG.random((30, 40))
    image[RNG.random(image.shape) < 0.6] = np.nan
    index = ndimage.distance_transform_edt(np.isnan(image), return_distances=False, return_indices=True)
    assert np.array_equal(nf.fill_nearest(image), image[tuple(index)])
    near = nf.fill_nearest(image, max_distance=1)
    assert np.isnan(near).any() and np.isnan(near).sum() < np.isnan(image).sum()
    colours = RNG.integers(1, 255, (20, 30, 3)).astype(np.uint8)
    colours[5:9, 5:9] = 0
    filled = nf.fill_nearest(colours, 0, channels=True)
    assert (filled != 0).all() and np.array_equal(filled[6, 5], colours[6, 4])
    assert np.array_equal(nf.fill_nearest(colours, colours.min(-1) == 0, channels=True), filled)


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_arrays_of_frameworks_come_back_as_such(framework):
    module = pytest.importorskip(framework if framework == "torch" else "jax.numpy")
    made = module.tensor if framework == "torch" else module.asarray
    image = RNG.integers(0, 9, (12, 14)).astype(np.uint8)
    found = nf.watershed(made(image), mask=made(image < 8))
    assert type(found) is type(made(image))
    assert np.array_equal(np.asarray(found), nf.watershed(image, mask=image < 8))
    assert np.array_equal(np.asarray(nf.fill_holes(made(image))), nf.fill_holes(image))


@pytest.mark.parametrize("shape", [(4096, 4096), (512, 512, 512)])
def test_large_images_are_the_hosts(shape, torch):
    """Stores of blocks that run at the same time meet in large images. Kept basins are flooded in another order."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    near, cells = len(shape), int(np.prod(shape))
    image = torch.rand((1, 1, *shape), device="cuda", generator=torch.Generator("cuda").manual_seed(3))
    blur = torch.nn.functional.avg_pool2d if near == 2 else torch.nn.functional.avg_pool3d
    for _ in range(3):
        image = blur(image, 9, 1, 4)
    image = ((image - image.min()) / (image.max() - image.min()) * 255).to(torch.uint8)[0, 0]
    markers = np.zeros(cells, np.int32)
    markers[RNG.integers(0, cells, cells // 100000)] = np.arange(1, cells // 100000 + 1)
    markers = markers.reshape(shape)
    there, host = torch.as_tensor(markers).cuda(), image.cpu().numpy()
    want = nf.watershed(host, markers, connectivity=near)
    assert np.array_equal(nf.watershed(image, there, connectivity=near).cpu(), want)
    assert np.array_equal(nf.basins(image, connectivity=near).watershed(there).cpu(), want)
    found = nf.watershed(image, h=9, connectivity=near, maxima=True).cpu()
    assert np.array_equal(found, nf.watershed(host, h=9, connectivity=near, maxima=True))


def test_wrong_arguments_are_refused():
    image = np.zeros((4, 5), np.uint8)
    for words, text in (
        ({"markers": np.zeros((4, 4), int)}, "markers"),
        ({"markers": [[0, 9]]}, "markers has coordinates"),
        ({"markers": image + 0.5}, "markers"),
        ({"connectivity": 3}, "connectivity"),
        ({"border": "closed"}, "border"),
        ({"h": -1}, "h"),
        ({"h": 1, "markers": image}, "h"),
        ({"mask": np.zeros((4, 5))}, "mask"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            nf.watershed(image, **words)
    for given in (image, image > 0):
        with pytest.raises(ValueError, match="border is closed"):
            nf.fill_holes(given, border="closed")
    with pytest.raises(ValueError, match="squared"):
        nf.h_maxima(image.astype(np.int32), 1, squared=True)
    with pytest.raises(TypeError, match="one of them"):
        nf.basins(image).cut()
    with pytest.raises(ValueError, match="squared goes with heights"):
        nf.basins(image).cut(volume=3, squared=True)
    for words in ({"offset": 1}, {"compactness": 1}):
        with pytest.raises(NotImplementedError):
            compat.watershed(image, **words)
    with pytest.raises(NotImplementedError, match="footprint"):
        compat.peak_local_max(image, footprint=np.ones((3, 3)))
