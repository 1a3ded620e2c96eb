"""Shapes of labelled regions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._columns import columns_of, csv_of, html_of, pandas_of, suffix_of
from nearfield._components import _labels_of, _place, _rows_of
from nearfield._label_request import lengths_of
from nearfield._request import Spacing
from nearfield._workplace import keywords_named

# Types in the order in which the library packs a row (component_shape).
_ROW = np.dtype(
    [(name, "i8") for name in ("num_pixels", "euler_number", "euler_number_faces")]
    + [(name, "f8") for name in ("area", "perimeter", "perimeter_crofton", "surface_area", "area_convex")]
    + [(name, "f8") for name in ("solidity", "feret_diameter_max", "extent", "equivalent_diameter_area")]
    + [("inertia_tensor", "f8", (3, 3)), ("inertia_tensor_eigvals", "f8", (3,))]
    + [(name, "f8") for name in ("orientation", "axis_major_length", "axis_minor_length", "eccentricity")]
)
_OF_IMAGES = ("perimeter_crofton", "area_convex", "solidity", "feret_diameter_max", "orientation", "eccentricity")
_POWERS = {
    **dict.fromkeys(("perimeter", "perimeter_crofton", "feret_diameter_max", "equivalent_diameter_area"), 1),
    **dict.fromkeys(("axis_major_length", "axis_minor_length"), 1),
    **dict.fromkeys(("surface_area", "inertia_tensor", "inertia_tensor_eigvals"), 2),
}


@dataclass(frozen=True, eq=False, repr=False)
class ShapeTable:
    """Shapes of regions: row i belongs to label i + 1. Arrays of NumPy, float64 unless noted.

    Names and values are those of scikit-image's `regionprops` if it has them; lengths are in units of `spacing`. A
    measure that is not defined for the number of axes is None; a label without cells has NaN. ``table[2:5]`` and
    ``table[table.solidity > 0.9]`` are tables.

    Attributes
    ----------
    label, num_pixels : array of int64
    area : array
        Area, or volume in 3-D.
    extent : array
        Share of its box that a region fills.
    equivalent_diameter_area : array
        Diameter of a disc, or a ball, of the same area or volume.
    euler_number : array of int64
        Number of parts less holes, in volumes of parts and cavities less tunnels. Cells that share a corner connect.
    euler_number_faces : array of int64
        The same number if only cells that share a face connect.
    inertia_tensor : array, shape (n, axes, axes)
    inertia_tensor_eigvals : array, shape (n, axes)
        Eigenvalues, descending.
    axis_major_length, axis_minor_length : array
        Axes of the ellipse, or the ellipsoid, with the same inertia.
    orientation, eccentricity : array or None
        Orientation and eccentricity of that ellipse; the angle starts from axis 0. None in 3-D.
    perimeter : array or None
        Length of the outline; None in 3-D and if the axes' spacings differ.
    perimeter_crofton : array or None
        Length of the outline from crossings along 4 directions; None in 3-D.
    surface_area : array or None
        Area of the surface from crossings along 13 directions; None in 2-D.
    area_convex, solidity, feret_diameter_max : array or None
        Area of the convex hull, share of it that the region fills, and longest diameter; None in 3-D.
    spacing : tuple of floats
    """

    label: np.ndarray[Any, Any]
    num_pixels: np.ndarray[Any, Any]
    area: np.ndarray[Any, Any]
    extent: np.ndarray[Any, Any]
    equivalent_diameter_area: np.ndarray[Any, Any]
    euler_number: np.ndarray[Any, Any]
    euler_number_faces: np.ndarray[Any, Any]
    inertia_tensor: np.ndarray[Any, Any]
    inertia_tensor_eigvals: np.ndarray[Any, Any]
    axis_major_length: np.ndarray[Any, Any]
    axis_minor_length: np.ndarray[Any, Any]
    spacing: tuple[float, ...]
    orientation: np.ndarray[Any, Any] | None = None
    eccentricity: np.ndarray[Any, Any] | None = None
    perimeter: np.ndarray[Any, Any] | None = None
    perimeter_crofton: np.ndarray[Any, Any] | None = None
    surface_area: np.ndarray[Any, Any] | None = None
    area_convex: np.ndarray[Any, Any] | None = None
    solidity: np.ndarray[Any, Any] | None = None
    feret_diameter_max: np.ndarray[Any, Any] | None = None

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, key: Any) -> ShapeTable:
        rows = slice(key, key + 1 or None) if isinstance(key, int | np.integer) else key
        return replace(self, **{name: column[rows] for name, column in columns_of(self).items()})

    def __repr__(self) -> str:
        return f"ShapeTable({len(self)} regions: {', '.join(self.to_dict())})"

    def _repr_html_(self) -> str:
        """Shows the first rows, for notebooks."""
        return html_of(self.to_dict(), len(self))

    def to_dict(self, *, unit: str = "") -> dict[str, np.ndarray[Any, Any]]:
        """Columns by name: those of scikit-image's `regionprops_table`, such as ``inertia_tensor-0-1``.

        A `unit` of the spacing, such as 'mm', gives ``perimeter_mm``, ``area_mm2``, ``inertia_tensor-0-1_mm2``.
        """
        suffix, axes = suffix_of(unit), len(self.spacing)
        columns: dict[str, np.ndarray[Any, Any]] = {}
        for name, column in columns_of(self).items():
            power = axes if name.startswith("area") else _POWERS.get(name, 0)
            ending = (suffix if power else "") + (str(power) if suffix and power > 1 else "")
            for place in np.ndindex(column.shape[1:]):
                columns["-".join([name, *map(str, place)]) + ending] = column[(..., *place)]
        return columns

    def to_csv(self, path: str | PathLike[str] | None = None, *, unit: str = "") -> str | None:
        """Writes the columns of `to_dict` as CSV; without a path, returns the text."""
        return csv_of(self.to_dict(unit=unit), path)

    def to_pandas(self, *, unit: str = "") -> Any:
        """Returns the columns of `to_dict` as a ``pandas.DataFrame``."""
        return pandas_of(self.to_dict(unit=unit))


def shape_measures(
    labels: Any, *, count: int | None = None, spacing: Spacing = None, threads: int | None = None
) -> ShapeTable:
    """Measures the shapes of labelled regions: outlines, hulls, inertia, Euler numbers.

    Parameters
    ----------
    labels : array of integers, 2 or 3 axes
        Labels of the cells. Values below 1 and above `count` are not measured. A label's cells need not be connected.
    count : int, optional
        Number of rows. Default: the largest value, as in `component_statistics`.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis. Default: 1.
    threads : int, optional
        As in `label`.

    Returns
    -------
    ShapeTable
        One row for each label. A call on a GPU waits for it.

    Notes
    -----
    All counts and sums are exact, and lengths are computed from them in one place: the CPU and GPUs give the same bits.

    Examples
    --------
    >>> import nearfield as nf
    >>> table = nf.shape_measures([[1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 1]], spacing=0.5)
    >>> table.euler_number, table.perimeter, table.solidity
    (array([0]), array([5.]), array([0.83333333]))
    >>> list(table[table.eccentricity > 0.9].label)
    []
    """
    work = _labels_of(labels)
    axes = len(work.shape)
    lengths = lengths_of(spacing, axes)
    with keywords_named("labels"):
        packed = _core.shape_measures(work.described(), _rows_of(work, count), list(lengths), _place(work, threads))
    work.finish()
    rows = np.frombuffer(packed, _ROW)
    absent = ("surface_area",) if axes == 2 else ("perimeter", *_OF_IMAGES)
    columns = {name: rows[name].copy() for name in _ROW.names or () if name not in absent}
    if axes == 2 and lengths[0] != lengths[1]:
        del columns["perimeter"]
    columns["inertia_tensor"] = columns["inertia_tensor"][:, :axes, :axes].copy()
    columns["inertia_tensor_eigvals"] = columns["inertia_tensor_eigvals"][:, :axes].copy()
    return ShapeTable(label=np.arange(1, len(rows) + 1), spacing=tuple(lengths), **columns)
