"""The verb stipple end to end: points of equal ink, frames, messages. Standard library only."""

import json
import struct
import unittest

from program_case import Case, npy, parse_npy

RAMP = npy((48, 64), [3 * x for _ in range(48) for x in range(64)])


def pictures_of_gif(data):
    """(width, height, hundredths) of each picture, by its blocks."""
    assert data[:6] == b"GIF89a" and data[10] == 0xF7, data[:13]
    at, found, delay = 13 + 3 * 256, [], 0
    while data[at] != 0x3B:
        if data[at] == 0x21:
            if data[at + 1] == 0xF9:
                (delay,) = struct.unpack("<H", data[at + 4 : at + 6])
            at += 2
        else:
            assert data[at] == 0x2C, at
            found.append((*struct.unpack("<HH", data[at + 5 : at + 9]), delay))
            at += 11
        while data[at]:
            at += data[at] + 1
        at += 1
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

    def test_frames(self):
        words = ("-o", "dots.svg", "--rounds", "5", "--picture-size", "64")
        self.stipple(*words, "--frames", "rounds")
        names = sorted(path.name for path in (self.folder / "rounds").iterdir())
        self.assertEqual(names, [f"round-{k:04}.png" for k in range(1, 6)])
        self.stipple(*words, "--frames", "rounds.gif")
        found = pictures_of_gif((self.folder / "rounds.gif").read_bytes())
        self.assertEqual(found, [(64, 48, 6)] * 5 + [(64, 48, 200)])
        of_gif, of_png = (
            parse_npy(self.run_program("distance", name, "-o", "-", "--threshold", "128").stdout)
            for name in ("rounds.gif", "rounds/round-0001.png")
        )
        self.assertEqual(of_gif, of_png)

    def test_refusals(self):
        for words, said in (
            (("--equal-ink", "--mosaic"), "--mosaic draws nearest points; leave out --equal-ink"),
            (("--frames", "a.gif", "--rounds", "0"), "--frames draws rounds; give --rounds 1 or more"),
            (("--frames", "a.gif", "--cmyk"), "--frames draws one ink"),
        ):
            self.assertIn(said, self.refusal("stipple", "-", "-o", "dots.svg", *words, stdin=RAMP))
        words = ("stipple", "-", "-o", "dots.svg", "--frames", "none/a.gif")
        self.assertIn("there is no folder none", self.refusal(*words, status=3, stdin=RAMP))
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
