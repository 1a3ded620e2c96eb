"""Distance fields for robots, and inflated costmaps."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from nearfield import _core
from nearfield._arrays import is_jax
from nearfield._dispatch import workplace_of
from nearfield._occupancy import Unknown, obstacles_of
from nearfield._progress import Progress
from nearfield._request import (
    Request,
    Spacing,
    check_flags,
    count_of,
    flag_of,
    items_of,
    length_of,
    max_distance_of,
    said,
    spacing_of,
    threads_of,
)
from nearfield._run_at import RunAt
from nearfield._workplace import Workplace, keywords_named

Box = Sequence[Sequence[int]]


class Esdf:
    """Distance to the nearest obstacle, that obstacle, and the gradient: fields that can be updated.

    Parameters
    ----------
    shape : sequence of int
        Number of cells along each axis.
    like : array, optional
        Array whose kind and device the fields get; give an occupancy grid. Default: NumPy.
    unknown, spacing, max_distance, signed, device, threads
        As in `esdf`.

    Attributes
    ----------
    distance : array, float32
        Distance to the nearest obstacle; +inf if none lies within `max_distance`. With `signed`, cells of obstacles
        have minus the distance to the nearest cell that is none.
    sites : array, int32, ``(axes, ...)``
        Coordinates of the nearest obstacle; -1 if there is none.
    gradient : array, float32, ``(axes, ...)``
        Unit vector in the direction in which the distance grows fastest: from the site to the cell, exactly, not by
        differences. It is 0 at obstacles (with `signed`: where the distance is 0) and in cells without a site.
    """

    def __init__(
        self,
        shape: Sequence[int],
        *,
        like: Any = None,
        unknown: Unknown = "obstacle",
        spacing: Spacing = None,
        max_distance: float | None = None,
        signed: bool = False,
        device: str | None = None,
        threads: int | None = None,
    ) -> None:
        sizes = tuple(count_of("shape", each, 0) for each in items_of(shape) or [shape])
        self._shape, self._spacing = sizes, spacing_of(spacing, len(sizes), 0)
        self._options = Request((), self._spacing, max_distance=max_distance_of(max_distance)).options()
        self._unknown, self._signed = unknown, flag_of("signed", signed)
        threads_of(threads)
        self._threads, self._device = threads, device
        work = workplace_of("like", np.zeros(1, np.uint8) if like is None else like)
        self._immutable = is_jax(work.array) or is_jax(like)
        self._make(work)
        self._fresh = False
        self._repeated = _core.RepeatedCall()

    def _make(self, work: Workplace) -> None:
        vectors = (len(self._shape), *self._shape)
        kinds = ("float32", self._shape), ("int32", vectors), ("float32", vectors)
        self._slots = [work.empty(shape, kind) for kind, shape in kinds]
        self._place = work.place
        if not self._immutable:
            self._hand_out(work)

    def _hand_out(self, work: Workplace) -> None:
        self.distance, self.sites, self.gradient = (work.hand_out(slot) for slot in self._slots)

    def update(self, occupancy: Any, box: Box | None = None, *, progress: Progress = None) -> Esdf:
        """Updates the fields: they get the bits that `esdf` computes from the whole `occupancy`.

        `box` is a pair of corners ``(first, end)`` with `end` outside; `occupancy` may differ from that of the last
        call only within it. With a `max_distance`, only cells within that distance of the box are computed. The call
        fills the same memory on its device, and never waits for a GPU. JAX's arrays are replaced by new ones.
        """
        work = obstacles_of("occupancy", occupancy, self._unknown)
        if work.shape != self._shape:
            raise ValueError(f"occupancy has shape {work.shape} and the field {self._shape}; give the same")
        if work.place.ordinal != self._place.ordinal:
            raise ValueError(f"occupancy is on {work.place} and the field on {self._place}; give both on the same")
        first, end = _corners(box, len(work.shape)) if box is not None else ([], [])
        where = RunAt(work, self._device, self._threads, progress)
        if self._immutable:
            self._make(work)
        if self._immutable or where.staged or not self._fresh:
            first, end = [], []
        distance, sites, gradient = self._slots
        with keywords_named("occupancy"):
            _core.esdf(where.read(), distance.described, sites.described, gradient.described, self._options,
                       self._signed, first, end, self._repeated, *where.place())  # fmt: skip
        work.finish()
        if self._immutable:
            self._hand_out(work)
        self._fresh = True
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Esdf cannot be pickled or copied; take its distance, sites and gradient")


def esdf(
    occupancy: Any,
    *,
    unknown: Unknown = "obstacle",
    spacing: Spacing = None,
    max_distance: float | None = None,
    signed: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Esdf:
    """Distance, nearest obstacle and exact gradient of an occupancy grid in one call.

    Parameters
    ----------
    occupancy : array of 1 to 8 axes, on the CPU or a GPU
        Cells that are not zero are obstacles. Negative values and NaN are unknown, as -1 in ROS.
    unknown : {'obstacle', 'free'}
        Says what unknown cells count as. Default: 'obstacle'.
    spacing : float or sequence, optional
        Length of a cell along each axis, in array order. Default: 1.
    max_distance : float, optional
        Largest distance to an obstacle that counts, in units of `spacing`. It saves time, and makes updates of a box
        cheap.
    signed : bool
        Give cells of obstacles minus the distance to the nearest cell that is none.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    Esdf
        The fields `distance`, `sites` and `gradient`, arrays of the kind of `occupancy` on its device, and `update`.
        The CPU and GPUs give the same bits; on a GPU the call does not wait.

    Examples
    --------
    >>> import nearfield as nf
    >>> field = nf.esdf([[0, 0, 0, 0], [0, 0, 0, 1]])
    >>> field.distance[1], field.gradient[1, 1]
    (array([3., 2., 1., 0.], dtype=float32), array([-1., -1., -1.,  0.], dtype=float32))
    """
    check_flags(signed=signed)
    work = obstacles_of("occupancy", occupancy, unknown)
    made = Esdf(work.shape, like=occupancy, unknown=unknown,
                spacing=spacing, max_distance=max_distance, signed=signed, device=device, threads=threads)  # fmt: skip
    return made.update(occupancy, progress=progress)


def inflate_costmap(
    costmap: Any,
    *,
    resolution: float = 0.05,
    inscribed_radius: float = 0.1,
    inflation_radius: float = 0.55,
    cost_scaling_factor: float = 10.0,
    inflate_unknown: bool = False,
    around_unknown: bool = False,
    device: str | None = None,
    threads: int | None = None,
) -> Any:
    """Costs near obstacles as the inflation layer of ROS nav2 defines them, in its bytes.

    Parameters
    ----------
    costmap : array of two axes, uint8, on the CPU or a GPU
        254 is lethal, 253 inscribed, 255 unknown, 0 free. The bytes may also be typed int8, as in ROS messages.
    resolution : float
        Length of a cell, in the unit of the radii (in ROS: metres).
    inscribed_radius : float
        Inner radius of the robot's footprint: cells within it of a lethal cell cost 253.
    inflation_radius : float
        Distance from lethal cells up to which costs reach, rounded up to whole cells.
    cost_scaling_factor : float
        Rate at which costs fall: beyond the inscribed radius the cost is
        ``floor(252 exp(-factor * (d - inscribed_radius)))``.
    inflate_unknown : bool
        Let unknown cells take any cost but 0; else they take only costs of at least 253.
    around_unknown : bool
        Count unknown cells as lethal.
    device, threads
        As in `distance_transform`.

    Returns
    -------
    array, uint8
        The larger of the cost near obstacles and the cell's own, of the kind of `costmap`, on its device.

    Examples
    --------
    >>> import nearfield as nf
    >>> import numpy as np
    >>> nf.inflate_costmap(np.array([[254, 0, 0, 0, 0, 0]], np.uint8), inflation_radius=0.2)
    array([[254, 253, 253, 152,  92,   0]], dtype=uint8)
    """
    check_flags(inflate_unknown=inflate_unknown, around_unknown=around_unknown)
    work = workplace_of("costmap", costmap)
    if work.dtype == "int8":
        work = workplace_of("costmap", work.array.view(sys.modules["torch"].uint8 if _is_torch(work) else "uint8"))
    cell, inscribed = length_of("resolution", resolution), length_of("inscribed_radius", inscribed_radius)
    reach = length_of("inflation_radius", inflation_radius)
    scaling = length_of("cost_scaling_factor", cost_scaling_factor)
    where = RunAt(work, device, threads, None)
    slot = work.empty(work.shape, "uint8")
    with keywords_named("costmap"):
        _core.inflate_costmap(where.read(), slot.described, cell, inscribed, reach, scaling, bool(inflate_unknown),
                              bool(around_unknown), *where.place())  # fmt: skip
    work.finish()
    return work.hand_out(slot)


def _is_torch(work: Workplace) -> bool:
    return type(work.array).__module__ == "torch"


def _corners(box: Box, axes: int) -> tuple[list[int], list[int]]:
    pair = items_of(box) or []
    rows = [items_of(each) for each in pair]
    if len(rows) != 2 or any(each is None or len(each) != axes for each in rows):
        raise ValueError(f"box is {said(box)}; give two corners of {axes} coordinates")
    first, end = ([count_of("box", x, 0) for x in each or []] for each in rows)
    return first, end
