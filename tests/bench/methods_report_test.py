"""docs/methods.md: its measured tables and drawn pictures are what bench/results/methods says, and a picture's grid is right."""

import pathlib
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
        page = methods_report.PAGE.read_text()
        self.assertEqual(page, methods_report.filled(page, *methods_report.sheets()))

    def test_pictures_are_those_of_the_results(self):
        methods, _, host = methods_report.sheets()
        with tempfile.TemporaryDirectory() as folder:
            image = methods_report.image_of(host)
            methods_pictures.write(pathlib.Path(folder), host, image, methods, (4096, 4096))
            for picture in pathlib.Path(folder).iterdir():
                xml.etree.ElementTree.parse(picture)
                kept = ROOT / "docs" / "images" / picture.name
                self.assertEqual(picture.read_text(), kept.read_text(), picture.name)

    def test_the_exclave_is_one(self):
        seeds = [(0, 6), (0, 9), (1, 3), (2, 1)]
        region = methods_pictures.nearest(seeds, 14, 14)
        self.assertEqual(region[13, 8], (1, 3))
        beside = [region[y, x] for y in (12, 13) for x in (7, 8, 9) if (y, x) != (13, 8)]
        self.assertNotIn((1, 3), beside)


if __name__ == "__main__":
    unittest.main()
