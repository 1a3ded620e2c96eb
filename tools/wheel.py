"""wheel.py WHEEL FOLDER: a wheel made by `pip wheel`, as one that needs glibc and nothing else.

`auditwheel` copies in the shared libraries that it links and tags it by the oldest glibc that will do. The licence of each
library, bundled or linked statically, goes to licenses/, and a list of them (CycloneDX) to sboms/. Names of Debian's
packages of libraries that are linked statically follow as `--static PACKAGE`; nanobind is that of this interpreter.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

GPL = ("libjbig",)  # what may not be bundled
LARGEST = {"cpu": 12_000_000, "gpu": 95_000_000}


def run(*words: object, **options: object) -> str:
    return subprocess.run(
        [str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE, **options
    ).stdout


def package_of(library: Path) -> str:
    """Debian's package of a library that was bundled as NAME-HASH.so.N."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library.name)
    found = run("ldconfig", "-p")
    path = next((line.split()[-1] for line in found.splitlines() if line.split()[0] == name), None)
    if path is None:
        path = next(line.split()[-1] for line in found.splitlines() if line.split()[0].startswith(name.split(".so")[0]))
    for each in (path, str(Path(path).resolve()), path.replace("/lib/", "/usr/lib/", 1)):
        owner = subprocess.run(["dpkg", "-S", each], text=True, capture_output=True)
        if owner.returncode == 0:
            return owner.stdout.split(":")[0]
    raise SystemExit(f"wheel.py: no package of Debian has {path}; its licence is not known")


class Part(NamedTuple):
    """A library inside the wheel."""

    name: str
    version: str
    purl: str
    licence: str


def of_debian(package: str) -> Part:
    version = run("dpkg-query", "-W", "-f=${Version}", package).split()[0]
    licence = Path(f"/usr/share/doc/{package}/copyright").read_text()
    return Part(package, version, f"pkg:deb/debian/{package}@{version}", licence)


def of_nanobind() -> Part:
    """The copy that the module was built with, and tsl::robin_map, which is part of it."""
    there = importlib.metadata.distribution("nanobind")
    named = {Path(str(each)).name: Path(str(there.locate_file(each))) for each in there.files or ()}
    notice = re.match(r"/\*.*?\*/", named["robin_map.h"].read_text(), re.DOTALL)
    if notice is None:
        raise SystemExit("wheel.py: nanobind's robin_map.h does not begin with its licence")
    licence = f"{named['LICENSE'].read_text()}\ntsl::robin_map\n{notice[0]}\n"
    return Part("nanobind", there.version, f"pkg:pypi/nanobind@{there.version}", licence)


def of_cuda_runtime() -> Part:
    """NVIDIA's toolkit has its licence in one file, PyPI's packages of it in one each."""
    version = re.search(r"release ([\d.]+)", run("nvcc", "--version"))
    top = re.search(r"TOP=(\S+)", run("nvcc", "--dryrun", "-x", "cu", "-c", "/dev/null", stderr=subprocess.STDOUT))
    if version is None or top is None:
        raise SystemExit("wheel.py: nvcc does not say its version and place, where the CUDA runtime's licence lies")
    texts = [Path(top[1]) / "EULA.txt", *Path(top[1]).glob("dist-info/nvidia_cuda_runtime-*/licenses/License.txt")]
    text = next((each.read_text() for each in texts if each.is_file()), None)
    if text is None:
        raise SystemExit(f"wheel.py: {top[1]} has no EULA.txt, the licence of the CUDA runtime")
    return Part("cuda-runtime", version[1], f"pkg:generic/nvidia/cuda-runtime@{version[1]}", text)


def add_licences(folder: Path, parts: list[Part]) -> None:
    (info,) = folder.glob("*.dist-info")
    for part in parts:
        place = info / "licenses" / f"{part.name}.txt"
        place.parent.mkdir(exist_ok=True)
        place.write_text(part.licence)
    sboms = info / "sboms"
    sboms.mkdir(exist_ok=True)
    for old in sboms.iterdir():
        old.unlink()  # auditwheel's, which knows nothing of what is linked statically
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "components": [{"type": "library", "name": p.name, "version": p.version, "purl": p.purl} for p in parts],
    }
    (sboms / "nearfield.cdx.json").write_text(json.dumps(bill, indent=1) + "\n")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("wheel", type=Path)
    words.add_argument("to", type=Path)
    words.add_argument("--static", action="append", default=[])
    words.add_argument("--kind", choices=LARGEST, default="cpu")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as place:
        run(sys.executable, "-m", "auditwheel", "repair", "--strip", "-w", place, asked.wheel)
        (repaired,) = Path(place).glob("*.whl")
        run(sys.executable, "-m", "wheel", "unpack", "-d", place, repaired)
        (folder,) = (each for each in Path(place).iterdir() if each.is_dir())
        bundled = sorted(folder.glob("*.libs/*.so*"))
        for each in bundled:
            if each.name.startswith(GPL):
                raise SystemExit(f"wheel.py: {each.name} is under the GPL; build against a libtiff without it")
        parts = [of_debian(each) for each in {package_of(each) for each in bundled} | set(asked.static)]
        parts += [of_nanobind(), *([of_cuda_runtime()] if asked.kind == "gpu" else [])]
        add_licences(folder, sorted(parts))
        asked.to.mkdir(parents=True, exist_ok=True)
        run(sys.executable, "-m", "wheel", "pack", "-d", asked.to, folder)
        made = asked.to / repaired.name
    size = made.stat().st_size
    print(f"{made}: {size / 1e6:.1f} MB, with {', '.join(each.name for each in bundled) or 'no shared library'}")
    if size > LARGEST[asked.kind]:
        raise SystemExit(f"wheel.py: more than {LARGEST[asked.kind] / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
