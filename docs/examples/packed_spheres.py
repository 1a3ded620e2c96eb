"""Packed spheres, cut open

Balls that overlap fill a block, as grains or bubbles in a tomogram do. Left: the components of the mask. Right:
`nf.split` gives each ball its label, from the mask alone. An eighth of the block is cut away.
"""

import numpy as np
from picture import PAPER, save, tints
from PIL import Image, ImageDraw

import nearfield as nf

n = 112
random, centres, radii = np.random.default_rng(4), np.empty((0, 3)), np.empty(0)
for _ in range(3000):  # none nearer to another than 0.86 of the sum of both radii
    at, r = random.uniform(9, n - 9, 3), random.uniform(8, 13)
    if (np.linalg.norm(centres - at, axis=1) >= 0.86 * (radii + r)).all():
        centres, radii = np.vstack([centres, at]), np.append(radii, r)
mask = nf.balls(centres.round().astype(int), radii, (n, n, n)) > 0
labels = nf.split(mask)


def seen(of):
    """The block from above a corner, without its nearest eighth: the first cell on each line of sight."""
    away, right, down = np.array([1, 1, 1]) / 3**0.5, np.array([0, -1, 1]) / 2**0.5, np.array([2, -1, -1]) / 6**0.5
    v, u = np.mgrid[-96:96, -82:82]
    start = (n - 1) / 2 + v[..., None] * down + u[..., None] * right
    picture, left = np.broadcast_to(PAPER, (*v.shape, 3)).copy(), np.ones(v.shape, bool)
    slope = np.stack(np.gradient(nf.distance_transform(of > 0)), axis=-1)
    for t in range(-int(0.9 * n), int(0.9 * n)):
        at, before = start[left] + t * away, start[left] + (t - 1) * away
        solid = ((at >= 0) & (at < n)).all(1) & ~(at < n / 2).all(1)
        cell = tuple(np.where(solid[:, None], at, n - 1).astype(int).T)
        hit = solid & (of[cell] > 0)
        cut = np.where((before < n / 2).all(1)[:, None], (at >= n / 2) & (before < n / 2), before < 0)
        facing = slope[cell] @ away / (np.linalg.norm(slope[cell], axis=1) + 1e-6)
        light = np.where(cut.any(1), np.choose(cut.argmax(1), (1.0, 0.86, 0.74)), 0.3 + 0.6 * facing.clip(0, 1))
        ys, xs = np.nonzero(left)
        picture[ys[hit], xs[hit]] = (tints(of[cell]) * light[:, None])[hit]
        left[ys[hit], xs[hit]] = False
    return picture


def counted(of):
    picture = Image.fromarray(seen(of).clip(0, 255).astype(np.uint8))
    ImageDraw.Draw(picture).text((6, 4), str(of.max()), fill="black", font_size=20)
    return np.asarray(picture.quantize(96).convert("RGB"), float)


assert abs(labels.max() - len(radii)) <= 0.02 * len(radii)
save("packed-spheres.png", counted(nf.label(mask, connectivity=3)), counted(labels))
