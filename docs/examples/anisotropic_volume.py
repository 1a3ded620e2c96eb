"""Slices that are five times as far apart as their pixels

A volume of 24 slices, 0.5 mm between pixels, 2.5 mm between slices, cut upright through the middle. Without spacing the
distances to the marked voxels are wrong by up to five times; with `spacing=(2.5, 0.5, 0.5)` they are round, in mm.
"""

import numpy as np
from picture import even, lines, save

import nearfield as nf

random = np.random.default_rng(11)
volume = np.ones((24, 120, 120), bool)
for slice_, row, column in random.integers((1, 58, 4), (23, 63, 116), (16, 3)):
    volume[slice_, row, column] = False

in_cells = nf.distance_transform(volume)
in_mm = nf.distance_transform(volume, spacing=(2.5, 0.5, 0.5))

# Drawn to scale: a voxel is 15 pixels high and 3 wide, smoothly between them.
panels = []
for field, high in ((in_cells, 30), (in_mm, 28)):
    cut = field[:, 60].astype(float)
    z, c = np.linspace(0, 23, 360), np.linspace(0, 119, 360)
    rows = np.stack([np.interp(z, np.arange(24), column) for column in cut.T], axis=1)
    smooth = np.stack([np.interp(c, np.arange(120), row) for row in rows])
    panels.append(lines(even(smooth, high), smooth, high / 10))
save("anisotropic-volume.png", *panels, gap=16)
