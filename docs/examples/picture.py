"""What the examples share: colours for fields and labels, lines of equal value, and a PNG of several panels."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

# Polynomials in t of red, green and blue, close to the table "viridis", which gets lighter evenly for the eye.
_EVEN = (
    (0.2777, 0.1051, -0.3309, -4.6342, 6.2283, 4.7764, -5.4355),
    (0.0054, 1.4046, 0.2148, -5.7991, 14.1799, -13.7451, 4.6459),
    (0.3341, 1.3846, 0.0951, -19.3324, 56.6906, -65.3530, 26.3124),
)
_WARM, _COLD = np.array([176, 52, 36.0]), np.array([34, 84, 156.0])
PAPER = np.array([246, 245, 241.0])


def even(field, high=None):
    """Colours from 0, dark, to `high` (the largest finite value), light; gray where there is none."""
    finite = np.isfinite(field)
    t = np.clip(np.where(finite, field, 0) / (high or field[finite].max()), 0, 1)
    rgb = 255 * np.stack([np.polynomial.polynomial.polyval(t, each) for each in _EVEN], axis=-1)
    return np.where(finite[..., None], rgb, 128.0).clip(0, 255)


def two_sided(field, high):
    """Blue below 0, red above, paler away from it."""
    t = np.clip(np.abs(field) / high, 0, 1)[..., None] ** 0.7
    return np.where(field[..., None] < 0, _COLD, _WARM) * (1 - t) + t * PAPER


def tints(labels, background=PAPER):
    """A colour for every label, neighbours in number far apart in hue; 0 is the background."""
    hue = (labels * 0.61803398875) % 1.0 * 6
    rgb = np.stack([np.abs((hue + turn) % 6 - 3) - 1 for turn in (0, 4, 2)], axis=-1).clip(0, 1)
    light = (0.62 + 0.16 * ((labels * 0.7548776662) % 1.0))[..., None]
    return np.where((labels == 0)[..., None], background, 255 * (light + (rgb - 0.5) * 0.42)).clip(0, 255)


def lines(rgb, field, step, colour=(255, 255, 255), width=1.1, strength=0.75):
    """Lines where the field is a multiple of `step`, as wide everywhere."""
    field = np.where(np.isfinite(field), field, 0).astype(float)
    slope = np.hypot(*np.gradient(field)) + 1e-6
    off = np.abs(field - step * np.round(field / step)) / slope
    alpha = strength * np.clip(width / 2 + 0.5 - off, 0, 1)[..., None]
    return rgb * (1 - alpha) + alpha * np.asarray(colour, float)


def edges(rgb, labels, colour=(40, 40, 40), strength=0.8):
    """A line between cells of different labels."""
    differ = np.zeros(labels.shape, bool)
    differ[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    differ[1:] |= labels[1:] != labels[:-1]
    return np.where(differ[..., None], rgb * (1 - strength) + strength * np.asarray(colour, float), rgb)


def below(panel, colours, ticks, *texts):
    """A panel with a bar of `colours`, a function of values, with numbers at the ticks, and lines of text below it."""
    height, width = panel.shape[:2]
    foot = np.broadcast_to(PAPER, (52 + 17 * len(texts), width, 3)).copy()
    foot[10:22, 30:-30] = colours(np.linspace(ticks[0], ticks[-1], width - 60))
    image = Image.fromarray(np.concatenate([panel, foot]).round().clip(0, 255).astype(np.uint8))
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(13)
    for tick in ticks:
        across = 30 + (width - 61) * (tick - ticks[0]) / (ticks[-1] - ticks[0])
        pen.line((across, height + 22, across, height + 25), fill=(60, 60, 60))
        pen.text((across, height + 27), f"{tick:g}", (60, 60, 60), font, "ma")
    for row, text in enumerate(texts):
        pen.text((width / 2, height + 49 + 17 * row), text, (30, 30, 30), font, "ma")
    return np.asarray(image)


def save(name, *panels, columns=None, gap=8):
    """Panels of one size side by side, `columns` a row, into the folder that the command line names."""
    columns = columns or len(panels)
    height, width = panels[0].shape[:2]
    rows = -(-len(panels) // columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for place, panel in enumerate(panels):
        y, x = place // columns * (height + gap), place % columns * (width + gap)
        sheet[y : y + height, x : x + width] = np.asarray(panel).round().clip(0, 255)
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.curdir)
    Image.fromarray(sheet).save(folder / name, optimize=True)
