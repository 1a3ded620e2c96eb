"""Tables with a row for each component: the arrays that the library fills, and what can be asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._workplace import Slot, Workplace

# In the order in which the library takes them; the last four and `lowest` only with intensities.
COLUMNS = ("size", "box", "centroid", "border", "faces", "lowest", "highest", "sum", "mean", "variance")


@dataclass(frozen=True)
class ComponentTable:
    """What was measured of each component: row i is label i + 1. Arrays of the labels' kind, on their device.

    Attributes
    ----------
    label : array of int64
        Of a batch: within its image.
    image : array of int64 or None
        Of a batch: which of its images, in C order.
    size : array of int64
        Cells.
    box : array of int64, shape (n, 2, axes)
        First cell along each axis, and one past the last.
    centroid : array of float64, shape (n, axes)
        Mean of the cells' centres, counted from the centre of the first cell, in units of `spacing`.
    border : array of bool
        A cell lies at the end of an axis that is not periodic.
    faces : array of int64
        Faces of its cells (in 2-D edges) towards other cells or an end of the grid.
    lowest, highest, sum, mean, variance : array or None
        Of the intensities; `variance` is that of the population. NaN where the component has one.
    spacing : tuple of floats
        Length of a cell along each axis.
    """

    label: Any
    size: Any
    box: Any
    centroid: Any
    border: Any
    faces: Any
    spacing: tuple[float, ...]
    image: Any = None
    lowest: Any = None
    highest: Any = None
    sum: Any = None
    mean: Any = None
    variance: Any = None

    def __len__(self) -> int:
        return int(self.size.shape[0])

    @property
    def extent(self) -> Any:
        """Length, area or volume, in powers of the units of `spacing`: float64."""
        return self.size * float(np.prod(self.spacing))

    def slices(self) -> list[tuple[slice, ...]]:
        """The box of each component as slices, such as ``labels[table.slices()[0]]``. Waits on a device."""
        axes = range(len(self.spacing))
        return [tuple(slice(box[0][a], box[1][a]) for a in axes) for box in self.box.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """Columns by name, each with one value per component: what ``pandas.DataFrame`` takes.

        `box` becomes ``start_0, stop_0, start_1, ...``, `centroid` becomes ``centroid_0, ...``.
        """
        columns: dict[str, Any] = {} if self.image is None else {"image": self.image}
        columns |= {"label": self.label, "size": self.size}
        for axis in range(len(self.spacing)):
            columns |= {f"start_{axis}": self.box[:, 0, axis], f"stop_{axis}": self.box[:, 1, axis]}
        columns |= {f"centroid_{axis}": self.centroid[:, axis] for axis in range(len(self.spacing))}
        for name in ("border", "faces", *COLUMNS[5:]):
            if getattr(self, name) is not None:
                columns[name] = getattr(self, name)
        return columns


class TableMaker:
    """Makes the arrays of a table once the number of rows is known, and the table when they are filled."""

    def __init__(self, work: Workplace, axes: int, intensity: tuple[_core.Array, str] | None) -> None:
        self.work, self.axes, self.intensity = work, axes, intensity
        self.slots: dict[str, Slot] = {}

    def __call__(self, rows: int) -> tuple[_core.Array | None, ...]:
        one, per_axis = (rows,), (rows, self.axes)
        wanted: dict[str, tuple[tuple[int, ...], str]] = {
            "size": (one, "int64"),
            "box": ((rows, 2, self.axes), "int64"),
            "centroid": (per_axis, "float64"),
            "border": (one, "bool"),
            "faces": (one, "int64"),
        }
        if self.intensity is not None:
            dtype = self.intensity[1]
            exact = not dtype.startswith("float") and np.dtype(dtype).itemsize <= 4
            wanted |= {"lowest": (one, dtype), "highest": (one, dtype), "sum": (one, "int64" if exact else "float64")}
            wanted |= {"mean": (one, "float64"), "variance": (one, "float64")}
        self.slots = {name: self.work.empty(*each) for name, each in wanted.items()}
        read = None if self.intensity is None else self.intensity[0]
        return (*(self.slots[name].described if name in self.slots else None for name in COLUMNS), read)

    def table(self, spacing: tuple[float, ...], counts: np.ndarray[Any, Any] | None = None) -> ComponentTable:
        """`counts`: of a batch, how many components each image has."""
        filled = {name: self.work.hand_out(slot) for name, slot in self.slots.items()}
        rows = int(filled["size"].shape[0])
        label, image = np.arange(1, rows + 1), None
        if counts is not None:
            label = label - np.repeat(np.cumsum(counts) - counts, counts)
            image = self.work.constant(np.repeat(np.arange(counts.size), counts))
        if any(each != 1 for each in spacing):
            filled["centroid"] = filled["centroid"] * self.work.constant(np.array(spacing))
        return ComponentTable(label=self.work.constant(label), image=image, spacing=spacing, **filled)
