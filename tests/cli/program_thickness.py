"""The verb thickness end to end: values, tables, report, messages. Standard library only."""

import json
import math
import random
import unittest

from program_case import Case, npy, parse_npy

IMAGE = npy((2, 6), [0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0])


class Thickness(Case):
    def thickness(self, *words, stdin=IMAGE):
        return parse_npy(self.run_program("thickness", "-", "-o", "-", *words, stdin=stdin).stdout)

    def test_values(self):
        row = npy((7,), [0, 1, 1, 1, 0, 1, 0])
        self.assertEqual(self.thickness(stdin=row), ((7,), "<f4", [0, 4, 4, 4, 0, 2, 0]))
        self.assertEqual(self.thickness("--squared", stdin=row), ((7,), "<u4", [0, 4, 4, 4, 0, 1, 0]))
        self.assertEqual(self.thickness("--spacing", "0.5", stdin=row)[2], [0, 2, 2, 2, 0, 1, 0])
        self.assertEqual(self.thickness("--sizes", "1,3", stdin=row)[2], [0, 3, 3, 3, 0, 1, 0])
        self.assertEqual(self.thickness("--border", "closed", stdin=npy((3,), [1, 1, 1]))[2], [4, 4, 4])
        labels = npy((6,), [1, 1, 1, 2, 2, 2])
        self.assertEqual(self.thickness("--multilabel", "--dtype", "float64", stdin=labels)[2], [6, 6, 6, 6, 6, 6])

    def test_batches(self):
        self.assertEqual(self.thickness("--batch-axes", "1")[2], [0, 4, 4, 4, 0, 2, 0, 4, 4, 4, 0, 0])

    def test_table_and_report(self):
        words = ["thickness", "-", "--table", "sizes.csv", "--json", "--spacing", "2,1"]
        done = json.loads(self.run_program(*words, stdin=IMAGE).stdout)
        self.assertEqual(done["cells"], 7)
        rows = [line.split(",") for line in (self.folder / "sizes.csv").read_text().split()]
        self.assertEqual(rows[0], ["squared", "diameter", "cells", "volume"])
        self.assertEqual(sum(int(row[2]) for row in rows[1:]), 7)
        self.assertEqual(float(rows[-1][1]), done["largest"])
        self.assertEqual(sum(float(row[3]) for row in rows[1:]), 14)

    def test_refusals(self):
        for words, said in (
            (["--sizes", "3,2"], "ascending"),
            (["--dtype", "uint32"], "--squared"),
            (["--squared", "--dtype", "float32"], "--squared"),
            (["--spacing", "1,2,3"], "--spacing"),
        ):
            self.assertIn(said, self.refusal("thickness", "-", "-o", "-", *words, stdin=IMAGE))
        four = npy((1, 1, 2, 2), [0, 1, 1, 1])
        self.assertIn("--batch-axes", self.refusal("thickness", "-", "-o", "-", stdin=four))


def reached_by_definition(mask, rows, columns, faces, sizes=()):
    """Diameters of porosimetry in an image, by flooding from the faces once for each squared radius."""
    cells = [(y, x) for y in range(rows) for x in range(columns)]
    solid = [at for at in cells if mask[at[0] * columns + at[1]] == 0]
    squared = {at: min((at[0] - y) ** 2 + (at[1] - x) ** 2 for y, x in solid) for at in cells}
    inlets = {
        (y, x)
        for y, x in cells
        if ("left" in faces and x == 0) or ("right" in faces and x == columns - 1) or ("top" in faces and y == 0)
    }
    found = dict.fromkeys(cells, 0.0)
    for least in sorted(set(squared.values()) - {0}):
        front = [at for at in inlets if squared[at] >= least]
        centres = set(front)
        while front:
            y, x = front.pop()
            for at in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if squared.get(at, 0) >= least and at not in centres:
                    centres.add(at), front.append(at)
        diameter = 2 * math.sqrt(least)
        size = max((size for size in sizes if size <= diameter), default=0) if sizes else diameter
        end = (size / 2) ** 2 if sizes else least
        for y, x in centres:
            for at in cells:
                if (at[0] - y) ** 2 + (at[1] - x) ** 2 < end:
                    found[at] = max(found[at], size)
    return [found[at] for at in cells]


class Porosimetry(Case):
    def reached(self, image, *words):
        made = self.run_program("porosimetry", "-", "-o", "-", "--dtype", "float64", *words, stdin=image).stdout
        return parse_npy(made)[2]

    def test_values(self):
        row = npy((12,), [0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1])
        self.assertEqual(self.reached(row, "--inlets", "right"), [0] * 11 + [2])
        two = npy((13,), [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1])
        self.assertEqual(self.reached(two), [8, 8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 4, 4])
        self.assertEqual(self.reached(two, "--inlets", "left", "--spacing", "0.1")[:6], [0.8, 0.8, 0.8, 0.8, 0, 0])
        self.assertEqual(self.reached(two, "--sizes", "0.3,0.6", "--spacing", "0.1")[:5], [0.6] * 4 + [0])

    def test_definition(self):
        draw = random.Random(5)
        for case in range(12):
            rows, columns = draw.randint(3, 9), draw.randint(3, 11)
            mask = [int(draw.random() < 0.85) for _ in range(rows * columns)]
            mask[draw.randrange(len(mask))] = 0
            faces = draw.choice((["left"], ["top"], ["left", "right"], ["right", "top"]))
            sizes = draw.choice(((), (2, 3, 4.5)))
            words = ["--inlets", ",".join(faces), *(["--sizes", ",".join(map(str, sizes))] if sizes else [])]
            found = self.reached(npy((rows, columns), mask), *words)
            wanted = reached_by_definition(mask, rows, columns, faces, sizes)
            self.assertEqual(found, wanted, (case, rows, columns, mask, words))

    def test_spacing_of_axes(self):
        image = npy((3, 4), [1] * 4 + [1] * 4 + [0] * 4)
        self.assertEqual(self.reached(image, "--spacing", "2,1", "--inlets", "left"), [8] * 8 + [0] * 4)
        self.assertEqual(self.reached(image, "--spacing", "2.5,1", "--inlets", "left"), [10] * 8 + [0] * 4)

    def test_table_and_report(self):
        words = ["porosimetry", "-", "--inlets", "left,right", "--table", "sizes.csv", "--json"]
        done = json.loads(self.run_program(*words, stdin=IMAGE).stdout)
        self.assertEqual((done["inlets"], done["cells"]), (["left", "right"], 1))
        rows = [line.split(",") for line in (self.folder / "sizes.csv").read_text().split()]
        self.assertEqual(sum(int(row[2]) for row in rows[1:]), 1)

    def test_plan_counts_both_calls(self):
        words = ["porosimetry", "-", "-o", "d.npy", "--plan", "--json", "--device", "cpu"]
        said = json.loads(self.run_program(*words, stdin=npy((40, 50), [0] + [1] * 1999)).stdout)["plans"][0]
        self.assertEqual((said["cells"], said["input_bytes"]), (2000, 2000))
        steps = " ".join(map(str, said["passes"]))
        for each in ("basins merge", "crescents of balls"):
            self.assertIn(each, steps)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_picture_tells_unreached_pores_from_solid(self):
        row = npy((3, 12), [0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1] * 3)
        self.run_program("porosimetry", "-", "--inlets", "right", "--picture", "p.png", "-o", "d.npy", stdin=row)
        self.run_program("convert", "p.png", "-o", "p.npy", "--channel", "red")
        (height, width), _, red = parse_npy((self.folder / "p.npy").read_bytes())
        colours = [red[height // 6 * width + (2 * cell + 1) * width // 24] for cell in (0, 4, 2, 7, 11)]
        self.assertEqual((colours[0], colours[2], colours[4] not in colours[:4]), (colours[1], colours[3], True))
        self.assertEqual((colours[2], colours[0] == colours[2]), (176, False))
        self.assertEqual(parse_npy((self.folder / "d.npy").read_bytes())[2][2], 0)

    def test_refusals(self):
        refused = "porosimetry", "-", "-o", "-"
        self.assertIn("left, right, top, bottom", self.refusal(*refused, "--inlets", "front", stdin=IMAGE))
        self.assertEqual(self.reached(npy((3,), [1, 1, 1])), [math.inf] * 3)


if __name__ == "__main__":
    unittest.main()
