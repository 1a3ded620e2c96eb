"""The verb stipple end to end: points of equal ink, frames, messages. Standard library only."""

import json
import math
import struct
import unittest

from program_case import Case, npy, parse_npy

RAMP = npy((48, 64), [3 * x for _ in range(48) for x in range(64)])


def unpacked(data, bits):
    """Pixels of LZW codes."""
    stream, have, made = int.from_bytes(data, "little"), 8 * len(data), []
    clear, strings, before, width = 1 << bits, [], None, bits + 1
    while have >= width:
        code, stream, have = stream & ((1 << width) - 1), stream >> width, have - width
        if code == clear:
            strings, before, width = [[k] for k in range(clear)] + [None, None], None, bits + 1
            continue
        if code == clear + 1:
            break
        if before:
            strings.append(before + (strings[code] if code < len(strings) else before)[:1])
        before = strings[code]
        made += before
        width = min(12, max(width, len(strings).bit_length()))
    return made


def pictures_of_gif(data):
    """(numbers of the grays that are shown, bytes, hundredths) of each picture. What is transparent stays."""
    assert data[:6] == b"GIF89a" and data[10] == 0xF3, data[:13]
    width, height = struct.unpack("<HH", data[6:10])
    at, found, delay, shown = 13 + 3 * 16, [], 0, [None] * (width * height)
    while data[at] != 0x3B:
        if data[at] == 0x21:
            if data[at + 1] == 0xF9:
                flags, delay, clear = struct.unpack("<BHB", data[at + 3 : at + 7])
                assert flags == 5
            at, place = at + 2, None
        else:
            assert data[at] == 0x2C, at
            place = struct.unpack("<HHHH", data[at + 1 : at + 9])
            bits, at = data[at + 10], at + 11
        blocks = b""
        while data[at]:
            blocks += data[at + 1 : at + 1 + data[at]]
            at += data[at] + 1
        at += 1
        if place:
            left, top, wide, high = place
            pixels = unpacked(blocks, bits)
            assert len(pixels) == wide * high
            for k, pixel in enumerate(pixels):
                if pixel != clear:
                    shown[(top + k // wide) * width + left + k % wide] = pixel
            found.append((shown[:], len(blocks), delay))
    assert at == len(data) - 1
    return found


class Stipple(Case):
    def stipple(self, *words, **more):
        return self.run_program("stipple", "-", "--points", "40", *words, stdin=RAMP, **more)

    def test_equal_ink(self):
        usual = [row[2] for row in self.rows()]
        equal = [row[2] for row in self.rows("--equal-ink")]
        self.assertLess(max(equal), 1.01 * min(equal))
        self.assertGreater(max(usual), 1.05 * min(usual))
        self.assertAlmostEqual(sum(d * d for d in usual) / sum(d * d for d in equal), 1, 6)
        self.assertLess(json.loads(self.stipple("-o", "dots.svg", "--equal-ink", "--json").stdout)["ink_error"], 0.01)
        self.assertIn("40 points of the same ink within", self.stipple("-o", "dots.svg", "--equal-ink").stderr.decode())

    def rows(self, *words):
        shape, _, values = parse_npy(self.stipple("-o", "-", *words).stdout)
        self.assertEqual(shape, (40, 3))
        return list(zip(*[iter(values)] * 3))

    def test_points_of_all_inks(self):
        pixels = bytes(v for y in range(40) for x in range(50) for v in (5 * x, 250 - 4 * y, 130 + x))
        for points in (1, 2, 3, 20, 41):
            words = ("stipple", "-", "-o", "inks.svg", "--cmyk", "--points", str(points), "--rounds", "2", "--overwrite")
            self.run_program(*words, stdin=b"P6 50 40 255\n" + pixels)
            self.assertEqual((self.folder / "inks.svg").read_text().count("<circle"), points)

    def test_frames(self):
        words = ("-o", "dots.svg", "--rounds", "5", "--picture-size", "64")
        self.stipple(*words, "--frames", "rounds")
        names = sorted(path.name for path in (self.folder / "rounds").iterdir())
        self.assertEqual(names, [f"round-{k:04}.png" for k in range(1, 6)])
        self.stipple(*words, "--frames", "rounds.gif")
        found = pictures_of_gif((self.folder / "rounds.gif").read_bytes())
        self.assertEqual([hundredths for *_, hundredths in found], [6] * 5 + [200])
        self.assertLess(found[5][1], 4)  # nothing changes
        for below, gray in ((127, 7), (218, 12), (35, 2)):
            for k, (shown, *_) in enumerate(found[:5], 1):
                name = f"rounds/round-{k:04}.png"
                words = ("distance", name, "-o", "-", "--threshold", str(math.floor((gray - 0.5) * 255 / 14)))
                of_png = parse_npy(self.run_program(*words).stdout)[2]
                self.assertTrue([d > 0 for d in of_png] == [pixel >= gray for pixel in shown])
            words = ("distance", "rounds.gif", "-o", "-", "--threshold", str(below))
            read = parse_npy(self.run_program(*words).stdout)[2]
            self.assertTrue([d > 0 for d in read] == [pixel >= gray for pixel in found[0][0]])

    def test_refusals(self):
        for words, said in (
            (("--equal-ink", "--mosaic"), "--mosaic draws nearest points; leave out --equal-ink"),
            (("--frames", "a.gif", "--rounds", "0"), "--frames draws rounds; give --rounds 1 or more"),
            (("--frames", "a.gif", "--cmyk"), "--frames draws one ink"),
            (("--points", "0"), "--points is 0; give 1 or more"),
        ):
            self.assertIn(said, self.refusal("stipple", "-", "-o", "dots.svg", *words, stdin=RAMP))
        words = ("stipple", "-", "-o", "dots.svg", "--frames", "none/a.gif")
        self.assertIn("there is no folder none", self.refusal(*words, status=3, stdin=RAMP))
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
