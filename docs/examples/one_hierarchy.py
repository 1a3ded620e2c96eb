"""One hierarchy, three cuts

`nf.watershed_hierarchy` keeps the basins of an image and the passes between them. Each cut merges regions of the one
before: here by volume, the water that a region's lake holds when it meets a larger one. The first panel is the
landscape, lit from above the left corner.
"""

import numpy as np
from picture import PAPER, edges, save, tints
from PIL import Image

import nearfield as nf

n = 200
frequency = np.hypot(np.fft.fftfreq(n)[:, None], np.fft.rfftfreq(n))
waves = np.fft.rfft2(np.random.default_rng(8).standard_normal((n, n)))
land = np.fft.irfft2(waves * np.exp(-((1.4 * np.pi * 6 * frequency) ** 2)) * (frequency + 0.01) ** -0.8, (n, n))
land = (1000 * (land - land.min()) / np.ptp(land)).astype(np.uint16)

rise, run = np.gradient(land / 30.0)
light = ((0.8 - 0.45 * rise - 0.45 * run) / np.sqrt(1 + rise**2 + run**2)).clip(0, 1)[..., None]
panels = [PAPER * light]
kept = nf.watershed_hierarchy(land, connectivity=2)
for regions in (150, 40, 10):
    labels = kept.cut(regions=regions, by="volume")
    panels.append(edges(tints(labels) * (0.45 + 0.55 * light), labels))
few = [Image.fromarray(each.clip(0, 255).astype(np.uint8)).quantize(32).convert("RGB") for each in panels]
save("one-hierarchy.png", *map(np.asarray, few))
