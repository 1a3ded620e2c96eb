"""Several inputs in one call, and folders for what comes of them. Standard library only."""

import json
import unittest

from program_case import Case, npy


class SeveralInputs(Case):
    def setUp(self):
        super().setUp()
        self.images = {
            "a": npy((3, 4), [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]),
            "b": npy((2, 3), [0, 1, 1, 1, 1, 1]),
            "c": npy((1, 3), [5, 5, 0], "<u2"),  # another element type
            "d": npy((4,), [1, 0, 1, 1]),  # another number of axes
        }
        for name, data in self.images.items():
            (self.folder / f"{name}.npy").write_bytes(data)
        self.names = [f"{name}.npy" for name in self.images]

    def test_every_input_gets_its_files(self):
        words = ["-o", "out/deep", "--indices", "idx", "--picture", "out/deep", "--labels", "lab/"]
        done = self.run_program("distance", *self.names, *words, "--json")
        said = json.loads(done.stdout)
        self.assertEqual(len(said["inputs"]), 4)
        for name, data in self.images.items():
            self.run_program("distance", "-", "-o", "d.npy", "--indices", "i.npy", "--labels", "l.npy", stdin=data)
            for alone, place in (("d", "out/deep"), ("i", "idx"), ("l", "lab")):
                together = (self.folder / place / f"{name}.npy").read_bytes()
                self.assertEqual(together, (self.folder / f"{alone}.npy").read_bytes(), (name, place))
            self.assertTrue((self.folder / "out/deep" / f"{name}.png").exists())
        self.run_program("voronoi", "a.npy", "b.npy", "--labels", "v")
        self.assertEqual(sorted(path.name for path in (self.folder / "v").iterdir()), ["a.npy", "b.npy"])

    def test_labels_of_every_input(self):
        words = ["-o", "out", "--stats", "tables/", "--picture", "out", "--shapes", "--json"]
        said = json.loads(self.run_program("label", *self.names[:3], *words).stdout)
        for each, name in zip(said["inputs"], "abc", strict=True):
            self.run_program(
                "label", f"{name}.npy", "-o", "l.npy", "--stats", "t.csv", "--shapes", "--picture", "p.png"
            )
            for alone, together in (
                ("l.npy", f"out/{name}.npy"),
                ("t.csv", f"tables/{name}.csv"),
                ("p.png", f"out/{name}.png"),
            ):
                self.assertEqual((self.folder / alone).read_bytes(), (self.folder / together).read_bytes(), together)
            alone = json.loads(self.run_program("label", f"{name}.npy", "--json").stdout)
            self.assertEqual((each["components"], each["input"]), (alone["components"], alone["input"]))
        lines = self.run_program("label", *self.names).stderr.decode().splitlines()
        self.assertEqual([line.split(":")[1].strip() for line in lines], self.names)
        for words, part in (
            (["a.npy", "./a.npy", "-o", "deep"], "would both become a.npy"),
            (["a.npy", "b.npy", "--stats", "t.csv"], "names a folder"),
            (["a.npy", "b.npy", "-o", "-"], "names a folder"),
            (
                ["a.npy", "b.npy", "-o", "deep", "--stats", "t", "--intensity", "a.npy"],
                "--intensity has the values of one",
            ),
            (["a.npy", "-", "-o", "deep"], "stdin"),
        ):
            self.assertIn(part, self.refusal("label", *words), words)
        self.assertFalse((self.folder / "deep").exists())

    def test_one_input_into_a_folder(self):
        self.run_program("distance", "a.npy", "-o", "new/")
        (self.folder / "there").mkdir()
        self.run_program("distance", "a.npy", "-o", "there")
        self.assertEqual((self.folder / "new/a.npy").read_bytes(), (self.folder / "there/a.npy").read_bytes())

    def test_what_cannot_be_done_is_explained(self):
        (self.folder / "sub").mkdir()
        (self.folder / "sub/a.npy").write_bytes(self.images["a"])
        (self.folder / "file").write_bytes(b"")
        for words, part in (
            (["a.npy", "sub/a.npy", "-o", "out"], "would both become a.npy"),
            (["a.npy", "a.npy", "-o", "out"], "would both become a.npy"),
            (["a.npy", "b.npy", "-o", "file"], "names a folder"),
            (["a.npy", "b.npy", "-o", "d.npy"], "names a folder"),
            (["a.npy", "b.npy", "-o", "-"], "stdout"),
            (["a.npy", "-", "-o", "out"], "stdin"),
            (["a.npy", "b.npy", "-o", "out", "--indices", "./out/"], "are one file"),
            (["a.npy", "b.npy"], "nothing to make"),
            (["a.npy", "b.npy", "--picture", "p.png"], "names a folder"),
        ):
            self.assertIn(part, self.refusal("distance", *words), words)
        self.assertFalse((self.folder / "out").exists())
        message = self.refusal("voronoi", "a.npy", "b.npy", "-o", "out", "--weights", "a.npy")
        self.assertIn("--weights", message)
        self.refusal("distance", "a.npy", "missing.npy", "-o", "out", status=3)
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
