"""nearfield.compat.edt against the package of that name, where that is right, and elsewhere against brute force."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nearfield.compat.edt as ours
from brute_force import nearest
from examples import examples

theirs = pytest.importorskip("edt")

FUNCTIONS = ("edt", "edtsq", "sdf", "sdfsq")
TYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split()
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=12)


@st.composite
def labels(draw):
    image = draw(hnp.arrays("uint8", draw(SHAPES), elements=st.integers(0, 3), fill=st.just(1)))
    image = image.astype(draw(st.sampled_from(TYPES)))
    return draw(st.sampled_from([image, np.asfortranarray(image), image[::-1], image.T]))


def anisotropies(ndim, lengths):
    return st.none() | (lengths if ndim == 1 else st.tuples(*[lengths] * ndim))


def assert_like_theirs(came, expected):
    assert (came.dtype, came.shape) == (expected.dtype, expected.shape)
    assert came.flags.f_contiguous == expected.flags.f_contiguous
    assert came.flags.c_contiguous == expected.flags.c_contiguous


@pytest.mark.parametrize("name", FUNCTIONS)
@examples(150)
@given(image=labels(), data=st.data(), black_border=st.booleans(), parallel=st.integers(-1, 3))
def test_equals_edt(name, image, data, black_border, parallel):
    anisotropy = data.draw(anisotropies(image.ndim, st.integers(1, 9).map(float)))
    expected = getattr(theirs, name)(image, anisotropy, black_border)
    came = getattr(ours, name)(image, anisotropy, black_border, parallel)
    assert_like_theirs(came, expected)
    np.testing.assert_array_equal(came, expected)


@pytest.mark.parametrize("name", FUNCTIONS)
@examples(80)
@given(image=labels(), data=st.data(), black_border=st.booleans())
def test_is_near_edt_with_any_anisotropy(name, image, data, black_border):
    """Its arithmetic is in float32, and so is its anisotropy."""
    anisotropy = data.draw(anisotropies(image.ndim, st.floats(0.1, 10)))
    expected = getattr(theirs, name)(image, anisotropy, black_border)
    came = getattr(ours, name)(image, anisotropy, black_border)
    assert_like_theirs(came, expected)
    np.testing.assert_allclose(came, expected, rtol=3e-6)


@examples(80)
@given(image=labels(), data=st.data())
def test_is_the_exact_distance_rounded_once(image, data):
    spacing = data.draw(st.tuples(*[st.integers(1, 5)] * image.ndim))
    squares = nearest(image.astype(np.int64), spacing=spacing, sites="other_labels")[0]
    exact = np.array([math.inf if d is None else math.sqrt(d) for d in squares.flat]).reshape(image.shape)
    np.testing.assert_array_equal(ours.edt(image, spacing), exact.astype(np.float32))
    np.testing.assert_array_equal(
        ours.edtsq(image, spacing),
        np.array([math.inf if d is None else d for d in squares.flat], "f4").reshape(image.shape),
    )


def test_signatures_are_theirs():
    for name in (*FUNCTIONS, "each"):
        parameters = inspect.signature(getattr(ours, name)).parameters.values()
        try:
            expected = inspect.signature(getattr(theirs, name)).parameters.values()
        except ValueError:
            pytest.skip("this edt does not tell its signatures")
        assert [(p.name, p.default) for p in parameters] == [(p.name, p.default) for p in expected], name


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("image", [
    [0, 1, 1],
    [[True, False]],
    np.zeros((0,), "u1"),
    np.zeros((0, 3), "u1"),
    np.zeros((3, 0, 2), bool),
    np.ones((3, 4)),
    np.zeros((3, 4)),
    np.array([1.5, 1.5, -0.0, 0.0, 2, -2, -2]),
    np.array([np.nan, np.nan, 0, 1, 1, np.nan, 1], "f4"),
    np.array([-1, -1, 2**62, 2**62, 0]),
    np.ones((6, 8), "u1")[::2, ::2],
    np.arange(60, dtype="i2").reshape(3, 4, 5).transpose(1, 0, 2) % 3,
])  # fmt: skip
def test_array_likes(name, image):
    expected = getattr(theirs, name)(np.asarray(image))
    came = getattr(ours, name)(image)
    assert_like_theirs(came, expected)
    np.testing.assert_array_equal(came, expected)


# ---- where edt is wrong ----------------------------------------------------------------------------------------------


def test_squares_beyond_float32s_integers():
    """edt adds in float32 what has been rounded to float32 before."""
    image = np.ones((3, 20000), "u1")
    image[0, 0] = 0
    y, x = np.ogrid[:3, :20000]
    exact = (y * y + x * x).astype("f8")
    np.testing.assert_array_equal(ours.edtsq(image), exact.astype("f4"))
    np.testing.assert_array_equal(ours.edt(image), np.sqrt(exact).astype("f4"))
    assert (theirs.edtsq(image) != exact.astype("f4")).any()


def test_float16():
    image = np.array([0, 1, 1, 1, 2, -0.0, 3], "f2")
    np.testing.assert_array_equal(ours.edt(image), ours.edt(image.astype("f4")))
    assert ours.edt(image).any() and not theirs.edt(image).any()


def test_other_byte_order():
    image = np.array([0, 1, 1, 256, 256], ">i4")
    np.testing.assert_array_equal(ours.edt(image), [0, 1, 1, 1, 2])


# ---- what is refused, and what is more than theirs -------------------------------------------------------------------


@pytest.mark.parametrize("wrong, error, match", [
    ({"data": 3}, TypeError, "1 to 8 axes"),
    ({"data": np.array([1j, 0])}, TypeError, "complex"),
    ({"data": ["a", "b"]}, TypeError, "U1"),
    ({"anisotropy": (1, 2, 3)}, ValueError, "3 values for an array of 2 axes"),
    ({"anisotropy": (0, 1)}, ValueError, "^anisotropy along axis 0 is 0"),
    ({"anisotropy": (1, math.nan)}, ValueError, "^anisotropy along axis 1 is nan"),
    ({"anisotropy": ["1", "2"]}, TypeError, "^anisotropy is '1'; give a number"),
    ({"anisotropy": "2"}, TypeError, "^anisotropy is '2'; give a number"),
    ({"voxel_graph": np.ones((3, 2), "u1")}, ValueError, "voxel_graph"),
])  # fmt: skip
@pytest.mark.parametrize("name", FUNCTIONS)
def test_refused(name, wrong, error, match):
    with pytest.raises(error, match=match):
        getattr(ours, name)(**{"data": np.ones((2, 3), "u1"), **wrong})


@pytest.mark.parametrize("anisotropy", [1e39, (1, 1e39), 1e-46])
def test_distances_that_float32_does_not_hold(anisotropy):
    for more in ({}, {"voxel_graph": np.full((2, 3), 63, "u1")}):
        with pytest.raises(ValueError, match="^distances are float32, .*; give anisotropy in another unit$"):
            ours.edt(np.ones((2, 3), "u1"), anisotropy, **more)


def test_more_axes_and_one_length_for_all():
    image = np.ones((2, 3, 2, 3), "u1")
    image[0, 0, 0, 0] = 0
    assert ours.edtsq(image)[1, 2, 1, 2] == 10
    for two in (2, np.float32(2), np.array(2), (2, 2, 2, 2), np.full(4, 2)):
        assert ours.edtsq(image, anisotropy=two)[1, 2, 1, 2] == 40
    assert ours.edt([0, 1], order="C")[1] == 1


# ---- each ------------------------------------------------------------------------------------------------------------


@examples(100)
@given(image=labels(), in_place=st.booleans())
def test_each_is_theirs(image, in_place):
    distance = ours.edt(image)
    image = np.asarray(image, order="F" if distance.flags.f_contiguous and not distance.flags.c_contiguous else "C")
    came, expected = ours.each(image, distance, in_place), theirs.each(image, distance, in_place)
    assert len(came) == len(expected)
    for _ in range(2):  # the result can be iterated again
        for (label, one), (other_label, other) in zip(came, expected, strict=True):
            assert (label, type(label)) == (other_label, type(other_label))
            assert_like_theirs(one, other)
            assert one.flags.writeable == (not in_place)
            np.testing.assert_array_equal(one, other)


def test_each_of_different_memory_orders():
    image = np.arange(6).reshape(2, 3)
    for distance in (image * 10.0, np.asfortranarray(image * 10)):
        for label, one in ours.each(np.asfortranarray(image), distance):
            np.testing.assert_array_equal(one, np.where(image == label, 10 * label, 0))


def test_each_of_different_shapes():
    with pytest.raises(ValueError, match="dt has shape"):
        ours.each(np.ones(3), np.ones(4))
