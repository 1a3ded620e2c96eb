"""Where the published methods err

Above, every wrong cell of four methods, in the colour of how much farther its site is than the nearest one, up to a cell
(light), over the regions of the sites: jump flooding with steps that halve, with steps that double, with a round of step 1
more, and chamfer distances, which are off nearly everywhere. Below, for each, the share of wrong cells over the share of
sites, from 0.01 % to 90 %: a line is a power of ten, from one in a hundred thousand to all. `nf.compare` counts both. More in
[methods.md](methods.md).
"""

import numpy as np
from picture import PAPER, edges, even, save, tints

import nearfield as nf

METHODS = [
    nf.methods.JumpFlood(),
    nf.methods.JumpFlood(order="doubling"),
    nf.methods.JumpFlood(after=1),
    nf.methods.Chamfer(weights=(3, 4)),
]
SIDE, SHARES = 160, np.geomspace(0.0001, 0.9, 14)
draws = np.random.default_rng(10).random((SIDE, SIDE))


def mapped(error, regions):
    """The error, where there is one, on the regions."""
    paper = edges(0.85 * PAPER + 0.15 * tints(regions), regions, strength=0.15)
    return np.where((error > 0)[..., None], even(error, 1), paper)


def chart(wrong):
    """Shares of wrong cells as an area, on lines for powers of ten."""
    level = np.interp(np.linspace(0, 1, SIDE), np.linspace(0, 1, len(wrong)), np.log10(np.maximum(wrong, 1e-5)) / 5)
    height = np.linspace(0, -1, SIDE)[:, None]
    area = (height <= level)[..., None]
    line = (np.arange(SIDE) % (SIDE // 5) == 0)[:, None, None]
    return np.where(area, even(np.full(area.shape[:2], 0.35), 1), np.where(line, 0.85 * PAPER, PAPER))


sites = draws < 0.008
regions = nf.voronoi(sites, return_indices="linear") + 1
maps = [mapped(each.error, regions) for each in nf.compare(sites, METHODS, return_errors=True)]
wrong = [[each.wrong_distances / SIDE**2 for each in nf.compare(draws < share, METHODS)] for share in SHARES]
charts = [chart(of_one) for of_one in zip(*wrong)]
save("errors-of-methods.png", *[np.kron(panel, np.ones((2, 2, 1))) for panel in maps + charts], columns=4)
