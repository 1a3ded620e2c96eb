"""Tables with one row for each component: the arrays that the library fills, and exports of them."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from nearfield import _core
from nearfield._columns import SHOWN_ROWS, columns_of, csv_of, html_of, pandas_of, suffix_of
from nearfield._methods import _on_host
from nearfield._workplace import Slot, Workplace

# In the order in which the library takes them; `lowest` and the last four need intensities.
COLUMNS = ("size", "box", "centroid", "border", "faces", "lowest", "highest", "sum", "mean", "variance")

_EXTENTS = ("length", "area", "volume")


class Component(NamedTuple):
    """One row of a table, in numbers of Python, with the attributes of `ComponentTable`."""

    label: int
    size: int
    extent: float
    box: list[list[int]]
    centroid: list[float]
    border: bool
    faces: int
    image: int | None = None
    lowest: Any = None
    highest: Any = None
    sum: Any = None
    mean: float | None = None
    variance: float | None = None

    @property
    def slices(self) -> tuple[slice, ...]:
        """The box as slices, for ``labels[component.slices]``."""
        return tuple(map(slice, *self.box))


@dataclass(frozen=True, eq=False, repr=False)
class ComponentTable:
    """Measurements of components: row i belongs to label i + 1. Arrays have the labels' kind and device.

    ``table[3]`` is a `Component`, and loops yield such; ``table[2:5]`` and ``table[table.size > 9]`` are tables. Tables
    are equal if all their values are, where NaN equals NaN. Comparisons, rows and exports wait for a device.

    Attributes
    ----------
    label : array of int64
        Label of the component, in a batch within its image.
    image : array of int64 or None
        In a batch, number of the image in C order; else None.
    size : array of int64
        Number of cells.
    box : array of int64, shape (n, 2, axes)
        First cell along each axis, and one past the last.
    centroid : array of float64, shape (n, axes)
        Mean of the cells' centres, measured from the centre of the first cell, in units of `spacing`.
    border : array of bool
        True if a cell lies at the end of an axis that is not periodic.
    faces : array of int64
        Number of faces of its cells (in 2-D edges) towards other cells or an end of the grid.
    lowest, highest, sum, mean, variance : array or None
        Statistics of the intensities; `variance` is that of the population. NaN if the component contains one. None
        without intensities.
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

    __array_ufunc__ = None  # makes NumPy leave == with its arrays to this class

    def __len__(self) -> int:
        return int(self.size.shape[0])

    if (
        TYPE_CHECKING
    ):  # typing would keep these, and by their globals the compiled part's objects, until the process ends

        @overload
        def __getitem__(self, key: int) -> Component: ...
        @overload
        def __getitem__(self, key: Any) -> ComponentTable: ...

    def __getitem__(self, key: Any) -> Any:
        if getattr(key, "ndim", 0) > 0 or not hasattr(key, "__index__"):
            return self._rows(key)
        row = operator.index(key)
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of a table of {len(self)}")
        return next(iter(self._rows(slice(row, row + 1 or None))))

    def __iter__(self) -> Iterator[Component]:
        columns = {name: getattr(self, name) for name in Component._fields}
        lists = {name: _on_host(column).tolist() for name, column in columns.items() if column is not None}
        return (Component(**dict(zip(lists, row))) for row in zip(*lists.values()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ComponentTable):
            return NotImplemented
        mine, theirs = ({name: _on_host(x) for name, x in columns_of(each).items()} for each in (self, other))
        alike = self.spacing == other.spacing and mine.keys() == theirs.keys()
        return alike and all(np.array_equal(mine[name], theirs[name], equal_nan=True) for name in mine)

    def __repr__(self) -> str:
        return f"ComponentTable({len(self)} components: {', '.join(self._names())})"

    def _repr_html_(self) -> str:
        """Shows the first rows, for notebooks."""
        return html_of(self[:SHOWN_ROWS].to_dict(), len(self))

    @property
    def extent(self) -> Any:
        """Length, area or volume, in powers of the units of `spacing`: float64."""
        if hasattr(self.size, "double"):
            size = self.size.double()
        elif hasattr(self.size, "astype"):
            size = self.size.astype("float64")
        else:
            space = self.size.__array_namespace__()
            size = space.astype(self.size, space.float64)
        return size * float(prod(self.spacing))

    def slices(self) -> list[tuple[slice, ...]]:
        """Boxes of the components as slices, for ``labels[table.slices()[0]]``. Waits for a device."""
        return [tuple(map(slice, *box)) for box in _on_host(self.box).tolist()]

    def to_dict(self, *, unit: str = "") -> dict[str, Any]:
        """Columns by name, with one value for each component: those of ``nearfield label --stats``, in their order.

        `extent` becomes ``length``, ``area`` or ``volume`` by the number of axes, `box` ``start_0, stop_0, ...`` and
        `centroid` ``centroid_0, ...``. A `unit` of the spacing, such as 'mm', gives ``area_mm2`` and ``centroid_0_mm``.
        """
        axes = range(len(self.spacing))
        columns = [*([] if self.image is None else [self.image]), self.label, self.size, self.extent]
        columns += [self.box[:, side, axis] for axis in axes for side in (0, 1)]
        columns += [self.centroid[:, axis] for axis in axes]
        columns += [getattr(self, name) for name in self._measured()]
        return dict(zip(self._names(unit), columns))

    def to_csv(self, path: str | PathLike[str] | None = None, *, unit: str = "") -> str | None:
        """Writes the file that ``nearfield label --stats FILE.csv`` writes; without a path, returns the text."""
        return csv_of(self.to_dict(unit=unit), path)

    def to_pandas(self, *, unit: str = "") -> Any:
        """Returns the columns of `to_dict` as a ``pandas.DataFrame``; copies them from a device."""
        return pandas_of(self.to_dict(unit=unit))

    def _rows(self, key: Any) -> ComponentTable:
        at = (key, ...) if isinstance(key, slice) else key  # the array API standard adds no axes by itself
        return replace(self, **{name: column[at] for name, column in columns_of(self).items()})

    def _measured(self) -> list[str]:
        return [name for name in COLUMNS[3:] if getattr(self, name) is not None]

    def _names(self, unit: str = "") -> list[str]:
        """Names of the columns, the same as in cli/component_columns.cpp."""
        axes, suffix = len(self.spacing), suffix_of(unit)
        names = [*([] if self.image is None else ["image"]), "label", "size"]
        extent = _EXTENTS[axes - 1] if axes <= len(_EXTENTS) else "extent"
        names.append(extent + suffix + (str(axes) if unit and axes > 1 else ""))
        names += [f"{end}_{axis}" for axis in range(axes) for end in ("start", "stop")]
        names += [f"centroid_{axis}{suffix}" for axis in range(axes)]
        return names + self._measured()


class TableMaker:
    """Makes the arrays of a table when the number of rows is known, and the table when they are filled."""

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
        """`counts` holds the number of components of each image of a batch."""
        filled = {name: self.work.hand_out(slot) for name, slot in self.slots.items()}
        rows = int(filled["size"].shape[0])
        label, image = np.arange(1, rows + 1), None
        if counts is not None:
            label = label - np.repeat(np.cumsum(counts) - counts, counts)
            image = self.work.constant(np.repeat(np.arange(counts.size), counts))
        if any(each != 1 for each in spacing):
            filled["centroid"] = filled["centroid"] * self.work.constant(np.array(spacing))
        return ComponentTable(label=self.work.constant(label), image=image, spacing=spacing, **filled)
