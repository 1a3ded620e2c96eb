"""What the tests of the program share: running it, and NPY to and from bytes. Standard library only."""

import array
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path("nearfield")
FORMATS = {
    "|b1": "B",
    "|u1": "B",
    "|i1": "b",
    "<i2": "h",
    "<u2": "H",
    "<i4": "i",
    "<u4": "I",
    "<i8": "q",
    "<u8": "Q",
    "<f4": "f",
    "<f8": "d",
}


def npy(shape, values, descr="|u1"):
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return (
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.array(FORMATS[descr], values).tobytes()
    )


def parse_npy(data):
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    (length,) = struct.unpack("<H", data[8:10])
    said = eval(data[10 : 10 + length], {"__builtins__": {}})  # our own output: a literal dict
    if said["descr"] == "<f2":
        return said["shape"], "<f2", [value for (value,) in struct.iter_unpack("<e", data[10 + length :])]
    values = array.array(FORMATS[said["descr"]])
    values.frombytes(data[10 + length :])
    return said["shape"], said["descr"], values.tolist()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_program(self, *words, status=0, stdin=b"", **more):
        done = subprocess.run([PROGRAM, *words], input=stdin, capture_output=True, cwd=self.folder, timeout=120, **more)
        self.assertEqual(done.returncode, status, (words, done.stderr))
        if status not in (0, 130):
            self.assertRegex(done.stderr, rb"\Anearfield: [^\n]+\n\Z")
            self.assertEqual(done.stdout, b"")
        return done

    def refusal(self, *words, status=2, **more):
        return self.run_program(*words, status=status, **more).stderr.decode().rstrip("\n")
