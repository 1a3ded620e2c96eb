"""nearfield.ndimage against SciPy: values, types, in-place rules, errors, and SciPy's own tests."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage as theirs

import nearfield as nf
import scipy_suite
from examples import examples
from nearfield import ndimage as ours

NAMES = scipy_suite.NAMES
SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=7)
TYPES = st.sampled_from(
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64".split()
)
DOCS = Path(__file__).parents[2] / "docs" / "python-scipy.md"


@st.composite
def images(draw):
    """With a zero somewhere: without one the answers differ on purpose."""
    image = draw(hnp.arrays(draw(TYPES), draw(SHAPES), elements=st.integers(0, 1), fill=st.just(1)))
    image.flat[draw(st.integers(0, image.size - 1))] = 0
    return draw(st.sampled_from([image, image[::-1], image.T, np.asfortranarray(image)]))


def assert_same(came, expected):
    if isinstance(expected, tuple):
        assert isinstance(came, tuple) and len(came) == len(expected)
        for one, other in zip(came, expected):
            assert_same(one, other)
        return
    assert type(came) is type(expected)
    assert (came.dtype, came.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(came, expected)


@examples(200)
@given(image=images(), data=st.data())
def test_edt_is_scipys(image, data):
    sampling = data.draw(st.none() | st.integers(1, 5) | st.tuples(*[st.integers(1, 5)] * image.ndim))
    assert_same(
        ours.distance_transform_edt(image, sampling, return_indices=True),
        theirs.distance_transform_edt(image, sampling, return_indices=True),
    )


@pytest.mark.parametrize("sampling", [None, (3, 1), (1301, 1299)])
@pytest.mark.parametrize("given_memory", [False, True])
def test_large_images_are_scipys(sampling, given_memory):
    """Large answers bypass the caches: new memory starts at a cache line, given memory anywhere, and so do rows."""
    image = np.random.default_rng(5).random((1031, 1027)) > 0.002
    expected = theirs.distance_transform_edt(image, sampling, return_indices=True)
    memory = np.empty(3 * image.size + 1, np.int32)[1:]
    out, indices = memory[: image.size].view(np.float32), memory[image.size :]
    into = dict(out=out.reshape(image.shape), indices_out=indices.reshape(2, *image.shape)) if given_memory else {}
    distance, index = nf.distance_transform(image, spacing=sampling, return_indices=True, **into)
    assert_same((distance, index), (expected[0].astype(np.float32), expected[1]))
    if not given_memory:
        assert {a.__array_interface__["data"][0] % 64 for a in (distance, index)} == {0}


@examples(200)
@given(
    image=images(),
    data=st.data(),
    metric=st.sampled_from("euclidean taxicab cityblock manhattan chessboard ChessBoard".split()),
)
def test_bf_is_scipys(image, data, metric):
    sampling = data.draw(st.none() | st.integers(1, 5) | st.tuples(*[st.integers(1, 5)] * image.ndim))
    assert_same(
        ours.distance_transform_bf(image, metric, sampling, return_indices=True),
        theirs.distance_transform_bf(image, metric, sampling, return_indices=True),
    )


@examples(200)
@given(image=images(), metric=st.sampled_from("taxicab cityblock manhattan chessboard".split()))
def test_cdt_is_scipys(image, metric):
    assert_same(
        ours.distance_transform_cdt(image, metric, return_indices=True),
        theirs.distance_transform_cdt(image, metric, return_indices=True),
    )


@examples(100)
@given(image=images(), data=st.data())
def test_cdt_of_a_structure_with_axis_steps_is_scipys(image, data):
    flags = data.draw(st.lists(st.booleans(), min_size=3**image.ndim, max_size=3**image.ndim))
    structure = np.array(flags).reshape((3,) * image.ndim) | theirs.generate_binary_structure(image.ndim, 1)
    if image.ndim > 2:  # with three axes or more, SciPy's two passes need every shorter step too
        structure = theirs.generate_binary_structure(image.ndim, data.draw(st.integers(1, image.ndim)))
    expected = theirs.distance_transform_cdt(image, structure, return_indices=True)
    for each in (structure, structure.tolist(), structure.astype(float) * 7):
        assert_same(ours.distance_transform_cdt(image, each, return_indices=True), expected)


def test_cdt_goes_on_until_no_path_is_cheaper():
    """Along a border only every second cell is reached, by turning back each time: two passes miss that."""
    diagonal = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1]], bool)
    image = np.ones((2, 9), bool)
    image[0, 0] = False
    even, odd = [0, -1, 2, -1, 4, -1, 6, -1, 8], [-1, 1, -1, 3, -1, 5, -1, 7, -1]
    np.testing.assert_array_equal(ours.distance_transform_cdt(image, diagonal), [even, odd])


@pytest.mark.parametrize("name", NAMES)
def test_array_likes(name):
    our, their = getattr(ours, name), getattr(theirs, name)
    for image in (
        [[0, 1], [1, 1]],
        (0, 1, 1),
        [0, float("nan"), -1],
        [],
        np.zeros((0, 3)),
        np.zeros((2, 0, 3), bool),
        np.array([0, 1j]),
        np.array([1, 2, 0], ">i2"),
        np.array([-0.0, 1, 1]),
        np.array([1e-310, 1, 0]),
        np.ma.array([0, 1, 1], mask=[0, 0, 1]),
        np.array([0, 1, 1], np.longdouble),
    ):
        assert_same(our(image), their(image))
        assert_same(
            our(image, return_distances=False, return_indices=True),
            their(image, return_distances=False, return_indices=True),
        )


def test_a_number_is_an_image():
    assert_same(
        ours.distance_transform_edt(False, return_indices=True),
        theirs.distance_transform_edt(False, return_indices=True),
    )
    assert ours.distance_transform_bf(0).shape == () and ours.distance_transform_bf(0) == 0
    assert ours.distance_transform_bf(0, return_distances=False, return_indices=True).shape == (0,)
    np.testing.assert_array_equal(ours.distance_transform_cdt(0), [0])
    np.testing.assert_array_equal(ours.distance_transform_edt(True), [np.inf])


@pytest.mark.parametrize("name, metric, dtype", [
    ("distance_transform_edt", None, "float64"),
    ("distance_transform_bf", "euclidean", "float64"),
    ("distance_transform_bf", "cityblock", "uint32"),
    ("distance_transform_cdt", "chessboard", "int32"),
])  # fmt: skip
@pytest.mark.parametrize("layout", ["plain", "fortran", "reversed", "other byte order", "unaligned"])
def test_in_place(name, metric, dtype, layout):
    our = getattr(ours, name)
    keywords = {} if metric is None else {"metric": metric}
    image = np.random.default_rng(3).random((5, 6, 7)) < 0.9
    distance, indices = our(image, return_indices=True, **keywords)

    def empty(shape, dtype):
        return {
            "plain": lambda: np.empty(shape, dtype),
            "fortran": lambda: np.empty(shape, dtype, order="F"),
            "reversed": lambda: np.empty(shape, dtype)[::-1],
            "other byte order": lambda: np.empty(shape, np.dtype(dtype).newbyteorder()),
            "unaligned": lambda: np.empty(np.prod(shape) * 8 + 1, "u1")[
                1 : np.prod(shape) * np.dtype(dtype).itemsize + 1
            ]
            .view(dtype)
            .reshape(shape),
        }[layout]()

    far, where = empty(image.shape, dtype), empty((3, *image.shape), "int32")
    assert our(image, return_indices=True, distances=far, indices=where, **keywords) is None
    np.testing.assert_array_equal(far, distance)
    np.testing.assert_array_equal(where, indices)
    far, where = empty(image.shape, dtype), empty((3, *image.shape), "int32")
    assert_same(our(image, return_indices=True, distances=far, **keywords), indices)
    assert_same(our(image, return_indices=True, indices=where, **keywords), distance)
    np.testing.assert_array_equal(far, distance)
    np.testing.assert_array_equal(where, indices)
    assert our(image, return_distances=False, return_indices=True, indices=where, **keywords) is None
    assert our(image, distances=far, **keywords) is None


@pytest.mark.parametrize("name, dtype", [("distance_transform_edt", "float64"), ("distance_transform_cdt", "int32")])
def test_in_place_of_the_image(name, dtype):
    image = (np.random.default_rng(4).random((9, 8)) < 0.9).astype(dtype)
    expected = getattr(theirs, name)(image)
    getattr(ours, name)(image, distances=image)
    np.testing.assert_array_equal(image, expected)


ZERO = np.array([[0, 1, 1], [1, 1, 1]])


WRONG = {
    "": [
        {"return_distances": False},
        {"return_distances": False, "return_indices": True, "distances": np.zeros((2, 3))},
        {"indices": np.zeros((2, 2, 3), "int32")},
        {"distances": np.zeros((2, 3), "float32")},
        {"distances": np.zeros((3, 2), "float64")},
        {"distances": np.zeros((3, 2), "int32")},
        {"return_indices": True, "indices": np.zeros((2, 2, 3), "int64")},
        {"return_indices": True, "indices": np.zeros((1, 2, 3), "int32")},
    ],
    "edt bf": [{"sampling": each} for each in ([2], (1, 2, 3), [[1, 2]], [], "ab", (1j, 1))],
    "cdt bf": [{"metric": each} for each in ("garbage", "chebyshev", np.ones((3, 2)))],
}


@pytest.mark.parametrize(
    "name, keywords",
    [(n, k) for names, each in WRONG.items() for n in NAMES if not names or n[19:] in names for k in each],
)
def test_errors_are_of_scipys_types(name, keywords):
    with pytest.raises(Exception) as expected:
        getattr(theirs, name)(ZERO, **keywords)
    with pytest.raises(expected.type):
        getattr(ours, name)(ZERO, **keywords)


@pytest.mark.parametrize("sampling", [0, -1, np.nan, np.inf, (1, 0)])
def test_sampling_that_is_no_length(sampling):
    for call in (ours.distance_transform_edt, ours.distance_transform_bf):
        with pytest.raises(ValueError, match="spacing"):
            call(ZERO, sampling=sampling)


@pytest.mark.parametrize("name", NAMES)
def test_more_errors(name):
    call = getattr(ours, name)
    with pytest.raises(TypeError, match="distances is list"):
        call(ZERO, distances=[[0, 0, 0]] * 2)
    read_only = np.zeros((2, 3), "int32" if "cdt" in name else "float64")
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        call(ZERO, distances=read_only)
    with pytest.raises(ValueError, match="axes"):
        call(np.ones((1,) * 9))


def test_metric_of_another_number_of_axes():
    with pytest.raises(ValueError, match="metric has 1 axes and input has 2"):
        ours.distance_transform_cdt(ZERO, np.ones(3))


def test_no_site():
    """The documented difference."""
    image = np.ones((2, 3))
    nowhere = np.full((2, 2, 3), -1, "int32")
    inf = np.full((2, 3), np.inf)
    assert_same(ours.distance_transform_edt(image, return_indices=True), (inf, nowhere))
    assert_same(ours.distance_transform_bf(image, return_indices=True), (inf, nowhere))
    for metric in ("cityblock", "chessboard"):
        assert_same(
            ours.distance_transform_cdt(image, metric, return_indices=True), (np.full((2, 3), -1, "int32"), nowhere)
        )
        assert_same(ours.distance_transform_cdt(image, metric), theirs.distance_transform_cdt(image, metric))
        assert_same(
            ours.distance_transform_bf(image, metric, return_indices=True),
            (np.full((2, 3), 2**32 - 1, "uint32"), nowhere),
        )
        assert_same(ours.distance_transform_bf(image, metric), theirs.distance_transform_bf(image, metric))


@examples(60)
@given(image=images(), data=st.data())
def test_sampling_that_is_not_integral(image, data):
    sampling = data.draw(st.tuples(*[st.floats(0.1, 10)] * image.ndim))
    for name in ("distance_transform_edt", "distance_transform_bf"):
        came = getattr(ours, name)(image, sampling=sampling)
        np.testing.assert_allclose(came, getattr(theirs, name)(image, sampling=sampling), rtol=1e-14)
    native = nf.distance_transform(np.where(image, 1, 0), spacing=sampling, dtype="float64")
    np.testing.assert_array_equal(ours.distance_transform_edt(image, sampling), native)


def test_signatures_are_scipys():
    import inspect

    for name in NAMES:
        parameters = list(inspect.signature(getattr(ours, name)).parameters.values())
        if name == "distance_transform_edt":  # it also has CuPy's parameters
            assert [(p.name, p.default, p.kind) for p in parameters[-2:]] == [
                ("block_params", None, inspect.Parameter.KEYWORD_ONLY),
                ("float64_distances", True, inspect.Parameter.KEYWORD_ONLY),
            ]
            del parameters[-2:]
        expected = inspect.signature(getattr(theirs, name)).parameters.values()
        assert [(p.name, p.default, p.kind) for p in parameters] == [(p.name, p.default, p.kind) for p in expected]


def test_words_of_cupy():
    image = np.random.default_rng(5).random((7, 8, 9)) < 0.9
    far, where = ours.distance_transform_edt(
        image, (1, 2, 3), return_indices=True, block_params=(1, 2, 4), float64_distances=False
    )
    expected = theirs.distance_transform_edt(image, (1, 2, 3), return_indices=True)
    assert far.dtype == np.float32
    np.testing.assert_array_equal(far, expected[0].astype("f4"))
    np.testing.assert_array_equal(where, expected[1])
    out = np.empty(image.shape, "f4")
    assert ours.distance_transform_edt(image, distances=out, float64_distances=False) is None
    np.testing.assert_array_equal(out, theirs.distance_transform_edt(image).astype("f4"))
    with pytest.raises(RuntimeError, match="float32"):
        ours.distance_transform_edt(image, distances=np.empty(image.shape), float64_distances=False)


@pytest.mark.parametrize("kind", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("metric", ["chessboard", "taxicab", "manhattan"])
def test_steps_of_other_arrays(kind, metric):
    """What arrays on a device take, on the CPU."""
    space = pytest.importorskip(kind)
    for image in (np.random.default_rng(6).random((7, 8, 9)) < 0.9, np.ones((2, 3), bool)):
        mine = {"numpy": lambda x: x, "torch": lambda x: space.from_numpy(x), "jax": lambda x: space.numpy.asarray(x)}
        for name, dtype in (("cdt", "int32"), ("bf", "uint32")):
            came = ours._steps_there(name, mine[kind](image), metric, dtype, False, None)
            assert type(came).__module__.split(".")[0] in (kind, "jaxlib")
            np.testing.assert_array_equal(came, getattr(theirs, f"distance_transform_{name}")(image, metric))
    with pytest.raises(TypeError, match="use distance_transform_edt"):
        ours._steps_there("distance_transform_cdt", image, metric, "int32", True, None)
    with pytest.raises(ValueError, match="invalid metric"):
        ours._steps_there("distance_transform_cdt", image, "x", "int32", False, None)


def test_torch():
    torch = pytest.importorskip("torch")
    image = torch.tensor([[0, 1, 1], [1, 1, 1]])
    distance, indices = ours.distance_transform_edt(image, return_indices=True)
    expected = theirs.distance_transform_edt(image.numpy(), return_indices=True)
    assert isinstance(distance, torch.Tensor) and isinstance(indices, torch.Tensor)
    assert_same((distance.numpy(), indices.numpy()), expected)
    out = torch.empty((2, 3), dtype=torch.float64)
    assert ours.distance_transform_edt(image, distances=out) is None
    np.testing.assert_array_equal(out.numpy(), expected[0])
    with pytest.raises(RuntimeError, match="length"):
        ours.distance_transform_edt(image, sampling=(1, 2, 3))
    assert_same(ours.distance_transform_cdt(image), theirs.distance_transform_cdt(image.numpy()))


def test_jax(jax):
    image = np.arange(6).reshape(2, 3)
    traced = jax.jit(lambda length: ours.distance_transform_edt(image, (length, 1)))
    with pytest.raises(TypeError, match="^sampling is traced by JAX.*static_argnames"):
        traced(2.0)
    for labels in (image, image.reshape(1, 2, 1, 3)):  # also without 64-bit types
        assert ours.find_objects(jax.numpy.asarray(labels)) == ours.find_objects(labels)


def test_scipys_own_tests():
    scipy_suite.expect_passes("scipy.ndimage.tests.test_morphology", "distance_transform", NAMES, 12)


def test_differences_are_documented():
    if not DOCS.is_file():
        pytest.skip("no documentation here")
    text = DOCS.read_text()
    for name in scipy_suite.DIFFERENT:
        assert name in text
