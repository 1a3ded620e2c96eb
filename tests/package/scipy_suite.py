"""A pytest plugin: SciPy's own tests of its distance functions, of label and of find_objects, with ours in their place.

python -m pytest -p scipy_suite --pyargs scipy.ndimage.tests.test_morphology -k distance_transform
python -m pytest -p scipy_suite --pyargs scipy.ndimage.tests.test_measurements -k "label or find_objects"

`expect_passes` runs it so, in a process of its own, for a test that pytest has found.
"""

import collections
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import scipy.ndimage

import nearfield.ndimage

# Deliberate differences: names of tests that our module is not meant to pass, and why. docs/python-scipy.md has the
# same list.
DIFFERENT = {
    "test_distance_transform_cdt05": "wants the bytes of a float64 metric array to be read as flags; ours reads numbers"
}
NAMES = ("distance_transform_edt", "distance_transform_cdt", "distance_transform_bf")
LABEL_NAMES = ("label", "find_objects")

calls = collections.Counter()


def expect_passes(module, words, names, least):
    """SciPy's tests of a module that `words` (pytest's -k) choose: at least so many, and each name is called."""
    pytest.importorskip(module)
    folder = str(Path(__file__).parent)
    run = subprocess.run(
        [sys.executable, *"-m pytest -p scipy_suite -p no:cacheprovider -q --pyargs".split(), module, "-k", words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([folder, str(Path(nearfield.__file__).parents[1])])},
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", run.stdout)[1]) >= least
    assert " failed" not in run.stdout
    for name in names:
        assert int(re.search(rf"{name} (\d+)", run.stdout)[1]) > 0


def counted(name):
    function = getattr(nearfield.ndimage, name)

    def call(*arguments, **keywords):
        calls[name] += 1
        return function(*arguments, **keywords)

    return call


def pytest_collection_modifyitems(config, items):
    dropped = [each for each in items if each.originalname in DIFFERENT]
    config.hook.pytest_deselected(items=dropped)
    items[:] = [each for each in items if each.originalname not in DIFFERENT]


def pytest_runtestloop():
    """The tests look the functions up when they run, and SciPy's decorators know only SciPy's while collecting."""
    for name in NAMES + LABEL_NAMES:
        setattr(scipy.ndimage, name, counted(name))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("calls: " + ", ".join(f"{name} {calls[name]}" for name in NAMES + LABEL_NAMES))
