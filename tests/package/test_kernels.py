"""A package for GPUs has two libraries; the one with kernels is open where there is a driver, and nowhere else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nearfield import _kernels

HOST = _kernels.LIBRARY.with_name("libnearfield.so")
pytestmark = pytest.mark.skipif(not _kernels.LIBRARY.is_file(), reason="built without CUDA: there is one library")
no_driver = pytest.mark.skipif(_kernels.has_driver(), reason="this machine has a driver")
PROGRAM = """
import nearfield as nf
assert nf.distance_transform([[0, 1], [1, 1]])[1, 1] > 1.4 and nf.info().cuda_built
print(open("/proc/self/maps").read())
"""


def run(*words, **settings):
    environment = {name: value for name, value in os.environ.items() if name != "NEARFIELD_KERNELS"} | settings
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=True).stdout


def opened(**settings):
    """The libraries of a process that imports the package and computes."""
    files = {Path(line.split()[-1]) for line in run("-c", PROGRAM, **settings).splitlines() if line}
    return {file.name for file in files if file.name.startswith("libnearfield")}


def runtime(**settings):
    """The CUDA runtime of the library that the command line opens: 0 for the one without kernels."""
    return json.loads(run("-m", "nearfield", "info", "--json", **settings))["cuda"]["runtime"]


@pytest.fixture
def driver(tmp_path):
    """A folder with a library that has a driver's name and nothing else of one: the C library."""
    some_library = next(
        line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libc" in line
    )
    (tmp_path / _kernels.DRIVER).symlink_to(some_library)
    return {"LD_LIBRARY_PATH": str(tmp_path)}


@no_driver
def test_without_a_driver_nobody_opens_kernels():
    assert opened() == {HOST.name} and runtime() == 0


def test_with_a_driver_both_open_kernels(driver):
    found = {} if _kernels.has_driver() else driver
    assert opened(**found) == {_kernels.LIBRARY.name} and runtime(**found) >= 12000


@no_driver
def test_kernels_open_without_a_driver_for_plans():
    code = "import nearfield as nf; print(nf.plan((64, 64, 64), device='cuda').place)"
    assert run("-c", code, NEARFIELD_KERNELS="1") == "device\n"
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run("-c", code)
    assert "no NVIDIA driver was found (NEARFIELD_KERNELS=1 opens the kernels" in refused.value.stderr


@no_driver
def test_the_command_line_plans_for_a_gpu_without_one(tmp_path):
    run("-m", "nearfield", "sample", "blobs", "-o", str(tmp_path / "b.npy"), "--size", "60x80")
    words = ("-m", "nearfield", "distance", str(tmp_path / "b.npy"), "-o", str(tmp_path / "d.npy"), "--device", "cuda")
    assert "device" in run(*words, "--plan")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run(*words)
    assert "no NVIDIA driver" in refused.value.stderr


def test_both_libraries_have_one_name_and_one_interface():
    def facts(file):
        table = subprocess.run(["nm", "-D", "--defined-only", file], capture_output=True, text=True, check=True).stdout
        dynamic = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
        return {line.split()[-1] for line in table.splitlines()}, "soname: [libnearfield.so]" in dynamic

    assert facts(HOST) == facts(_kernels.LIBRARY) and facts(HOST)[1]
