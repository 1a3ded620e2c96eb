"""The slow oracle: every cell against every site, in Python integers or NumPy doubles.

Shares nothing with the library.
"""

import itertools

import numpy as np


def nearest(image, *, spacing=None, sites="zero", border="open"):
    """Squared distance (None without a site) and coordinates of the nearest site, by the contract's tie rule.

    For images without batch axes and for integral spacing.
    """
    spacing = (1,) * image.ndim if spacing is None else spacing
    border = (border,) * image.ndim if isinstance(border, str) else border
    found, where = np.empty(image.shape, object), np.empty(image.shape, object)
    cells = list(itertools.product(*map(range, image.shape)))
    for at in cells:
        if sites == "other_labels":
            others = [at] if image[at] == 0 else [c for c in cells if image[c] != image[at]]
        else:
            others = [c for c in cells if (image[c] != 0) == (sites == "nonzero")]
        keys = [(_squared(at, c, image.shape, spacing, border), c[::-1]) for c in others]
        best = min(keys, default=(None, None))
        beyond = _squared_to_border(at, image.shape, spacing, border)
        if beyond is not None and (best[0] is None or beyond < best[0]):
            best = (beyond, None)
        found[at], where[at] = best[0], None if best[1] is None else best[1][::-1]
    return found, where


def _squared(a, b, shape, spacing, border):
    away = [abs(p - q) for p, q in zip(a, b)]
    away = [min(d, n - d) if e == "periodic" else d for d, n, e in zip(away, shape, border)]
    return sum((d * s) ** 2 for d, s in zip(away, spacing))


def _squared_to_border(at, shape, spacing, border):
    """To the first cell beyond a closed end; None where all are open or periodic."""
    steps = zip(at, shape, spacing, border)
    return min(((min(a + 1, n - a) * s) ** 2 for a, n, s, e in steps if e == "closed"), default=None)
