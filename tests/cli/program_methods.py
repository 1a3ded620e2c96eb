"""--method, --timings, --random-sites and compare, end to end. Standard library only."""

import json
import struct
import unittest

from program_case import Case, npy, parse_npy

SEEDS = npy((5, 7), [0] * 9 + [1] + [0] * 14 + [2] + [0] * 10)


class Methods(Case):
    def indices(self, *words):
        done = self.run_program("voronoi", "-", "-o", "-", "--device", "cpu", *words, stdin=SEEDS)
        return parse_npy(done.stdout)

    def test_methods_find_what_the_engine_finds(self):
        right = self.indices()
        for name in ("exact", "banding", "jump-flood", "jump-flood:order=doubling,after=1", "plane-sweep", "brushfire"):
            self.assertEqual(self.indices("--method", name), right, name)

    def test_distances_of_chamfer_are_prices(self):
        done = self.run_program(
            "distance",
            "-",
            "-o",
            "-",
            "--device",
            "cpu",
            "--method",
            "chamfer:weights=1",
            stdin=npy((1, 4), [0, 1, 1, 1]),
        )
        self.assertEqual(parse_npy(done.stdout)[2], [0, 1, 2, 3])

    def test_the_report_has_stages(self):
        done = self.run_program("voronoi", "-", "--json", "--method", "jump-flood:after=1", stdin=SEEDS)
        run = json.loads(done.stdout)["run"]
        self.assertEqual(run["method"], "jump-flood:after=1")
        self.assertEqual(
            [s["stage"] for s in run["stages"]], ["initialise", "step 4", "step 2", "step 1", "step 1", "fields"]
        )

    def test_timings_alone(self):
        words = ("voronoi", "--random-sites", "3", "--size", "9x8", "--device", "cpu", "--timings")
        self.assertIn(b"all steps", self.run_program(*words, "--method", "jump-flood").stdout)

    def test_the_tutorial_s_program(self):
        words = ("voronoi", "--random-sites", "20", "--size", "64x48", "--device", "cpu", "--method", "jump-flood")
        done = self.run_program(*words, "-o", "out.pgm", "--timings", "-q")
        for stage in (
            b"input",
            b"initialise",
            b"step 32",
            b"step 1",
            b"all steps",
            b"6 rounds",
            b"Mcells/s",
            b"export",
        ):
            self.assertIn(stage, done.stdout)
        image = (self.folder / "out.pgm").read_bytes()
        self.assertTrue(image.startswith(b"P5\n48 64\n255\n"), image[:20])
        self.assertLessEqual(len(set(image[-48 * 64 :])), 20)
        self.run_program(*words, "-o", "again.pgm", "-q")
        self.assertEqual(image, (self.folder / "again.pgm").read_bytes())
        self.run_program(*words, "-o", "other.pgm", "-q", "--seed", "2")
        self.assertNotEqual(image, (self.folder / "other.pgm").read_bytes())

    def test_what_does_not_go_together(self):
        for words, part in (
            (("voronoi", "-", "-o", "-", "--method", "jfa"), b"jump-flood"),
            (("voronoi", "-", "-o", "-", "--method", "jump-flood:afer=1"), b"after"),
            (("voronoi", "-", "-o", "-", "--method", "jump-flood", "--border", "periodic"), b"border"),
            (("voronoi", "-", "-o", "-", "--method", "jump-flood:seed=3"), b"randomised"),
            (("voronoi", "-", "-o", "-", "--method", "jump-flood:sites=2,randomised"), b"sites_per_cell"),
            (("voronoi", "-", "-o", "-", "--method", "banding:m2=33"), b"m2 is 33"),
            (("voronoi", "-", "-o", "-", "--method", "banding", "--spacing", "0.5,1"), b"integral"),
            (("voronoi", "-", "-o", "-", "--method", "chamfer", "--spacing", "2,1"), b"spacing"),
            (("voronoi", "-", "-o", "-", "--method", "plane-sweep:launch=banded", "--device", "cpu"), b"launch"),
            (("distance", "-", "-o", "-", "--method", "jump-flood", "--signed"), b"sign"),
            (("voronoi", "-", "--plan", "--method", "jump-flood"), b"--plan"),
            (("voronoi", "-", "-o", "-", "--random-sites", "3"), b"--random-sites"),
            (("voronoi", "-", "-o", "-", "--size", "3x3"), b"--size"),
            (("voronoi", "-", "-o", "-", "--seed", "3"), b"--random-sites"),
            (("voronoi", "-o", "-"), b"INPUT is missing"),
            (("voronoi", "--random-sites", "17", "--size", "4x4", "-o", "-"), b"at most as many"),
        ):
            self.assertIn(part, self.run_program(*words, stdin=SEEDS, status=2).stderr, words)


class Compare(Case):
    def test_the_table_and_json(self):
        words = ("compare", "--size", "40x50", "--density", "0.02", "--repeat", "1", "--device", "cpu")
        table = self.run_program(*words, "--methods", "exact jump-flood chamfer").stdout.decode().splitlines()
        self.assertEqual([line.split()[0] for line in table], ["method", "exact", "jump-flood", "chamfer"])
        said = json.loads(self.run_program(*words, "--json").stdout)["methods"]
        by_name = {m["method"]: m for m in said}
        self.assertEqual(by_name["exact"]["wrong_sites"] + by_name["exact"]["wrong_distances"], 0)
        self.assertEqual(by_name["banding"]["wrong_sites"] + by_name["banding"]["other_ties"], 0)
        self.assertGreater(by_name["chamfer"]["wrong_distances"], 100)
        self.assertEqual(by_name["jump-flood"]["rounds"], 8)

    def test_what_no_method_can_take_is_an_error(self):
        flat = self.run_program("compare", "-", "--device", "cpu", status=2, stdin=npy((1, 1, 1, 1), [1]))
        self.assertIn(b"image has 4 axes", flat.stderr)
        self.assertNotIn(b"left out", flat.stderr)
        empty = self.run_program("compare", "--size", "0x3", "--repeat", "1", "--device", "cpu").stdout
        self.assertNotIn(b"nan", empty)
        self.assertIn(b"0.0000%", empty)

    def test_an_input_and_a_kind_of_sample_are_an_error(self):
        for verb in ("compare", "bench"):
            for word, value in (
                ("--kind", "blobs"),
                ("--density", "0.5"),
                ("--scale", "3"),
                ("--size", "4x4"),
                ("--seed", "7"),
            ):
                both = self.run_program(verb, "-", word, value, status=2, stdin=npy((2, 2), [1, 0, 0, 0]))
                self.assertIn(word.encode(), both.stderr)
                self.assertIn(b"takes the place of an INPUT", both.stderr)

    def test_pictures_and_chart(self):
        words = ("compare", "--size", "32x32", "--repeat", "1", "--device", "cpu", "--methods", "jump-flood chamfer")
        self.run_program(*words, "--pictures", "errors", "--chart", "chart.svg")
        self.assertEqual({p.name for p in (self.folder / "errors").iterdir()}, {"jump-flood.png", "chamfer.png"})
        width, height = struct.unpack(">II", (self.folder / "errors" / "chamfer.png").read_bytes()[16:24])
        self.assertGreater(width, height)  # a scale beside the image
        self.assertLess(width, 1.5 * height)
        chart = (self.folder / "chart.svg").read_text()
        self.assertTrue(chart.startswith("<svg"))
        self.assertEqual(chart.count('text-anchor="end">0</text>'), 1)  # errors have a line for 0, times none
        self.run_program(*words, "--chart", "chart.png", status=2)
        self.run_program("compare", "--methods", " ", status=2)


if __name__ == "__main__":
    unittest.main()
