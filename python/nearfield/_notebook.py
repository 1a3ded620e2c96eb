"""Arrays in notebooks: after ``%load_ext nearfield``, NumPy's arrays show a picture beside their shape and type."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape
from typing import Any

import numpy as np

Pixels = np.ndarray[Any, Any]
LEAST, MOST = 16, 256  # rows and columns of a picture; smaller arrays are shown as text, larger ones leave cells out


def load(shell: Any) -> None:
    shell.display_formatter.formatters["text/html"].for_type(np.ndarray, html_of_array)


def html_of_array(array: Pixels) -> str | None:
    """Facts and a picture of an array, or of the middle plane of its last two axes; None leaves it to its own text."""
    if array.ndim < 2 or min(array.shape) == 0 or min(array.shape[-2:]) < LEAST or array.dtype.kind not in "biuf":
        return None
    middle = tuple(length // 2 for length in array.shape[:-2])
    step = -(-max(array.shape[-2:]) // MOST)
    plane = array[middle][::step, ::step]
    seen = plane[np.isfinite(plane)]
    values = f"{seen.min()} to {seen.max()}" if seen.size else "none finite"
    where = f", plane {', '.join(map(str, middle))}" if middle else ""
    facts = f"{' x '.join(map(str, array.shape))} {array.dtype}, {array.nbytes / 2**20:.1f} MiB; shown{where}: {values}"
    picture = base64.b64encode(png_of(colours_of(plane, seen))).decode()
    return f'<p>{escape(facts)}</p><img src="data:image/png;base64,{picture}"/>'


def colours_of(plane: Pixels, seen: Pixels) -> Pixels:
    """Bytes of red, green and blue: a colour for each label (int32, int64), else gray from least to largest value."""
    if plane.dtype in (np.int32, np.int64):
        mixed = plane.astype(np.uint32) * np.uint32(2654435769)
        colours = np.stack([mixed >> shift for shift in (24, 16, 8)], axis=-1).astype(np.uint8) | np.uint8(64)
        return np.where(plane[..., None] == 0, np.uint8(0), colours)
    least, largest = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 0.0)
    share = (np.nan_to_num(plane.astype(np.float64), posinf=largest, neginf=least) - least) / (largest - least or 1.0)
    return np.repeat((255 * share.clip(0, 1)).astype(np.uint8)[..., None], 3, axis=-1)


def png_of(pixels: Pixels) -> bytes:
    """A PNG file of rows of red, green and blue bytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width = pixels.shape[:2]
    rows = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0)))  # each begins with its filter: none
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")
