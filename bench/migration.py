#!/usr/bin/env python3
"""Times the calls of other libraries and those that take their place, in one process on the same data.

migration.py --json FILE              times what is installed; what is not is named and left out
migration.py --json FILE --only cupy  one section; sections: scipy, edt, cc3d, cupy, cucim, skimage, opencv, sitk, itk
migration.py --json FILE --on noise clouds numbered   only calls whose arguments have one of these names
migration.py --page FILE...           writes the tables of docs/migration.md from such files; a later file's rows win.
                                      Without files from bench/results/*migration*.json

The calls in the tables are the calls that are timed: their text is what is run.
"""

import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import pathlib
import re
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "migration.md"
KEPT = ROOT / "bench" / "results"


@dataclass(frozen=True)
class Section:
    module: str  # whose absence leaves the section out
    distribution: str
    imports: str
    calls: tuple[tuple[str, str, str], ...]  # data, theirs, ours
    place: str = "host"


SPACED = "spacing=(5, 0.4, 0.4)"
SCIPY = "distance_transform_edt"
CUPY_CALLS = tuple(
    (data, f"{SCIPY}({theirs})", f"nf.distance_transform({ours})")
    for data, theirs, ours in (
        ("image", "image, float64_distances=True", 'image, dtype="float64"'),
        ("image", "image, float64_distances=False", "image"),
        ("volume", "volume, float64_distances=False", "volume"),
        ("volume", "volume, sampling=(5, 0.4, 0.4), float64_distances=True", f'volume, {SPACED}, dtype="float64"'),
        (
            "image",
            "image, return_distances=False, return_indices=True",
            "image, return_distances=False, return_indices=True",
        ),
    )
)
MAURER = "signed_maurer_distance_map_image_filter(mask, squared_distance=False)"
SECTIONS = {
    "scipy": Section(
        "scipy.ndimage",
        "scipy",
        "from scipy import ndimage",
        (
            ("image", f"ndimage.{SCIPY}(image)", 'nf.distance_transform(image, dtype="float64")'),
            (
                "volume",
                f"ndimage.{SCIPY}(volume, sampling=(5, 0.4, 0.4))",
                f'nf.distance_transform(volume, {SPACED}, dtype="float64")',
            ),
            (
                "image",
                f"ndimage.{SCIPY}(image, return_distances=False, return_indices=True)",
                "nf.distance_transform(image, return_distances=False, return_indices=True)",
            ),
            ("noise", "ndimage.label(noise)[0]", "nf.label(noise)"),
            ("clouds", "ndimage.label(clouds, np.ones((3, 3, 3)))[0]", "nf.label(clouds, connectivity=3)"),
        ),
    ),
    "cc3d": Section(
        "cc3d",
        "connected-components-3d",
        "import cc3d; numbered = nf.label(clouds, connectivity=3)",
        (
            ("clouds", "cc3d.connected_components(clouds)", 'nf.label(clouds, connectivity=26, dtype="uint16")'),
            (
                "labels",
                "cc3d.connected_components(labels, connectivity=6)",
                'nf.label(labels, criterion="equal", dtype="uint16")',
            ),
            (
                "clouds",
                'cc3d.statistics(numbered)["centroids"][1:]',
                "nf.component_statistics(numbered).centroid",
            ),
            (
                "labels",
                "cc3d.dust(labels, 1000, connectivity=6)",
                'nf.remove_small(labels, 1000, criterion="equal")',
            ),
        ),
    ),
    "edt": Section(
        "edt",
        "edt",
        "import edt",
        (
            ("image", "edt.edt(image, parallel=threads)", "nf.distance_transform(image)"),
            (
                "labels",
                "edt.edt(labels, anisotropy=(5, 0.4, 0.4), parallel=threads)",
                f"nf.distance_transform(labels, {SPACED}, multilabel=True)",
            ),
            (
                "labels",
                "edt.edtsq(labels, parallel=threads)",
                "nf.distance_transform(labels, squared=True, multilabel=True)",
            ),
            (
                "labels",
                "edt.edt(labels, black_border=True, parallel=threads)",
                'nf.distance_transform(labels, multilabel=True, border="closed")',
            ),
            ("volume", "edt.sdf(volume, parallel=threads)", 'nf.distance_transform(volume, signed="outside")'),
        ),
    ),
    "cupy": Section(
        "cupyx.scipy.ndimage",
        "cupy",
        f"from cupyx.scipy.ndimage import {SCIPY}, label",
        (
            *CUPY_CALLS,
            ("noise", "label(noise)[0]", "nf.label(noise)"),
            ("clouds", "label(clouds, np.ones((3, 3, 3)))[0]", "nf.label(clouds, connectivity=3)"),
        ),
        "device",
    ),
    "cucim": Section(
        "cucim.core.operations.morphology",
        "cucim",
        f"from cucim.core.operations.morphology import {SCIPY}",
        CUPY_CALLS,
        "device",
    ),
    "skimage": Section(
        "skimage.segmentation",
        "scikit-image",
        "from skimage.segmentation import expand_labels; from skimage import measure",
        (
            ("seeds", "expand_labels(seeds, distance=10)", "nf.expand_labels(seeds, 10)"),
            ("seeds", "expand_labels(seeds, 10, spacing=(2, 1))", "nf.expand_labels(seeds, 10, spacing=(2, 1))"),
            ("noise", "measure.label(noise)", "nf.label(noise, connectivity=2)"),
            ("labels", "measure.label(labels)", 'nf.label(labels, criterion="equal", connectivity=3)'),
        ),
    ),
    "opencv": Section(
        "cv2",
        "opencv-python-headless",
        "import cv2",
        (
            (
                "image",
                "cv2.distanceTransform(image, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)",
                "nf.distance_transform(image)",
            ),
            ("image", "cv2.distanceTransform(image, cv2.DIST_L2, 5)", "nf.distance_transform(image)"),
            ("image", "cv2.distanceTransform(image, cv2.DIST_L2, 3)", "nf.distance_transform(image)"),
            ("noise", "cv2.connectedComponents(noise, connectivity=4)[1]", "nf.label(noise)"),
            ("noise", "cv2.connectedComponents(noise)[1]", "nf.label(noise, connectivity=2)"),
        ),
    ),
    "sitk": Section(
        "SimpleITK",
        "SimpleITK",
        "import SimpleITK as sitk; from nearfield.compat import sitk as nfs; mask = sitk.GetImageFromArray(blobs); "
        "mask.SetSpacing((0.4, 0.4, 5))",
        tuple(
            ("mask", f"sitk.{call}", f"nfs.{call}")
            for call in (
                "SignedMaurerDistanceMap(mask)",
                "SignedMaurerDistanceMap(mask, squaredDistance=False, useImageSpacing=True)",
            )
        ),
    ),
    "itk": Section(
        "itk",
        "itk",
        "import itk; from nearfield.compat import itk as nfi; mask = itk.image_from_array(blobs); "
        "mask.SetSpacing((0.4, 0.4, 5))",
        (("mask", f"itk.{MAURER}", f"nfi.{MAURER}"),),
    ),
}


def data_of(flat=(2048, 2048), solid=(128, 256, 256)):
    """An image and a volume with 1 % of random sites; labels, seeds and balls, and random blocks, of the same sizes."""
    import numpy as np

    import nearfield as nf
    from peers_common import paint_balls, random_sites

    def numbered(shape, density):
        places = random_sites(int(np.prod(shape)), density) == 0
        return np.where(places, np.arange(1, places.size + 1, dtype=np.int32), 0).reshape(shape)

    def blocks(shape, side, share):
        coarse = tuple(-(-n // side) for n in shape)
        chosen = (np.random.default_rng(5).random(coarse) < share).astype(np.uint8)
        return np.ascontiguousarray(np.kron(chosen, np.ones((side,) * len(shape), np.uint8))[tuple(map(slice, shape))])

    image, volume = (random_sites(int(np.prod(shape)), 0.01).reshape(shape) for shape in (flat, solid))
    labels = nf.expand_labels(numbered(solid, 0.0002).astype(np.uint32), 12)
    blobs = paint_balls(solid, 24, 8, inside=1)
    return {"image": image, "volume": volume, "labels": labels, "seeds": numbered(flat, 0.0005)} | {
        "blobs": blobs,
        "mask": blobs,
        "noise": blocks(flat, 4, 0.5),
        "clouds": blocks(solid, 4, 0.2),
    }


def plain(x):
    """The answer as a NumPy array, whatever library's it is."""
    import numpy as np

    if type(x).__module__.startswith("SimpleITK"):
        return importlib.import_module("SimpleITK").GetArrayFromImage(x)
    if type(x).__module__.startswith("itk"):
        return importlib.import_module("itk").array_from_image(x)
    return np.asarray(x.get() if hasattr(x, "get") else x)


def difference(theirs, ours, spatial):
    """How far apart two answers are, in words; of indices and labels the share of cells that differ."""
    import numpy as np

    a, b = plain(theirs), plain(ours)
    if np.array_equal(a, b):
        return "none"
    if np.issubdtype(a.dtype, np.integer) and np.issubdtype(b.dtype, np.integer):
        differ = (a != b).any(axis=0) if a.ndim > spatial else a != b
        return f"{100 * differ.mean():.2g} % of cells"
    both = np.isfinite(a) & np.isfinite(b)
    off = np.abs(a[both].astype(float) - b[both].astype(float))
    return f"{off.max():.1g}" if (np.isfinite(a) == np.isfinite(b)).all() else f"{off.max():.1g}; inf elsewhere"


def best_of(*works, least=3, most=15, budget_s=6.0):
    """Milliseconds of the best run of each, taken in turns; they have run before."""
    from peers_common import seconds

    best, start = [float("inf")] * len(works), time.perf_counter()
    for turn in range(most):
        best = [min(had, 1e3 * seconds(work)) for had, work in zip(best, works, strict=True)]
        if turn + 1 >= least and time.perf_counter() - start > budget_s:
            break
    return best


def version_of(section):
    try:
        return importlib.metadata.version(section.distribution)
    except importlib.metadata.PackageNotFoundError:  # CuPy's and cuCIM's are named for a CUDA version
        return importlib.import_module(section.distribution).__version__


def time_section(name, data, place, rows, on):
    section = SECTIONS[name]
    space = {**data, "threads": len(os.sched_getaffinity(0))}
    exec("import numpy as np; import nearfield as nf; " + section.imports, space)
    for key, theirs, ours in section.calls:
        if on and not set(re.findall(r"\w+", theirs)) & set(on):
            continue
        codes = [compile(text, name, "eval") for text in (theirs, ours)]
        apart = difference(*(eval(code, space) for code in codes), data[key].ndim)
        ms = best_of(*(lambda code=code: (eval(code, space), place.wait()) for code in codes))
        row = {"section": name, "data": key, "shape": list(data[key].shape), "theirs": theirs, "ours": ours}
        row |= {"library": f"{section.distribution} {version_of(section)}", "difference": apart}
        rows.append(row | {"ms_theirs": ms[0], "ms_ours": ms[1]})
        print(
            f"{name:<8} {ms[0]:>10.2f} {ms[1]:>10.2f} ms {ms[0] / ms[1]:>8.1f}x  differ: {apart:<18} {theirs}",
            flush=True,
        )


class Host:
    def __init__(self):
        from peers_host import processor

        self.name, self.cores = processor(), len(os.sched_getaffinity(0))

    def wait(self):
        pass

    def moved(self, data):
        return data


class Gpu(Host):
    def __init__(self):
        super().__init__()
        self.cupy = importlib.import_module("cupy")
        self.name = self.cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def wait(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def moved(self, data):
        return {name: self.cupy.asarray(array) for name, array in data.items()}


def measure(options):
    rows, places, data = [], {}, data_of()
    for name, section in SECTIONS.items():
        if options.only and name not in options.only:
            continue
        try:
            importlib.import_module(section.module)
            place = places.get(section.place) or {"host": Host, "device": Gpu}[section.place]()
        except ImportError as problem:
            print(f"migration.py: {problem.name} is not installed; section {name} is left out")
            continue
        places[section.place] = place
        before = len(rows)
        time_section(name, place.moved(data), place, rows, options.on)
        date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        for row in rows[before:]:
            row |= {"device": place.name, "cores": place.cores, "date": date}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"migration": rows}, indent=1) + "\n")


def table(name, measured):
    """Markdown of one section; a call that was not measured has no times."""
    lines = [
        "| theirs | ours | on | theirs takes | ours takes | faster | they differ by |",
        "|---|---|---|--:|--:|--:|---|",
    ]
    found, dates = None, set()
    for data, theirs, ours in SECTIONS[name].calls:
        row = measured.get((name, theirs, ours))
        if row is None:
            lines.append(f"| `{theirs}` | `{ours}` | {data} | | | | |")
            continue
        found = row
        dates.add(row["date"])
        ms = [
            f"{row[key]:.3g} ms" if row[key] < 1000 else f"{row[key] / 1000:.3g} s" for key in ("ms_theirs", "ms_ours")
        ]
        on = f"{data}, {' x '.join(map(str, row['shape']))}"
        faster = row["ms_theirs"] / row["ms_ours"]
        times = f"{faster:.1f}x" if faster < 10 else f"{faster:.0f}x"
        lines.append(f"| `{theirs}` | `{ours}` | {on} | {ms[0]} | {ms[1]} | {times} | {row['difference']} |")
    if found:
        where = found["device"] if SECTIONS[name].place == "device" else f"{found['cores']} cores of {found['device']}"
        lines += ["", f"{found['library']}, {where}, {' and '.join(sorted(dates))}."]
    return "\n".join(lines)


def insert(page, marker, text):
    """The page with `text` between the marker and the next end of a report."""
    start, end = f"<!-- report: {marker} -->", "<!-- /report -->"
    begin = page.find(start)
    stop = page.find(end, begin)
    if begin < 0 or stop < 0:
        raise SystemExit(f"migration.py: the page has no {start} ... {end}")
    return page[: begin + len(start)] + "\n\n" + text + "\n\n" + page[stop:]


def write_page(files):
    measured = {}
    for path in files or sorted(KEPT.glob("*migration*.json")):
        for row in json.loads(path.read_text())["migration"]:
            measured[row["section"], row["theirs"], row["ours"]] = row
    page = PAGE.read_text()
    for name in SECTIONS:
        page = insert(page, f"migration {name}", table(name, measured))
    PAGE.write_text(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--json", type=pathlib.Path, metavar="FILE")
    group.add_argument("--page", type=pathlib.Path, metavar="FILE", nargs="*")
    parser.add_argument("--only", action="append", choices=SECTIONS)
    parser.add_argument("--on", nargs="+", metavar="NAME")
    options = parser.parse_args()
    if options.json:
        measure(options)
    else:
        write_page(options.page)


if __name__ == "__main__":
    main()
