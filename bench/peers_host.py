"""Times edt, SciPy and OpenCV on the data of `bench_all exact`. What is not installed is named and left out."""

import functools
import importlib
import os
import pathlib
from importlib.metadata import version

import numpy as np

from peers_common import Results, arguments, paint, random_sites, shapes_of, time_runs


def available(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"peers_host: {name} is not installed, its rows are left out")
        return None


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return "unknown processor"


class Outputs:
    """Arrays that are given to the peers that take one, so that none of their time goes into fresh memory."""

    def __init__(self):
        self._kept = {}

    def get(self, shape, kind):
        if (shape, kind) not in self._kept:
            self._kept = {key: array for key, array in self._kept.items() if key[0][-2:] == shape[-2:]}
            self._kept[shape, kind] = np.empty(shape, kind)
        return self._kept[shape, kind]


def engines(options):
    """(name, field, threads, ranks, most cells, functions of the image of which the fastest counts)"""
    edt, ndimage, cv2 = available("edt"), available("scipy.ndimage"), available("cv2")
    table, outputs = [], Outputs()

    def opencv(image, threads):
        cv2.setNumThreads(threads)
        to = outputs.get(image.shape, np.float32)
        cv2.distanceTransform(image, cv2.DIST_L2, cv2.DIST_MASK_PRECISE, to, cv2.CV_32F)

    for threads in options.threads:
        if edt:
            # edt takes one road for booleans and another for labels; which is faster depends on the image.
            roads = [
                lambda image, n=threads: edt.edt(image, parallel=n),
                lambda image, n=threads: edt.edt(image.view(bool), parallel=n),
            ]
            table.append((f"edt {version('edt')}", "distance", threads, (2, 3), 1 << 40, roads))
        if cv2:
            roads = [lambda image, n=threads: opencv(image, n)]
            table.append((f"OpenCV {cv2.__version__}", "distance", threads, (2,), 1 << 40, roads))
    if ndimage:
        whole, small = ndimage.distance_transform_edt, options.scipy_cells

        def distances(image):
            whole(image, distances=outputs.get(image.shape, np.float64))

        def sites(image):
            to = outputs.get((image.ndim, *image.shape), np.int32)
            whole(image, return_distances=False, return_indices=True, indices=to)

        table.append((f"SciPy {version('scipy')}", "distance", 1, (2, 3), small, [distances]))
        table.append((f"SciPy {version('scipy')}", "index", 1, (2, 3), small, [sites]))
    return table


def main():
    parser = arguments("host", __doc__)
    parser.add_argument(
        "--threads", type=lambda v: [int(n) for n in v.split(",")], default=None, help="default: 1 and every core"
    )
    parser.add_argument(
        "--file", type=pathlib.Path, action="append", default=[], help="NIfTI files, foreground = not zero"
    )
    parser.add_argument("--scipy-cells", type=int, default=1 << 25, help="SciPy is timed on images up to this size")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    if options.threads is None:
        options.threads = sorted({1, cores})
    table = engines(options)
    results = Results("host", processor(), f"{cores} cores")

    def run(data, image, density):
        for name, field, threads, ranks, most, roads in table:
            if image.ndim in ranks and image.size <= most:
                ms, runs = time_runs(*(functools.partial(road, image) for road in roads))
                results.add(name, data, image.shape, density, field, threads, ms, runs)

    for shape in shapes_of(options):
        for density in options.densities:
            run("random", random_sites(int(np.prod(shape)), density).reshape(shape), density)
        for name in options.pictures:
            image = paint(name, shape, options.atlas)
            if image is not None:
                run(name, image, float((image == 0).mean()))
    for path in options.file:
        nibabel = available("nibabel")
        if nibabel:
            image = np.ascontiguousarray(np.asarray(nibabel.load(path).dataobj).T != 0).astype(np.uint8)
            run(path.name, image, float((image == 0).mean()))
    results.write(options.json)


if __name__ == "__main__":
    main()
