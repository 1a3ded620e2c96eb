"""Paths with clearance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NoReturn

import numpy as np

from nearfield import _core
from nearfield._granulometry import array_of
from nearfield._occupancy import Unknown, obstacles_of
from nearfield._progress import Progress
from nearfield._request import (
    Border,
    Request,
    Spacing,
    border_of,
    check_flags,
    count_of,
    flag_of,
    length_of,
    said,
    spacing_of,
    word_of,
)
from nearfield._run_at import RunAt
from nearfield._workplace import keywords_named

_OBJECTIVES = ("shortest", "safe", "widest")


@dataclass(frozen=True, eq=False)
class Path:
    """A path; if there is none, `reason` says why, `cells` is empty and `length` infinite."""

    #: (n, axes) int64, from the start to the goal; of a smooth path, ends of straight lines. Along periodic axes they
    #: continue beyond the ends.
    cells: np.ndarray[Any, Any]
    length: float  #: length of the lines between the centres of cells, in units of the spacing
    clearance: float  #: least distance to an obstacle, over the cells that the path touches
    cost: int  #: cost of the steps: length (safe: times 32) in 1/4096 of the shortest side of a cell
    reason: str  #: 'found', or why there is no path
    goal: int  #: number of the goal that it reaches; -1 if none
    start_component: int  #: if not connected: number of the free component, joined by faces, from 1 in raster order
    goal_components: tuple[int, ...]  #: if not connected: component of each goal; 0 for a blocked one

    def __bool__(self) -> bool:
        """Says whether there is a path."""
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
    clearance_costs: Any = None,
    unknown: Unknown = "obstacle",
    border: Border = "open",
    connectivity: int | None = None,
    smooth: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Finds the best path for a round robot from a start to the nearest of the goals.

    Parameters
    ----------
    obstacles : array of 1 to 8 axes, on the CPU or a GPU
        Cells that are not zero are obstacles. Negative values and NaN are unknown, as -1 in ROS.
    start : coordinates, or rows of coordinates
        A cell; or several, ``(n, axes)``, for a list of paths.
    goals : coordinates, or rows of coordinates
        Cells to reach; the path leads to the best one.
    radius : float
        Radius of the robot, in units of `spacing`: a cell is free if its exact clearance, the distance to the nearest
        obstacle, is larger. Default: 0.
    spacing : float or sequence, optional
        Length of a cell along each axis. Default: 1.
    objective : {'shortest', 'safe', 'widest'}
        Quantity to optimise. 'shortest': least length. 'safe': least length times a price that grows near obstacles.
        'widest': largest least clearance, and the shortest of such paths.
    clearance_weight, clearance_decay : float
        Price of 'safe': a unit of length costs ``1 + weight * exp(-(clearance - radius) / decay)``. Default decay: 8
        times the shortest side of a cell.
    clearance_costs : rows of (clearance, cost), optional
        Table for 'safe' instead of that formula, by rising clearance: a unit of length costs ``cost`` in a cell whose
        clearance is at most ``clearance``, by the first row that it fits, and 1 beyond the last row. Costs are 1/16 to
        1024, rounded to multiples of 1/16, and need not fall: a cost below 1 attracts paths. `nav2_clearance_costs`
        makes the table of a costmap of nav2.
    unknown : {'obstacle', 'free'}
        Says what unknown cells count as. Default: 'obstacle'.
    border : {'open', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis. Periodic axes continue at their other end, for clearances and for
        steps. Coordinates of a path continue beyond the end: ``path.cells % shape`` are cells.
    connectivity : int, optional
        Number of coordinates that a step may change. Default: all of them. No step passes between two obstacles that
        touch at a corner, nor round a corner that the line touches.
    smooth : bool
        Replace parts of the path by straight lines that touch only free cells (for 'safe' and 'widest': with no less
        clearance than the part).
    device, threads, progress
        As in `distance_transform`. A GPU computes distances and costs; the call waits for them, fetches the parts
        that paths lead through, and traces these on the CPU.

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
    where = RunAt(work, device, threads, progress)
    axes = len(work.shape)
    starts, several = _cells("start", start, work.shape)
    ends, _ = _cells("goals", goals, work.shape)
    which = _OBJECTIVES.index(word_of("objective", objective, _OBJECTIVES))
    decay = 0.0 if clearance_decay is None else length_of("clearance_decay", clearance_decay)
    steps = axes if connectivity is None else count_of("connectivity", connectivity, 1, axes)
    grid = Request((), spacing_of(spacing, axes, 0), border=border_of(border, axes, 0)).options()
    costs = [] if clearance_costs is None else _rows_of_costs(clearance_costs)
    size, weight = length_of("radius", radius), length_of("clearance_weight", clearance_weight)
    with keywords_named("obstacles"):
        rows = _core.plan_path(
            where.read(), starts, ends, grid, size, which, steps, weight, decay, costs, flag_of("smooth", smooth),
            *where.place(),
        )  # fmt: skip
    work.finish()
    paths = [_path_of(row, axes) for row in rows]
    return paths if several else paths[0]


def nav2_clearance_costs(
    inscribed_radius: float = 0.1,
    inflation_radius: float = 0.55,
    cost_scaling_factor: float = 10.0,
    *,
    resolution: float = 0.05,
    weight: float = 4,
) -> np.ndarray[Any, Any]:
    """Table by which nav2's planners weigh an inflated costmap, for ``plan_path(..., clearance_costs=)``.

    Parameters
    ----------
    inscribed_radius, inflation_radius, cost_scaling_factor, resolution : float
        As in `inflate_costmap`. Give the `resolution` to `plan_path` as its `spacing`.
    weight : float
        Cost of nav2's highest byte. Default: 4, about that of NavFn; that of the Smac 2-D planner is its parameter
        ``cost_travel_multiplier``.

    Returns
    -------
    array of float64, shape (n, 2)
        Clearances, and costs of a unit of length up to there: ``1 + weight * byte / 252``, where `inflate_costmap`
        writes ``byte`` (252 within the inscribed radius, where only a smaller `radius` lets a robot go).

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.nav2_clearance_costs(0.2, 0.3, 0).tolist()
    [[0.30000000000000004, 5.0]]
    """
    lengths = {"resolution": resolution, "inscribed_radius": inscribed_radius, "inflation_radius": inflation_radius}
    numbers = {**lengths, "cost_scaling_factor": cost_scaling_factor, "weight": weight}
    return np.asarray(_core.nav2_clearance_costs(*(length_of(*each) for each in numbers.items())), np.float64)


class Roadmap:
    """The skeleton of free space as a graph, on which paths take microseconds to find. `roadmap` makes it.

    Attributes
    ----------
    nodes : array of int64, shape (nodes, axes)
        Cells where roads meet or end; a ring has one.
    radii : array of float64
        Clearance of each node.
    edges : array of int64, shape (roads, 2)
        Numbers of the nodes at both ends of each road.
    lengths, clearances : array of float64
        Length of each road, along the lines between its cells, in units of the spacing; and its least clearance.
    roads : list of arrays of int64, shape (n, axes)
        Cells of each road, from one node to the other.
    """

    def __init__(self, made: _core.Roadmap, shape: tuple[int, ...]) -> None:
        axes = len(shape)
        self._made, self._shape = made, shape
        self.nodes = np.asarray(made.nodes(), np.int64).reshape(-1, axes)
        self.radii = np.asarray(made.radii(), np.float64)
        edges, sizes, ends, cells = made.roads()
        self.edges, self._cells = _rows_of(edges, 2), _rows_of(cells, axes)
        self.lengths, self.clearances = np.frombuffer(sizes).reshape(-1, 2).T.copy()
        self._ends = np.frombuffer(ends, np.int64) // axes

    @cached_property
    def roads(self) -> list[np.ndarray[Any, Any]]:
        return [self._cells[first:end] for first, end in pairwise([0, *self._ends.tolist()])]

    def __repr__(self) -> str:
        return f"Roadmap of {len(self.nodes)} nodes and {len(self.edges)} roads"

    def path(self, start: Any, goal: Any, *, smooth: bool = False) -> Path:
        """Finds the shortest path by roads: down to the nearest road, along roads, and up to the goal.

        It is usually longer than that of `plan_path` and farther from obstacles; `smooth` replaces parts of it by
        clear straight lines. It exists exactly if `plan_path` finds one.
        """
        ends = [_one_cell(name, given, self._shape) for name, given in (("start", start), ("goal", goal))]
        return _path_of(self._made.find(ends[0], ends[1], flag_of("smooth", smooth)), len(self._shape))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Roadmap cannot be pickled or copied; call roadmap() again, or take its nodes and roads")


def roadmap(
    obstacles: Any,
    *,
    radius: float = 0,
    spacing: Spacing = None,
    unknown: Unknown = "obstacle",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Roadmap:
    """Makes the skeleton of free space as a graph with clearances, once for a map.

    Parameters
    ----------
    obstacles : array of 1 to 3 axes
        Cells that are not zero are obstacles. Negative values and NaN are unknown, as -1 in ROS.
    radius, spacing, unknown, device, threads, progress
        As in `plan_path`. A GPU computes distances, skeleton and costs, which the call fetches; the graph is on the
        CPU.

    Returns
    -------
    Roadmap
        The graph: `nodes`, `radii`, `edges`, `lengths`, `clearances`, `roads`, and `path(start, goal)`.

    Notes
    -----
    The skeleton is that of `skeletonize` with neighbours that share a face, so no road cuts a corner.

    Examples
    --------
    >>> import nearfield as nf
    >>> import numpy as np
    >>> walls = np.ones((7, 9), int)
    >>> walls[1:6, 1:8] = 0
    >>> walls[1:5, 4] = 1
    >>> nf.roadmap(walls).path((1, 1), (1, 7)).length > nf.plan_path(walls, (1, 1), (1, 7)).length - 1e-9
    True
    """
    work = obstacles_of("obstacles", obstacles, unknown)
    where = RunAt(work, device, threads, progress)
    grid, size = Request((), spacing_of(spacing, len(work.shape), 0)).options(), length_of("radius", radius)
    with keywords_named("obstacles"):
        made = _core.Roadmap.of(where.read(), grid, size, *where.place())
    work.finish()
    return Roadmap(made, work.shape)


def _path_of(row: tuple[bytes, float, float, int, bool, str, int, int, list[int]], axes: int) -> Path:
    cells, length, clearance, cost, _, reason, goal, own, others = row
    return Path(_rows_of(cells, axes), length, clearance, cost, reason, goal, own, tuple(others))


def _rows_of_costs(given: Any) -> list[tuple[float, float]]:
    rows = array_of("clearance_costs", given, np.float64)
    if rows.ndim != 2 or rows.shape[-1] != 2 or not len(rows):
        raise ValueError(f"clearance_costs is {said(given)}; give rows of a clearance and a cost")
    return [(float(clearance), float(cost)) for clearance, cost in rows]


def _rows_of(cells: bytes, axes: int) -> np.ndarray[Any, Any]:
    return np.frombuffer(cells, np.int64).reshape(-1, axes).copy()


def _one_cell(name: str, given: Any, shape: tuple[int, ...]) -> list[int]:
    cell, several = _cells(name, given, shape)
    if several:
        raise ValueError(f"{name} is {said(given)}; give one cell")
    return cell


def _cells(name: str, given: Any, shape: tuple[int, ...]) -> tuple[list[int], bool]:
    """Returns coordinates one after the other, and whether they came as rows."""
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
