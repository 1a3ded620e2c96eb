"""Pores and throats of a porous image

`nf.pore_network` finds the pores, the throats between them, and their sizes: discs are the largest that fit into each
pore, bars a third as wide as the ball that passes, and colours what belongs to which pore.
"""

import numpy as np
from picture import edges, save, tints

import nearfield as nf

shape = (330, 520)
waves = np.fft.rfft2(np.random.default_rng(31).standard_normal(shape))
k2 = np.add.outer(np.fft.fftfreq(shape[0]) ** 2, np.fft.rfftfreq(shape[1]) ** 2)
soft = np.fft.irfft2(waves * np.exp(-2 * np.pi**2 * 9**2 * k2), shape)
pores = soft > np.quantile(soft, 0.42)

network = nf.pore_network(pores, h=1.5)
rgb = edges(0.45 * tints(network.regions) + 0.55 * 250, network.regions, (255, 255, 255), 0.9)
rgb = np.where(pores[..., None], rgb, [92.0, 88, 84])
row, column = np.indices(shape)


def paint(rgb, off, colour):
    """Where a distance is below 0, with a soft edge."""
    cover = np.clip(0.5 - off, 0, 1)[..., None]
    return rgb * (1 - cover) + cover * np.asarray(colour, float)


at = network["pore.coords"]
for (a, b), pass_, wide in zip(
    network["throat.conns"], network["throat.global_peak"], network["throat.inscribed_diameter"]
):
    for end in (at[a], at[b]):
        along = pass_ - end
        share = ((row - end[0]) * along[0] + (column - end[1]) * along[1]) / max(along @ along, 1)
        share = np.clip(share, 0, 1)
        far = np.hypot(row - end[0] - share * along[0], column - end[1] - share * along[1])
        rgb = paint(rgb, far - wide / 6, [34, 84, 156])
for centre, wide in zip(at, network["pore.inscribed_diameter"]):
    far = np.hypot(row - centre[0], column - centre[1])
    rgb = paint(rgb, np.abs(far - wide / 2) - 0.8, [34, 84, 156])
    rgb = paint(rgb, far - 3.5, [176, 52, 36])
save("pore-network.png", rgb)
