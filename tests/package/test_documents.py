"""What the documents show of the package is run: `python run` blocks, and the examples of the gallery."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "house"))
sys.path.append(str(ROOT / "bench"))
sys.path.append(str(ROOT / "tools"))
import snippets  # noqa: E402

import migration  # noqa: E402
import python_gallery  # noqa: E402

BLOCKS = [each for each in snippets.blocks(ROOT) if (each.language, each.kind) == ("python", "run")]
EXAMPLES = sorted(path for path in (ROOT / "docs" / "examples").glob("*.py") if path.stem != "picture")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
def test_shown_programs_run(block):
    missing = [name for name in block.needs if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    problem = snippets.run_python(block, sys.executable)
    assert problem is None, problem


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_draw_the_pictures_shown(example, tmp_path):
    image = pytest.importorskip("PIL.Image")
    if missing := python_gallery.missing_of(example):
        pytest.skip(f"{missing} is not installed")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, example, tmp_path], check=True, env=environment)
    name = example.stem.replace("_", "-") + ".png"
    with image.open(tmp_path / name) as drawn, image.open(ROOT / "docs" / "images" / name) as shown:
        assert drawn.size == shown.size
        differ = sum(a != b for a, b in zip(drawn.tobytes(), shown.tobytes()))
    # NumPy's sines and powers round differently on different processors.
    assert differ < 0.01 * drawn.size[0] * drawn.size[1]


@pytest.mark.parametrize("name", [name for name, each in migration.SECTIONS.items() if each.place == "host"])
def test_calls_of_the_migration_page(name):
    """Both calls of each pair run, and differ by rounding only; OpenCV's masks 3 and 5 are approximations."""
    section = migration.SECTIONS[name]
    pytest.importorskip(section.module)
    space = {**migration.data_of((60, 70), (16, 40, 50)), "threads": 2}
    exec("import numpy as np; import nearfield as nf; " + section.imports, space)
    for _, theirs, ours in section.calls:
        one, other = (migration.plain(eval(call, space)) for call in (theirs, ours))
        assert one.shape == other.shape
        if "connectedComponents(noise)" in theirs:  # it numbers block by block
            assert len(np.unique(one * (1 + other.max()) + other)) == len(np.unique(one)) == len(np.unique(other))
        elif "DIST_L2, 3" not in theirs and "DIST_L2, 5" not in theirs:
            np.testing.assert_allclose(other, one, rtol=2e-6, atol=1e-5, err_msg=theirs)


def test_migration_page_is_what_its_measurements_say(tmp_path, monkeypatch):
    page = tmp_path / "migration.md"
    page.write_text(migration.PAGE.read_text())
    monkeypatch.setattr(migration, "PAGE", page)
    migration.write_page([])
    assert page.read_text() == (ROOT / "docs" / "migration.md").read_text()


def test_blocks_are_found():
    assert len(BLOCKS) >= 5 and len(EXAMPLES) >= 6
