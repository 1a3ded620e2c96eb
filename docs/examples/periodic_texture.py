"""A texture that tiles

Four copies of a tile. On the left cells end at its borders, and the seams show; on the right distances and cells go on
at the other side, `border="periodic"`, and the tile fits to itself.
"""

import numpy as np
from picture import save, tints

import nearfield as nf

random = np.random.default_rng(21)
seeds = np.zeros((160, 160), np.int32)
seeds[tuple(random.integers(0, 160, (2, 60)))] = np.arange(1, 61)


def tile(border):
    cells = nf.voronoi(seeds, border=border, return_indices=False, return_labels=True)
    joints = (cells != np.roll(cells, 1, axis=0)) | (cells != np.roll(cells, 1, axis=1))
    height = np.sqrt(nf.distance_transform(~joints, border=border))
    light = 0.25 + 0.85 * height / height.max() + 0.18 * (np.roll(height, 1, axis=0) - np.roll(height, -1, axis=0))
    stone = 0.35 * tints(cells) + 0.65 * np.array([186, 172, 150])
    return np.tile(stone * light[..., None], (2, 2, 1))


save("periodic-texture.png", tile("open"), tile("periodic"))
