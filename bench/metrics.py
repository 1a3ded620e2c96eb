#!/usr/bin/env python3
"""Times nearfield.metrics.surface beside scikit-image and SciPy: 20 labels, each image blurred noise.

metrics.py [--quick] [--device]     --device: CuPy's arrays, ours alone

scikit-image measures the Hausdorff distance of each label's surfaces alone, by a k-d tree. "SciPy, as MONAI" is what
MONAI does on the CPU for its Hausdorff distance, per label: a crop, two erosions and two distance transforms.
"""

import argparse
from functools import partial

import numpy as np
from scipy import ndimage

import nearfield as nf
from forms import Device, Host


def labels(shape, count, seed):
    """Blobs that touch, a quarter background, and the same with other edges."""
    random = np.random.default_rng(seed)
    small = tuple(-(-n // 4) for n in shape)
    deep = ndimage.gaussian_filter(random.standard_normal(small), 5)
    seeds = np.zeros(small, np.uint8)
    seeds[tuple(random.integers(0, small, (count, 3)).T)] = np.arange(1, count + 1)
    near = nf.fill_nearest(seeds, missing=0)
    both = [np.where(each > np.quantile(each, 0.25), near, 0) for each in (deep, deep + 0.1 * np.roll(deep, 2, 2))]
    return [each.repeat(4, 0).repeat(4, 1).repeat(4, 2)[tuple(map(slice, shape))].astype(np.uint8) for each in both]


def edges(a, b):
    """Surfaces of every label, in the box round both."""
    boxes = ndimage.find_objects(np.maximum(a, b), int(max(a.max(), b.max())))
    for label in range(1, len(boxes) + 1):
        box = ndimage.find_objects(((a == label) | (b == label)).astype(np.uint8))[0]
        masks = [np.pad(each[box] == label, 1) for each in (a, b)]
        yield [mask & ~ndimage.binary_erosion(mask) for mask in masks]


def by_scipy(a, b, spacing):
    """Largest distance for each label."""
    found = []
    for here, there in edges(a, b):
        ways = [ndimage.distance_transform_edt(~x, spacing)[y] for x, y in ((here, there), (there, here))]
        found.append(max(way.max() for way in ways))
    return found


def by_scikit_image(a, b):
    from skimage.metrics import hausdorff_distance

    return [hausdorff_distance(here, there) for here, there in edges(a, b)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", action="store_true")
    asked = parser.parse_args()
    shape = (75, 128, 128) if asked.quick else (300, 512, 512)
    place = Device() if asked.device else Host()
    images = labels(shape, 20, 1)
    a, b = map(place.move, images)
    for spacing in (None, (2.5, 0.7, 0.7)):
        for surface in ("cells", "elements"):
            ms = place.median_ms(partial(nf.metrics.surface, a, b, spacing=spacing, surface=surface), 3)
            print(f"{surface}, spacing {spacing}: {ms:.1f} ms", flush=True)
        if asked.device:
            continue
        ms = place.median_ms(partial(by_scipy, a, b, spacing), 1)
        print(f"SciPy, as MONAI, spacing {spacing}: {ms:.0f} ms", flush=True)
        if spacing is None:
            ms = place.median_ms(partial(by_scikit_image, a, b), 1)
            print(f"scikit-image: {ms:.0f} ms", flush=True)


if __name__ == "__main__":
    main()
