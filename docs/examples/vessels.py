"""Vessels as a graph

`nf.skeletonize` thins the tree to curves that hang together as it does, `nf.skeleton_graph` measures its branches, and
`prune(ratio=1)` cuts off those that are shorter than the vessel is wide. Colours are radii, from
`nf.distance_transform`; dots are the junctions that are left.
"""

import numpy as np
from picture import PAPER, even, save

import nearfield as nf

random = np.random.default_rng(40)
shape, centres, radii = (380, 600), [], []
growing = [(190.0, 10.0, 0.0, 17.0)]
while growing:
    y, x, angle, width = growing.pop()
    for _ in range(int(random.uniform(75, 120) * (0.55 + width / 26))):
        y, x, angle = y + np.sin(angle), x + np.cos(angle), angle + random.normal(0, 0.035) - 0.004 * angle
        centres.append((y, x)), radii.append(width + 0.4 * np.sin(x / 5))
    if width > 3.7:
        growing += [(y, x, angle + turn, width * share) for turn, share in ((0.36, 0.74), (-0.42, 0.66))]
place = np.array(centres).round().astype(int)
inside = ((place >= 4) & (place < np.array(shape) - 4)).all(1)
vessels = nf.balls(place[inside], np.array(radii)[inside], shape) > 0

radius = nf.distance_transform(vessels)
graph = nf.skeleton_graph(nf.skeletonize(vessels), values=radius).prune(ratio=1)

near, at = nf.distance_transform(graph.to_mask(), sites="nonzero", return_indices=True)
picture = np.where(vessels[..., None], np.array([205, 202, 196.0]), PAPER)
picture = np.where((near < 2.5)[..., None], even(radius[tuple(at)] ** 0.5, 15**0.5), picture)
for y, x in graph.node_cell[graph.node_kind == 1]:
    disc = np.hypot(*np.ogrid[-y : shape[0] - y, -x : shape[1] - x])
    picture[disc < 4.5] = 30
    picture[disc < 3] = 255
save("vessels.png", picture)
