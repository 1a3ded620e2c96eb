"""Occupancy maps of ROS."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._request import items_of, length_of, said


@dataclass(frozen=True, eq=False)
class OccupancyMap:
    """A map as a costmap: its `costs` are what `inflate_costmap`, `esdf` and `plan_path` take."""

    #: uint8, (rows, columns), the upper end of the map first: 254 occupied, 0 free, 255 unknown; raw: its bytes.
    costs: np.ndarray[Any, Any]
    resolution: float  #: length of a cell in metres
    origin: tuple[float, float, float]  #: x and y of the lower left corner in metres, and the map's rotation


def read_map(path: str | os.PathLike[str]) -> OccupancyMap:
    """Read a map of ROS: a ``map.yaml`` in mode trinary, scale or raw, or its PGM image alone.

    Parameters
    ----------
    path : str or path
        A ``.yaml`` file, beside which its image lies, or a binary PGM image of 8 bits. An image alone has the defaults
        of map_server: 0.05 m a cell, occupied above 65 %, free below 19.6 %, white is free.

    Returns
    -------
    OccupancyMap
        `costs`, `resolution` and `origin`.

    Examples
    --------
    >>> import nearfield as nf
    >>> import numpy as np
    >>> nf.write_map("costs.yaml", np.array([[254, 0, 255]], np.uint8), resolution=0.1)
    >>> nf.read_map("costs.yaml").costs
    array([[254,   0, 255]], dtype=uint8)
    """
    costs, rows, columns, resolution, origin = _core.read_map(_name_of(path))
    x, y, turn = origin
    return OccupancyMap(np.frombuffer(bytearray(costs), np.uint8).reshape(rows, columns), resolution, (x, y, turn))


def write_map(
    path: str | os.PathLike[str], costs: Any, *, resolution: float = 0.05, origin: Any = (0.0, 0.0, 0.0)
) -> None:
    """Write a costmap as a map of ROS in mode raw: a ``.yaml`` file, and a PGM image beside it.

    Parameters
    ----------
    path : str or path
        Name of the ``.yaml`` file; the image gets the same name.
    costs : array of two axes, uint8
        A byte for each cell, the upper end of the map first.
    resolution : float
        Length of a cell in metres.
    origin : sequence of three numbers
        x and y of the lower left corner in metres, and the map's rotation.
    """
    image = np.ascontiguousarray(costs)
    size = length_of("resolution", resolution)
    if not 0 < size < float("inf"):
        raise ValueError(f"resolution is {said(resolution)}; give the length of a cell, above 0")
    if image.ndim != 2 or image.dtype != np.uint8:
        raise TypeError(f"costs has {image.ndim} axes of {image.dtype}; give 2 axes of uint8")
    place = [length_of("origin", each) for each in items_of(origin) or []]
    if len(place) != 3:
        raise ValueError(f"origin is {said(origin)}; give three numbers: x, y and the rotation")
    rows, columns = image.shape
    _core.write_map(_name_of(path), image.tobytes(), rows, columns, size, place)


def _name_of(path: Any) -> str:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path is {said(path)}; give the name of a file")
    name = os.fspath(path)
    return name if isinstance(name, str) else os.fsdecode(name)
