"""docs/methods.md and its pages: tables and pictures are what bench/results/methods says."""

import pathlib
import re
import statistics
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import methods_pictures  # noqa: E402
import methods_report  # noqa: E402


class Page(unittest.TestCase):
    def test_tables_are_those_of_the_results(self):
        pages = [page.read_text() for page in methods_report.PAGES]
        self.assertEqual(pages, methods_report.filled(list(pages), methods_report.sections(*methods_report.sheets())))

    def test_pictures_are_those_of_the_results(self):
        methods, times, _, sweeps, _, host, _, chamfer = methods_report.sheets()
        with tempfile.TemporaryDirectory() as folder:
            methods_pictures.write(pathlib.Path(folder), methods, host, times, sweeps, chamfer)
            for picture in pathlib.Path(folder).iterdir():
                xml.etree.ElementTree.parse(picture)
                kept = ROOT / "docs" / "images" / picture.name
                self.assertEqual(picture.read_text(), kept.read_text(), picture.name)

    def test_the_defaults_of_banding_are_the_measured_best(self):
        """Over the three shares of sites, each phase by itself, within a twentieth."""
        header = (ROOT / "src/banding/parameters.hpp").read_text()
        defaults = {}
        for axes in (2, 3):
            body = re.search(rf"on_device_{axes}d\[\] = (.*?);", header, re.DOTALL)[1]
            defaults[axes] = [[int(n) for n in re.findall(r"\d+", row)] for row in re.findall(r"{\d+, {[^}]*}", body)]
        times = {}
        for row in methods_report.Sheet(methods_report.RESULTS / "bands.json").said:
            side, axes = row["shape"][0], len(row["shape"])
            chosen = [best for least, *best in defaults[axes] if side >= least][-1]
            for bands, phase in zip(chosen, ("m1", "m2", "m3")):
                times.setdefault((axes, side, phase, bands), []).append(dict(row[phase]))
        self.assertEqual(len(times), 3 * 10)
        for (axes, side, phase, bands), runs in times.items():
            mean = {n: statistics.geometric_mean(run[n] for run in runs) for n in runs[0]}
            self.assertLess(mean[bands], 1.05 * min(mean.values()), f"{side}^{axes}, {phase}")

    def test_rounds_of_one_stage_have_its_mean_each(self):
        class Sheet:
            shapes = [(8, 8)]

            def get(self, *_):
                stage = {
                    "initialise": (1, 1, 2.0),
                    "steps 4 to 2": (2, 6, 1.5),
                    "step 1": (1, 2, 0.5),
                    "fields": (1, 1, 3.0),
                }
                stages = [dict(name=n, rounds=r, ms=ms, floors=f) for n, (r, ms, f) in stage.items()]
                return {"ms": 10, "copy_ms": 2, "stages": stages}

        row = [cell.strip() for cell in methods_report.floors_table(Sheet()).splitlines()[2].strip("|").split("|")]
        self.assertEqual(row[2], "8")
        self.assertEqual(row[4], "1.50")  # 3 ms for each round, not 6
        self.assertEqual(row[-4:], ["", "1.5", "1.5", "0.5"])

    def test_the_mean_of_rounds_counts_each_once(self):
        stages = [
            {"name": "initialise", "floors": 9.0, "bytes": 5},
            {"name": "steps 8 to 2", "floors": 1.0, "bytes": 24},
            {"name": "step 1", "floors": 3.0, "bytes": 8},
        ]
        self.assertEqual(methods_report.floors_of({"stages": stages}), "1.5, 3.0")

    def test_the_exclave_is_one(self):
        seeds = [(0, 6), (0, 9), (1, 3), (2, 1)]
        region = methods_pictures.nearest(seeds, 14, 14)
        self.assertEqual(region[13, 8], (1, 3))
        beside = [region[y, x] for y in (12, 13) for x in (7, 8, 9) if (y, x) != (13, 8)]
        self.assertNotIn((1, 3), beside)


if __name__ == "__main__":
    unittest.main()
