"""Arrays on a GPU: CuPy, PyTorch and JAX in and out, on the caller's stream, within CUDA graphs.

Skipped without one.
"""

import subprocess
import sys
import threading

import numpy as np
import pytest

import nearfield as nf

pytestmark = pytest.mark.skipif(not nf.devices(), reason=f"no GPU: {nf.info().why_no_device}")

IMAGE = np.random.default_rng(2).random((40, 50, 60)) < 0.97
OPTIONS = [
    {},
    {"squared": True, "spacing": (2, 1, 3)},
    {"signed": True, "border": "closed"},
    {"multilabel": True, "max_distance": 4.5},
    {"spacing": (3.0, 0.7, 0.7), "dtype": "float64"},
    {"batch_axes": 1, "border": "periodic"},
]


def same(device, host):
    np.testing.assert_array_equal(device, host)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_cupy(cupy, options):
    distance, indices = nf.distance_transform(cupy.asarray(IMAGE), return_indices=True, **options)
    wanted = nf.distance_transform(IMAGE, return_indices=True, **options)
    assert isinstance(distance, cupy.ndarray) and isinstance(indices, cupy.ndarray)
    same(distance.get(), wanted[0])
    same(indices.get(), wanted[1])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_torch(torch, options):
    image = torch.from_numpy(IMAGE).cuda()
    distance, indices = nf.distance_transform(image, return_indices=True, **options)
    wanted = nf.distance_transform(IMAGE, return_indices=True, **options)
    assert distance.device == image.device
    same(distance.cpu(), wanted[0])
    same(indices.cpu(), wanted[1])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_lists(torch, options):
    images = [IMAGE[:, :n, n:].copy() for n in range(1, 40)]
    options = {"return_indices": True, "return_trusted": True, **options}
    wanted = [nf.distance_transform(each, **options) for each in images]
    came = nf.distance_transform([torch.from_numpy(each).cuda() for each in images], **options)
    staged = nf.distance_transform(images, device="cuda", **options)
    for mine, copied, theirs in zip(came, staged, wanted):
        for one, two, other in zip(mine, copied, theirs):
            same(one.cpu(), other)
            same(two, other)


@pytest.mark.parametrize("options", [o for o in OPTIONS if "dtype" not in o], ids=str)
def test_jax(jax, options):
    image = jax.device_put(IMAGE, jax.devices("gpu")[0])
    for _ in range(3):  # memory is returned and reused
        distance, indices = nf.distance_transform(image, return_indices=True, **options)
    wanted = nf.distance_transform(IMAGE, return_indices=True, **options)
    assert distance.devices() == image.devices()
    same(distance, wanted[0])
    same(indices, wanted[1])
    same(distance + 1, wanted[0] + 1)


def test_jax_inputs_stay_until_they_are_read(jax):
    """The image is a temporary that JAX could use again at once; the answers are JAX's to compute with."""
    base = jax.device_put((np.random.default_rng(0).random((256, 256, 256)) < 0.99).astype(np.uint8))
    wanted = [nf.distance_transform(np.asarray(base) * (k > 0)) for k in (1, 2, 3)]
    answers = []
    for k in (1, 2, 3):
        answers.append(nf.distance_transform(base * k) * 1)
        jax.numpy.zeros((256, 256, 256), np.uint8)
    for answer, host in zip(answers, wanted):
        same(answer, host)


def test_jax_weights_and_places(jax):
    gpu, cpu = jax.devices("gpu")[0], jax.devices("cpu")[0]
    seeds = np.where(IMAGE, 0, 7).astype(np.int32)
    weights = np.random.default_rng(1).integers(0, 40, seeds.shape).astype(np.int32)
    asked = dict(return_indices=False, return_labels=True)
    there = nf.voronoi(jax.device_put(seeds, gpu), weights=jax.device_put(weights, gpu), **asked)
    same(there, nf.voronoi(seeds, weights=weights, **asked))
    for elsewhere in (weights, jax.device_put(weights, cpu)):
        with pytest.raises(ValueError, match="weights is not on"):
            nf.voronoi(jax.device_put(seeds, gpu), weights=elsewhere, **asked)
    with pytest.raises(ValueError, match="image is on cuda:0"):
        nf.distance_transform(jax.device_put(IMAGE, gpu), device="cpu")


def test_jax_jit(jax):
    image = jax.device_put(IMAGE, jax.devices("gpu")[0])
    same(jax.jit(lambda x: nf.distance_transform(x) * 2)(image), nf.distance_transform(IMAGE) * 2)


def test_jax_methods(jax):
    image = jax.device_put(IMAGE, jax.devices("gpu")[0])
    came = nf.distance_transform(image, method="jump-flood")
    assert came.devices() == image.devices()
    same(came, nf.distance_transform(IMAGE, method="jump-flood"))
    with pytest.raises(ValueError, match="brushfire"):
        nf.distance_transform(image, method="brushfire")


def test_out_with_strides(cupy):
    memory = cupy.full((40, 50, 120), 7, np.float32)
    out = memory[:, ::-1, ::2]
    assert nf.distance_transform(cupy.asarray(IMAGE)[:, ::-1], out=out) is out
    same(out.get(), nf.distance_transform(IMAGE[:, ::-1]))
    assert (memory[:, :, 1::2] == 7).all()


def test_cuda_array_interface(cupy):
    class Foreign:
        def __init__(self, array):
            self.array, self.shape = array, array.shape

        @property
        def __cuda_array_interface__(self):
            return self.array.__cuda_array_interface__

    out = cupy.empty(IMAGE.shape, np.float32)
    nf.distance_transform(Foreign(cupy.asarray(IMAGE)), out=out)
    same(out.get(), nf.distance_transform(IMAGE))
    with pytest.raises(TypeError, match="give out="):
        nf.distance_transform(Foreign(cupy.asarray(IMAGE)))


def busy(torch, milliseconds=60):
    torch.cuda._sleep(int(milliseconds * 1.5e6))


def test_torch_stream(torch):
    """The image is written late on a side stream: on any other stream the call would see what was there before."""
    host = torch.from_numpy(IMAGE.astype(np.uint8)).pin_memory()
    image = torch.zeros(IMAGE.shape, dtype=torch.uint8, device="cuda")
    nf.distance_transform(image)  # loads workspace and modules
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy(torch)
        image.copy_(host, non_blocking=True)
        distance = nf.distance_transform(image)
        assert not stream.query(), "the call waited for the stream"
    stream.synchronize()
    same(distance.cpu(), nf.distance_transform(IMAGE))


def test_the_wrong_stream_would_be_seen(torch):
    """What test_torch_stream looks for does happen: a call on another stream reads the image too early."""
    host = torch.from_numpy(IMAGE.astype(np.uint8)).pin_memory()
    image = torch.zeros(IMAGE.shape, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    stream, other = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy(torch)
        image.copy_(host, non_blocking=True)
    with torch.cuda.stream(other):
        early = nf.distance_transform(image)
    torch.cuda.synchronize()
    assert (early == 0).all()


def test_cupy_stream(cupy, torch):
    image = cupy.zeros(IMAGE.shape, bool)
    pinned = torch.from_numpy(IMAGE).pin_memory().numpy()
    nf.distance_transform(image)
    cupy.cuda.Device().synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), cupy.cuda.ExternalStream(stream.cuda_stream):
        busy(torch)
        image.set(pinned)
        distance = nf.distance_transform(image)
        assert not stream.query(), "the call waited for the stream"
    stream.synchronize()
    same(distance.get(), nf.distance_transform(IMAGE))


def test_torch_graph(torch):
    image = torch.zeros(IMAGE.shape, dtype=torch.bool, device="cuda")
    nf.distance_transform(image, return_indices=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        distance, indices = nf.distance_transform(image, return_indices=True)
    for view in (IMAGE, IMAGE[::-1], IMAGE[:, ::-1]):
        image.copy_(torch.from_numpy(view.copy()))
        graph.replay()
        wanted = nf.distance_transform(view, return_indices=True)
        same(distance.cpu(), wanted[0])
        same(indices.cpu(), wanted[1])


def test_torch_compile(torch):
    def model(x):
        return nf.distance_transform(x > 0.5, spacing=(2, 1, 1)) + 1

    x = torch.rand(20, 30, 40, device="cuda")
    assert torch.equal(torch.compile(model, fullgraph=True, backend="aot_eager")(x), model(x))


@pytest.mark.parametrize("module", ["cupy", "torch"])
def test_compare(module):
    there = pytest.importorskip(module).asarray(IMAGE)
    there = there.cuda() if module == "torch" else there
    wanted = nf.compare(IMAGE, ["banding", "jump-flood"], sites="zero", return_errors=True)
    for one, other in zip(nf.compare(there, ["banding", "jump-flood"], sites="zero", return_errors=True), wanted):
        assert one.wrong_sites == other.wrong_sites
        same(one.error, other.error)
    with pytest.raises(ValueError, match="move the array"):
        nf.compare(there, ["banding"], device="cpu")


def test_host_arrays_on_the_device():
    for options in OPTIONS:
        wanted = nf.distance_transform(IMAGE, return_indices=True, **options)
        for one, other in zip(nf.distance_transform(IMAGE, return_indices=True, device="cuda", **options), wanted):
            assert isinstance(one, np.ndarray)
            same(one, other)
    out = np.empty((60, 50, 40), np.float32).T
    assert nf.distance_transform(IMAGE, device="cuda:0", out=out) is out
    same(out, nf.distance_transform(IMAGE))


def test_voronoi_and_weights(cupy):
    seeds = np.where(IMAGE, 0, np.arange(IMAGE.size).reshape(IMAGE.shape) % 200 + 1).astype(np.int32)
    weights = np.random.default_rng(1).integers(0, 40, seeds.shape).astype(np.int32)
    for chosen in (None, weights):
        there = None if chosen is None else cupy.asarray(chosen)
        asked = dict(return_indices="linear", return_labels=True, return_distances=True)
        device = nf.voronoi(cupy.asarray(seeds), weights=there, **asked)
        for one, other in zip(device, nf.voronoi(seeds, weights=chosen, **asked)):
            same(one.get(), other)


def test_places_are_not_mixed(cupy):
    with pytest.raises(ValueError, match="out is on the CPU and the image on cuda:0"):
        nf.distance_transform(cupy.asarray(IMAGE), out=np.empty(IMAGE.shape, np.float32))
    with pytest.raises(ValueError, match="out is on cuda:0 and the image on the CPU"):
        nf.distance_transform(IMAGE, out=cupy.empty(IMAGE.shape, np.float32))
    with pytest.raises(ValueError, match="image is on cuda:0"):
        nf.distance_transform(cupy.asarray(IMAGE), device="cpu")


def test_the_current_device_and_threads_are_left_alone(cupy):
    images = [cupy.asarray(np.roll(IMAGE, k, 0)) for k in range(4)]
    wanted = [nf.distance_transform(image.get()) for image in images]
    answers = [None] * 4

    def work(k):
        with cupy.cuda.Stream(non_blocking=True) as stream:
            for _ in range(10):
                answers[k] = nf.distance_transform(images[k])
            stream.synchronize()

    cupy.cuda.Device().synchronize()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer, host in zip(answers, wanted):
        same(answer.get(), host)


def test_plan_on_the_device():
    assert nf.plan((64, 64, 64), device="cuda").place == "device"


@pytest.mark.skipif(len(nf.devices()) < 2, reason="needs two GPUs")
def test_the_other_device(torch, cupy):
    """Work goes where the array is, whichever device is current, and leaves that one current."""
    image = torch.from_numpy(IMAGE).to("cuda:1")
    distance, indices = nf.distance_transform(image, return_indices=True)
    assert distance.device == image.device and torch.cuda.current_device() == 0
    wanted = nf.distance_transform(IMAGE, return_indices=True)
    same(distance.cpu(), wanted[0])
    same(indices.cpu(), wanted[1])
    with cupy.cuda.Device(1):
        there = cupy.asarray(IMAGE)
    assert nf.distance_transform(there).device.id == 1
    same(nf.distance_transform(there).get(), wanted[0])
    same(nf.distance_transform(IMAGE, device="cuda:1"), wanted[0])


def test_scipy_s_functions_take_device_arrays(cupy):
    from nearfield import ndimage

    distance, indices = ndimage.distance_transform_edt(cupy.asarray(IMAGE), return_indices=True)
    wanted = ndimage.distance_transform_edt(IMAGE, return_indices=True)
    assert isinstance(distance, cupy.ndarray) and distance.dtype == np.float64
    same(distance.get(), wanted[0])
    same(indices.get(), wanted[1])
    narrow = ndimage.distance_transform_edt(cupy.asarray(IMAGE), float64_distances=False, block_params=(1, 1, 1))
    same(narrow.get(), wanted[0].astype("f4"))
    for call in (
        ndimage.distance_transform_cdt,
        lambda image: ndimage.distance_transform_cdt(image, "taxicab"),
        ndimage.distance_transform_bf,
        lambda image: ndimage.distance_transform_bf(image, "chessboard"),
    ):
        came = call(cupy.asarray(IMAGE))
        assert isinstance(came, cupy.ndarray) and came.dtype == call(IMAGE).dtype
        same(came.get(), call(IMAGE))
    labels, count = ndimage.label(cupy.asarray(~IMAGE), structure=np.ones((3, 3, 3)))
    same(labels.get(), ndimage.label(~IMAGE, structure=np.ones((3, 3, 3)))[0])
    assert isinstance(labels, cupy.ndarray) and count == labels.max()


FIRST_IN_CAPTURE = """
import torch, nearfield as nf
image = torch.ones((40, 50), dtype=torch.bool, device="cuda")
image[3, 4] = False
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    distance = nf.distance_transform(image)
graph.replay()
assert torch.equal(distance.cpu(), nf.distance_transform(image.cpu()))
"""


def test_the_first_call_of_a_process_may_be_captured(torch):
    subprocess.run([sys.executable, "-c", FIRST_IN_CAPTURE], check=True, timeout=120)


def test_meshes(cupy):
    z, y, x = np.mgrid[:30, :31, :32] - 15.0
    field = np.sqrt(x * x + y * y + z * z).astype(np.float32)
    ball = nf.isosurface(field, 8, inside="below")
    grid = nf.VoxelGrid.around(ball, 0.7, margin=3)
    for winding in (False, True):
        cells = nf.voxelize(ball, grid=grid, surface=True, winding=winding)
        there = nf.voxelize(ball, grid=grid, surface=True, winding=winding, out=cupy.zeros(grid.shape, bool))
        np.testing.assert_array_equal(there.cells.get(), cells.cells)
        np.testing.assert_array_equal(nf.voxelize(ball, grid=grid, surface=True, winding=winding, device="cuda"), cells)
    wanted = nf.mesh_distance(ball, grid, signed=True, return_triangle=True)
    for found in (
        nf.mesh_distance(ball, grid, signed=True, return_triangle=True, device="cuda"),
        nf.mesh_distance(ball, grid, signed=True, return_triangle=True, out=cupy.zeros(grid.shape, "f4")),
    ):
        for one, other in zip(found, wanted):
            np.testing.assert_array_equal(cupy.asnumpy(one), other)
    grid = nf.VoxelGrid.around(ball, 0.7, margin=20)
    far = nf.mesh_distance(ball, grid, samples=True, out=cupy.zeros(grid.shape, "f4"))
    np.testing.assert_array_equal(far.get(), nf.mesh_distance(ball, grid, samples=True))
    for method in ("marching_cubes", "dual_contouring"):
        wanted = nf.isosurface(field, 8, inside="below", method=method)
        for given, device in ((field, "cuda"), (cupy.asarray(field), None)):
            again = nf.isosurface(given, 8, inside="below", method=method, device=device)
            np.testing.assert_array_equal(again.vertices, wanted.vertices)
            np.testing.assert_array_equal(again.faces, wanted.faces)
    for how in ({"hollow": True}, {"hollow": True, "method": "voxels"}, {"sharp": True}):
        grown, other = (nf.offset(ball, 2, pitch=1, device=at, **how) for at in ("cuda", "cpu"))
        np.testing.assert_array_equal(grown.vertices, other.vertices)
        np.testing.assert_array_equal(grown.faces, other.faces)


@pytest.mark.parametrize("module", ["cupy", "torch"])
def test_basins_stay_on_the_device(module, request):
    framework = request.getfixturevalue(module)
    image = np.random.default_rng(8).integers(0, 40, (50, 61)).astype(np.float32)
    there = framework.asarray(image) if module == "cupy" else framework.from_numpy(image).cuda()

    def here(x):
        return x.get() if module == "cupy" else x.cpu().numpy()

    markers = np.where(image == 0, np.arange(image.size).reshape(image.shape), 0).astype(np.int32)
    marked = framework.asarray(markers) if module == "cupy" else framework.from_numpy(markers).cuda()
    mine, theirs = nf.basins(there, connectivity=2), nf.basins(image, connectivity=2)
    same(here(mine.cut(regions=9)), theirs.cut(regions=9))
    same(here(mine.cut(volume=30)), theirs.cut(volume=30))
    same(here(mine.marks(3)), theirs.marks(3))
    for one, other in zip(mine.watershed(marked, return_passes=True), theirs.watershed(markers, return_passes=True)):
        same(here(one), other)
    same(here(mine.watershed([[3, 4], [40, 9]], lines=True)), theirs.watershed([[3, 4], [40, 9]], lines=True))
    same(mine.peaks(2), theirs.peaks(2))
    same(mine.extinctions("area").amount, theirs.extinctions("area").amount)
    same(mine.passes([[0, 0]], [[49, 60]]), theirs.passes([[0, 0]], [[49, 60]]))
    same(here(nf.fill_holes(there, border=("open", "periodic"))), nf.fill_holes(image, border=("open", "periodic")))


def test_peaks_and_floods_of_unsigned_tensors(torch):
    image = np.random.default_rng(9).integers(0, 900, (40, 41)).astype(np.uint32)
    there, found = torch.from_numpy(image).cuda(), nf.peaks(image, h=30)
    same(nf.peaks(there, h=30), found)
    same(nf.watershed(there, found, maxima=True).cpu(), nf.watershed(image, found, maxima=True))
    same(nf.flood(there, [[3, 4]], 500).cpu(), nf.flood(image, [[3, 4]], 500))
