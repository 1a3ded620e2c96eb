"""The verb label end to end: labels, filters, colours, files, messages. Standard library only."""

import json
import struct
import unittest

from program_case import Case, npy, parse_npy

IMAGE = npy((3, 6), [1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 2, 0, 0, 0, 3, 0])


class Labels(Case):
    def labels(self, *words, stdin=IMAGE, **more):
        return parse_npy(self.run_program("label", "-", "-o", "-", *words, stdin=stdin, **more).stdout)

    def test_numbers_come_in_raster_order(self):
        self.assertEqual(self.labels(), ((3, 6), "<i4", [1, 1, 0, 0, 0, 2, 0, 0, 3, 0, 0, 2, 4, 0, 0, 0, 5, 0]))
        for eight in ("2", "8"):
            self.assertEqual(
                self.labels("--connectivity", eight)[2], [1, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 2, 3, 0, 0, 0, 2, 0]
            )

    def test_criterion_and_background(self):
        row = npy((7,), [5, 5, 6, 9, 0, 0, 9])
        for words, wanted in (
            ((), [1, 1, 1, 1, 0, 0, 2]),
            (("--criterion", "equal"), [1, 1, 2, 3, 0, 0, 4]),
            (("--criterion", "1"), [1, 1, 1, 2, 0, 0, 3]),
            (("--criterion", "1", "--background", "none"), [1, 1, 1, 2, 3, 3, 4]),
            (("--criterion", "equal", "--background", "9"), [1, 1, 2, 0, 3, 3, 0]),
            (("--criterion", "equal", "--background", "none", "--periodic"), [1, 1, 2, 3, 4, 4, 5]),
        ):
            self.assertEqual(self.labels(*words, stdin=row)[2], wanted, words)
        large = npy((3,), [2**63 - 1, 2**63 - 2, -(2**63)], "<i8")
        self.assertEqual(self.labels("--criterion", "equal", stdin=large)[2], [1, 2, 3])
        self.assertEqual(self.labels("--criterion", "equal", "--background", str(2**63 - 2), stdin=large)[2], [1, 0, 2])

    def test_links(self):
        graph = npy((2, 3), [1, 0, 2, 0, 0, 8])  # to the right, to the left, up
        self.assertEqual(self.labels("--criterion", "links", stdin=graph)[2], [1, 1, 1, 2, 3, 1])
        wrong = ["label", "-", "-o", "-", "--criterion", "links", "--background", "0"]
        self.assertIn("--min-size 2", self.refusal(*wrong, stdin=graph))

    def test_halves_are_compared_as_they_are(self):
        floats = npy((5,), [1, 1.5, 2.5, 0, 9], "<f4")
        self.run_program("distance", "-", "-o", "h.npy", "--dtype", "float16", "-q", stdin=npy((5,), [1, 1, 0, 1, 1]))
        done = self.run_program("label", "h.npy", "-o", "-", "--criterion", "equal")
        self.assertEqual(parse_npy(done.stdout)[2], [1, 2, 0, 3, 4])
        self.assertEqual(self.labels("--criterion", "0.5", stdin=floats)[2], [1, 1, 2, 0, 3])

    def test_filters_come_before_numbers(self):
        for words, wanted in (
            (["--min-size", "2"], [1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]),
            (["--max-size", "1"], [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0]),
            (["--clear-border"], [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (["--largest", "1"], [1, 1] + 16 * [0]),
            (["--max-size", "1", "--largest", "2"], [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0]),
        ):
            self.assertEqual(self.labels(*words)[2], wanted, words)
        done = self.run_program("label", "-", "-o", "-", "--min-size", "9", stdin=IMAGE)
        self.assertIn(b"note: no component is left", done.stderr)

    def test_periodic_and_batch(self):
        ring = npy((2, 4), [1, 0, 0, 1, 0, 1, 1, 0])
        self.assertEqual(self.labels("--border", "open,periodic", stdin=ring)[2], [1, 0, 0, 1, 0, 2, 2, 0])
        self.assertEqual(self.labels("--batch-axes", "1", stdin=ring)[2], [1, 0, 0, 2, 0, 1, 1, 0])

    def test_colours(self):
        (self.folder / "c.ppm").write_bytes(b"P6\n4 1\n255\n" + bytes([0, 0, 0, 9, 0, 0, 9, 5, 0, 9, 5, 5]))
        for words, wanted in (
            ([], [0, 1, 1, 1]),
            (["--criterion", "equal"], [0, 1, 2, 3]),
            (["--criterion", "5"], [0, 1, 1, 1]),
            (["--criterion", "4"], [0, 1, 2, 3]),
            (["--criterion", "9", "--norm", "sum", "--background", "none"], [1, 1, 1, 1]),
            (["--criterion", "equal", "--channel", "red"], [0, 1, 1, 1]),
        ):
            done = self.run_program("label", "c.ppm", "-o", "-", *words)
            self.assertEqual(parse_npy(done.stdout), ((1, 4), "<i4", wanted), words)

    def test_files_and_types(self):
        (self.folder / "i.npy").write_bytes(IMAGE)
        for suffix in ("npy", "tif", "nrrd", "nii.gz", "pgm"):
            self.run_program("label", "i.npy", "-o", f"l.{suffix}", "-q")
            self.run_program("convert", f"l.{suffix}", "-o", f"{suffix}.npy", "-q")
            self.assertEqual(parse_npy((self.folder / f"{suffix}.npy").read_bytes())[2], self.labels()[2], suffix)
        for dtype, descr in (("uint16", "<u2"), ("uint32", "<u4"), ("int64", "<i8")):
            self.assertEqual(self.labels("--dtype", dtype)[1], descr)
        self.run_program("label", "i.npy", "-o", "a.png")
        self.run_program("label", "i.npy", "-o", "a.npy", "--picture", "b.png")
        one, other = (self.folder / "a.png").read_bytes(), (self.folder / "b.png").read_bytes()
        self.assertEqual(one, other)
        self.assertTrue(one.startswith(b"\x89PNG"))
        self.assertEqual(struct.unpack(">II", one[16:24]), (798, 399))
        self.run_program("sample", "blobs", "-o", "s.nrrd", "--size", "9x10x11", "--spacing", "3,1,0.5", "-q")
        self.run_program("label", "s.nrrd", "-o", "t.nrrd", "--picture", "v.png", "-q")
        said = json.loads(self.run_program("convert", "t.nrrd", "-o", "t.npy", "--json").stdout)
        self.assertEqual(said["input"]["spacing"], [3.0, 1.0, 0.5])

    def test_threads_do_not_change_bits(self):
        self.run_program("sample", "blobs", "-o", "b.npy", "--size", "97x41x43", "-q")
        answers = {self.run_program("label", "b.npy", "-o", "-", "--threads", n).stdout for n in "127"}
        self.assertEqual(len(answers), 1)

    def test_report(self):
        said = json.loads(self.run_program("label", "-", "--json", stdin=IMAGE).stdout)
        self.assertEqual((said["verb"], said["components"], said["connectivity"]), ("label", 5, 1))
        done = self.run_program("label", "-", stdin=IMAGE)
        self.assertRegex(done.stderr, rb"\Alabel: 3x6 uint8: 5 components in .*\)\n\Z")
        done = self.run_program("label", "-", "-o", "l.npy", stdin=IMAGE)
        self.assertRegex(done.stderr, rb"\Alabel: 3x6 uint8: 5 components in .* -> l.npy\n\Z")

    def test_propagation_gives_the_same_labels(self):
        self.run_program("sample", "blobs", "-o", "b.npy", "--size", "60x70", "-q")
        wanted = self.run_program("label", "b.npy", "-o", "-", "--connectivity", "8").stdout
        for words in ([], ["--hooked"], ["--no-links"], ["--no-masters"], ["--gather-length", "3"]):
            done = self.run_program(
                "label", "b.npy", "-o", "-", "--connectivity", "8", "--method", "propagation", *words
            )
            self.assertEqual(done.stdout, wanted, words)
        said = json.loads(self.run_program("label", "b.npy", "--method", "propagation", "--json").stdout)
        self.assertGreater(said["rounds"], 1)
        self.assertIn(
            "--most-rounds",
            self.refusal("label", "b.npy", "-o", "x.npy", "--method", "propagation", "--most-rounds", "1"),
        )
        cross = npy((3, 3), [0, 1, 0, 1, 1, 1, 0, 1, 0])
        self.assertIn(
            "leave out --no-neighbours, or give --gather-length 1",
            self.refusal("label", "-", "-o", "x.npy", "--method", "propagation", "--no-neighbours", stdin=cross),
        )

    def test_statistics(self):
        done = self.run_program("label", "-", "--stats", "-", stdin=IMAGE)
        rows = [line.split(",") for line in done.stdout.decode().splitlines()]
        self.assertEqual(
            rows[0],
            [
                *("label", "size", "area", "start_0", "stop_0", "start_1", "stop_1", "centroid_0", "centroid_1"),
                *("border", "faces"),
            ],
        )
        self.assertEqual(rows[2], ["2", "2", "2", "0", "2", "5", "6", "0.5", "5", "1", "6"])
        self.assertEqual(len(rows), 6)
        self.assertRegex(done.stderr, rb"5 components")

    def test_statistics_have_the_spacings_unit(self):
        words = ["label", "-", "--spacing", "2,0.5", "--stats", "t.json", "-o", "l.nrrd"]
        said = json.loads(self.run_program(*words, "--json", stdin=IMAGE).stdout)
        self.assertEqual([each["what"] for each in said["outputs"]], ["label", "statistics"])
        table = json.loads((self.folder / "t.json").read_text())
        self.assertEqual(table["spacing"], [2.0, 0.5])
        second = table["components"][1]
        self.assertEqual((second["size"], second["area"]), (2, 2.0))
        self.assertEqual((second["centroid_0"], second["centroid_1"]), (1.0, 2.5))
        self.run_program("label", "-", "--spacing", "2,0.5", "--stats", "u.json", "--unit", "um", stdin=IMAGE)
        second = json.loads((self.folder / "u.json").read_text())["components"][1]
        self.assertEqual((second["area_um2"], second["centroid_0_um"]), (2.0, 1.0))
        for words in (["--numbers"], ["--over", "t.json"]):
            self.assertIn("give --picture", self.refusal("label", "-", "-o", "l.npy", *words, stdin=IMAGE))
        self.assertIn(
            "give letters and digits", self.refusal("label", "-", "--stats", "-", "--unit", "a,b", stdin=IMAGE)
        )
        header = (
            b'NRRD0004\ntype: uint8\ndimension: 2\nsizes: 3 2\nspacings: 0.5 2\nunits: "mm" "mm"\nencoding: raw\n\n'
        )
        (self.folder / "c.nrrd").write_bytes(header + bytes([1, 1, 0, 0, 1, 0]))
        self.run_program("label", "c.nrrd", "--stats", "c.csv", "-q")
        names, first = ((line.split(",")) for line in (self.folder / "c.csv").read_text().splitlines())
        row = dict(zip(names, first))
        self.assertEqual((row["area_mm2"], row["centroid_1_mm"][:5]), ("3", "0.333"))

    def test_statistics_of_more_than_three_axes(self):
        for axes in (4, 8):
            image = npy((1,) * (axes - 2) + (2, 3), [1, 1, 0, 0, 0, 1])
            lengths = ",".join(["1"] * (axes - 1) + ["0.5"])
            words = ["label", "-", "--spacing", lengths, "--stats"]
            for unit, suffix in (("", ""), ("um", "_um")):
                more = ["--unit", unit] if unit else []
                done = self.run_program(*words, "-", "-q", *more, stdin=image)
                names, first, second = (line.split(",") for line in done.stdout.decode().splitlines())
                self.assertEqual(
                    names,
                    [
                        *("label", "size", f"extent{suffix}{axes if unit else ''}"),
                        *(f"{end}_{axis}" for axis in range(axes) for end in ("start", "stop")),
                        *(f"centroid_{axis}{suffix}" for axis in range(axes)),
                        *("border", "faces"),
                    ],
                )
                self.assertEqual((first[:3], second[:3]), (["1", "2", "1"], ["2", "1", "0.5"]))
            self.run_program(*words, "t.json", "-q", stdin=image)
            table = json.loads((self.folder / "t.json").read_text())
            self.assertEqual([each["extent"] for each in table["components"]], [1.0, 0.5])

    def test_statistics_of_intensities_and_of_a_batch(self):
        (self.folder / "v.npy").write_bytes(npy((3, 6), list(range(18)), "<f4"))
        done = self.run_program("label", "-", "--stats", "-", "--intensity", "v.npy", "--batch-axes", "1", stdin=IMAGE)
        rows = [line.split(",") for line in done.stdout.decode().splitlines()]
        self.assertEqual(rows[0][:4], ["image", "label", "size", "length"])
        self.assertEqual(rows[0][-5:], ["lowest", "highest", "sum", "mean", "variance"])
        self.assertEqual(
            [row[:3] for row in rows[1:]],
            [
                *(["0", "1", "2"], ["0", "2", "1"], ["1", "1", "1"]),
                *(["1", "2", "1"], ["2", "1", "1"], ["2", "2", "1"]),
            ],
        )
        self.assertEqual(rows[1][-5:], ["0", "1", "1", "0.5", "0.25"])
        # An empty table still has its header.
        done = self.run_program("label", "-", "--stats", "-", "--min-size", "9", "-q", stdin=IMAGE)
        self.assertEqual(
            done.stdout.decode().splitlines(),
            [
                ",".join(
                    rows[0][1:3]
                    + ["area", "start_0", "stop_0", "start_1", "stop_1", "centroid_0", "centroid_1", "border", "faces"]
                )
            ],
        )
        bad = npy((3, 6), [float("nan")] + 17 * [1.0], "<f8")
        (self.folder / "n.npy").write_bytes(bad)
        self.run_program("label", "-", "--stats", "n.json", "--intensity", "n.npy", "-q", stdin=IMAGE)
        first = json.loads((self.folder / "n.json").read_text())["components"][0]
        self.assertEqual((first["lowest"], first["mean"]), (None, None))

    def test_empty(self):
        self.assertEqual(self.labels(stdin=npy((0, 3), [])), ((0, 3), "<i4", []))


class Refusals(Case):
    def refused(self, part, *words, status=2, stdin=IMAGE):
        self.assertIn(part, self.refusal("label", "-", *words, status=status, stdin=stdin))

    def test_words(self):
        for part, *words in (
            ("nothing to make", "-q"),
            ("--criterion is 'many'; expected a number", "-o", "-", "--criterion", "many"),
            ("--criterion is -1; a difference is 0 or more", "-o", "-", "--criterion=-1"),
            ("--criterion is nan", "-o", "-", "--criterion", "nan"),
            ("has zero for its background", "-o", "-", "--background", "1"),
            ("--background is 'x'", "-o", "-", "--background", "x", "--criterion", "equal"),
            ("for an image of 2 axes; give 1 to 2, or 4 or 8", "-o", "-", "--connectivity", "6"),
            ("--connectivity is 0", "-o", "-", "--connectivity", "0"),
            ("--norm says how two colours", "-o", "-", "--norm", "sum"),
            ("has one value a cell", "-o", "-", "--norm", "sum", "--criterion", "4"),
            ("--min-size is 0", "-o", "-", "--min-size", "0"),
            ("no component is as large", "-o", "-", "--min-size", "3", "--max-size", "2"),
            ("--largest is -1", "-o", "-", "--largest", "-1"),
            ("expected one of open, periodic", "-o", "-", "--border", "closed"),
            ("--border has 3 values for 2 axes (shape 3x6)", "-o", "-", "--border", "open,open,open"),
            ("leave one of them out", "-o", "-", "--border", "open", "--periodic"),
            ("leave at least one axis to label", "-o", "-", "--batch-axes", "2"),
            ("both name a picture", "-o", "a.png", "--picture", "b.png"),
            ("pictures are PNG files", "--picture", "a.npy"),
            ("tables are CSV or JSON files", "--stats", "a.txt"),
            ("give --stats FILE too", "-o", "-", "--intensity", "a.npy"),
            ("give -o FILE too", "--dtype", "uint16", "--picture", "a.png"),
            ("--hooked is an option of propagation", "-o", "-", "--hooked"),
            ("--min-size does not go with", "-o", "-", "--method", "propagation", "--min-size", "2"),
            ("--stats does not go with", "--stats", "a.csv", "--method", "propagation"),
            ("--gather-length is 0", "-o", "-", "--method", "propagation", "--gather-length", "0"),
            ("no way for labels to move", "-o", "-", "--method", "propagation", "--no-links", "--no-neighbours"),
            ("did you mean --largest?", "-o", "-", "--largst", "1"),
            ("stdout can carry only one", "-o", "-", "--stats", "-"),
        ):
            self.refused(part, *words)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_files(self):
        self.refused("formats that can", "-o", "a.pgm", "--dtype", "int32")
        self.refused("there is no folder", "-o", "none/a.npy", status=3)
        self.refused("there is no folder", "--stats", "none/a.csv", status=3)
        self.refused("3x6", "--stats", "a.csv", "--intensity", self.saved("small.npy", npy((2, 2), [1] * 4)))
        self.refused("--slice", "--picture", "a.png", "--slice", "2:0")

    def saved(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def test_more_components_than_the_type_can_number(self):
        cells = [(row + column) % 2 for row in range(400) for column in range(400)]
        board = npy((400, 400), cells)
        self.refused("uint16", "-o", "a.npy", "--dtype", "uint16", stdin=board)
        self.assertFalse((self.folder / "a.npy").exists())


if __name__ == "__main__":
    unittest.main()
