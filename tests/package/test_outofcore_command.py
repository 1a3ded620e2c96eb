"""The command line out of core: `nearfield distance|voronoi|label` of files of Zarr, or with --memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import nearfield as nf


def run(*words, code=0):
    made = subprocess.run([sys.executable, "-m", "nearfield", *map(str, words)], capture_output=True, text=True)
    assert made.returncode == code, made.stderr
    return made


@pytest.fixture
def seeds(tmp_path):
    cells = (np.random.default_rng(4).random((30, 37, 40)) < 0.02).astype(np.uint8)
    np.save(tmp_path / "a.npy", cells)
    return cells


def test_three_verbs(tmp_path, seeds):
    zarr = pytest.importorskip("zarr")
    source, target = tmp_path / "a.npy", tmp_path / "b.zarr"
    run("distance", source, "-o", target, "--sites", "nonzero", "--spacing", "2,1,1", "--border", "closed")
    wanted = nf.distance_transform(seeds, sites="nonzero", spacing=(2, 1, 1), border="closed")
    np.testing.assert_array_equal(zarr.open_array(str(target))[:], wanted)
    made = run("distance", source, "-o", tmp_path / "c.npy", "--memory=500MB", "--max-distance", 3, "--multilabel")
    assert made.stdout == ""
    np.testing.assert_array_equal(
        np.load(tmp_path / "c.npy"), nf.distance_transform(seeds, max_distance=3, multilabel=True)
    )
    run("voronoi", source, "--labels", tmp_path / "d.zarr", "--distances", tmp_path / "e.npy", "--memory", "1GB", "-q")
    labels, away = nf.voronoi(seeds, return_indices=False, return_labels=True, return_distances=True)
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path / "d.zarr"))[:], labels)
    np.testing.assert_array_equal(np.load(tmp_path / "e.npy"), away)
    said = run("label", source, "-o", tmp_path / "f.zarr", "--connectivity", 3, "--border", "open,periodic,open")
    wanted, count = nf.label(seeds, connectivity=3, periodic=(False, True, False), return_num=True)
    assert said.stdout == f"{count} components\n"
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path / "f.zarr"))[:], wanted)


def test_errors(tmp_path, seeds):
    target = tmp_path / "b.npy"
    for words, code, text in (
        (("distance", tmp_path / "no.npy", "-o", target, "--memory", "1GB"), 3, "does not exist"),
        (("distance", tmp_path / "a.npy", "-o", target, "--memory", "1MB"), 2, "does not fit"),
        (("label", tmp_path / "a.npy", "-o", target, "--memory", "1GB", "--picture", "x.png"), 2, "--picture"),
        (("label", tmp_path / "a.npy", "-o", target, "--memory", "1GB", "--border", "closed"), 2, "open or periodic"),
    ):
        made = run(*words, code=code)
        assert text in made.stderr and made.stdout == "" and "Traceback" not in made.stderr


def test_other_calls_go_to_the_program():
    from nearfield._cli import is_out_of_core

    assert not is_out_of_core(["distance", "a.npy", "-o", "b.npy"])
    assert not is_out_of_core(["sample", "blobs", "-o", "a.zarr"])
    assert is_out_of_core(["distance", "a.zarr/0", "-o", "b.npy"])
    assert is_out_of_core(["label", "a.npy", "-o", "b.npy", "--memory", "1GB"])
