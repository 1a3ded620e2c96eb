"""What is made of labels: tables, lists, renumbering, small ones, contacts; against SciPy, scikit-image and NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

import nearfield as nf
from examples import examples

SMALL = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6)
LABELS = hnp.arrays(st.sampled_from(["uint8", "int16", "int32", "uint64"]), SMALL, elements=st.integers(0, 4))
IMAGE = np.random.default_rng(0).random((7, 20, 21)) < 0.35


@examples(120)
@given(labels=LABELS, data=st.data())
def test_statistics_are_scipys(labels, data):
    labels = data.draw(st.sampled_from([labels, labels.T, labels[::-1], labels[..., ::2]]))
    spacing = data.draw(st.none() | st.tuples(*[st.sampled_from([1, 2, 0.25])] * labels.ndim))
    count = int(labels.max(initial=0))
    intensity = data.draw(
        hnp.arrays(st.sampled_from(["uint8", "int32", "float32", "float64"]), labels.shape, elements=st.integers(0, 99))
    )
    table = nf.component_statistics(labels, intensity=intensity, spacing=spacing)
    index = np.arange(1, count + 1)
    assert len(table) == count and table.label.tolist() == index.tolist()
    sizes = np.bincount(labels.ravel().astype(int), minlength=count + 1)[1 : count + 1]
    np.testing.assert_array_equal(table.size, sizes)
    for row, (box, size) in enumerate(zip(ndimage.find_objects(labels.astype(int)), sizes)):
        if size == 0:
            assert np.isnan(table.centroid[row]).all() and not table.box[row].any()
            continue
        inside = labels == row + 1
        assert table.slices()[row] == box
        center = np.argwhere(inside).sum(0) / size * np.array(spacing or (1,) * labels.ndim)
        np.testing.assert_array_equal(table.centroid[row], center)
        values = intensity[inside]
        assert (table.lowest[row], table.highest[row]) == (values.min(), values.max())
        assert table.sum[row] == values.astype(float).sum()
        np.testing.assert_allclose(table.mean[row], values.mean(dtype=float), rtol=1e-14)
        np.testing.assert_allclose(table.variance[row], values.var(dtype=float), rtol=1e-12, atol=1e-12)
        ends = [axis_end for a in range(labels.ndim) for axis_end in (inside.take(0, a), inside.take(-1, a))]
        assert table.border[row] == any(each.any() for each in ends)
        framed = np.pad(labels, 1).astype(int)
        mine = framed == row + 1
        faces = sum((mine & (np.roll(framed, s, a) != row + 1)).sum() for a in range(labels.ndim) for s in (-1, 1))
        assert table.faces[row] == faces
    np.testing.assert_allclose(table.extent, sizes * np.prod(spacing or 1.0))


@examples(120)
@given(
    image=hnp.arrays(st.sampled_from([np.uint8, np.int32, np.float32]), SMALL, elements=st.integers(0, 2)),
    data=st.data(),
)
def test_components_are_the_statistics_of_their_labels(image, data):
    keywords = dict(
        connectivity=data.draw(st.integers(1, image.ndim)),
        criterion=data.draw(st.sampled_from(["nonzero", "equal", 1])),
        min_size=data.draw(st.integers(0, 3)),
    )
    spacing = data.draw(st.none() | st.just(2.5))
    intensity = data.draw(st.none() | st.just(np.arange(image.size, dtype=np.int16).reshape(image.shape)))
    labels, table = nf.components(image, intensity=intensity, spacing=spacing, **keywords)
    np.testing.assert_array_equal(labels, nf.label(image, **keywords))
    wanted = nf.component_statistics(labels, intensity=intensity, spacing=spacing).to_dict()
    came = table.to_dict()
    assert list(came) == list(wanted)
    for name, column in wanted.items():
        np.testing.assert_array_equal(came[name], column, name)
        assert came[name].dtype == column.dtype


def test_components_of_a_batch():
    labels, table = nf.components(IMAGE, batch_axes=1, connectivity=2, spacing=(2, 3))
    counts = labels.max(axis=(1, 2))
    assert table.image.tolist() == np.repeat(np.arange(7), counts).tolist()
    assert list(table.to_dict())[:3] == ["image", "label", "size"]
    assert table.box.shape == (counts.sum(), 2, 2)
    for image in range(7):
        rows = table.image == image
        alone = nf.component_statistics(labels[image], spacing=(2, 3))
        assert table.label[rows].tolist() == list(range(1, counts[image] + 1))
        np.testing.assert_array_equal(table.size[rows], alone.size)
        np.testing.assert_array_equal(table.centroid[rows], alone.centroid)


def test_border_of_periodic_axes():
    image = np.array([[1, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]])
    assert nf.components(image).table.border.tolist() == [True, True, False]
    assert nf.components(image, periodic=(False, True)).table.border.tolist() == [True, False]
    assert nf.components(image, periodic=True).table.border.tolist() == [False, False]


def test_components_without_any():
    labels, table = nf.components(np.zeros((3, 4)), intensity=np.ones((3, 4), np.uint8))
    assert len(table) == 0 and table.box.shape == (0, 2, 2) and table.slices() == [] and table.sum.dtype == np.int64
    assert len(nf.components(np.zeros((0, 4))).table) == 0


def test_components_fill_an_array_of_the_callers():
    out = np.empty(IMAGE.shape, np.uint16)
    labels, table = nf.components(IMAGE, out=out, largest=3, threads=2)
    assert labels is out and len(table) == 3
    colours = np.stack([IMAGE * 200] * 3, axis=-1).astype(np.uint8)
    assert len(nf.components(colours, channels=True, criterion=5).table) == nf.label(IMAGE).max()
    seen = []
    nf.components(np.ones((900, 900)), progress=seen.append)
    assert seen[-1] == 1.0


def test_rows_by_count():
    assert nf.component_statistics([1, 5, 2], count=2).size.tolist() == [1, 1]
    assert nf.component_statistics([1, 5, 2], count=7).size.tolist() == [1, 1, 0, 0, 1, 0, 0]
    assert len(nf.component_statistics([0, -3])) == 0 and len(nf.component_statistics(np.zeros((0, 2), int))) == 0
    assert nf.component_statistics([True, False, True]).size.tolist() == [2]


@examples(100)
@given(labels=LABELS, runs=st.booleans(), extra=st.integers(0, 2))
def test_lists(labels, runs, extra):
    count = int(labels.max(initial=0))
    offsets, entries = nf.label_lists(labels, runs=runs, count=count + extra)
    assert offsets.dtype == np.int64 and entries.dtype == np.int32 and offsets.shape == (count + extra + 1,)
    for label in range(1, count + extra + 1):
        mine = entries[offsets[label - 1] : offsets[label]]
        cells = np.concatenate([np.arange(a, a + n) for a, n in mine] or [[]]) if runs else mine
        np.testing.assert_array_equal(cells, np.flatnonzero(labels == label))
        if runs:  # they are maximal
            cut = np.diff(cells) > 1
            cut |= np.diff(cells // labels.shape[-1]) > 0
            assert len(mine) == (cut.sum() + 1 if len(cells) else 0)


@examples(100)
@given(hnp.arrays(st.sampled_from(["int8", "uint16", "int64", "uint64"]), SMALL, elements=st.integers(0, 120)))
def test_relabel(labels):
    came, count = nf.relabel(labels, return_num=True)
    values, first = np.unique(labels, return_index=True)
    order = [value for _, value in sorted(zip(first, values)) if value != 0]
    number = {0: 0} | {int(value): k + 1 for k, value in enumerate(order)}
    np.testing.assert_array_equal(came, np.vectorize(number.get)(labels))
    assert count == len(order) and came.dtype == np.int32
    np.testing.assert_array_equal(nf.relabel(labels, dtype="uint16"), came)


def test_relabel_at_the_ends_of_the_types():
    assert nf.relabel(np.array([2**64 - 1, 1, 2**63, 2**64 - 1], np.uint64)).tolist() == [1, 2, 3, 1]
    assert nf.relabel(np.array([-(2**63), 2**63 - 1, 0, -1])).tolist() == [1, 2, 0, 3]
    out = np.empty((3, 8), np.uint16)[:, ::2]
    assert nf.relabel(np.full((3, 4), 9), out=out) is out and (out == 1).all()
    with pytest.raises(ValueError, match="uint16"):
        nf.relabel(np.arange(1, 70000), dtype="uint16")


@examples(100)
@given(
    image=hnp.arrays(st.sampled_from([bool, np.uint8, np.float32]), SMALL, elements=st.integers(0, 1)),
    least=st.integers(0, 6),
)
def test_remove_small_is_scikit_images(image, least):
    morphology = pytest.importorskip("skimage.morphology")
    came = nf.remove_small(image, least, connectivity=image.ndim)
    labels = ndimage.label(image, np.ones((3,) * image.ndim))[0]
    sizes = np.bincount(labels.ravel())
    np.testing.assert_array_equal(came, np.where(sizes[labels] >= least, image, 0))
    assert came.dtype == image.dtype
    if image.dtype == bool and least > 0 and image.ndim > 1 and image.any():
        theirs = morphology.remove_small_objects(image, max_size=least - 1, connectivity=image.ndim)
        np.testing.assert_array_equal(came, theirs)


def test_remove_small_in_place_and_by_value():
    image = np.array([5, 5, 7, 0, 7, 7, 7])
    assert nf.remove_small(image, 2, criterion="equal").tolist() == [5, 5, 0, 0, 7, 7, 7]
    assert nf.remove_small(image, 2, criterion="equal", background=7).tolist() == [5, 5, 7, 7, 7, 7, 7]
    assert nf.remove_small(image, 2, max_size=3).tolist() == [5, 5, 7, 0, 7, 7, 7]
    assert nf.remove_small(image, 4, out=image) is image
    assert image.tolist() == [0] * 7
    half = nf.remove_small(np.array([5, 5, 0, 7], np.float16), 2)
    assert half.dtype == np.float16 and half.tolist() == [5, 5, 0, 0]


@examples(100)
@given(labels=LABELS, data=st.data())
def test_contacts(labels, data):
    connectivity = data.draw(st.integers(1, labels.ndim))
    spacing = data.draw(st.tuples(*[st.sampled_from([1, 2, 0.5])] * labels.ndim))
    found = nf.contacts(labels, connectivity=connectivity, spacing=spacing)
    wanted = {}
    for at in np.ndindex(labels.shape):
        for step in np.ndindex((3,) * labels.ndim):
            away = np.array(step) - 1
            there = tuple(int(each) for each in np.array(at) + away)
            if not 0 < np.abs(away).sum() <= connectivity or not all(0 <= t < n for t, n in zip(there, labels.shape)):
                continue
            a, b = int(labels[at]), int(labels[there])
            if 0 != a < b != 0:
                face = np.prod(spacing) / spacing[np.flatnonzero(away)[0]] if np.abs(away).sum() == 1 else 0
                pairs, area = wanted.get((a, b), (0, 0))
                wanted[a, b] = (pairs + 1, area + face)
    assert [tuple(each) for each in found.labels.tolist()] == sorted(wanted)
    assert found.pairs.tolist() == [wanted[key][0] for key in sorted(wanted)]
    np.testing.assert_allclose(found.area, [wanted[key][1] for key in sorted(wanted)])


PLAIN = np.ones((3, 4), np.int32)


@pytest.mark.parametrize(
    "error, part, call",
    [
        (ValueError, "spacing has 3 values for an image of 2 axes", lambda: nf.components(PLAIN, spacing=(1, 2, 3))),
        (
            ValueError,
            "spacing has 2 values for an image of 1 axes",
            lambda: nf.components(PLAIN, spacing=(1, 2), batch_axes=1),
        ),
        (ValueError, "intensity has shape", lambda: nf.components(PLAIN, intensity=np.ones(3))),
        (TypeError, "intensity has element type complex128", lambda: nf.components(PLAIN, intensity=PLAIN * 1j)),
        (ValueError, "axes", lambda: nf.components(np.ones((1,) * 9))),
        (TypeError, "unexpected keyword argument 'size'", lambda: nf.components(PLAIN, size=2)),
        (TypeError, "labels has element type float64", lambda: nf.component_statistics(np.ones(3))),
        (TypeError, "count is 1.5", lambda: nf.component_statistics(PLAIN, count=1.5)),
        (ValueError, "count is -1", lambda: nf.component_statistics(PLAIN, count=-1)),
        (ValueError, "below 2**63", lambda: nf.component_statistics(PLAIN, count=2**63)),
        (ValueError, "labels has the value 16777217", lambda: nf.component_statistics([2**24 + 1])),
        (ValueError, "relabel()", lambda: nf.label_lists(np.array([[2**62]]))),
        (ValueError, "spacing has 3 values", lambda: nf.component_statistics(PLAIN, spacing=(1, 2, 3))),
        (ValueError, "positive and finite", lambda: nf.component_statistics(PLAIN, spacing=0)),
        (ValueError, "positive and finite", lambda: nf.contacts(PLAIN, spacing=(1, np.nan))),
        (TypeError, "spacing is 'ab'", lambda: nf.contacts(PLAIN, spacing="ab")),
        (ValueError, "intensity", lambda: nf.component_statistics(PLAIN, intensity=np.ones((4, 3)))),
        (TypeError, "complex", lambda: nf.component_statistics(PLAIN, intensity=np.ones((3, 4), complex))),
        (ValueError, "axes", lambda: nf.component_statistics(np.ones((1, 1, 1, 1), int))),
        (ValueError, "axes", lambda: nf.label_lists(np.ones((1, 1, 1, 1), int))),
        (TypeError, "float64", lambda: nf.label_lists(np.ones(3))),
        (TypeError, "labels has element type float16; labels are integers", lambda: nf.relabel(np.ones(3, np.float16))),
        (TypeError, "components() got an unexpected keyword argument 'minsize'", lambda: nf.components([1], minsize=3)),
        (TypeError, "remove_small() got an unexpected", lambda: nf.remove_small([1], 2, minsize=3)),
        (ValueError, "dtype is int8", lambda: nf.relabel(PLAIN, dtype="int8")),
        (ValueError, "out has shape", lambda: nf.relabel(PLAIN, out=np.zeros(3, np.int32))),
        (ValueError, "out has", lambda: nf.remove_small(PLAIN, 2, out=np.zeros((3, 4), np.int16))),
        (ValueError, "min_size is -2", lambda: nf.remove_small(PLAIN, -2)),
        (TypeError, "min_size is 'x'", lambda: nf.remove_small(PLAIN, "x")),
        (ValueError, "criterion is 'x'", lambda: nf.remove_small(PLAIN, 2, criterion="x")),
        (ValueError, "connectivity is 7", lambda: nf.contacts(PLAIN, connectivity=7)),
        (TypeError, "element type float64", lambda: nf.contacts(np.ones((2, 2)))),
        (ValueError, "threads is 0", lambda: nf.contacts(PLAIN, threads=0)),
    ],
    ids=lambda each: each if isinstance(each, str) else None,
)
def test_garbage_is_refused_by_name(error, part, call):
    with pytest.raises(error) as refused:
        call()
    assert part in str(refused.value)
