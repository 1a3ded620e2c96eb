"""Components of arrays on a GPU: CuPy, PyTorch and JAX in and out, on the caller's stream, in CUDA graphs.

Skipped without one.
"""

import numpy as np
import pytest

import nearfield as nf
from nearfield import ndimage

pytestmark = pytest.mark.skipif(not nf.devices(), reason=f"no GPU: {nf.info().why_no_device}")

RANDOM = np.random.default_rng(2)
IMAGE = RANDOM.random((40, 50, 60)) < 0.3
VALUES = RANDOM.integers(0, 4, (30, 40, 50)).astype(np.int16)
COLOURS = RANDOM.integers(0, 3, (64, 80, 3)).astype(np.uint8)
CASES = [
    (IMAGE, {}),
    (IMAGE, {"connectivity": 3, "min_size": 3}),
    (IMAGE[3], {"connectivity": 8, "clear_border": True}),
    (IMAGE, {"connectivity": 18, "largest": 5, "periodic": (False, True, True)}),
    (IMAGE, {"batch_axes": 1, "connectivity": 2, "max_size": 40}),
    (VALUES, {"criterion": "equal", "background": 2}),
    (VALUES.astype(np.float32), {"criterion": 1, "background": None, "connectivity": 26}),
    (COLOURS, {"channels": True, "criterion": 1, "norm": "euclidean", "connectivity": 2}),
    (VALUES.astype(np.float16), {"criterion": "equal"}),
]
IDS = [str(keywords) for _, keywords in CASES]


def same(device, host):
    np.testing.assert_array_equal(device, host)


@pytest.mark.parametrize("image, keywords", CASES, ids=IDS)
def test_cupy(cupy, image, keywords):
    labels, count = nf.label(cupy.asarray(image), return_num=True, **keywords)
    wanted, number = nf.label(image, return_num=True, **keywords)
    assert isinstance(labels, cupy.ndarray) and labels.dtype == np.int32
    same(labels.get(), wanted)
    same(count, number)
    same(nf.label(cupy.asarray(image), **keywords).get(), wanted)


@pytest.mark.parametrize("image, keywords", CASES, ids=IDS)
def test_torch(torch, image, keywords):
    there = torch.from_numpy(image).cuda()
    labels = nf.label(there, **keywords)
    assert labels.device == there.device and labels.dtype == torch.int32
    same(labels.cpu(), nf.label(image, **keywords))


@pytest.mark.parametrize("image, keywords", CASES, ids=IDS)
def test_jax(jax, image, keywords):
    there = jax.device_put(image, jax.devices("gpu")[0])
    for _ in range(3):  # memory is returned and reused
        labels, count = nf.label(there, return_num=True, **keywords)
    wanted, number = nf.label(image, return_num=True, **keywords)
    assert labels.devices() == there.devices()
    same(labels + 1, wanted + 1)
    same(count, number)


@pytest.mark.parametrize("image, keywords", CASES, ids=IDS)
def test_host_arrays_on_the_device(image, keywords):
    if image.dtype == np.float16:
        image = image.astype(np.float32)
    labels, count = nf.label(image, return_num=True, device="cuda", **keywords)
    wanted, number = nf.label(image, return_num=True, **keywords)
    same(labels, wanted)
    same(count, number)
    out = np.empty(wanted.shape[::-1], np.int64).T
    assert nf.label(image, out=out, device="cuda:0", **keywords) is out
    same(out, wanted)


@pytest.mark.parametrize("image, keywords", CASES, ids=IDS)
def test_components(cupy, image, keywords):
    grid = image.shape[:-1] if keywords.get("channels") else image.shape
    intensity = RANDOM.random(grid).astype(np.float32)
    axes = len(grid) - keywords.get("batch_axes", 0)
    asked = dict(spacing=(2, 0.5, 3)[:axes], **keywords)
    wanted = nf.components(image, intensity=intensity, **asked)
    came = nf.components(cupy.asarray(image), intensity=cupy.asarray(intensity), **asked)
    same(came.labels.get(), wanted.labels)
    for name, column in wanted.table.to_dict().items():
        mine = came.table.to_dict()[name]
        assert isinstance(mine, cupy.ndarray) and mine.dtype == column.dtype, name
        same(mine.get(), column)
    if image.dtype != np.float16:
        staged = nf.components(image, intensity=intensity, device="cuda", **asked)
        for name, column in wanted.table.to_dict().items():
            same(staged.table.to_dict()[name], column)


def test_what_is_made_of_labels(cupy, torch):
    labels = nf.label(VALUES, criterion="equal", connectivity=3)
    for there, back in (
        (cupy.asarray(labels), lambda x: x.get()),
        (torch.from_numpy(labels).cuda(), lambda x: x.cpu()),
    ):
        table, wanted = nf.component_statistics(there), nf.component_statistics(labels)
        for name, column in wanted.to_dict().items():
            same(back(table.to_dict()[name]), column)
        for runs in (False, True):
            for one, other in zip(nf.label_lists(there, runs=runs), nf.label_lists(labels, runs=runs)):
                same(back(one), other)
        one, other = nf.relabel(there * 3, return_num=True), nf.relabel(labels * 3, return_num=True)
        same(back(one[0]), other[0])
        assert one[1] == other[1]
        one, other = (nf.contacts(each, connectivity=2, spacing=(1, 2, 3)) for each in (there, labels))
        for a, b in zip(one, other):
            same(a, b)
    small = nf.remove_small(cupy.asarray(VALUES), 4, criterion="equal")
    same(small.get(), nf.remove_small(VALUES, 4, criterion="equal"))
    same(nf.remove_small(VALUES, 4, criterion="equal", device="cuda"), nf.remove_small(VALUES, 4, criterion="equal"))
    labels, report = nf.label_by_propagation(cupy.asarray(IMAGE), connectivity=3)
    same(labels.get(), nf.label(IMAGE, connectivity=3))
    assert report.rounds > 1


def test_jax_tables(jax):
    with jax.enable_x64(True):
        there = jax.device_put(IMAGE, jax.devices("gpu")[0])
        labels, table = nf.components(there, connectivity=3)
        for name, column in nf.components(IMAGE, connectivity=3).table.to_dict().items():
            same(table.to_dict()[name], column)
        same(nf.label_lists(labels).entries, nf.label_lists(nf.label(IMAGE, connectivity=3)).entries)


def busy(torch, milliseconds=60):
    torch.cuda._sleep(int(milliseconds * 1.5e6))


def test_labels_alone_do_not_wait(torch):
    """The image is written late on a side stream: a call on any other stream would see what was there before."""
    host = torch.from_numpy(IMAGE.astype(np.uint8)).pin_memory()
    image = torch.zeros(IMAGE.shape, dtype=torch.uint8, device="cuda")
    for keywords in ({}, {"min_size": 3}, {"criterion": "equal", "connectivity": 3}):
        nf.label(image, **keywords)  # loads workspace and modules
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            busy(torch)
            image.copy_(host, non_blocking=True)
            labels = nf.label(image, **keywords)
            assert not stream.query(), "the call waited for the stream"
        stream.synchronize()
        same(labels.cpu(), nf.label(IMAGE.astype(np.uint8), **keywords))
        image.zero_()


def test_torch_graph(torch):
    image = torch.zeros(IMAGE.shape, dtype=torch.bool, device="cuda")
    nf.label(image, connectivity=3)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        labels = nf.label(image, connectivity=3)
    for view in (IMAGE, IMAGE[::-1], IMAGE[:, ::-1]):
        image.copy_(torch.from_numpy(view.copy()))
        graph.replay()
        same(labels.cpu(), nf.label(view, connectivity=3))


def test_out_with_strides_and_types(cupy):
    memory = cupy.full((40, 50, 120), 7, np.int32)
    out = memory[:, ::-1, ::2]
    assert nf.label(cupy.asarray(IMAGE)[:, ::-1], out=out) is out
    same(out.get(), nf.label(IMAGE[:, ::-1]))
    assert (memory[:, :, 1::2] == 7).all()
    for dtype in ("uint16", "uint32", "int64", "uint64"):
        assert nf.label(cupy.asarray(IMAGE), dtype=dtype).dtype == dtype
    board = cupy.asarray(np.indices((400, 400)).sum(0) % 2)
    with pytest.raises(ValueError, match="uint16"):
        nf.label(board, dtype="uint16")


def test_torch_compile(torch):
    def model(x):
        return nf.label(x > 0.5, connectivity=2) + 1

    x = torch.rand(200, 300, device="cuda")
    assert torch.equal(torch.compile(model, fullgraph=True, backend="aot_eager")(x), model(x))


def test_places_are_not_mixed(cupy):
    with pytest.raises(ValueError, match="out is on the CPU and image on cuda:0"):
        nf.label(cupy.asarray(IMAGE), out=np.empty(IMAGE.shape, np.int32))
    with pytest.raises(ValueError, match="intensity is on the CPU and image on cuda:0"):
        nf.components(cupy.asarray(IMAGE), intensity=IMAGE)
    with pytest.raises(ValueError, match="image is on cuda:0"):
        nf.label(cupy.asarray(IMAGE), device="cpu")
    with pytest.raises(ValueError, match="propagation runs where"):
        nf.label(IMAGE, method="propagation", device="cuda")


def test_scipys_functions_take_device_arrays(cupy):
    labels, count = ndimage.label(cupy.asarray(IMAGE), np.ones((3, 3, 3)))
    wanted = ndimage.label(IMAGE, np.ones((3, 3, 3)))
    assert isinstance(labels, cupy.ndarray) and count == wanted[1]
    same(labels.get(), wanted[0])
    assert ndimage.find_objects(labels) == ndimage.find_objects(wanted[0])
    out = cupy.empty(IMAGE.shape, np.int64)
    assert ndimage.label(cupy.asarray(IMAGE), output=out) == ndimage.label(IMAGE)[1]


def test_cupyx_gives_the_same_labels(cupy):
    theirs = pytest.importorskip("cupyx.scipy.ndimage")
    image = cupy.asarray(IMAGE)
    for connectivity in (1, 2, 3):
        structure = theirs.generate_binary_structure(3, connectivity)
        wanted, count = theirs.label(image, structure)
        labels, number = nf.label(image, connectivity=connectivity, return_num=True)
        assert number == int(count)
        same(labels.get(), wanted.get())
