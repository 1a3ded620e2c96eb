"""The verb thickness end to end: values, tables, report, messages. Standard library only."""

import json
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


if __name__ == "__main__":
    unittest.main()
