"""Times OpenCV, cc3d, SciPy and scikit-image on the images of `bench_all label`.

What is not installed is named and left out.
"""

import argparse
import functools
import json
import math
import os
import pathlib
import time
from importlib.metadata import version

import numpy as np

from peers_common import Results
from peers_host import available, processor


def grains(shape, grain, percent, sample=0):
    """label.hpp's blocks: std::mt19937 is NumPy's MT19937 with its old seeding."""
    bits = np.random.MT19937()
    bits._legacy_seeding(1000 * grain + percent + 1000000 * sample)
    blocks = [-(-n // grain) for n in shape]
    image = (bits.random_raw(math.prod(blocks)) % 100 < percent).reshape(blocks).astype(np.uint8)
    for axis in range(len(shape)):
        image = np.repeat(image, grain, axis=axis)
    return np.ascontiguousarray(image[tuple(slice(n) for n in shape)])


class Outputs:
    """Labels given to the peers that take them."""

    def __init__(self):
        self._kept = None

    def get(self, shape):
        if self._kept is None or self._kept.shape != shape:
            self._kept = np.zeros(shape, np.int32)
        return self._kept


def best_of(work, clock, least=3, most=21, budget_s=0.15):
    """Milliseconds of the best run after a warm-up, and how many there were."""

    def seconds():
        start = clock()
        work()
        return clock() - start

    warm_up = seconds()
    runs, spent = [], 0.0
    while len(runs) < most and (len(runs) < (2 if warm_up > 1 else least) or spent < budget_s):
        runs.append(seconds())
        spent += runs[-1]
    return 1e3 * min(runs), len(runs)


def engines(options):
    """(name, what, threads, ranks, most cells, function of image and connectivity)"""
    cv2, cc3d, ndimage, measure = (available(name) for name in ("cv2", "cc3d", "scipy.ndimage", "skimage.measure"))
    table, outputs, every, small = [], Outputs(), 1 << 40, options.slow_cells
    changes = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}

    def opencv(image, connectivity, threads, stats):
        cv2.setNumThreads(threads)
        call = cv2.connectedComponentsWithStats if stats else cv2.connectedComponents
        call(image, labels=outputs.get(image.shape), connectivity=connectivity, ltype=cv2.CV_32S)

    def by_cc3d(image, connectivity, stats):
        labels = cc3d.connected_components(image, connectivity=connectivity, binary_image=True, out_dtype=np.uint32)
        if stats:
            cc3d.statistics(labels)

    def scipy(image, connectivity):
        structure = ndimage.generate_binary_structure(image.ndim, changes[connectivity])
        ndimage.label(image, structure, output=outputs.get(image.shape))

    def skimage(image, connectivity):
        measure.label(image, connectivity=changes[connectivity])

    tables = "size, box, centroid"
    if cv2:
        for threads in options.threads:
            for what in ("labels", tables):
                call = functools.partial(opencv, threads=threads, stats=what == tables)
                table.append((f"OpenCV {cv2.__version__}", what, threads, (2,), every, call))
    if cc3d:
        for what in ("labels", tables):
            call = functools.partial(by_cc3d, stats=what == tables)
            table.append((f"cc3d {version('connected-components-3d')}", what, 1, (3,), every, call))
    if ndimage:
        table.append((f"SciPy {version('scipy')}", "labels", 1, (2, 3), small, scipy))
    if measure:
        table.append((f"scikit-image {version('scikit-image')}", "labels", 1, (2, 3), small, skimage))
    return table


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)

    def numbers(value):
        return [int(part) for part in value.split(",")]

    parser.add_argument("--2d", dest="sides2", type=numbers, default=[2048, 4096], help="sides of squares; 0: none")
    parser.add_argument("--3d", dest="sides3", type=numbers, default=[256], help="sides of cubes; 0: none")
    parser.add_argument("--grains", type=numbers, default=[1, 2, 4, 8, 16])
    parser.add_argument("--percents", type=numbers, default=[10, 30, 50, 70, 90])
    parser.add_argument("--what", type=lambda value: value.split(";"), default=["labels"])
    parser.add_argument("--hard", help="bench_all's alone")
    parser.add_argument("--threads", type=numbers, default=sorted({1, len(os.sched_getaffinity(0))}))
    parser.add_argument("--slow-cells", type=int, default=1 << 22, help="SciPy and scikit-image up to this size")
    parser.add_argument("--processor-time", action="store_true", help="instead of wall-clock time")
    parser.add_argument("--json", type=pathlib.Path, help="file for the results")
    return parser.parse_args()


def main():
    options = arguments()
    results = Results("host", processor(), f"{len(os.sched_getaffinity(0))} cores")
    rows, table = [], engines(options)
    clock = time.process_time if options.processor_time else time.perf_counter
    shapes = [(n, n) for n in options.sides2 if n > 0] + [(n, n, n) for n in options.sides3 if n > 0]
    for shape in shapes:
        for grain in options.grains:
            for percent in options.percents:
                image = grains(shape, grain, percent)
                for engine, what, threads, ranks, most, call in table:
                    if what not in options.what or len(shape) not in ranks or image.size > most:
                        continue
                    first = shape[0] == (options.sides2 if len(shape) == 2 else options.sides3)[0]
                    if what != "labels" and not (first and threads == options.threads[0]):
                        continue  # as bench_all does
                    for connectivity in (8, 4) if len(shape) == 2 else (26, 18, 6):
                        ms, runs = best_of(functools.partial(call, image, connectivity), clock)
                        row = {"engine": engine, "data": "random", "shape": list(shape), "grain": grain}
                        row |= {"percent": percent, "connectivity": connectivity, "what": what}
                        rows.append(row | {"threads": threads, "ms": ms, "runs": runs})
                        print(f"{shape} g {grain} {percent} % {connectivity} {engine} {what} {threads}: {ms:.3f} ms")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**results.head, "labels": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
