"""Local thickness and what sits on it, against brute force over all balls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

import nearfield as nf
from examples import examples

SMALL = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=7)
MASKS = hnp.arrays(st.sampled_from(["bool", "uint8", "int64", "float32"]), SMALL, elements=st.integers(0, 1))
BLOBS = ndimage.gaussian_filter(np.random.default_rng(3).random((24, 26, 28)), 2) > 0.5


def all_balls(radius2, spacing):
    """For every cell the largest squared radius of the balls that hold it."""
    place = np.argwhere(np.ones(radius2.shape, bool)) * np.array(spacing)
    apart2 = ((place[:, None] - place[None]) ** 2).sum(-1)
    flat = radius2.ravel()
    return np.where(apart2 < flat[:, None], flat[:, None], 0).max(0, initial=0).reshape(radius2.shape)


@examples(150)
@given(mask=MASKS, data=st.data())
def test_thickness_is_the_largest_ball(mask, data):
    mask = data.draw(st.sampled_from([mask, mask.T, mask[::-1]]))
    if mask.all():
        mask = mask.copy()
        mask[(0,) * mask.ndim] = 0
    spacing = data.draw(st.tuples(*[st.sampled_from([1, 2, 3])] * mask.ndim))
    radius2 = nf.distance_transform(mask, spacing=spacing, squared=True)
    expected = all_balls(radius2, spacing)
    np.testing.assert_array_equal(nf.local_thickness(mask, spacing=spacing, squared=True), expected)
    found = nf.local_thickness(mask, spacing=spacing, dtype="float64", threads=data.draw(st.integers(1, 3)))
    np.testing.assert_array_equal(found, 2 * np.sqrt(expected.astype(float)))


def test_out_dtype_and_batches():
    out = np.full((24, 26, 56), 7, np.float32)[..., ::2]
    assert nf.local_thickness(BLOBS, out=out) is out
    np.testing.assert_array_equal(out, nf.local_thickness(BLOBS))
    rows = nf.local_thickness(BLOBS, batch_axes=1)
    np.testing.assert_array_equal(rows[3], nf.local_thickness(BLOBS[3]))
    assert nf.local_thickness(BLOBS, squared=True).dtype == "uint32"
    assert nf.local_thickness(BLOBS, squared=True, spacing=0.5).dtype == "float64"


def test_labels_are_a_loop():
    labels = nf.label(BLOBS) + np.uint8(1) * (np.arange(28) > 14) * BLOBS * 100
    together = nf.local_thickness(labels, multilabel=True)
    for value in np.unique(labels)[1:]:
        np.testing.assert_array_equal(together[labels == value], nf.local_thickness(labels == value)[labels == value])


def test_sizes_round_down():
    sizes = [3, 4.5, 6]
    found = nf.local_thickness(BLOBS, sizes=sizes)
    assert set(np.unique(found)) <= {0, *sizes}
    assert (found <= nf.local_thickness(BLOBS)).all()
    radius = nf.distance_transform(BLOBS, dtype="float64")
    kept = np.zeros(BLOBS.shape, bool)  # on a grid an opening need not contain those by larger balls
    for size in reversed(sizes):
        kept |= nf.distance_transform(radius * 2 >= size, sites="nonzero", dtype="float64") < size / 2
        np.testing.assert_array_equal(found >= size, kept)


def test_granulometry_is_a_histogram():
    thick = nf.local_thickness(BLOBS, squared=True)
    values, counts = np.unique(thick[thick > 0], return_counts=True)
    table = nf.granulometry(BLOBS, spacing=2)
    np.testing.assert_array_equal(table.squared, values * 4)
    np.testing.assert_array_equal(table.cells, counts)
    np.testing.assert_array_equal(table.diameter, 4 * np.sqrt(values))
    np.testing.assert_array_equal(table.volume, counts * 8.0)
    sized = nf.granulometry(BLOBS, sizes=[3, 5])
    np.testing.assert_array_equal(sized.diameter, [3, 5])
    opened = nf.granulometry(BLOBS, method="openings", sizes=[2, 3, 5])
    expected = nf.local_thickness(BLOBS, sizes=[5])
    assert opened.cells[-1] == np.count_nonzero(expected) and (np.diff(opened.cells) <= 0).all()


@pytest.mark.parametrize("spacing", [1, 2, (2, 3)])
@pytest.mark.parametrize("border", ["open", "periodic"])
def test_balls_with_spacing(spacing, border):
    centres, radii, shape = np.array([[2, 3], [7, 10]]), (3.5, 4), (10, 14)
    wanted = np.zeros(shape)
    for centre, radius in zip(centres, radii):
        away = abs(np.moveaxis(np.indices(shape), 0, -1) - centre)
        if border == "periodic":
            away = np.minimum(away, shape - away)
        inside = ((away * np.broadcast_to(spacing, 2)) ** 2).sum(-1) < radius**2
        wanted[inside] = np.maximum(wanted[inside], np.ceil(radius**2))
    np.testing.assert_array_equal(nf.balls(centres, radii, shape, squared=True, spacing=spacing, border=border), wanted)
    with pytest.raises(ValueError, match="spacing is not integral"):
        nf.balls(centres, radii, shape, spacing=0.5)


def test_balls_are_a_union():
    random = np.random.default_rng(1)
    shape, centres = (20, 22, 24), random.integers(0, 20, (40, 3))
    radii = random.uniform(0.5, 7, 40)
    place = np.stack(np.indices(shape), -1)
    union = np.zeros(shape, bool)
    for centre, radius in zip(centres, radii):
        union |= ((place - centre) ** 2).sum(-1) < radius * radius
    np.testing.assert_array_equal(nf.balls(centres, radii, shape) > 0, union)


@pytest.mark.parametrize("seed", range(60))
def test_porosimetry_by_definition(seed):
    random = np.random.default_rng(seed)
    ndim = 1 + seed % 3
    shape = tuple(random.integers(1, (60, 20, 9)[ndim - 1], ndim))
    pores, inlets = random.random(shape) < random.choice([0.6, 0.9, 0.97]), np.zeros(shape, bool)
    inlets[0] = True
    sizes = np.unique(random.uniform(0.5, 12, random.integers(1, 7)))
    spacing = [None, 2, 0.5, 0.65, tuple(random.integers(1, 4, ndim).tolist()), (2.5, 0.7, 0.7)[:ndim]][seed % 6]
    border = ("open", "closed", "periodic")[seed // 6 % 3]
    away = nf.distance_transform(pores, dtype="float64", spacing=spacing, border=border)
    beyond = "periodic" if border == "periodic" else "open"  # no ball has its centre beyond an end
    wanted = np.zeros(shape)
    for size in sizes:
        parts = nf.label(away >= size / 2, periodic=border == "periodic")
        entered = np.isin(parts, parts[inlets & (parts > 0)])
        reach = nf.distance_transform(entered, sites="nonzero", dtype="float64", spacing=spacing, border=beyond)
        wanted[reach < size / 2] = np.inf if np.isinf(away).all() else size
    found = nf.porosimetry(pores, inlets, sizes, spacing=spacing, border=border, dtype="float64")
    np.testing.assert_array_equal(found, wanted)


def test_openings_see_nothing_beyond_closed_ends():
    mask = np.ones((9, 9), bool)
    table = nf.granulometry(mask, method="openings", sizes=[4, 30], border="closed")
    assert table.cells.tolist() == [int(nf.local_thickness(mask, border="closed", sizes=[4]).astype(bool).sum()), 0]


@pytest.mark.parametrize("seed", range(24))
def test_porosimetry_of_every_size(seed):
    random = np.random.default_rng(seed)
    ndim = 1 + seed % 3
    shape = tuple(random.integers(2, (60, 20, 9)[ndim - 1], ndim))
    pores, inlets = random.random(shape) < random.choice([0.6, 0.9, 0.97]), np.zeros(shape, bool)
    inlets[0], pores[tuple(random.integers(0, shape))] = True, False
    spacing = [None, 2, 0.65, (1, 2**0.5, 0.94)[:ndim]][seed % 4]
    border = ("open", "closed", "periodic")[seed // 4 % 3]
    how = {"spacing": spacing, "border": border}
    sizes = np.unique(2 * nf.distance_transform(pores, dtype="float64", **how))
    wanted = nf.porosimetry(pores, inlets, sizes[sizes > 0], **how) if sizes.any() else np.zeros(shape)
    np.testing.assert_array_equal(nf.porosimetry(pores, inlets, **how), wanted)
    squared = nf.porosimetry(pores, inlets, squared=True, dtype="float64", **how)
    np.testing.assert_array_equal((2 * np.sqrt(squared)).astype(np.float32), wanted)


def test_porosimetry_without_walls_or_ways():
    pores = np.ones((3, 4), bool)
    assert np.isinf(nf.porosimetry(pores, pores)).all() and np.isinf(nf.porosimetry(pores, pores, [2])).all()
    pores[0, 0] = False
    for spacing in (1, (1, 2**0.5)):
        assert (nf.porosimetry(pores, pores & False, spacing=spacing, squared=True, dtype="float64") == 0).all()
    assert nf.porosimetry(pores, [[0.0] * 3 + [0.5]] + [[0.0] * 4] * 2)[0, 1] > 0
    with pytest.raises(ValueError, match="inlets has shape"):
        nf.porosimetry(pores, [1, 0])
    with pytest.raises(ValueError, match="connectivity is 3"):
        nf.porosimetry(pores, pores, connectivity=3)


def test_porosimetry_needs_a_way_in():
    sizes, inlets = [2, 3, 4, 6], np.zeros(BLOBS.shape, bool)
    inlets[0] = True
    found = nf.porosimetry(BLOBS, inlets, sizes)
    radius = nf.distance_transform(BLOBS, dtype="float64")
    reached = np.zeros(BLOBS.shape, bool)
    for size in reversed(sizes):
        parts, _ = ndimage.label(radius >= size / 2)
        centres = np.isin(parts, np.unique(parts[0])[1:] if (parts[0] == 0).any() else np.unique(parts[0]))
        reached |= nf.distance_transform(centres, sites="nonzero", dtype="float64") < size / 2
        np.testing.assert_array_equal(found >= size, reached)
    assert (found <= nf.local_thickness(BLOBS, sizes=sizes)).all()


def test_endless_and_empty():
    assert np.isinf(nf.local_thickness(np.ones((3, 4)))).all()
    assert (nf.local_thickness(np.ones((3, 4)), squared=True) == 2**32 - 1).all()
    assert nf.local_thickness(np.ones((3, 0))).shape == (3, 0)
    assert len(nf.granulometry(np.zeros((3, 4))).cells) == 0
    assert nf.granulometry(np.ones((3, 4)), sizes=[2]).diameter.tolist() == [np.inf]
    assert nf.granulometry(np.ones((3, 4)) > 1, spacing=0.3).cells.sum() == 0


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"sizes": [3, 2]}, "ascending"),
        ({"sizes": []}, "sizes"),
        ({"dtype": "int32"}, "dtype is int32"),
        ({"squared": True, "dtype": "float32"}, "dtype is float32"),
        ({"spacing": -1}, "spacing"),
        ({"batch_axes": 5}, "batch_axes"),
    ],
)
def test_refusals(keywords, words):
    with pytest.raises(ValueError, match=words):
        nf.local_thickness(BLOBS, **keywords)


def test_four_axes_are_refused():
    with pytest.raises(ValueError, match="batch_axes"):
        nf.local_thickness(np.ones((2, 2, 2, 2)))


def test_torch_and_jax_get_their_own(torch, jax):
    assert torch.equal(nf.local_thickness(torch.from_numpy(BLOBS)), torch.from_numpy(nf.local_thickness(BLOBS)))
    inlets = np.zeros(BLOBS.shape, bool)
    inlets[0] = True
    reached = nf.porosimetry(BLOBS, inlets)
    assert torch.equal(nf.porosimetry(torch.from_numpy(BLOBS), torch.from_numpy(inlets)), torch.from_numpy(reached))
    entered = nf.porosimetry(jax.numpy.asarray(BLOBS), jax.numpy.asarray(inlets))
    assert isinstance(entered, jax.Array) and (np.asarray(entered) == reached).all()
    found = jax.jit(nf.local_thickness)(jax.numpy.asarray(BLOBS))
    np.testing.assert_array_equal(np.asarray(found), nf.local_thickness(BLOBS))
