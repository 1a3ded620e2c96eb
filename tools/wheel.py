"""wheel.py WHEEL FOLDER: a wheel made by `pip wheel`, as one that needs glibc and nothing else.

`auditwheel` copies in the shared libraries that it links and tags it by the oldest glibc that will do. The licence of each
library, bundled or linked statically, goes to licenses/, and a list of them (CycloneDX) to sboms/. Names of Debian's
packages of libraries that are linked statically follow as `--static PACKAGE`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

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


def component(package: str) -> dict[str, object]:
    version = run("dpkg-query", "-W", "-f=${Version}", package).split()[0]
    return {"type": "library", "name": package, "version": version, "purl": f"pkg:deb/debian/{package}@{version}"}


def add_licences(folder: Path, packages: list[str]) -> None:
    (info,) = folder.glob("*.dist-info")
    for package in packages:
        text = Path(f"/usr/share/doc/{package}/copyright").read_text()
        place = info / "licenses" / f"{package}.txt"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    sboms = info / "sboms"
    sboms.mkdir(exist_ok=True)
    for old in sboms.iterdir():
        old.unlink()  # auditwheel's, which knows nothing of what is linked statically
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "components": [component(p) for p in packages],
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
        add_licences(folder, sorted({package_of(each) for each in bundled} | set(asked.static)))
        asked.to.mkdir(parents=True, exist_ok=True)
        run(sys.executable, "-m", "wheel", "pack", "-d", asked.to, folder)
        made = asked.to / repaired.name
    size = made.stat().st_size
    print(f"{made}: {size / 1e6:.1f} MB, with {', '.join(each.name for each in bundled)}")
    if size > LARGEST[asked.kind]:
        raise SystemExit(f"wheel.py: more than {LARGEST[asked.kind] / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
