"""What the documents show of the package is run: `python run` blocks, and the examples of the gallery."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "house"))
import snippets  # noqa: E402

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
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, example, tmp_path], check=True, env=environment)
    name = example.stem.replace("_", "-") + ".png"
    with image.open(tmp_path / name) as drawn, image.open(ROOT / "docs" / "images" / name) as shown:
        assert drawn.size == shown.size
        differ = sum(a != b for a, b in zip(drawn.tobytes(), shown.tobytes()))
    # Rounding of NumPy's sines and powers differs between processors.
    assert differ < 0.01 * drawn.size[0] * drawn.size[1]


def test_blocks_are_found():
    assert len(BLOCKS) >= 5 and len(EXAMPLES) >= 6
