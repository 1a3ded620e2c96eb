"""Paths with clearance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._geodesic import on_host_only
from nearfield._occupancy import Unknown, obstacles_of
from nearfield._progress import Progress, callable_of
from nearfield._request import (
    Request,
    Spacing,
    check_flags,
    count_of,
    flag_of,
    length_of,
    said,
    spacing_of,
    threads_of,
    word_of,
)
from nearfield._workplace import keywords_named

_OBJECTIVES = ("shortest", "safe", "widest")


@dataclass(frozen=True, eq=False)
class Path:
    """A path, or why there is none: then `cells` is empty and `length` infinite."""

    cells: np.ndarray[Any, Any]  #: (n, axes) int64, from the start to the goal; smooth: ends of straight lines
    length: float  #: of the lines between the centres of cells, in units of the spacing
    clearance: float  #: least distance to an obstacle, over the cells that the path touches
    cost: int  #: of its steps: length (safe: times 32) in 1/4096 of the shortest side of a cell
    reason: str  #: 'found', or why there is none
    goal: int  #: number of the goal that it leads to; -1: none
    start_component: int  #: where not connected: of free cells joined by faces, from 1 in raster order; else 0
    goal_components: tuple[int, ...]  #: where not connected: of each goal; 0 where that is blocked

    def __bool__(self) -> bool:
        """Whether there is a path."""
        return self.goal >= 0


def plan_path(
    obstacles: Any,
    start: Any,
    goals: Any,
    *,
    radius: float = 0,
    spacing: Spacing = None,
    objective: Literal["shortest", "safe", "widest"] = "shortest",
    clearance_weight: float = 4,
    clearance_decay: float | None = None,
    unknown: Unknown = "obstacle",
    connectivity: int | None = None,
    smooth: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """The best path for a round robot from a start to the nearest of the goals.

    Parameters
    ----------
    obstacles : array of 1 to 8 axes
        What is not zero is an obstacle. Negative values and NaN are unknown, as -1 in ROS.
    start : coordinates, or rows of coordinates
        A cell; or several, ``(n, axes)``, for a list of paths.
    goals : coordinates, or rows of coordinates
    radius : float
        Of the robot: a cell is free where its exact clearance, the distance to the nearest obstacle, is larger.
    spacing : float or sequence, optional
        Size of a cell along each axis.
    objective : {'shortest', 'safe', 'widest'}
        Least length; least length times a price that grows near obstacles; or the largest least clearance, and of such
        paths the shortest.
    clearance_weight, clearance_decay : float
        Of 'safe': a unit of length costs ``1 + weight * exp(-(clearance - radius) / decay)``. Default decay: 8 times
        the shortest side of a cell.
    unknown : {'obstacle', 'free'}
    connectivity : int, optional
        How many coordinates a step may change; default all of them. No step passes between two obstacles that touch at
        a corner, nor round a corner that the line touches.
    smooth : bool
        Replace parts of the path by straight lines that touch free cells only (for 'safe' and 'widest': with no less
        clearance than the part).
    device : {'cpu'}
        There is no GPU code yet: arrays on a GPU are refused.
    threads, progress
        As in `distance_transform`.

    Returns
    -------
    Path, or a list of them

    Examples
    --------
    >>> import nearfield as nf
    >>> found = nf.plan_path([[0, 0, 0], [1, 1, 0], [0, 0, 0]], (0, 0), (2, 0))
    >>> found.cells.tolist(), found.length
    ([[0, 0], [0, 1], [0, 2], [1, 2], [2, 2], [2, 1], [2, 0]], 6.0)
    >>> nf.plan_path([0, 0, 1, 0], [0], [3]).reason
    'not connected: the start is in component 1 of the free cells, the goals are in 2'
    """
    check_flags(smooth=smooth)
    work = obstacles_of("obstacles", obstacles, unknown)
    on_host_only("plan_path", work, device)
    axes = len(work.shape)
    starts, several = _cells("start", start, work.shape)
    ends, _ = _cells("goals", goals, work.shape)
    which = _OBJECTIVES.index(word_of("objective", objective, _OBJECTIVES))
    decay = 0.0 if clearance_decay is None else length_of("clearance_decay", clearance_decay)
    steps = axes if connectivity is None else count_of("connectivity", connectivity, 1, 8)
    grid = Request((), spacing_of(spacing, axes, 0)).options()
    size, weight = length_of("radius", radius), length_of("clearance_weight", clearance_weight)
    with keywords_named("obstacles"):
        rows = _core.plan_path(
            work.described(), starts, ends, grid, size, which, steps, weight, decay,
            flag_of("smooth", smooth), threads_of(threads), callable_of(progress),
        )  # fmt: skip
    paths = []
    for cells, length, clearance, cost, _, reason, goal, own, others in rows:
        made = np.asarray(cells, np.int64).reshape(-1, axes)
        paths.append(Path(made, length, clearance, cost, reason, goal, own, tuple(others)))
    return paths if several else paths[0]


def _cells(name: str, given: Any, shape: tuple[int, ...]) -> tuple[list[int], bool]:
    """Coordinates one after the other, and whether they came as rows."""
    try:
        rows = np.asarray(given)
    except ValueError:
        rows = np.asarray(None)
    axes = len(shape)
    if rows.dtype.kind not in "iu" or rows.ndim not in (1, 2) or rows.shape[-1] != axes or not rows.size:
        raise ValueError(f"{name} is {said(given)}; give {axes} coordinates of a cell of obstacles, or rows of them")
    if ((rows < 0) | (rows >= np.asarray(shape))).any():
        raise ValueError(f"{name} is {said(given)}; give cells of obstacles, whose shape is {shape}")
    return [int(x) for x in rows.ravel()], rows.ndim == 2
