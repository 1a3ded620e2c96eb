"""nearfield.label on NumPy arrays: against SciPy, scikit-image and OpenCV, with numbers; layouts, types, garbage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

import nearfield as nf
from examples import examples

SMALL = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=7)
TYPES = st.sampled_from("bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split())
IMAGE = np.random.default_rng(0).random((17, 30, 41)) < 0.4


def flood(image, *, connectivity=1, same=lambda a, b: True, ground=lambda v: v == 0, periodic=None):
    """The slow oracle: one component after another, in raster order; shares nothing with the library."""
    periodic = periodic or (False,) * image.ndim
    labels = np.zeros(image.shape, int)
    steps = [
        np.array(s) - 1 for s in np.ndindex((3,) * image.ndim) if 0 < np.abs(np.array(s) - 1).sum() <= connectivity
    ]
    count = 0
    for start in np.ndindex(image.shape):
        if labels[start] or ground(image[start]):
            continue
        count += 1
        labels[start], stack = count, [start]
        while stack:
            at = stack.pop()
            for step in steps:
                there = np.array(at) + step
                there = tuple(int(t % n) if p else int(t) for t, n, p in zip(there, image.shape, periodic))
                inside = all(0 <= t < n for t, n in zip(there, image.shape))
                if inside and not labels[there] and not ground(image[there]) and same(image[at], image[there]):
                    labels[there] = count
                    stack.append(there)
    return labels, count


@examples(150)
@given(data=st.data(), image=hnp.arrays(TYPES, SMALL, elements=st.integers(0, 1)))
def test_equals_scipy(data, image):
    connectivity = data.draw(st.integers(1, image.ndim))
    seen = data.draw(st.sampled_from([image, image[::-1], image.T, np.asfortranarray(image), image[..., ::2]]))
    labels, count = nf.label(seen, connectivity=connectivity, return_num=True)
    structure = ndimage.generate_binary_structure(image.ndim, connectivity)
    wanted, number = ndimage.label(seen.astype("float32"), structure)
    np.testing.assert_array_equal(labels, wanted)
    assert (labels.dtype, count) == (wanted.dtype, number)


@examples(120)
@given(data=st.data(), image=hnp.arrays(st.sampled_from([np.int16, np.float64]), SMALL, elements=st.integers(0, 5)))
def test_criteria_equal_brute_force(data, image):
    connectivity = data.draw(st.integers(1, image.ndim))
    background = data.draw(st.none() | st.integers(0, 5))
    periodic = data.draw(st.tuples(*[st.booleans()] * image.ndim))
    criterion = data.draw(st.sampled_from(["equal", 0, 1, 2.5]))
    reach = 0 if criterion == "equal" else criterion
    options = dict(connectivity=connectivity, periodic=periodic)
    wanted = flood(image, same=lambda a, b: abs(int(a) - int(b)) <= reach, ground=lambda v: v == background, **options)
    labels, count = nf.label(image, criterion=criterion, background=background, return_num=True, **options)
    np.testing.assert_array_equal(labels, wanted[0])
    assert count == wanted[1]


@pytest.mark.parametrize("connectivity", [1, 2, 3])
def test_equals_scikit_image(connectivity):
    """Its convention: equal values, background 0 (or none), connectivity as many axes as there are."""
    measure = pytest.importorskip("skimage.measure")
    image = np.random.default_rng(1).integers(-1, 3, (9, 20, 21))
    for background, ours in ((0, 0), (2, 2), (-7, None)):
        theirs = measure.label(image, background=background, connectivity=connectivity)
        np.testing.assert_array_equal(
            nf.label(image, criterion="equal", background=ours, connectivity=connectivity), theirs
        )


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.6, 0.9])
def test_equals_opencv(connectivity, share):
    cv2 = pytest.importorskip("cv2")
    image = (np.random.default_rng(2).random((61, 83)) < share).astype(np.uint8)
    count, theirs = cv2.connectedComponents(image, connectivity=connectivity)
    labels, number = nf.label(image, connectivity=connectivity, return_num=True)
    assert number == count - 1
    # It numbers blocks of two rows; the sets of cells are the same.
    pairs = np.unique(np.stack([labels.ravel(), theirs.ravel()]), axis=1)
    assert pairs.shape[1] == count and len(set(pairs[1])) == count


def test_neighbours_by_count():
    for names in ((1, 6), (2, 18), (3, 26)):
        one, other = (nf.label(IMAGE, connectivity=name) for name in names)
        np.testing.assert_array_equal(one, other)
    for names in ((1, 4), (2, 8)):
        one, other = (nf.label(IMAGE[3], connectivity=name) for name in names)
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(nf.label(IMAGE[3, 4], connectivity=2), nf.label(IMAGE[3, 4]))


def test_nan_belongs_to_nothing():
    nan, inf = np.nan, np.inf
    row = np.array([nan, nan, 1, 0, inf, inf, -inf])
    np.testing.assert_array_equal(nf.label(row), [1, 1, 1, 0, 2, 2, 2])
    np.testing.assert_array_equal(nf.label(row, criterion="equal"), [1, 2, 3, 0, 4, 4, 5])
    np.testing.assert_array_equal(nf.label(row, criterion=3, background=nan), [0, 0, 1, 1, 2, 2, 3])


def test_integers_are_compared_to_the_last_digit():
    row = np.array([2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1], np.int64)
    np.testing.assert_array_equal(nf.label(row, criterion=1), [1, 1, 2, 2])
    np.testing.assert_array_equal(nf.label(row, criterion="equal", background=2**63 - 2), [1, 0, 2, 3])
    large = np.array([2**64 - 1, 2**64 - 2, 0], np.uint64)
    np.testing.assert_array_equal(nf.label(large, criterion=2**64 - 3, background=None), [1, 1, 2])
    np.testing.assert_array_equal(nf.label(large, criterion=2**64 - 1, background=None), [1, 1, 1])


def test_colours():
    image = np.array([[[0, 0, 0], [9, 0, 0], [9, 5, 0], [9, 5, 5]]], np.uint8)
    for keywords, wanted in (
        ({}, [[0, 1, 1, 1]]),
        ({"criterion": "equal"}, [[0, 1, 2, 3]]),
        ({"criterion": 5}, [[0, 1, 1, 1]]),
        ({"criterion": 4.5}, [[0, 1, 2, 3]]),
        ({"criterion": 9, "norm": "sum", "background": None}, [[1, 1, 1, 1]]),
        ({"criterion": 5, "norm": "euclidean", "background": 9}, [[1, 2, 2, 2]]),
    ):
        np.testing.assert_array_equal(nf.label(image, channels=True, **keywords), wanted)


def test_filters():
    image = np.array([[1, 1, 0, 0, 0, 1], [0, 0, 1, 0, 0, 1], [1, 0, 0, 0, 1, 0]])
    for keywords, wanted in (
        ({"min_size": 2}, [[1, 1, 0, 0, 0, 2], [0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, 0]]),
        ({"max_size": 1}, [[0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [2, 0, 0, 0, 3, 0]]),
        ({"clear_border": True}, [[0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]]),
        ({"largest": 1}, [[1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]),
        ({"max_size": 1, "largest": 2}, [[0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [2, 0, 0, 0, 0, 0]]),
        ({"largest": 0}, np.zeros((3, 6))),
    ):
        labels, count = nf.label(image, return_num=True, **keywords)
        np.testing.assert_array_equal(labels, wanted, str(keywords))
        assert count == labels.max()


def test_batch_axes_are_a_loop():
    images = IMAGE.reshape(17, 5, 6, 41)[:2]
    labels, counts = nf.label(images, batch_axes=2, return_num=True, connectivity=2)
    assert counts.shape == (2, 5) and counts.dtype == np.int64
    for at in np.ndindex(2, 5):
        wanted, count = ndimage.label(images[at], np.ones((3, 3)))
        np.testing.assert_array_equal(labels[at], wanted)
        assert counts[at] == count


def test_outputs():
    wanted = ndimage.label(IMAGE)[0]
    for dtype in ("uint16", "int32", "uint32", "int64", "uint64"):
        labels = nf.label(IMAGE, dtype=dtype)
        assert labels.dtype == dtype
        np.testing.assert_array_equal(labels, wanted)
    out = np.empty((41, 30, 34), np.uint16).T[::2]
    assert nf.label(IMAGE, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    out, count = nf.label(IMAGE, out=out, return_num=True)
    assert type(count) is int and count == wanted.max()


def test_empty_thin_and_large_rank():
    assert nf.label(np.zeros((0, 3))).shape == (0, 3)
    assert nf.label(np.zeros((0, 3)), return_num=True)[1] == 0
    assert nf.label([]).dtype == np.int32
    assert nf.label(np.zeros((0, 4, 5)), batch_axes=1, return_num=True)[1].shape == (0,)
    np.testing.assert_array_equal(nf.label([[3]]), [[1]])
    image = np.random.default_rng(3).random((3, 4, 3, 4, 3)) < 0.3
    for connectivity in (1, 3, 5):
        np.testing.assert_array_equal(
            nf.label(image, connectivity=connectivity),
            ndimage.label(image, ndimage.generate_binary_structure(5, connectivity))[0],
        )


def test_threads_do_not_change_bits():
    wanted = nf.label(IMAGE, connectivity=3)
    for threads in (1, 2, 7):
        np.testing.assert_array_equal(nf.label(IMAGE, connectivity=3, threads=threads), wanted)


def test_progress_and_cancellation():
    large = np.random.default_rng(4).random((1500, 1500)) < 0.6
    shares = []
    nf.label(large, progress=shares.append)
    assert shares[-1] == 1.0 and shares == sorted(shares)
    with pytest.raises(nf.Cancelled):
        nf.label(large, progress=lambda share: False)


def test_propagation_gives_the_same_labels():
    for keywords in ({}, {"connectivity": 3}, {"criterion": "equal", "background": None}):
        wanted = nf.label(IMAGE, **keywords)
        labels, count = nf.label(IMAGE, method="propagation", return_num=True, **keywords)
        np.testing.assert_array_equal(labels, wanted)
        assert count == wanted.max()
        for switches in ({"hooked": True}, {"links": False}, {"masters": False}, {"gather_length": 3}):
            labels, report = nf.label_by_propagation(IMAGE, **keywords, **switches)
            np.testing.assert_array_equal(labels, wanted)
            assert report.rounds >= 2
    for part, call in (
        ("most_rounds", lambda: nf.label_by_propagation(IMAGE, most_rounds=1)),
        ("neither neighbours nor links", lambda: nf.label_by_propagation(IMAGE, links=False, neighbours=False)),
        ("a filter is set", lambda: nf.label(IMAGE, method="propagation", min_size=2)),
        ("batch_axes", lambda: nf.label(IMAGE, method="propagation", batch_axes=1)),
        ("periodic along axis", lambda: nf.label(IMAGE, method="propagation", periodic=True)),
        ("gather_length is 0", lambda: nf.label_by_propagation(IMAGE, gather_length=0)),
        ("method is 'slow'", lambda: nf.label(IMAGE, method="slow")),
    ):
        with pytest.raises(ValueError) as refused:
            call()
        assert part in str(refused.value)


PLAIN = np.ones((3, 4), np.uint8)
GARBAGE = [
    (TypeError, "image has element type complex64", np.ones(3, np.complex64), {}),
    (TypeError, "masked array", np.ma.array([1, 2], mask=[0, 1]), {}),
    (ValueError, "image has 0 axes", 5, {}),
    (TypeError, "reads no files", "text", {}),
    (TypeError, "element type object", [{}], {}),
    (ValueError, "give rows of equal length", [[1, 0], [1]], {}),
    (ValueError, "connectivity is 3 for images of 2 axes", PLAIN, {"connectivity": 3}),
    (ValueError, "connectivity is 6 for images of 2 axes", PLAIN, {"connectivity": 6}),
    (ValueError, "connectivity is 0", PLAIN, {"connectivity": 0}),
    (TypeError, "connectivity is 1.5", PLAIN, {"connectivity": 1.5}),
    (TypeError, "connectivity is None", PLAIN, {"connectivity": None}),
    (ValueError, "criterion is 'same'", PLAIN, {"criterion": "same"}),
    (ValueError, "criterion is -1; a difference is 0 or more", PLAIN, {"criterion": -1}),
    (ValueError, "criterion is nan", PLAIN, {"criterion": np.nan}),
    (TypeError, "criterion is None; give 'nonzero', 'equal', 'links', or a number", PLAIN, {"criterion": None}),
    (TypeError, "criterion is True", PLAIN, {"criterion": True}),
    (ValueError, "criterion is an integer of more than 64 bits", PLAIN, {"criterion": 2**70}),
    (ValueError, "has zero for its background", PLAIN, {"background": 1}),
    (ValueError, "has zero for its background", PLAIN, {"background": None}),
    (TypeError, "background is 'x'", PLAIN, {"background": "x", "criterion": "equal"}),
    (ValueError, "background is an integer of more than 64 bits", PLAIN, {"background": -(2**70), "criterion": 1}),
    (ValueError, "norm is 'l1'", PLAIN, {"norm": "l1"}),
    (ValueError, "periodic has 3 values for an image of 2 axes", PLAIN, {"periodic": (True,) * 3}),
    (TypeError, "periodic is 'x'", PLAIN, {"periodic": "x"}),
    (ValueError, "leave at least one axis", PLAIN, {"batch_axes": 2}),
    (ValueError, "batch_axes is -1", PLAIN, {"batch_axes": -1}),
    (ValueError, "channels", np.ones((3, 4, 5), np.uint8), {"channels": True}),
    (ValueError, "image has element type int16", np.ones((3, 4, 3), np.int16), {"channels": True}),
    (ValueError, "min_size is -1", PLAIN, {"min_size": -1}),
    (TypeError, "largest is 'all'", PLAIN, {"largest": "all"}),
    (TypeError, "clear_border is 'no'; give True or False", PLAIN, {"clear_border": "no"}),
    (TypeError, "clear_border is None", PLAIN, {"clear_border": None}),
    (TypeError, "clear_border is np.str_('no')", PLAIN, {"clear_border": np.str_("no")}),
    (TypeError, "return_num is [1]", PLAIN, {"return_num": [1]}),
    (TypeError, "channels is 'yes'", PLAIN, {"channels": "yes"}),
    (TypeError, "periodic is 'x'", PLAIN, {"periodic": ("x", True)}),
    (TypeError, "periodic is None", PLAIN, {"periodic": None}),
    (ValueError, "dtype is int8; labels are one of", PLAIN, {"dtype": "int8"}),
    (ValueError, "dtype is float32", PLAIN, {"dtype": np.float32}),
    (TypeError, "dtype is", PLAIN, {"dtype": "number"}),
    (TypeError, "out is list", PLAIN, {"out": [0]}),
    (ValueError, "out has shape", PLAIN, {"out": np.zeros((4, 3), np.int32)}),
    (ValueError, "out has element type float64", PLAIN, {"out": np.zeros((3, 4))}),
    (ValueError, "leave out one of them", PLAIN, {"out": np.zeros((3, 4), np.int32), "dtype": "uint16"}),
    (ValueError, "device is 'gpu'", PLAIN, {"device": "gpu"}),
    (ValueError, "threads is 0", PLAIN, {"threads": 0}),
    (TypeError, "progress is 3", PLAIN, {"progress": 3}),
    (TypeError, "unexpected keyword", PLAIN, {"structure": None}),
]


def test_more_threads_than_any_machine_has():
    for threads in (10**6, 10**12):
        np.testing.assert_array_equal(nf.label(PLAIN, threads=threads), nf.label(PLAIN))


@pytest.mark.parametrize("error, part, image, keywords", GARBAGE, ids=lambda x: x if isinstance(x, str) else None)
def test_garbage_is_refused_by_name(error, part, image, keywords):
    with pytest.raises(error) as refused:
        nf.label(image, **keywords)
    assert part in str(refused.value)


def test_flags_of_other_types():
    corner = np.array([[1, 0], [0, 1]])
    for yes in (np.True_, 1, np.array(True)):
        labels, count = nf.label(corner, clear_border=yes, return_num=yes)
        assert count == 0 and not labels.any()
    for name in ("squared", "signed", "multilabel", "half_cell", "return_labels"):
        with pytest.raises((TypeError, ValueError), match=name):
            nf.distance_transform(corner, **{name: "no"})


def test_read_only_and_overlapping_outputs():
    fixed = np.zeros((3, 4), np.int32)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        nf.label(PLAIN, out=fixed)
    memory = np.ones((3, 8), np.int32)
    with pytest.raises(ValueError, match="out.*overlap|overlap.*out"):
        nf.label(memory[:, :4], out=memory[:, 3:7])


def test_too_many_components_for_the_type():
    board = np.indices((400, 400)).sum(0) % 2
    with pytest.raises(ValueError, match="uint16"):
        nf.label(board, dtype="uint16")
    assert nf.label(board, return_num=True)[1] == 80000


def test_no_gpu_is_said():
    if nf.devices():
        pytest.skip("there is a GPU here")
    with pytest.raises(RuntimeError, match="cuda"):
        nf.label(PLAIN, device="cuda")


def test_a_narrow_type_is_named_by_the_argument_that_chose_it():
    board, values = np.indices((600, 600)).sum(0) % 2, np.arange(70000)
    for call in (
        lambda **more: nf.label(board, **more),
        lambda **more: nf.label(board, method="propagation", **more),
        lambda **more: nf.label_by_propagation(board, **more),
        lambda **more: nf.components(board, **more),
    ):
        with pytest.raises(ValueError, match="^dtype is uint16, which numbers 65535 components; .* give int32$"):
            call(dtype="uint16")
        with pytest.raises(ValueError, match="^out has element type uint16, which numbers 65535 components"):
            call(out=np.empty(board.shape, np.uint16))
    with pytest.raises(ValueError, match="^dtype is uint16, which numbers 65535 values; .* give int32$"):
        nf.relabel(values, dtype="uint16")
    with pytest.raises(ValueError, match="^out has element type uint16, which numbers 65535 values"):
        nf.relabel(values, out=np.empty(values.shape, np.uint16))


def test_progress_goes_with_the_fast_method():
    with pytest.raises(TypeError, match="^progress is 'x'"):
        nf.label([1, 0], progress="x")
    for progress in (True, print):
        with pytest.raises(ValueError, match="^progress does not go with method='propagation'"):
            nf.label([1, 0], method="propagation", progress=progress)
    assert nf.label([1, 0, 1], method="propagation", progress=False).tolist() == [1, 0, 2]
