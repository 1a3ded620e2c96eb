"""Cells from their nuclei

Labelled nuclei grow by 14 pixels at most and stop where they meet, so that every pixel belongs to the nucleus that is
nearest: `nf.expand_labels`, which takes any spacing and works on volumes and on GPUs alike.
"""

import numpy as np
from picture import edges, save, tints

import nearfield as nf

random = np.random.default_rng(4)
y, x = np.mgrid[:300, :400]
nuclei = np.zeros(y.shape, np.uint16)
for label in range(1, 400):
    cy, cx, turn = *random.uniform((10, 10), (290, 390)), random.uniform(0, np.pi)
    u, v = (x - cx) * np.cos(turn) + (y - cy) * np.sin(turn), (y - cy) * np.cos(turn) - (x - cx) * np.sin(turn)
    nucleus = (u / random.uniform(7, 12)) ** 2 + (v / random.uniform(5, 8)) ** 2 < 1
    around = (u / 16) ** 2 + (v / 13) ** 2 < 1
    if not nuclei[around].any():
        nuclei[nucleus] = label

cells = nf.expand_labels(nuclei, 14)

save("grow-cells.png", tints(nuclei), np.where(nuclei[..., None] > 0, tints(nuclei) * 0.7, edges(tints(cells), cells)))
