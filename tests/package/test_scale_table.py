"""Every cell of the table in docs/scale.md: what a driver of chunks takes has the bits of the whole grid."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from nearfield import outofcore

da = pytest.importorskip("dask.array")
nfd = pytest.importorskip("nearfield.dask")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"
RANDOM = np.random.default_rng(8)
IMAGE = RANDOM.integers(0, 4, (12, 10)).astype(np.int32) * (RANDOM.random((12, 10)) < 0.7)
NAMES = {"part": RANDOM.random((12, 10)) < 0.8, "bounds": RANDOM.random((12, 10)), "weights": RANDOM.random((12, 10))}


def rows():
    table = PAGE.read_text().split("## What each way takes")[1].split("\n## ")[0]
    for line in re.findall(r"^\| `.*$", table, re.M):
        calls, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
        for name, words in re.findall(r"`(\w+)\((.*?)\)`", calls):
            yield name, words, cells


def in_dask(name, folder, words):
    made = getattr(nfd, name)(da.from_array(IMAGE, chunks=(5, 4)), **words)
    return [np.asarray(each) for each in made] if isinstance(made, tuple) and name != "components" else made


def from_file_to_file(name, folder, words):
    words, voronoi = dict(words), name == "voronoi"
    indices = words.pop("return_indices", voronoi)
    near = "coordinates" if indices is True else "target" if voronoi else "indices"
    wanted = [] if voronoi else ["target"]
    wanted += [near] if indices else []
    wanted += [w for w in ("labels", "distances") if voronoi and words.pop(f"return_{w}", False)]
    wanted += ["trusted"] if words.pop("return_trusted", False) else []
    np.save(folder / "source.npy", IMAGE)
    targets = {w: folder / f"{w}.npy" for w in wanted}
    made = getattr(outofcore, name)(folder / "source.npy", **{"target": None, **targets}, **words)
    fields = [np.load(path) for path in targets.values()]
    return (fields[0], made) if name == "components" else fields


def same(made, wanted):
    if isinstance(wanted, nf.Components):
        labels, table = made if isinstance(made, tuple) else (made.labels, made.table)
        assert table == wanted.table
        return same(labels, wanted.labels.astype("int32"))
    made, wanted = (list(each) if isinstance(each, list | tuple) else [each] for each in (made, wanted))
    for one, other in zip(made, wanted, strict=True):
        one = np.asarray(one)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name, words, cells", list(rows()), ids=lambda each: str(each))
def test_what_each_way_takes(tmp_path, name, words, cells):
    given = eval(f"dict({words})", NAMES)
    whole = IMAGE != 0 if name == "local_thickness" else IMAGE
    wanted = getattr(nf, name)(whole, **given)
    for call, cell in zip((in_dask, from_file_to_file), cells, strict=True):
        if cell == "yes":
            same(call(name, tmp_path, given), wanted)
        else:
            with pytest.raises((AttributeError, TypeError, ValueError)):
                call(name, tmp_path, given)


def test_the_table_is_found():
    assert len(list(rows())) > 30 and {cell for *_, cells in rows() for cell in cells} == {"yes", "no"}
