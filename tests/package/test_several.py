"""Lists of arrays, the trust mask, and expand_labels as scikit-image has it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nearfield as nf
from examples import examples

RNG = np.random.default_rng(5)
IMAGES = [RNG.integers(0, 3, shape).astype(np.uint8) for shape in ((7, 9), (1, 30), (40, 3), (0, 4), (12, 12))]
WORDS = [
    {},
    {"return_indices": True, "spacing": (2, 0.5), "border": ("closed", "open")},
    {"squared": True, "return_labels": True, "return_trusted": True},
    {"batch_axes": 1, "return_indices": "linear", "return_distances": False},
    {"multilabel": True, "max_distance": 3, "dtype": "float64", "threads": 2},
    {"method": "jump-flood"},
]


def same(came, wanted):
    assert type(came) is list and len(came) == len(wanted)
    for mine, theirs in zip(came, wanted):
        assert type(mine) is type(theirs)
        for one, other in zip(*([each] if not isinstance(each, tuple) else each for each in (mine, theirs))):
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
            assert one.dtype == other.dtype


@pytest.mark.parametrize("words", WORDS, ids=str)
def test_a_list_is_a_loop(words):
    images = [each for each in IMAGES if each.size] if "method" in words else IMAGES
    wanted = [nf.distance_transform(each, **words) for each in images]
    same(nf.distance_transform(images, **words), wanted)
    same(nf.distance_transform(tuple(np.asfortranarray(each)[::-1][::-1] for each in images), **words), wanted)


def test_of_seeds_and_labels():
    words = {"return_labels": True, "return_distances": True, "return_trusted": True}
    same(nf.voronoi(IMAGES, **words), [nf.voronoi(each, **words) for each in IMAGES])
    same(nf.expand_labels(IMAGES, 2, (1, 2)), [nf.expand_labels(each, 2, (1, 2)) for each in IMAGES])


@examples(60)
@given(
    shapes=st.lists(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=7), min_size=1, max_size=5),
    types=st.lists(st.sampled_from(["bool", "uint8", ">i4", "float32"]), min_size=5, max_size=5),
    squared=st.booleans(),
)
def test_images_need_not_be_alike(shapes, types, squared):
    rng = np.random.default_rng(len(shapes))
    images = [(rng.random(shape) < 0.8).astype(dtype) for shape, dtype in zip(shapes, types)]
    words = {"squared": squared, "return_labels": True, "half_cell": squared}
    same(nf.distance_transform(images, **words), [nf.distance_transform(each, **words) for each in images])


def test_squares_of_large_images_may_be_wider():
    images = [np.ones(5, bool), np.arange(2**17) > 0]
    narrow, wide = nf.distance_transform(images, squared=True)
    assert narrow.dtype == np.uint32 and wide.dtype == np.uint64


@pytest.mark.parametrize("kind", ["torch", "jax", "array_api_strict"])
def test_other_frameworks(kind):
    space = pytest.importorskip(kind)
    made = {"torch": lambda: space.from_numpy, "jax": lambda: space.numpy.asarray}.get(kind, lambda: space.asarray)()
    images = [each for each in IMAGES if each.size]
    came = nf.distance_transform([made(each) for each in images], return_indices=True)
    assert all(type(x) is type(made(images[0])) for fields in came for x in fields)
    for mine, wanted in zip(came, nf.distance_transform(images, return_indices=True)):
        for one, other in zip(mine, wanted):
            np.testing.assert_array_equal(np.from_dlpack(one), other)
    if kind == "torch":
        compiled = space.compile(lambda x: nf.distance_transform([x, x[1:]]), fullgraph=True, backend="aot_eager")
        same([each.numpy() for each in compiled(made(images[0]))], nf.distance_transform([images[0], images[0][1:]]))
        mapped = space.vmap(lambda x: tuple(nf.distance_transform([x, x[1:]])))(made(images[0]))
        np.testing.assert_array_equal(mapped[1], [nf.distance_transform(each[1:]) for each in images[0]])
        mixed = nf.distance_transform([made(images[0]), images[0]])
        assert isinstance(mixed[0], space.Tensor) and isinstance(mixed[1], np.ndarray)
    if kind == "jax":
        jitted = space.jit(lambda images: nf.distance_transform(images))([made(each) for each in images])
        same([np.asarray(each) for each in jitted], nf.distance_transform(images))


def test_nested_lists_are_one_image():
    assert nf.distance_transform([[1, 0], [1, 1]]).shape == (2, 2)
    assert nf.distance_transform((np.int64(1), 0, np.uint8(1))).shape == (3,)


def test_progress_counts_the_whole_list():
    for images in ([np.ones((300, 300))] * 4, [np.ones((300, 300)), np.ones(90000)]):
        shares = []
        nf.distance_transform(images, progress=shares.append)
        assert shares == sorted(shares) and shares[-1] == 1.0
    with pytest.raises(nf.Cancelled):
        nf.distance_transform([np.ones((2000, 2000))] * 2, progress=lambda share: False)


def test_refused_with_a_list():
    out = np.empty((7, 9), np.float32)
    for call, words in (
        (nf.distance_transform, {"out": out}),
        (nf.distance_transform, {"indices_out": out}),
        (nf.voronoi, {"weights": IMAGES}),
        (nf.expand_labels, {"labels_out": out}),
    ):
        with pytest.raises(TypeError, match=f"{next(iter(words))} goes with one array, and .* is a list of them"):
            call(IMAGES, **words)
    with pytest.raises(ValueError, match=r"seeds\[0\]: .*spacing has 3 values"):
        nf.voronoi(IMAGES, spacing=(1, 2, 3))
    with pytest.raises(TypeError, match="list of arrays"):
        nf.plan(IMAGES)


@examples(60)
@given(
    image=hnp.arrays(bool, hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)),
    spacing=st.sampled_from([1, 0.3]),
)
def test_trusted_is_what_no_frame_changes(image, spacing):
    """A frame of sites around is the nearest that could lie beyond."""
    away, trusted = nf.distance_transform(image, spacing=spacing, return_trusted=True)
    framed = nf.distance_transform(np.pad(image, 1), spacing=spacing)[(slice(1, -1),) * image.ndim]
    assert trusted.dtype == bool
    np.testing.assert_array_equal(trusted, away == framed)
    seeds, mask = nf.voronoi(~image, spacing=spacing, return_trusted=True)
    np.testing.assert_array_equal(mask, trusted)
    assert nf.plan(image, return_trusted=True).output_bytes == 5 * image.size


def test_trusted_elsewhere():
    with pytest.raises(ValueError, match="return_trusted does not go with a power diagram"):
        nf.voronoi(IMAGES[0], weights=IMAGES[0], return_trusted=True)
    with pytest.raises(TypeError, match="return_trusted is 'yes'"):
        nf.distance_transform(IMAGES[0], return_trusted="yes")
    only = nf.distance_transform(IMAGES[0], return_distances=False, return_trusted=True)
    assert only.dtype == bool and only.shape == IMAGES[0].shape
    pytest.importorskip("SimpleITK")
    from nearfield.compat import sitk

    away, mask = sitk.distance_transform(sitk.sitk.GetImageFromArray(IMAGES[0]), return_trusted=True)
    np.testing.assert_array_equal(sitk.sitk.GetArrayFromImage(mask), only)


@pytest.mark.parametrize("distance", [0, 1, 1.5, 2, 3.7, 100])
@pytest.mark.parametrize("spacing", [1, 2.5, (1, 3, 0.5)])
def test_expand_labels_is_scikit_images_argument_by_argument(distance, spacing):
    theirs = pytest.importorskip("skimage.segmentation").expand_labels
    for axes in (2, 3):
        lengths = spacing[:axes] if isinstance(spacing, tuple) else spacing
        labels = np.where(RNG.random((13, 14, 15)[:axes]) < 0.02, RNG.integers(1, 99, (13, 14, 15)[:axes]), 0)
        labels.flat[5] = 7
        np.testing.assert_array_equal(nf.expand_labels(labels, distance, lengths), theirs(labels, distance, lengths))
    np.testing.assert_array_equal(nf.expand_labels(labels), theirs(labels))


def test_expand_labels_names_itself():
    with pytest.raises(TypeError, match=r"expand_labels\(\) got an unexpected keyword argument 'return_labels'"):
        nf.expand_labels([1, 0], 1, return_labels=True)
    labels, away = nf.expand_labels([1, 0, 0], 1, return_distances=True)
    assert labels.tolist() == [1, 1, 0] and away.tolist() == [0, 1, np.inf]
