"""The verb metrics end to end: the table, labels, batches, report, messages. Standard library only."""

import json
import unittest

from program_case import Case, npy

A = npy((2, 7), [0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 2, 2])
B = npy((2, 7), [0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0])


class Metrics(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "b.npy").write_bytes(B)

    def rows(self, *words, stdin=A):
        text = self.run_program("metrics", "-", "b.npy", *words, stdin=stdin).stdout.decode()
        names, *rows = (line.split(",") for line in text.splitlines())
        return [dict(zip(names, row)) for row in rows]

    def test_table(self):
        one, two = self.rows()
        self.assertEqual(
            list(one)[:7], "label hausdorff percentile average symmetric_average surface_dice dice".split()
        )
        self.assertEqual((one["label"], one["hausdorff"], one["size_a"], one["size_b"]), ("1", "2", "6", "8"))
        self.assertEqual(float(one["dice"]), 8 / 14)
        self.assertEqual(
            (two["hausdorff"], two["dice"], two["average_b"], two["overlap_b"]), ("inf", "0", "nan", "nan")
        )
        self.assertEqual([each["label"] for each in self.rows("--labels", "2,1,7")], ["2", "1", "7"])
        several = self.rows("--percentile", "50,99.5", "--tolerance", "0,2", "--spacing", "3,0.5")[0]
        self.assertEqual((several["percentile_50"], several["surface_dice_2"]), ("0.25", "1"))
        self.assertIn("percentile_99.5", several)
        self.assertEqual([each["image"] for each in self.rows("--batch-axes", "1")], ["0", "0", "1", "1"])
        self.assertNotEqual(self.rows("--surface", "elements")[0]["area_a"], one["area_a"])

    def test_files_and_report(self):
        words = ("metrics", "-", "b.npy", "-o", "t.csv", "--json", "--device", "cpu")
        said = json.loads(self.run_program(*words, stdin=A).stdout)
        self.assertEqual((said["rows"], said["outputs"][0]["path"]), (2, "t.csv"))
        text = self.run_program("metrics", "-", "b.npy", "-o", "-", stdin=A).stdout.decode()
        self.assertEqual((self.folder / "t.csv").read_text(), text)

    def test_messages(self):
        for words, said in (
            (("--labels", "1,x"), "--labels"),
            (("--labels", "1,1"), "labels has 1 twice"),
            (("--percentile", "101"), "percentiles has 101"),
            (("--tolerance", "-1"), "tolerances has -1"),
            (("--surface", "voxels"), "--surface"),
            (("-o", "t.txt"), "-o is t.txt"),
        ):
            self.assertIn(said, self.refusal("metrics", "-", "b.npy", *words, stdin=A), words)
        self.assertIn("one shape", self.refusal("metrics", "-", "b.npy", stdin=npy((7,), 7 * [1])))


if __name__ == "__main__":
    unittest.main()
