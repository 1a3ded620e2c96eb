"""Grids in chunks: the bits of the whole grid, whatever the chunks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield import chunks

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
nfd = pytest.importorskip("nearfield.dask")

SPACINGS = [
    None,
    2.5,
    (2.5, 0.7, 0.7, 1.1),
    (3.0, 1.0, 2.0, 4.0),
    (1 / 3, 0.1234567, 0.7182818, 1.1),
    (0.1234567, 0.7, 0.7, 0.7),  # a plane has a common measure, the grid has none
]
BORDERS = st.one_of(st.just(("open",) * 4), st.tuples(*[st.sampled_from(["open", "closed", "periodic"])] * 4))


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@st.composite
def images(draw, kinds=("uint8",), axes=4):
    """An image of random cells, and the same as an array of dask with random chunks."""
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=axes)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    density = draw(st.sampled_from([0.0, 0.02, 0.3, 0.9, 1.0]))
    values = random.integers(1, draw(st.sampled_from([2, 5])), shape).astype(draw(st.sampled_from(kinds)))
    image = values * (random.random(shape) < density).astype(values.dtype)
    sizes = tuple(cuts(draw, n) for n in shape)
    return image, da.from_array(image, chunks=sizes)


def cuts(draw, length):
    each = []
    while sum(each) < length:
        each.append(draw(st.integers(1, min(4, length - sum(each)))))
    return tuple(each)


FORMS = [
    {},
    {"sites": "nonzero", "squared": True},
    {"signed": True},
    {"signed": "outside", "sites": "nonzero", "squared": True},
    {"half_cell": True},
    {"half_cell": True, "signed": True, "dtype": "float64"},
    {"dtype": "bool"},
    {"multilabel": True},
    {"multilabel": True, "half_cell": True, "dtype": "float16"},
    {"multilabel": True, "signed": True},
]


def mask_of(shape, density):
    """Cells that take part, and the same as an array of dask."""
    if density is None:
        return None, None
    part = np.random.default_rng(3).random(shape) < density
    return part, da.from_array(part, chunks=3)


def of_axes(spacing, axes):
    return spacing[:axes] if isinstance(spacing, tuple) else spacing


def same(made, wanted):
    for one, other in zip(made, wanted, strict=True):
        computed = one.compute()
        assert one.dtype == computed.dtype == other.dtype and one.shape == computed.shape == other.shape
        np.testing.assert_array_equal(computed, other)


@settings(max_examples=150)
@given(
    images(("uint8", "int32")),
    st.sampled_from(SPACINGS),
    BORDERS,
    st.sampled_from([None, 0, 0.9, 1.5, 3.2, 40]),
    st.sampled_from(FORMS),
    st.sampled_from([False, "linear", True]),
    st.sampled_from([None, 0.3, 0.9]),
    st.booleans(),
)
def test_every_form(pair, spacing, border, limit, form, indices, part, trusted):
    image, lazy = pair
    how = dict(spacing=of_axes(spacing, image.ndim), border=border[: image.ndim], max_distance=limit)
    where, lazy_where = mask_of(image.shape, part)
    asked = dict(how, return_indices=indices, **form)
    made = nfd.distance_transform(lazy, where=lazy_where, return_trusted=trusted, **asked)
    wanted = nf.distance_transform(image, where=where, return_trusted=trusted, **asked)
    same(made, wanted) if indices or trusted else same([made], [wanted])


@given(
    images(("int16", "uint64")),
    st.sampled_from(SPACINGS),
    BORDERS,
    st.sampled_from([None, 0, 0.9, 1.5, 3.2, 40]),
    st.sampled_from([None, 0.3, 0.9]),
)
def test_labels_that_grow(pair, spacing, border, limit, part):
    seeds, lazy = pair
    how = dict(spacing=of_axes(spacing, seeds.ndim), border=border[: seeds.ndim])
    where, lazy_where = mask_of(seeds.shape, part)
    more = dict(how, max_distance=limit, return_labels=True, return_distances=True)
    same(nfd.voronoi(lazy, where=lazy_where, **more), nf.voronoi(seeds, where=where, **more))
    how["return_distances"] = True
    same(nfd.expand_labels(lazy, limit, where=lazy_where, **how), nf.expand_labels(seeds, limit, where=where, **how))


@settings(max_examples=40)
@given(images(("bool", "uint8")), st.sampled_from(SPACINGS), BORDERS, st.sampled_from([0, 1, 1.5, 2.3]), st.booleans())
def test_morphology(pair, spacing, border, radius, labels):
    image, lazy = pair
    how = dict(spacing=of_axes(spacing, image.ndim), border=border[: image.ndim], labels=labels)
    for name in ("erosion", "dilation", "opening", "closing"):
        same([getattr(nfd, name)(lazy, radius, **how)], [getattr(nf, name)(image, radius, **how)])


@settings(max_examples=150)
@given(
    images(("uint8", "int32")),
    st.integers(1, 4),
    st.sampled_from(["nonzero", "equal", 1]),
    st.sampled_from([0, None]),
    st.one_of(st.just((False,) * 4), st.tuples(*[st.booleans()] * 4)),
)
def test_label(pair, connectivity, criterion, background, periodic):
    image, lazy = pair
    how = dict(connectivity=min(connectivity, image.ndim), criterion=criterion, return_num=True)
    how["periodic"] = periodic[: image.ndim]
    if criterion != "nonzero":
        how["background"] = background
    labels, count = nfd.label(lazy, **how)
    wanted, number = nf.label(image, **how)
    assert count == number
    same([labels], [wanted])


@settings(max_examples=15)
@given(
    images(("uint8",), axes=3),
    st.sampled_from([(1, "nonzero"), (2, "nonzero"), (1, "equal"), (1, 1)]),
    st.tuples(*[st.booleans()] * 3),
)
def test_tables(pair, kind, periodic):
    image, lazy = pair
    connectivity, criterion = min(kind[0], image.ndim), kind[1]
    how = dict(connectivity=connectivity, criterion=criterion, periodic=periodic[: image.ndim])
    how["spacing"] = of_axes((2.5, 0.7, 1.1), image.ndim)
    labels, table = nfd.components(lazy, **how)
    wanted = nf.components(image, **how)
    same([labels], [wanted.labels.astype(labels.dtype)])
    assert table == wanted.table


@settings(max_examples=150)
@given(
    images(("uint8", "int32")),
    st.sampled_from(SPACINGS),
    BORDERS,
    st.sampled_from(["auto", 0.7, 1, 2.4, 4, 30]),
    st.sampled_from(FORMS),
    st.sampled_from([False, "linear", True]),
    st.sampled_from([None, 0.3, 0.9]),
    st.booleans(),
)
def test_windows_that_content_allows(pair, spacing, border, near, form, indices, part, trusted):
    image, lazy = pair
    how = dict(spacing=of_axes(spacing, image.ndim), border=border[: image.ndim])
    where, lazy_where = mask_of(image.shape, part)
    asked = dict(how, return_indices=indices, return_trusted=trusted, **form)
    made = nfd.distance_transform(lazy, where=lazy_where, try_within=near, **asked)
    wanted = nf.distance_transform(image, where=where, **asked)
    same(made, wanted) if indices or trusted else same([made], [wanted])
    more = dict(how, return_labels=True, return_distances=True)
    same(nfd.voronoi(lazy, where=lazy_where, try_within=near, **more), nf.voronoi(image, where=where, **more))


@pytest.mark.parametrize("eager", [False, True])
def test_content_decides_the_way(eager, tmp_path, monkeypatch):
    image = np.random.default_rng(11).random((60, 40, 50)) < 0.9
    read = []

    def seen(block):
        read.append(block.shape)
        return block

    lazy = da.from_array(image, chunks=20).map_blocks(seen, dtype=bool, meta=np.empty((0, 0, 0), bool))
    how = dict(scratch=str(tmp_path / "between.zarr")) if eager else {}
    if eager:
        pytest.importorskip("zarr")
    passes, windows = [], []
    planes, field = chunks.planes, nf.distance_transform
    monkeypatch.setattr(chunks, "planes", lambda *a, **k: passes.append(1) or planes(*a, **k))
    monkeypatch.setattr(nf, "distance_transform", lambda x, **k: windows.append(x.shape) or field(x, **k))
    made = nfd.distance_transform(lazy, try_within=8, **how)
    assert eager or not read, "the call is lazy"
    same([made], [field(image)])
    assert not passes and max(windows) == (38, 29, 38) and len(read) == 2 * 18
    assert eager == (nfd.distance_transform(lazy, **how).chunks == lazy.chunks), "tried by default with scratch alone"
    passes.clear(), windows.clear()
    far = nfd.distance_transform(lazy, try_within=0.5, **how)
    same([far], [field(image)])
    assert passes and set(windows) <= {(20, 20, 20), (20, 20, 10)}, "chunks alone: windows are not computed"
    for wrong in (-1, np.inf, "near"):
        with pytest.raises((ValueError, TypeError), match="try_within"):
            nfd.distance_transform(lazy, try_within=wrong)


def spiral(side):
    """One component that goes through every chunk many times."""
    image, at, step, left = np.zeros((side, side), np.uint8), [0, -1], (0, 1), side
    turns = 0
    while left > 0:
        for _ in range(left):
            at = [at[0] + step[0], at[1] + step[1]]
            image[tuple(at)] = 1
        step, turns = (step[1], -step[0]), turns + 1
        left -= 2 if turns > 2 and turns % 2 == 1 else 0
        if turns < 3:
            left = side - 1
    return image


@pytest.mark.parametrize("image", [spiral(33), np.indices((20, 21)).sum(0) % 2, np.zeros((7, 9)), np.ones((7, 9))])
def test_hard_components(image):
    for connectivity in (1, 2):
        labels, count = nfd.label(da.from_array(image, chunks=3), connectivity=connectivity, return_num=True)
        wanted, number = nf.label(image, connectivity=connectivity, return_num=True)
        assert count == number
        same([labels], [wanted])


def test_one_site_in_a_corner():
    image = np.ones((40, 50, 30), bool)
    image[39, 0, 29] = False
    lazy = da.from_array(image, chunks=(7, 9, 30))
    same(nfd.distance_transform(lazy, return_indices=True), nf.distance_transform(image, return_indices=True))


@pytest.mark.parametrize("shape", [(9,), (7, 9), (1, 9)])
def test_sites_before_equally_near_borders(shape):
    for cell in np.ndindex(*shape):
        image = np.ones(shape, np.uint8)
        image[cell] = 0
        how = dict(border="closed", return_indices="linear")
        same(nfd.distance_transform(da.from_array(image, chunks=4), **how), nf.distance_transform(image, **how))


def test_between_the_passes_on_disk(tmp_path):
    pytest.importorskip("zarr")
    seeds = (np.random.default_rng(3).random((30, 40, 20)) < 0.01) * np.int32(7)
    lazy = da.from_array(seeds, chunks=(8, 40, 5))
    made = nfd.voronoi(lazy, return_labels=True, scratch=str(tmp_path / "between.zarr"))
    assert (tmp_path / "between.zarr").exists()
    same(made, nf.voronoi(seeds, return_labels=True))
    part = np.random.default_rng(4).random(seeds.shape) < 0.7
    away = nfd.distance_transform(lazy, where=part, signed=True, scratch=str(tmp_path / "between.zarr"))
    same([away], [nf.distance_transform(seeds, where=part, signed=True)])


def test_data_arrays_stay_lazy():
    xr = pytest.importorskip("xarray")
    image = np.random.default_rng(7).random((20, 30)) < 0.9
    coords = {"y": np.arange(20) * 2.5, "x": np.arange(30)}
    named = xr.DataArray(da.from_array(image, chunks=7), coords, ("y", "x"), name="land", attrs={"source": "a"})
    away, near = nfd.distance_transform(named, return_indices=True, border={"x": "periodic"})
    wanted = nf.distance_transform(image, spacing=(2.5, 1), return_indices=True, border=("open", "periodic"))
    same([away.data, near.data], wanted)
    assert away.name == "land" and away.attrs == {"source": "a"} and near.dims == ("axis", "y", "x")
    part = xr.DataArray(da.from_array(np.arange(30) < 25, chunks=7), dims="x")
    same(
        [nfd.distance_transform(named, where=part).data],
        [nf.distance_transform(image, spacing=(2.5, 1), where=np.arange(30) < 25)],
    )
    grown = nfd.dilation(named, 3)
    same([grown.data], [nf.dilation(image, 3, spacing=(2.5, 1))])
    labels, count = nfd.label(~named, periodic={"x": True}, return_num=True)
    same([labels.data], [nf.label(~image, periodic=(False, True))])
    assert labels.dims == ("y", "x") and count == int(labels.max())
    same([nfd.expand_labels(~named * 3, 2).data], [nf.expand_labels(~image * 3, 2, spacing=(2.5, 1))])


def test_label_of_dask_image():
    from nearfield.compat import dask_image

    image = np.random.default_rng(8).random((20, 30)) < 0.5
    lazy = da.from_array(image, chunks=7)
    for structure, connectivity in ((None, 1), (np.ones((3, 3)), 2), ([[0, 1, 0], [1, 1, 1], [0, 1, 0]], 1)):
        labels, count = dask_image.label(lazy, structure, wrap_axes=((1,),))
        wanted, number = nf.label(image, connectivity=connectivity, periodic=(False, True), return_num=True)
        same([labels], [wanted])
        assert int(count.compute()) == number
    for how in (dict(structure=np.ones((3, 3, 3))), dict(structure=np.eye(3)), dict(wrap_axes=((0, 1),))):
        with pytest.raises(ValueError, match="give"):
            dask_image.label(lazy, **how)


def test_refusals():
    lazy = da.ones((4, 5), chunks=2, dtype="uint8")
    with pytest.raises(ValueError, match="broadcast"):
        nfd.distance_transform(lazy, where=np.ones((4, 4), bool))
    with pytest.raises(ValueError, match="bool or uint8"):
        nfd.voronoi(lazy, where=np.ones((4, 5)))
    with pytest.raises(ValueError, match="scratch"):
        nfd.distance_transform(lazy, max_distance=3, scratch="x.zarr")
    with pytest.raises(ValueError, match="nothing is asked for"):
        nfd.distance_transform(lazy, return_distances=False)
    with pytest.raises(ValueError, match="return_indices"):
        nfd.distance_transform(lazy, return_indices="row")
    with pytest.raises(ValueError, match="unknown size"):
        nfd.erosion(lazy[lazy > 0], 2)
    with pytest.raises(TypeError, match="array of dask"):
        nfd.label(np.ones((4, 5)))
    with pytest.raises(ValueError, match="more than"):
        nfd.label(da.from_array(np.indices((600, 600)).sum(0) % 2, chunks=100), dtype="uint16")
    with pytest.raises(ValueError, match="whole planes"):
        chunks.planes(chunks.grid((4, 5)), np.ones((2, 4)))


@pytest.mark.parametrize("function", [nf.distance_transform, nf.label, lambda x: nf.erosion(x, 2)])
def test_chunked_arrays_are_not_read_in_silence(function, tmp_path):
    with pytest.raises(TypeError, match=r"nearfield\.dask"):
        function(da.ones((4, 5), chunks=2))
    zarr = pytest.importorskip("zarr")
    with pytest.raises(TypeError, match="from_zarr"):
        function(zarr.open(str(tmp_path / "a.zarr"), mode="w", shape=(4, 5), dtype="u1"))
