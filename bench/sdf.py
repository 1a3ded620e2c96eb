"""Errors of signed fields beside their peers, in one run: bench/sdf.py

Shapes with known distances, covered to 8 bits by 16 x 16 parts a pixel. Peers: the formula of tiny-sdf (two squared
distance transforms that start at (1/2 - a)^2 and (a - 1/2)^2), written here from its description; a mask at half
coverage with the usual half pixel taken off; exact distances to cells of an image of 8 x 8 cells a pixel. Errors are
RMS and largest in pixels, of pixels within 2 and within 8 pixels of the outline.
"""

import time
from functools import lru_cache

import numpy as np

import nearfield as nf

N, PARTS = 64, 16


def disc(y, x, radius):
    return lambda v, u: radius - np.hypot(v - y, u - x)


def line(y, x, angle):
    return lambda v, u: (v - y) * np.sin(angle) + (u - x) * np.cos(angle)


def polygon(corners):
    def distance(v, u):
        best, inside = np.inf, np.zeros(np.broadcast(v, u).shape, bool)
        for (y0, x0), (y1, x1) in zip(corners, np.roll(corners, -1, axis=0)):
            ey, ex = y1 - y0, x1 - x0
            t = np.clip(((v - y0) * ey + (u - x0) * ex) / (ey * ey + ex * ex), 0, 1)
            best = np.minimum(best, np.hypot(v - y0 - t * ey, u - x0 - t * ex))
            inside ^= ((y0 <= v) != (y1 <= v)) & (u < x0 + (v - y0) / (ey or 1) * ex)
        return np.where(inside, best, -best)

    return distance


def regular(y, x, radius, corners, angle, inner=1.0):
    turn = angle + 2 * np.pi * np.arange(corners) / corners
    r = np.where(np.arange(corners) % 2 == 0, radius, radius * inner)
    return polygon(np.stack([y + r * np.sin(turn), x + r * np.cos(turn)], axis=1))


def shapes():
    for k in range(0, 16, 3):
        y, x = 31.5 + 0.083 * k, 32.1 - 0.071 * k
        yield "discs", disc(y, x, 4 + 1.4 * k)
        yield "lines", line(y, x, 0.41 * k)
        yield "squares to octagons", regular(y, x, 16 + 0.6 * k, 4 + k % 5, 0.37 * k)
        yield "triangles, stars", regular(y, x, 16 + 0.6 * k, *((3, 0.3 * k, 1.0) if k % 2 else (10, 0.3 * k, 0.45)))


def coverage(shape, n, parts):
    at = (np.arange(n * parts) + 0.5) / parts - 0.5
    share = np.clip(shape(at[:, None], at[None, :]) * parts + 0.5, 0, 1)
    return np.rint(255 * share.reshape(n, parts, n, parts).mean((1, 3))).astype(np.uint8)


def envelope(start):
    """min over q of start(q) + |p - q|^2, by rows and columns."""
    for _ in range(2):
        at = np.arange(start.shape[1])
        start = (start[:, None, :] + (at[:, None] - at) ** 2).min(2).T
    return start


def tiny_sdf(image):
    a, far = image / 255.0, 1e20
    outside = np.where(a == 0, far, np.where(a == 1, 0, np.maximum(0, 0.5 - a) ** 2))
    inside = np.where(a == 1, far, np.where(a == 0, 0, np.maximum(0, a - 0.5) ** 2))
    return np.sqrt(envelope(inside)) - np.sqrt(envelope(outside))


def plain_mask(image):
    mask = image >= 128
    return nf.distance_transform(mask, signed="outside") - np.where(mask, 0.5, -0.5)


@lru_cache(1)
def fine_cells(shape):
    return coverage(lambda v, u: 8 * shape((v + 0.5) / 8 - 0.5, (u + 0.5) / 8 - 0.5), 8 * N, 2)


def finer(shape, **words):
    """Of an image of 8 x 8 cells a pixel."""
    cells = fine_cells(shape)
    return nf.sdf(cells if words.get("antialias", True) else cells >= 128, supersample=8, **words)


METHODS = {
    "mask at half coverage": lambda shape, image: plain_mask(image),
    "formula of tiny-sdf": lambda shape, image: tiny_sdf(image),
    "nf.sdf": lambda shape, image: nf.sdf(image),
    "nf.sdf, mask, supersample=8": lambda shape, image: finer(shape, antialias=False),
    "nf.sdf, supersample=8": lambda shape, image: finer(shape),
}


def main():
    y, x = np.mgrid[:N, :N].astype(float)
    errors = {}
    for kind, shape in shapes():
        image, true = coverage(shape, N, PARTS), shape(y, x)
        inner = np.zeros((N, N), bool)
        inner[4:-4, 4:-4] = True
        for name, method in METHODS.items():
            off = np.abs(method(shape, image) - true)
            for band in (2, 8):
                errors.setdefault((name, kind, band), []).append(off[inner & (np.abs(true) <= band)])
    kinds = list(dict.fromkeys(kind for _, kind, _ in errors))
    print("| RMS (largest) within 2; RMS within 8 pixels | " + " | ".join(kinds) + " |")
    print("|---|" + "---|" * len(kinds))
    for name in METHODS:
        cells = []
        for kind in kinds:
            near, far = (np.concatenate(errors[name, kind, band]) for band in (2, 8))
            cells.append(f"{np.sqrt((near**2).mean()):.3f} ({near.max():.2f}); {np.sqrt((far**2).mean()):.3f}")
        print(f"| {name} | " + " | ".join(cells) + " |")
    image = np.tile(coverage(disc(31.5, 32.1, 20), N, PARTS), (16, 16))
    start = time.perf_counter()
    nf.sdf(image, dtype="uint8")
    print(f"\n{image.shape[0]} x {image.shape[1]} uint8 in {1e3 * (time.perf_counter() - start):.0f} ms")


if __name__ == "__main__":
    main()
