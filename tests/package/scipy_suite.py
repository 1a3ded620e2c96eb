"""A pytest plugin: SciPy's own tests of its distance functions, of label and of find_objects, with ours in their place.

python -m pytest -p scipy_suite --pyargs scipy.ndimage.tests.test_morphology -k distance_transform
python -m pytest -p scipy_suite --pyargs scipy.ndimage.tests.test_measurements -k "label or find_objects"
"""

import collections

import scipy.ndimage

import nearfield.ndimage

# Deliberate differences: names of tests that ours is not to pass, and why. The same list stands in docs/python-scipy.md.
DIFFERENT = {
    "test_distance_transform_cdt05": "expects the bytes of a float64 metric array to be read as flags; ours reads numbers"
}
NAMES = ("distance_transform_edt", "distance_transform_cdt", "distance_transform_bf")
LABEL_NAMES = ("label", "find_objects")

calls = collections.Counter()


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
