"""Finds the obstacles of an occupancy grid."""

from __future__ import annotations

from typing import Any, Literal

from nearfield._dispatch import workplace_of
from nearfield._map import OccupancyMap
from nearfield._request import word_of
from nearfield._workplace import Workplace

Unknown = Literal["obstacle", "free"]


def obstacles_of(name: str, occupancy: Any, unknown: Unknown) -> Workplace:
    """Returns the grid as bool if it can hold unknown cells (negative values and NaN, as -1 in ROS), else unchanged."""
    free = word_of("unknown", unknown, ("obstacle", "free")) == "free"
    if isinstance(occupancy, OccupancyMap):
        raise TypeError(f"{name} is a map; give its costs, and its resolution as spacing")
    work = workplace_of(name, occupancy)
    values = work.array
    if work.dtype.startswith("float"):
        return workplace_of(name, (values > 0) if free else (values > 0) | (values < 0) | (values != values))
    if free and work.dtype.startswith("int"):
        return workplace_of(name, values > 0)
    return work
