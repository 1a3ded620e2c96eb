"""What a first hour asks: cells that take no part, gray images, units, photographs. Standard library only."""

import json
import math
import struct
import unittest

from program_case import Case, npy, parse_npy


def png_size(data):
    return struct.unpack(">II", data[16:24])


class FirstHour(Case):
    def test_cells_that_take_no_part(self):
        (self.folder / "w.npy").write_bytes(npy((5,), [0, 2, 1, 1, 1]))
        row = npy((5,), [0, 1, 1, 1, 0])
        where = ["--where", "w.npy"]
        self.assertEqual(
            parse_npy(self.run_program("distance", "-", "-o", "-", *where, stdin=row).stdout)[2], [math.inf, 3, 2, 1, 0]
        )
        seeds = npy((5,), [7, 0, 0, 0, 9])
        self.assertEqual(
            parse_npy(self.run_program("voronoi", "-", "--labels", "-", *where, stdin=seeds).stdout)[2],
            [0, 9, 9, 9, 9],
        )
        said = json.loads(self.run_program("distance", "-", "-o", "d.npy", *where, "--json", stdin=row).stdout)
        self.assertEqual(said["where"], "w.npy")
        done = self.run_program("distance", "-", "-o", "d.npy", *where, stdin=npy((5,), [0, 1, 1, 1, 1]))
        self.assertIn(b"no cell is zero", done.stderr)
        for words in (["--method", "jump-flood"], ["--plan"]):
            self.assertIn(words[0], self.refusal("distance", "-", "-o", "d.npy", *where, *words, stdin=row))
        none = self.refusal("distance", "-", "-o", "d.npy", "--where", "none.npy", stdin=row, status=3)
        self.assertIn("none.npy", none)
        self.assertIn("shape", self.refusal("distance", "-", "-o", "d.npy", *where, stdin=npy((4,), [0, 1, 1, 1])))

    def test_a_gray_image_is_told(self):
        gray = npy((16, 16), [1 + (i * 37) % 200 for i in range(255)] + [0])
        done = self.run_program("label", "-", "-o", "l.npy", stdin=gray)
        self.assertIn(b"looks like a gray image: every cell that is not zero is foreground; --threshold", done.stderr)
        done = self.run_program("distance", "-", "-o", "d.npy", stdin=gray)
        self.assertIn(b"looks like a gray image: the cells that are zero were taken as sites", done.stderr)
        for verb in ("thickness", "skeleton", "medial-axis", "pores"):
            done = self.run_program(verb, "-", "-o", "o.csv" if verb == "pores" else "o.npy", stdin=gray)
            self.assertIn(b"gray image: every cell that is not zero is foreground", done.stderr, verb)
        done = self.run_program("split", "-", "-o", "o.npy", stdin=gray)
        self.assertIn(b"- is taken for a gray image of bright objects: height", done.stderr)
        for verb in (["esdf"], ["path", "--start", "15,15", "--goal", "15,15"]):
            done = self.run_program(*verb, "-", "-o", "o.npy" if verb == ["esdf"] else "o.csv", stdin=gray)
            self.assertIn(b"gray image: every cell that is not zero is an obstacle", done.stderr, verb)
        for words in (["--threshold", "auto"], ["--criterion", "equal"], ["-q"]):
            done = self.run_program("label", "-", "-o", "l.npy", *words, stdin=gray)
            self.assertNotIn(b"gray image", done.stderr)
        labels = npy((16, 16), [1 + i // 32 for i in range(256)])
        self.assertNotIn(b"gray image", self.run_program("label", "-", "-o", "l.npy", stdin=labels).stderr)

    def test_the_unit(self):
        row = npy((1, 3), [0, 1, 1])
        said = json.loads(self.run_program("distance", "-", "-o", "d.nrrd", "--unit", "um", "--json", stdin=row).stdout)
        self.assertEqual(said["input"]["unit"], "um")
        self.run_program("distance", "-", "-o", "d.nrrd", "--unit", "um", "--spacing", "2,0.5", stdin=row)
        self.assertIn(b'"um"', (self.folder / "d.nrrd").read_bytes())
        self.assertIn("--unit", self.refusal("distance", "-", "-o", "d.npy", "--unit", "a;b", stdin=row))

    def test_labels_over_a_photograph(self):
        cells = [1 if 4 <= i % 40 < 20 and i // 40 > 2 else 0 for i in range(1200)]
        (self.folder / "photo.npy").write_bytes(npy((30, 40), [i % 250 for i in range(1200)]))
        mask = npy((30, 40), cells)
        sizes = set()
        made = {}
        for name, words in (
            ("plain", []),
            ("over", ["--over", "photo.npy"]),
            ("numbers", ["--over", "photo.npy", "--numbers"]),
        ):
            self.run_program("label", "-", "--picture", f"{name}.png", *words, stdin=mask)
            made[name] = (self.folder / f"{name}.png").read_bytes()
            sizes.add(png_size(made[name]))
        self.assertEqual(len(sizes), 1)
        self.assertEqual(len(set(made.values())), 3)
        (self.folder / "small.npy").write_bytes(npy((3, 4), [0] * 12))
        self.assertIn("--over", self.refusal("label", "-", "--picture", "p.png", "--over", "small.npy", stdin=mask))

    def test_all_inputs_are_checked_before_the_first_is_labelled(self):
        (self.folder / "a.npy").write_bytes(npy((3,), [1, 0, 1]))
        (self.folder / "b.npy").write_bytes(b"nonsense")
        self.refusal("label", "a.npy", "b.npy", "-o", "out", status=3)
        self.assertFalse((self.folder / "out" / "a.npy").exists())

    def test_a_large_picture_has_a_colour_scale(self):
        image = npy((100, 100), [0] + [1] * 9999)
        for size, wide in (("400", True), ("100", False)):
            self.run_program("distance", "-", "--picture", "p.png", "--picture-size", size, stdin=image)
            width, height = png_size((self.folder / "p.png").read_bytes())
            self.assertEqual(width > height, wide)


if __name__ == "__main__":
    unittest.main()
