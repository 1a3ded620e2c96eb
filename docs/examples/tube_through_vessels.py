"""A tube flown through vessels

`nf.plan_path(objective="widest")` finds the way of a catheter from the trunk to a tip that keeps farthest from the walls;
`nf.render` shows it in the tree (left, red, with a dot where the camera is) and what it sees on its way (right).
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

import nearfield as nf

FRAMES, SHAPE = 16, (72, 84, 150)
random = np.random.default_rng(3)
centres, radii, tips = [], [], []
growing = [(np.array([36.0, 42, 3]), np.array([0.0, 0, 1]), 8.5)]
while growing:
    at, way, width = growing.pop()
    for _ in range(int(42 * (0.4 + width / 14))):
        way = way + random.normal(0, 0.06, 3)
        way /= np.linalg.norm(way)
        at = at + way
        centres.append(at), radii.append(width)
    if width < 3.5:
        tips.append(at)
        continue
    aside = np.cross(way, random.normal(size=3))
    aside *= 0.62 / np.linalg.norm(aside)
    growing += [(at, way + aside, 0.76 * width), (at, way - aside, 0.68 * width)]
place = np.array(centres).round().astype(int)
inside = ((place >= 3) & (place < np.array(SHAPE) - 3)).all(1)
vessels = nf.balls(place[inside], np.array(radii)[inside], SHAPE) > 0

tips = np.array(
    [tip for tip in np.array(tips).round().astype(int) if (tip >= 3).all() and (tip < np.array(SHAPE) - 3).all()]
)
goal = tips[tips[:, 2].argmax()]
path = nf.plan_path(~vessels, (36, 42, 6), goal, objective="widest")
cells = path.cells
smooth = np.stack([np.convolve(np.pad(line, 6, "edge"), np.ones(13) / 13, "valid") for line in cells.T], 1)
tube = nf.balls(cells, np.full(len(cells), 1.6), SHAPE) > 0

size = {"width": 260, "height": 220, "samples": 2}
camera = nf.Camera.fit(SHAPE, aspect=260 / 220)


def laid_over(picture, mask, color):
    """A shape seen through the walls."""
    shown = nf.render(mask, camera, color=color, shadows=0, background=(0, 0, 0), **size).astype(float)
    return np.where(shown.max(-1, keepdims=True) > 40, 0.25 * picture + 0.75 * shown, picture)


overview = laid_over(
    nf.render(vessels, camera, color=(0.80, 0.76, 0.70), **size).astype(float), tube, (0.75, 0.2, 0.14)
)
walls = -nf.distance_transform(vessels, signed=True)  # positive where the camera flies
frames = []
for k in np.linspace(2, len(cells) - 12, FRAMES).astype(int):
    ball = nf.balls(cells[k][None], np.array([3.4]), SHAPE) > 0
    left = laid_over(overview, ball, (0.13, 0.35, 0.65))
    seen = nf.Camera(smooth[k], smooth[k + 9], field_of_view=80.0)
    light = smooth[k] - smooth[k + 9]
    right = nf.render(
        walls, seen, distance=True, color=(0.92, 0.52, 0.44), light=light, shadows=0.2, ambient=0.4, **size
    )
    frames.append(Image.fromarray(np.concatenate([left, right], 1).round().clip(0, 255).astype(np.uint8)))

several = Image.fromarray(np.concatenate([np.asarray(each) for each in frames[::6]]))
colours = several.quantize(64, dither=Image.Dither.NONE)
small = [each.quantize(palette=colours, dither=Image.Dither.NONE) for each in frames]
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
small[0].save(
    folder / "tube-through-vessels.png", save_all=True, append_images=small[1:], duration=220, loop=0, optimize=True
)
