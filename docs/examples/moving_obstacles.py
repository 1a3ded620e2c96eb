"""A robot among moving obstacles

Each frame, `Esdf.update` brings the distance field up to date where obstacles have moved, with a line every 8 cells, and
`nf.plan_path(objective="safe")` plans again from where the robot is. The field's gradients would push it away from what
comes too near.
"""

import sys
from pathlib import Path

import numpy as np
from picture import PAPER, even, lines
from PIL import Image

import nearfield as nf

SHAPE, FRAMES, REACH = (150, 240), 32, 40.0
y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
random = np.random.default_rng(5)
discs = [(random.uniform(20, 130, 2) * (1, 1.6), random.uniform(-3, 3, 2), random.uniform(6, 14)) for _ in range(11)]


def map_of(frame):
    """Walls with a gap, and discs that bounce between the sides."""
    walls = (abs(x - 120) < 3) & (abs(y - 40) > 14) & (abs(y - 112) > 10)
    for start, speed, radius in discs:
        way = (start + frame * speed) % (2 * np.array(SHAPE))
        at = np.minimum(way, 2 * np.array(SHAPE) - 1 - way)
        walls |= np.hypot(y - at[0], x - at[1]) < radius
    return walls


field = nf.Esdf(SHAPE, max_distance=REACH)
robot, goal, trail, frames, before = (75, 8), (75, 231), [], [], None
for frame in range(FRAMES):
    walls = map_of(frame)
    box = None
    if before is not None and (walls != before).any():
        changed = np.argwhere(walls != before)
        box = changed.min(0).tolist(), (changed.max(0) + 1).tolist()
    before = field.update(walls, box) and walls
    path = nf.plan_path(walls, robot, goal, radius=3, objective="safe", smooth=False)
    picture = 0.55 * even(np.minimum(field.distance, REACH), REACH) + 0.45 * PAPER
    picture = lines(picture, np.minimum(field.distance, REACH), 8, strength=0.5)
    picture[walls] = 60
    for cells, colour in ((np.array(trail), (120, 120, 120)), (path.cells, (190, 40, 40))):
        for row, column in cells.reshape(-1, 2).astype(int):
            picture[row - 1 : row + 1, column - 1 : column + 1] = colour
    picture[np.hypot(y - robot[0], x - robot[1]) < 4] = (20, 90, 170)
    frames.append(Image.fromarray(picture.round().clip(0, 255).astype(np.uint8)))
    if path:  # else it waits
        trail += path.cells[:8].tolist()
        robot = tuple(path.cells[min(8, len(path.cells) - 1)].tolist())

colours = frames[FRAMES // 2].quantize(48, dither=Image.Dither.NONE)
small = [each.quantize(palette=colours, dither=Image.Dither.NONE) for each in frames]
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
small[0].save(
    folder / "moving-obstacles.png", save_all=True, append_images=small[1:], duration=120, loop=0, optimize=True
)
