"""Five drawn slices become a solid

`nf.interpolate_slices` makes the slices between: a stem that parts into two branches, drawn five times and seen from the
side. Left what was drawn, right all 97 slices.
"""

import numpy as np
from picture import save

import nearfield as nf

y, x = np.indices((110, 150)) - np.array([55, 75])[:, None, None]
drawn = np.zeros((5, *x.shape), bool)
for k, (apart, radius) in enumerate([(0, 30), (14, 24), (26, 20), (36, 17), (44, 9)]):
    for side in (-1, 1):
        lobed = radius * (1 + 0.12 * np.cos(3 * np.arctan2(y, x - side * apart) + k))
        drawn[k] |= np.hypot(y * 1.1, x - side * apart) <= lobed
solid = np.pad(nf.interpolate_slices(drawn, 0, np.arange(97) / 24), 12)
sheets = np.zeros_like(solid)
for k in range(5):
    sheets[24 * k + 10 : 24 * k + 15] = np.pad(drawn[k], 12)


def seen(volume, tilt=0.42):
    """The volume from the side and a little from above, shaded by its slope."""
    inside = -nf.distance_transform(volume, signed=True)
    for axis in range(3):
        inside = sum(np.roll(inside, step, axis) for step in (-2, -1, 0, 1, 2)) / 5
    slope = np.stack(np.gradient(inside))
    rows, columns = np.indices((150, inside.shape[2]))
    rgb, open_ = np.full((*rows.shape, 3), [246.0, 245, 241]), np.full(rows.shape, True)
    for depth in np.arange(0, 190, 0.5):
        at_z = np.rint(128 - rows * np.cos(tilt) - depth * np.sin(tilt) + 32).astype(int)
        at_y = np.rint(depth * np.cos(tilt) - (rows - 75) * np.sin(tilt) - 20).astype(int)
        there = (at_z >= 0) & (at_z < inside.shape[0]) & (at_y >= 0) & (at_y < inside.shape[1]) & open_
        cell = at_z[there], at_y[there], columns[there]
        hit = inside[cell] > 0
        n = slope[:, cell[0][hit], cell[1][hit], cell[2][hit]]
        light = np.clip(np.tensordot([-0.62, 0.62, 0.48], n / (np.linalg.norm(n, axis=0) + 1e-6), 1), 0, 1)
        pixels = tuple(np.argwhere(there)[hit].T)
        rgb[pixels] = np.array([44, 62, 96]) + light[:, None] * np.array([176, 158, 118])
        open_[pixels] = False
    return rgb


save("drawn-slices.png", *(np.kron(seen(each), np.ones((2, 2, 1))) for each in (sheets, solid)), columns=2)
