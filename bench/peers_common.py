"""What measurements of other libraries share with `bench_all exact`: data, way of timing, JSON."""

import argparse
import datetime
import json
import math
import pathlib
import platform
import statistics
import time

SIDES = {
    "host": {2: [512, 1024, 2048, 4096], 3: [64, 128, 256, 512]},
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
    parser.add_argument(
        "--pictures", type=lambda value: value.split(","), default=[], help="images besides the random ones, by name"
    )
    parser.add_argument("--atlas", type=pathlib.Path, help="NIfTI file for the picture 'atlas'")
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


def mix(x):
    """bench.hpp's mix of one number."""
    whole = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & whole
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & whole
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & whole
    return x ^ (x >> 31)


def paint_balls(shape, least, most, inside):
    """pictures.cpp's 200 balls, radii from side / least to side / most; `inside` in them, its opposite elsewhere."""
    import numpy as np

    size = (1,) * (3 - len(shape)) + tuple(shape)
    image = np.full(size, 1 - inside, np.uint8)
    side = max(size)
    for ball in range(200):
        centre = [mix(4 * ball + axis) % size[axis] for axis in range(3)]
        radius = side // least + mix(4 * ball + 3) % (side // most - side // least + 1)
        near = [slice(max(c - radius, 0), min(c + radius + 1, n)) for c, n in zip(centre, size, strict=True)]
        z, y, x = (np.arange(s.start, s.stop, dtype=np.int64) - c for s, c in zip(near, centre, strict=True))
        distance2 = (z * z)[:, None, None] + (y * y)[None, :, None] + (x * x)[None, None, :]
        image[tuple(near)][distance2 <= radius * radius] = inside
    return image.reshape(shape)


def paint_atlas(shape, path):
    """pictures.cpp's atlas: the file's nearest cells, of its middle plane where an image is wanted."""
    import nibabel
    import numpy as np

    # nearfield's array order is the reverse of the file's (x, y, z).
    atlas = (np.asarray(nibabel.load(path).dataobj).T != 0).astype(np.uint8)
    if len(shape) == 2:
        atlas = atlas[atlas.shape[0] // 2]
    nearest = [np.arange(n) * had // n for n, had in zip(shape, atlas.shape, strict=True)]
    return np.ascontiguousarray(atlas[np.ix_(*nearest)])


def paint(name, shape, atlas=None):
    """One of the pictures of pictures.cpp as uint8; sites are 0. None where the atlas is wanted and not there."""
    flat = len(shape) == 2
    if name == "balls":
        return paint_balls(shape, *((128, 32) if flat else (64, 16)), inside=0)
    if name == "blobs":
        return paint_balls(shape, *((64, 24) if flat else (24, 8)), inside=1)
    if name == "atlas":
        return paint_atlas(shape, atlas) if atlas else None
    raise SystemExit(f"peers know the pictures balls, blobs and atlas, not {name}")


# Work that takes longer than this is run twice in all, and the better time counts.
SLOW_S = 1.0


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def time_runs(*roads, least=3, most=11, budget_s=1.0):
    """Median milliseconds of the fastest of the functions, after a warm-up, and how many runs it is of."""
    first = [seconds(road) for road in roads]
    if len(roads) > 1 and min(first) < SLOW_S:
        first = [seconds(road) for road in roads]  # the warm-up was the first one's alone
    best = min(range(len(roads)), key=first.__getitem__)
    if first[best] > SLOW_S:
        return 1e3 * min(first[best], seconds(roads[best])), 2
    runs, start = [], time.perf_counter()
    while len(runs) < most and (len(runs) < least or time.perf_counter() - start < budget_s):
        runs.append(1e3 * seconds(roads[best]))
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
        name = ("" if data == "random" else f"{data} ") + "x".join(map(str, shape))
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
