"""The table as an object: rows, equality, columns by name, CSV, pandas, notebooks; the command line's is the same."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf

IMAGE = np.random.default_rng(0).random((5, 30, 31)) < 0.35
VALUES = np.random.default_rng(1).normal(size=IMAGE.shape).astype(np.float32)
TABLE = nf.components(IMAGE[0], spacing=(2, 0.5), intensity=VALUES[0]).table
SHAPES = {4: (5, 6, 5, 31), 8: (5, 1, 2, 3, 5, 1, 31, 1)}  # as many cells as IMAGE has
PROGRAM = Path(nf.__file__).parent / "bin" / "nearfield"


def test_table_as_a_dictionary():
    table = nf.component_statistics([[1, 1, 0], [0, 2, 2]], spacing=(2, 0.5))
    columns = table.to_dict()
    assert list(columns) == [
        *("label", "size", "area", "start_0", "stop_0", "start_1", "stop_1"),
        *("centroid_0", "centroid_1", "border", "faces"),
    ]
    assert {len(each) for each in columns.values()} == {2}
    assert columns["centroid_1"].tolist() == [0.25, 0.75] and columns["border"].dtype == bool
    assert columns["area"].tolist() == table.extent.tolist() == [2.0, 2.0] and table.extent.dtype == np.float64
    assert list(table.to_dict(unit="um"))[2:8:5] == ["area_um2", "centroid_0_um"]
    with_values = nf.component_statistics([1, 2], intensity=np.array([3, 4], np.uint8)).to_dict(unit="mm")
    assert list(with_values)[2] == "length_mm"
    assert list(with_values)[-5:] == ["lowest", "highest", "sum", "mean", "variance"]
    assert with_values["lowest"].dtype == np.uint8 and with_values["sum"].dtype == np.int64
    for unit in ("\N{MICRO SIGN}m", "a,b", " ", 3):
        with pytest.raises(ValueError, match="give a word of letters and digits"):
            table.to_dict(unit=unit)


@pytest.mark.parametrize("axes", SHAPES)
def test_tables_of_many_axes(axes):
    table = nf.components(IMAGE.reshape(SHAPES[axes]), spacing=0.5).table
    names = ["label", "size", "extent", *(f"{end}_{axis}" for axis in range(axes) for end in ("start", "stop"))]
    names += [*(f"centroid_{axis}" for axis in range(axes)), "border", "faces"]
    columns = table.to_dict()
    assert list(columns) == names and columns["extent"].tolist() == (table.size * 0.5**axes).tolist()
    assert list(table.to_dict(unit="mm"))[2] == f"extent_mm{axes}"
    header, first = table.to_csv().splitlines()[:2]
    assert header == ",".join(names) and first.startswith(f"1,{table.size[0]},{table.extent[0]:.17g}")
    assert repr(table) == f"ComponentTable({len(table)} components: {', '.join(names)})"
    assert "<th>extent</th>" in table._repr_html_()


@pytest.mark.parametrize("axes", SHAPES)
def test_pandas_of_many_axes(axes):
    pytest.importorskip("pandas")
    table = nf.components(IMAGE.reshape(SHAPES[axes])).table
    assert list(table.to_pandas().columns) == list(table.to_dict())


def test_rows():
    row = TABLE[3]
    assert (row.label, row.size, row.extent) == (4, TABLE.size[3], TABLE.extent[3]) and type(row.size) is int
    assert row.centroid == TABLE.centroid[3].tolist() and row.slices == TABLE.slices()[3] and row.image is None
    assert TABLE[-1] == list(TABLE)[-1] == TABLE[np.int64(len(TABLE) - 1)] and len(list(TABLE)) == len(TABLE)
    large = TABLE[TABLE.size > 3]
    assert isinstance(large, nf.ComponentTable) and large.label.tolist() == [
        each.label for each in TABLE if each.size > 3
    ]
    assert TABLE[2:4].size.tolist() == TABLE.size[2:4].tolist() and len(TABLE[np.array([3])]) == 1
    for beyond in (len(TABLE), -len(TABLE) - 1):
        with pytest.raises(IndexError, match="of a table of"):
            TABLE[beyond]
    assert list(nf.components(np.zeros((3, 4))).table) == []
    assert nf.components(IMAGE, batch_axes=1).table[-1].image == 4


def test_equality():
    again = nf.components(IMAGE[0], spacing=(2, 0.5), intensity=VALUES[0]).table
    assert again == TABLE and again == TABLE and TABLE[:-1] != TABLE and TABLE != 3
    assert nf.components(IMAGE[0], spacing=(2, 0.5)).table != TABLE
    assert replace(TABLE, spacing=(2.0, 1.0)) != TABLE
    for other in (np.array([1]), np.zeros(len(TABLE)), np.float32(1)):
        assert other != TABLE and other != TABLE and other != TABLE and other != TABLE
    empty = nf.component_statistics([1, 3])
    assert np.isnan(empty.centroid[1]).all() and empty == nf.component_statistics([1, 3])


def test_what_is_shown():
    assert (
        repr(TABLE).startswith(f"ComponentTable({len(TABLE)} components: label, size, area, start_0")
        and len(repr(TABLE)) < 200
    )
    page = TABLE._repr_html_()
    assert page.count("<tr>") == 11 and "<th>area</th>" in page and f"and {len(TABLE) - 10} more" in page
    assert TABLE[:2]._repr_html_().count("<tr>") == 3


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = TABLE.to_pandas(unit="mm")
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(TABLE.to_dict(unit="mm"))
    np.testing.assert_array_equal(frame["area_mm2"], TABLE.extent)
    assert frame["border"].dtype == bool and frame["size"].dtype == np.int64


@pytest.mark.parametrize("kind", ["torch", "array_api_strict", "jax"])
def test_tables_of_other_frameworks(kind):
    space = pytest.importorskip(kind)
    images, values = IMAGE[0], VALUES[0].astype(np.float64)
    wanted = nf.components(images, spacing=(1, 1), intensity=values).table
    if kind == "jax":
        with space.enable_x64(True):
            same_as(
                wanted,
                nf.components(space.numpy.asarray(images), spacing=1, intensity=space.numpy.asarray(values)).table,
            )
    else:
        of = space.from_numpy if kind == "torch" else space.asarray
        same_as(wanted, nf.components(of(images), spacing=1, intensity=of(values)).table)


def same_as(wanted, table):
    assert table == wanted and wanted == table and list(table) == list(wanted) and table[1] == wanted[1]
    assert table.to_csv() == wanted.to_csv() and "float64" in str(table.extent.dtype)
    assert table.slices() == wanted.slices() and table[2:5] == wanted[2:5]


@pytest.mark.parametrize(("axes", "batch"), [(1, 0), (2, 0), (3, 0), (4, 0), (8, 0), (1, 1), (2, 1), (3, 1), (4, 1)])
def test_csv_is_the_command_lines(tmp_path, axes, batch):
    program = PROGRAM if PROGRAM.is_file() else shutil.which("nearfield")
    if program is None:
        pytest.skip("there is no command line here")
    if axes in SHAPES:
        image, values = IMAGE.reshape(SHAPES[axes]), VALUES.reshape(SHAPES[axes]).copy()
    else:
        image, values = (np.ascontiguousarray(each[(0,) * (3 - axes)]) for each in (IMAGE, VALUES))
    if batch:
        image, values = np.stack([image, ~image]), np.stack([values, values * 1e30])
    np.save(tmp_path / "image.npy", image.astype(np.uint8))
    values.flat[np.flatnonzero(image)[0]] = np.nan
    np.save(tmp_path / "values.npy", values)
    spacing = (2.5, 0.3, 1, 0.5, 2, 1, 0.75, 3)[:axes]
    lengths = ",".join(str(each) for each in (1,) * batch + spacing)
    for unit in ("", "um"):
        words = [
            "--spacing",
            lengths,
            "--intensity",
            "values.npy",
            "--batch-axes",
            str(batch),
            "--stats",
            "t.csv",
            "-q",
        ]
        words += ["--unit", unit] if unit else []
        environment = {**os.environ, "LC_ALL": "C"}
        subprocess.run([program, "label", "image.npy", *words], cwd=tmp_path, check=True, env=environment)
        table = nf.components(image, spacing=spacing, intensity=values, batch_axes=batch).table
        assert table.to_csv(unit=unit) == (tmp_path / "t.csv").read_text()
        assert table.to_csv(tmp_path / "ours.csv", unit=unit) is None
        assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()


def test_pandas_of_other_tables():
    pytest.importorskip("pandas")
    pairs = nf.contacts([[1, 1, 2], [3, 3, 2]])
    frame = pairs.to_pandas()
    assert list(frame.columns) == ["label_a", "label_b", "pairs", "area"] and len(frame) == len(pairs.pairs)
    sizes = nf.granulometry(IMAGE).to_pandas()
    assert list(sizes.columns) == ["squared", "diameter", "cells", "volume"] and sizes["cells"].sum() > 0
