"""A shape from a few of its balls

The reduced medial axis, `nf.medial_axis(method="reduced")`, keeps a few per cent of a shape's cells: centres of balls
whose union is the shape, exactly. Left: these balls, a colour for each radius. Middle: `nf.reconstruct` with the
larger half of them. Right: with all, which gives the shape back.
"""

import numpy as np
from picture import PAPER, even, save

import nearfield as nf

y, x = np.mgrid[-1:1:300j, -1.0:1:300j]
turn, away = np.arctan2(y, x), np.hypot(y, x)
leaf = away < 0.62 + 0.2 * np.cos(5 * turn) + 0.06 * np.cos(13 * turn + 1) + 0.035 * np.sin(31 * turn)
leaf &= np.hypot(y + 0.1, x - 0.12) > 0.14

centres, radius2 = nf.medial_axis(leaf, method="reduced", squared=True)
larger = centres & (radius2 >= np.median(radius2[centres]))
few, every = (nf.reconstruct(each, radius2) for each in (larger, centres))
assert (every == leaf).all()

size = nf.balls(np.argwhere(centres), np.sqrt(radius2[centres]), leaf.shape) / 2
picture = np.where(leaf[..., None], 0.45 * even(size) + 0.55 * PAPER, PAPER)
for row, column in np.argwhere(centres):
    r = np.sqrt(radius2[row, column])
    off = np.abs(np.hypot(*np.ogrid[-row : 300 - row, -column : 300 - column]) - r)
    ring = 0.8 * np.clip(1 - off, 0, 1)[..., None]
    picture = picture * (1 - ring) + ring * even(np.array([[r]]), size.max())
panels = [np.where(each[..., None], even(size), np.where(leaf[..., None], 214.0, PAPER)) for each in (few, every)]
save("few-balls.png", picture, *panels)
