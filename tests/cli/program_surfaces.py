"""The verb offset end to end: how thick the wall of a hollow part is said to be. Standard library only."""

import json
import unittest

from program_case import Case

BOX = """OFF
8 12 0
0 0 0\n0 0 4\n0 3 0\n0 3 4\n2 0 0\n2 0 4\n2 3 0\n2 3 4
3 0 1 3\n3 0 3 2\n3 4 6 7\n3 4 7 5\n3 0 4 5\n3 0 5 1\n3 2 3 7\n3 2 7 6\n3 0 2 6\n3 0 6 4\n3 1 5 7\n3 1 7 3
"""


class Offset(Case):
    def test_walls(self):
        (self.folder / "box.off").write_text(BOX)
        words = ("offset", "box.off", "-o", "wall.ply", "--distance", "-0.5", "--pitch", "0.1")
        said = json.loads(self.run_program(*words, "--hollow", "--json").stdout)
        self.assertAlmostEqual(said["wall"]["least"], 0.5, delta=said["error_bound"])
        self.assertAlmostEqual(said["wall"]["most"], 0.5 * 3**0.5, delta=said["error_bound"])  # at corners
        head = (self.folder / "wall.ply").read_bytes().split(b"end_header")[0]
        self.assertIn(b"property double thickness\nproperty uchar red", head)
        self.assertIn("its wall 0.5", self.run_program(*words, "--hollow", "--overwrite").stderr.decode())
        plain = json.loads(self.run_program(*words, "--json", "--overwrite").stdout)
        self.assertNotIn("wall", plain)
        self.assertNotIn(b"thickness", (self.folder / "wall.ply").read_bytes().split(b"end_header")[0])


class Cloud(Case):
    def test_transfer_function(self):
        self.run_program("sample", "blobs", "-o", "blobs.npy", "--size", "20x20x20")
        words = ("render", "blobs.npy", "-o", "cloud.ppm", "--size", "40x30", "--mode", "volume", "--overwrite")
        points = "0:#000:0,100:#f00:0,200:#ff0000:0.9"
        self.assertIn("transfer function", self.run_program(*words, "--transfer", points).stderr.decode())
        pixels = (self.folder / "cloud.ppm").read_bytes()[-3600:]
        self.assertTrue(any(pixels[k] > pixels[k + 2] + 100 for k in range(0, 3600, 3)))  # red
        for bad, said in (
            ("0:#000", "value, colour and opacity"),
            ("0:red:1,1:#fff:1", "colour"),
            ("5:#000:0", "2 to 32"),
        ):
            refused = self.run_program(*words, "--transfer", bad, status=2).stderr.decode()
            self.assertIn(said, refused)
        refused = self.run_program(*words[:6], "--transfer", points, status=2).stderr.decode()
        self.assertIn("--mode volume", refused)


if __name__ == "__main__":
    unittest.main()
