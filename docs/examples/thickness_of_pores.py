"""How thick is it everywhere?

Three faces of a porous block: the diameter of the largest ball over every cell by `nf.local_thickness`, the same by
openings with balls of integer radius only, and what those lose: up to a whole step where a wall falls between two
radii.
"""

import numpy as np
from picture import PAPER, even, save, two_sided

import nearfield as nf

n = 144
waves = np.fft.rfftn(np.random.default_rng(5).standard_normal((n, n, n)))
k2 = sum(np.meshgrid(np.fft.fftfreq(n) ** 2, np.fft.fftfreq(n) ** 2, np.fft.rfftfreq(n) ** 2, indexing="ij"))
soft = np.fft.irfftn(waves * np.exp(-2 * np.pi**2 * 5.0**2 * k2), (n, n, n), (0, 1, 2))
solid = soft > np.quantile(soft, 0.45)

exact = nf.local_thickness(solid, border="periodic")
away = nf.distance_transform(solid, border="periodic", dtype="float64")
rough = np.zeros(solid.shape)
for radius in range(1, int(away.max()) + 1):
    rough[nf.distance_transform(away >= radius, sites="nonzero", border="periodic") < radius] = 2 * radius


def block(rgb_of):
    """The top and two sides of a block, seen from above a corner."""
    y, x = np.mgrid[0 : 2 * n, -int(0.86 * n) : int(0.86 * n)].astype(float)
    u, v, z = y + 0.577 * x, y - 0.577 * x, y - n + 0.577 * abs(x)
    picture = np.broadcast_to(PAPER, (*y.shape, 3)).copy()
    for cell, face, light in (
        ((0 * y, v, u), z < 0, 1.0),
        ((z, 0 * y + n - 1, n + 1.155 * x), (z >= 0) & (x < 0), 0.8),
        ((z, n - 1 - 1.15 * x, 0 * y + n - 1), (z >= 0) & (x >= 0), 0.62),
    ):
        at = np.stack(cell)
        inside = face & ((at >= 0) & (at < n)).all(0)
        picture[inside] = light * rgb_of(tuple(at[:, inside].astype(int)))
    return picture


def by_size(field):
    return lambda cell: np.where(solid[cell][..., None], even(field[cell], exact.max()), 24.0)


def lost(cell):
    return np.where(solid[cell][..., None], two_sided((exact - rough)[cell], 2.5), 24.0)


save("thickness-of-pores.png", block(by_size(exact)), block(by_size(rough)), block(lost))
