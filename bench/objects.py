#!/usr/bin/env python3
"""Times watersheds and what goes with them beside scikit-image or cuCIM, in one process on the same inputs.

objects.py host [--quick] [--json FILE]      arrays in memory, beside scikit-image
objects.py device [--quick] [--json FILE]    CuPy's arrays, beside cuCIM
objects.py --table FILE...                   writes docs/tables/objects-host.md and objects-device.md from such files

Peers that are not installed are named and left out. Discs of 15 to 40 cells overlap in the image; the volume is blurred
noise, half of it objects. Where a peer makes labels, the share of cells to which it gives another one stands beside its
time. Needs nearfield, NumPy and SciPy.
"""

import datetime
import importlib
import importlib.metadata

import numpy as np

from forms import Device, Host, smooth_mask
from report_data import number, table
from report_pages import write_table
from shapes import main

SIDES = {"host": {2: (2048, 512), 3: (192, 64)}, "device": {2: (8192, 1024), 3: (512, 96)}}
PEERS = {"host": ("scikit-image", "skimage"), "device": ("cucim-cu13", "cucim.skimage")}
HEAD = (
    "Objects, on the {place}",
    "Discs overlap in the image; the volume is blurred noise, half of it objects. Distances are there before the call "
    "but for `split`. All calls are Python's, medians, answers allocated in the call; peers ran in the same process on "
    "the same arrays. "
    "*Differs*: cells with another label. `./dev bench objects {place}` times every row.",
)


def discs(random, side):
    """Some 300 discs a million cells."""
    mask = np.zeros((side, side), bool)
    for _ in range(side * side * 3 // 10000):
        (y, x), r = random.integers(0, side, 2), int(random.integers(15, 40))
        top, left = max(0, y - r), max(0, x - r)
        part = mask[top : y + r + 1, left : x + r + 1]
        part |= np.square(np.arange(top, top + part.shape[0]) - y)[:, None] <= r * r - np.square(
            np.arange(left, left + part.shape[1]) - x
        )
    return mask


def calls(nf, mask, squared, byte, markers):
    """{name: (call of ours, name of a peer's module, call of it or None, whether answers are labels)}."""
    near, distance = mask.ndim, nf.distance_transform(mask)
    words = {"mask": mask, "maxima": True, "squared": True}
    grown = lambda m: m.watershed(-distance, markers, connectivity=near, mask=mask)  # noqa: E731
    return {
        "split": (lambda: nf.split(mask), None, None, False),
        "peaks and watershed": (lambda: nf.watershed(squared, connectivity=near, h=1, **words), None, None, False),
        "watershed, markers": (
            lambda: nf.watershed(squared, markers, connectivity=near, **words),
            "segmentation",
            grown,
            True,
        ),
        "peaks, 10 cells apart": (
            lambda: nf.peaks(distance, min_distance=10),
            "feature",
            lambda m: m.peak_local_max(distance, min_distance=10, exclude_border=False),
            False,
        ),
        "h-maxima, uint8": (
            lambda: nf.h_maxima(byte, 4, connectivity=near),
            "morphology",
            lambda m: m.h_maxima(byte, 4),
            False,
        ),
        "reconstruction, uint8": (
            lambda: nf.reconstruct_gray(byte // 2, byte, connectivity=near),
            "morphology",
            lambda m: m.reconstruction(byte // 2, byte, footprint=np.ones((3,) * near)),
            False,
        ),
        "hierarchy, cut by volume": (
            lambda: nf.watershed_hierarchy(byte, connectivity=near, maxima=True).cut(volume=1000),
            None,
            None,
            False,
        ),
    }


def measure(place, quick):
    import nearfield as nf

    device = Host() if place == "host" else Device()
    repeat, rows, missing = 1 if quick else device.repeat, [], set()
    distribution, package = PEERS[place]
    for title, axes in (("discs", 2), ("volume", 3)):
        side, random = SIDES[place][axes][quick], np.random.default_rng(11)
        made = discs(random, side) if axes == 2 else smooth_mask(random, (side,) * 3, min(8, side / 12), 0.5) > 0
        squared = nf.distance_transform(made, squared=True)
        seeds = np.zeros(made.shape, np.int32)
        found = nf.peaks(squared, h=1, squared=True)
        seeds[tuple(found.T)] = np.arange(1, len(found) + 1)
        byte = np.minimum(4 * np.sqrt(squared.astype(float)), 255).astype(np.uint8)
        given = [device.move(each) for each in (made, squared, byte, seeds)]
        for name, (ours, module, theirs, labels) in calls(nf, *given).items():
            try:
                ms = device.median_ms(ours, repeat)
            except (TypeError, ValueError, NotImplementedError, RuntimeError) as problem:
                print(f"{title:8} {name:26} {problem}")
                continue
            row = {"input": title, "shape": made.shape, "call": name, "ms": ms, "objects": len(found)}
            try:
                library = theirs and importlib.import_module(f"{package}.{module}")
                if theirs and hasattr(library, theirs.__code__.co_names[0]):
                    row["peer"] = [distribution, importlib.metadata.version(distribution)]
                    if labels:
                        row["differs"] = float((theirs(library) != ours())[given[0]].mean())
                    row["peer_ms"] = device.median_ms(lambda call=theirs, of=library: call(of), 1)
            except ImportError:
                missing.add(distribution)
            rows.append(row)
            beside = f"{row['peer'][0]} {row['peer_ms']:.1f} ms, {row['peer_ms'] / ms:.1f}x" if "peer" in row else ""
            print(f"{title:8} {'x'.join(map(str, made.shape)):12} {name:26} {ms:10.2f} ms  {beside}", flush=True)
    info = nf.info()
    machine = info.devices[0].name if place == "device" else f"{info.cores} cores, {info.simd}"
    if missing:
        print(f"not installed: {', '.join(sorted(missing))}")
    return {"place": place, "device": machine, "date": f"{datetime.date.today()}", "rows": rows}


def write(said):
    rows = []
    for row in said["rows"]:
        size = "x".join(map(str, row["shape"]))
        peer = (
            [" ".join(row["peer"]), number(row["peer_ms"]), f"{row['peer_ms'] / row['ms']:.1f}x"]
            if "peer" in row
            else []
        )
        differs = f"{100 * row['differs']:.2g} %" if "differs" in row else ""
        rows.append([f"{row['input']}, {size}", row["call"], number(row["ms"]), *(peer or [""] * 3), differs])
    text = f"{said['device']}, {said['date']}.\n\n" + table(
        ["input", "call", "ms", "beside", "ms", "faster", "differs"], rows
    )
    write_table(f"objects-{said['place']}", text, tuple(each.format(place=said["place"]) for each in HEAD))


if __name__ == "__main__":
    main(__doc__, measure, write)
