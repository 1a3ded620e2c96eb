"""nearfield.compat.cc3d against the package connected-components-3d, where there is one; what differs on purpose."""

import importlib.util
import itertools

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from examples import examples
from nearfield.compat import cc3d as ours
from nearfield.compat._labels import is_fortran

theirs = pytest.importorskip("cc3d")

# On a line of cells, and on images of one row, the package fails or reads beyond the array. With binary_image and
# several values it runs out of labels (with one value too: `of_theirs`).
SHAPES = hnp.array_shapes(min_dims=2, max_dims=3, min_side=3, max_side=7)
TYPES = st.sampled_from("bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split())


@st.composite
def images(draw, types=TYPES):
    dtype = draw(types)
    image = draw(hnp.arrays(dtype, draw(SHAPES), elements=st.integers(0, 1 if dtype == "bool" else 3)))
    return draw(st.sampled_from([image, image.T, np.asfortranarray(image), image[::-1], image[..., ::2]]))


def connectivities(image):
    return st.sampled_from([6, 18, 26] + [4, 8] * (image.ndim == 2))


def of_theirs(function, image, *arguments, connectivity, binary_image, **keywords):
    """The package's answer, an array and a number.

    With 26 neighbours it has too few labels for points that lie two cells apart everywhere. Binary images with 8 it
    takes by squares of 2 x 2; where a side is odd it reads beyond, and may number background.
    """
    keywords |= {"connectivity": connectivity, "binary_image": binary_image}
    binary = binary_image or image.dtype == bool
    if binary and connectivity == 8:
        even = np.zeros([n + n % 2 for n in image.shape], image.dtype, "F" if is_fortran(image) else "C")
        inside = tuple(slice(n) for n in image.shape)
        even[inside] = image
        answer, number = function(even, *arguments, **keywords)
        return answer[inside].copy("K"), number
    try:
        return function(image, *arguments, **keywords)
    except RuntimeError:
        assert connectivity == 26 and binary
        reject()


def assert_same_sets(came, expected):
    pairs = np.unique(np.stack([came.ravel(), expected.ravel()]), axis=1)
    assert pairs.shape[1] == len(set(pairs[0])) == len(set(pairs[1]))
    np.testing.assert_array_equal(came == 0, expected == 0)


def assert_numbered_as_they_lie(labels):
    line = labels.ravel(order="K")
    numbers, first = np.unique(line[line != 0], return_index=True)
    np.testing.assert_array_equal(numbers, np.arange(1, numbers.size + 1))
    assert (np.diff(first) > 0).all()


@examples(250)
@given(image=images(), data=st.data())
def test_connected_components(image, data):
    keywords = dict(connectivity=data.draw(connectivities(image)), binary_image=data.draw(st.booleans()))
    if keywords["binary_image"]:
        image = np.minimum(image, 1)
    binary = keywords["binary_image"] or image.dtype.kind == "b"
    # The package is not always right with more neighbours and delta.
    if image.dtype.kind != "b" and keywords["connectivity"] in (4, 6):
        keywords["delta"] = data.draw(st.sampled_from([0, 0, 1, 2]))
    came, count = ours.connected_components(image, return_N=True, **keywords)
    expected, number = of_theirs(theirs.connected_components, image, return_N=True, **keywords)
    assert count == number and came.shape == expected.shape
    assert_numbered_as_they_lie(came)
    if binary and keywords["connectivity"] == 8:
        assert_same_sets(came, expected)
    else:
        np.testing.assert_array_equal(came, expected)
    if min(image.shape) > 0:
        assert came.dtype == expected.dtype
        assert came.flags.c_contiguous == expected.flags.c_contiguous
        assert came.flags.f_contiguous == expected.flags.f_contiguous


@pytest.mark.parametrize("shape, connectivity", [((20, 31), 4), ((20, 31), 8), ((9, 10, 11), 6)])
def test_periodic(shape, connectivity):
    """The sets are the same; the package numbers some by a later cell.

    On images of a few cells it misses some neighbours.
    """
    random = np.random.default_rng(0)
    for share in (0.2, 0.45, 0.7):
        image = (random.random(shape) < share).astype(np.uint8)
        came, expected = (
            each.connected_components(image, connectivity=connectivity, periodic_boundary=True)
            for each in (ours, theirs)
        )
        assert_same_sets(came, expected)


def test_binary_images_with_eight_neighbours_are_numbered_in_raster_order():
    """The package goes through these, and only these, by pairs of rows. Background stays background."""
    image = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0]])
    in_pairs, in_rows = [[0, 0, 2], [1, 0, 0], [0, 0, 0]], [[0, 0, 1], [2, 0, 0], [0, 0, 0]]
    for keywords in (dict(data=image == 1), dict(data=image, binary_image=True)):
        expected = theirs.connected_components(connectivity=8, **keywords)
        np.testing.assert_array_equal(expected, in_pairs)
        np.testing.assert_array_equal(ours.connected_components(connectivity=8, **keywords), in_rows)
    alone = np.arange(49).reshape(7, 7) == 46
    np.testing.assert_array_equal(ours.connected_components(alone, connectivity=8), alone)
    for connectivity in (4, 18, 26):
        labels = theirs.connected_components(image == 1, connectivity=connectivity)
        assert_numbered_as_they_lie(labels)


def test_differences_with_delta():
    image = np.array([[3, 1, 3], [3, 3, 3], [3, 3, 3]], np.int8)
    np.testing.assert_array_equal(
        ours.connected_components(image, connectivity=8, delta=1), [[1, 2, 1], [1, 1, 1], [1, 1, 1]]
    )


def assert_same(came, expected):
    assert set(came) == set(expected)
    for name, value in expected.items():
        if isinstance(value, np.ndarray):
            assert came[name].dtype == value.dtype, name
            np.testing.assert_allclose(came[name], value, rtol=1e-12, atol=1e-12, err_msg=name)
        else:
            assert came[name] == value, name


@examples(120)
@given(image=images(st.sampled_from(["uint8", "uint16", "int32", "uint64"])))
def test_statistics(image):
    if image.size > 3:
        assert_same(ours.statistics(image), theirs.statistics(image))
        assert_same(
            ours.statistics(image, no_slice_conversion=True), theirs.statistics(image, no_slice_conversion=True)
        )


@examples(120)
@given(image=images(st.sampled_from(["uint8", "int16", "uint32"])), data=st.data())
def test_dust_and_largest_k(image, data):
    if min(image.shape) == 0:
        return
    connectivity = data.draw(connectivities(image))
    threshold = data.draw(st.integers(0, 6) | st.tuples(st.integers(0, 3), st.integers(3, 6)))
    keywords = dict(connectivity=connectivity, binary_image=data.draw(st.booleans()), return_N=True)
    if keywords["binary_image"]:
        image = np.minimum(image, 1)
    for invert in (False, True):
        came = ours.dust(image, threshold, invert=invert, **keywords)
        expected = of_theirs(theirs.dust, image, threshold, invert=invert, **keywords)
        np.testing.assert_array_equal(came[0], expected[0].view(image.dtype))
        assert came[1] == expected[1]
        alone = {**keywords, "return_N": False}
        np.testing.assert_array_equal(ours.dust(image, threshold, invert=invert, **alone), came[0])
    if importlib.util.find_spec("fastremap"):  # with it the package's largest_k has other numbers and types
        return
    labels, count = theirs.connected_components(image, connectivity=connectivity, return_N=True)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    if len(set(sizes)) == count:  # the package does not say which of equally large ones it keeps
        for k in range(count + 2):
            came = ours.largest_k(image, k, connectivity=connectivity)
            expected = theirs.largest_k(image, k, connectivity=connectivity)
            np.testing.assert_array_equal(came, expected)
            assert came.dtype == expected.dtype


@examples(120)
@given(image=images(st.sampled_from(["uint8", "int16", "uint32"])), data=st.data())
def test_contacts(image, data):
    connectivity = data.draw(connectivities(image))
    spacing = data.draw(st.tuples(*[st.sampled_from([1, 2, 0.5])] * 3))
    came = ours.contacts(image, connectivity=connectivity, anisotropy=spacing)
    expected = theirs.contacts(image, connectivity=connectivity, anisotropy=spacing)
    assert came == pytest.approx(expected)
    assert list(came) == sorted(came)
    assert ours.region_graph(image, connectivity=connectivity) == set(expected)
    pairs = ours.contacts(image, connectivity=connectivity, surface_area=False)
    assert pairs == count_pairs(image, {4: 1, 6: 1, 8: 2, 18: 2, 26: 3}[connectivity])
    if connectivity in (4, 6):  # the package counts some diagonal pairs twice
        assert pairs == theirs.contacts(image, connectivity=connectivity, surface_area=False)


def count_pairs(image, changes):
    found = {}
    for away in itertools.product((-1, 0, 1), repeat=image.ndim):
        if not 0 < np.abs(away).sum() <= changes:
            continue
        here, there = (
            image[tuple(slice(max(0, sign * step), n - max(0, -sign * step)) for step, n in zip(away, image.shape))]
            for sign in (-1, 1)
        )
        touch = (here != 0) & (there != 0) & (here < there)
        for a, b in zip(here[touch].tolist(), there[touch].tolist()):
            found[a, b] = found.get((a, b), 0) + 1
    return found


@examples(60)
@given(image=images(st.sampled_from(["uint8", "uint32", "uint64"])), binary=st.booleans(), in_place=st.booleans())
def test_each(image, binary, in_place):
    seen = image if image.flags.f_contiguous else np.ascontiguousarray(image)  # the package reads beyond other arrays
    came, expected = ours.each(image, binary, in_place), theirs.each(seen, binary, in_place)
    assert len(came) == len(expected)
    for (label, one), (number, other) in zip(came, expected):
        assert label == number and type(label) is int
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
        assert one.flags.writeable != in_place


@pytest.mark.parametrize("connectivity", [6, 26])
def test_stacks_of_either_memory_order_have_the_same_sets(connectivity):
    pytest.importorskip("crackle", reason="cc3d's own stacks need crackle-codec")
    random = np.random.default_rng(0)
    parts = [(random.random((6, 5, 4)) < 0.3).astype("u1") for _ in range(3)]
    for order in "CF":
        stack = [np.asarray(part, order=order) for part in parts]
        came = ours.connected_components_stack(stack, connectivity=connectivity)
        expected = theirs.connected_components_stack(stack, connectivity=connectivity).numpy()
        assert_same_sets(came, expected)
        assert_numbered_as_they_lie(came)
        assert order == "C" or (came == expected).all()


def test_a_line_of_cells():
    line = np.array([2, 2, 0, 3, 2])
    labels, count = ours.connected_components(line, return_N=True)
    np.testing.assert_array_equal(labels, [1, 1, 0, 2, 3])
    assert count == 3
    assert ours.contacts(line) == {(2, 3): 1.0}
    assert_same(ours.statistics(line), theirs.statistics(line))


def test_many_components_take_a_wider_type():
    board = np.indices((400, 400)).sum(0) % 2
    labels, count = ours.connected_components(board, connectivity=4, return_N=True)
    assert (labels.dtype, count) == (np.uint32, 80000)
    np.testing.assert_array_equal(labels, theirs.connected_components(board, connectivity=4))
    with pytest.raises(ValueError, match="uint16"):
        ours.connected_components(board, connectivity=4, out_dtype=np.uint16)
    assert ours.connected_components(board, connectivity=4, out_dtype=np.uint64).dtype == np.uint64


def test_eighteen_neighbours_at_their_most():
    """Points with equal parity of all coordinates: the most components that there can be."""
    points = np.indices((6, 6, 6)) % 2
    board = ((points[0] == points[1]) & (points[1] == points[2])).astype(np.uint8)
    labels, count = ours.connected_components(board, connectivity=18, return_N=True)
    assert count == labels.max() == 54


def test_in_place_and_precomputed():
    image = np.array([[5, 5, 0, 7]], np.uint8)
    assert ours.dust(image, 2, connectivity=4, in_place=True) is image
    np.testing.assert_array_equal(image, [[5, 5, 0, 0]])
    labels = np.array([[1, 1, 0, 2, 0, 3, 3, 3]], np.uint16)
    np.testing.assert_array_equal(ours.dust(labels, 2, precomputed_ccl=True), [[1, 1, 0, 0, 0, 3, 3, 3]])
    np.testing.assert_array_equal(ours.largest_k(labels, 2, precomputed_ccl=True), [[1, 1, 0, 0, 0, 2, 2, 2]])
    np.testing.assert_array_equal(ours.largest_k(labels, 1, precomputed_ccl=True), labels == 3)


VOLUME = np.ones((3, 3, 3), np.uint8)
WRONG = [
    (ours.DimensionError, lambda: ours.connected_components(np.ones((1,) * 4))),
    (ValueError, lambda: ours.connected_components(VOLUME, connectivity=8)),
    (ValueError, lambda: ours.connected_components(VOLUME, connectivity=7)),
    (ValueError, lambda: ours.connected_components(VOLUME, out_dtype=np.int32)),
    (ValueError, lambda: ours.connected_components(VOLUME, delta=-1)),
    (ValueError, lambda: ours.connected_components(VOLUME, delta=np.nan)),
    (TypeError, lambda: ours.connected_components(VOLUME.astype(complex))),
    (NotImplementedError, lambda: ours.connected_components(VOLUME, out_file="a.bin")),
    (ValueError, lambda: ours.statistics(np.full((2, 2), 9))),
    (ValueError, lambda: ours.statistics(np.full((2, 2), -1))),
    (TypeError, lambda: ours.statistics(np.ones((2, 2)))),
    (ValueError, lambda: ours.contacts(VOLUME, connectivity=4)),
    (ValueError, lambda: ours.contacts(VOLUME, connectivity=5)),
    (ValueError, lambda: ours.contacts(VOLUME, anisotropy=(1, 1))),
    (ValueError, lambda: ours.contacts(VOLUME, anisotropy=(1, 0, 1))),
    (TypeError, lambda: ours.each(np.ones(3))),
    (ValueError, lambda: ours.largest_k(VOLUME, -1)),
    (ValueError, lambda: ours.dust([[1]], 2, in_place=True)),
    (ValueError, lambda: ours.dust(VOLUME, (1, 2, 3))),
    (ours.DimensionError, lambda: ours.dust(np.ones((1,) * 4), 2)),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_garbage_is_refused(number):
    error, call = WRONG[number]
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("dtype", ["float16", ">i4", ">f8"])
def test_dust_of_types_that_are_converted_elsewhere(dtype):
    image = np.array([[1, 1, 0], [0, 0, 2]], dtype)
    for in_place in (False, True):
        came = ours.dust(image, 2, connectivity=4, in_place=in_place)
        assert came.dtype == dtype and (came is image) == in_place
        np.testing.assert_array_equal(came, [[1, 1, 0], [0, 0, 0]])


def test_empty():
    labels, count = ours.connected_components(np.zeros((0, 3)), return_N=True)
    assert labels.shape == (0, 3) and count == 0
    assert ours.statistics(np.zeros((0, 3), int)) == theirs.statistics(np.zeros((0, 3), np.uint8))
    assert list(ours.each(np.zeros((0, 3), int))) == [] and ours.contacts(np.zeros((0, 3, 1), int)) == {}
