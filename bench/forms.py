#!/usr/bin/env python3
"""Times the calls that people make, on inputs like theirs: every output and option on smooth masks, labels and seeds.

forms.py device [--quick] [--only TEXT] [--json FILE]     arrays on the GPU, beside CuPy
forms.py host [--quick] [--only TEXT] [--json FILE]       arrays in memory, beside edt, SciPy and cc3d where installed

A floor is the time in which a copy would read the inputs and write the outputs once, at --bandwidth (GB/s, both ways
together; measured here unless given). On the device every form is also compared with the host, bit for bit, on small
grids.
Needs the packages nearfield, NumPy and SciPy; `device` needs CuPy. forms_table.py turns the JSON into docs/tables.
"""

import argparse
import datetime
import functools
import importlib
import json
import statistics
import time

import numpy as np

from peers_forms import INTEGRAL, REAL, device_peers, host_peers

PLACES = {
    "device": {False: ((512,) * 3, (8192,) * 2), True: ((256,) * 3, (4096,) * 2)},
    "host": {False: ((192, 256, 256), (3072, 4096)), True: ((128,) * 3, (1024,) * 2)},
}
COMPARED = ((40, 50, 60), (200, 210))


class Host:
    """Arrays in memory, timed by the clock."""

    repeat, clock = 3, staticmethod(time.perf_counter)

    def move(self, array):
        return array

    def empty(self, shape, dtype):
        return np.empty(shape, dtype)

    def median_ms(self, call, repeat):
        """Runs once to warm up, then `repeat` times, or until three seconds have gone."""
        call()
        taken = []
        while len(taken) < repeat and sum(taken) < 3000:
            start = self.clock()
            call()
            taken.append(1e3 * (self.clock() - start))
        return statistics.median(taken)

    def copy_gb_s(self):
        source, target = np.zeros(1 << 26, np.float32), np.zeros(1 << 26, np.float32)
        return 2 * source.nbytes / self.median_ms(lambda: np.copyto(target, source), 3) / 1e6


class Device:
    """CuPy's arrays, timed by events on its stream."""

    repeat = 7

    def __init__(self):
        import cupy

        self.cupy = cupy
        self.move, self.empty = cupy.asarray, cupy.empty

    def median_ms(self, call, repeat):
        call(), call()
        self.cupy.cuda.Device().synchronize()
        taken = []
        for _ in range(repeat):
            before, after = self.cupy.cuda.Event(), self.cupy.cuda.Event()
            before.record(), call(), after.record(), after.synchronize()
            taken.append(self.cupy.cuda.get_elapsed_time(before, after))
        return statistics.median(taken)

    def copy_gb_s(self):
        source, target = self.cupy.empty(1 << 28, np.float32), self.cupy.empty(1 << 28, np.float32)
        return 2 * source.nbytes / self.median_ms(lambda: self.cupy.copyto(target, source), 5) / 1e6


@functools.cache
def on_gpu():
    """A GPU that CuPy finds, or None."""
    try:
        device = Device()
        return device if device.cupy.cuda.is_available() else None
    except ImportError:
        return None


def smooth_mask(random, shape, sigma, background):
    """Blurred noise above the quantile that leaves this share of the cells zero. CuPy blurs where there is a GPU."""
    noise = random.standard_normal(shape, dtype=np.float32)
    if device := on_gpu():
        blur = importlib.import_module("cupyx.scipy.ndimage").gaussian_filter
        noise = device.cupy.asnumpy(blur(device.move(noise), sigma, mode="wrap"))
    else:
        noise = importlib.import_module("scipy.ndimage").gaussian_filter(noise, sigma, mode="wrap")
    return (noise > np.quantile(noise.ravel()[::97], background)).astype(np.uint8)


def inputs(nf, shape, seed=11, sigma=None, background=0.7, count=3000):
    """A mask, single cells with labels of their own, and their Voronoi cells with smooth holes of background."""
    random = np.random.default_rng(seed)
    mask = smooth_mask(random, shape, sigma or (14 if len(shape) == 3 else 40), background)
    seeds = np.zeros(shape, np.int32)
    seeds.flat[random.choice(seeds.size, count, replace=False)] = np.arange(1, count + 1)
    labels = nf.voronoi(seeds, return_indices=False, return_labels=True)
    labels[smooth_mask(random, shape, 3, 0.9) > 0] = 0
    return mask, seeds, labels


# over 40 lines because it is one table of forms
def forms(nf, mask, seeds, labels, empty):
    """Yields name, call, and bytes in and out a cell; `empty(shape, dtype)` allocates the outputs that are given."""
    d, byte = mask.ndim, mask.dtype.itemsize
    out, index = dict(out=empty(mask.shape, np.float32)), empty(mask.shape, np.int32)
    linear = dict(return_indices="linear", indices_out=index)
    whole, real = dict(spacing=INTEGRAL[d]), dict(spacing=REAL[d])
    periodic, coordinates, alone = dict(border="periodic"), dict(return_indices=True), dict(return_distances=False)
    for name, options, written in (
        ("distance", out, 4),
        ("distance, integral spacing", out | whole, 4),
        ("distance, real spacing", out | real, 4),
        ("distance float64", dict(dtype="float64"), 8),
        ("squared uint32", dict(squared=True), 4),
        ("signed", out | dict(signed=True), 4),
        ("signed, half cell", out | dict(signed=True, half_cell=True), 4),
        ("signed, real spacing", out | dict(signed=True) | real, 4),
        ("closed borders", out | dict(border="closed"), 4),
        ("periodic borders", out | periodic, 4),
        ("periodic, real spacing", out | periodic | real, 4),
        ("within 5", out | dict(max_distance=5), 4),
        ("linear index", alone | linear, 4),
        ("coordinates", alone | coordinates, 4 * d),
        ("distance, linear index", out | linear, 8),
        ("distance, coordinates", coordinates, 4 + 4 * d),
        ("distance, coordinates, integral spacing", coordinates | whole, 4 + 4 * d),
        ("distance, coordinates, real spacing", coordinates | real, 4 + 4 * d),
        ("distance, coordinates, periodic", coordinates | periodic, 4 + 4 * d),
    ):
        yield f"mask: {name}", lambda o=options: nf.distance_transform(mask, **o), byte + written
    for name, options, written in (
        ("distance", out, 4),
        ("distance, integral spacing", out | whole, 4),
        ("distance, real spacing", out | real, 4),
        ("distance, closed", out | dict(border="closed"), 4),
        ("distance, linear index", out | linear, 8),
        ("distance, index, real spacing", out | linear | real, 8),
        ("signed", out | dict(signed=True), 4),
    ):
        yield f"labels: {name}", lambda o=options: nf.distance_transform(labels, multilabel=True, **o), 4 + written
    owner, weights = dict(return_indices=False, return_labels=True), (seeds % 1000).astype(np.float32)
    yield "seeds: labels", lambda: nf.voronoi(seeds, **owner), 8
    yield "seeds: labels, real spacing", lambda: nf.voronoi(seeds, **real, **owner), 8
    yield "seeds: labels within 20", lambda: nf.expand_labels(seeds, distance=20), 8
    yield "seeds: power diagram", lambda: nf.voronoi(seeds, weights=weights, **owner), 12
    yield "mask: components, faces", lambda: nf.label(mask, connectivity=1), byte + 4
    yield "mask: components, corners", lambda: nf.label(mask, connectivity=d), byte + 4
    yield "labels: components", lambda: nf.label(labels, criterion="equal"), 8
    yield "labels: statistics", lambda: nf.component_statistics(labels), 4


def differing(nf, device, shape, wanted):
    """Names of the forms whose bits on the device are not those of the host; tables of components are left out."""
    arrays = inputs(nf, shape, seed=5, sigma=4, background=0.6, count=40)
    here = {name: call for name, call, _ in forms(nf, *arrays, np.empty)}
    there = {name: call for name, call, _ in forms(nf, *map(device.move, arrays), device.empty)}
    for name in wanted:
        if not name.endswith("statistics"):
            one, other = (x if isinstance(x, tuple) else (x,) for x in (here[name](), there[name]()))
            if not all(np.array_equal(a, device.cupy.asnumpy(b)) for a, b in zip(one, other, strict=True)):
                yield name


def measured(nf, place, peers, shape, bandwidth, only):
    """Yields a row for each form of one shape."""
    arrays = [place.move(array) for array in inputs(nf, shape)]
    beside = peers(arrays[0], arrays[2])
    for name, call, cell_bytes in forms(nf, *arrays, place.empty):
        if only in name:
            ms = place.median_ms(call, place.repeat)
            library, theirs = beside.get(name, (None, None))
            yield {
                "shape": list(shape),
                "form": name,
                "ms": ms,
                "floors": ms / (cell_bytes * arrays[0].size / bandwidth / 1e6),
                "peer_ms": place.median_ms(theirs, 3) if theirs else None,
                "peer": library,
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", choices=PLACES)
    parser.add_argument("--quick", action="store_true", help="smaller grids")
    parser.add_argument("--only", default="", metavar="TEXT", help="forms whose name contains this")
    parser.add_argument("--bandwidth", type=float, metavar="GB_S", help="of a copy, read plus write")
    parser.add_argument("--json", metavar="FILE", help="writes the figures there")
    options = parser.parse_args()
    import nearfield as nf

    place, peers = (Device(), device_peers) if options.place == "device" else (Host(), host_peers)
    bandwidth = options.bandwidth or place.copy_gb_s()
    info = nf.info()
    print(f"{info}\ncopy {bandwidth:.0f} GB/s")
    rows = []
    for shape in PLACES[options.place][options.quick]:
        print("x".join(map(str, shape)))
        for row in measured(nf, place, peers, shape, bandwidth, options.only):
            beside = (
                f"  {row['peer']} {row['peer_ms']:9.2f} ms {row['peer_ms'] / row['ms']:6.1f}x" if row["peer"] else ""
            )
            print(f"  {row['form']:44} {row['ms']:9.3f} ms {row['floors']:8.1f} floors{beside}", flush=True)
            rows.append(row)
    if not rows:
        raise SystemExit(f"forms.py: no form's name contains {options.only!r}")
    mean, most = statistics.geometric_mean(r["floors"] for r in rows), max(r["floors"] for r in rows)
    print(f"geometric mean {mean:.2f} floors, most {most:.1f}")
    for shape in COMPARED if options.place == "device" else ():
        found = ", ".join(differing(nf, place, shape, dict.fromkeys(r["form"] for r in rows)))
        print(f"{'x'.join(map(str, shape))}, not the host's bits: {found or 'none'}")
    if options.json:
        machine = info.devices[0].name if options.place == "device" else f"{info.cores} cores, {info.simd}"
        said = {
            "info": str(info),
            "device": machine,
            "date": f"{datetime.date.today()}",
            "copy_gb_s": bandwidth,
            "rows": rows,
        }
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(said, file, indent=1)


if __name__ == "__main__":
    main()
