"""The verb offset end to end, and what is said of meshes and their walls. Standard library only."""

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

    def test_faces_twice(self):
        head, faces = BOX.replace("8 12 0", "8 24 0"), "\n".join(BOX.splitlines()[-12:])
        (self.folder / "box.off").write_text(BOX)
        (self.folder / "twice.off").write_text(f"{head}{faces}\n")

        def told(verb, name, *more):
            run = self.run_program(verb[0], *more[:1], "-o", name, "--overwrite", *verb[1:], *more[1:])
            return run.stderr.decode()

        for verb, name in (
            (("offset", "--distance", "0.5", "--pitch", "0.25"), "out.ply"),
            (("voxelize", "--pitch", "0.25"), "out.npy"),
        ):
            self.assertIn("12 of 24 faces repeat another one", told(verb, name, "twice.off"))
            self.assertNotIn("repeat", told(verb, name, "twice.off", "--winding"))
            self.assertNotIn("repeat", told(verb, name, "box.off"))


class Meshes(Case):
    def test_info(self):
        (self.folder / "box.off").write_text(BOX)
        (self.folder / "open.off").write_text(BOX.replace("8 12 0", "8 11 0").replace("3 1 7 3\n", ""))
        text = self.run_program("info", "box.off", "open.off").stdout.decode()
        self.assertIn("box.off\n  mesh       12 faces, closed, volume 24, area 52\n  box        0,0,0 to 2,3,4", text)
        self.assertIn("open.off\n  mesh       11 faces, 3 open edges", text)
        one, two = json.loads(self.run_program("info", "box.off", "open.off", "--json").stdout)["files"]
        self.assertEqual((one["path"], one["closed"], two["closed"]), ("box.off", True, False))
        self.assertEqual((one["least"], one["largest"], one["euler"]), ([0, 0, 0], [2, 3, 4], 2))

    def test_a_mesh_is_no_image(self):
        (self.folder / "box.off").write_text(BOX)
        for words in (("distance", "box.off", "-o", "x.npy"), ("thickness", "box.off"), ("label", "box.off")):
            self.assertIn("is a mesh; `nearfield voxelize` makes a volume of it", self.refusal(*words, status=2))


class Cloud(Case):
    def test_labels_and_frame(self):
        words = ("-o", "out.ppm", "--size", "60x60", "--overwrite")
        self.run_program("sample", "labels", "-o", "labels.npy", "--size", "20x20x20")
        self.assertIn("threshold 0.5,", self.run_program("render", "labels.npy", *words).stderr.decode())
        self.run_program("sample", "blobs", "-o", "gray.npy", "--size", "20x20x20")
        self.assertNotIn("threshold 0.5,", self.run_program("render", "gray.npy", *words).stderr.decode())
        ball = [
            (z - 6) ** 2 + (y - 30) ** 2 + (x - 9) ** 2 < 16 for z in range(40) for y in range(40) for x in range(40)
        ]
        header = b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 40 40 40\nencoding: raw\n\n"
        (self.folder / "ball.nrrd").write_bytes(header + bytes(ball))
        self.run_program("render", "ball.nrrd", *words)
        pixels = (self.folder / "out.ppm").read_bytes()[-10800:]
        drawn = sum(
            pixels[k] < 255 for k in range(0, 10800, 3)
        )  # in the middle, a ball fills two fifths of the picture
        self.assertTrue(1000 < drawn < 2400 and pixels[3 * (30 * 60 + 30)] < 255, drawn)

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
