"""Effects from signed distance fields: outlines, glow, shadows, bevels, contours, light; padding of textures.

A field from `nearfield.sdf` gives layers, float32 arrays of alpha; layers are painted on a canvas in one colour each. A
canvas holds linear light times alpha.

>>> import numpy as np, nearfield as nf
>>> field = nf.sdf(np.pad(np.ones((4, 6), bool), 8))
>>> canvas = nf.effects.canvas(field.shape, "#10131a")
>>> canvas = nf.effects.paint(canvas, nf.effects.glow(field, radius=8), "#ff2d95")
>>> canvas = nf.effects.paint(canvas, nf.effects.outline(field, inner=99, outer=0), "#ffffff")
>>> nf.effects.encode(canvas).shape
(20, 22, 4)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY
from nearfield._call import as_numpy
from nearfield._dispatch import workplace_of
from nearfield._request import (
    Border,
    Request,
    border_of,
    count_of,
    flag_of,
    length_of,
    max_distance_of,
    threads_of,
    word_of,
)
from nearfield._run_at import RunAt, filled, in_our_words

__all__ = [
    "bevel", "canvas", "contour", "decode", "encode", "glow", "halftone", "light", "outline", "pad", "paint", "shadow",
    "trail",
]  # fmt: skip

Side = Literal["outside", "inside"]
SIDES = ("outside", "inside")
BLENDS = ("over", "under", "add")
Canvas = np.ndarray[Any, np.dtype[np.float32]]

# ---- layers ----------------------------------------------------------------------------------------------------------
#
# Every layer takes `field`, a float32 array of 2 axes on the CPU or a GPU, positive inside. It also takes border
# ('open' or 'periodic', for layers that tile), out (a float32 array to fill), device and threads as `nearfield.sdf`.
# It returns a float32 array of the field's shape: alpha in [0, 1]. Lengths are in pixels.


def outline(field: Any, inner: float = 0.0, outer: float = 2.0, **where: Any) -> Any:
    """Draws a line along the outline, `inner` pixels to its inside and `outer` to its outside; large `inner` fills."""
    return _layer("outline", field, where, length_of("inner", inner), length_of("outer", outer))


def glow(field: Any, radius: float = 12.0, side: Side = "outside", power: int = 2, **where: Any) -> Any:
    """Makes ``t ** power``, t from 1 at the outline to 0 at `radius`. Outside it is 1 in the shape, inside 0 beside."""
    inside = SIDES.index(word_of("side", side, SIDES))
    return _layer("glow", field, where, length_of("radius", radius), inside, count_of("power", power, 1, 16))


def shadow(
    field: Any, down: float = 6.0, right: float = 6.0, blur: float = 6.0, spread: float = 0.0, **where: Any
) -> Any:
    """Draws the shape, `spread` pixels larger, moved, and blurred over `blur` pixels to each side of its outline."""
    lengths = {"down": down, "right": right, "blur": blur, "spread": spread}
    return _layer("shadow", field, where, *(length_of(name, value) for name, value in lengths.items()))


def bevel(
    field: Any, width: float = 8.0, azimuth: float = 135.0, elevation: float = 45.0, round: bool = True, **where: Any
) -> Any:
    """Brightness of an edge that rises by `width` pixels inwards, less that of a flat one: -1 to 1.

    The light comes from `azimuth` degrees, anticlockwise from the right, and `elevation` degrees above the plane. The
    edge is a quarter of a circle, or with ``round=False`` a slope of 45 degrees. Paint the layer twice: once for its
    bright sides, and with ``strength=-1`` for its dark ones.
    """
    numbers = {"width": width, "azimuth": azimuth, "elevation": elevation}
    angles = (length_of(name, value) for name, value in numbers.items())
    return _layer("bevel", field, where, *angles, flag_of("round", round))


def contour(field: Any, every: float = 8.0, width: float = 1.5, side: Side = "outside", **where: Any) -> Any:
    """Draws lines of equal distance, every `every` pixels, `width` wide, on one side of the outline."""
    inside = SIDES.index(word_of("side", side, SIDES))
    return _layer("contour", field, where, length_of("every", every), length_of("width", width), inside)


def trail(field: Any, down: float = 0.0, right: float = 24.0, **where: Any) -> Any:
    """Drags the shape towards (down, right): the layer is 1 in the shape and falls to 0 at the end."""
    return _layer("trail", field, where, length_of("down", down), length_of("right", right))


def light(field: Any, row: float, column: float, radius: float = 6.0, reach: float = 256.0, **where: Any) -> Any:
    """Lights up to `reach` from a lamp at (row, column); a larger `radius` of the lamp gives softer shadows."""
    numbers = {"row": row, "column": column, "radius": radius, "reach": reach}
    return _layer("light", field, where, *(length_of(name, value) for name, value in numbers.items()))


def halftone(tone: Any, pitch: float = 8.0, angle: float = 45.0, **where: Any) -> Any:
    """Draws round dots, `pitch` pixels apart on a turned square lattice, that cover the share given by `tone`.

    `tone` is no distance, but a float32 image in [0, 1] or another layer.
    """
    return _layer("halftone", tone, where, length_of("pitch", pitch), length_of("angle", angle))


def _layer(name: str, field: Any, where: dict[str, Any], *numbers: float) -> Any:
    for keyword in where:
        if keyword not in ("border", "out", "device", "threads"):
            raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")
    return _placed_layer(name, field, numbers, **where)


def _placed_layer(
    name: str,
    field: Any,
    numbers: Sequence[float],
    border: Border = "open",
    out: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any:
    work = workplace_of("field", field)
    request = Request((), border=border_of(border, len(work.shape), 0))
    slot = work.empty(work.shape, "float32") if out is None else work.given("out", out)
    place = RunAt(work, device, threads, None)

    def call(read: _core.Array, to: _core.Array) -> None:
        _core.effect(read, to, request.options(), name, [float(each) for each in numbers], *place.place())

    return filled(work, slot, place, call)


# ---- textures --------------------------------------------------------------------------------------------------------


def pad(
    image: Any,
    known: Any = None,
    *,
    radius: float | None = None,
    least: float = 0.0,
    border: Border = "open",
    out: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any:
    """Pads the islands of a texture: every unknown pixel gets the colour of the nearest known one.

    Parameters
    ----------
    image : array of shape (rows, columns, channels)
        uint8, uint16 or float32, with straight alpha. The last of 2 or 4 channels is alpha, which does not change.
    known : array of shape (rows, columns), optional
        Pixels that are not zero are known. Default: pixels whose alpha, as a share of full, is above `least`.
    radius : number, optional
        Largest distance to a known pixel, in pixels; farther pixels do not change. Default: no limit.
    border : {'open', 'periodic'} or one per axis
        Says what lies beyond the ends of an axis; 'periodic' is for textures that tile.
    out, device, threads
        As in `nearfield.sdf`.

    Returns
    -------
    array
        The padded texture, of type and shape of `image`. Among equally near pixels, the one with the smallest
        coordinates wins, compared from the last axis.
    """
    work = workplace_of("image", image)
    request = Request((), border=border_of(border, 2, 0))
    reach, lowest = max_distance_of(radius), length_of("least", least)
    slot = work.empty(work.shape, work.dtype) if out is None else work.given("out", out)
    place = RunAt(work, device, threads, None)
    if known is not None:
        seen = workplace_of("known", known)
        known = seen.array if seen.dtype in ("bool", "uint8") else seen.array != 0

    def call(read: _core.Array, to: _core.Array) -> None:
        mask = None if known is None else place.other("known", known)
        _core.pad(read, mask, to, request.options(), reach, lowest, *place.place())

    return filled(work, slot, place, call)


# ---- canvases --------------------------------------------------------------------------------------------------------


def canvas(shape: Sequence[int], colour: str = "#00000000") -> Canvas:
    """Makes an empty canvas, a float32 array of shape (rows, columns, 4): linear light times alpha, and alpha."""
    rows, columns = (count_of("shape", n, 0) for n in shape)
    made = np.zeros((rows, columns, 4), np.float32)
    return paint(made, np.ones((rows, columns), np.float32), colour)


def paint(
    canvas: Canvas,
    layer: Any,
    colour: str,
    *,
    strength: float = 1.0,
    blend: Literal["over", "under", "add"] = "over",
    threads: int | None = None,
) -> Canvas:
    """Paints a layer on a canvas, which it changes and returns.

    `colour` is sRGB, "#f80", "#ff8800" or with alpha "#ff8800cc". `strength` multiplies the layer; a negative one
    paints where the layer is negative. `blend` 'under' paints beneath the content, and 'add' adds light to it.
    """
    values = np.asarray(as_numpy(layer))
    if values.dtype != np.float32:
        values = values.astype(np.float32)
    if not isinstance(colour, str):
        raise TypeError(f"colour is of type {type(colour).__name__}; give a text such as '#ff8800'")
    how = BLENDS.index(word_of("blend", blend, BLENDS))
    to = NUMPY.describe("canvas", canvas, True)
    with in_our_words("canvas"):
        read = NUMPY.describe("layer", values, False)
        _core.paint(to, read, colour, length_of("strength", strength), how, threads_of(threads))
    return canvas


def decode(image: Any, *, threads: int | None = None) -> Canvas:
    """Makes a canvas from an sRGB image, uint8 or uint16: gray, gray and alpha, RGB or RGBA, with straight alpha."""
    values = np.ascontiguousarray(as_numpy(image) if hasattr(image, "__dlpack__") else NUMPY.array("image", image))
    values = values[..., None] if values.ndim == 2 else values
    made = np.empty((*values.shape[:2], 4), np.float32)
    with in_our_words("image"):
        read = NUMPY.describe("image", values, False)
        _core.decode(read, NUMPY.describe("canvas", made, True), threads_of(threads))
    return made


def encode(
    canvas: Canvas, *, alpha: bool = True, dtype: Literal["uint8", "uint16"] = "uint8", threads: int | None = None
) -> np.ndarray[Any, Any]:
    """Makes an sRGB image of a canvas: RGBA with straight alpha, or without `alpha` RGB over black."""
    channels = 4 if flag_of("alpha", alpha) else 3
    values = np.ascontiguousarray(as_numpy(canvas))
    made = np.empty((*values.shape[:2], channels), word_of("dtype", dtype, ("uint8", "uint16")))
    with in_our_words("canvas"):
        read = NUMPY.describe("canvas", values, False)
        _core.encode(read, NUMPY.describe("image", made, True), threads_of(threads))
    return made
