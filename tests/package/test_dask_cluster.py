"""Grids of dask arrays on two processes that have less memory than the grid, and of which one is killed."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

import nearfield as nf

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
nfd = pytest.importorskip("nearfield.dask")
zarr = pytest.importorskip("zarr")

LIMIT = 400_000_000  #: bytes that a worker may take


def dots(block_info=None):
    """A block of ones with a thousandth zeros, the same whenever it is asked for."""
    place = block_info[None]
    block = np.ones(place["chunk-shape"], place["dtype"])
    random = np.random.default_rng(place["chunk-location"])
    block.ravel()[random.integers(0, block.size, block.size // 1000)] = 0
    return block


def equal(file, wanted):
    made = zarr.open_array(str(file), mode="r")
    assert made.shape == wanted.shape and made.dtype == wanted.dtype
    return all(np.array_equal(made[k : k + 40], wanted[k : k + 40]) for k in range(0, len(wanted), 40))


def test_a_grid_of_three_times_the_memory_of_a_worker(tmp_path):
    shape, sides = (560, 520, 520), ((80,) * 7, (104,) * 5, (130,) * 4)
    image = da.map_blocks(dots, dtype="int64", chunks=sides, meta=np.empty((0, 0, 0), np.int64))
    assert image.nbytes > 3 * LIMIT
    how = dict(n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None)
    with (
        dask.config.set({"array.chunk-size": "8MiB"}),
        distributed.LocalCluster(**how) as on,
        distributed.Client(on) as client,
    ):
        ids = client.run(os.getpid)
        away = nfd.distance_transform(image, scratch=str(tmp_path / "between.zarr"), try_within=0)
        da.to_zarr(away, str(tmp_path / "away.zarr"))
        da.to_zarr(nfd.distance_transform(image, max_distance=6), str(tmp_path / "near.zarr"))
        da.to_zarr(nfd.label(image == 0, connectivity=3), str(tmp_path / "parts.zarr"))
        assert client.run(os.getpid) == ids, "no worker took too much and was started anew"
    with dask.config.set(scheduler="synchronous"):
        whole = image.astype("uint8").compute()
    assert whole.shape == shape
    assert equal(tmp_path / "away.zarr", nf.distance_transform(whole))
    assert equal(tmp_path / "near.zarr", nf.distance_transform(whole, max_distance=6))
    assert equal(tmp_path / "parts.zarr", nf.label(whole == 0, connectivity=3, dtype="int32"))


def slowly(block):
    time.sleep(0.1)
    return block


def test_a_worker_that_is_killed():
    image = np.random.default_rng(6).random((64, 80, 96)) < 0.999
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as on,
        distributed.Client(on) as client,
        dask.config.set({"scheduler": "distributed", "array.chunk-size": "200kB"}),
    ):
        lazy = da.from_array(image, chunks=(8, 40, 48)).map_blocks(slowly)
        for call, wanted in (
            (lambda: nfd.distance_transform(lazy), nf.distance_transform(image)),
            (lambda: nfd.distance_transform(lazy, try_within=30), nf.distance_transform(image)),
            (lambda: nfd.label(~lazy, connectivity=3), nf.label(~image, connectivity=3)),
        ):
            before = client.run(os.getpid)
            future = client.compute(call())
            time.sleep(1)
            assert not future.done()
            os.kill(next(iter(before.values())), signal.SIGKILL)
            np.testing.assert_array_equal(future.result(), wanted)
            assert client.run(os.getpid) != before
