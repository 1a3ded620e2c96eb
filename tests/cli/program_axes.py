"""Axes that are not of space: times, channels, components, and pages of which nothing is said.

Standard library only.
"""

import json
import struct
import unittest

from program_case import Case, npy, parse_npy


def tiff(pages, width, height, description=b""):
    """Little-endian, gray, 8 bits, a strip a page."""
    data = b"II*\0" + struct.pack("<I", 8)
    for number, page in enumerate(pages):
        tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
        text = description + b"\0" if number == 0 and description else b""
        start = len(data) + 2 + 12 * (len(tags) + 4 + bool(text)) + 4
        if text:
            text = text.ljust(5, b"\0")
            tags.append((270, 2, len(text), start))
        at = start + len(text)
        tags += [(273, 4, 1, at), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, width * height)]
        data += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
        following = at + width * height
        data += struct.pack("<I", 0 if number == len(pages) - 1 else following) + text + bytes(page)
    return data


def nifti(size, data, steps=(1, 1, 1, 1, 1, 1, 1)):
    """NIfTI-1 of uint8; `size` counts from x."""
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, len(size), *size, *[1] * (7 - len(size)))
    struct.pack_into("<2h", head, 70, 2, 8)
    struct.pack_into("<8f", head, 76, 1, *steps)
    struct.pack_into("<f", head, 108, 352)
    head[123] = 2
    head[344:348] = b"n+1\0"
    return bytes(head) + bytes(data)


INF = float("inf")


class Axes(Case):
    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def distances(self, name, *words):
        done = self.run_program("distance", name, "-o", "d.npy", "--json", *words)
        self.said = json.loads(done.stdout)
        shape, _, values = parse_npy((self.folder / "d.npy").read_bytes())
        return shape, values

    def test_frames_of_tiff_and_nifti_are_images(self):
        values = [0 if i == 0 else 1 for i in range(3 * 4 * 5)]
        imagej = b"ImageJ=1.53a\nimages=3\n%s=3\nhyperstack=true\n"
        files = {
            "frames.tif": tiff([values[:20], values[20:40], values[40:]], 5, 4, imagej % b"frames"),
            "channels.tif": tiff([values[:20], values[20:40], values[40:]], 5, 4, imagej % b"channels"),
            "shaped.tif": tiff([values[:20], values[20:40], values[40:]], 5, 4, b'{"shape": [3, 4, 5], "axes": "TYX"}'),
            "time.nii": nifti((5, 4, 1, 3), values),
            "vector.nii": nifti((5, 4, 1, 1, 3), values),
            "list.nrrd": b"NRRD0004\ntype: uchar\ndimension: 3\nsizes: 5 4 3\n"
            b"kinds: space space list\nencoding: raw\n\n" + bytes(values),
            "space.nrrd": b"NRRD0004\ntype: uchar\ndimension: 3\nspace: RAST\nsizes: 5 4 3\nencoding: raw\n"
            b"space directions: (1,0,0,0) (0,1,0,0) (0,0,0,2)\n\n" + bytes(values),
        }
        for name, data in files.items():
            shape, got = self.distances(self.write(name, data))
            self.assertEqual(shape, (3, 4, 5), name)
            self.assertEqual(got[20:], [INF] * 40, name)
            self.assertEqual(got[1], 1)
            self.assertEqual((self.said["batch_axes"], self.said["input"]["axes"][1:]), (1, ["space"] * 2))
            # The user's word overrides the file's.
            self.assertEqual(self.distances(name, "--batch-axes", "0")[1][20], 1, name)
            self.run_program("voronoi", name, "-o", "v.npy", "--sites", "zero")
            self.assertEqual(set(parse_npy((self.folder / "v.npy").read_bytes())[2][20:]), {-1})
            said = json.loads(self.run_program("label", name, "-o", "l.npy", "--json").stdout)
            self.assertEqual(said["components_of_images"], [1, 1, 1])
            line = self.run_program("distance", name, "-o", "d.npy").stderr.decode()
            self.assertRegex(line, r"distance: 3 (frames|channels|images) x 4x5 uint8 \(space: y x\)")

    def test_hyperstack_has_its_channels_and_frames_first(self):
        """ImageJ keeps the channels of a slice together; each volume is whole here."""
        frames, slices, channels = 2, 3, 2
        pages = [[100 * t + 10 * z + c] * 4 for t in range(frames) for z in range(slices) for c in range(channels)]
        text = b"ImageJ=1.53a\nimages=12\nchannels=2\nslices=3\nframes=2\nhyperstack=true\nspacing=2.5\nunit=um\n"
        name = self.write("h.tif", tiff(pages, 2, 2, text))
        self.run_program("convert", name, "-o", "h.npy")
        shape, _, values = parse_npy((self.folder / "h.npy").read_bytes())
        self.assertEqual(shape, (2, 2, 3, 2, 2))
        self.assertEqual(
            values[::4], [100 * t + 10 * z + c for t in range(frames) for c in range(channels) for z in range(slices)]
        )
        self.run_program("convert", name, "-o", "c.npy", "--channel", "1")
        shape, _, values = parse_npy((self.folder / "c.npy").read_bytes())
        self.assertEqual((shape, values[::4]), ((2, 3, 2, 2), [1, 11, 21, 101, 111, 121]))
        for words in (["--channel", "2"], ["--channel", "red"]):
            self.assertIn("0 to 1", self.refusal("convert", name, "-o", "c.npy", *words))
        line = self.run_program("distance", name, "-o", "d.tif").stderr.decode()
        self.assertIn("2 frames x 2 channels x 3x2x2 uint8 (space: z y x), spacing 1x1x2.5x1x1 um", line)
        # Outputs have the same axes and lengths.
        for made in ("d.tif", "d.nrrd", "d.nii.gz"):
            self.run_program("distance", name, "-o", made)
            said = json.loads(self.run_program("distance", made, "-o", "d.npy", "--json").stdout)
            self.assertEqual(said["batch_axes"], 2)
            self.assertEqual(said["input"]["shape"], [2, 2, 3, 2, 2])
            self.assertEqual((said["spacing"][2:], said["input"]["unit"]), ([2.5, 1, 1], "um"))

    def test_pages_of_unknown_meaning_are_asked_about(self):
        pages = [[0, 1], [1, 1], [1, 1]]
        for name, text in (("plain.tif", b""), ("shaped.tif", b'{"shape": [3, 1, 2]}'), ("other.tif", b"made by me")):
            self.write(name, tiff(pages, 2, 1, text))
            for verb in ("distance", "voronoi", "label", "bench"):
                words = [] if verb == "bench" else ["-o", "x.npy"]
                said = self.refusal(verb, name, *words)
                for word in ("--batch-axes 0", "--spacing", "--batch-axes 1"):
                    self.assertIn(word, said)
            self.assertIn("--spacing", self.refusal("compare", name))
            self.run_program("convert", name, "-o", "x.npy")
            self.assertIn("--spacing", self.refusal("convert", name, "-o", "x.nii.gz"))
            self.run_program("convert", name, "-o", "x.nii.gz", "--spacing", "5,1,1")
            self.assertEqual(self.distances("x.nii.gz")[1][2], 5)
            self.assertEqual(self.distances(name, "--batch-axes", "0")[1][2], 1)
            self.assertEqual(self.distances(name, "--spacing", "5,1,1")[1][2], 5)
            self.assertEqual(self.distances(name, "--batch-axes", "1")[1][2:], [INF] * 4)
        # Axes of NumPy arrays, and of NRRD without kinds, are spatial.
        self.assertEqual(len(self.distances(self.write("n.npy", npy((2, 2, 2, 2), [0] + [1] * 15)))[0]), 4)

    def test_components_ask_for_a_channel(self):
        head = b"NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\nkinds: vector domain domain\nencoding: raw\n\n"
        name = self.write("v.nrrd", head + bytes([0, 1, 1, 1, 1, 1, 1, 0]))
        for verb in ("distance", "voronoi", "label"):
            self.assertIn("--channel 0 to 1", self.refusal(verb, name, "-o", "x.npy"))
        (root,) = struct.unpack("f", struct.pack("f", 2**0.5))
        self.assertEqual(self.distances(name, "--channel", "0"), ((2, 2), [0, 1, 1, root]))
        self.assertEqual(self.distances(name, "--channel", "1")[1][3], 0)
        self.assertEqual(self.distances(name, "--batch-axes", "1")[0], (2, 2, 2))
        words = ["distance", "-", "-o", "x.npy", "--channel", "0"]
        self.assertIn("one value a cell", self.refusal(*words, stdin=npy((2,), [0, 1])))

    def test_ome(self):
        def ome(pixels, data=""):
            return (
                '<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'
                f'<Image ID="Image:0"><Pixels ID="Pixels:0" Type="uint8" SizeX="2" SizeY="1" {pixels}>{data}'
                '<Channel ID="Channel:0:0"/></Pixels></Image></OME>'
            ).encode()

        pages = [[10 * i, 10 * i + 1] for i in range(6)]
        lengths = 'PhysicalSizeX="0.5" PhysicalSizeY="0.25" PhysicalSizeZ="2" PhysicalSizeZUnit="\u00b5m"'
        for order, wanted in (
            ("XYZCT", [0, 10, 20, 30, 40, 50]),
            ("XYCZT", [0, 20, 40, 10, 30, 50]),
        ):
            text = ome(f'SizeZ="3" SizeC="2" SizeT="1" DimensionOrder="{order}" {lengths}')
            name = self.write("o.ome.tif", tiff(pages, 2, 1, text))
            said = json.loads(self.run_program("convert", name, "-o", "o.npy", "--json").stdout)
            shape, _, values = parse_npy((self.folder / "o.npy").read_bytes())
            self.assertEqual((shape, values[::2]), ((2, 3, 1, 2), wanted))
            self.assertEqual(said["input"]["axes"], ["channel", "space", "space", "space"])
            self.assertEqual((said["input"]["spacing"], said["input"]["unit"]), ([1, 2, 0.25, 0.5], "um"))
        for pixels, data in (
            ('SizeZ="5" SizeC="2" SizeT="1" DimensionOrder="XYZCT"', ""),
            ('SizeZ="3" SizeC="2" SizeT="1" DimensionOrder="XYZZT"', ""),
            ('SizeZ="3" SizeC="2" SizeT="1" DimensionOrder="XYZCT"', '<TiffData IFD="1" FirstZ="0"/>'),
        ):
            name = self.write("o.ome.tif", tiff(pages, 2, 1, ome(pixels, data)))
            self.assertIn("--batch-axes", self.refusal("distance", name, "-o", "x.npy"))

    def test_nifti_keeps_steps_of_time_and_does_not_measure_along_them(self):
        name = self.write("t.nii", nifti((2, 2, 2, 3), [0] + [1] * 23, (0.5, 0.5, 2, 7, 1, 1, 1)))
        self.assertEqual(self.distances(name)[1][8:], [INF] * 16)
        self.assertEqual(self.said["spacing"], [1, 2, 0.5, 0.5])
        self.run_program("convert", name, "-o", "u.nii")
        self.assertEqual((self.folder / "u.nii").read_bytes()[76:112], (self.folder / "t.nii").read_bytes()[76:112])
        self.assertEqual(self.distances(name, "--batch-axes", "0")[1][8], 1)
        self.assertIn("4-D", self.refusal("distance", name, "-o", "x.npy", "--spacing", "1,1"))
        self.assertEqual(self.distances(name, "--spacing", "3,1,1")[1][4], 3)

    def test_other_verbs(self):
        name = self.write("t.nii", nifti((2, 2, 1, 3), [0] + [1] * 11))
        self.assertIn("--batch-axes", self.refusal("label", name, "-o", "x.npy", "--method", "propagation"))
        self.assertIn("3 frames", self.refusal("demo", "--volume", name, "-o", "d"))
        self.assertIn(b"3 frames x 2x2", self.run_program("bench", name, "--repeat", "1").stdout)
        self.assertIn("3 frames", self.refusal("compare", name, "--repeat", "1"))
        self.run_program("label", name, "--stats", "s.csv")
        self.assertEqual((self.folder / "s.csv").read_text().count("\n"), 4)
        self.run_program("distance", name, "--picture", "p.png")


if __name__ == "__main__":
    unittest.main()
