"""How regions are shaped, against scikit-image's regionprops and plain NumPy."""

import csv
import io
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nearfield as nf
from examples import examples

measure = pytest.importorskip("skimage.measure")

PROGRAM = Path(nf.__file__).parent / "bin" / "nearfield"
IMAGES = hnp.arrays(
    st.sampled_from(["uint8", "int16", "int32", "uint64"]),
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.integers(0, 3),
)
VOLUMES = hnp.arrays("uint8", hnp.array_shapes(min_dims=3, max_dims=3, max_side=6), elements=st.integers(0, 3))
FLAT = ("perimeter", "perimeter_crofton", "area_convex", "solidity", "feret_diameter_max", "eccentricity")
BOTH = ("num_pixels", "area", "extent", "equivalent_diameter_area", "euler_number", "inertia_tensor")
AXES = ("inertia_tensor_eigvals", "axis_major_length", "axis_minor_length")


def compare(labels, spacing):
    """Every value that scikit-image has."""
    table = nf.shape_measures(labels, spacing=spacing)
    regions = measure.regionprops(labels.astype(np.int32), spacing=spacing)
    assert len(table) == labels.max(initial=0)
    names = [*BOTH, *AXES, *(FLAT if labels.ndim == 2 else ())]
    if len(set(spacing)) > 1:
        names = [name for name in names if not name.startswith("perimeter")]
        assert table.perimeter is None
    for region in regions:
        row, size = region.label - 1, max(np.multiply(region.image.shape, spacing))
        for name in names:
            # Their moments are sums of floats; the square root of a value near 0 loses half of the digits.
            rounding = 1e-6 * size if name in (*AXES, "eccentricity") else 1e-9 * size**2
            np.testing.assert_allclose(
                getattr(table, name)[row], getattr(region, name), rtol=1e-9, atol=rounding, err_msg=name
            )
        if labels.ndim == 2 and region.eccentricity > 0.1:  # otherwise any angle is right
            apart = (table.orientation[row] - region.orientation) % math.pi
            assert min(apart, math.pi - apart) < 1e-6
    empty = np.setdiff1d(table.label, [region.label for region in regions]) - 1
    assert not table.area[empty].any() and np.isnan(table.extent[empty]).all()


@examples(150)
@given(labels=IMAGES, data=st.data())
def test_images_are_scikit_images(labels, data):
    labels = data.draw(st.sampled_from([labels, labels.T, labels[::-1], labels[:, ::2]]))
    compare(labels, data.draw(st.sampled_from([(1, 1), (0.5, 0.5), (2, 0.75)])))


@examples(60)
@given(labels=VOLUMES, data=st.data())
def test_volumes_are_scikit_images(labels, data):
    compare(labels, data.draw(st.sampled_from([(1, 1, 1), (0.5, 0.5, 0.5), (3, 2, 0.75)])))


@pytest.mark.parametrize("connectivity", [1, 2])
def test_photograph(connectivity):
    data = pytest.importorskip("skimage.data")
    labels = nf.label(data.coins() > 110, connectivity=connectivity)
    compare(labels, (1, 1))
    table = nf.shape_measures(labels)
    faces = [measure.euler_number(region.image, 1) for region in measure.regionprops(labels)]
    np.testing.assert_array_equal(table.euler_number_faces, faces)
    if connectivity == 1:  # then each component is connected by faces
        assert table.euler_number_faces.max() == 1


@examples(40)
@given(labels=VOLUMES)
def test_euler_numbers_of_faces(labels):
    table = nf.shape_measures(labels)
    for row in range(len(table)):
        assert table.euler_number_faces[row] == measure.euler_number(labels == row + 1, 1)


def test_known_solids():
    z, y, x = np.indices((61, 61, 61)) - 30
    ball = nf.shape_measures((z**2 + y**2 + x**2 <= 25**2).astype(np.uint8))
    assert abs(ball.surface_area[0] / (4 * math.pi * 25**2) - 1) < 0.02
    torus = nf.shape_measures(((np.hypot(y, x) - 18) ** 2 + z**2 <= 36).astype(np.uint8))
    assert torus.euler_number.tolist() == torus.euler_number_faces.tolist() == [0]
    assert abs(torus.surface_area[0] / (4 * math.pi**2 * 18 * 6) - 1) < 0.03
    # The same ball, in cells of other lengths.
    long = nf.shape_measures(((2 * z) ** 2 + y**2 + x**2 <= 25**2).astype(np.uint8), spacing=(2, 1, 1))
    assert abs(long.surface_area[0] / ball.surface_area[0] - 1) < 0.02


def test_any_number_of_threads():
    labels = np.random.default_rng(1).integers(0, 300, (300, 400))
    one = nf.shape_measures(labels, spacing=(1, 3), threads=1).to_dict()
    for threads in (2, 5):
        other = nf.shape_measures(labels, spacing=(1, 3), threads=threads).to_dict()
        assert all(one[name].tobytes() == other[name].tobytes() for name in one)


def test_table():
    labels = nf.label(np.random.default_rng(0).random((60, 70)) < 0.4)
    table = nf.shape_measures(labels, spacing=2)
    theirs = measure.regionprops_table(
        labels, spacing=(2, 2), properties=("label", "inertia_tensor", "inertia_tensor_eigvals", *FLAT, *BOTH)
    )
    columns = table.to_dict()
    assert set(theirs) <= set(columns) and {len(each) for each in columns.values()} == {labels.max()}
    text = table.to_csv()
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == list(columns) and float(rows[3][rows[0].index("solidity")]) == table.solidity[2]
    with_unit = list(table.to_dict(unit="mm"))
    assert {"area_mm2", "area_convex_mm2", "perimeter_mm", "inertia_tensor-0-1_mm2", "solidity"} <= set(with_unit)
    volume = nf.shape_measures(np.ones((2, 3, 4), int), spacing=(1, 2, 1))
    assert {"area_mm3", "surface_area_mm2", "inertia_tensor-2-2_mm2"} <= set(volume.to_dict(unit="mm"))
    assert volume.perimeter is volume.solidity is volume.orientation is None and volume.surface_area[0] > 0
    large = table[table.num_pixels > 5]
    assert large.label.tolist() == (np.flatnonzero(table.num_pixels > 5) + 1).tolist() and len(table[3]) == 1
    assert large.inertia_tensor.shape == (len(large), 2, 2) and table[-1].label[0] == len(table)
    assert repr(table).startswith(f"ShapeTable({len(table)} regions: label, num_pixels, area")
    assert table._repr_html_().count("<tr>") == 11 and f"and {len(table) - 10} more" in table._repr_html_()
    with pytest.raises(ValueError, match="give a word of letters and digits"):
        table.to_csv(unit="a,b")


@pytest.mark.parametrize(("shape", "batch"), [((40, 50), 0), ((7, 20, 21), 0), ((3, 40, 50), 1), ((4, 5), 0)])
def test_command_line(tmp_path, shape, batch):
    program = PROGRAM if PROGRAM.is_file() else shutil.which("nearfield")
    if program is None:
        pytest.skip("there is no command line here")
    image = np.random.default_rng(2).random(shape) < (0 if shape == (4, 5) else 0.4)
    np.save(tmp_path / "image.npy", image.astype(np.uint8))
    spacing = (2, 0.5, 1)[: len(shape) - batch]
    words = ["--spacing", ",".join(map(str, (1,) * batch + spacing)), "--unit", "um", "--batch-axes", str(batch)]
    words += ["--stats", "t.csv", "-q"]
    for shapes in ([], ["--shapes"]):
        subprocess.run([program, "label", "image.npy", *words, *shapes], cwd=tmp_path, check=True)
        rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text())))
        if not shapes:
            plain = rows
    images = image if batch else [image]
    tables = [nf.shape_measures(nf.label(each), spacing=spacing).to_csv(unit="um") for each in images]
    wanted = [row for table in tables for row in csv.reader(io.StringIO(table))]
    named = ("label", "num_pixels", f"area_um{len(spacing)}")
    kept = [k for k, name in enumerate(wanted[0]) if name not in named]
    bodies = [row for row in wanted if row[0] != "label"]
    assert rows == [[*row, *(each[k] for k in kept)] for row, each in zip(plain, [wanted[0], *bodies], strict=True)]


def test_command_line_refusals(tmp_path):
    program = PROGRAM if PROGRAM.is_file() else shutil.which("nearfield")
    if program is None:
        pytest.skip("there is no command line here")
    np.save(tmp_path / "line.npy", np.ones(5, np.uint8))
    np.save(tmp_path / "image.npy", np.ones((5, 4), np.uint8))
    for words, text in (
        (["image.npy", "--shapes"], "--shapes adds columns to --stats"),
        (["line.npy", "--shapes", "--stats", "-"], "--shapes measures images of 2 or 3 axes"),
        (["image.npy", "--shapes", "--stats", "-", "--border", "open,periodic"], "--shapes measures what lies within"),
    ):
        done = subprocess.run([program, "label", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode != 0 and text in done.stderr and done.stdout == ""


def test_pandas_and_files(tmp_path):
    table = nf.shape_measures([[1, 1], [0, 2]])
    table.to_csv(tmp_path / "shapes.csv")
    assert (tmp_path / "shapes.csv").read_text() == table.to_csv()
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(tmp_path / "shapes.csv")
    assert list(frame.columns) == list(table.to_pandas().columns) and frame["area"].tolist() == [2, 1]


def test_rows():
    labels = np.array([[3, 3, 0], [0, -1, 70]])
    assert nf.shape_measures(labels, count=3).num_pixels.tolist() == [0, 0, 2]
    assert len(nf.shape_measures(labels, count=0)) == len(nf.shape_measures(np.zeros((3, 4), int))) == 0
    assert len(nf.shape_measures(np.zeros((0, 4), int))) == 0
    with pytest.raises(ValueError, match="has the value 100000000"):
        nf.shape_measures([[100000000, 1]])


@pytest.mark.parametrize(
    ("kind", "text", "call"),
    [
        (ValueError, "labels has 1 axis; shapes are measured of 2 or 3", lambda: nf.shape_measures([1, 2])),
        (ValueError, "labels has 4 axes", lambda: nf.shape_measures(np.ones((1, 1, 2, 2), int))),
        (TypeError, "element type float64", lambda: nf.shape_measures(np.ones((2, 2)))),
        (ValueError, "positive and finite", lambda: nf.shape_measures([[1]], spacing=(1, np.nan))),
        (ValueError, "spacing", lambda: nf.shape_measures([[1]], spacing=(1, 2, 3))),
        (ValueError, "count is -1", lambda: nf.shape_measures([[1]], count=-1)),
        (ValueError, "threads is 0", lambda: nf.shape_measures([[1]], threads=0)),
    ],
)
def test_refusals(kind, text, call):
    with pytest.raises(kind, match=text):
        call()
