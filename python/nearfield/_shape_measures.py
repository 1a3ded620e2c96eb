"""How labelled regions are shaped."""

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

# As the library packs a row (component_shape).
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
    """How regions are shaped: row i is label i + 1. Arrays of NumPy, of float64 unless said otherwise.

    Names and values are those of scikit-image's `regionprops` where it has them; lengths are in units of `spacing`.
    What is not defined for the number of axes is None; NaN stands where a label has no cells. ``table[2:5]`` and
    ``table[table.solidity > 0.9]`` are tables.

    Attributes
    ----------
    label, num_pixels : array of int64
    area : array
        Of volumes the volume.
    extent : array
        Share of its box that a region fills.
    equivalent_diameter_area : array
        Of a disc, or a ball, as large.
    euler_number : array of int64
        Parts less holes, in volumes parts and cavities less tunnels, of cells that hang together by corners.
    euler_number_faces : array of int64
        The same of cells that hang together by faces.
    inertia_tensor : array, shape (n, axes, axes)
    inertia_tensor_eigvals : array, shape (n, axes)
        Descending.
    axis_major_length, axis_minor_length : array
        Of the ellipse, or the ellipsoid, with the same inertia.
    orientation, eccentricity : array or None
        Of that ellipse; the angle is that from axis 0.
    perimeter : array or None
        Of images whose axes have one spacing.
    perimeter_crofton : array or None
        Of images, from crossings along 4 directions.
    surface_area : array or None
        Of volumes, from crossings along 13 directions.
    area_convex, solidity, feret_diameter_max : array or None
        Of images: area of the convex hull, share of it, longest diameter.
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
        """The first rows, for notebooks."""
        return html_of(self.to_dict(), len(self))

    def to_dict(self, *, unit: str = "") -> dict[str, np.ndarray[Any, Any]]:
        """Columns by name: those of scikit-image's `regionprops_table`, such as ``inertia_tensor-0-1``.

        With a `unit` of the spacing, such as 'mm', ``perimeter_mm``, ``area_mm2``, ``inertia_tensor-0-1_mm2``.
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
        """Writes the columns of `to_dict` as CSV; without a path the text is returned."""
        return csv_of(self.to_dict(unit=unit), path)

    def to_pandas(self, *, unit: str = "") -> Any:
        """A ``pandas.DataFrame`` of the columns of `to_dict`."""
        return pandas_of(self.to_dict(unit=unit))


def shape_measures(
    labels: Any, *, count: int | None = None, spacing: Spacing = None, threads: int | None = None
) -> ShapeTable:
    """Measure how labelled regions are shaped: outlines, hulls, inertia, Euler numbers.

    Parameters
    ----------
    labels : array of integers, 2 or 3 axes
        Values below 1 and beyond `count` are not measured. A label's cells need not hang together.
    count : int, optional
        How many rows; default: the largest value, as in `component_statistics`.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis.
    threads : int, optional
        As in `label`.

    Returns
    -------
    ShapeTable
        A row for each label. A call on a GPU waits for it.

    Notes
    -----
    All that is counted and summed is exact, and lengths are made of it in one place: the same bits on the CPU and on
    GPUs.

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
