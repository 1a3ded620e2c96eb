"""Chunks on a GPU have the bits of the CPU: with CuPy where there is a GPU, elsewhere with a stand-in for CuPy."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import nearfield as nf
from cupy_stand_in import stand_in
from nearfield import _chunk_classes, chunks, outofcore

CALLS = [
    {},
    {"squared": True, "spacing": (2, 1, 3)},
    {"spacing": (1 / 3, 0.1234567, 0.7182818), "dtype": "float64"},
    {"border": ("closed", "periodic", "closed"), "spacing": 2.5},
    {"border": "periodic", "max_distance": 4.5, "dtype": "float16"},
    {"max_distance": 3.2, "spacing": (0.7, 2.5, 0.7)},
]


@pytest.fixture(params=["stand-in", "gpu"])
def gpu(request):
    """CuPy, or what takes its place."""
    if request.param == "gpu":
        if not nf.devices():
            pytest.skip(f"no GPU: {nf.info().why_no_device}")
        yield pytest.importorskip("cupy")
    elif nf.devices():
        pytest.skip("CuPy itself is there")
    else:
        with stand_in() as cupy:
            yield cupy


def image(shape=(23, 17, 29), density=0.02):
    return (np.random.default_rng(9).random(shape) < density) * np.uint8(7)


@pytest.mark.parametrize("how", CALLS, ids=str)
def test_steps(gpu, how):
    seeds = image()
    limit, dtype, squared = how.get("max_distance", np.inf), how.get("dtype", "float32"), how.get("squared", False)
    grid = chunks.grid(seeds.shape, spacing=how.get("spacing"), border=how.get("border", "open"), sites=True)
    slabs = [chunks.planes(grid, gpu.asarray(seeds[k : k + 7]), k, "nonzero", labels=True) for k in range(0, 23, 7)]
    between = chunks.Partial(*(gpu.concatenate(list(each)) for each in zip(*slabs, strict=True)))
    made = chunks.lines(grid, between, (0, 0, 0), limit=limit)
    away, near = nf.distance_transform(seeds, sites="nonzero", return_indices="linear", **how)
    cells = nf.voronoi(
        seeds, return_indices=False, return_labels=True, **{k: how[k] for k in how if k not in ("squared", "dtype")}
    )
    np.testing.assert_array_equal(chunks.distance(grid, made.squared, away.dtype, squared=squared).get(), away)
    np.testing.assert_array_equal(made.index.get(), near)
    np.testing.assert_array_equal(made.label.get(), cells)
    assert np.dtype(dtype) == away.dtype or squared


@pytest.mark.parametrize("how", CALLS, ids=str)
def test_out_of_core(gpu, tmp_path, how):
    seeds = image((40, 37, 50), 0.002)
    np.save(tmp_path / "a.npy", seeds)
    files = {name: tmp_path / f"{name}.npy" for name in ("target", "coordinates", "trusted")}
    outofcore.distance_transform(tmp_path / "a.npy", **files, sites="nonzero", memory="8GB", **how)
    wanted = nf.distance_transform(seeds, sites="nonzero", return_indices=True, return_trusted=True, **how)
    for name, field in zip(files, wanted, strict=True):
        made = np.load(files[name])
        assert made.dtype == field.dtype
        np.testing.assert_array_equal(made, field)
    how = {k: how[k] for k in how if k not in ("squared", "dtype")}
    outofcore.voronoi(tmp_path / "a.npy", None, labels=tmp_path / "l.npy", memory="8GB", **how)
    wanted = nf.voronoi(seeds, return_indices=False, return_labels=True, **how)
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), wanted)


OF_CLASSES = [
    {"signed": True},
    {"signed": "outside", "spacing": (2, 1, 3), "border": ("open", "periodic", "closed")},
    {"signed": True, "half_cell": True, "border": "periodic", "max_distance": 3.4},
    {"multilabel": True},
    {"multilabel": True, "spacing": (0.1234567, 0.7182818, 1 / 3), "dtype": "float64"},
    {"multilabel": True, "signed": True, "border": ("periodic", "closed", "periodic")},
    {"multilabel": True, "half_cell": True, "squared": True, "border": "periodic"},
]


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("how", OF_CLASSES, ids=str)
def test_distances_to_other_classes(gpu, tmp_path, how, part):
    """The CPU computes none of these out of core."""
    labels = np.random.default_rng(3).integers(0, 4, (20, 6, 9)).repeat(2, 0).repeat(4, 1).repeat(3, 2)[:, :23, :25]
    np.save(tmp_path / "a.npy", labels.astype(np.uint16))
    how = {**how, "where": image(labels.shape, 0.8) != 0} if part else how

    def space_of(x):
        assert type(x) is gpu.ndarray
        return gpu

    with mock.patch.object(_chunk_classes, "space_of", space_of):
        to = tmp_path / "away.npy"
        outofcore.distance_transform(tmp_path / "a.npy", to, indices=tmp_path / "at.npy", memory="8GB", **how)
    away, near = nf.distance_transform(labels.astype(np.uint16), return_indices="linear", **how)
    np.testing.assert_array_equal(np.load(to), away)
    np.testing.assert_array_equal(np.load(tmp_path / "at.npy"), near)


@pytest.mark.parametrize("how", [{}, {"max_distance": 4, "signed": True}, {"half_cell": True}], ids=str)
def test_cells_that_take_no_part(gpu, tmp_path, how):
    seeds, where = image((40, 37, 50), 0.002), image((40, 37, 50), 0.8) != 0
    np.save(tmp_path / "a.npy", seeds)
    how = dict(how, where=where, sites="nonzero")
    outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "away.npy", memory="8GB", **how)
    np.testing.assert_array_equal(np.load(tmp_path / "away.npy"), nf.distance_transform(seeds, **how))


def test_dask(gpu, tmp_path):
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    nfd = pytest.importorskip("nearfield.dask")
    seeds = image()
    lazy = da.from_array(gpu.asarray(seeds), chunks=(9, 8, 10), asarray=False)
    calls = {
        "distance_transform": [
            {"return_indices": True},
            {"max_distance": 4, "return_indices": True},
            {"border": "closed"},
            {"signed": True, "return_indices": True},
            {"half_cell": True, "where": seeds < 8},
            {"max_distance": 4, "where": seeds < 8, "return_trusted": True},
            {"multilabel": True, "where": image((23, 17, 29), 0.8) != 0, "return_trusted": True},
            {"return_trusted": True},
        ],
        "voronoi": [{"return_labels": True, "spacing": (2, 1, 0.5)}],
        "label": [{"connectivity": 3}],
    }
    with dask.config.set(scheduler="synchronous"):
        for name, hows in calls.items():
            for how in hows:
                made, wanted = getattr(nfd, name)(lazy, **how), getattr(nf, name)(seeds, **how)
                several = isinstance(made, tuple)
                for one, other in zip(made if several else (made,), wanted if several else (wanted,), strict=True):
                    block = one.compute()
                    assert type(block) is gpu.ndarray and block.dtype == other.dtype
                    np.testing.assert_array_equal(block.get(), other)
        pytest.importorskip("zarr")
        made = nfd.distance_transform(lazy, scratch=str(tmp_path / "between.zarr")).compute()
    np.testing.assert_array_equal(made.get(), nf.distance_transform(seeds))


def test_dask_on_a_cluster(gpu):
    """Clusters change chunks by a transfer that reads blocks as bytes of the host, if they may."""
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    nfd = pytest.importorskip("nearfield.dask")
    seeds = image()
    lazy = da.from_array(gpu.asarray(seeds), chunks=(9, 8, 10), asarray=False)
    how = {"array.rechunk.method": "p2p", "array.chunk-size": "20kB"}
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
    with cluster, distributed.Client(cluster), dask.config.set(how):
        made = [nfd.distance_transform(lazy, max_distance=limit).compute() for limit in (None, 12)]
        parts = nfd.label(lazy, connectivity=3).compute()
    for limit, field in zip((None, 12), made, strict=True):
        np.testing.assert_array_equal(field.get(), nf.distance_transform(seeds, max_distance=limit))
    np.testing.assert_array_equal(parts.get(), nf.label(seeds, connectivity=3))


def test_where_there_is_none(tmp_path):
    if nf.devices():
        pytest.skip("there is a GPU")
    np.save(tmp_path / "a.npy", image())
    with pytest.raises(ValueError, match="need a GPU and the package cupy"):
        outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "b.npy", device="cuda")
    outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "b.npy", device="cpu")
