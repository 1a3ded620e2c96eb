"""The verb split end to end: labels, tables, report, messages. Standard library only."""

import json
import unittest

from program_case import Case, npy, parse_npy

# Two objects joined by a neck of one row, and an isolated cell.
WIDE, NECK, NONE = [0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0], [0] + 11 * [1] + [0], 13 * [0]
PAIR = npy((8, 13), NONE + WIDE + WIDE + NECK + WIDE + WIDE + NONE + 12 * [0] + [1])


class Split(Case):
    def split(self, *words, stdin=PAIR):
        return parse_npy(self.run_program("split", "-", "-o", "-", *words, stdin=stdin).stdout)

    def test_labels(self):
        shape, descr, values = self.split()
        self.assertEqual((shape, descr, max(values)), ((8, 13), "<i4", 3))
        self.assertEqual([values[13 + 2], values[13 + 8], values[-1]], [1, 2, 3])
        self.assertEqual(max(self.split("--height", "4")[2]), 2)
        self.assertEqual(max(self.split("--min-size", "2")[2]), 2)
        self.assertEqual(self.split("--spacing", "3")[2], values)
        self.assertEqual(max(self.split("--spacing", "3", "--height", "12")[2]), 2)
        self.assertEqual(max(self.split(stdin=npy((3,), [0, 0, 0]))[2]), 0)

    def test_holes(self):
        ring = [0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0]
        for words, cells in (((), 8), (("--fill-holes",), 9), (("--fill-holes", "--border", "open,periodic"), 9)):
            self.assertEqual(sum(v > 0 for v in self.split(*words, stdin=npy((5, 5), ring))[2]), cells, words)
        said = self.refusal("split", "-", "--fill-holes", "--border", "periodic", stdin=npy((5, 5), ring))
        self.assertIn("--fill-holes", said)

    def test_gray(self):
        """Two bright discs on an uneven ground; every value differs from its neighbours."""
        values = [
            (60 if (y - 12) ** 2 + (x - 12) ** 2 < 50 else 90 if (y - 12) ** 2 + (x - 28) ** 2 < 50 else 0)
            + x + 1 + 7 * (x + 3 * y) % 5
            for y in range(24)
            for x in range(40)
        ]  # fmt: skip
        image = npy((24, 40), values)
        done = self.run_program("split", "-", "-o", "-", stdin=image)
        found = parse_npy(done.stdout)[2]
        self.assertEqual((max(found), {found[12 * 40 + 12], found[12 * 40 + 28]}, found[0]), (2, {1, 2}, 0))
        self.assertIn(b"gray image", done.stderr)
        self.assertEqual(self.split("--threshold", "objects", stdin=image)[2], found)
        self.assertEqual(set(self.split("--threshold", "0", stdin=image)[2]), {1})
        dark = npy((24, 40), [250 - v for v in values])
        self.assertEqual(self.split("--threshold", "dark", stdin=dark)[2], found)
        for name in ("otsu", "auto"):
            self.assertEqual(max(self.split("--threshold", name, stdin=image)[2]), 2)
        said = self.run_program("split", "-", "--threshold", "objects", "--method", "lecture", stdin=image).stderr
        self.assertIn(b"height as usual", said)
        self.assertIn("otsu", self.refusal("split", "-", "--threshold", "bright", stdin=image))
        colours = npy((24, 40, 3), [v for v in values for _ in range(3)])
        self.assertIn("looks like colours", self.refusal("split", "-", stdin=colours))
        self.assertEqual(max(self.split("--threshold", "objects", stdin=colours)[2]), 2)

    def test_table_and_report(self):
        words = ("split", "-", "--table", "objects.csv", "--picture", "p.png", "--json")
        said = json.loads(self.run_program(*words, stdin=PAIR).stdout)
        self.assertEqual((said["objects"], said["method"]), (3, "watershed"))
        self.assertEqual([each["path"] for each in said["outputs"]], ["p.png", "objects.csv"])
        lines = (self.folder / "objects.csv").read_text().splitlines()
        self.assertTrue(lines[0].startswith("label,size,"))
        self.assertEqual(sum(int(line.split(",")[1]) for line in lines[1:]), 52)
        self.assertTrue((self.folder / "p.png").read_bytes().startswith(b"\x89PNG"))
        text = self.run_program("split", "-", "--table", "-", stdin=PAIR).stdout.decode()
        self.assertEqual(text.splitlines(), lines)

    def test_messages(self):
        for words, said in (
            (("--height", "-1"), "--height is -1"),
            (("--height", "high"), "--height"),
            (("--min-size", "0"), "--min-size is 0"),
            (("--table", "objects.txt"), "--table is objects.txt"),
            (("--batch-axes", "1"), "--batch-axes"),
        ):
            self.assertIn(said, self.refusal("split", "-", *words, stdin=PAIR), words)
        self.assertIn("4 axes", self.refusal("split", "-", stdin=npy((1, 1, 1, 2), [1, 1])))


if __name__ == "__main__":
    unittest.main()
