"""Nearfield against SciPy (values and nearest sites), edt and OpenCV (values, where they are exact).

python test_peers.py LIBRARY [unittest arguments]      LIBRARY is build/.../libnearfield_test_abi.so
"""

import pathlib
import sys
import unittest

import numpy as np
from scipy import ndimage

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from nearfield_abi import Engine

ENGINE = None
ATLAS = pathlib.Path("/usr/share/mricron/templates/aal.nii.gz")
RANDOM_CASES = 400

# For these, squares and their sums are exact in double, so SciPy's arithmetic gives the contract's bits.
EXACT_SPACINGS = [None, 1.0, 2.0, 0.5, (2, 1, 3, 5), (0.5, 0.25, 2, 1), (3, 0.125, 1, 7)]
ROUNDED_SPACINGS = [1 / 3, 0.1, (0.7, 0.31, 1.7, 0.9), (5, 0.4, 0.4, 1.1)]


def random_image(rng):
    """An image of 1 to 4 axes with at least one zero, of any type, in any memory layout."""
    ndim = int(rng.integers(1, 5))
    longest = {1: 300, 2: 60, 3: 22, 4: 9}[ndim]
    shape = tuple(int(n) for n in rng.integers(1, longest + 1, ndim))
    foreground = rng.random(shape) >= 10.0 ** -rng.uniform(0, 3.5)
    if rng.random() < 0.3:
        foreground = ndimage.binary_opening(foreground) | (rng.random(shape) < 0.2)
    foreground[tuple(int(rng.integers(n)) for n in shape)] = False
    dtype = rng.choice("bool uint8 int16 uint32 int64 float16 float32 float64".split())
    image = (foreground * rng.integers(1, 2 if dtype == "bool" else 100)).astype(dtype)
    layout = rng.integers(4)
    if layout == 1:
        image = np.asfortranarray(image)
    elif layout == 2:
        image = image[tuple(slice(None, None, -1) for _ in shape)]
    elif layout == 3:
        wide = np.ones(tuple(2 * n for n in shape), dtype)
        view = wide[tuple(slice(None, None, 2) for _ in shape)]
        view[...] = image
        image = view
    return image


def per_axis(spacing, ndim):
    return spacing[:ndim] if isinstance(spacing, tuple) else spacing


class SciPy(unittest.TestCase):
    def compare(self, image, spacing, rounded):
        distance, indices = ndimage.distance_transform_edt(image, sampling=spacing, return_indices=True)
        ours = ENGINE.transform(image, () if spacing is None else spacing, threads=int(image.size % 3) + 1)
        if not rounded:
            np.testing.assert_array_equal(ours["distance"], distance)
            np.testing.assert_array_equal(ours["coordinates"], indices)
        else:
            # SciPy rounds d * spacing before squaring. If it names another site, that site must be equally near up to
            # rounding.
            np.testing.assert_allclose(ours["distance"], distance, rtol=1e-14)
            other = (ours["coordinates"] != indices).any(axis=0)
            at = np.argwhere(other)
            theirs = indices[:, other].T
            lengths = np.broadcast_to(spacing, image.ndim)
            again = np.sqrt((((at - theirs) * lengths) ** 2).sum(axis=1))
            np.testing.assert_allclose(again, ours["distance"][other], rtol=1e-14)
        np.testing.assert_array_equal(np.ravel_multi_index(tuple(ours["coordinates"]), image.shape), ours["index"])
        np.testing.assert_array_equal(np.sqrt(ours["squared"]), ours["distance"])

    def test_random_cases_equal_bit_for_bit(self):
        rng = np.random.default_rng(1)
        for case in range(RANDOM_CASES):
            image = random_image(rng)
            spacing = per_axis(EXACT_SPACINGS[case % len(EXACT_SPACINGS)], image.ndim)
            with self.subTest(case=case, shape=image.shape, dtype=image.dtype, spacing=spacing):
                self.compare(image, spacing, rounded=False)

    def test_random_cases_with_rounded_spacing(self):
        rng = np.random.default_rng(2)
        for case in range(120):
            image = random_image(rng)
            spacing = per_axis(ROUNDED_SPACINGS[case % len(ROUNDED_SPACINGS)], image.ndim)
            with self.subTest(case=case, shape=image.shape, dtype=image.dtype, spacing=spacing):
                self.compare(image, spacing, rounded=True)

    def test_structured_images(self):
        y, x = np.mgrid[:65, :97]
        radius2 = (y - 32) ** 2 + (x - 48) ** 2
        images = {
            "circle, whose centre ties with every site": radius2 != 625,
            "checkerboard": (y + x) % 2 == 1,
            "full border": (y > 0) & (y < 64) & (x > 0) & (x < 96),
            "two corners": (y + x > 0) & (y + x < 64 + 96),
            "diagonal": y != x,
        }
        for name, image in images.items():
            with self.subTest(name):
                self.compare(image, None, rounded=False)

    def test_brain_atlas(self):
        if not ATLAS.exists():
            self.skipTest(f"{ATLAS} is absent; Debian's mricron-data has it")
        import nibabel

        labels = np.asarray(nibabel.load(ATLAS).dataobj)
        for name, image in {"inside the brain": labels, "outside": labels == 0, "thalamus": labels != 77}.items():
            with self.subTest(name):
                self.assertTrue((image == 0).any())
                self.compare(image, None, rounded=False)

    def test_documented_difference_without_a_site(self):
        ours = ENGINE.transform(np.ones((4, 5), np.uint8))
        self.assertTrue(np.isposinf(ours["distance"]).all())
        self.assertTrue((ours["index"] == -1).all() and (ours["coordinates"] == -1).all())


class Edt(unittest.TestCase):
    """edt returns float32 squares: integers below 2^24 are exact there, and so they are compared there only."""

    def test_random_cases(self):
        try:
            import edt
        except ImportError:
            self.skipTest("edt is not installed")
        rng = np.random.default_rng(3)
        for case in range(150):
            shape = tuple(int(n) for n in rng.integers(1, 50, 2 + case % 2))
            image = np.ascontiguousarray(rng.random(shape) >= 10.0 ** -rng.uniform(0, 3))
            image.flat[int(rng.integers(image.size))] = False
            spacing = [(1, 1, 1), (2, 1, 3), (5, 4, 4)][case % 3][: image.ndim]
            theirs = edt.edtsq(image.astype(np.uint8), anisotropy=spacing, parallel=1)
            self.assertLess(theirs.max(), 2**24)
            ours = ENGINE.transform(image, spacing, want=("squared",), squared=np.uint32)["squared"]
            with self.subTest(case=case, shape=shape, spacing=spacing):
                np.testing.assert_array_equal(ours, theirs.astype(np.uint32))


class OpenCV(unittest.TestCase):
    """DIST_MASK_PRECISE computes in float32; on images this small its squares round to the true integers."""

    def test_random_cases(self):
        try:
            import cv2
        except ImportError:
            self.skipTest("OpenCV is not installed")
        rng = np.random.default_rng(4)
        for case in range(150):
            shape = tuple(int(n) for n in rng.integers(2, 200, 2))
            image = (rng.random(shape) >= 10.0 ** -rng.uniform(0, 3)).astype(np.uint8)
            image.flat[int(rng.integers(image.size))] = 0
            theirs = cv2.distanceTransform(image, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
            ours = ENGINE.transform(image, want=("squared", "distance"), squared=np.uint32, distance=np.float32)
            with self.subTest(case=case, shape=shape):
                np.testing.assert_array_equal(np.rint(theirs.astype(float) ** 2), ours["squared"])
                np.testing.assert_allclose(theirs, ours["distance"], rtol=3e-7)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ENGINE = Engine(sys.argv.pop(1))
    unittest.main(verbosity=2)
