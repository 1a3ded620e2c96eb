"""Times edt, SciPy and OpenCV on the data of bench_exact. What is not installed is named and left out."""

import importlib
import os
import pathlib
from importlib.metadata import version

import numpy as np
from peers_common import Results, arguments, random_sites, shapes_of, time_runs


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


def engines(options):
    """(name, field, threads, ranks, most cells, functions of the image of which the fastest counts)"""
    edt, ndimage, cv2 = available("edt"), available("scipy.ndimage"), available("cv2")
    table = []
    for threads in options.threads:
        if edt:
            # edt takes one road for booleans and another for labels; which is faster depends on the image.
            roads = [
                lambda image, n=threads: edt.edt(image, parallel=n),
                lambda image, n=threads: edt.edt(image.view(bool), parallel=n),
            ]
            table.append((f"edt {version('edt')}", "distance", threads, (2, 3), 1 << 40, roads))
    if cv2:

        def opencv(image):
            cv2.setNumThreads(max(options.threads))
            return cv2.distanceTransform(image, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)

        table.append((f"OpenCV {cv2.__version__}", "distance", max(options.threads), (2,), 1 << 40, [opencv]))
    if ndimage:
        small = options.scipy_cells
        table.append((f"SciPy {version('scipy')}", "distance", 1, (2, 3), small, [ndimage.distance_transform_edt]))

        def sites(image):
            return ndimage.distance_transform_edt(image, return_distances=False, return_indices=True)

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
                ms, runs = min(time_runs(lambda: road(image)) for road in roads)  # noqa: B023
                results.add(name, data, image.shape, density, field, threads, ms, runs)

    for shape in shapes_of(options):
        for density in options.densities:
            run("random", random_sites(int(np.prod(shape)), density).reshape(shape), density)
    for path in options.file:
        nibabel = available("nibabel")
        if nibabel:
            # nearfield's array order is the reverse of the file's (x, y, z).
            image = np.ascontiguousarray(np.asarray(nibabel.load(path).dataobj).T != 0).astype(np.uint8)
            run(path.name, image, float((image == 0).mean()))
    results.write(options.json)


if __name__ == "__main__":
    main()
