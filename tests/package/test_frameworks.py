"""Arrays of other frameworks on the CPU: the same kind comes out, without a copy where memory can be shared."""

import subprocess
import sys

import numpy as np
import pytest

import nearfield as nf

IMAGE = np.random.default_rng(1).random((9, 10, 11)) < 0.9


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
        nf.distance_transform(on_cpu, progress=told.append)  # on a GPU nothing is told
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
