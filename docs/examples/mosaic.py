"""A mosaic from nearest sites

Every pixel takes the colour that the picture has at the nearest stone's middle: one fancy index with the coordinates
that `nf.voronoi` returns. The distances of the same call make stones darker away from their middles.
"""

import numpy as np
from picture import save

import nearfield as nf

y, x = np.mgrid[0:360, 0:640] / 360.0
sun = np.hypot(x - 1.25, y - 0.42)
sky = np.stack([0.95 - 0.25 * y, 0.55 + 0.25 * y, 0.35 + 0.45 * (1 - y)], axis=-1)
sky = sky + np.exp(-((sun / 0.28) ** 2))[..., None] * [0.35, 0.25, -0.1]
sky[sun < 0.11] = [1.0, 0.93, 0.62]
for height, wave, colour in (
    (0.62, 2.2, [0.44, 0.33, 0.5]),
    (0.72, 3.4, [0.26, 0.24, 0.42]),
    (0.85, 5.3, [0.1, 0.17, 0.25]),
):
    hills = height + 0.06 * np.sin(wave * x * 2 + height * 40) + 0.03 * np.sin(wave * 5.1 * x)
    sky[y > hills] = colour
photo = np.clip(sky, 0, 1)

random = np.random.default_rng(3)
seeds = np.zeros(photo.shape[:2], bool)
for row in range(0, 360, 14):
    for column in range(0, 640, 14):
        at = np.array([row, column]) + random.integers(0, 10, 2)
        seeds[tuple(np.minimum(at, [359, 639]))] = True

stone, away = nf.voronoi(seeds, return_distances=True)
mosaic = photo[tuple(stone)]

joint = np.zeros(seeds.shape, bool)
joint[1:] |= (stone[:, 1:] != stone[:, :-1]).any(axis=0)
joint[:, 1:] |= (stone[:, :, 1:] != stone[:, :, :-1]).any(axis=0)
depth = np.clip(nf.distance_transform(~joint) / 2.5, 0, 1)[..., None]
save("mosaic.png", 255 * mosaic * (0.6 + 0.4 * depth) * (1.08 - 0.02 * np.minimum(away, 8))[..., None])
