"""Georeferences of TIFF: where a raster lies, how large its cells are, and which value stands for no data.

Ritter, Ruth, "GeoTIFF format specification", revision 1.0, 2000; GDAL's tag for no data.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

_SCALE, _MATRIX, _KEYS, _NO_DATA = 33550, 34264, 34735, 42113
_PLACE = (_SCALE, 33922, _MATRIX, _KEYS, 34736, 34737)  # with the tie points, and numbers and words of keys
_MODEL, _UNIT = 1024, 3076  # keys
_PROJECTED, _GEOGRAPHIC = 1, 2
_UNITS = {9001: "m", 9002: "ft", 9003: "US survey ft"}
_ASCII = 2  # a type of tags


class Place(NamedTuple):
    """What a file says of its place."""

    tags: tuple[Any, ...] = ()  #: as tifffile writes them
    lengths: tuple[float, float] | None = None  #: of a cell along y and x, of a raster that is projected
    unit: str = ""  #: of these; else why there are none
    none: float | None = None  #: value of cells without data

    def spacing(self, axes: str) -> tuple[float, ...] | None:
        """One length an axis, by tifffile's letters; None where the file does not say."""
        if self.lengths is None:
            return None
        return tuple(dict(zip("YX", self.lengths)).get(axis, 1.0) for axis in axes)

    def tags_of(self, field: str, dtype: Any) -> list[Any]:
        """Tags of an answer: distances of cells without a site are marked as no data."""
        made = list(self.tags)
        if made and field == "distance" and np.dtype(dtype).kind == "f":
            made.append((_NO_DATA, _ASCII, 0, "inf", True))
        return made


def place_of(page: Any) -> Place:
    """The place of a page of tifffile."""
    tags = [page.tags[code] for code in _PLACE if code in page.tags]
    kept = tuple((tag.code, int(tag.dtype), tag.count, tag.value, True) for tag in tags)
    values = {tag.code: np.ravel(tag.value).tolist() for tag in tags if not isinstance(tag.value, str | bytes)}
    unit = _unit(values.get(_KEYS, [])) if tags else ""
    none = page.tags[_NO_DATA].value if _NO_DATA in page.tags else None
    return Place(kept, _lengths(values) if unit in _UNITS.values() else None, unit, _number(none))


def _lengths(values: dict[int, list[Any]]) -> tuple[float, float] | None:
    scale, matrix = values.get(_SCALE, []), values.get(_MATRIX, [])
    if len(scale) >= 2:
        x, y = scale[:2]
    elif len(matrix) == 16:  # axes that are turned, though not skewed
        (a, b), (c, d) = matrix[:2], matrix[4:6]
        x, y = math.hypot(a, c), math.hypot(b, d)
        if not abs(a * b + c * d) <= 1e-9 * x * y:
            return None
    else:
        return None
    return (float(y), float(x)) if 0 < x < math.inf and 0 < y < math.inf else None


def _unit(keys: list[Any]) -> str:
    """The unit of lengths, or why there is none."""
    entries = (keys[at : at + 4] for at in range(4, len(keys) - 3, 4))
    known = {key: value for key, where, _, value in entries if where == 0}
    if known.get(_MODEL) == _GEOGRAPHIC:
        return "in degrees"
    if known.get(_MODEL) != _PROJECTED:
        return "of no known projection"
    return _UNITS.get(known.get(_UNIT, 0), "in a unit that it does not name")


def _number(text: Any) -> float | None:
    try:
        return float(str(text).strip(" \0"))
    except ValueError:
        return None
