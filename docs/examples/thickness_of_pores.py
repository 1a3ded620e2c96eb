"""How thick is it everywhere?

A block of 160^3 cells, half of them solid: the diameter of the largest ball over every cell by `nf.local_thickness`, the
same by PoreSpy's `local_thickness` with its defaults, and what that lacks, all in cells. PoreSpy rounds radii down to
integers, so a cell that only the rest of a ball reaches gets the diameter of a much smaller one. The script needs PoreSpy.
"""

import numpy as np
import porespy
from picture import PAPER, below, even, save

import nearfield as nf

n = 160
waves = np.fft.rfftn(np.random.default_rng(5).standard_normal((n, n, n)))
k2 = sum(np.meshgrid(np.fft.fftfreq(n) ** 2, np.fft.fftfreq(n) ** 2, np.fft.rfftfreq(n) ** 2, indexing="ij"))
soft = np.fft.irfftn(waves * np.exp(-2 * np.pi**2 * 8.0**2 * k2), (n, n, n), (0, 1, 2))
solid = soft > np.median(soft)

exact = nf.local_thickness(solid)
rounded = 2 * np.asarray(porespy.filters.local_thickness(solid))
lost = exact - rounded


def block(field, colours):
    """The top and two sides of a block, seen from above a corner."""
    y, x = np.mgrid[0 : 2 * n, -int(0.86 * n) : int(0.86 * n)].astype(float)
    u, v, z = y + 0.577 * x, y - 0.577 * x, y - n + 0.577 * abs(x)
    picture = np.broadcast_to(PAPER, (*y.shape, 3)).copy()
    for cell, face, light in (
        ((0 * y, v, u), z < 0, 1.0),
        ((z, 0 * y + n - 1, n + 1.155 * x), (z >= 0) & (x < 0), 0.92),
        ((z, n - 1 - 1.15 * x, 0 * y + n - 1), (z >= 0) & (x >= 0), 0.84),
    ):
        at = np.stack(cell)
        inside = face & ((at >= 0) & (at < n)).all(0)
        cells = tuple(at[:, inside].astype(int))
        picture[inside] = light * np.where(solid[cells][..., None], colours(field[cells]), 24.0)
    return picture


def size(field):
    return even(field, 48)


def loss(field):
    """White where nothing is lost, red at 2, dark from 4 cells on."""
    stops = np.array([[255, 255, 255], [246, 190, 140], [214, 62, 40], [150, 16, 40], [72, 0, 40.0]])
    return np.stack([np.interp(field, range(5), each) for each in stops.T], axis=-1)


off = abs(lost[solid])
save(
    "thickness-of-pores.png",
    below(block(exact, size), size, range(0, 49, 12), f"Nearfield {nf.__version__}", "thickness, exact"),
    below(block(rounded, size), size, range(0, 49, 12), f"PoreSpy {porespy.__version__}", "thickness by integer radii"),
    below(
        block(lost, loss),
        loss,
        range(5),
        "lost by PoreSpy (4: or more)",
        f"mean {off.mean():.2f}, largest {off.max():.1f}",
    ),
)
