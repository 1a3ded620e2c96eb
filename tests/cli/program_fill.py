"""The verbs fill, slices and pores end to end: values, tables, reports, messages. Standard library only."""

import json
import math
import unittest

from program_case import Case, npy, parse_npy

HOLES = npy((2, 4), [7, 0, 0, 3, 0, 0, 0, 0])
# Two rooms of three rows, joined by a neck of one row.
ROOMS = npy(
    (5, 9), 9 * [0] + [0, 1, 1, 1, 0, 1, 1, 1, 0] + [0, 1, 1, 1, 1, 1, 1, 1, 0] + [0, 1, 1, 1, 0, 1, 1, 1, 0] + 9 * [0]
)


class Fill(Case):
    def fill(self, *words, stdin=HOLES):
        return parse_npy(self.run_program("fill", "-", "-o", "-", *words, stdin=stdin).stdout)

    def test_values(self):
        self.assertEqual(self.fill("--missing", "0"), ((2, 4), "|u1", [7, 7, 3, 3, 7, 7, 3, 3]))
        self.assertEqual(self.fill()[2], [7, 0, 0, 3, 0, 0, 0, 0])
        self.assertEqual(self.fill("--missing", "0", "--max-distance", "1")[2], [7, 7, 3, 3, 7, 0, 0, 3])
        self.assertEqual(self.fill("--missing", "0", "--batch-axes", "1")[2], [7, 7, 3, 3, 0, 0, 0, 0])
        (self.folder / "mask.npy").write_bytes(npy((2, 4), [1, 0, 0, 0, 0, 0, 0, 0]))
        self.assertEqual(self.fill("--where", "mask.npy")[2], [0, 0, 0, 3, 0, 0, 0, 0])
        line = npy((4,), [math.nan, 2, math.nan, math.nan], "<f4")
        self.assertEqual(self.fill(stdin=line), ((4,), "<f4", [2, 2, 2, 2]))

    def test_colours_and_report(self):
        self.run_program("sample", "labels", "-o", "seeds.npy", "--size", "40x50", "--density", "0.3")
        said = json.loads(self.run_program("fill", "seeds.npy", "-o", "all.npy", "--missing", "0", "--json").stdout)
        self.assertGreater(said["missing"], 100)
        self.assertNotIn(0, parse_npy((self.folder / "all.npy").read_bytes())[2])
        (self.folder / "c.ppm").write_bytes(b"P6 3 1 255\n" + bytes([0, 0, 0, 255, 0, 0, 0, 0, 0]))
        self.run_program("fill", "c.ppm", "-o", "d.ppm", "--missing", "0")
        self.assertTrue((self.folder / "d.ppm").read_bytes().endswith(3 * bytes([255, 0, 0])))

    def test_natural(self):
        line = npy((7,), [4, 0, 0, 0, 0, 0, 12])
        shape, descr, values = self.fill("--missing", "0", "--method", "natural", stdin=line)
        self.assertEqual((shape, descr, values[0], values[6]), ((7,), "<f4", 4, 12))
        self.assertTrue(values == sorted(values) and 4 < values[3] < 12, values)
        doubles = npy((3,), [math.nan, 1, math.nan], "<f8")
        self.assertEqual(self.fill("--method", "natural", stdin=doubles), ((3,), "<f8", [1, 1, 1]))
        (self.folder / "c.ppm").write_bytes(b"P6 2 1 255\n" + bytes(6))
        for words, stdin in ((["c.ppm"], b""), (["-", "--max-distance", "3"], line)):
            text = self.refusal("fill", *words, "-o", "x.npy", "--method", "natural", stdin=stdin)
            self.assertIn("natural", text)

    def test_messages(self):
        self.assertIn("--missing", self.refusal("fill", "-", "-o", "x.npy", "--missing", "black", stdin=HOLES))
        (self.folder / "mask.npy").write_bytes(npy((3,), [1, 0, 0]))
        self.assertIn("--where", self.refusal("fill", "-", "-o", "x.npy", "--where", "mask.npy", stdin=HOLES))


class Slices(Case):
    DRAWN = npy((5, 6), [1, 1, 0, 0, 0, 0] + 18 * [0] + [1, 1, 1, 1, 1, 1])

    def slices(self, *words, stdin=DRAWN):
        return parse_npy(self.run_program("slices", "-", "-o", "-", *words, stdin=stdin).stdout)

    def test_labels(self):
        stack = npy((2, 6), [1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
        shape, descr, values = self.slices("--steps", "2", stdin=stack)
        self.assertEqual((shape, descr, values[6:12]), ((3, 6), "|u1", [1, 1, 1, 0, 0, 0]))
        tall = npy((5, 6), [1, 1, 0, 0, 0, 0] + 18 * [0] + [1, 1, 1, 1, 0, 0])
        self.assertEqual(self.slices(stdin=tall)[2][12:18], [1, 1, 1, 0, 0, 0])
        self.assertEqual(self.slices(stdin=tall), self.slices("--drawn", "0,4", "--axis", "-2", stdin=tall))
        self.assertEqual(self.slices("--drawn", "0", stdin=tall)[2], [1, 1, 0, 0, 0, 0] + 24 * [0])

    def test_messages(self):
        for words, said in (
            (("--axis", "2"), "--axis is 2"),
            (("--drawn", "0.5"), "--drawn is 0.5"),
            (("--drawn", "3,1"), "drawn has 1 after 3"),
            (("--steps", "-1"), "--steps is -1"),
            (("--steps", "2", "--drawn", "1"), "--drawn"),
        ):
            self.assertIn(said, self.refusal("slices", "-", *words, stdin=self.DRAWN), words)


class Pores(Case):
    def test_network(self):
        words = ("pores", "-", "-o", "network.csv", "--regions", "regions.npy", "--picture", "p.png", "--json")
        said = json.loads(self.run_program(*words, stdin=ROOMS).stdout)
        self.assertEqual((said["pores"], said["throats"], said["height"]), (2, 1, 1))
        lines = (self.folder / "network.csv").read_text().splitlines()
        row = dict(zip(*(line.split(",") for line in lines[:2])))
        self.assertEqual([row[f"throat.conns[{k}]"] for k in (0, 1)], ["0", "1"])
        self.assertEqual((row["throat.inscribed_diameter"], row["throat.cross_sectional_area"]), ("2", "1"))
        self.assertEqual([row[f"pore.coords[{k}]"] for k in (0, 1, 2)], ["2", "2", "0"])
        self.assertEqual(max(parse_npy((self.folder / "regions.npy").read_bytes())[2]), 2)
        text = self.run_program("pores", "-", "-o", "-", stdin=ROOMS).stdout.decode()
        self.assertEqual(text.splitlines(), lines)
        one = json.loads(self.run_program("pores", "-", "--height", "3", "--json", stdin=ROOMS).stdout)
        self.assertEqual((one["pores"], one["throats"]), (1, 0))

    def test_boundaries(self):
        words = ("pores", "-", "-o", "-", "--boundaries", "--border", "open,periodic")
        text = self.run_program(*words, stdin=npy((3, 2), [0, 0, 1, 1, 1, 1])).stdout.decode()
        self.assertIn("pore.xmax", text.splitlines()[0])
        self.assertEqual(len(text.splitlines()), 3)

    def test_messages(self):
        for words, said in (
            (("--height", "-1"), "--height is -1"),
            (("--connectivity", "3"), "--connectivity is 3"),
            (("-o", "network.txt"), "-o is network.txt"),
        ):
            self.assertIn(said, self.refusal("pores", "-", *words, stdin=ROOMS), words)


if __name__ == "__main__":
    unittest.main()
