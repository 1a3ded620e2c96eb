#!/usr/bin/env python3
"""Times the components of real, hard and large images, beside other libraries, in one process and on one thread.

label_images.py --json FILE    needs the package nearfield and whichever of OpenCV, cc3d, SciPy and scikit-image is
installed label_images.py --json FILE --only NAME...
label_images.py --save FOLDER    real images alone, for `bench_all label --place device --images FOLDER`

Processor time, since that says most on a machine that others use too; every library finds as many components as the
others.
"""

import argparse
import functools
import json
import pathlib
import time
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from peers_common import Results
from peers_host import available, processor
from peers_label_host import Outputs, best_of, grains

VOLUMES = pathlib.Path("/usr/share/mricron/templates")  # of Debian's mricron-data


def hard(name, n):
    """label.hpp's hard_image."""
    y, x = np.indices((n, n), np.int32)
    if name == "checkerboard":
        return ((x + y) % 2 == 0).astype(np.uint8)
    if name == "comb":
        return ((x % 2 == 0) | (y == n - 1)).astype(np.uint8)
    ring = np.minimum(np.minimum(y, x), np.minimum(n - 1 - y, n - 1 - x))
    way_in = (y == ring + 1) & (x == ring)
    return np.where(ring % 2 == 0, ~way_in, (y == ring) & (x == ring + 1)).astype(np.uint8)


def photograph(name):
    """A photograph that comes with scikit-image, brighter (`retina`: darker) than its surroundings."""
    from skimage import color, data, filters

    gray = getattr(data, name)()
    gray = color.rgb2gray(gray) if gray.ndim == 3 else gray / 255
    around = filters.gaussian(gray, 15)
    return ((gray < around - 0.01) if name == "retina" else gray > around).astype(np.uint8)


def volume(name, otsu=False):
    import nibabel

    values = np.ascontiguousarray(np.asarray(nibabel.load(VOLUMES / f"{name}.nii.gz").dataobj).T)
    if not otsu:
        return values.astype(np.uint16)
    from skimage import filters

    return (values > filters.threshold_otsu(values)).astype(np.uint8)


@dataclass(frozen=True)
class Image:
    text: str
    make: object
    connectivities: tuple[int, ...]
    equal: bool = False


PLANE, SPACE = (8, 4), (26, 6)
IMAGES = {
    "page": Image("a printed page, lit unevenly", lambda: photograph("page"), PLANE),
    "retina": Image("vessels of a retina, and noise", lambda: photograph("retina"), PLANE),
    "galaxies": Image("a deep field of galaxies", lambda: photograph("hubble_deep_field"), PLANE),
    "checkerboard": Image("a checkerboard", lambda: hard("checkerboard", 4096), PLANE),
    "comb": Image("a comb", lambda: hard("comb", 4096), PLANE),
    "spiral": Image("a spiral", lambda: hard("spiral", 4096), PLANE),
    "head": Image("a head (T1), brighter than Otsu's threshold", lambda: volume("ch2better", otsu=True), SPACE),
    "aal": Image("regions of a brain, equal values", lambda: volume("aal"), SPACE, True),
    "inia19": Image("regions of a monkey's brain, equal values", lambda: volume("inia19-NeuroMaps"), SPACE, True),
    **{
        f"random {g}": Image(f"random blocks of {g} a side, 50 %", functools.partial(grains, (512,) * 3, g, 50), SPACE)
        for g in (1, 4, 16)
    },
}
REAL = ("page", "retina", "galaxies", "head", "aal", "inia19")
CHANGES = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}
SLOW_CELLS = 1 << 25  # SciPy and scikit-image up to here


def engines():
    """(name, whether it takes an image, function of image, connectivity and equal that returns how many there are)"""
    import nearfield as nf

    outputs = Outputs()
    cv2, cc3d, ndimage, measure = (available(name) for name in ("cv2", "cc3d", "scipy.ndimage", "skimage.measure"))

    def ours(image, n, equal):
        criterion = "equal" if equal else "nonzero"
        out = outputs.get(image.shape)
        return nf.label(image, connectivity=n, criterion=criterion, out=out, threads=1, return_num=True)[1]

    def opencv(image, n, equal):
        cv2.setNumThreads(1)
        labels = outputs.get(image.shape)
        return cv2.connectedComponents(image, labels=labels, connectivity=n, ltype=cv2.CV_32S)[0] - 1

    def by_cc3d(image, n, equal):
        words = {"connectivity": n, "binary_image": not equal, "out_dtype": np.uint32, "return_N": True}
        return cc3d.connected_components(image, **words)[1]

    def scipy(image, n, equal):
        structure = ndimage.generate_binary_structure(image.ndim, CHANGES[n])
        return ndimage.label(image, structure, output=outputs.get(image.shape))

    def skimage(image, n, equal):
        return measure.label(image, connectivity=CHANGES[n], return_num=True)[1]

    table = [("nearfield", lambda image, equal: True, ours)]
    if cv2:
        table.append((f"OpenCV {cv2.__version__}", lambda image, equal: image.ndim == 2 and not equal, opencv))
    if cc3d:
        cc3d_name = f"cc3d {version('connected-components-3d')}"
        table.append((cc3d_name, lambda image, equal: image.ndim == 3 or equal, by_cc3d))
    if ndimage:
        scipy_name = f"SciPy {version('scipy')}"
        table.append((scipy_name, lambda image, equal: not equal and image.size <= SLOW_CELLS, scipy))
    if measure:
        name = f"scikit-image {version('scikit-image')}"
        table.append((name, lambda image, equal: image.size <= SLOW_CELLS, skimage))
    return table


def time_image(name, image, table):
    rows, cells = [], image.make()
    for n in image.connectivities:
        found = {}
        for engine, takes, call in table:
            if not takes(cells, image.equal):
                continue
            work = functools.partial(call, cells, n, image.equal)
            found[engine] = int(work())
            ms, runs = best_of(work, time.process_time, budget_s=1.0)
            row = {"engine": engine, "image": name, "text": image.text, "shape": list(cells.shape), "connectivity": n}
            rows.append(row | {"components": found[engine], "ms": ms, "runs": runs})
            print(f"{name:<14} {n:>2} {engine:<20} {found[engine]:>9} components {ms:>10.3f} ms", flush=True)
        if len(set(found.values())) > 1:
            raise SystemExit(f"label_images.py: {name}, {n} neighbours: they do not agree, {found}")
    return rows


def save(folder, names):
    """The images as .npy, and index.json, which says of each what is to be timed."""
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for name in names:
        image = IMAGES[name]
        np.save(folder / f"{name}.npy", image.make())
        index.append({"image": name, "text": image.text, "file": f"{name}.npy", "equal": image.equal})
        index[-1]["connectivities"] = image.connectivities
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    to = parser.add_mutually_exclusive_group(required=True)
    to.add_argument("--json", type=pathlib.Path, metavar="FILE")
    to.add_argument("--save", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--only", nargs="+", choices=IMAGES, default=list(IMAGES), metavar="NAME")
    options = parser.parse_args()
    if options.save:
        return save(options.save, [name for name in options.only if name in REAL])
    table, rows = engines(), []
    for name in options.only:
        rows += time_image(name, IMAGES[name], table)
    head = Results("host", processor(), "one thread").head | {"engine": "nearfield", "version": version_of_ours()}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({**head, "label_images": rows}, indent=1) + "\n")


def version_of_ours():
    import nearfield as nf

    return nf.__version__


if __name__ == "__main__":
    main()
