"""From file to file in one process: the bits of the whole grid, within the memory given, across interrupts."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield import _chunk_call, _chunk_files, _chunk_work, chunks, outofcore

SPACINGS = [None, 2.5, (2.5, 0.7, 0.7, 1.1), (3.0, 1.0, 2.0, 4.0), (0.1234567, 0.7, 0.7, 0.7)]
BORDERS = st.one_of(st.just(("open",) * 4), st.tuples(*[st.sampled_from(["open", "closed", "periodic"])] * 4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@st.composite
def images(draw, kinds=("bool", "uint8", ">i2"), axes=4):
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=axes)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    density = draw(st.sampled_from([0.0, 0.02, 0.3, 0.9, 1.0]))
    kind = np.dtype(draw(st.sampled_from(kinds)))
    return (random.integers(1, 4, shape) * (random.random(shape) < density)).astype(kind)


@st.composite
def divided(draw):
    """A room for arrays that makes the parts of a call as small as they can be, or a little larger."""
    return draw(st.sampled_from([1.0, 1.3, 2.7]))


def in_parts(call, factor):
    """call() with the least memory that does, times `factor`: it refuses less, and says how much it needs."""

    def within(room):
        with mock.patch.object(_chunk_call.Asked, "room", lambda self: room):
            return call()

    room = 1
    while True:
        try:
            within(room)
            break
        except ValueError as problem:
            if "does not fit" not in str(problem):
                raise
            room = room * 2
    return within(int(room * factor))


def of_axes(values, axes):
    return values[:axes] if isinstance(values, tuple) else values


def same(path, wanted):
    made = np.load(path)
    assert made.dtype == wanted.dtype
    np.testing.assert_array_equal(made, wanted)


def border_of(border, shape):
    """Closed ends of a first axis of one cell are refused."""
    border = border[: len(shape)]
    return "open" if min(shape[:-1], default=2) == 1 and "closed" in border else border


def trusted_of(path, border, shape):
    """Open ends of a first axis of one cell are refused."""
    lead = next((k for k, n in enumerate(shape) if n != 1), len(shape) - 1)
    return None if lead and ("open" in border[:lead] or border == "open") else path


def part_of(folder, image, density):
    """Cells that take part, and a file of them."""
    if density is None:
        return None, None
    part = np.random.default_rng(3).random(image.shape) < density
    np.save(folder / "part.npy", part)
    return part, folder / "part.npy"


FORMS = [
    {},
    {"squared": True},
    {"sites": "nonzero"},
    {"half_cell": True},
    {"signed": True},
    {"signed": "outside", "sites": "nonzero", "squared": True, "half_cell": True},
    {"dtype": "bool"},
    {"multilabel": True},
    {"multilabel": True, "half_cell": True, "dtype": "float16"},
    {"multilabel": True, "signed": True},
]


@settings(max_examples=250)
@given(
    images(),
    st.sampled_from(SPACINGS),
    BORDERS,
    st.sampled_from([None, 0.9, 3.2]),
    st.sampled_from(FORMS),
    st.sampled_from([None, 0.3, 0.9]),
    divided(),
)
def test_distances(folder, image, spacing, border, limit, form, part, factor):
    source, away, near, at, sure = (folder / f"{name}.npy" for name in ("a", "away", "near", "at", "sure"))
    np.save(source, image)
    border = border_of(border, image.shape)
    how = dict(spacing=of_axes(spacing, image.ndim), border=border, max_distance=limit, **form)
    where, file = part_of(folder, image, part)
    sure = trusted_of(sure, border, image.shape)
    files = dict(indices=near, coordinates=at, trusted=sure, where=file)
    in_parts(lambda: outofcore.distance_transform(source, away, **files, **how), factor)
    native = image.astype(image.dtype.newbyteorder("="))
    wanted = nf.distance_transform(native, return_indices="linear", where=where, **how)
    same(away, wanted[0])
    same(near, wanted[1])
    more = dict(return_distances=False, return_indices=True, return_trusted=True, where=where, **how)
    for file, field in zip((at, sure), nf.distance_transform(native, **more), strict=True):
        if file is not None:
            same(file, field)
    assert sorted(p.name for p in folder.iterdir() if ".part" in p.name or "unfinished" in p.name) == []


@given(
    images(),
    st.sampled_from(SPACINGS),
    BORDERS,
    st.sampled_from([None, 0.9, 3.2]),
    st.sampled_from([None, 0.3, 0.9]),
    divided(),
)
def test_voronoi(folder, image, spacing, border, limit, part, factor):
    source, near, cells = folder / "v.npy", folder / "v-near.npy", folder / "v-cells.npy"
    np.save(source, image)
    how = dict(spacing=of_axes(spacing, image.ndim), border=border_of(border, image.shape))
    where, file = part_of(folder, image, part)
    more = dict(how, max_distance=limit)
    native = image.astype(image.dtype.newbyteorder("="))
    for target, indices in ({"target": near}, "linear"), ({"target": None, "coordinates": near}, True):
        in_parts(lambda: outofcore.voronoi(source, **target, labels=cells, where=file, **more), factor)  # noqa: B023
        index, label = nf.voronoi(native, return_indices=indices, return_labels=True, where=where, **more)
        same(near, index)
        same(cells, label)
    in_parts(lambda: outofcore.expand_labels(source, cells, limit, where=file, **how), factor)
    same(cells, nf.expand_labels(native, limit, where=where, **how))


@settings(max_examples=150)
@given(
    images(("uint8", "int32")),
    st.integers(1, 4),
    st.sampled_from(["nonzero", "equal", 1]),
    st.tuples(*[st.booleans()] * 4),
    divided(),
)
def test_label(folder, image, connectivity, criterion, periodic, factor):
    source, target = folder / "l.npy", folder / "l-out.npy"
    np.save(source, image)
    axes = image.ndim - next((k for k, n in enumerate(image.shape) if n != 1), image.ndim - 1)
    how = dict(connectivity=min(connectivity, axes), criterion=criterion, periodic=periodic[: image.ndim])
    count = in_parts(lambda: outofcore.label(source, target, **how), factor)
    wanted, number = nf.label(image, return_num=True, dtype="int32", **how)
    assert count == number
    same(target, wanted)


@settings(max_examples=15)
@given(
    images(("uint8",), axes=3),
    st.sampled_from([(1, "nonzero"), (2, "nonzero"), (1, "equal"), (1, 1)]),
    st.tuples(*[st.booleans()] * 3),
    divided(),
)
def test_tables(folder, image, kind, periodic, factor):
    source, target = folder / "t.npy", folder / "t-out.npy"
    np.save(source, image)
    axes = image.ndim - next((k for k, n in enumerate(image.shape) if n != 1), image.ndim - 1)
    how = dict(connectivity=min(kind[0], axes), criterion=kind[1], spacing=of_axes((2.5, 0.7, 1.1), axes))
    rounded = dict(how, periodic=periodic[: image.ndim])
    table = in_parts(lambda: outofcore.components(source, target, **rounded), factor)
    how["periodic"] = rounded["periodic"][-axes:]
    wanted = nf.components(image.reshape(image.shape[-axes:]), **how)
    same(target, wanted.labels.astype("int32").reshape(image.shape))
    assert table == wanted.table


@settings(max_examples=40)
@given(images(("bool", "uint8", "int32")), st.sampled_from(SPACINGS), BORDERS, st.sampled_from([0, 1, 2.3]), divided())
def test_morphology(folder, image, spacing, border, radius, factor):
    source, target = folder / "m.npy", folder / "m-out.npy"
    np.save(source, image)
    border, labels = border_of(border, image.shape), image.dtype == "int32"
    how = dict(spacing=of_axes(spacing, image.ndim), labels=labels, border=border)
    first = "open" if border == "open" else border[next((k for k, n in enumerate(image.shape) if n != 1), -1)]
    for name in ("erosion", "dilation", "opening", "closing"):
        call = getattr(outofcore, name)
        if name == "closing" and labels and first == "periodic":
            with pytest.raises(ValueError, match="not periodic"):
                call(source, target, radius, **how)
            continue
        in_parts(lambda: call(source, target, radius, **how), factor)  # noqa: B023
        same(target, getattr(nf, name)(image, radius, **how))


def volume(shape=(40, 37, 50), density=0.01):
    return (np.random.default_rng(4).random(shape) < density).astype(np.uint8) * np.uint8(7)


def raw(path, shape):
    """The end of a file of NRRD."""
    return np.frombuffer(path.read_bytes()[-4 * int(np.prod(shape)) :], "<f4").reshape(shape)


@pytest.mark.parametrize("suffix", ["zarr", "npy", "nrrd", "tif"])
def test_formats(tmp_path, suffix):
    seeds = volume()
    np.save(tmp_path / "a.npy", seeds)
    if suffix == "zarr":
        zarr = pytest.importorskip("zarr")
        read = lambda path: zarr.open_array(str(path), mode="r")[:]  # noqa: E731
    elif suffix == "tif":
        tifffile = pytest.importorskip("tifffile")
        read = tifffile.imread
    elif suffix == "nrrd":
        read = lambda path: raw(path, seeds.shape)  # noqa: E731
    else:
        read = np.load
    first, second = tmp_path / f"b.{suffix}", tmp_path / f"c.{suffix}"
    outofcore.distance_transform(tmp_path / "a.npy", first, sites="nonzero")
    away = nf.distance_transform(seeds, sites="nonzero")
    np.testing.assert_array_equal(read(first), away)
    in_parts(lambda: outofcore.distance_transform(first, second, max_distance=4), 1.2)
    np.testing.assert_array_equal(read(second), nf.distance_transform(away, max_distance=4))


@pytest.mark.parametrize("how", [{"compression": "zlib"}, {"tile": (16, 16)}], ids=str)
def test_tiff_of_many_pieces(tmp_path, how):
    tifffile = pytest.importorskip("tifffile")
    pytest.importorskip("zarr")
    image = volume(density=0.9)
    tifffile.imwrite(tmp_path / "a.tif", image, photometric="minisblack", **how)
    in_parts(lambda: outofcore.distance_transform(tmp_path / "a.tif", tmp_path / "b.npy", memory="1GB"), 1.5)
    same(tmp_path / "b.npy", nf.distance_transform(image))


def test_ome_zarr_and_spacing(tmp_path):
    zarr = pytest.importorskip("zarr")
    image = volume((30, 20, 25), 0.9)
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="w")
    group.create_array("0", shape=(1, *image.shape), chunks=(1, 8, 8, 8), dtype="u1")[0] = image
    scale = [{"type": "scale", "scale": [1.0, 2.0, 0.5, 0.5]}]
    group.attrs["ome"] = {"multiscales": [{"datasets": [{"path": "0", "coordinateTransformations": scale}]}]}
    target = tmp_path / "b.nrrd"
    in_parts(lambda: outofcore.distance_transform(tmp_path / "a.zarr", target), 1.5)
    wanted = nf.distance_transform(image, spacing=(2, 0.5, 0.5))
    np.testing.assert_array_equal(raw(target, image.shape), wanted)
    assert b"spacings: 0.5 0.5 2.0 1.0\n" in target.read_bytes()
    array = zarr.open_array(str(tmp_path / "a.zarr" / "0"))
    outofcore.label(array, tmp_path / "labels.zarr", connectivity=3)
    made = zarr.open_array(str(tmp_path / "labels.zarr"), mode="r")
    assert made.chunks == array.chunks
    np.testing.assert_array_equal(made[0], nf.label(image, connectivity=3, dtype="int32"))


def test_ome_zarr_is_written(tmp_path):
    zarr = pytest.importorskip("zarr")
    image, target = volume((30, 20, 25), 0.9), tmp_path / "b.ome.zarr"
    np.save(tmp_path / "a.npy", image)
    how = dict(coordinates=tmp_path / "at.ome.zarr", spacing=(2, 0.5, 0.25))
    with mock.patch.object(_chunk_call.Asked, "room", lambda self: 200_000):
        with pytest.raises(nf.Cancelled):
            outofcore.distance_transform(tmp_path / "a.npy", target, progress=lambda share: share < 0.7, **how)
        outofcore.distance_transform(tmp_path / "a.npy", target, **how)  # goes on
    wanted = nf.distance_transform(image, spacing=(2, 0.5, 0.25), return_indices=True)
    paths = target, how["coordinates"]
    for path, names, scale, field in zip(paths, ("zyx", "czyx"), ([], [1.0]), wanted, strict=True):
        group = zarr.open_group(str(path), mode="r")
        level = group.attrs["ome"]["multiscales"][0]
        np.testing.assert_array_equal(group[level["datasets"][0]["path"]][:], field)
        assert "".join(axis["name"] for axis in level["axes"]) == names
        change = level["datasets"][0]["coordinateTransformations"]
        assert change == [{"type": "scale", "scale": [*scale, 2.0, 0.5, 0.25]}]
    np.testing.assert_array_equal(_chunk_files.Source(target).spacing, (2, 0.5, 0.25))
    np.save(tmp_path / "line.npy", np.ones(5))
    with pytest.raises(ValueError, match="OME-Zarr has 2 to 5 axes, not 1"):
        outofcore.distance_transform(tmp_path / "line.npy", tmp_path / "line.ome.zarr")


def test_refusals(tmp_path):
    np.save(tmp_path / "a.npy", volume())
    source, target = tmp_path / "a.npy", tmp_path / "b.npy"
    for words, call in {
        "does not fit": lambda: outofcore.distance_transform(source, target, memory="1MB"),
        "give a number of bytes": lambda: outofcore.label(source, target, memory="much"),
        "ends in .zarr": lambda: outofcore.label(source, tmp_path / "b.jpg"),
        "which is the source": lambda: outofcore.label(source, source),
        "folder does not exist": lambda: outofcore.label(source, tmp_path / "c" / "b.npy"),
        "does not exist": lambda: outofcore.label(tmp_path / "c.npy", target),
        "where has shape": lambda: outofcore.distance_transform(source, target, where=np.ones((2, 3), bool)),
        "where has element type": lambda: outofcore.distance_transform(source, target, where=np.ones((40, 37, 50))),
        "names no value": lambda: outofcore.distance_transform(source, target, where="nodata"),
        "border is open along": lambda: outofcore.voronoi(np.ones((1, 5, 5)), None, trusted=target),
        "nothing is asked for": lambda: outofcore.voronoi(source, None),
        "no array of Zarr": lambda: outofcore.label(source, tmp_path.parent / "c.zarr" if mkdir(tmp_path) else target),
        "more than dtype=uint16": lambda: outofcore.label(many(tmp_path), target, dtype="uint16"),
    }.items():
        with pytest.raises((ValueError, FileNotFoundError), match=words):
            call()
    np.save(tmp_path / "f.npy", np.asfortranarray(volume()))
    with pytest.raises(ValueError, match="Fortran"):
        outofcore.label(tmp_path / "f.npy", target)
    with pytest.raises(TypeError, match="give a path"):
        outofcore.label(3, target)
    assert not target.exists() and not list(tmp_path.glob("*unfinished"))


def mkdir(folder):
    (folder.parent / "c.zarr").mkdir(exist_ok=True)
    return True


def many(folder):
    np.save(folder / "many.npy", (np.indices((400, 400)).sum(0) % 2).astype(np.uint8))
    return folder / "many.npy"


@pytest.mark.parametrize("least", [0, 2**24 - 2000, 2**24 - 1, 2**24, 2**31])
def test_roots_are_rounded_once(least):
    grid = chunks.grid((60000, 3))
    squares = np.arange(least, least + 3 * 10**6, dtype=np.uint32).reshape(-1, 3)
    wanted = np.sqrt(squares.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(chunks.distance(grid, squares), wanted)
    np.testing.assert_array_equal(chunks.distance(grid, squares, out=squares.view(np.float32)), wanted)


@pytest.mark.parametrize("largest", [65533, 65534, 65535, 65536, 2**32 - 2])
def test_squares_between_the_passes(folder, largest):
    types = {"squared": np.dtype("uint32"), "label": np.dtype("uint16")}
    between = _chunk_work.Between(folder / f"between-{largest}", (7, 5, 9), types, 3, (2, 9))
    squared = np.random.default_rng(2).integers(0, 9, (7, 5, 9)).astype(np.uint32)
    squared[0, 0, 0], squared[4, 1, 2], squared[6, 4, 8] = 2**32 - 1, largest, 2**32 - 1
    label = squared.astype(np.uint16)
    for first in (0, 3, 6):
        between.write(first, [squared[first : first + 3], label[first : first + 3]])
    for number, box in enumerate(between.boxes):
        made = between.read(number)
        np.testing.assert_array_equal(made["squared"], squared[(slice(None), *box)])
        np.testing.assert_array_equal(made["label"], label[(slice(None), *box)])
    between.close()


def test_planes_with_one_site(folder):
    image = np.ones((6, 300, 400), np.uint8)
    image[[0, 3, 4], [0, 150, 299], [0, 200, 0]] = 0
    np.save(folder / "far.npy", image)
    in_parts(lambda: outofcore.distance_transform(folder / "far.npy", folder / "far-away.npy"), 1.3)
    same(folder / "far-away.npy", nf.distance_transform(image))
