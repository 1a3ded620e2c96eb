"""bench/report.py on results made up for the purpose: what is met, what is not, what was not measured."""

import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import forms_table  # noqa: E402
import report  # noqa: E402
import report_pages  # noqa: E402
from report_data import RESULTS, Folder, has_pba, read_sheets  # noqa: E402
from report_goals import goal_section  # noqa: E402
from report_pictures import against_picture, roofline_picture  # noqa: E402

PBA = next(sheet for sheet in read_sheets(RESULTS) if has_pba(sheet))
HEAD = {
    "engine": "nearfield",
    "version": "0",
    "place": "device",
    "device": PBA["device"],
    "details": "-",
    "compiler": "-",
    "date": "2000-01-01",
    "copy_gb_s": {"0": 4000.0},
}


def exact_sheet(faster):
    """Our rows for all of PBA+'s; faster(row, field) says how many times."""
    rows = [
        row | {"engine": "nearfield", "field": field, "ms": row["ms"] / faster(row, field)}
        for row in PBA["results"]
        for field in ("distance", "index32")
    ]
    return HEAD | {"results": rows}


def target_rows(part, shape, field="distance", **more):
    return {"part": part, "data": "random", "shape": shape, "density": 0.1, "field": field, "ms": 1.0} | more


class Report(unittest.TestCase):
    def folder(self, *sheets):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        for k, sheet in enumerate(sheets):
            (pathlib.Path(place.name) / f"{k}.json").write_text(json.dumps(sheet))
        return Folder(pathlib.Path(place.name))

    def lines(self, *sheets):
        """Cells of the table of goals by the first one."""
        found = {}
        for line in goal_section(self.folder(*sheets)).splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            # A table without verdicts has no column for them.
            if len(cells) > 2 and "goal" not in cells and cells[0].strip("-:"):
                found[cells[0]] = [*cells[1:], ""][:3]
        return found

    def test_means_are_met_accepted_or_not(self):
        goal = "times faster than PBA+, distances, 72 images"
        sites = "times faster than PBA+, nearest sites (int32), 72 images"
        found = self.lines(exact_sheet(lambda row, field: 10.5 if field == "distance" else 5.5))
        self.assertEqual(found[goal][2], "met")
        self.assertEqual(found[sites][2], "accepted")
        found = self.lines(exact_sheet(lambda row, field: 2.9 if row["shape"] == [512, 512] else 9.9))
        self.assertEqual(found[goal][2], "**not met**")
        self.assertIn("least 2.9 (512^2", found[goal][1])
        self.assertEqual(found[sites][2], "met")

    def test_part_of_the_images_is_no_verdict(self):
        sheet = exact_sheet(lambda row, field: 20)
        sheet["results"] = [row for row in sheet["results"] if row["shape"] != [512, 512]]
        self.assertEqual(self.lines(sheet)["times faster than PBA+, distances, 72 images"][2], "of 66 images")

    def test_worst_of_bad_inputs_counts(self):
        goal = "bad inputs, distances: times 10 % random sites"
        shape = [4096, 4096]
        rows = [target_rows("bad", shape), target_rows("bad", shape, data="one", ms=2.4)]
        self.assertEqual(self.lines(HEAD | {"targets": rows})[goal][1:], ["2.40 (one 4096^2)", "met"])
        rows.append(target_rows("bad", shape, data="border", ms=2.6))
        self.assertEqual(self.lines(HEAD | {"targets": rows})[goal][1:], ["2.60 (border 4096^2)", "**not met**"])

    def test_odd_shapes_are_compared_a_cell(self):
        rows = [target_rows("odd", [100, 100, 10000], ms=2.0), target_rows("odd", [512, 512, 512], ms=1.0)]
        rows.append(target_rows("odd", [64, 64, 64], ms=0.5))
        goal = "odd shapes, distances: times the time a cell of a square or cube"
        self.assertEqual(self.lines(HEAD | {"targets": rows})[goal][1:], ["2.68 (100x100x10000)", "**not met**"])

    def test_options_and_host(self):
        options = [{"name": "2 labels", "with": "plain", "shape": [8, 8], "ms": 1.4, "times": 1.4}]
        self.assertEqual(
            self.lines(HEAD | {"options": options})["option labels, device: times the plain call"][2], "met"
        )
        row = {"data": "random", "shape": [256] * 3, "density": 0.1, "field": "distance", "threads": 1}
        ours, edt = row | {"engine": "nearfield", "ms": 1}, row | {"engine": "edt 3", "ms": 10.1}
        host = HEAD | {"place": "host", "copy_gb_s": {"1": 20.0}}
        found = self.lines(host | {"results": [ours]}, host | {"engine": "peers", "results": [edt]})
        self.assertEqual(found["times faster than edt, host, 256^3"][2], "met")

    def test_what_is_missing_is_not_measured(self):
        found = self.lines(HEAD | {"targets": []})
        self.assertGreater(len(found), 30)
        for goal, (_, figure, verdict) in found.items():
            self.assertEqual((figure, verdict), ("not measured", ""), goal)

    def test_pictures_are_xml_with_every_density(self):
        rows = self.folder(exact_sheet(lambda row, field: 8)).exact["device"]
        row = {"shape": [512] * 3, "form": "mask: distance", "ms": 2.0, "floors": 4.0, "peer_ms": 5.0}
        forms = {"info": "cuda:0: a GPU, 1 GiB", "rows": [row]}
        self.assertIn("Smooth mask, 30 % objects: a GPU, undated.", against_picture(rows, forms))
        for picture in (roofline_picture(rows), against_picture(rows), against_picture(rows, forms)):
            self.assertEqual(xml.etree.ElementTree.fromstring(picture).get("role"), "img")
            self.assertNotIn("nan", picture)
        lines = roofline_picture(rows).count("<polyline")
        self.assertEqual(lines, 4 * 6)

    def test_images_have_peers_where_they_take_them(self):
        row = {"image": "a", "text": "an a", "shape": [4, 5], "connectivity": 8, "components": 3}
        rows = [row | {"engine": "nearfield", "ms": 2.0}, row | {"engine": "OpenCV 5", "ms": 3.0}]
        rows += [row | {"engine": "nearfield", "connectivity": 4, "ms": 2.0}]
        sheet = HEAD | {"place": "host", "label_images": rows}
        text = dict(report.sections(self.folder(sheet)))["labels-host-images"]
        self.assertIn("OpenCV: 1.5 (least 1.5, of 1)", text)
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "an a" in line]
        self.assertEqual([line[-2:] for line in lines], [["2.000", "OpenCV 1.5"], ["2.000", ""]])

    def test_images_on_a_device_stand_beside_a_copy(self):
        row = {"engine": "nearfield", "image": "a", "text": "an a", "shape": [1000, 1000], "connectivity": 8}
        sheet = HEAD | {"label_images": [row | {"bytes": 1, "components": 3, "ms": 0.005}]}
        text = dict(report.sections(self.folder(sheet)))["labels-device-images"]
        line = next(line for line in text.splitlines() if "an a" in line)
        self.assertEqual([cell.strip() for cell in line.strip("|").split("|")][-4:], ["3", "0.005", "200.0", "4.0"])

    def test_forms_stand_beside_the_peer_that_was_timed(self):
        row = {"shape": [8, 8, 8], "form": "mask: distance", "ms": 2.0, "floors": 4.0, "peer_ms": 5.0}
        other = row | {"form": "labels: statistics", "floors": 1.0}
        sheet = {
            "info": "version\nCPU: 2 cores, SIMD",
            "copy_gb_s": 10.0,
            "rows": [row | {"peer": "SciPy"}, other, row | {"shape": [9, 9]}],
        }
        text = forms_table.forms_section("host", sheet)
        self.assertIn(
            "2 cores, SIMD, undated; version. Copy, read plus write: 10 GB/s. Geometric mean of 3 calls: 2.5 floors",
            text,
        )
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[-2:]]
        self.assertEqual(lines[0], ["mask: distance", "2.000", "4.0", "SciPy 2.5x", "2.000", "4.0", "edt 2.5x"])
        self.assertEqual(lines[1], ["labels: statistics", "2.000", "1.0", "cc3d 2.5x", "", "", ""])

    def test_pages_show_the_tables_as_they_are(self):
        for page in report_pages.PAGES:
            self.assertEqual(
                page.read_text(), report_pages.filled(page.read_text()), f"{page.name}: run bench/report.py"
            )

    def test_old_figures_of_the_exact_engine_say_so(self):
        old, new = "A GPU, 2026-11-23; old.", "A GPU, 2026-12-01. Peers: a (measured 2026-11-20)."
        self.assertEqual(report_pages.older("forms-device", old), report_pages.OLDER)
        self.assertEqual(report_pages.older("forms-host", "A CPU, 2026-11; month."), report_pages.OLDER)
        self.assertEqual(report_pages.older("forms-device", new), "")
        self.assertEqual(report_pages.older("labels-device", old), "")

    def test_every_section_has_a_table_of_at_most_seven_columns(self):
        for name, text in report.sections(Folder(RESULTS)):
            self.assertTrue((report_pages.TABLES / f"{name}.md").is_file(), name)
            for line in text.splitlines():
                if line.startswith("|"):
                    self.assertLessEqual(line.count("|") - 1, 7, f"{name}: {line}")


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
