"""Calls within programs of JAX: no callback, the bits of NumPy's arrays, under jit, vmap, grad and shard_map."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf

jax = pytest.importorskip("jax")
jnp = jax.numpy
from nearfield import _jax_calls  # noqa: E402

RANDOM = np.random.default_rng(3)
IMAGE = RANDOM.random((6, 10, 11, 7)) < 0.9
SEEDS = np.where(IMAGE, 0, RANDOM.integers(1, 100, IMAGE.shape)).astype(np.int32)
FIELDS = [
    {},
    {"spacing": 2},
    {"spacing": (1, 2, 3), "return_indices": True},
    {"spacing": (1.5, 0.7, 1), "dtype": "float16", "sites": "nonzero"},
    {"squared": True, "border": ("open", "periodic", "closed")},
    {"signed": "outside", "half_cell": True, "border": "closed"},
    {"max_distance": 1.5, "return_indices": True, "return_trusted": True},
    {"max_distance": 1.5, "dtype": "bool"},
    {"multilabel": True, "threads": 1},
    {"return_distances": False, "return_indices": True},
    {"batch_axes": 1, "return_indices": True, "spacing": (3, 2), "border": ("periodic", "open")},
]
LABELS = [
    {},
    {"connectivity": 3, "min_size": 2, "dtype": "uint16"},
    {"criterion": "equal", "background": None, "largest": 3},
    {"criterion": "equal", "background": 7, "periodic": True},
    {"criterion": 5, "periodic": (True, False, True), "max_size": 40},
    {"criterion": 2.5, "background": np.nan, "clear_border": True},
    {"batch_axes": 1, "connectivity": 8},
    {"channels": True, "criterion": 3, "norm": "sum", "batch_axes": 1},
    {"threads": 2, "connectivity": 2},
]


needs_calls = pytest.mark.skipif(
    _jax_calls._platform() not in _jax_calls.platforms(), reason="JAX takes no calls of the library"
)


def same(came, wanted):
    came, wanted = jax.tree.leaves(came), jax.tree.leaves(wanted)
    assert len(came) == len(wanted)
    for one, other in zip(came, wanted):
        assert isinstance(one, jax.Array) and one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def stacked(call, images, axis=0):
    """The call of each image, and the answers along a new first axis."""
    answers = [jax.tree.leaves(call(each)) for each in np.moveaxis(images, axis, 0)]
    return [np.stack(each) for each in zip(*answers)]


def is_native(call, *arrays):
    text = jax.jit(call).lower(*arrays).as_text()
    return "@nearfield_" in text and "callback" not in text


def test_this_jax_takes_the_calls():
    """Fails where the installed JAX refuses the handlers: then all of it goes by callbacks, slowly but right."""
    if not hasattr(jax, "ffi"):
        pytest.skip("this JAX has no jax.ffi")
    assert "cpu" in _jax_calls.platforms()


@needs_calls
@pytest.mark.parametrize("options", FIELDS, ids=str)
class TestFields:
    def test_jit(self, options):
        def call(x):
            return nf.distance_transform(x, **options)

        image = (SEEDS if options.get("multilabel") else IMAGE)[0]
        assert is_native(call, image)
        same(jax.jit(call)(image), call(image))

    def test_vmap(self, options):
        images = SEEDS if options.get("multilabel") else IMAGE

        def call(x):
            return nf.distance_transform(x, **options)

        assert is_native(jax.vmap(call), images)
        same(jax.vmap(call)(images), stacked(call, images))
        same(jax.jit(jax.vmap(call, in_axes=2))(images[..., :3]), stacked(call, images[..., :3], 2))

    def test_vmap_of_vmap(self, options):
        if isinstance(options.get("spacing"), tuple) or isinstance(options.get("border"), tuple):
            pytest.skip("of images with other axes")
        images = SEEDS if options.get("multilabel") else IMAGE

        def call(x):
            return nf.distance_transform(x, **options)

        wanted = [np.stack(each) for each in zip(*(stacked(call, each) for each in images))]
        same(jax.vmap(jax.vmap(call))(images), wanted)


@needs_calls
@pytest.mark.parametrize("options", LABELS, ids=str)
def test_labels(options):
    values = RANDOM.integers(0, 9, (4, 6, 7, 3)).astype("float32" if options.get("channels") else "int16")

    def call(x):
        return nf.label(x, **options)

    assert is_native(call, values[0])
    same(jax.jit(call)(values[0]), call(values[0]))
    same(jax.vmap(call)(values), stacked(call, values))
    pair = np.stack([values, values[::-1]])
    same(jax.vmap(jax.vmap(call))(pair), np.stack([stacked(call, each)[0] for each in pair]))


@needs_calls
def test_voronoi_and_weights():
    def cells(x):
        return nf.voronoi(x, return_labels=True, return_distances=True)

    same(jax.jit(cells)(SEEDS[0]), cells(SEEDS[0]))
    same(jax.vmap(cells)(SEEDS), stacked(cells, SEEDS))
    same(jax.jit(lambda x: nf.expand_labels(x, 2))(SEEDS[0]), nf.expand_labels(SEEDS[0], 2))
    weights = RANDOM.integers(0, 5, SEEDS.shape).astype(np.int32)

    def power(x, w):
        return nf.voronoi(x, weights=w)

    assert is_native(power, SEEDS[0], weights[0])
    same(jax.jit(power)(SEEDS[0], weights[0]), power(SEEDS[0], weights[0]))
    same(jax.vmap(power)(SEEDS, weights), np.stack([power(x, w) for x, w in zip(SEEDS, weights)]))
    same(jax.vmap(power, (0, None))(SEEDS, weights[0]), np.stack([power(x, weights[0]) for x in SEEDS]))
    same(jax.vmap(power, (None, 0))(SEEDS[0], weights), np.stack([power(SEEDS[0], w) for w in weights]))


@needs_calls
@pytest.mark.parametrize("dtype", "bool int8 uint8 int16 uint16 int32 uint32 float16 float32".split())
def test_types(dtype):
    image = SEEDS[0].astype(dtype)
    same(jax.jit(nf.distance_transform)(image), nf.distance_transform(image))
    same(jax.jit(nf.label)(image), nf.label(image))
    for call in (lambda x: nf.voronoi(x, return_labels=True), lambda x: nf.label(x, criterion="equal")):
        same(jax.jit(call)(image), call(image))


@needs_calls
def test_64_bits():
    image = SEEDS[0].astype(np.uint64) + np.uint64(2**63)
    with jax.enable_x64(True):
        for call in (
            lambda x: nf.label(x, criterion="equal", background=2**63),
            lambda x: nf.label(x, criterion="equal", background=2**64 - 1, dtype="int64"),
            lambda x: nf.distance_transform(x > np.uint64(2**63), return_indices="linear", dtype="float64"),
            lambda x: nf.voronoi(x > np.uint64(2**63), weights=x % 7, return_distances=True),
        ):
            same(jax.jit(call)(image), call(image))
            both = np.stack([image, image[::-1]])
            same(jax.vmap(call)(both), stacked(call, both))


@needs_calls
def test_empty_and_thin():
    for shape in ((0, 3), (3, 0), (1, 1), (1, 5)):
        image = np.ones(shape, bool)
        for call in (lambda x: nf.distance_transform(x, return_indices=True), nf.label):
            same(jax.jit(call)(image), call(image))
            same(jax.vmap(call)(np.ones((2, *shape), bool)), stacked(call, np.ones((2, *shape), bool)))
    assert jax.vmap(nf.distance_transform)(np.ones((0, 3, 4), bool)).shape == (0, 3, 4)
    image = np.ones((1,) * 7 + (3,), bool)
    same(jax.jit(nf.distance_transform)(image), nf.distance_transform(image))
    same(jax.vmap(nf.distance_transform)(image[None]), nf.distance_transform(image)[None])


@needs_calls
def test_what_goes_by_callbacks():
    image = IMAGE[0]
    told = []
    for call in (
        lambda x: nf.distance_transform(x, method="banding"),
        lambda x: nf.distance_transform(x, progress=told.append),
        lambda x: nf.distance_transform(x, device="cpu"),
        lambda x: nf.label(x, method="propagation"),
        lambda x: nf.label(x, progress=told.append),
        lambda x: nf.label(x, device="cpu"),
    ):
        assert "callback" in jax.jit(call).lower(image).as_text()


@needs_calls
def test_errors_of_a_run_are_xlas_with_our_words():
    image = np.indices((700, 700)).sum(0) % 2
    with pytest.raises(Exception, match="uint16"):
        jax.block_until_ready(jax.jit(lambda x: nf.label(x, dtype="uint16"))(image))


@needs_calls
def test_gradients_are_zero_and_pass_beside():
    x = jnp.asarray(RANDOM.random((5, 6)), "float32")
    grad = jax.grad(lambda x: (nf.distance_transform(x > 0.5) * x).sum())(x)
    same(grad, nf.distance_transform(np.asarray(x) > 0.5))
    assert not jax.grad(lambda x: nf.distance_transform(x).sum())(x).any()


SHARDED = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, numpy as np, nearfield as nf
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices("cpu")), ("images",))
images = np.random.default_rng(1).random((8, 9, 10)) < 0.9
apart = jax.device_put(images, NamedSharding(mesh, P("images")))
for call in (
    lambda x: nf.distance_transform(x, batch_axes=1, spacing=(1, 2)),
    jax.vmap(lambda x: nf.distance_transform(x, return_indices=True)),
    lambda x: nf.voronoi(~x, batch_axes=1, return_indices=False, return_distances=True),
    lambda x: nf.label(x, batch_axes=1),
    jax.vmap(nf.label),
):
    shard_map = getattr(jax, "shard_map", None) or __import__("jax.experimental.shard_map", fromlist=["x"]).shard_map
    out = P("images")
    if isinstance(call(jax.numpy.asarray(images)), tuple):
        out = (out, out)
    each = jax.jit(shard_map(call, mesh=mesh, in_specs=P("images"), out_specs=out))
    assert "@nearfield_" in each.lower(apart).as_text()
    assert "all-gather" not in each.lower(apart).compile().as_text()
    wanted = call(jax.numpy.asarray(images))
    for came in (each(apart), jax.jit(call)(apart)):
        for one, other in zip(jax.tree.leaves(came), jax.tree.leaves(wanted)):
            np.testing.assert_array_equal(one, other)
"""


@needs_calls
def test_shard_map():
    subprocess.run([sys.executable, "-W", "error::DeprecationWarning", "-c", SHARDED], check=True)


LOADED = """
import sys, jax, jax.export, numpy as np, nearfield.jax
with open(sys.argv[1], "rb") as file:
    call = jax.export.deserialize(bytearray(file.read())).call
print(call(np.arange(8.0, dtype="f4") != 0)[7])
"""


@needs_calls
def test_saved_programs_are_loaded_elsewhere(tmp_path):
    pytest.importorskip("flatbuffers")
    from jax import export

    allowed = [export.DisabledSafetyCheck.custom_call("nearfield_fields")]
    program = export.export(jax.jit(nf.distance_transform), disabled_checks=allowed)(np.ones(8, bool))
    (tmp_path / "program").write_bytes(program.serialize())
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, tmp_path / "program"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "7.0\n"


# The structures of jaxlib's header that ours are, and their members, where ours are called otherwise after a colon.
THEIRS = {
    "extension": ("Extension_Base", "struct_size type next"),
    "version": ("Api_Version", "struct_size extension_start:extensions major_version:major minor_version:minor"),
    "text": ("ByteSpan", "ptr:data len:size"),
    "scalar": ("Scalar", "dtype:type value"),
    "array": ("Array", "dtype:type size data"),
    "buffer": ("Buffer", "struct_size extension_start:extensions dtype:type data rank dims:sizes"),
    "buffers": ("Args", "struct_size extension_start:extensions size types args:items"),
    "attributes": ("Attrs", "struct_size extension_start:extensions size types names attrs:items"),
    "new_error": ("Error_Create_Args", "struct_size extension_start:extensions message errc:code"),
    "get_stream": ("Stream_Get_Args", "struct_size extension_start:extensions ctx:context stream"),
    "functions": (
        "Api",
        "struct_size extension_start:extensions api_version:version internal_api:internal "
        "XLA_FFI_Error_Create:create_error XLA_FFI_Error_GetMessage:error_message "
        "XLA_FFI_Error_Destroy:destroy_error XLA_FFI_Handler_Register:register_handler XLA_FFI_Stream_Get:stream",
    ),
    "call": (
        "CallFrame",
        "struct_size extension_start:extensions api:functions ctx:context stage args:arguments rets:results "
        "attrs:attributes",
    ),
    "metadata": ("Metadata", "struct_size api_version:version traits"),
    "metadata_extension": ("Metadata_Extension", "extension_base:base metadata"),
}
# Numbers of jaxlib's header.
NUMBERS = {
    "extension_metadata": "Extension_Metadata",
    "attribute_array": "AttrType_ARRAY",
    "attribute_scalar": "AttrType_SCALAR",
    "attribute_text": "AttrType_STRING",
    "cancelled": "Error_Code_CANCELLED",
    "invalid_argument": "Error_Code_INVALID_ARGUMENT",
    "resource_exhausted": "Error_Code_RESOURCE_EXHAUSTED",
    "internal": "Error_Code_INTERNAL",
}
# What jaxlib 0.11 renamed, and left where it was.
RENAMED = {
    "XLA_FFI_Extension_Base": "XLA_FFI_InternalExtension",
    "XLA_FFI_Error_GetMessage": "XLA_FFI_Error_GetDetails",
}
TYPES = "PRED S8 U8 S16 U16 S32 U32 S64 U64 F16 F32 F64".split()


def test_the_interface_is_jaxlibs(tmp_path):
    """What python/xla_ffi.hpp declares lies in memory where jaxlib's own header has it."""
    compiler = shutil.which("c++") or shutil.which("g++")
    ours = Path(__file__).parents[2] / "python" / "xla_ffi.hpp"
    if compiler is None or not hasattr(jax, "ffi") or not ours.is_file():
        pytest.skip("needs a compiler, the sources and jax.ffi")
    lines = ['#include "xla_ffi.hpp"', '#include "xla/ffi/api/c_api.h"', "namespace x = nearfield::python::xla;"]
    for name, (their, members) in THEIRS.items():
        for each in members.split():
            member, _, mine = each.partition(":")
            offsets = f"offsetof(x::{name}, {mine or member}) == offsetof(XLA_FFI_{their}, {member})"
            lines.append(f'static_assert({offsets}, "{name}.{member}");')
    lines += [f"static_assert(x::{mine} == XLA_FFI_{their});" for mine, their in NUMBERS.items()]
    lines += [f"static_assert(x::types[{k}] == XLA_FFI_DataType_{name});" for k, name in enumerate(TYPES)]
    lines.append("static_assert(XLA_FFI_API_MAJOR == 0);")
    source, header = "\n".join(lines) + "\n", Path(jax.ffi.include_dir(), "xla/ffi/api/c_api.h").read_text()
    for old, new in RENAMED.items():
        source = source if old in header else source.replace(old, new)
    (tmp_path / "same.cpp").write_text(source)
    include = [f"-I{jax.ffi.include_dir()}", f"-I{ours.parent}"]
    checked = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", *include, str(tmp_path / "same.cpp")], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
