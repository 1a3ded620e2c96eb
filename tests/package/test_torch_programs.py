"""Calls within programs of PyTorch: one operator of the graph, whoever traces, and in the workers of a DataLoader."""

import subprocess
import sys

import numpy as np
import pytest

import nearfield as nf

torch = pytest.importorskip("torch")
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

IMAGE = torch.rand((5, 6, 7), generator=torch.Generator().manual_seed(1)) > 0.1
CALLS = {
    "distances": lambda x: nf.distance_transform(x, return_indices=True, spacing=(1, 2, 3)),
    "squared": lambda x: nf.distance_transform(x, squared=True),
    "voronoi": lambda x: nf.voronoi(x, return_labels=True, return_distances=True),
    "power": lambda x: nf.voronoi(x, weights=x * 2, return_distances=True),
    "label": lambda x: nf.label(x, connectivity=2, periodic=(True, False, True)),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


class Model(torch.nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, x):
        return self.call(x)


def leaves(answer):
    return list(answer) if isinstance(answer, tuple | list) else [answer]


def same(came, wanted):
    came, wanted = leaves(came), leaves(wanted)
    assert len(came) == len(wanted)
    for one, other in zip(came, wanted):
        assert one.dtype == other.dtype and torch.equal(one, other)


@every_call
def test_compile(call):
    same(torch.compile(call, fullgraph=True, backend="aot_eager")(IMAGE), call(IMAGE))
    torch.compiler.reset()


@every_call
def test_compile_for_any_shape(call):
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager", dynamic=True)
    for image in (IMAGE, IMAGE[:, :4], IMAGE[1:]):
        same(compiled(image), call(image))
    torch.compiler.reset()


@every_call
@pytest.mark.parametrize("strict", [False, True])
def test_export(call, strict):
    program = torch.export.export(Model(call), (IMAGE,), strict=strict)
    assert "torch.ops.nearfield" in program.graph_module.code
    same(program.module()(~IMAGE), call(~IMAGE))
    torch.compiler.reset()


LOADED = """
import sys, torch, nearfield.torch
print(torch.export.load(sys.argv[1]).module()(torch.ones(5, 6, 7, dtype=torch.bool)).max().item())
"""


def test_saved_programs_are_loaded_elsewhere(tmp_path):
    torch.export.save(torch.export.export(Model(nf.label), (IMAGE,)), tmp_path / "label.pt2")
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, tmp_path / "label.pt2"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "1\n"


@every_call
@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_make_fx(call, mode):
    same(make_fx(call, tracing_mode=mode)(IMAGE)(~IMAGE), call(~IMAGE))


@every_call
def test_fake_tensors_have_the_shapes_and_types(call):
    wanted = [(each.shape, each.dtype, each.device) for each in leaves(call(IMAGE))]
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        for image in (mode.from_tensor(IMAGE), IMAGE):
            assert [(each.shape, each.dtype, each.device) for each in leaves(call(image))] == wanted
    with pytest.raises(TypeError, match="is traced by PyTorch"):
        nf.components(mode.from_tensor(IMAGE))


@every_call
def test_traced_by_torchscript(call):
    with pytest.warns(Warning):
        traced = torch.jit.trace(call, (IMAGE,), check_trace=False)
    same(traced(~IMAGE), call(~IMAGE))


@every_call
def test_autocast_changes_nothing(call):
    wanted = call(IMAGE)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype):
            same(call(IMAGE), wanted)
            same(torch.compile(call, fullgraph=True, backend="aot_eager")(IMAGE), wanted)
    torch.compiler.reset()


def test_operators_are_well_formed():
    from nearfield import _torch

    weights = torch.rand(IMAGE.shape)
    words = ("none", False, "open", float("inf"), 0, "", 0)
    for given in (None, weights):
        asked = (IMAGE, given, "coordinates:int32,index:int64", [1.0, 2.0, 3.0], "nonzero", *words)
        torch.library.opcheck(_torch._compute, asked)
    torch.library.opcheck(_torch._compute, (IMAGE, None, "squared:narrowest", [], "zero", *words))
    for dtype in ("", "int64"):
        asked = (IMAGE, 2, "nonzero", "0", "maximum", False, [0], 0, [1, -1, -1], False, dtype, "", 0)
        torch.library.opcheck(_torch._label, asked)


class Distances(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, k):
        image = torch.from_numpy(np.random.default_rng(k).random((40, 50)) < 0.9)
        return nf.distance_transform(image), nf.label(image), image


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_a_loader(start):
    nf.distance_transform(np.ones((300, 300), bool))  # starts threads, which a fork does not copy
    loader = torch.utils.data.DataLoader(Distances(), batch_size=2, num_workers=2, multiprocessing_context=start)
    seen = 0
    for distance, labels, images in loader:
        same([distance, labels], [nf.distance_transform(images, batch_axes=1), nf.label(images, batch_axes=1)])
        seen += len(images)
    assert seen == 6
