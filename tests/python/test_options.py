"""The options of the exact fields against SciPy, scikit-image and edt, on NumPy arrays.

python test_options.py LIBRARY [unittest arguments]      LIBRARY is build/.../libnearfield_test_abi.so
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
INTEGERS = "int8 uint8 int16 uint16 int32 uint32 int64 uint64".split()
# For these, squares and their sums are exact in double, so any peer's arithmetic gives the contract's bits.
EXACT_SPACINGS = [None, (1, 1, 1, 1), (2, 1, 3, 5), (0.5, 0.25, 2, 1)]


def random_shape(rng, axes=(1, 5)):
    ndim = int(rng.integers(*axes))
    longest = {1: 300, 2: 50, 3: 18, 4: 9}[ndim]
    return tuple(int(n) for n in rng.integers(1, longest + 1, ndim))


def random_labels(rng, shape, dtype, most=20):
    """Blobs and speckle of up to `most` labels; in wide types half of them differ in their highest byte only."""
    count = int(rng.integers(1, most))
    coarse = rng.integers(0, count + 1, tuple(-(-n // 3) for n in shape))
    labels = coarse
    for axis, n in enumerate(shape):
        labels = np.repeat(labels, 3, axis).take(range(n), axis)
    speckle = rng.random(shape) < rng.uniform(0, 0.4)
    labels = np.where(speckle, rng.integers(0, count + 1, shape), labels).astype(np.uint64)
    top = np.uint64(8 * np.dtype(dtype).itemsize - 6)
    if top > 8:
        odd = labels % np.uint64(2) == 1
        labels = np.where(odd, labels >> np.uint64(1) << top | np.uint64(1), labels)
    return labels.astype(dtype)


def cut(spacing, ndim):
    return None if spacing is None else spacing[:ndim]


class ScikitImage(unittest.TestCase):
    def test_expand_labels(self):
        try:
            from skimage.segmentation import expand_labels
        except ImportError:
            self.skipTest("scikit-image is not installed")
        rng = np.random.default_rng(11)
        for case in range(200):
            shape = random_shape(rng)
            seeds = random_labels(rng, shape, INTEGERS[case % 8]) * (rng.random(shape) < rng.uniform(0.002, 0.2))
            seeds = seeds.astype(INTEGERS[case % 8])
            if not seeds.any():
                continue
            spacing = cut(EXACT_SPACINGS[case % 4], len(shape))
            reach = [0, 1, 2, 5**0.5, float(rng.uniform(0, 9)), 1000][case % 6]
            theirs = expand_labels(seeds, reach, spacing=1 if spacing is None else spacing)
            ours = ENGINE.call(seeds, ("label",), spacing=spacing, sites="nonzero", max_distance=reach)["label"]
            with self.subTest(case=case, shape=shape, spacing=spacing, reach=reach):
                np.testing.assert_array_equal(ours, theirs)


class SciPy(unittest.TestCase):
    def per_label(self, labels, spacing):
        distance = np.zeros(labels.shape)
        index = np.indices(labels.shape, np.int32)
        for label in np.unique(labels[labels != 0]):
            mask = labels == label
            if mask.all():
                distance[:], index[:] = np.inf, -1
                continue
            one, where = ndimage.distance_transform_edt(mask, sampling=spacing, return_indices=True)
            distance[mask] = one[mask]
            index[:, mask] = where[:, mask]
        return distance, index

    def test_labels_are_the_loop_over_masks(self):
        rng = np.random.default_rng(12)
        for case in range(160):
            shape = random_shape(rng)
            labels = random_labels(rng, shape, INTEGERS[case % 8])
            spacing = cut(EXACT_SPACINGS[case // 8 % 4], len(shape))
            distance, index = self.per_label(labels, spacing)
            ours = ENGINE.call(labels, spacing=spacing, sites="other_labels")
            with self.subTest(case=case, shape=shape, spacing=spacing, dtype=labels.dtype):
                np.testing.assert_array_equal(ours["distance"], distance)
                np.testing.assert_array_equal(ours["coordinates"], index)
                found = ours["index"] >= 0
                np.testing.assert_array_equal(ours["label"][found], labels.flat[ours["index"][found]])

    def test_signed_is_outside_minus_inside(self):
        rng = np.random.default_rng(13)
        for case in range(100):
            shape = random_shape(rng)
            image = random_labels(rng, shape, "uint8", 3)
            image.flat[0], image.flat[-1] = 0, 1
            if image.size < 2:
                continue
            spacing = cut(EXACT_SPACINGS[case % 4], len(shape))
            theirs = ndimage.distance_transform_edt(image == 0, sampling=spacing) - ndimage.distance_transform_edt(
                image, sampling=spacing
            )
            with self.subTest(case=case, shape=shape, spacing=spacing):
                ours = ENGINE.call(image, ("distance", "squared"), spacing=spacing, sign="inside_negative")
                np.testing.assert_array_equal(ours["distance"], theirs)
                np.testing.assert_array_equal(np.copysign(np.sqrt(np.abs(ours["squared"])), ours["squared"]), theirs)

    def test_closed_is_a_frame_of_zeros_and_periodic_a_tiling(self):
        rng = np.random.default_rng(14)
        for case in range(100):
            shape = random_shape(rng, (1, 4))
            image = random_labels(rng, shape, "uint8", 3)
            image.flat[-1] = 0
            spacing = cut(EXACT_SPACINGS[case % 4], len(shape))
            inner = tuple(slice(1, -1) for _ in shape)
            middle = tuple(slice(n, 2 * n) for n in shape)
            framed = ndimage.distance_transform_edt(np.pad(image, 1), sampling=spacing)[inner]
            tiled = ndimage.distance_transform_edt(np.tile(image, (3,) * image.ndim), sampling=spacing)
            with self.subTest(case=case, shape=shape, spacing=spacing):
                for border, theirs in ("closed", framed), ("periodic", tiled[middle]):
                    ours = ENGINE.call(image, ("distance",), spacing=spacing, border=border)["distance"]
                    np.testing.assert_array_equal(ours, theirs, border)

    def test_half_precision_is_numpys(self):
        rng = np.random.default_rng(15)
        image = (rng.random((60, 70)) > 0.002).astype(np.uint8)
        image[0, 0] = 0
        for spacing in (1, 0.31, 1e-4, 1e-7, 700.0):
            single, half = (
                ENGINE.call(image, ("distance",), spacing=spacing, distance=d)["distance"] for d in ("f8", "f2")
            )
            np.testing.assert_array_equal(half, single.astype(np.float16))


class Edt(unittest.TestCase):
    """edt returns float32: integers below 2^24 and their roots, rounded once, are exact there."""

    def setUp(self):
        try:
            import edt
        except ImportError:
            self.skipTest("edt is not installed")
        self.edt = edt

    def compare(self, labels, spacing, closed):
        border = "closed" if closed else "open"
        ours = ENGINE.call(labels, ("squared",), spacing=spacing, sites="other_labels", border=border)["squared"]
        theirs = self.edt.edtsq(labels, anisotropy=spacing, black_border=closed, parallel=1)
        np.testing.assert_array_equal(ours, theirs.astype(np.float64))
        signed = ENGINE.call(
            labels,
            ("distance",),
            spacing=spacing,
            sites="other_labels",
            sign="outside_negative",
            border=border,
            distance=np.float32,
        )["distance"]
        np.testing.assert_array_equal(signed, self.edt.sdf(labels, anisotropy=spacing, black_border=closed, parallel=1))

    def test_labels_and_signed_labels(self):
        rng = np.random.default_rng(16)
        for case in range(200):
            shape = random_shape(rng, (2, 4))
            labels = np.ascontiguousarray(random_labels(rng, shape, INTEGERS[case % 8]))
            if not labels.any() or labels.all():
                labels.flat[:2] = 0, 1
            if labels.size < 2:
                continue
            spacing = [(1, 1, 1), (2, 1, 3), (5, 4, 4)][case % 3][: labels.ndim]
            for closed in False, True:
                with self.subTest(case=case, shape=shape, spacing=spacing, closed=closed, dtype=labels.dtype):
                    self.compare(labels, spacing, closed)

    def test_brain_atlas(self):
        if not ATLAS.exists():
            self.skipTest(f"{ATLAS} is absent; Debian's mricron-data has it")
        import nibabel

        labels = np.ascontiguousarray(nibabel.load(ATLAS).dataobj)
        self.assertGreater(len(np.unique(labels)), 100)
        for closed in False, True:
            self.compare(labels, (1, 1, 1), closed)


class PowerDiagram(unittest.TestCase):
    """Against all pairs in NumPy."""

    def test_random_cases(self):
        rng = np.random.default_rng(17)
        for case in range(80):
            shape = random_shape(rng, (1, 4))
            if np.prod(shape) > 1500:
                continue
            seeds = (rng.random(shape) < rng.uniform(0.01, 0.2)).astype(np.int32)
            seeds.flat[0] = 1
            seeds *= rng.integers(1, 100, shape).astype(np.int32)
            weights = rng.integers(-20, 60, shape).astype(["int8", "int32", "float32", "float64"][case % 4])
            if case % 3 == 0:
                weights = np.abs(weights).astype(["uint8", "uint16", "uint32"][case // 3 % 3])
            spacing = cut(EXACT_SPACINGS[case % 4], len(shape)) or (1,) * len(shape)
            # Sites are sorted by their last coordinate first, so the first of equal powers is the one to take.
            sites = np.argwhere(seeds)
            sites = sites[np.lexsort(sites.T)]
            offsets = np.argwhere(np.ones(shape))[:, None, :] - sites[None]
            own = weights[tuple(sites.T)].astype(float)
            power = ((offsets * np.asarray(spacing, float)) ** 2).sum(-1) - own
            best = power.argmin(1)
            ours = ENGINE.call(seeds, ("squared", "index", "label"), spacing=spacing, weights=weights)
            with self.subTest(case=case, shape=shape, spacing=spacing, weights=weights.dtype):
                np.testing.assert_array_equal(ours["squared"].ravel(), power.min(1))
                np.testing.assert_array_equal(ours["index"].ravel(), np.ravel_multi_index(tuple(sites[best].T), shape))
                np.testing.assert_array_equal(ours["label"].ravel(), seeds[tuple(sites[best].T)])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ENGINE = Engine(sys.argv.pop(1))
    unittest.main(verbosity=2)
