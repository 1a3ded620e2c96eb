"""Times cc3d, SciPy and scikit-image on the label images of `bench_all components`.

What is not installed is left out.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import time
from importlib.metadata import PackageNotFoundError, version

import numpy as np


def block_image(shape, grain):
    """components.cpp's image: std::mt19937(1000 * grain + 50), a block is foreground when the number % 100 < 50."""
    if grain == 0:
        return np.ones(shape, np.uint8)
    blocks = tuple(-(-side // grain) for side in shape)
    numbers = np.random.RandomState(1000 * grain + 50).randint(0, 1 << 32, np.prod(blocks), np.uint32)
    image = (numbers % 100 < 50).astype(np.uint8).reshape(blocks)
    for axis in range(len(shape)):
        image = image.repeat(grain, axis)
    return np.ascontiguousarray(image[tuple(slice(side) for side in shape)])


def calls(labels, count, small, real):
    """(package, field, function); fields as in components.hpp, of the arrays that a package has together."""
    index = np.arange(1, count + 1)
    try:
        import cc3d

        unsigned = labels.astype(np.uint32)
        package = f"cc3d {version('connected-components-3d')}"
        yield package, "shape", lambda: cc3d.statistics(unsigned)
        yield package, "contacts", lambda: cc3d.contacts(unsigned, connectivity=4 if labels.ndim == 2 else 6)
    except (ImportError, PackageNotFoundError):
        print("peers_components: cc3d is not installed, its rows are left out")
    try:
        from scipy import ndimage

        def all_values(values):
            for measure in (ndimage.minimum, ndimage.maximum, ndimage.sum_labels, ndimage.mean, ndimage.variance):
                measure(values, labels, index)

        package = f"SciPy {version('scipy')}"
        yield package, "shape", lambda: (ndimage.find_objects(labels), np.bincount(labels.ravel()))
        yield package, "uint8 values", lambda: all_values(small)
        yield package, "float32 values", lambda: all_values(real)
        yield package, "lists of cells", lambda: ndimage.value_indices(labels, ignore_value=0)
    except (ImportError, PackageNotFoundError):
        print("peers_components: SciPy is not installed, its rows are left out")
    try:
        from skimage import measure, segmentation

        package = f"scikit-image {version('scikit-image')}"
        if count < 100_000:  # it takes an object for each label
            names = ("area", "bbox", "centroid")
            yield package, "shape", lambda: measure.regionprops_table(labels, properties=names)
        yield package, "relabel", lambda: segmentation.relabel_sequential(labels)
    except (ImportError, PackageNotFoundError):
        print("peers_components: scikit-image is not installed, its rows are left out")


def median_ms(call, runs, budget):
    call()
    taken, start = [], time.perf_counter()
    while len(taken) < runs and (len(taken) < 3 or time.perf_counter() - start < budget):
        before = time.perf_counter()
        call()
        taken.append((time.perf_counter() - before) * 1e3)
    return statistics.median(taken)


def main():
    def numbers(text):
        return [int(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--2d", dest="squares", type=numbers, default=[4096])
    parser.add_argument("--3d", dest="cubes", type=numbers, default=[256])
    parser.add_argument("--grains", type=numbers, default=[0, 1, 8])
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    from scipy import ndimage

    shapes = [(n, n) for n in options.squares if n] + [(n, n, n) for n in options.cubes if n]
    rows = []
    for shape in shapes:
        for grain in options.grains:
            labels, count = ndimage.label(block_image(shape, grain))
            random = np.random.default_rng(1)
            small = random.integers(0, 256, shape, np.uint8)
            real = random.random(shape, np.float32) * 256
            for package, field, call in calls(labels, count, small, real):
                ms = median_ms(call, 9, 1.0)
                data = "one label" if grain == 0 else f"blocks of {grain}"
                rows.append({"engine": package, "data": data, "shape": shape, "field": field, "threads": 1, "ms": ms})
                print(f"{data} {'x'.join(map(str, shape))} {count} labels: {package:<20} {field:<16} {ms:10.3f} ms")
    if options.json:
        sheet = {"engine": "peers", "place": "host", "date": datetime.date.today().isoformat(), "components": rows}
        options.json.write_text(json.dumps(sheet, indent=1) + "\n")


if __name__ == "__main__":
    main()
