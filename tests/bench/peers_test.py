"""The peers' images are those of `bench_all exact`: the same number of sites for every picture and shape."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    raise SystemExit(0) from None

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from peers_common import DENSITIES, paint, random_sites  # noqa: E402

PROGRAM = sys.argv.pop()


class Peers(unittest.TestCase):
    def test_pictures_have_the_same_sites(self):
        with tempfile.TemporaryDirectory() as place:
            atlas, out = pathlib.Path(place) / "atlas.nii", pathlib.Path(place) / "out.json"
            # Axes of different lengths, and a different number of zeros in every slice and row.
            x, y, z = np.ogrid[:13, :11, :7]
            nibabel.save(nibabel.Nifti1Image(((x * y + 3 * z) % 5 > z % 3).astype(np.uint8), np.eye(4)), atlas)
            images = ("--2d", "97,200", "--3d", "33,64", "--densities", "0.1", "--pictures", "blobs,balls,atlas")
            command = (PROGRAM, "exact", *images, "--atlas", atlas, "--fields", "distance", "--threads", "1")
            subprocess.run([*command, "--json", out], check=True, stdout=subprocess.DEVNULL)
            rows = [row for row in json.loads(out.read_text())["results"] if row["data"] != "random"]
            self.assertEqual(len(rows), 12)
            for row in rows:
                image = paint(row["data"], tuple(row["shape"]), atlas)
                self.assertEqual(row["density"], float((image == 0).mean()), row)

    def test_random_sites(self):
        # Values from bench.hpp: mix(0) = 0xe220a8397b1dcdaf, mix(1) = 0x910a2dec89025cc1, mix(2) = 0x975835de1c9756ce.
        self.assertEqual(list(random_sites(3, 0.58)), [1, 0, 1])
        for density in DENSITIES:
            self.assertAlmostEqual(float((random_sites(1 << 20, density) == 0).mean()), density, places=2)


if __name__ == "__main__":
    unittest.main()
