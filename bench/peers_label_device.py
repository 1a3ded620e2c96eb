"""Times CuPy's label() on images of `bench_all label --place device`; image and answer stay on the device."""

import argparse
import json
import math
import pathlib
import statistics

import cupy as cp
import numpy as np
from cupyx.scipy import ndimage

CHANGES = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}


def grains(shape, grain, percent):
    """label.hpp's blocks: std::mt19937 is NumPy's MT19937 with its old seeding."""
    bits = np.random.MT19937()
    bits._legacy_seeding(1000 * grain + percent)
    blocks = [-(-n // grain) for n in shape]
    image = cp.asarray((bits.random_raw(math.prod(blocks)) % 100 < percent).reshape(blocks).astype(np.uint8))
    for axis in range(len(shape)):
        image = cp.repeat(image, grain, axis=axis)
    return cp.ascontiguousarray(image[tuple(slice(n) for n in shape)])


def timed(image, connectivity, runs=5):
    structure = cp.asarray(ndimage.generate_binary_structure(image.ndim, CHANGES[connectivity]))
    out = cp.empty(image.shape, cp.int32)
    ms = []
    for run in range(runs + 2):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        ndimage.label(image, structure, output=out)
        end.record()
        end.synchronize()
        if run > 1:
            ms.append(cp.cuda.get_elapsed_time(start, end))
    return statistics.median(ms)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--2d", default="4096,8192", dest="sides2")
    parser.add_argument("--3d", default="512", dest="sides3")
    parser.add_argument("--grains", default="1,8")
    parser.add_argument("--percents", default="10,50,90")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    numbers = {
        name: [int(n) for n in getattr(options, name).split(",")] for name in ("sides2", "sides3", "grains", "percents")
    }
    shapes = [(n,) * 2 for n in numbers["sides2"] if n] + [(n,) * 3 for n in numbers["sides3"] if n]
    engine, rows = f"CuPy {cp.__version__}", []
    for shape in shapes:
        for grain in numbers["grains"]:
            for percent in numbers["percents"]:
                image = grains(shape, grain, percent)
                for connectivity in (8, 4) if len(shape) == 2 else (26, 6):
                    ms = timed(image, connectivity)
                    print(f"{engine} {'x'.join(map(str, shape))} g {grain} {percent} % {connectivity}: {ms:.3f} ms")
                    rows.append(
                        {"engine": engine, "data": "random", "shape": shape, "grain": grain, "percent": percent}
                        | {"connectivity": connectivity, "what": "labels", "threads": 0, "ms": ms, "runs": 5}
                    )
    if options.json:
        device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
        options.json.write_text(json.dumps({"engine": engine, "place": "device", "device": device, "labels": rows}))


if __name__ == "__main__":
    main()
