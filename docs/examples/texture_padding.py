"""Padding of a texture atlas

An atlas before and after `nf.effects.pad`: every texel between the islands gets the colour of the nearest one on an
island, at any distance, so that mipmaps and filters never mix the background in. Alpha stays; here it is drawn as a
chequerboard on the left and left out on the right.
"""

import numpy as np
from picture import save

import nearfield as nf

n = 304
random = np.random.default_rng(8)
seeds = np.zeros((n, n), np.int32)
middles = [
    (y + random.integers(-22, 22), x + random.integers(-22, 22)) for y in range(48, n, 96) for x in range(48, n, 96)
]
for number, middle in enumerate(middles, 1):
    seeds[middle] = number
island = nf.erosion(nf.expand_labels(seeds, distance=n), 20.5, labels=True)
island = nf.expand_labels(island, distance=11)

y, x = np.mgrid[:n, :n]
turn = island * 2.4
u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
weave = 0.5 + 0.5 * np.sin(u / 3.2) * np.sin(v / 3.2)
stripes = 0.5 + 0.5 * np.sin(u / 5 + 1.5 * np.sin(v / 9))
pattern = np.where(island % 2 == 0, weave, stripes)[..., None]
hue = np.stack([np.cos(island * 2.39996 + shift) for shift in (0, -2.1, 2.1)], axis=-1)
colour = (0.55 + 0.3 * hue) * (0.55 + 0.45 * pattern)

texture = np.zeros((n, n, 4), np.uint8)
texture[..., :3] = 255 * colour.clip(0, 1)
texture[island == 0] = 0
texture[..., 3] = 255 * (island > 0)
padded = nf.effects.pad(texture)

squares = np.where((y // 8 + x // 8) % 2 == 0, 214, 240)[..., None]
before = np.where(island[..., None] > 0, texture[..., :3], squares)
save("texture-padding.png", before, padded[..., :3])
