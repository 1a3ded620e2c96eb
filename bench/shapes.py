#!/usr/bin/env python3
"""Times the calls of shapes beside other libraries, in one process on the same masks.

shapes.py host [--quick] [--processor] [--json FILE]
                                            arrays in memory, beside scikit-image, PoreSpy and localthickness
shapes.py device [--quick] [--json FILE]    CuPy's arrays, beside cuCIM
shapes.py --table FILE...                   writes docs/tables/shapes-host.md and shapes-device.md from such files

--processor counts the processor time of all threads, for a machine that other programs use, too.
Peers that are not installed are named and left out. Where a peer has another answer, as all have for thickness, the
mean and the largest difference of its diameters stand beside its time. Masks are blurred noise: s8 50 % has a blur of 8
cells and half its cells in the shape. Needs nearfield, NumPy and SciPy.
"""

import argparse
import datetime
import importlib
import importlib.metadata
import json
import time
from functools import partial

import numpy as np

from forms import Device, Host, smooth_mask
from report_data import number, table
from report_pages import write_table

# (axes, blur, share of background): sides in full and in quick runs
MASKS = {"s8 50 %": (3, 8, 0.5), "s8 70 %": (3, 8, 0.3), "s14 70 %": (3, 14, 0.3), "image, s8 50 %": (2, 8, 0.5)}
SIDES = {"host": {3: (256, 64), 2: (4096, 512)}, "device": {3: (512, 96), 2: (8192, 1024)}}
HEAD = {
    place: (
        f"Shapes, on the {place}",
        "Masks are blurred noise: s8 50 % has a blur of 8 cells and half its cells in the shape. All calls are "
        "Python's, medians, answers allocated in the call; peers ran in the same process. *Off by*: mean and "
        f"largest difference of a peer's diameters, in cells. `./dev bench shapes {place}` times every row.",
    )
    for place in SIDES
}


def calls(nf, mask, inlets, values, known):
    """{name: call} of ours."""
    return {
        "distances": lambda: nf.distance_transform(mask),
        "dilation, radius 10.5": lambda: nf.dilation(mask, 10.5),
        "opening, radius 10.5": lambda: nf.opening(mask, 10.5),
        "local thickness": lambda: nf.local_thickness(mask),
        "porosimetry, first face": lambda: nf.porosimetry(mask, inlets),
        "medial axis": lambda: nf.medial_axis(mask),
        "skeleton": lambda: nf.skeletonize(mask),
        "natural neighbours, 1 % known": lambda: nf.natural_neighbor(values, known, dtype="float32"),
    }


def peers(place, mask):
    """(call of ours, distribution, module, call of its module, what turns its answer into diameters or None)."""
    volume = mask.ndim == 3
    if place == "device":
        yield (
            "distances",
            "cucim-cu13",
            "cucim.core.operations.morphology",
            lambda m: m.distance_transform_edt(mask),
            None,
        )
        return
    foreground = mask > 0
    yield (
        "dilation, radius 10.5",
        "scikit-image",
        "skimage.morphology",
        lambda m: m.isotropic_dilation(mask, 10.5),
        None,
    )
    yield "opening, radius 10.5", "scikit-image", "skimage.morphology", lambda m: m.isotropic_opening(mask, 10.5), None
    yield "skeleton", "scikit-image", "skimage.morphology", lambda m: m.skeletonize(foreground), None
    if not volume:
        yield "medial axis", "scikit-image", "skimage.morphology", lambda m: m.medial_axis(foreground, rng=0), None
    yield "local thickness", "porespy", "porespy.filters", lambda m: m.local_thickness(foreground), lambda r: 2 * r
    theirs = lambda m: m.local_thickness(foreground)  # noqa: E731
    yield "local thickness", "localthickness", "localthickness", theirs, lambda r: 2 * r


def beside(place, device, ours, mask, missing, repeat):
    """Yields (call, {library, version, ms, off})."""
    for name, distribution, module, call, diameters in peers(place, mask):
        try:
            library, version = importlib.import_module(module), importlib.metadata.version(distribution)
        except ImportError:
            missing.add(distribution)
            continue
        made, once = call(library), partial(call, library)
        row = {"library": distribution, "version": version, "ms": device.median_ms(once, repeat)}
        if diameters is not None:
            off = abs(np.asarray(diameters(made), float) - ours[name]())[mask > 0]
            row["off"] = [float(off.mean()), float(off.max())]
        yield name, row


def measure(place, quick):
    import nearfield as nf

    device = Host() if place == "host" else Device()
    repeat, rows, missing = 1 if quick else device.repeat, [], set()
    for title, (axes, blur, background) in MASKS.items():
        shape = (SIDES[place][axes][quick],) * axes
        random = np.random.default_rng(11)
        made = smooth_mask(random, shape, min(blur, shape[0] / 12), background)
        known, values = random.random(shape, np.float32) < 0.01, random.random(shape, np.float32)
        mask = device.move(made)
        first = np.zeros(shape, bool)
        first[0] = True
        ours = calls(nf, mask, device.move(first), device.move(values), device.move(known))
        theirs = {}
        for name, row in beside(place, device, ours, mask, missing, repeat):
            theirs.setdefault(name, []).append(row)
        for name, call in ours.items():
            try:
                ms = device.median_ms(call, repeat)
            except (NotImplementedError, RuntimeError) as problem:
                print(f"{title:16} {name:32} {problem}")
                continue
            rows.append({"mask": title, "shape": shape, "call": name, "ms": ms, "peers": theirs.get(name, [])})
            said = "; ".join(f"{p['library']} {p['ms']:.1f} ms, {p['ms'] / ms:.1f}x" for p in theirs.get(name, []))
            print(f"{title:16} {'x'.join(map(str, shape)):14} {name:32} {ms:10.3f} ms  {said}", flush=True)
    info = nf.info()
    machine = info.devices[0].name if place == "device" else f"{info.cores} cores, {info.simd}"
    if missing:
        print(f"not installed: {', '.join(sorted(missing))}")
    return {
        "place": place,
        "device": machine,
        "date": f"{datetime.date.today()}",
        "missing": sorted(missing),
        "rows": rows,
    }


def off_by(peer):
    return f"{peer['off'][0]:.2g}, {peer['off'][1]:.3g}" if "off" in peer else ""


def write(said):
    """A row for each call and peer."""
    rows = []
    for row in said["rows"]:
        size = "x".join(map(str, row["shape"]))
        for peer in row["peers"] or [None]:
            beside = (
                [f"{peer['library']} {peer['version']}", number(peer["ms"]), f"{peer['ms'] / row['ms']:.1f}x"]
                if peer
                else [""] * 3
            )
            rows.append(
                [f"{row['mask']}, {size}", row["call"], number(row["ms"]), *beside, off_by(peer) if peer else ""]
            )
    missing = f" Not installed: {', '.join(said['missing'])}." if said["missing"] else ""
    clock = " Processor times of all threads: other programs ran, too." if said.get("processor") else ""
    text = f"{said['device']}, {said['date']}.{clock}{missing}\n\n" + table(
        ["mask", "call", "ms", "beside", "ms", "faster", "off by"], rows
    )
    write_table(f"shapes-{said['place']}", text, HEAD[said["place"]])


def main(text=__doc__, measured=measure, written=write):
    """The command line of a sheet: how it measures a place, and writes the table of a file."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", nargs="?", choices=("host", "device"))
    parser.add_argument("--quick", action="store_true", help="small masks, one run each")
    parser.add_argument("--processor", action="store_true", help="count processor time on the host")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--table", nargs="+", default=[], help="files to make tables of")
    options = parser.parse_args()
    if bool(options.table) == bool(options.place):
        parser.error("give a place to measure, or --table with files")
    for path in options.table:
        with open(path, encoding="utf-8") as file:
            written(json.load(file))
    if options.place:
        if options.processor:
            Host.clock = staticmethod(time.process_time)
        said = {**measured(options.place, options.quick), "processor": options.processor}
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(said, file, indent=1)


if __name__ == "__main__":
    main()
