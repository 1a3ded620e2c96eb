"""Every option of the fields, through the program, against all pairs of cells. Standard library only."""

import array
import json
import struct
import unittest

from program_case import Case, npy, parse_npy

INF = float("inf")


def nearest(shape, cells, is_site, spacing=(1, 1), border=("open", "open"), half_cell=False, limit=INF, weight=None):
    """(squared distance, linear index or -1) for every cell of a 2-D array, by looking at all pairs."""
    rows, columns = shape

    def term(axis, step):
        step = abs(step)
        if border[axis] == "periodic":
            step = min(step, shape[axis] - step)
        return (spacing[axis] * (max(step - 0.5, 0) if half_cell else step)) ** 2

    found = []
    for i in range(rows * columns):
        r, c = divmod(i, columns)
        best = (INF, -1, -1)
        for j in range(rows * columns):
            if is_site(cells[i], cells[j]):
                q, d = divmod(j, columns)
                best = min(best, (term(0, r - q) + term(1, c - d) - (weight[j] if weight else 0), d, q))
        ends = [term(axis, min(at + 1, shape[axis] - at)) for axis, at in ((0, r), (1, c)) if border[axis] == "closed"]
        index = best[2] * columns + best[1] if best[0] < INF else -1
        square = best[0]
        if ends and min(ends) < square:
            square, index = min(ends), -1
        if weight is None and square**0.5 > limit:
            square, index = INF, -1
        found.append((square, index))
    return found


def zero(_, other):
    return other == 0


def nonzero(_, other):
    return other != 0


def other_label(own, other):
    return other in (0,) or other != own


def float32(values):
    return array.array("f", values).tolist()


def joined(lists):
    return [value for each in lists for value in each]


class Options(Case):
    """Every option of the fields, on arrays small enough for all pairs of cells."""

    SHAPE = (5, 6)
    MASK = [1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]
    LABELS = [3, 3, 3, 7, 7, 7, 3, 3, 3, 7, 7, 7, 3, 3, 0, 7, 7, 7, 9, 9, 9, 9, 0, 7, 9, 9, 9, 9, 9, 9]

    def fields(self, verb, image, *words, files=()):
        """The output of `-o -`, and of each of the options in `files`."""
        named = [word for option in files for word in (option, option.strip("-") + ".npy")]
        done = self.run_program(verb, "-", "-o", "-", *named, *words, stdin=image)
        return [
            parse_npy(done.stdout),
            *(parse_npy((self.folder / f"{option.strip('-')}.npy").read_bytes()) for option in files),
        ]

    def test_multilabel_with_everything(self):
        image = npy(self.SHAPE, self.LABELS, "<u2")
        expected = nearest(self.SHAPE, self.LABELS, other_label)
        for words in (["--multilabel"], ["--sites", "other-labels"], ["--multilabel", "--sites", "other-labels"]):
            got = self.fields("distance", image, *words, files=["--indices", "--labels"])
            self.assertEqual(got[0], (self.SHAPE, "<f4", float32(square**0.5 for square, _ in expected)))
            self.assertEqual(got[1], (self.SHAPE, "<i8", [index for _, index in expected]))
            self.assertEqual(got[2], (self.SHAPE, "<u2", [self.LABELS[index] for _, index in expected]))
        squared = self.fields("distance", image, "--multilabel", "--squared")[0]
        self.assertEqual(squared, (self.SHAPE, "<u4", [square for square, _ in expected]))
        for descr in ("|u1", "|i1", "<i2", "<i4", "<u4", "<i8", "<u8"):
            same = self.fields("distance", npy(self.SHAPE, self.LABELS, descr), "--multilabel", "--squared")[0]
            self.assertEqual(same, squared)

    def test_signed_and_half_cell(self):
        image = npy(self.SHAPE, self.MASK)
        for half in ([], ["--half-cell"]):
            to_zero = nearest(self.SHAPE, self.MASK, zero, half_cell=bool(half))
            to_one = nearest(self.SHAPE, self.MASK, nonzero, half_cell=bool(half))
            signed = [-(to_zero[i][0] ** 0.5) if self.MASK[i] else to_one[i][0] ** 0.5 for i in range(len(self.MASK))]
            got = self.fields("distance", image, "--signed", "inside", *half)[0]
            self.assertEqual(got, (self.SHAPE, "<f4", float32(signed)))
            got = self.fields("distance", image, "--signed", "outside", "--dtype", "float64", *half)[0]
            self.assertEqual(got, (self.SHAPE, "<f8", [-value for value in signed]))
            # By the other rule the other cells are inside.
            got = self.fields("distance", image, "--signed", "outside", "--sites", "nonzero", *half)[0]
            self.assertEqual(got[2], float32(signed))
        plain = self.fields("distance", image, "--half-cell")[0]
        self.assertEqual(plain[2], float32(s**0.5 for s, _ in nearest(self.SHAPE, self.MASK, zero, half_cell=True)))

    def test_borders(self):
        image = npy(self.SHAPE, self.MASK)
        for given in ("open", "closed", "periodic", "closed,periodic", "periodic,open", "open,closed"):
            border = given.split(",") * (1 if "," in given else 2)
            expected = nearest(self.SHAPE, self.MASK, zero, border=border)
            got = self.fields("distance", image, "--border", given, "--squared", files=["--indices"])
            self.assertEqual(got[0][2], [square for square, _ in expected], given)
            self.assertEqual(got[1][2], [index for _, index in expected], given)
            expected = nearest(self.SHAPE, self.MASK, nonzero, border=border, spacing=(2, 3))
            got = self.fields("voronoi", image, "--border", given, "--spacing", "2,3")[0]
            self.assertEqual(got[2], [index for _, index in expected], given)

    def test_max_distance_is_inclusive(self):
        image = npy(self.SHAPE, self.MASK)
        for limit in ("0", "1", "1.4142135623730951", "1.414", "2.5", "100", "inf"):
            expected = nearest(self.SHAPE, self.MASK, zero, limit=float(limit))
            got = self.fields("distance", image, "--max-distance", limit, files=["--indices", "--labels"])
            self.assertEqual(got[0][2], float32(square**0.5 for square, _ in expected), limit)
            self.assertEqual(got[1][2], [index for _, index in expected], limit)
            self.assertEqual(got[2][2], [0] * 30)
        got = self.fields("distance", image, "--max-distance", "1", "--squared", "--dtype", "uint16")[0]
        self.assertEqual(sorted(set(got[2])), [0, 1, 65535])

    def test_batch_is_the_loop(self):
        images = [self.MASK, self.LABELS, [1] * 30, [0] * 30]
        batch = npy((2, 2, *self.SHAPE), joined(images))
        one_by_one = [self.fields("distance", npy(self.SHAPE, each), files=["--indices"]) for each in images]
        got = self.fields("distance", batch, "--batch-axes", "2", files=["--indices"])
        self.assertEqual(got[0], ((2, 2, *self.SHAPE), "<f4", joined(each[0][2] for each in one_by_one)))
        self.assertEqual(got[1][2], joined(each[1][2] for each in one_by_one))
        got = self.fields("distance", batch, "--batch-axes", "2", "--coordinates", files=["--indices"])
        self.assertEqual(got[1][0], (2, 2, 2, *self.SHAPE))
        words = ["--batch-axes", "2", "--spacing", "3,1", "--border", "periodic,open"]
        expected = joined(nearest(self.SHAPE, e, zero, (3, 1), ("periodic", "open")) for e in images)
        got = self.fields("distance", batch, *words, "--dtype", "float64")[0]
        self.assertEqual(got[2], [square**0.5 for square, _ in expected])
        self.run_program("distance", "-", "--picture", "p.png", *words, stdin=batch)

    def test_labels_grow(self):
        seeds = npy(self.SHAPE, [7 * (i == 8) + 300 * (i == 22) for i in range(30)], "<u2")
        values = parse_npy(seeds)[2]
        for limit in ([], ["--max-distance", "1.5"]):
            expected = nearest(self.SHAPE, values, nonzero, limit=float(limit[1]) if limit else INF)
            words = ["--labels", "l.npy", "--distances", "d.npy", "--picture", "p.png", *limit]
            self.run_program("voronoi", "-", *words, stdin=seeds)
            got = parse_npy((self.folder / "l.npy").read_bytes())
            self.assertEqual(got, (self.SHAPE, "<u2", [values[i] if i >= 0 else 0 for _, i in expected]))
            got = parse_npy((self.folder / "d.npy").read_bytes())
            self.assertEqual(got, (self.SHAPE, "<f4", float32(square**0.5 for square, _ in expected)))

    def test_power_diagram(self):
        seeds = [1, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 5]
        weights = [9, 8, 8, 8, 8, 0, 8, 8, 8, -5, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2, 8, 8, 8, 8, 8, 8, 8, 8, 4]
        image = npy(self.SHAPE, seeds)
        for border in ("open", "periodic"):
            expected = nearest(self.SHAPE, seeds, nonzero, border=[border] * 2, weight=weights)
            for descr in ("|i1", "<i2", "<i4", "<i8", "<f4", "<f8"):
                (self.folder / "w.npy").write_bytes(npy(self.SHAPE, weights, descr))
                words = ["--weights", "w.npy", "--border", border]
                got = self.fields("voronoi", image, *words, files=["--labels", "--power"])
                self.assertEqual(got[0][2], [index for _, index in expected], (border, descr))
                self.assertEqual(got[1][2], [seeds[index] for _, index in expected])
                self.assertEqual(got[2], (self.SHAPE, "<f8", [square for square, _ in expected]))
        self.run_program("voronoi", "-", "-o", "v.png", "--power", "p.png", "--weights", "w.npy", stdin=image)
        self.assertIn("--power", self.refusal("voronoi", "-", "--power", "p.npy", stdin=image))
        for words in (
            ["--max-distance", "3"],
            ["--border", "closed"],
            ["--sites", "zero"],
            ["--trust", "t.npy"],
            ["--distances", "d.npy"],
        ):
            message = self.refusal("voronoi", "-", "-o", "v.npy", "--weights", "w.npy", *words, stdin=image)
            self.assertIn(words[0], message)
        words = ["-o", "v.npy", "--weights", "w.npy", "--plan", "--device", "cpu"]
        said = self.run_program("voronoi", "-", *words, stdin=image).stdout
        self.assertIn("powers", said if isinstance(said, str) else said.decode())
        (self.folder / "w.npy").write_bytes(npy((6, 5), weights, "<i4"))
        message = self.refusal("voronoi", "-", "-o", "v.npy", "--weights", "w.npy", stdin=image)
        self.assertIn("--weights w.npy has shape 6x5 and the seeds have 5x6", message)

    def test_trust_is_what_sites_beyond_the_border_cannot_change(self):
        image = npy(self.SHAPE, self.MASK)
        closed = nearest(self.SHAPE, self.MASK, zero, border=("closed", "closed"))
        open_ = nearest(self.SHAPE, self.MASK, zero)
        trusted = self.fields("distance", image, files=["--trust"])[1]
        self.assertEqual(trusted, (self.SHAPE, "|u1", [int(a[0] == b[0]) for a, b in zip(closed, open_, strict=True)]))
        trusted = self.fields("distance", image, "--border", "periodic", files=["--trust"])[1]
        self.assertEqual(trusted[2], [1] * 30)

    def test_types(self):
        image = npy(self.SHAPE, self.MASK)
        squares = [square for square, _ in nearest(self.SHAPE, self.MASK, zero)]
        for name, descr in (
            ("uint16", "<u2"),
            ("uint32", "<u4"),
            ("uint64", "<u8"),
            ("float32", "<f4"),
            ("float64", "<f8"),
            ("float16", "<f2"),
        ):
            got = self.fields("distance", image, "--squared", "--dtype", name)[0]
            self.assertEqual(got, (self.SHAPE, descr, squares))
        got = self.fields("distance", image, "--dtype", "float16")[0]
        rounded = [struct.unpack("<e", struct.pack("<e", square**0.5))[0] for square in squares]
        self.assertEqual(got, (self.SHAPE, "<f2", rounded))
        got = self.fields("distance", image, "--index-dtype", "int32", files=["--indices"])[1]
        self.assertEqual(got[1], "<i4")
        got = self.fields("voronoi", image, "--index-dtype", "int32")[0]
        self.assertEqual((got[1], got[2][8]), ("<i4", 7))
        self.assertIn("--squared", self.refusal("distance", "-", "-o", "x.npy", "--dtype", "uint16", stdin=image))
        wide = npy((1, 400), [0] + [1] * 399)
        message = self.refusal("distance", "-", "-o", "x.npy", "--squared", "--dtype", "uint16", stdin=wide)
        self.assertIn("--dtype is uint16", message)
        self.assertIn("give --dtype uint32", message)
        self.assertIn(
            "smaller --max-distance",
            self.refusal("distance", "-", "-o", "x.npy", "--dtype", "float16", "--spacing", "300", stdin=wide),
        )

    def test_spacing_comes_from_the_file_unless_given(self):
        self.run_program("convert", "-", "-o", "m.nrrd", "--spacing", "3,2", stdin=npy(self.SHAPE, self.MASK))
        expected = nearest(self.SHAPE, self.MASK, zero, spacing=(3, 2))
        self.run_program("distance", "m.nrrd", "-o", "d.npy", "--squared")
        self.assertEqual(parse_npy((self.folder / "d.npy").read_bytes())[2], [square for square, _ in expected])
        self.run_program("distance", "m.nrrd", "-o", "d.npy", "--squared", "--spacing", "1")
        squares = [square for square, _ in nearest(self.SHAPE, self.MASK, zero)]
        self.assertEqual(parse_npy((self.folder / "d.npy").read_bytes())[2], squares)

    def test_plan_runs_nothing(self):
        image = npy(self.SHAPE, self.MASK)
        words = ["distance", "-", "-o", "d.npy", "--indices", "i.npy", "--plan", "--device", "cpu"]
        done = self.run_program(*words, stdin=image)
        self.assertIn(b"distance of - 5x6 uint8", done.stdout)
        self.assertGreater(len(done.stdout.splitlines()), 3)
        self.assertEqual(list(self.folder.iterdir()), [])
        said = json.loads(self.run_program(*words, "--json", "--threads", "2", stdin=image).stdout)["plans"][0]
        self.assertEqual((said["place"], said["cells"], said["input_bytes"]), ("host", 30, 30))
        self.assertEqual((said["output_bytes"], said["threads"]), (30 * (4 + 8), 2))
        self.assertGreater(len(said["passes"]), 0)
        self.assertGreaterEqual(said["workspace_bytes"], 0)
        for each in "ab":
            (self.folder / f"{each}.npy").write_bytes(image)
        said = json.loads(self.run_program("voronoi", "a.npy", "b.npy", "--plan", "--json").stdout)
        self.assertEqual([each["output_bytes"] for each in said["plans"]], [240, 240])
        self.refusal("distance", "-", "--plan", "--max-distance", "-1", stdin=image)
        if not json.loads(self.run_program("info", "--json").stdout)["cuda"]["built"]:
            self.assertIn("--device cpu", self.refusal(*words[:-1], "cuda", status=5, stdin=image))

    def test_pictures_of_every_field(self):
        image = npy(self.SHAPE, self.LABELS, "<u2")
        words = ["--labels", "l.png", "--trust", "t.png", "--indices", "i.png", "-o", "d.png", "--numbers"]
        for more in (
            [],
            ["--multilabel"],
            ["--signed", "inside"],
            ["--multilabel", "--half-cell", "--border", "closed"],
        ):
            self.run_program("distance", "-", *words, *more, stdin=image)
            for name in "ltid":
                self.assertTrue((self.folder / f"{name}.png").read_bytes().startswith(b"\x89PNG"), (name, more))
        words = ["-o", "v.png", "--labels", "l.png", "--distances", "d.png", "--trust", "t.png", "--border", "periodic"]
        self.run_program("voronoi", "-", *words, "--max-distance", "2", stdin=image)
        self.run_program(
            "distance", "-", "-o", "d.png", "--signed", "inside", "--isolines", "1,2", stdin=npy((4, 5, 6), [1, 0] * 60)
        )
        self.assertIn(
            "--numbers", self.refusal("distance", "-", "-o", "n.png", "--numbers", stdin=npy((90, 90), [1] * 8100))
        )

    def test_garbage_options(self):
        image = npy(self.SHAPE, self.MASK)
        for words in (
            ["--border", "shut"],
            ["--border", "open,"],
            ["--border", "open,open,open"],
            ["--border", ""],
            ["--max-distance", "-1"],
            ["--max-distance", "nan"],
            ["--max-distance", "far"],
            ["--batch-axes", "-1"],
            ["--batch-axes", "2"],
            ["--batch-axes", "9999999999"],
            ["--batch-axes", "1.5"],
            ["--signed", "both"],
            ["--signed"],
            ["--dtype", "int8"],
            ["--index-dtype", "int32"],
            ["--index-dtype", "int16", "--indices", "i.npy"],
            ["--index-dtype", "int32", "--coordinates", "--indices", "i.npy"],
            ["--multilabel", "--sites", "zero"],
            ["--sites", "labels"],
            ["--picture-size", "-1"],
            ["--picture-size", "100000"],
            ["--weights", "w.npy"],
        ):
            message = self.refusal("distance", "-", "-o", "x.npy", *words, stdin=image)
            self.assertIn(words[0], message, words)
        for words in (["--multilabel"], ["--signed", "inside"], ["--half-cell"], ["--dtype", "float64"]):
            self.refusal("voronoi", "-", "-o", "x.npy", *words, stdin=image)
        message = self.refusal("distance", "-", "-o", "x.npy", "--multilabel", stdin=npy((2,), [1, 2], "<f4"))
        self.assertIn("float32", message)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_bench_takes_them(self):
        words = [
            "--multilabel",
            "--half-cell",
            "--border",
            "closed,periodic",
            "--max-distance",
            "9",
            "--batch-axes",
            "1",
        ]
        fields = ["--fields", "distance,squared,index,coordinates,label,trusted"]
        done = self.run_program(
            "bench", "--kind", "labels", "--size", "3x40x50", *words, *fields, "--repeat", "1", "--json"
        )
        said = json.loads(done.stdout)
        self.assertEqual(
            (said["sites"], said["border"], said["batch_axes"]), ("other-labels", ["closed", "periodic"], 1)
        )
        self.run_program("bench", "--size", "30x40", "--signed", "inside", "--repeat", "1")


if __name__ == "__main__":
    unittest.main()
