"""The verb medial-axis end to end: axes, radii, files, messages. Standard library only."""

import json
import unittest

from program_case import Case, npy, parse_npy

BAR = npy((3, 7), [0] * 7 + [0, 1, 1, 1, 1, 1, 0] + [0] * 7)
BLOCK = npy((5, 7), [0] * 7 + 3 * [0, 1, 1, 1, 1, 1, 0] + [0] * 7)


class MedialAxis(Case):
    def axis(self, *words, stdin=BLOCK):
        shape, dtype, cells = parse_npy(self.run_program("medial-axis", "-", "-o", "-", *words, stdin=stdin).stdout)
        self.assertEqual(dtype, "|u1")
        return cells[:]

    def test_axis(self):
        self.assertEqual(self.axis(stdin=BAR), [0] * 7 + [0, 1, 1, 1, 1, 1, 0] + [0] * 7)
        middle = self.axis("--pruning", "constant", "--gamma", "2")[14:21]
        self.assertEqual(middle, [0, 0, 1, 1, 1, 0, 0])
        self.assertEqual(sum(self.axis("--method", "reduced")), 3)

    def test_options(self):
        labels = npy((1, 6), [1, 1, 1, 2, 2, 2])
        self.assertEqual(self.axis("--multilabel", "--border", "closed,open", stdin=labels), [1] * 6)
        self.assertEqual(self.axis("--multilabel", stdin=labels), [0] * 6)
        self.assertEqual(self.axis(stdin=npy((1, 6), [1] * 6)), [0] * 6)
        ring = npy((6,), [0, 1, 1, 1, 1, 1])
        self.assertEqual(self.axis("--border", "periodic", stdin=ring), [0, 0, 0, 1, 0, 0])
        self.assertEqual(self.axis("--batch-axes", "1", stdin=npy((2, 3), [0, 1, 0, 0, 0, 1])), [0, 1, 0, 0, 0, 0])

    def test_files_and_report(self):
        self.run_program("sample", "blobs", "-o", "b.png", "--size", "60x70", "-q")
        words = ["b.png", "-o", "a.npy", "--picture", "a.png", "--distances", "d.npy", "--pruning", "sqrt"]
        done = self.run_program("medial-axis", *words, "--json")
        said = json.loads(done.stdout)
        self.assertEqual((said["method"], said["pruning"], said["gamma"]), ("integer", "sqrt", 1))
        axis, radii = (parse_npy((self.folder / name).read_bytes()) for name in ("a.npy", "d.npy"))
        self.assertEqual(said["cells_on_axis"], sum(axis[2]))
        self.assertTrue(all(radius > 0 for radius, on in zip(radii[2], axis[2]) if on))
        self.assertTrue((self.folder / "a.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn(
            f"{sum(axis[2])} cells", self.run_program("medial-axis", "b.png", "--pruning", "sqrt").stderr.decode()
        )

    def test_refusals(self):
        for words, part in (
            (["-", "-o", "x.npy", "--method", "balls", "--gamma", "2"], "--method integer"),
            (["-", "-o", "x.npy", "--gamma", "-2"], "--gamma is -2"),
            (["-", "-o", "x.npy", "--gamma", "wide"], "--gamma"),
            (["-", "-o", "x.png", "--picture", "y.png"], "both name a picture"),
            (["-", "--picture", "y.npy"], "--picture is y.npy"),
            (["-", "-q"], "nothing to make"),
            (["-", "-o", "x.npy", "--pruning", "root"], "--pruning"),
        ):
            self.assertIn(part, self.refusal("medial-axis", *words, stdin=BLOCK), words)


if __name__ == "__main__":
    unittest.main()
