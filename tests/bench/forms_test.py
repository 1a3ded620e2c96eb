"""bench/forms.py with a package that computes nothing: every form has a name, bytes, and a row in the JSON."""

import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

try:
    import numpy as np
    import scipy  # noqa: F401
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import forms  # noqa: E402
import forms_table  # noqa: E402


class Nothing(types.ModuleType):
    """Answers every call with its first argument."""

    def __getattr__(self, name):
        return lambda image, *_, **__: image.copy()

    def info(self):
        return types.SimpleNamespace(cores=2, simd="SIMD", devices=())


class Forms(unittest.TestCase):
    def test_forms_name_their_bytes(self):
        for shape in ((40, 41, 42), (200, 210)):
            arrays = forms.inputs(Nothing("nearfield"), shape, count=100)
            self.assertEqual([a.dtype for a in arrays], [np.uint8, np.int32, np.int32])
            self.assertAlmostEqual(arrays[0].mean(), 0.3, delta=0.1)
            found = {name: cell for name, _, cell in forms.forms(Nothing("nearfield"), *arrays, np.empty)}
            self.assertEqual(len(found), 34)
            self.assertEqual(found["mask: distance, coordinates"], 1 + 4 + 4 * len(shape))
            self.assertEqual(found["labels: distance, index, real spacing"], 4 + 4 + 4)

    def test_the_json_makes_a_table(self):
        small = {"host": {True: ((20, 30, 40), (80, 90))}}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "forms.json"
            command = ["forms.py", "host", "--quick", "--only", "seeds", "--bandwidth", "10", "--json", str(file)]
            with (
                mock.patch.object(forms, "PLACES", small),
                mock.patch.object(sys, "argv", command),
                mock.patch.dict(sys.modules, nearfield=Nothing("nearfield")),
            ):
                forms.main()
            said = json.loads(file.read_text())
        self.assertEqual(len(said["rows"]), 2 * 4)
        self.assertEqual(said["device"], "2 cores, SIMD")
        self.assertIn(" seeds: labels within 20 |", forms_table.forms_section("host", said))


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
