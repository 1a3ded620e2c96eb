"""The verbs sdf and effect end to end: fields, atlases of fonts, pictures, messages. Standard library only."""

import json
import math
import subprocess
import unittest
from pathlib import Path

from program_case import PROGRAM, Case, npy, parse_npy

FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
# A square of whole pixels in the middle, and a quarter of a pixel more on its left.
ROW, NONE = [0, 0, 64, 255, 255, 255, 0, 0], 8 * [0]
SQUARE = npy((8, 8), 2 * NONE + 4 * ROW + 2 * NONE)

LETTER = [(1493, 201), (1493, 403), (170, 403), (170, 1130), (0, 1130), (0, 201)]  # L of DejaVu Sans: y, x in units


def to_side(y, x, one, two):
    dy, dx = two[0] - one[0], two[1] - one[1]
    t = min(max(((y - one[0]) * dy + (x - one[1]) * dx) / (dy * dy + dx * dx), 0), 1)
    return math.hypot(y - one[0] - t * dy, x - one[1] - t * dx)


class Effects(Case):
    def field(self, *words, stdin=SQUARE):
        return parse_npy(self.run_program("sdf", "-", "-o", "-", *words, stdin=stdin).stdout)

    def test_fields(self):
        shape, descr, values = self.field("--dtype", "float32")
        self.assertEqual((shape, descr), ((8, 8), "<f4"))
        self.assertAlmostEqual(values[8 * 4 + 2], -0.249, 2)
        self.assertAlmostEqual(values[8 * 4 + 3], 0.751, 2)
        self.assertEqual(self.field("--mask", "--dtype", "float32")[2][8 * 4 + 2], 0.5)
        self.assertEqual(self.field("--threshold", "100", "--dtype", "float32")[2][8 * 4 + 2], -0.5)
        codes = self.field("--radius", "4", "--cutoff", "0.5")
        self.assertEqual(codes[1], "|u1")
        self.assertEqual(codes[2][8 * 4 + 3], int(255 * (0.5 + values[8 * 4 + 3] / 4) + 0.5))
        self.assertEqual(self.field("--supersample", "2")[0], (4, 4))
        self.run_program("sdf", "-", "-o", "atlas.png", "--dtype", "uint16", stdin=SQUARE)
        said = json.loads(self.run_program("sdf", "atlas.png", "-o", "b.png", "--json").stdout)
        self.assertEqual((said["radius"], said["cutoff"], said["antialias"]), (8, 0.25, True))

    def test_a_mask_of_0_and_1_is_refused_as_coverage(self):
        mask = npy((8, 8), [int(value > 64) for value in 2 * NONE + 4 * ROW + 2 * NONE])
        for words, option in (
            (("sdf", "-", "-o", "-"), "--mask"),
            (("effect", "outline", "-", "-o", "a.png"), "--threshold 0"),
        ):
            refused = subprocess.run([PROGRAM, *words], input=mask, capture_output=True, cwd=self.folder)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"give {option}", refused.stderr.decode())
        exact = self.field("--mask", "--dtype", "float32", stdin=mask)[2]
        self.assertEqual(exact[8 * 4 + 2], -0.5)
        bits = mask.replace(b"|u1", b"|b1")
        self.assertEqual(self.field("--dtype", "float32", stdin=bits)[2], exact)

    @unittest.skipUnless(FONT.exists(), "no font")
    def test_fonts(self):
        words = ("sdf", "--font", str(FONT), "--characters", "AVA", "--size", "32", "--metrics", "m.json")
        none = subprocess.run([PROGRAM, "sdf", "--font", "x.ttf", "-o", "a.npy"], capture_output=True, cwd=self.folder)
        if none.returncode == 5:
            self.skipTest("built without FreeType")
        self.assertEqual(none.returncode, 3, none.stderr)
        self.run_program(*words, "-o", "a.npy")
        said = json.loads((self.folder / "m.json").read_text())
        self.assertEqual([each["character"] for each in said["glyphs"]], ["A", "V"])
        self.assertLess({(a, b): by for a, b, by in said["kerning"]}["A", "V"], 0)
        shape, _, values = parse_npy((self.folder / "a.npy").read_bytes())
        self.assertEqual(shape, (said["atlas"]["height"], said["atlas"]["width"]))
        for glyph in said["glyphs"]:
            at = (glyph["y"] + glyph["height"] // 2) * shape[1] + glyph["x"]
            self.assertGreater(max(values[at : at + glyph["width"]]), 191, glyph)
            self.assertEqual(values[at], 0)
        self.run_program("effect", "glow", "--font", str(FONT), "--text", "AVA", "-o", "word.png")
        for option in (("--supersample", "2"), ("--border", "periodic"), ("--mask",)):
            self.assertIn("leave them out", self.refusal(*words, *option, "-o", "b.npy", "--overwrite"))

    @unittest.skipUnless(FONT.exists(), "no font")
    def test_distances_to_glyphs_are_exact(self):
        words = ("sdf", "--font", str(FONT), "--characters", "L", "--size", "64", "--metrics", "m.json")
        done = subprocess.run(
            [PROGRAM, *words, "--dtype", "float32", "-o", "a.npy"], capture_output=True, cwd=self.folder
        )
        if done.returncode == 5:
            self.skipTest("built without FreeType")
        self.assertEqual(done.returncode, 0, done.stderr)
        (glyph,) = json.loads((self.folder / "m.json").read_text())["glyphs"]
        (_, columns), _, values = parse_npy((self.folder / "a.npy").read_bytes())
        for i in range(glyph["height"]):
            for k in range(glyph["width"]):
                y, x = (glyph["top"] - i - 0.5) * 32, (glyph["left"] + k + 0.5) * 32  # 2048 units an em
                least = min(to_side(y, x, *pair) for pair in zip(LETTER, LETTER[1:] + LETTER[:1]))
                is_inside = 201 < x < 403 and 0 < y < 1493 or 201 < x < 1130 and 0 < y < 170
                value = values[(glyph["y"] + i) * columns + glyph["x"] + k]
                self.assertAlmostEqual(value, (least if is_inside else -least) / 32, 4)

    def test_effects(self):
        everything = (
            "shadow+glow:radius=3,color=#f80,blend=add+outline:inner=1+bevel+contour:side=inside+trails+light:row=0"
        )
        self.run_program("effect", everything, "-", "-o", "all.png", "--margin", "6", stdin=SQUARE)
        self.assertTrue((self.folder / "all.png").read_bytes().startswith(b"\x89PNG"))
        shape, _, values = parse_npy(
            self.run_program("effect", "outline:outer=1,color=#ff0000", "-", "-o", "-", stdin=SQUARE).stdout
        )
        self.assertEqual(shape, (8, 8, 4))
        self.assertEqual(list(values[4 * 36 : 4 * 36 + 4]), [255, 255, 255, 255])
        self.assertEqual(list(values[:4]), [0, 0, 0, 0])
        self.assertEqual(list(values[4 * 38 : 4 * 38 + 4]), [255, 0, 0, 255])
        dots = parse_npy(self.run_program("effect", "halftone", "-", "-o", "-", stdin=npy((2, 2), 4 * [0])).stdout)
        self.assertEqual((dots[0], set(dots[2])), ((2, 2, 3), {0}))

    def test_padding(self):
        self.run_program("effect", "outline", "-", "-o", "rgba.png", stdin=SQUARE)
        _, _, values = parse_npy(self.run_program("effect", "pad", "rgba.png", "-o", "-").stdout)
        self.assertEqual(
            list(values[3::4]), list(parse_npy(self.run_program("convert", "rgba.png", "-o", "-").stdout)[2][3::4])
        )
        self.assertEqual(values[3], 0)

    def test_messages(self):
        for words, said in (
            (("glare", "-"), 'no effect "glare"'),
            (("glow:reach=3", "-"), "it has radius, side, power, color, blend"),
            (("glow:radius", "-"), "KEY=VALUE"),
            (("glow:radius=0", "-"), "radius is 0"),
            (("glow:color=red", "-"), "colour"),
            (("pad+glow", "-"), "by itself"),
            (("pad", "-"), "alpha"),
            (("glow", "-", "--border", "closed"), "--border"),
            (("glow", "-", "--margin", "-1"), "--margin is -1"),
            (("glow",), "nothing to paint"),
            (("glow", "-", "--text", "x"), "--font"),
        ):
            self.assertIn(said, self.refusal("effect", *words, "-o", "a.png", stdin=SQUARE), words)
        for words, said in (
            (("-", "--radius", "0"), "radius"),
            (("-", "--cutoff", "2"), "cutoff is 2"),
            (("-", "--supersample", "3"), "supersample"),
            (("-", "--size", "3"), "--font"),
            ((), "nothing to draw"),
            (("-", "--font", "x.ttf"), "one of them"),
        ):
            self.assertIn(said, self.refusal("sdf", *words, "-o", "a.png", stdin=SQUARE), words)
        self.assertIn("3 axes", self.refusal("sdf", "-", "-o", "a.npy", stdin=npy((1, 1, 2), [1, 1])))


if __name__ == "__main__":
    unittest.main()
