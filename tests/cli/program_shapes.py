"""The verbs morphology and skeleton end to end: masks, labels, files, messages. Standard library only."""

import json
import unittest

from program_case import Case, npy, parse_npy

ROW = npy((9,), [0, 7, 7, 7, 0, 0, 7, 0, 0])
LABELS = npy((8,), [3, 3, 3, 4, 4, 4, 0, 0], "<i4")


class Morphology(Case):
    def row(self, *words, stdin=ROW, **more):
        return parse_npy(self.run_program("morphology", *words, "-", "-o", "-", stdin=stdin, **more).stdout)

    def test_masks(self):
        for words, wanted in (
            (("erosion", "--radius", "1"), [0, 0, 255, 0, 0, 0, 0, 0, 0]),
            (("dilation", "--radius", "1"), [255] * 8 + [0]),
            (("opening", "--radius", "1"), [0, 255, 255, 255, 0, 0, 0, 0, 0]),
            (("closing", "--radius", "1"), [255, 255, 255, 255, 255, 255, 255, 0, 0]),
            (("closing", "--radius", "3", "--spacing", "2"), [255, 255, 255, 255, 255, 255, 255, 0, 0]),
            (("dilation", "--radius", "1", "--border", "closed"), [255] * 9),
        ):
            self.assertEqual(self.row(*words), ((9,), "|u1", wanted), words)

    def test_labels(self):
        for words, wanted in (
            ("erosion", [3, 3, 0, 0, 4, 0, 0, 0]),
            ("dilation", [3, 3, 3, 4, 4, 4, 4, 0]),
        ):
            self.assertEqual(self.row(words, "--radius", "1", "--multilabel", stdin=LABELS), ((8,), "<i4", wanted))

    def test_report(self):
        done = self.run_program("morphology", "opening", "-", "--radius", "1", "--json", stdin=ROW)
        said = json.loads(done.stdout)
        self.assertEqual((said["foreground_before"], said["foreground_after"]), (4, 3))
        self.assertEqual((said["operation"], said["radius"]), ("opening", 1))

    def test_pictures(self):
        image = npy((6, 7), [1] * 42)
        self.run_program("morphology", "erosion", "-", "-o", "e.png", "--radius", "1", stdin=image)
        self.run_program("morphology", "erosion", "-", "--picture", "p.png", "--radius", "1", stdin=image)
        for name in ("e.png", "p.png"):
            with open(self.folder / name, "rb") as file:
                self.assertEqual(file.read(4), b"\x89PNG")

    def test_refusals(self):
        for words, said in (
            (("opening", "-", "--radius", "-1"), "--radius"),
            (("opening", "-", "--radius", "wide"), "--radius"),
            (("opening", "-"), "--radius"),
            (("open", "-", "--radius", "1"), "did you mean opening"),
            (("opening", "-", "--radius", "1", "-q"), "nothing to make"),
            (("opening", "-", "--radius", "1", "--picture", "p.tif"), "PNG"),
            (("opening", "-", "--radius", "1", "-o", "a.png", "--picture", "p.png"), "both name a picture"),
        ):
            self.assertIn(said, self.refusal("morphology", *words, stdin=ROW), words)
        floats = npy((3,), [0, 1, 1], "<f4")
        said = self.refusal("morphology", "erosion", "-", "--radius", "1", "--multilabel", stdin=floats)
        self.assertIn("--multilabel", said)


BAR = npy((5, 9), [0] * 9 + ([0] + [9] * 7 + [0]) * 3 + [0] * 9)


class Skeleton(Case):
    def bar(self, *words):
        done = self.run_program("skeleton", "-", "-o", "-", *words, stdin=BAR)
        shape, dtype, cells = parse_npy(done.stdout)
        self.assertEqual((shape, dtype), ((5, 9), "|u1"))
        return cells

    def test_masks(self):
        self.assertEqual(self.bar(), [0] * 18 + [0, 0, 255, 255, 255, 255, 255, 0, 0] + [0] * 18)
        self.assertEqual(self.bar("--keep", "nothing").count(255), 1)
        for words in (("--faces",), ("--keep", "isthmuses"), ("--spacing", "2,1"), ("--border", "periodic")):
            self.assertGreater(self.bar(*words).count(255), 0)

    def test_batches(self):
        pair = npy((2, 1, 3), [1, 1, 1, 0, 1, 0])
        done = self.run_program("skeleton", "-", "-o", "-", "--batch-axes", "1", stdin=pair)
        self.assertEqual(parse_npy(done.stdout)[2], [255, 255, 255, 0, 255, 0])

    def test_report_and_pictures(self):
        done = self.run_program("skeleton", "-", "--picture", "p.png", "--json", stdin=BAR)
        said = json.loads(done.stdout)
        self.assertEqual((said["foreground_before"], said["foreground_after"], said["keep"]), (21, 5, "ends"))
        self.run_program("skeleton", "-", "-o", "s.png", stdin=BAR)
        for name in ("p.png", "s.png"):
            with open(self.folder / name, "rb") as file:
                self.assertEqual(file.read(4), b"\x89PNG")

    def test_the_line_names_every_file(self):
        files = ("-o", "s.npy", "--picture", "p.png")
        for words, ending in (
            (("skeleton", "-", *files, "--graph", "g.csv"), b" -> s.npy, p.png, g.csv\n"),
            (("skeleton", "-", "-o", "-", "--graph", "g.csv"), b" -> g.csv\n"),
            (("morphology", "opening", "-", "--radius", "1", *files), b" -> s.npy, p.png\n"),
            (("split", "-", *files, "--table", "t.csv"), b" -> s.npy, p.png, t.csv\n"),
        ):
            done = self.run_program(*words, stdin=BAR)
            self.assertTrue(done.stderr.endswith(ending), done.stderr)
        self.assertTrue(self.run_program("skeleton", "-", stdin=BAR).stderr.endswith(b")\n"))

    def test_graphs(self):
        cross = npy((5, 7), [0] * 3 + [1] + [0] * 3 + [0, 0, 0, 1, 0, 0, 0] + [1] * 7 + [0] * 14)
        done = self.run_program("skeleton", "-", "--graph", "-", "-q", "--spacing", "2", stdin=cross)
        rows = done.stdout.decode().splitlines()
        self.assertEqual(rows[0].split(",")[:4], ["skeleton-id", "node-id-src", "node-id-dst", "branch-distance"])
        self.assertEqual(len(rows), 4)
        done = self.run_program("skeleton", "-", "--graph", "g.swc", "--json", "--prune-length", "2.5", stdin=cross)
        said = json.loads(done.stdout)
        self.assertEqual((said["branches"], said["nodes"]), (1, 2))
        self.assertEqual(len((self.folder / "g.swc").read_text().splitlines()), 8)  # its header, and 7 cells

    def test_refusals(self):
        for words, said in (
            (("-", "--graph", "g.txt"), "--graph is g.txt"),
            (("-", "--prune-length", "-2"), "--prune-length is -2"),
            (("-", "--prune-angle", "wide"), "--prune-angle"),
            (("-", "--graph", "-", "-o", "-"), "stdout"),
            (("-", "--graph", "g.csv", "--batch-axes", "1"), "a graph takes one"),
            (("-", "-q"), "nothing to make"),
            (("-", "--keep", "tips"), "--keep"),
            (("-", "--picture", "p.tif"), "PNG"),
            (("-", "-o", "a.png", "--picture", "p.png"), "both name a picture"),
        ):
            self.assertIn(said, self.refusal("skeleton", *words, stdin=BAR), words)
        self.assertIn("--batch-axes 1", self.refusal("skeleton", "-", stdin=npy((1, 1, 1, 2), [1, 1])))


class Plans(Case):
    def test_tell_memory_and_do_nothing(self):
        (self.folder / "m.npy").write_bytes(npy((3, 3), [0, 7, 7, 7, 0, 0, 7, 0, 0]))
        for words in (
            ["morphology", "opening", "m.npy", "--radius", "1"],
            ["thickness", "m.npy"],
            ["medial-axis", "m.npy"],
            ["skeleton", "m.npy"],
            ["split", "m.npy"],
            ["watershed", "m.npy"],
            ["peaks", "m.npy"],
            ["geodesic", "m.npy", "--start", "0,1"],
            ["fill", "m.npy", "--missing", "0"],
            ["fill", "m.npy", "--missing", "0", "--method", "natural"],
            ["slices", "m.npy", "--steps", "2"],
            ["pores", "m.npy"],
            ["metrics", "m.npy", "m.npy"],
        ):
            output = ["-o", "made.csv" if words[0] in ("pores", "metrics", "peaks") else "made.npy"]
            place = ["--plan", "--device", "cpu", "--threads", "1"]
            self.assertRegex(self.run_program(*words, *output, *place).stdout, b"workspace [0-9]", words)
            [told] = json.loads(self.run_program(*words, *output, *place, "--json").stdout)["plans"]
            self.assertEqual((told["place"], told["cells"]), ("host", 9), words)
            self.assertGreater(told["workspace_bytes"], 0, words)
            self.assertGreater(len(told["passes"]), 0, words)
        self.assertEqual(sorted(each.name for each in self.folder.iterdir()), ["m.npy"])


if __name__ == "__main__":
    unittest.main()
