"""The command line out of core: `nearfield distance|voronoi|label` of files of Zarr, or with --memory."""

from __future__ import annotations

import json
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
    run("voronoi", source, "-o", tmp_path / "g.zarr", "--coordinates", "--trust", tmp_path / "j.npy", "-q")
    trusted = nf.voronoi(seeds, return_indices=False, return_trusted=True)
    np.testing.assert_array_equal(np.load(tmp_path / "j.npy"), trusted)
    made = zarr.open_array(str(tmp_path / "g.zarr"))
    assert made.chunks == (1, *seeds.shape)
    np.testing.assert_array_equal(made[:], nf.voronoi(seeds))
    run("distance", source, "-o", tmp_path / "h.npy", "--indices", tmp_path / "i.npy", "--coordinates", "--memory=1GB")
    np.testing.assert_array_equal(np.load(tmp_path / "i.npy"), nf.distance_transform(seeds, return_indices=True)[1])
    said = run("label", source, "-o", tmp_path / "f.zarr", "--connectivity", 3, "--border", "open,periodic,open")
    wanted, count = nf.label(seeds, connectivity=3, periodic=(False, True, False), return_num=True)
    assert said.stdout == f"{count} components\n"
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path / "f.zarr"))[:], wanted)


def test_errors(tmp_path, seeds):
    target = tmp_path / "b.npy"
    for words, code, text in (
        (("distance", tmp_path / "no.npy", "-o", target, "--memory", "1GB"), 3, "does not exist"),
        (("distance", tmp_path / "a.npy", "-o", target, "--memory", "1MB"), 2, "does not fit"),
        (("distance", tmp_path / "a.npy", "-o", target, "--memory", "1GB", "--coordinates"), 2, "give --indices FILE"),
        (("label", tmp_path / "a.npy", "-o", target, "--memory", "1GB", "--picture", "x.png"), 2, "--picture"),
        (("label", tmp_path / "a.npy", "-o", target, "--memory", "1GB", "--border", "closed"), 2, "open or periodic"),
    ):
        made = run(*words, code=code)
        assert text in made.stderr and made.stdout == "" and "Traceback" not in made.stderr
        said = json.loads(run(*words, "--json", code=code).stdout)
        assert (said["verb"], said["error"]["status"]) == (words[0], code) and text in said["error"]["message"]


def test_a_report_is_json(tmp_path, seeds):
    words = ("label", tmp_path / "a.npy", "-o", tmp_path / "b.npy", "--memory", "1GB", "--json")
    said = json.loads(run(*words).stdout)
    assert said == {"nearfield": nf.__version__, "verb": "label", "components": nf.label(seeds, return_num=True)[1]}


def test_other_calls_go_to_the_program():
    from nearfield._cli import is_out_of_core

    assert not is_out_of_core(["distance", "a.npy", "-o", "b.npy"])
    assert not is_out_of_core(["sample", "blobs", "-o", "a.zarr"])
    assert is_out_of_core(["distance", "a.zarr/0", "-o", "b.npy"])
    assert is_out_of_core(["label", "a.npy", "-o", "b.npy", "--memory", "1GB"])


PLACE = (33550, 33922, 34735, 34737)
METRES = (1, 1, 0, 4, 1024, 0, 1, 1, 1026, 34737, 7, 0, 3072, 0, 1, 32633, 3076, 0, 1, 9001)
DEGREES = (1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4326)


def raster(path, cells, keys=METRES, none=None, **how):
    tifffile = pytest.importorskip("tifffile")
    tie = (0.0, 0.0, 0.0, 500000.0, 4649760.0, 0.0)
    tags = [(33550, "d", 3, (30.0, 20.0, 0.0)), (33922, "d", 6, tie), (34735, "H", len(keys), keys)]
    tags += [(34737, "s", 0, "WGS 84|")] + [(42113, "s", 0, none)] * (none is not None)
    tags = [(*tag, True) for tag in tags]
    tifffile.imwrite(path, cells, extratags=tags, photometric="minisblack", metadata=None, **how)


def tags_of(path):
    import tifffile

    with tifffile.TiffFile(path) as file:
        return {tag.code: tag.value for tag in file.pages[0].tags if tag.code in (*PLACE, 42113)}


@pytest.mark.parametrize("how", [{}, {"bigtiff": True, "byteorder": ">"}, {"compression": "zlib", "tile": (16, 16)}])
def test_the_answer_lies_where_the_raster_lies(tmp_path, how):
    tifffile = pytest.importorskip("tifffile")
    pytest.importorskip("zarr")
    cells = (np.random.default_rng(4).random((50, 60)) < 0.97).astype(np.uint8)
    source, target = tmp_path / "a.tif", tmp_path / "b.tif"
    raster(source, cells, **how)
    wanted = nf.distance_transform(cells, spacing=(20, 30))
    for memory in (["--memory", "1GB"], []):
        said = run("distance", source, "-o", target, *memory).stderr
        np.testing.assert_array_equal(tifffile.imread(target), wanted)
        assert tags_of(target) == {**tags_of(source), 42113: "inf"}
        assert not memory or f"spacing 20 x 30 m, of {source}\n" in said
        run("label", source, "-o", target, *memory)
        assert tags_of(target) == tags_of(source)
    told = run("info", source).stdout
    assert "20 x 30 m\n" in told and "projected, EPSG 32633, column 0 and row 0 at 500000, 4649760\n" in told
    assert told == run("info", source).stdout


def test_rasters_in_degrees_are_counted_in_cells(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    cells = (np.random.default_rng(4).random((50, 60)) < 0.97).astype(np.uint8)
    source, target = tmp_path / "a.tif", tmp_path / "b.tif"
    raster(source, cells, DEGREES)
    for memory in (["--memory", "1GB"], []):
        said = run("distance", source, "-o", target, *memory).stderr
        np.testing.assert_array_equal(tifffile.imread(target), nf.distance_transform(cells))
        assert not memory or "in degrees" in said
    assert "in degrees, EPSG 4326" in run("info", source).stdout
    raster(source, cells, METRES[:-4] + (3076, 0, 1, 9999))
    assert "in a unit that it does not name" in run("distance", source, "-o", target, "--memory", "1GB").stderr


@pytest.mark.parametrize(
    "kind, none", [("uint8", "9"), ("int16", "-9999"), ("float32", "-3.40282346638529e+38"), ("float32", "nan")]
)
def test_cells_without_data_take_no_part(tmp_path, kind, none):
    tifffile = pytest.importorskip("tifffile")
    random = np.random.default_rng(5)
    part = random.random((50, 60)) < 0.8
    cells = np.where(part, random.random((50, 60)) < 0.97, np.array(float(none), kind)).astype(kind)
    source, target = tmp_path / "a.tif", tmp_path / "b.tif"
    raster(source, cells, none=none)
    wanted = nf.distance_transform(cells, spacing=(20, 30), where=part)
    for memory in (["--memory", "1GB"], ["--memory", "1GB", "--max-distance", "1e4"], []):
        run("distance", source, "-o", target, "--where", "nodata", *memory)
        np.testing.assert_array_equal(tifffile.imread(target), wanted)
    np.save(tmp_path / "part.npy", part)
    run("voronoi", source, "--labels", target, "--where", tmp_path / "part.npy", "--memory", "1GB", "-q")
    grown = nf.expand_labels(cells, None, (20, 30), where=part)
    np.testing.assert_array_equal(tifffile.imread(target), grown)
    raster(source, cells)
    for memory in (["--memory", "1GB"], []):
        said = run("distance", source, "-o", target, "--where", "nodata", *memory, code=2).stderr
        assert "names no value" in said
