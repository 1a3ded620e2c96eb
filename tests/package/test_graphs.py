"""Graphs, a bit for each neighbour: `nearfield.label` by links against SciPy's graphs; and those of cc3d and edt."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import nearfield as nf
from examples import examples
from nearfield.compat import cc3d as ours
from nearfield.compat import edt as our_edt

SMALL = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6)


def weak_components(graph, connectivity, periodic):
    """SciPy's components of the graph of all links, numbered in raster order."""
    number = np.arange(graph.size).reshape(graph.shape)
    starts, ends = [], []
    for step in itertools.product((-1, 0, 1), repeat=graph.ndim):
        if not 0 < np.abs(step).sum() <= connectivity:
            continue
        for at in np.ndindex(graph.shape):
            there = [a + by for a, by in zip(at, step)]
            there = [t % n if wraps else t for t, n, wraps in zip(there, graph.shape, periodic)]
            if int(graph[at]) & nf.link_bit(step) and all(0 <= t < n for t, n in zip(there, graph.shape)):
                starts.append(number[at]), ends.append(number[tuple(there)])
    links = sparse.coo_array((np.ones(len(starts)), (starts, ends)), (graph.size, graph.size))
    count, sets = sparse.csgraph.connected_components(links, directed=True, connection="weak")
    order = np.argsort(np.argsort(np.unique(sets, return_index=True)[1]))
    return order[sets].reshape(graph.shape) + 1, count


@examples(150)
@given(data=st.data(), shape=SMALL)
def test_links_are_weak_components(data, shape):
    connectivity = data.draw(st.integers(1, len(shape)))
    wide = len(shape) == 3 and connectivity > 1
    dtype = data.draw(st.sampled_from(["uint32", "int64"] if wide else ["uint8", "int16", "uint32", "int64"]))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    bits = random.integers(0, 2**26, shape)
    for _ in range(data.draw(st.integers(0, 4))):
        bits &= random.integers(0, 2**26, shape)
    graph = bits.astype(dtype)
    periodic = data.draw(st.tuples(*[st.booleans()] * len(shape)))
    seen = data.draw(st.sampled_from([graph, np.asfortranarray(graph), np.repeat(graph, 2, axis=-1)[..., ::2]]))
    labels, count = nf.label(seen, criterion="links", connectivity=connectivity, periodic=periodic, return_num=True)
    expected, number = weak_components(graph, connectivity, periodic)
    np.testing.assert_array_equal(labels, expected)
    assert count == number
    labels, table = nf.components(seen, criterion="links", connectivity=connectivity, periodic=periodic, min_size=2)
    sizes = np.bincount(expected.ravel())[1:]
    assert table.size.tolist() == sizes[sizes > 1].tolist()


def test_link_bits():
    for axes, many in ((1, 2), (2, 8), (3, 26)):
        steps = [s for s in itertools.product((-1, 0, 1), repeat=axes) if any(s)]
        assert sorted(nf.link_bit(s) for s in steps) == [1 << k for k in range(many)]
    for wrong in ([], [0], [0, 0], [2], [1, 1, 1, 1]):
        with pytest.raises(ValueError, match="step"):
            nf.link_bit(wrong)


@pytest.mark.parametrize("wrong, error, match", [
    ({"image": np.ones((3, 3), "f4")}, ValueError, "float32"),
    ({"image": np.ones((3, 3), bool)}, ValueError, "bool"),
    ({"image": np.ones((3, 3, 3), "u1"), "connectivity": 26}, ValueError, "uint32"),
    ({"image": np.ones((3, 3, 3, 3), "u4")}, ValueError, "1 to 3"),
    ({"image": np.ones((3, 3, 3), "u1"), "channels": True}, ValueError, "channels"),
    ({"image": np.ones((3, 3), "u1"), "background": 1}, ValueError, "min_size=2"),
    ({"image": np.ones((3, 3), "u1"), "method": "propagation"}, ValueError, "propagation"),
])  # fmt: skip
def test_graphs_are_refused(wrong, error, match):
    with pytest.raises(error, match=match):
        nf.label(criterion="links", **{"image": None, **wrong})


# ---- cc3d ------------------------------------------------------------------------------------------------------------


@examples(200)
@given(
    image=hnp.arrays(
        st.sampled_from("bool int8 uint8 int16 uint32 int64".split()),
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6),
        elements=st.integers(0, 1),
    ),
    data=st.data(),
)
def test_voxel_connectivity_graph(image, data):
    theirs = pytest.importorskip("cc3d")
    connectivity = data.draw(st.sampled_from([6, 18, 26] + [4, 8] * (image.ndim == 2)))
    seen = data.draw(st.sampled_from([image, image.T, np.asfortranarray(image), image[::-1]]))
    came, expected = (each.voxel_connectivity_graph(seen, connectivity) for each in (ours, theirs))
    np.testing.assert_array_equal(came, expected)
    assert (came.dtype, came.flags.f_contiguous) == (expected.dtype, expected.flags.f_contiguous)


@examples(200)
@given(data=st.data(), shape=hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=7))
def test_color_connectivity_graph(data, shape):
    """Random bits: whether a link is named by one cell or both is the package's to say."""
    theirs = pytest.importorskip("cc3d")
    connectivity = data.draw(st.sampled_from([6, 26] + [4, 8] * (len(shape) == 2)))
    flat = len(shape) == 2 or shape[2] == 1
    dtype = data.draw(st.sampled_from(["uint8", "uint32"] if flat or connectivity == 6 else ["uint32"]))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    graph = random.integers(0, 2**26, shape) & random.integers(0, 2**26, shape)
    graph = data.draw(st.sampled_from([graph, np.asfortranarray(graph)])).astype(dtype)
    came, count = ours.color_connectivity_graph(graph, connectivity, return_N=True)
    expected, number = theirs.color_connectivity_graph(graph, connectivity, return_N=True)
    np.testing.assert_array_equal(came, expected)
    assert (came.dtype, count, came.flags.f_contiguous) == (expected.dtype, number, expected.flags.f_contiguous)


@pytest.mark.parametrize("connectivity", [4, 6, 8, 18, 26])
def test_a_graph_of_labels_gives_the_components_again(connectivity):
    shape = (40, 50) if connectivity in (4, 8) else (20, 21, 22)
    image = np.random.default_rng(3).integers(0, 3, shape)
    graph = ours.voxel_connectivity_graph(image, connectivity)
    labels = nf.label(graph.T, criterion="links", connectivity=connectivity).T
    expected = nf.label(image.T, criterion="equal", background=None, connectivity=connectivity).T
    np.testing.assert_array_equal(labels, expected)


@examples(60)
@given(data=st.data(), binary=st.booleans(), connectivity=st.sampled_from([6, 26]))
def test_connected_components_stack(data, binary, connectivity):
    """As if the parts were one volume."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    whole = random.integers(0, 3, (4, 5, data.draw(st.integers(1, 9)))).astype(data.draw(st.sampled_from(["u1", "i8"])))
    ends = sorted(data.draw(st.lists(st.integers(0, whole.shape[2]), max_size=4)))
    order = data.draw(st.sampled_from(["C", "F"]))
    parts = (np.array(whole[:, :, a:b], order=order) for a, b in itertools.pairwise([0, *ends, whole.shape[2]]))
    came, count = ours.connected_components_stack(parts, connectivity, True, binary)
    expected, number = ours.connected_components(
        np.asarray(whole, order=order), connectivity=connectivity, binary_image=binary, return_N=True
    )
    np.testing.assert_array_equal(came, expected)
    assert count == number and came.flags.f_contiguous == expected.flags.f_contiguous


def test_a_stack_of_other_shapes_is_refused():
    assert ours.connected_components_stack([], return_N=True)[1] == 0
    with pytest.raises(ValueError, match="Connectivity must be 6 or 26"):
        ours.connected_components_stack([], 18)
    for other in (np.ones((2, 3, 1), "u1"), np.ones((2, 2, 1), "u2")):
        with pytest.raises(ValueError, match="same type, width and height"):
            ours.connected_components_stack([np.ones((2, 2, 1), "u1"), other])
    with pytest.raises(ours.DimensionError):
        ours.connected_components_stack([np.ones((2, 2))])


@examples(100)
@given(image=hnp.arrays(st.sampled_from("bool uint8 int64 float32 float64".split()), SMALL, elements=st.integers(0, 1)))
def test_estimate_provisional_labels(image):
    theirs = pytest.importorskip("cc3d")
    for seen in (image, np.asfortranarray(image)):
        assert ours.estimate_provisional_labels(seen) == theirs.estimate_provisional_labels(seen)


def test_faults_of_the_package():
    """docs/migration.md names them; where one is gone its sentence can go."""
    theirs = pytest.importorskip("cc3d")
    image = np.array([[1, 2], [1, 2]], np.uint8)
    labels = [
        np.unique(each.connected_components(image, connectivity=4, binary_image=True)).size for each in (ours, theirs)
    ]
    assert labels == [1, 2]
    signed = np.ones((3, 3), np.int8)
    assert [each.dust(signed, 2, connectivity=4).dtype for each in (ours, theirs)] == ["int8", "uint8"]


# ---- edt -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["edt", "edtsq", "sdf", "sdfsq"])
@examples(120)
@given(data=st.data(), shape=hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=7), border=st.booleans())
def test_voxel_graph(name, data, shape, border):
    theirs = pytest.importorskip("edt")
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    order = data.draw(st.sampled_from(["C", "F"]))
    image = np.asarray(random.integers(0, data.draw(st.integers(1, 9)), shape) != 1, order=order)
    image = image.astype(data.draw(st.sampled_from("bool uint8 int32 float32".split())))
    graph = random.integers(0, 256, shape) | (random.random(shape) < 0.8) * 63
    graph = np.asarray(graph, data.draw(st.sampled_from(["uint8", "int8", "uint32"])) if graph.max() < 128 else "uint8")
    anisotropy = data.draw(st.none() | st.tuples(*[st.integers(1, 9).map(float)] * len(shape)))
    came = getattr(our_edt, name)(image, anisotropy, border, voxel_graph=graph)
    expected = getattr(theirs, name)(image, anisotropy, border, voxel_graph=graph)
    np.testing.assert_array_equal(came, expected)
    assert (came.dtype, came.flags.f_contiguous) == (expected.dtype, expected.flags.f_contiguous)


@pytest.mark.parametrize("wrong, error, match", [
    ({"voxel_graph": np.ones((2, 4), "u1")}, ValueError, "voxel_graph"),
    ({"voxel_graph": np.ones((2, 3))}, ValueError, "voxel_graph"),
    ({"data": np.ones(3), "voxel_graph": np.ones(3, "u1")}, TypeError, "2D and 3D"),
])  # fmt: skip
def test_wrong_voxel_graphs(wrong, error, match):
    with pytest.raises(error, match=match):
        our_edt.edt(**{"data": np.ones((2, 3), "u1"), **wrong})
