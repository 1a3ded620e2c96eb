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
import typed_program

FOLDER = Path(nf.__file__).parent
OPTIONAL = {"torch", "jax", "SimpleITK", "itk", "nibabel", "xarray", "dask"}


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


def mypy(*words):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    strict = ["--strict", "--ignore-missing-imports", "--follow-imports=silent", "--allow-untyped-decorators"]
    on_path = {} if "site-packages" in FOLDER.parts else {"MYPYPATH": str(FOLDER.parent)}
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *strict, *words], capture_output=True, text=True, env={**os.environ, **on_path}
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_types_are_shipped_and_strict():
    assert (FOLDER / "py.typed").is_file()
    mypy("-p", "nearfield")


def test_a_program_of_a_user_is_clean():
    mypy(str(Path(__file__).parent / "typed_program.py"))
    typed_program.main()


def test_types_find_mistakes(tmp_path):
    """What is ignored here has to be a mistake, and the rest none."""
    (tmp_path / "calls.py").write_text(
        """
import numpy as np
import nearfield as nf

image = np.ones((3, 4), np.uint8)
nf.distance_transform(image, spacing=np.array([1.0, 2.0]), sites="nonzero", border=("open", "closed"))
nf.distance_transform(image, spacing=[[1, 2], [3, 4]][0], signed="inside", return_indices="linear", return_trusted=True)
nf.distance_transform(image, sites="zeros")  # type: ignore[call-overload]
nf.distance_transform(image, border="shut")  # type: ignore[arg-type]
nf.distance_transform(image, signed="in")  # type: ignore[call-overload]
nf.distance_transform(image, spacings=2)  # type: ignore[call-overload]
nf.distance_transform(image, spacing=object())  # type: ignore[call-overload]
nf.voronoi(image, return_indices="flat")  # type: ignore[call-overload]
nf.voronoi(image, return_label=True)  # type: ignore[call-overload]
nf.expand_labels(image, 3, np.array([1.0, 2.0]), border="periodic")
nf.expand_labels(image, 3, spacings=2)  # type: ignore[call-overload]
nf.remove_small(image, 3, criterion="equal", background=None)
nf.remove_small(image, 3, criterium="equal")  # type: ignore[call-arg]
nf.label(image, criterion="equals")  # type: ignore[call-overload]
nf.label(image, min_sizes=3)  # type: ignore[call-overload]
nf.components(image, spacings=3)  # type: ignore[call-arg]
nf.distance_transform([[0, 1], [1, 1]], return_indices=True)[0]
table = nf.components(image, spacing=np.array([1.0, 2.0])).table
size: int = table[0].size
rows: nf.ComponentTable = table[table.size > 3]
[each.centroid for each in table]
table[0].middle  # type: ignore[attr-defined]
"""
    )
    mypy(str(tmp_path / "calls.py"))


def test_types_of_what_comes_back(tmp_path):
    """By the flags, and by the kind of array; what is ignored here has to be a mistake."""
    (tmp_path / "returns.py").write_text(
        """
import numpy as np
import nearfield as nf

image = np.ones((3, 4), np.uint8)
away, nearest = nf.distance_transform(image, return_indices=True)
numbers, count = nf.label(image, return_num=True)
(away + nearest).astype(float), numbers.max(), nf.voronoi(image).shape
nf.distance_transform(image).cpu()  # type: ignore[attr-defined]
away, nearest, labels = nf.distance_transform(image, return_indices="linear")  # type: ignore[misc]
several: tuple[object, object] = nf.label(image)  # type: ignore[assignment]


class Tensor:
    def __dlpack__(self, *, stream: int | None = None) -> object:
        return stream

    def cpu(self) -> "Tensor":
        return self


nf.distance_transform(Tensor()).cpu(), nf.label(Tensor()).cpu(), nf.expand_labels(Tensor()).cpu()
nf.label(Tensor(), return_num=True).cpu()  # type: ignore[attr-defined]
nf.voronoi(Tensor(), return_labels=True)[1].cpu()
nf.voronoi(Tensor()).gpu()  # type: ignore[attr-defined]
"""
    )
    mypy(str(tmp_path / "returns.py"))


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


@pytest.mark.parametrize(
    "file, exports", [(Path(nf._core.__file__).name, "^PyInit__core$"), ("lib/libnearfield.so", "nearfield")]
)
def test_compiled_files_are_hardened_and_export_their_interface_alone(file, exports):
    check = Path(__file__).parents[1] / "house" / "binaries.py"
    small = ["--small"] if file.startswith("_core") else []  # the library has what could be fortified
    command = [sys.executable, str(check), "--exports", exports, *small, str(FOLDER / file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_module_and_command_line_share_one_library():
    symbol = "_ZN9nearfield12query_systemEv"
    for file in (Path(nf._core.__file__), FOLDER / "bin" / "nearfield", FOLDER / "lib" / "libnearfield.so"):
        if not file.is_file():
            continue  # built without the command line
        table = subprocess.run(["nm", "-D", file], capture_output=True, text=True, check=True).stdout
        kind = next((line.split()[-2] for line in table.splitlines() if line.endswith(symbol)), None)
        assert kind == ("T" if file.name == "libnearfield.so" else "U"), file


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
