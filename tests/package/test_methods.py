"""`method=` and `compare`: published methods on NumPy arrays, against the exact engine and by their definitions."""

import unittest

import numpy as np

import nearfield as nf


def seeds(shape=(40, 50), density=0.02, seed=1):
    return (np.random.default_rng(seed).random(shape) < density).astype(np.uint8)


class Methods(unittest.TestCase):
    def test_exact_ones_and_nearly_exact_ones(self):
        image = seeds()
        right = nf.voronoi(image)
        np.testing.assert_array_equal(nf.voronoi(image, method="banding"), right)
        for name in ("jump-flood:runs=2", "plane-sweep", "brushfire", "brushfire:parallel"):
            came = nf.voronoi(image, method=name)
            self.assertLess(np.count_nonzero((came != right).any(0)), 20, name)

    def test_distances_and_labels(self):
        image = seeds().astype(np.int32) * 7
        distance, labels = nf.distance_transform(
            image, sites="nonzero", method="jump-flood:before=1", return_labels=True
        )
        self.assertEqual(distance.dtype, np.float32)
        self.assertTrue((labels == 7).all())
        city = nf.distance_transform([0, 1, 1, 1], method="chamfer:weights=1")
        np.testing.assert_array_equal(city, np.array([0, 1, 2, 3], np.float32))

    def test_outputs_given(self):
        image, out = seeds(), np.zeros((50, 40), np.float32).T
        self.assertIs(nf.distance_transform(image, sites="nonzero", method="jump-flood", out=out), out)
        self.assertGreater(out.max(), 1)

    def test_refusals(self):
        image = seeds()
        for keywords, word in (
            ({"method": "jfa"}, "jump-flood"),
            ({"method": "jump-flood:afer=1"}, "after"),
            ({"method": "jump-flood", "border": "closed"}, "border"),
            ({"method": "jump-flood", "weights": image}, "weights"),
            ({"method": "jump-flood:after=1,after=2"}, "twice"),
            ({"method": "jump-flood:sites=2,randomised"}, "sites_per_cell"),
            ({"method": "jump-flood", "batch_axes": 1}, "batch_axes"),
            ({"method": "banding", "spacing": (0.5, 1)}, "integral"),
            ({"method": "banding:m2=99"}, "m2"),
            ({"method": "plane-sweep:launch=banded"}, "automatic"),
            ({"method": "chamfer", "spacing": (1, 2)}, "spacing"),
            ({"method": "chamfer:weights=3/-4"}, "3/4/5"),
        ):
            with self.assertRaisesRegex(ValueError, word):
                nf.voronoi(image, **keywords)
        for keywords, word in (
            ({"signed": True}, "sign"),
            ({"half_cell": True, "signed": True}, "sign|half_cell"),
            ({"multilabel": True}, "other_labels|multilabel"),
            ({"max_distance": -1}, "max_distance"),
        ):
            with self.assertRaisesRegex(ValueError, word):
                nf.distance_transform(image, method="jump-flood", **keywords)
        with self.assertRaisesRegex(ValueError, "squared"):
            nf.distance_transform(image, method="chamfer", squared=True)
        with self.assertRaisesRegex(ValueError, "4 axes"):
            nf.voronoi(np.ones((1, 1, 2, 2), np.uint8), method="jump-flood")

    def test_compare(self):
        image = seeds()
        right, rough, chamfer = nf.compare(
            image, ["exact", "jump-flood:order=doubling", "chamfer"], return_errors=True, threads=2
        )
        self.assertEqual((right.method, right.wrong_sites, right.other_ties), ("exact", 0, 0))
        self.assertEqual(rough.method, "jump-flood:order=doubling")
        self.assertEqual(rough.rounds, 8)
        self.assertEqual([s.name for s in rough.stages][1:3], ["step 1", "step 2"])
        self.assertEqual(np.count_nonzero(rough.error), rough.wrong_sites)
        self.assertGreater(chamfer.wrong_sites, 0)
        self.assertEqual(len(nf.compare(image)), 10)
        for garbage, word in (("exact", r"\['exact'\]"), ([3], "methods has 3")):
            with self.assertRaisesRegex(TypeError, word):
                nf.compare(image, garbage)
        with self.assertRaisesRegex(ValueError, "image has 0 axes"):
            nf.compare(5)


if __name__ == "__main__":
    unittest.main()
