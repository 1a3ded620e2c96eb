"""Undercuts that close

A block with five slots, each wider below its neck than at it, and what lies within 1.2, 2.2 and 4.2 of the block: a neck
closes when the distance reaches half of its width. All pictures are of one field of `nf.mesh_distance`, at
different thresholds of `nf.render`. `nf.offset` gives the same surfaces as meshes.
"""

from dataclasses import replace

import numpy as np
from picture import save

import nearfield as nf


def box(at, low, high):
    """Signed distances to a box, below 0 inside; exact near its faces."""
    return np.maximum.reduce([np.maximum(a - x, x - b) for x, a, b in zip(at, low, high)])


at = np.indices((46, 40, 117)) - 3.0  # z, y, x
block = box(at, (0, 0, 0), (40, 30, 110))
for number in range(5):
    neck, middle = number + 1.0, 10.5 + 21 * number
    slot = box(at, (8, -9, middle - neck - 5), (22, 99, middle + neck + 5))
    slot = np.minimum(slot, box(at, (20, -9, middle - neck), (99, 99, middle + neck)))
    block = np.maximum(block, -slot)
part = nf.isosurface(block, 0, inside="below", method="dual_contouring")
assert part.closed
grid = nf.VoxelGrid.around(part, 0.5, margin=16)
field = nf.mesh_distance(part, grid, signed=True)
camera = nf.Camera.fit(grid.shape, spacing=0.5, turn=-25, elevation=35, aspect=1.6)
camera = replace(camera, field_of_view=26)
words = {"distance": True, "spacing": 0.5, "width": 400, "height": 250, "samples": 2}
pictures = [nf.render(field, camera, threshold=d, **words) for d in (0, 1.2, 2.2, 4.2)]
save("closing-undercuts.png", *pictures)
