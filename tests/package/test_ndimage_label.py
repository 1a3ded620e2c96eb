"""nearfield.ndimage.label and find_objects against SciPy: values, types, in-place rules, errors, SciPy's own tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage as theirs

import scipy_suite
from examples import examples
from nearfield import ndimage as ours

SHAPES = hnp.array_shapes(min_dims=1, max_dims=5, min_side=1, max_side=5)
TYPES = st.sampled_from("bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split())
IMAGE = np.random.default_rng(0).random((9, 20, 21)) < 0.3


@st.composite
def images(draw):
    image = draw(hnp.arrays(draw(TYPES), draw(SHAPES), elements=st.integers(0, 1)))
    return draw(st.sampled_from([image, image[::-1], image.T, np.asfortranarray(image)]))


def assert_same(came, expected):
    if isinstance(expected, tuple):
        assert isinstance(came, tuple) and len(came) == len(expected)
        for one, other in zip(came, expected):
            assert_same(one, other)
        return
    assert type(came) is type(expected)
    if isinstance(expected, np.ndarray):
        assert (came.dtype, came.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(came, expected)


@examples(200)
@given(image=images(), data=st.data())
def test_every_structure_is_scipys(image, data):
    flags = data.draw(hnp.arrays(bool, (3,) * image.ndim))
    symmetric = flags | flags[(slice(None, None, -1),) * image.ndim]
    for structure in (None, theirs.generate_binary_structure(image.ndim, image.ndim), symmetric, symmetric.tolist()):
        assert_same(ours.label(image, structure), theirs.label(image, structure))


@examples(150)
@given(image=images(), most=st.integers(0, 9))
def test_objects_are_scipys(image, most):
    labels = theirs.label(image)[0]
    assert ours.find_objects(labels) == theirs.find_objects(labels)
    assert ours.find_objects(labels, most) == theirs.find_objects(labels, most)
    assert ours.find_objects(labels.astype("int16") - 1) == theirs.find_objects(labels.astype("int16") - 1)


@pytest.mark.parametrize("dtype", "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split())
def test_output(dtype):
    small = IMAGE[0, :4]
    assert_same(ours.label(small, output=dtype), theirs.label(small, output=dtype))
    for layout in (
        np.zeros(small.shape, dtype),
        np.zeros(small.shape[::-1], dtype).T,
        np.zeros((4, 42), dtype)[:, ::2],
    ):
        # SciPy numbers in another order if the output's first axis is the contiguous one.
        expected = np.zeros(small.shape, dtype)
        assert_same(ours.label(small, output=layout), theirs.label(small, output=expected))
        np.testing.assert_array_equal(layout, expected)


def test_output_may_be_the_input():
    image = IMAGE.astype(np.int32)
    expected = theirs.label(image)
    assert ours.label(image, output=image) == expected[1]
    np.testing.assert_array_equal(image, expected[0])


def test_array_likes():
    for image in ([[0, 1], [1, 1]], (0, 1, 1), [0, float("nan"), -1], [], np.zeros((0, 3)), 5, 0, True, np.float32(2)):
        assert_same(ours.label(image), theirs.label(image))
    for image in (np.array([1, 0, 2], ">i2"), np.array([1, 0, 2], np.longdouble), np.array([1, 0, 2], np.float16)):
        assert_same(ours.label(image), (np.array([1, 0, 2], np.int32), 2))
    big = np.zeros(3, ">i4")
    assert ours.label([1, 0, 1], output=big) == 2
    np.testing.assert_array_equal(big, [1, 0, 2])


@pytest.mark.parametrize(
    "keywords",
    [
        {"structure": np.ones(3)},
        {"structure": np.ones((3, 3, 3))},
        {"structure": np.ones((3, 5))},
        {"structure": 1},
        {"output": np.zeros(2)},
        {"output": "complex64"},
        {"output": "U3"},
        {"output": object},
        {"output": "garbage"},
        {"output": [0, 1]},
    ],
    ids=str,
)
def test_errors_are_of_scipys_types(keywords):
    image = np.array([[1, 0, 1]])
    with pytest.raises(Exception) as expected:
        theirs.label(image, **keywords)
    with pytest.raises(expected.type):
        ours.label(image, **keywords)


def test_more_errors():
    many = np.arange(600) % 2
    with pytest.raises(RuntimeError, match="insufficient bit-depth"):
        theirs.label(many, output=np.int8)
    for dtype in (np.int8, np.uint8):
        with pytest.raises(RuntimeError, match="insufficient bit-depth"):
            ours.label(many, output=dtype)
    for call in (ours.label, ours.find_objects):
        with pytest.raises(TypeError, match="Complex"):
            call(np.array([1j]))
    with pytest.raises(ValueError, match="symmetric"):
        ours.label([[1, 2], [0, 3]], [[0, 1, 0], [1, 1, 0], [0, 0, 0]])
    fixed = np.zeros(3, np.int32)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ours.label([1, 0, 1], output=fixed)
    with pytest.raises(ValueError, match="axes"):
        ours.label(np.ones((1,) * 9))


def test_objects_of_anything():
    for labels in (np.array(3), [1, 0, 3], np.array([-1, 0]), np.zeros(3, int), np.array([3], np.uint64)):
        assert ours.find_objects(labels) == theirs.find_objects(labels)
    assert ours.find_objects(np.array([True, False])) == [(slice(0, 1),)]
    assert ours.find_objects(np.zeros((0, 2), int), 3) == theirs.find_objects(np.zeros((0, 2), int), 3)
    for garbage in (np.zeros((0, 2), int), np.array([1.5, 2])):
        with pytest.raises(Exception) as expected:
            theirs.find_objects(garbage)
        with pytest.raises(expected.type):
            ours.find_objects(garbage)
    with pytest.raises(TypeError):
        ours.find_objects([1, 0], 2.5)


def test_torch():
    torch = pytest.importorskip("torch")
    image = torch.from_numpy(IMAGE)
    labels, count = ours.label(image)
    wanted = theirs.label(IMAGE)
    assert isinstance(labels, torch.Tensor) and (labels.dtype, count) == (torch.int32, wanted[1])
    np.testing.assert_array_equal(labels.numpy(), wanted[0])
    out = torch.zeros(IMAGE.shape, dtype=torch.int64)
    assert ours.label(image, np.ones((3, 3, 3)), output=out) == theirs.label(IMAGE, np.ones((3, 3, 3)))[1]
    assert ours.find_objects(labels) == theirs.find_objects(wanted[0])


def test_scipys_own_tests():
    scipy_suite.expect_passes(
        "scipy.ndimage.tests.test_measurements", "label or find_objects", scipy_suite.LABEL_NAMES, 20
    )
