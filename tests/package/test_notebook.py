"""What a notebook shows: bars that replace themselves, tables, pictures of arrays. A real kernel runs the cells."""

import base64
import io
import re

import numpy as np
import pytest

import nearfield as nf
from nearfield._notebook import LEAST, html_of_array

CELLS = """
import nearfield as nf, numpy as np
from nearfield._progress import callable_of
bar = callable_of(True)
bar._start -= 1
bar(0.25)
---
bar(0.5)
other = callable_of(True)
other(1.0)
---
nf.plan((64, 64, 64))
---
nf.component_statistics(nf.label(np.eye(20)))
---
nf.distance_transform(np.eye(40, 50) == 0)
---
%load_ext nearfield
nf.distance_transform(np.eye(40, 50) == 0)
---
bar(1.0)
"""


@pytest.fixture(scope="module")
def shown():
    """Outputs of each cell, after a kernel has run all of them, and of the first one before the bar ended."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(each.strip()) for each in CELLS.split("---")]
    book = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(book, timeout=120, kernel_name="python3")
    with client.setup_kernel():
        for number, cell in enumerate(cells[:-1]):
            client.execute_cell(cell, number)
        before = [dict(each.data) for each in cells[0].outputs]
        client.execute_cell(cells[-1], len(cells) - 1)
    return before, [cell.outputs for cell in cells]


def test_a_bar_replaces_its_own_output(shown):
    before, outputs = shown
    assert len(before) == 1 and " 50% " in before[0]["text/plain"] and before[0]["text/html"].startswith("<pre>near")
    assert [dict(each.data) for each in outputs[0]] == [{"text/plain": "", "text/html": ""}]
    assert outputs[1] == [] and outputs[-1] == []


def test_tables_and_arrays_have_html(shown):
    outputs = shown[1]
    for place in (2, 3):
        assert "<table>" in outputs[place][0].data["text/html"]
    assert "text/html" not in outputs[4][0].data
    assert "40 x 50 float32" in outputs[5][0].data["text/html"]


def picture_of(array):
    page = html_of_array(array)
    data = base64.b64decode(re.search(r"base64,([^\"]+)", page)[1])
    return np.asarray(pytest.importorskip("PIL.Image").open(io.BytesIO(data))), page


def test_pictures_of_arrays():
    ramp = np.add.outer(np.arange(20.0), np.arange(300.0))
    seen, page = picture_of(ramp)
    assert seen.shape == (10, 150, 3) and "20 x 300 float64, 0.0 MiB; shown: 0.0 to 316.0" in page
    assert (seen == np.trunc(ramp[::2, ::2] / 316 * 255)[..., None]).all()

    volume = np.zeros((5, 7, 16, 17), bool)
    volume[2, 3, 4:, 5:] = True
    seen, page = picture_of(volume)
    assert "plane 2, 3: False to True" in page and (seen == 255 * volume[2, 3][..., None]).all()

    labels = nf.label(np.eye(30) + np.eye(30)[::-1])
    seen, _ = picture_of(labels[:, :28])
    assert (seen.any(-1) == (labels[:, :28] > 0)).all()
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) == len(np.unique(labels[:, :28]))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_pictures_of_values_that_are_not_finite(value):
    assert not picture_of(np.full((20, 20), value))[0].any()
    seen, page = picture_of(np.where(np.eye(20) > 0, value, np.arange(20.0)))
    assert "0.0 to 19.0" in page and seen[0, 19, 0] == 255
    assert seen[10, 10, 0] == (255 if value > 0 else 0)


@pytest.mark.parametrize(
    "array", [np.zeros(50), np.zeros((LEAST - 1, 50)), np.zeros((0, 50, 50)), np.zeros((20, 20), complex), np.array(1)]
)
def test_other_arrays_keep_their_text(array):
    assert html_of_array(array) is None
