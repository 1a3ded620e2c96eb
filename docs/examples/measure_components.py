"""Every grain measured

`nf.components` numbers the grains that do not touch the border and have at least 40 pixels, and measures them in the same
call: boxes and middles are drawn as the table has them, and the grains' colours say how bright they are on average, from
the `intensity` given.
"""

import numpy as np
from picture import even, save

import nearfield as nf

random = np.random.default_rng(12)
seeds = nf.label(random.random((330, 460)) < 0.0011)
away = nf.voronoi(seeds, return_indices=False, return_distances=True)
owner = nf.expand_labels(seeds, None)
size = random.uniform(5, 17, seeds.max() + 1)
light = random.uniform(0.2, 1, seeds.max() + 1)
photo = light[owner] * (1 - 0.5 * away / size[owner]) + random.normal(0, 0.04, seeds.shape)
grains = away < size[owner]

labels, table = nf.components(grains, intensity=photo, connectivity=2, min_size=40, clear_border=True)

mean = np.concatenate([[0], table.mean])[labels]
picture = np.where((labels > 0)[..., None], even(mean, 0.8), 26.0)
for (top, left), (bottom, right) in table.box:
    picture[[top, bottom - 1], left:right] = 235
    picture[top:bottom, [left, right - 1]] = 235
for row, column in table.centroid.round().astype(int):
    picture[row - 3 : row + 4, column] = picture[row, column - 3 : column + 4] = (255, 70, 60)
plain = np.repeat(255 * np.where(grains, photo, 0.1).clip(0, 1)[..., None], 3, axis=2)
save("measure-components.png", plain, picture)
