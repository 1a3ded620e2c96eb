"""scikit-image's own tests of what compat.skimage replaces. Its wheels hold them up to 0.25; skipped without."""

import importlib
from itertools import product

import pytest

from nearfield.compat import skimage as compat


def theirs(name):
    """A module of scikit-image's tests, or the reason why there is none."""
    pytest.importorskip("skimage")
    try:
        return importlib.import_module(f"skimage.{name}")
    except ModuleNotFoundError as missing:
        pytest.skip(f"scikit-image comes without its tests ({missing}); 0.25 has them")


def run(module):
    """Calls the tests of a module with every set of their parameters, and returns their number."""
    calls = 0
    for name, test in list(vars(module).items()):
        if not name.startswith("test_"):
            continue
        marks = [mark.args for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
        for chosen in product(*(list(values) for _, values in marks)):
            words = {}
            for (names, _), values in zip(marks, chosen):
                split = [each.strip() for each in names.split(",")]
                words.update(zip(split, values if len(split) > 1 else [values]))
            test(**words)
            calls += 1
    return calls


def test_isotropic_operations_pass_scikit_images_tests(monkeypatch):
    module, called = theirs("morphology.tests.test_isotropic"), set()
    for name in ("isotropic_erosion", "isotropic_dilation", "isotropic_opening", "isotropic_closing"):
        ours = getattr(compat, name)
        monkeypatch.setattr(
            module.isotropic, name, lambda *args, ours=ours, **words: called.add(ours) or ours(*args, **words)
        )
    assert run(module) >= 8 and len(called) == 4


def test_expand_labels_passes_scikit_images_tests(monkeypatch):
    module, calls = theirs("segmentation.tests.test_expand_labels"), []
    monkeypatch.setattr(
        module, "expand_labels", lambda *args, **words: calls.append(args) or compat.expand_labels(*args, **words)
    )
    assert run(module) >= 19 and len(calls) >= 20
