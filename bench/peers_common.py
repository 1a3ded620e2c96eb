"""What measurements of other libraries share with bench_exact: data, way of timing, JSON."""

import argparse
import datetime
import json
import math
import pathlib
import platform
import statistics
import time

SIDES = {
    "host": {2: [512, 1024, 2048, 4096], 3: [64, 128, 256]},
    "device": {2: [512, 1024, 2048, 4096, 8192, 16384], 3: [64, 128, 256, 512, 768, 1024]},
}
DENSITIES = [0.0001, 0.01, 0.1, 0.3, 0.5, 0.9]


def arguments(place, text):
    parser = argparse.ArgumentParser(description=text)

    def numbers(kind):
        return lambda value: [kind(part) for part in value.split(",")]

    parser.add_argument(
        "--2d", dest="sides2", type=numbers(int), default=SIDES[place][2], help="sides of squares; 0: none"
    )
    parser.add_argument(
        "--3d", dest="sides3", type=numbers(int), default=SIDES[place][3], help="sides of cubes; 0: none"
    )
    parser.add_argument("--densities", type=numbers(float), default=DENSITIES)
    parser.add_argument("--json", type=pathlib.Path, help="file for the results")
    return parser


def shapes_of(options):
    return [(n, n) for n in options.sides2 if n > 0] + [(n, n, n) for n in options.sides3 if n > 0]


def random_sites(cells, density):
    """bench.hpp's random_sites: cell i is a site (0) when the upper half of mix(i) is below density * 2^32."""
    import numpy as np

    image = np.empty(cells, np.uint8)
    limit = np.uint64(int(density * 2**32))
    with np.errstate(over="ignore"):
        for begin in range(0, cells, 1 << 22):
            x = np.arange(begin, min(begin + (1 << 22), cells), dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            x ^= x >> np.uint64(31)
            image[begin : begin + x.size] = (x >> np.uint64(32)) >= limit
    return image


def time_runs(work, least=3, most=11, budget_s=1.0):
    """Median of milliseconds after a warm-up, and how many runs."""
    work()
    runs, start = [], time.perf_counter()
    while len(runs) < most and (len(runs) < least or time.perf_counter() - start < budget_s):
        before = time.perf_counter()
        work()
        runs.append(1e3 * (time.perf_counter() - before))
    return statistics.median(runs), len(runs)


class Results:
    def __init__(self, place, device, details):
        self.head = {
            "engine": "peers",
            "place": place,
            "device": device,
            "details": details,
            "compiler": f"Python {platform.python_version()}",
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        }
        self.rows = []
        print(f"\npeers on {device} ({details})")
        print(f"{'image':<22} {'sites':>9} {'engine':>14} {'field':>9} {'threads':>8} {'ms':>11} {'Mcells/s':>10}")

    def add(self, engine, data, shape, density, field, threads, ms, runs):
        name = "x".join(map(str, shape)) if data == "random" else data
        rate = math.prod(shape) / ms / 1e3
        line = (
            f"{name:<22} {100 * density:>8.2f}% {engine:>14} {field:>9} {threads or '-':>8} {ms:>11.3f} {rate:>10.1f}"
        )
        print(line, flush=True)
        row = {"engine": engine, "data": data, "shape": list(shape), "density": density, "field": field}
        self.rows.append(row | {"threads": threads, "ms": ms, "runs": runs})

    def write(self, path):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({**self.head, "results": self.rows}, indent=1) + "\n")
