"""Arrays of other frameworks on the CPU: the same kind comes out, without a copy where memory can be shared."""

import subprocess
import sys

import numpy as np
import pytest

import nearfield as nf

IMAGE = np.random.default_rng(1).random((9, 10, 11)) < 0.9


def refused_alike(call, image, transformed):
    """A transformed call is refused with the type and the words of a plain one."""
    with pytest.raises((TypeError, ValueError)) as plain:
        call(image)
    with pytest.raises(type(plain.value)) as other:
        transformed(call)
    assert (type(other.value), str(other.value)) == (type(plain.value), str(plain.value))


def test_importing_imports_no_framework():
    code = "import sys, nearfield; print([m for m in ('torch', 'cupy', 'jax', 'scipy', 'xarray') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


class TestTorch:
    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch")

    def test_round_trip(self):
        distance, indices = nf.distance_transform(self.torch.from_numpy(IMAGE), return_indices=True)
        assert isinstance(distance, self.torch.Tensor) and distance.dtype == self.torch.float32
        wanted = nf.distance_transform(IMAGE, return_indices=True)
        np.testing.assert_array_equal(distance.numpy(), wanted[0])
        np.testing.assert_array_equal(indices.numpy(), wanted[1])

    @pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32", "float64"])
    def test_types(self, dtype):
        tensor = self.torch.from_numpy(IMAGE).to(getattr(self.torch, dtype))
        np.testing.assert_array_equal(nf.distance_transform(tensor).numpy(), nf.distance_transform(IMAGE))

    def test_strides_out_and_dtypes_of_torch(self):
        tensor = self.torch.from_numpy(IMAGE).permute(2, 0, 1)[::2]
        out = self.torch.empty(tensor.shape[::-1], dtype=self.torch.float64).permute(2, 1, 0)
        assert nf.distance_transform(tensor, out=out, dtype=self.torch.float64) is out
        np.testing.assert_array_equal(out.numpy(), nf.distance_transform(tensor.numpy(), dtype="float64"))

    def test_a_view_with_a_gradient_is_just_data(self):
        image = self.torch.rand(5, 6, requires_grad=True)
        assert not nf.distance_transform(image * 1).requires_grad

    def test_refused(self):
        with pytest.raises(TypeError, match="bfloat16"):
            nf.distance_transform(self.torch.zeros(3, dtype=self.torch.bfloat16))
        with pytest.raises(TypeError, match="to_dense"):
            nf.distance_transform(self.torch.eye(3).to_sparse())
        with pytest.raises(TypeError, match="device meta"):
            nf.distance_transform(self.torch.empty(3, device="meta"))

    def test_compile_keeps_one_graph(self):
        def model(x):
            distance, indices = nf.distance_transform(x > 0.1, return_indices=True, spacing=(2, 1, 1), border="closed")
            return nf.expand_labels(x.to(self.torch.int32), 2) + distance * 2, indices

        x = self.torch.rand(5, 6, 7) * 3
        compiled = self.torch.compile(model, fullgraph=True, backend="aot_eager")
        for one, other in zip(compiled(x), model(x)):
            assert self.torch.equal(one, other)

    def test_squared_distances_in_one_graph_have_a_named_type(self):
        x = self.torch.from_numpy(IMAGE)
        squared = self.torch.compile(
            lambda x: nf.distance_transform(x, squared=True, dtype="uint32"), fullgraph=True, backend="aot_eager"
        )
        assert self.torch.equal(squared(x), nf.distance_transform(x, squared=True))

    def test_vmap_takes_the_words_that_a_call_takes(self):
        images = self.torch.from_numpy(IMAGE)
        weights = np.random.default_rng(2).random(IMAGE.shape[1:])
        for call in (
            lambda x: nf.distance_transform(x, device=self.torch.device("cpu")),
            lambda x: nf.distance_transform(x, threads=np.int64(2)),
            lambda x: nf.voronoi(x, weights=weights, return_indices=False, return_distances=True),
            lambda x: nf.voronoi(x, weights=weights.tolist(), return_indices=False, return_distances=True),
        ):
            wanted = self.torch.stack([call(image) for image in images])
            assert self.torch.equal(self.torch.vmap(call)(images), wanted)
        mapped = self.torch.vmap(lambda x, w: nf.voronoi(x, weights=w, return_indices=False, return_distances=True))
        assert mapped(images, self.torch.rand(images.shape)).shape == images.shape
        for call in (
            lambda x: nf.distance_transform(x, threads="x"),
            lambda x: nf.distance_transform(x, device=3),
            lambda x: nf.voronoi(x, weights="x"),
        ):
            refused_alike(call, images[0], lambda call: self.torch.vmap(call)(images))

    def test_the_operation_is_well_formed(self):
        from nearfield import _torch

        arguments = (self.torch.from_numpy(IMAGE), None, "distance:float32,index:int64", [], "zero", "none", False)
        self.torch.library.opcheck(_torch._compute, (*arguments, "open", float("inf"), 0, "", 0))


class TestJax:
    @pytest.fixture(autouse=True)
    def _jax(self):
        self.jax = pytest.importorskip("jax")

    def test_round_trip(self):
        distance, indices = nf.distance_transform(self.jax.numpy.asarray(IMAGE), return_indices=True)
        assert isinstance(distance, self.jax.Array) and isinstance(indices, self.jax.Array)
        wanted = nf.distance_transform(IMAGE, return_indices=True)
        np.testing.assert_array_equal(distance, wanted[0])
        np.testing.assert_array_equal(indices, wanted[1])

    def test_jit_and_vmap(self):
        image = self.jax.numpy.asarray(IMAGE)
        jitted = self.jax.jit(lambda x: nf.distance_transform(x, spacing=(1, 2, 3)) + 1)
        np.testing.assert_array_equal(jitted(image), nf.distance_transform(IMAGE, spacing=(1, 2, 3)) + 1)
        told = []
        on_cpu = self.jax.device_put(IMAGE, self.jax.devices("cpu")[0])
        nf.distance_transform(on_cpu, progress=told.append)  # a GPU reports no progress
        assert told[-1] == 1.0
        mapped = self.jax.vmap(lambda x: nf.distance_transform(x))(image)
        np.testing.assert_array_equal(mapped, nf.distance_transform(IMAGE, batch_axes=1))

    def test_methods(self):
        image, options = self.jax.numpy.asarray(IMAGE), {"method": "jump-flood:before=1"}
        for asked in ({}, {"return_indices": True, "spacing": (1, 2, 3)}, {"squared": True, "threads": 2}):
            came = self.jax.tree.leaves(nf.distance_transform(image, **asked, **options))
            wanted = self.jax.tree.leaves(nf.distance_transform(IMAGE, **asked, **options))
            for one, other in zip(came, wanted):
                assert isinstance(one, self.jax.Array)
                np.testing.assert_array_equal(one, other)
        jitted = self.jax.jit(lambda x: nf.distance_transform(x, **options) + 1)
        np.testing.assert_array_equal(jitted(image), nf.distance_transform(IMAGE, **options) + 1)
        for refused, word in (({"border": "closed"}, "border"), ({"method": "jfa"}, "jump-flood")):
            with pytest.raises(ValueError, match=word):
                nf.distance_transform(image, **{**options, **refused})
        with pytest.raises(TypeError, match="cannot be written"):
            nf.distance_transform(image, out=np.empty(IMAGE.shape, np.float32), **options)
        assert nf.compare(image, ["banding"], sites="zero")[0].wrong_sites == 0

    def test_outputs_are_not_written(self):
        image = IMAGE[0].astype(np.int32)
        for call, argument, dtype in (
            (lambda out: nf.distance_transform(image, out=out), "out", "float32"),
            (lambda out: nf.distance_transform(image, out=out, method="banding"), "out", "float32"),
            (lambda out: nf.expand_labels(image, 2, labels_out=out), "labels_out", "int32"),
            (lambda out: nf.voronoi(image.ravel(), indices_out=out.reshape(1, -1)), "indices_out", "int32"),
            (lambda out: nf.label(image, out=out), "out", "int32"),
            (lambda out: nf.label_by_propagation(image, out=out), "out", "int32"),
            (lambda out: nf.relabel(image, out=out), "out", "int32"),
            (lambda out: nf.remove_small(image, 2, out=out), "out", "int32"),
            (lambda out: nf.components(image, out=out), "out", "int32"),
        ):
            out = self.jax.numpy.full(image.shape, 7, dtype)
            with pytest.raises(
                TypeError, match=f"^{argument} is an array of JAX, which cannot be written; leave it out"
            ):
                call(out)
            assert (np.asarray(out) == 7).all()

    def test_outputs_of_tensors_are_not_written(self):
        torch = pytest.importorskip("torch")
        image, out = torch.from_numpy(IMAGE[0]), self.jax.numpy.full(IMAGE[0].shape, 7, "float32")
        with pytest.raises(TypeError, match="^out is an array of JAX, which cannot be written"):
            nf.distance_transform(image, out=out)
        assert (np.asarray(out) == 7).all()

    def test_a_trace_refuses_in_the_words_of_a_call(self):
        image = IMAGE[0].astype(np.float32)
        for call in (
            lambda x: nf.distance_transform(x[0, 0]),
            lambda x: nf.distance_transform(x.reshape((1,) * 7 + x.shape)),
            lambda x: nf.distance_transform(x, multilabel=True),
            lambda x: nf.distance_transform(x, spacing=-1),
            lambda x: nf.distance_transform(x, device="x"),
            lambda x: nf.distance_transform(x, device="x", method="banding"),
            lambda x: nf.distance_transform(x, border="closed", method="banding"),
            lambda x: nf.distance_transform(x.reshape((1,) * 7 + x.shape), method="banding"),
            lambda x: nf.voronoi(x, weights=x[0]),
            lambda x: nf.voronoi(x, weights=x > 0),
            lambda x: nf.voronoi(x, weights=np.ones(3, np.float32)),
            lambda x: nf.voronoi(x, weights="x"),
        ):
            refused_alike(call, image, lambda call: self.jax.jit(call)(image))
        told = []
        self.jax.jit(lambda x: nf.distance_transform(x, method="banding", progress=told.append)).lower(image)
        assert told == []
        weights = np.random.default_rng(2).random(image.shape).astype(np.float32)
        for given in (weights, weights.tolist(), self.jax.numpy.asarray(weights)):
            came = self.jax.jit(lambda x, given=given: nf.voronoi(x, weights=given))(image)
            np.testing.assert_array_equal(came, nf.voronoi(image, weights=weights))

    def test_refused(self):
        with pytest.raises(TypeError, match="JAX narrows"):
            nf.distance_transform(self.jax.numpy.asarray(IMAGE), return_indices="linear")
        with pytest.raises(ValueError, match="device is 'tpu'"):
            nf.distance_transform(self.jax.numpy.asarray(IMAGE), device="tpu")
        with pytest.raises(TypeError, match="cannot be written"):
            nf.distance_transform(self.jax.numpy.asarray(IMAGE), out=np.empty(IMAGE.shape, np.float32))


def test_array_api_strict():
    space = pytest.importorskip("array_api_strict")
    distance = nf.distance_transform(space.asarray(IMAGE))
    assert distance.__array_namespace__() is space
    np.testing.assert_array_equal(np.from_dlpack(distance), nf.distance_transform(IMAGE))


def test_what_converts_to_numpy():
    class Image:
        def __array__(self, dtype=None, copy=None):
            return IMAGE

    np.testing.assert_array_equal(nf.distance_transform(Image()), nf.distance_transform(IMAGE))


def test_cuda_interface_without_a_gpu_is_refused_clearly():
    class Foreign:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "|u1", "data": (4096, False), "version": 3}
        shape = (3,)

    if nf.devices():
        pytest.skip("there is a GPU here")
    with pytest.raises(RuntimeError, match="cuda|CUDA"):
        nf.distance_transform(Foreign())
