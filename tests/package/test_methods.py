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
            ({"method": "jump-flood:sites=2,randomised"}, "give sites=1$"),
            ({"method": "jump-flood:sites=3"}, "^sites is 3; give 1 to 2$"),
            ({"method": "jump-flood:after=-1"}, "^after is -1; give 0 to 16$"),
            ({"method": "jump-flood:before=-1"}, "^before is -1; give 0 to 16$"),
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
        self.assertEqual(rough.wrong_distances, rough.wrong_sites)
        self.assertGreater(chamfer.wrong_distances, chamfer.wrong_sites)
        self.assertEqual(len(nf.compare(image)), 11)
        for garbage, word in (("exact", r"\['exact'\]"), ([3], "one of methods is 3")):
            with self.assertRaisesRegex(TypeError, word):
                nf.compare(image, garbage)
        with self.assertRaisesRegex(ValueError, "image has 0 axes"):
            nf.compare(5)

    def test_compare_counts_distances_as_they_come(self):
        image = seeds((30, 40, 20), 0.004)
        for sites, limit in (("nonzero", None), ("zero", None), ("nonzero", 5)):
            asked = {"sites": sites, "max_distance": limit}
            right = nf.distance_transform(image, dtype=float, **asked)
            [exact, chamfer] = nf.compare(image, ["exact", "chamfer"], return_errors=True, **asked)
            came = nf.distance_transform(image, method="chamfer", dtype=float, **asked)
            differ = came != right
            self.assertEqual(chamfer.wrong_distances, np.count_nonzero(differ), asked)
            reached = differ & np.isfinite(came) & np.isfinite(right)
            off = np.abs(came[reached] - right[reached])
            self.assertAlmostEqual(chamfer.mean_error, off.mean() if off.size else 0)
            self.assertEqual(chamfer.largest_error, off.max(initial=0))
            self.assertLessEqual(chamfer.largest_relative_error, 0.106)
            self.assertEqual(
                np.count_nonzero(np.isinf(chamfer.error)), np.count_nonzero(np.isinf(came) != np.isinf(right))
            )
            self.assertEqual((exact.wrong_distances, exact.largest_error, exact.error.any()), (0, 0, False))


class TypedMethods(unittest.TestCase):
    def test_text_of_each(self):
        m = nf.methods
        for method, text in (
            (m.Exact(), "exact"),
            (m.Banding(), "banding"),
            (m.Banding(m1=4, m2=np.int64(2), m3=8), "banding:m1=4,m2=2,m3=8"),
            (m.JumpFlood(), "jump-flood"),
            (
                m.JumpFlood(order="doubling", before=1, after=2, sites=2, runs=3),
                "jump-flood:order=doubling,before=1,after=2,sites=2,runs=3",
            ),
            (m.JumpFlood(randomised=True, seed=7), "jump-flood:randomised=yes,seed=7"),
            (m.PlaneSweep(independent=True, launch="banded"), "plane-sweep:independent=yes,launch=banded"),
            (m.Brushfire(parallel=np.True_), "brushfire:parallel=yes"),
            (m.Chamfer(weights=[5, 7, 11], iterated=True), "chamfer:weights=5/7/11,iterated=yes"),
        ):
            self.assertEqual(str(method), text)
            self.assertEqual(nf._core.method_text(text), text)
        self.assertEqual(m.JumpFlood(after=1), m.JumpFlood(after=1))
        self.assertEqual(len({m.JumpFlood(after=1), m.JumpFlood(after=1), m.JumpFlood()}), 2)

    def test_they_compute_what_their_text_does(self):
        image = seeds()
        for method in (
            nf.methods.Banding(m1=3, m2=2),
            nf.methods.JumpFlood(order="doubling"),
            nf.methods.PlaneSweep(independent=True),
            nf.methods.Brushfire(),
            nf.methods.Chamfer(weights=(5, 7, 11)),
        ):
            np.testing.assert_array_equal(nf.voronoi(image, method=method), nf.voronoi(image, method=str(method)))
            [came] = nf.compare(image, [method])
            self.assertEqual(came.method, str(method))

    def test_garbage(self):
        m = nf.methods
        for call, word in (
            (lambda: m.JumpFlood(after="1"), "after of JumpFlood is '1'; give an integer"),
            (lambda: m.JumpFlood(after=1.0), "after"),
            (lambda: m.JumpFlood(after=np.zeros(3)), "after of JumpFlood is array.*; give an integer"),
            (lambda: m.Chamfer(weights=np.array(2)), "weights of Chamfer is array.2.; give a sequence of integers"),
            (lambda: m.JumpFlood(after=True), "after"),
            (lambda: m.JumpFlood(afer=1), "afer"),
            (lambda: m.JumpFlood("doubling"), "positional"),
            (lambda: m.JumpFlood(order=3), "order"),
            (lambda: m.JumpFlood(order="halving,after=1"), "order"),
            (lambda: m.JumpFlood(randomised="yes"), "randomised"),
            (lambda: m.Chamfer(weights="3/4"), "weights"),
            (lambda: m.Chamfer(weights=3), "weights"),
            (lambda: m.Chamfer(weights=(3, 4.5)), "weights"),
            (lambda: nf.voronoi(seeds(), method=None), "method is None"),
            (lambda: nf.voronoi(seeds(), method=m.JumpFlood), "JumpFlood"),
            (lambda: nf.voronoi(seeds(), method=["jump-flood"]), "nearfield.methods"),
            (lambda: nf.compare(seeds(), m.JumpFlood()), "sequence"),
        ):
            with self.assertRaisesRegex(TypeError, word):
                call()
        for call, word in (
            (lambda: m.JumpFlood(order="up"), "halving or doubling"),
            (lambda: m.PlaneSweep(launch="fast"), "automatic or cooperative"),
            (lambda: m.Chamfer(weights=(3, 0)), "3/4/5"),
            (lambda: m.Chamfer(weights=(3, 4, 5, 6)), "3/4/5"),
            (lambda: nf.voronoi(seeds(), method=m.Banding(m2=33)), "m2 is 33"),
            (lambda: nf.voronoi(seeds(), method=m.JumpFlood(sites=2, randomised=True)), "sites=1"),
            (lambda: m.JumpFlood(after=10**5000), r"after of JumpFlood .*; give an integer below 2\*\*63"),
            (lambda: m.Chamfer(weights=(3, -(10**400))), r"weights of Chamfer .*; give an integer below 2\*\*63"),
        ):
            with self.assertRaisesRegex(ValueError, word):
                call()


if __name__ == "__main__":
    unittest.main()
