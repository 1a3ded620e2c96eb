"""Components of arrays of other frameworks on the CPU: the same kind comes out."""

import numpy as np
import pytest

import nearfield as nf
from test_frameworks import refused_alike

IMAGE = np.random.default_rng(1).random((9, 10, 11)) < 0.4
LABELS = nf.label(IMAGE)


class TestTorch:
    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch")

    @pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32", "float64"])
    def test_types(self, dtype):
        image = self.torch.from_numpy(IMAGE).to(getattr(self.torch, dtype))
        labels, count = nf.label(image, return_num=True)
        assert isinstance(labels, self.torch.Tensor) and labels.dtype == self.torch.int32
        np.testing.assert_array_equal(labels.numpy(), LABELS)
        assert count == LABELS.max()

    def test_strides_out_and_dtypes_of_torch(self):
        image = self.torch.from_numpy(IMAGE).permute(2, 0, 1)[::2]
        out = self.torch.empty(image.shape[::-1], dtype=self.torch.int64).permute(2, 1, 0)
        assert nf.label(image, out=out, dtype=self.torch.int64) is out
        np.testing.assert_array_equal(out.numpy(), nf.label(image.numpy()))
        assert nf.label(image, dtype=self.torch.int64).dtype == self.torch.int64

    def test_what_is_made_of_labels(self):
        labels = self.torch.from_numpy(LABELS)
        table, wanted = (nf.component_statistics(each, intensity=IMAGE * 3.0, spacing=2) for each in (labels, LABELS))
        for name, column in wanted.to_dict().items():
            mine = table.to_dict()[name]
            assert isinstance(mine, self.torch.Tensor), name
            np.testing.assert_array_equal(mine.numpy(), column)
        assert table.slices() == wanted.slices()
        for one, other in zip(nf.label_lists(labels, runs=True), nf.label_lists(LABELS, runs=True)):
            np.testing.assert_array_equal(one.numpy(), other)
        assert isinstance(nf.relabel(labels * 7), self.torch.Tensor)
        small = nf.remove_small(self.torch.from_numpy(IMAGE), 5)
        assert small.dtype == self.torch.bool
        np.testing.assert_array_equal(small.numpy(), nf.remove_small(IMAGE, 5))
        np.testing.assert_array_equal(
            nf.contacts(labels, connectivity=3).labels, nf.contacts(LABELS, connectivity=3).labels
        )

    def test_compile_keeps_one_graph(self):
        def model(x):
            return nf.label(x > 0.5, connectivity=2, min_size=2) + 1

        x = self.torch.rand(20, 30)
        compiled = self.torch.compile(model, fullgraph=True, backend="aot_eager")
        assert self.torch.equal(compiled(x), model(x))

    def test_vmap_takes_the_words_that_a_call_takes(self):
        images = self.torch.from_numpy(IMAGE)
        for words in (
            dict(device=self.torch.device("cpu")),
            dict(dtype=np.int64),
            dict(dtype=self.torch.uint16),
            dict(periodic=np.True_),
            dict(periodic=np.array([True, False])),
            dict(min_size=np.int64(2), clear_border=np.True_),
            dict(criterion="equal", background=np.float32(1)),
            dict(threads=np.int64(2)),
        ):
            wanted = self.torch.stack([nf.label(image, **words) for image in images])
            came = self.torch.vmap(lambda x, words=words: nf.label(x, **words))(images)
            assert came.dtype == wanted.dtype and self.torch.equal(came, wanted), words
        for words in (
            dict(min_size="x"),
            dict(threads="x"),
            dict(connectivity="x"),
            dict(criterion=None),
            dict(periodic="x"),
            dict(device=3),
            dict(dtype="uint8"),
        ):
            refused_alike(lambda x, words=words: nf.label(x, **words), images[0], lambda f: self.torch.vmap(f)(images))


class TestJax:
    @pytest.fixture(autouse=True)
    def _jax(self):
        self.jax = pytest.importorskip("jax")

    def test_round_trip(self):
        labels, count = nf.label(self.jax.numpy.asarray(IMAGE), return_num=True)
        assert isinstance(labels, self.jax.Array) and count == LABELS.max()
        np.testing.assert_array_equal(labels, LABELS)
        np.testing.assert_array_equal(nf.relabel(labels), LABELS)
        small = nf.remove_small(self.jax.numpy.asarray(IMAGE), 5)
        np.testing.assert_array_equal(small, nf.remove_small(IMAGE, 5))
        assert isinstance(small, self.jax.Array)

    def test_jit_and_vmap(self):
        image = self.jax.numpy.asarray(IMAGE)
        np.testing.assert_array_equal(
            self.jax.jit(lambda x: nf.label(x, connectivity=3) + 1)(image), nf.label(IMAGE, connectivity=3) + 1
        )
        np.testing.assert_array_equal(self.jax.vmap(nf.label)(image), nf.label(IMAGE, batch_axes=1))

    def test_a_trace_refuses_in_the_words_of_a_call(self):
        image = LABELS[0]
        for call in (
            lambda x: nf.label(x, device="x"),
            lambda x: nf.label(x, threads="x"),
            lambda x: nf.label(x, progress="x"),
            lambda x: nf.label(x, progress=print, method="propagation"),
            lambda x: nf.label(x.reshape((1,) * 7 + x.shape)),
            lambda x: nf.relabel(x, threads="x"),
            lambda x: nf.relabel(x.reshape((1,) * 7 + x.shape)),
            lambda x: nf.remove_small(x, 2, threads="x"),
        ):
            refused_alike(call, image, lambda call: self.jax.jit(call)(image))

    def test_a_trace_tells_its_progress(self):
        told = []
        self.jax.block_until_ready(self.jax.jit(lambda x: nf.label(x, progress=told.append))(IMAGE))
        assert told[-1] == 1.0

    def test_tables_where_64_bits_are_allowed(self):
        with self.jax.enable_x64(True):
            table = nf.component_statistics(self.jax.numpy.asarray(LABELS))
            np.testing.assert_array_equal(table.box, nf.component_statistics(LABELS).box)
            np.testing.assert_array_equal(table.centroid, nf.component_statistics(LABELS).centroid)

    def test_refused(self):
        image = self.jax.numpy.asarray(IMAGE)
        with pytest.raises(TypeError, match="JAX narrows"):
            nf.label(image, dtype="int64")
        with pytest.raises(TypeError, match="JAX narrows"):
            nf.component_statistics(nf.label(image))
        with pytest.raises(TypeError, match="cannot be written"):
            nf.label(image, out=np.empty(IMAGE.shape, np.int32))
        with pytest.raises(TypeError, match="return_num"):
            self.jax.jit(lambda x: nf.label(x, return_num=True))(image)
        with pytest.raises(TypeError, match="traced"):
            self.jax.jit(nf.contacts)(image)


def test_array_api_strict():
    space = pytest.importorskip("array_api_strict")
    labels = nf.label(space.asarray(IMAGE))
    assert labels.__array_namespace__() is space
    np.testing.assert_array_equal(np.from_dlpack(labels), LABELS)
    table = nf.component_statistics(labels)
    np.testing.assert_array_equal(np.from_dlpack(table.size), nf.component_statistics(LABELS).size)


def test_places_are_not_mixed():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="out is list"):
        nf.label(IMAGE, out=[1])
    with pytest.raises(TypeError, match="cannot be written|must be|array"):
        nf.label(jax.numpy.asarray(IMAGE), out=jax.numpy.zeros(IMAGE.shape, "int32"))
