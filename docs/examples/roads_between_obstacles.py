"""Roads between obstacles

`nf.roadmap` makes a graph of the skeleton of free space, once for a map: its roads (left, the wider the lighter) keep as far
from obstacles as they can. A path on it, from cell to road to road to cell, takes microseconds (right, red; blue after
straightening).
"""

from itertools import pairwise

import numpy as np
from picture import PAPER, even, save

import nearfield as nf

random = np.random.default_rng(12)
noise = np.fft.rfft2(random.standard_normal((300, 300)))
row, column = np.fft.fftfreq(300)[:, None], np.fft.rfftfreq(300)
noise = np.fft.irfft2(noise * np.exp(-((11 * row) ** 2 + (11 * column) ** 2) * 12), (300, 300))
walls = noise > np.quantile(noise, 0.75)
walls[[0, -1]] = walls[:, [0, -1]] = True

roads = nf.roadmap(walls, radius=3)
distance = nf.distance_transform(~walls)
left = np.where(walls[..., None], 150.0, PAPER)
for cells, clearance in zip(roads.roads, roads.clearances):
    colour = even(np.array([[clearance]]), roads.clearances.max())[0, 0]
    for row, column in cells:
        left[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] = colour
for row, column in roads.nodes:
    left[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3] = (176, 52, 36)

parts = nf.label(distance > 3)
free = np.argwhere(parts == np.bincount(parts[parts > 0]).argmax())
start, goal = free[np.argmin(free.sum(1))], free[np.argmax(free.sum(1))]
path, straight = (roads.path(start, goal, smooth=each) for each in (False, True))
right = np.where(walls[..., None], 150.0, PAPER)
for cells, colour in ((path.cells, (176, 52, 36)), (straight.cells, (34, 84, 156))):
    for a, b in pairwise(cells):
        for t in np.linspace(0, 1, 2 * int(np.abs(b - a).max()) + 2):
            row, column = (a + t * (b - a)).round().astype(int)
            right[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] = colour
save("roads-between-obstacles.png", left, right)
