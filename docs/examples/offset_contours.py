"""Offsets of a shape

A signed distance, negative inside, has every inward and outward offset of the shape as a line of equal value. Ending
distances at the faces of pixels, `half_cell`, puts zero on the outline, where a cutter or a printer wants it.
"""

import numpy as np
from picture import lines, save, two_sided

import nearfield as nf

y, x = np.mgrid[-200:200, -320:320]
far, turn = np.hypot(x + 90, y), np.arctan2(y, x + 90)
teeth = 104 + 13 * np.clip(3 * np.sin(16 * turn), -1, 1)
gear = (far < teeth) & (far > 22) & ~((far > 42) & (far < 74) & (np.cos(5 * turn) > -0.62))
bar = (np.abs(x - 140) < 110) & (np.abs(y) < 34 - 0.12 * (x - 140)) & (np.hypot(x - 215, y) > 14)
shape = gear | bar

away = nf.distance_transform(shape, signed=True, half_cell=True)

picture = lines(two_sided(away, 110), away, 10, colour=(60, 60, 60), width=0.8, strength=0.6)
save("offset-contours.png", lines(picture, np.clip(away, -5, 5), 1e9, colour=(10, 10, 10), width=2.6, strength=1))
