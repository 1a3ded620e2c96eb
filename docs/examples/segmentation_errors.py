"""Where is a segmentation wrong, and by how much?

The surface of a segmentation in the colour of its distance to the true one: red bulges out, blue is dented in, paper is
right; beside it how often each error occurs, a bar a tenth of the largest. The distances are `nf.distance_transform` with
`signed=True`; `nf.metrics.surface` gives the Hausdorff distance, where the dashed lines are, without drawing anything.
"""

import numpy as np
from picture import PAPER, save

import nearfield as nf

z, y, x = np.ogrid[-60:60, -150:150, -190:190]
RED, BLUE = np.array([178, 24, 43.0]), np.array([33, 102, 172.0])


def organ(lobes):
    return (
        sum(np.exp(-(((z - a) / 0.7) ** 2 + (y - b) ** 2 + (x - c) ** 2) / (2.0 * r * r)) for a, b, c, r in lobes)
        - 0.62
    )


def colour(off, high):
    t = np.clip(abs(off) / high, 0, 1)[..., None] ** 0.7
    return PAPER * (1 - t) + np.where(off[..., None] < 0, BLUE, RED) * t


lobes = [(0, -35, -85, 46), (-8, 40, -40, 40), (6, -30, 15, 40), (0, 30, 70, 34), (8, 75, -95, 26), (-6, -50, 95, 24)]
truth = organ(lobes)
change = [(2, 4, 0, 2), (-4, 0, 4, 3), (0, 6, -3, -3), (0, -9, -12, -4), (-3, 8, -8, 4), (-2, -7, 6, 2)]
found = organ([tuple(map(sum, zip(*each))) for each in zip(lobes, change)])

error = nf.distance_transform(truth > 0, signed=True, half_cell=True)
table = nf.metrics.surface(truth > 0, found > 0, surface="elements")
high = table.hausdorff[0]

# Seen along the first axis: where the ray enters, and how the surface leans there.
inside = found > 0
enters = inside.argmax(0)
seen = inside.any(0)
slope = [np.take_along_axis(each, enters[None], 0)[0] for each in np.gradient(found)]
lean = np.stack(slope) / (np.sqrt(sum(each**2 for each in slope)) + 1e-9)
light = np.tensordot(np.array([0.8, 0.45, 0.4]), lean, 1).clip(0, 1)
(value, off), (before, nearer) = (
    [np.take_along_axis(each, at, 0)[0] for each in (found, error)] for at in (enters[None], enters[None] - 1)
)
off = off + (nearer - off) * value / (value - before)
picture = np.where(seen[..., None], colour(off, high) * (0.45 + 0.6 * light[..., None]), PAPER)

shell = inside & (nf.distance_transform(inside, max_distance=1) <= 1)
edges = np.linspace(-high, high, 21)
count, _ = np.histogram(error[shell], edges)
rows, columns = np.mgrid[300:0:-1, -190:190]
at = columns / 170 * high
bar = np.clip(np.digitize(at, edges) - 1, 0, 19)
tall = 30 + 240 * count[bar] / count.max()
middle = (edges[:-1] + edges[1:])[bar] / 2
filled = (rows > 30) & (rows < tall) & (abs(at) < high) & (columns % 17 > 1)
chart = np.where(filled[..., None], 0.85 * colour(middle, high), PAPER)
dashed = (abs(abs(at) - high) < 0.6 / 170 * high) & (rows > 20) & (rows % 8 < 5)
chart[dashed | ((rows == 29) & (abs(columns) < 185))] = 90
save("segmentation-errors.png", picture, chart, gap=0)
