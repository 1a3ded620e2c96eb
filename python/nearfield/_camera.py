"""Cameras."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, tan
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._request import Request, Spacing, count_of, items_of, length_of, not_taken, spacing_of

Triple = Sequence[float]


@dataclass(frozen=True)
class Camera:
    """Position and view of a camera, in units of the spacing, in array order, from the centre of cell 0."""

    eye: Triple
    target: Triple
    up: Triple = (1.0, 0.0, 0.0)
    field_of_view: float = 30.0  #: from the lower to the upper edge, in degrees

    @classmethod
    def fit(
        cls,
        shape: Sequence[int],
        *,
        spacing: Spacing = None,
        turn: float = 35.0,
        elevation: float = 25.0,
        aspect: float = 1.0,
    ) -> Camera:
        """Places a camera so that a whole volume fits its picture, which is `aspect` times as wide as high.

        The first axis points up. The camera looks along the second axis from its far end. It is turned `turn` degrees
        round the first axis towards the far end of the last one, and raised by `elevation` degrees.
        """
        sides = [count_of("shape", each, 0) for each in shape]
        request = Request((), spacing_of(spacing, len(sides), 0))
        angles = length_of("turn", turn), length_of("elevation", elevation), length_of("aspect", aspect)
        n = _core.camera_for(sides, request.options(), *angles)
        return cls(tuple(n[:3]), tuple(n[3:6]), tuple(n[6:9]), n[9])

    def rays(self, width: int, height: int, *, spacing: Spacing = None) -> tuple[Any, Any]:
        """Origins and directions, in cells, of the rays through a picture's pixels, row by row, for `raycast`.

        Directions have length 1 in units of the spacing, so that ``entry`` is the distance from the eye.
        """
        columns, rows = count_of("width", width, 1), count_of("height", height, 1)
        cell = np.broadcast_to(np.asarray(spacing_of(spacing, 3, 0) or 1.0, "float64"), 3)
        eye = np.asarray(self.eye, "float64")
        # The steps of the library's own rays (src/render/entry.cpp), for the same bits.
        forward = _unit(np.asarray(self.target, "float64") - eye)
        right = _unit(_cross(forward, np.asarray(self.up, "float64")))
        pixel = 2 * tan(self.field_of_view * pi / 360) / rows
        v, u = np.arange(rows)[:, None, None] + 0.5 - rows / 2, np.arange(columns)[:, None] + 0.5 - columns / 2
        towards = _unit(forward + (u * (pixel * right) + v * (-pixel * _cross(right, forward))))
        return np.tile(eye / cell, (rows * columns, 1)), towards.reshape(-1, 3) / cell


def _cross(a: Any, b: Any) -> Any:
    """The cross product of vectors whose components come as z, y, x."""
    (az, ay, ax), (bz, by, bx) = a, b
    return np.array([ax * by - ay * bx, az * bx - ax * bz, ay * bz - az * by])


def _unit(v: Any) -> Any:
    length = np.sqrt(v[..., 0] * v[..., 0] + v[..., 1] * v[..., 1] + v[..., 2] * v[..., 2])
    return (1 / length)[..., None] * v


def view_of(camera: Camera) -> list[float]:
    """The numbers of a camera, as the library takes them."""
    places = [*triple_of("camera", camera.eye), *triple_of("camera", camera.target), *triple_of("camera", camera.up)]
    return [*places, length_of("camera", camera.field_of_view)]


def triple_of(name: str, value: Any) -> list[float]:
    """Checks three numbers."""
    each = items_of(value)
    if each is None or len(each) != 3:
        raise not_taken(name, value, "3 numbers")
    return [length_of(name, one) for one in each]
