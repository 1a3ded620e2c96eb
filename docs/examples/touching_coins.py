"""Coins that touch, counted

scikit-image's sample, outlined by a watershed of its gradient and grown until coins touch. Left: the mask, and how many
components it has. Right: what `nf.split` makes of it with its defaults: a label for each of the 24 coins.
"""

import numpy as np
from picture import edges, save, tints
from PIL import Image, ImageDraw
from skimage import data, filters

import nearfield as nf

coins = data.coins()
seeds = np.where(coins < 30, 1, np.where(coins > 150, 2, 0)).astype(np.uint8)
outlined = nf.remove_small(nf.fill_holes(nf.watershed(filters.sobel(coins), seeds) == 2), 20)
mask = nf.dilation(outlined, 8)
assert nf.split(outlined).max() == nf.split(mask).max() == 24


def counted(labels):
    """The labels over the photograph, and their number."""
    gray = np.repeat(coins[..., None], 3, axis=-1).astype(float)
    rgb = np.where((labels > 0)[..., None], 0.5 * tints(labels) + 0.5 * gray, gray)
    picture = Image.fromarray(edges(rgb, labels, (255, 255, 255)).astype(np.uint8))
    ImageDraw.Draw(picture).text((picture.width - 26, 4), str(labels.max()), fill="white", font_size=18)
    return np.asarray(picture.quantize(26).convert("RGB"), float)


save("touching-coins.png", counted(nf.label(mask)), counted(nf.split(mask)))
