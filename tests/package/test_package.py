"""The package as it is installed: types, docstrings, the command line."""

import ast
import doctest
import importlib
import importlib.metadata
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import nearfield as nf

FOLDER = Path(nf.__file__).parent
OPTIONAL = {"torch", "jax", "SimpleITK", "itk", "nibabel", "xarray"}


def modules():
    for each in pkgutil.walk_packages(nf.__path__, "nearfield."):
        if not each.name.endswith(("__main__", "_core")):
            yield each.name


@pytest.mark.parametrize("name", ["nearfield", *modules()])
def test_docstrings_run(name):
    try:
        module = importlib.import_module(name)
    except ImportError as problem:
        if problem.name and problem.name.partition(".")[0] in OPTIONAL:
            pytest.skip(f"{problem.name} is not installed")
        raise
    assert doctest.testmod(module).failed == 0
    assert module.__doc__


def test_everything_public_is_documented():
    for name in nf.__all__:
        assert name == "__version__" or getattr(nf, name).__doc__, name


def test_types_are_shipped_and_strict():
    assert (FOLDER / "py.typed").is_file()
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    strict = ["--strict", "--ignore-missing-imports", "--follow-imports=silent", "--allow-untyped-decorators"]
    on_path = {} if "site-packages" in FOLDER.parts else {"MYPYPATH": str(FOLDER.parent)}
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *strict, "-p", "nearfield"],
        capture_output=True,
        text=True,
        env={**os.environ, **on_path},
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_stub_is_the_module():
    """Every name of the compiled part stands in the stub, with the same parameters."""
    stub = ast.parse((FOLDER / "_core.pyi").read_text())
    named = {each.name: each for each in stub.body if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    public = {name for name in vars(nf._core) if not name.startswith("_")} - {"version"}
    assert set(named) == public
    for name, each in named.items():
        if isinstance(each, ast.FunctionDef):
            signature = getattr(nf._core, name).__nb_signature__[0][0]
            assert re.findall(r"(\w+):", signature.partition("->")[0]) == [a.arg for a in each.args.args], name


def test_command_line():
    if not (FOLDER / "bin" / "nearfield").is_file():
        pytest.skip("built without the command line")
    asked = subprocess.run([sys.executable, "-m", "nearfield", "--version"], capture_output=True, text=True, check=True)
    assert nf.__version__ in asked.stdout


def test_version_is_the_distribution_s():
    try:
        installed = importlib.metadata.version("nearfield")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("nearfield is not installed, only on the path")
    assert installed == nf.__version__


def test_nothing_is_left_at_the_end():
    """nanobind names objects of the compiled part that outlive the interpreter: what typing or a cache holds."""
    code = "import nearfield as nf; nf.distance_transform([1, 0]); nf.components([1, 0]); nf.ndimage.label([1, 0])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
