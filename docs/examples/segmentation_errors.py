"""Where is a segmentation wrong, and by how much?

The surface of a segmentation in the colour of its distance to the true one: red bulges out, blue is dented in, paper is
right; beside it how often each error occurs, a bar a tenth of the largest. The distances are `nf.distance_transform` with
`signed=True`; `nf.metrics.surface` gives the Hausdorff distance, where the dashed lines are, without drawing anything.
"""

import numpy as np
from picture import PAPER, save, two_sided

import nearfield as nf

z, y, x = np.ogrid[-60:60, -150:150, -190:190]


def organ(lobes):
    return sum(np.exp(-(((z - a) / 0.7) ** 2 + (y - b) ** 2 + (x - c) ** 2) / (2.0 * r * r)) for a, b, c, r in lobes) - 0.5


lobes = [(0, -20, -70, 62), (-5, 30, -20, 55), (6, -10, 50, 48), (0, 45, 90, 30), (10, 60, -80, 34), (-8, -60, 10, 40)]
truth = organ(lobes)
change = [(2, 4, 0, 2), (-4, 0, 4, 3), (0, 6, -3, -3), (0, -9, -12, -4), (-3, 8, -8, 4), (-2, -7, 6, 2)]
found = organ([tuple(map(sum, zip(*each))) for each in zip(lobes, change)])

error = nf.distance_transform(truth > 0, signed=True)
table = nf.metrics.surface(truth > 0, found > 0, surface="elements")
high = table.hausdorff[0]

# Seen along the first axis: where the ray enters, and how the surface leans there.
inside = found > 0
enters = inside.argmax(0)
seen = inside.any(0)
slope = [np.take_along_axis(each, enters[None], 0)[0] for each in np.gradient(found)]
lean = np.stack(slope) / (np.sqrt(sum(each**2 for each in slope)) + 1e-9)
light = np.tensordot(np.array([0.8, 0.45, 0.4]), lean, 1).clip(0, 1)
off = np.take_along_axis(error, enters[None], 0)[0]
picture = np.where(seen[..., None], two_sided(off, high) * (0.45 + 0.6 * light[..., None]), PAPER)

shell = inside & (nf.distance_transform(inside, max_distance=1) <= 1)
edges = np.linspace(-high, high, 21)
count, _ = np.histogram(error[shell], edges)
rows, columns = np.mgrid[300:0:-1, -190:190]
at = columns / 170 * high
bar = np.clip(np.digitize(at, edges) - 1, 0, 19)
tall = 30 + 240 * count[bar] / count.max()
middle = (edges[:-1] + edges[1:])[bar] / 2
filled = (rows > 30) & (rows < tall) & (abs(at) < high) & (columns % 17 > 1)
chart = np.where(filled[..., None], 0.85 * two_sided(middle, high), PAPER)
dashed = (abs(abs(at) - high) < 0.6 / 170 * high) & (rows > 20) & (rows % 8 < 5)
chart[dashed | ((rows == 29) & (abs(columns) < 185))] = 90
save("segmentation-errors.png", picture, chart, gap=0)
