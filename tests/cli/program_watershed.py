"""The verbs watershed and peaks end to end: labels, tables, marks, report, messages. Standard library only."""

import json
import unittest

from program_case import Case, npy, parse_npy

# Two pits of unequal depth with a ridge of 7 between them, and a shallow one behind a ridge of 5.
ROW = [3, 1, 3, 7, 4, 0, 5, 4, 6]
PITS = npy((2, 9), ROW + ROW)


class Watershed(Case):
    def labels(self, *words, stdin=PITS):
        return parse_npy(self.run_program("watershed", "-", "-o", "-", *words, stdin=stdin).stdout)

    def test_labels(self):
        self.assertEqual(self.labels(), ((2, 9), "<i4", 2 * [1, 1, 1, 1, 2, 2, 2, 3, 3]))
        self.assertEqual(self.labels("--height", "2")[2], 2 * [1, 1, 1, 1, 2, 2, 2, 2, 2])
        self.assertEqual(self.labels("--height", "20")[2], 18 * [1])
        self.assertEqual(self.labels("--lines")[2], 2 * [1, 1, 1, 0, 2, 2, 0, 3, 3])
        flipped = npy((2, 9), [9 - v for v in ROW + ROW])
        self.assertEqual(self.labels("--maxima", stdin=flipped)[2], self.labels()[2])
        self.assertEqual(self.labels("--border", "open,periodic")[2][8], 1)

    def test_markers_and_mask(self):
        (self.folder / "m.npy").write_bytes(npy((2, 9), [0, 7, 0, 0, 0, 0, 0, 0, 9] + 9 * [0], "<i2"))
        self.assertEqual(self.labels("--markers", "m.npy"), ((2, 9), "<i2", 2 * [7, 7, 7, 7, 9, 9, 9, 9, 9]))
        (self.folder / "k.npy").write_bytes(npy((2, 9), 2 * [0, 1, 1, 0, 1, 1, 1, 1, 0]))
        self.assertEqual(self.labels("--mask", "k.npy")[2], 2 * [0, 1, 1, 0, 2, 2, 2, 3, 0])
        corner = npy((2, 2), [0, 9, 9, 0])
        self.assertEqual(max(self.labels(stdin=corner)[2]), 2)
        self.assertEqual(max(self.labels("--connectivity", "8", stdin=corner)[2]), 1)

    def test_picture_and_report(self):
        done = self.run_program("watershed", "-", "-o", "l.tif", "--picture", "p.png", "--json", stdin=PITS)
        said = json.loads(done.stdout)
        self.assertEqual((said["verb"], said["regions"], said["height"]), ("watershed", 3, 0))
        self.assertEqual([each["path"] for each in said["outputs"]], ["l.tif", "p.png"])
        self.assertTrue((self.folder / "p.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn(b"3 regions", self.run_program("watershed", "-", stdin=PITS).stderr)

    def test_messages(self):
        (self.folder / "m.npy").write_bytes(npy((3,), [1, 0, 2]))
        (self.folder / "f.npy").write_bytes(npy((2, 9), 18 * [1], "<f4"))
        for words, said in (
            (("--height", "-1"), "--height is -1"),
            (("--height", "high"), "--height"),
            (("--markers", "f.npy"), "holds float32; markers are integers"),
            (("--markers", "m.npy"), "--markers has shape"),
            (("--markers", "m.npy", "--height", "2"), "leave out one of them"),
            (("--mask", "m.npy"), "--mask has shape"),
            (("--connectivity", "5"), "connectivity"),
            (("--border", "closed"), "--border"),
            (("--batch-axes", "1"), "--batch-axes"),
            (("--picture", "p.tif"), "PNG"),
            (("-q",), "nothing to make"),
        ):
            self.assertIn(said, self.refusal("watershed", "-", *words, stdin=PITS), words)


class Peaks(Case):
    def rows(self, *words, stdin=PITS):
        text = self.run_program("peaks", "-", "-o", "-", *words, stdin=stdin).stdout.decode().splitlines()
        self.assertEqual(text[0], "axis_0,axis_1,value")
        return [tuple(map(float, line.split(","))) for line in text[1:]]

    def test_rows(self):
        self.assertEqual(self.rows(), [(0, 3, 7), (0, 8, 6), (0, 6, 5), (0, 0, 3)])
        self.assertEqual(self.rows("--height", "2"), [(0, 3, 7), (0, 8, 6), (0, 0, 3)])
        self.assertEqual(self.rows("--min-distance", "3.5"), [(0, 3, 7), (0, 8, 6)])
        self.assertEqual(self.rows("--minima"), [(0, 5, 0), (0, 1, 1), (0, 7, 4)])
        self.assertEqual(self.rows("--minima", "--height", "2"), [(0, 5, 0), (0, 1, 1)])
        self.assertEqual(self.rows(stdin=npy((2, 2), [0, 0, 0, 0])), [])
        (self.folder / "k.npy").write_bytes(npy((2, 9), 2 * [1, 1, 0, 0, 1, 1, 1, 1, 0]))
        self.assertEqual(self.rows("--mask", "k.npy"), [(0, 6, 5), (0, 4, 4), (0, 0, 3)])

    def test_marks_and_report(self):
        words = ("peaks", "-", "-o", "p.csv", "--marks", "m.npy", "--height", "2", "--json")
        said = json.loads(self.run_program(*words, stdin=PITS).stdout)
        self.assertEqual((said["peaks"], said["height"]), (3, 2))
        self.assertEqual([each["path"] for each in said["outputs"]], ["p.csv", "m.npy"])
        marks = parse_npy((self.folder / "m.npy").read_bytes())
        self.assertEqual(marks, ((2, 9), "|u1", 2 * [255, 0, 0, 255, 0, 0, 0, 0, 255]))
        self.assertEqual(len((self.folder / "p.csv").read_text().splitlines()), 4)
        self.assertIn(b"4 peaks", self.run_program("peaks", "-", stdin=PITS).stderr)

    def test_messages(self):
        for words, said, status in (
            (("-o", "p.tif"), "-o is p.tif; peaks are a CSV file", 2),
            (("--height", "-1"), "--height is -1", 2),
            (("--min-distance", "near"), "--min-distance", 2),
            (("--min-distance", "-2"), "--min-distance is -2", 2),
            (("-o", "-", "--marks", "-"), "stdout", 2),
            (("--marks", "m.txt"), "m.txt", 3),
            (("--mask", "none.npy"), "none.npy", 3),
        ):
            self.assertIn(said, self.refusal("peaks", "-", *words, stdin=PITS, status=status), words)


if __name__ == "__main__":
    unittest.main()
