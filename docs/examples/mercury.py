"""Mercury enters a porous rock

`nf.porosimetry` tells the largest ball that comes from the left side to each cell of the pores. Six sizes of it, as the
pressure grows: chambers behind a narrow throat fill late, however wide they are.
"""

import numpy as np
from picture import save

import nearfield as nf

shape = (190, 300)
waves = np.fft.rfft2(np.random.default_rng(76).standard_normal(shape))
k2 = np.add.outer(np.fft.fftfreq(shape[0]) ** 2, np.fft.rfftfreq(shape[1]) ** 2)
soft = np.fft.irfft2(waves * np.exp(-2 * np.pi**2 * 4.5**2 * k2), shape)
pores = soft > np.quantile(soft, 0.36)
inlets = np.zeros(shape, bool)
inlets[:, 0] = True

sizes = [16, 12, 11, 10, 7, 5]
reached = nf.porosimetry(pores, inlets, sizes[::-1])
frames = []
for size in sizes:
    rgb = np.where(pores[..., None], [238.0, 236, 230], [120.0, 104, 92])
    depth = np.clip(nf.distance_transform(reached >= size) / 7, 0, 1)[..., None]
    frames.append(np.where((reached >= size)[..., None], (1 - depth) * [40, 66, 110] + depth * [150, 178, 214], rgb))
save("mercury.png", *frames, columns=3)
