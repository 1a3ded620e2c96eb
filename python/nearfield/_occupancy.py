"""Which cells of an occupancy grid are obstacles."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from nearfield._geodesic import on_host_only
from nearfield._request import word_of
from nearfield._workplace import Workplace

Unknown = Literal["obstacle", "free"]


def obstacles_of(name: str, function: str, occupancy: Any, unknown: Unknown, device: str | None) -> Workplace:
    """The grid as NumPy's bool where it has unknown cells: negative values and NaN, as -1 in ROS. Else as it came."""
    free = word_of("unknown", unknown, ("obstacle", "free")) == "free"
    work = Workplace(name, occupancy)
    on_host_only(function, work, device)
    if work.dtype.startswith("float"):
        values = np.asarray(work.array)
        return Workplace(name, (values > 0) if free else (values > 0) | (values < 0) | np.isnan(values))
    if free and work.dtype.startswith("int"):
        return Workplace(name, np.asarray(work.array) > 0)
    return work
