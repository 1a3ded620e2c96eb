"""Errors of signed fields of glyphs beside msdfgen and tiny-sdf, in one run: bench/sdf_glyphs.py MSDFGEN FONT

MSDFGEN is the program of github.com/Chlumsky/msdfgen, built without Skia, and FONT a .ttf file. All fields have the
same pixels: those of `nearfield sdf --font`. Errors are measured against distances to the glyph's outline, as msdfgen
exports it, with each curve cut in PIECES straight pieces. Bytes hold RADIUS pixels.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import nearfield as nf
from sdf import tiny_sdf

CHARACTERS, SIZES, RADIUS, PIECES, PARTS = "agkRSQ8&", (24, 48), 8, 32, 8


def contours(text):
    """Polygons of an exported outline: `x, y;` is a point, a point in parentheses the control point of a curve."""
    for part in re.findall(r"\{([^{}]*)\}", text):
        points = [
            (bracket == "(", float(x), float(y))
            for bracket, x, y in re.findall(r"(\(?)(-?[\d.e-]+),\s*(-?[\d.e-]+)\)?;", part + ";")
        ]
        last, curve, made = None, None, []
        for control, x, y in [*points, points[0]]:
            at = np.array([x, y])
            if control:
                curve = at
                continue
            t = np.arange(1, PIECES + 1)[:, None] / PIECES
            if curve is not None:
                made.append((1 - t) ** 2 * last + 2 * t * (1 - t) * curve + t**2 * at)
            elif last is not None:
                made.append(at[None])
            last, curve = at, None
        yield np.concatenate(made)


def true_distance(polygons, x, y):
    """Signed distances, positive inside by the nonzero rule."""
    best, turns = np.full(x.shape, np.inf), np.zeros(x.shape, int)
    for polygon in polygons:
        for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, axis=0)):
            ex, ey = x1 - x0, y1 - y0
            t = np.clip(((x - x0) * ex + (y - y0) * ey) / max(ex * ex + ey * ey, 1e-300), 0, 1)
            best = np.minimum(best, (x - x0 - t * ex) ** 2 + (y - y0 - t * ey) ** 2)
            side = ex * (y - y0) - ey * (x - x0)
            turns += ((y0 <= y) & (y1 > y) & (side > 0)).astype(int) - ((y1 <= y) & (y0 > y) & (side < 0))
    return np.where(turns != 0, 1, -1) * np.sqrt(best)


def in_bytes(distance):
    code = np.clip(np.floor(255 * (0.5 + distance / RADIUS) + 0.5), 0, 255)
    return (code / 255 - 0.5) * RADIUS


def grid(glyph, size, parts=1):
    """Places of pixels' parts in ems."""
    x = (glyph["left"] + (np.arange(glyph["width"] * parts) + 0.5) / parts) / size
    y = (glyph["top"] - (np.arange(glyph["height"] * parts) + 0.5) / parts) / size
    return np.broadcast_arrays(x[None, :], y[:, None])


def by_msdfgen(program, font, glyph, size, folder):
    words = [program, "sdf", "-font", font, str(glyph["codepoint"]), "-emnormalize", "-format", "textfloat"]
    words += ["-dimensions", glyph["width"], glyph["height"], "-scale", size, "-pxrange", RADIUS]
    words += ["-translate", -glyph["left"] / size, (glyph["height"] - glyph["top"]) / size]
    words += ["-o", folder / "field.txt", "-exportshape", folder / "shape.txt"]
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
    field = np.loadtxt(folder / "field.txt")[::-1]  # rows begin at the bottom
    return (field - 0.5) * RADIUS, list(contours((folder / "shape.txt").read_text()))


def by_nearfield(font, size, folder):
    words = ["--characters", CHARACTERS, "--size", size, "--radius", RADIUS, "--cutoff", 0.5, "--dtype", "float32"]
    words += ["-o", folder / "atlas.npy", "--metrics", folder / "atlas.json", "--overwrite"]
    call = [sys.executable, "-m", "nearfield", "sdf", "--font", font, *words]
    subprocess.run([str(word) for word in call], check=True, stderr=subprocess.DEVNULL)
    return np.load(folder / "atlas.npy"), json.loads((folder / "atlas.json").read_text())["glyphs"]


def main():
    program, font = sys.argv[1:]
    errors = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in SIZES:
            atlas, glyphs = by_nearfield(font, size, folder)
            for glyph in glyphs:
                peer, outline = by_msdfgen(program, font, glyph, size, folder)
                true = size * true_distance(outline, *grid(glyph, size))
                fine = size * true_distance(outline, *grid(glyph, size, PARTS))
                shares = np.clip(fine * PARTS + 0.5, 0, 1).reshape(*true.shape[:1], PARTS, true.shape[1], PARTS)
                gray = np.rint(255 * shares.mean((1, 3))).astype(np.uint8)
                fields = {
                    "formula of tiny-sdf": tiny_sdf(gray),
                    "`nf.sdf` of gray glyphs": nf.sdf(gray),
                    "`nearfield sdf --font`": atlas[glyph["y"] :, glyph["x"] :][: true.shape[0], : true.shape[1]],
                    "msdfgen, one channel": peer,
                }
                for key, field in fields.items():
                    for band in (2, 3.9):
                        near = np.abs(true) <= band
                        for kind, made in (("float32", field), ("uint8", in_bytes(field))):
                            errors.setdefault((key, size, kind, band), []).append(np.abs(made - true)[near])
    print("| | " + " | ".join(f"{kind}, {size} pixels an em" for size in SIZES for kind in ("float32", "uint8")) + " |")
    print("|---|" + 2 * len(SIZES) * "---|")
    for key in dict.fromkeys(key for key, *_ in errors):
        row = []
        for size in SIZES:
            for kind in ("float32", "uint8"):
                near, far = (np.concatenate(errors[key, size, kind, band]) for band in (2, 3.9))
                row.append(f"{np.sqrt((near**2).mean()):.3f} ({near.max():.2f}); {np.sqrt((far**2).mean()):.3f}")
        print(f"| {key} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
