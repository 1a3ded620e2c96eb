"""The table of `metrics.surface`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

import numpy as np

from nearfield._columns import csv_of, html_of, pandas_of


@dataclass(frozen=True, eq=False, repr=False)
class SurfaceTable:
    """Distances between two segmentations, one row for each label of each image. Arrays of NumPy, n rows.

    Attributes
    ----------
    label : array of int64
    hausdorff : array of float64
        Larger of the two directed distances.
    percentile : array of float64, shape (n, percentiles)
        Larger of the percentiles of the two directions.
    average, average_b : array of float64
        Mean distance from a's surface to b's, and from b's to a's.
    symmetric_average : array of float64
        Mean over the points of both surfaces.
    surface_dice, overlap_a, overlap_b : array of float64, shape (n, tolerances)
        Share of both surfaces, of a's, and of b's, that lies within the tolerance of the other surface.
    dice : array of float64
        Dice coefficient of the cells.
    hausdorff_a, hausdorff_b : array of float64
        Directed Hausdorff distances: from a's surface, and from b's.
    area_a, area_b : array of float64
        Sizes of the surfaces: numbers of cells, or areas (2-D: lengths) of elements.
    size_a, size_b : array of int64
        Numbers of cells of the masks.
    image : array of int64 or None
        In a batch, number of the image in C order; else None.
    percentiles, tolerances : tuple of floats
        The values given.
    """

    label: np.ndarray[Any, Any]
    hausdorff: np.ndarray[Any, Any]
    percentile: np.ndarray[Any, Any]
    average: np.ndarray[Any, Any]
    symmetric_average: np.ndarray[Any, Any]
    surface_dice: np.ndarray[Any, Any]
    dice: np.ndarray[Any, Any]
    average_b: np.ndarray[Any, Any]
    hausdorff_a: np.ndarray[Any, Any]
    hausdorff_b: np.ndarray[Any, Any]
    overlap_a: np.ndarray[Any, Any]
    overlap_b: np.ndarray[Any, Any]
    area_a: np.ndarray[Any, Any]
    area_b: np.ndarray[Any, Any]
    size_a: np.ndarray[Any, Any]
    size_b: np.ndarray[Any, Any]
    percentiles: tuple[float, ...]
    tolerances: tuple[float, ...]
    image: np.ndarray[Any, Any] | None = None

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        return f"SurfaceTable({len(self)} rows: {', '.join(self.to_dict())})"

    def _repr_html_(self) -> str:
        """Shows the first rows, for notebooks."""
        return html_of(self.to_dict(), len(self))

    def to_dict(self) -> dict[str, np.ndarray[Any, Any]]:
        """Columns by name, those of ``nearfield metrics``.

        Each of several percentiles or tolerances has a column: ``percentile_95``, ``surface_dice_1.5``.
        """
        columns: dict[str, np.ndarray[Any, Any]] = {} if self.image is None else {"image": self.image}
        for each in fields(self):
            values = getattr(self, each.name)
            if each.name in ("image", "percentiles", "tolerances"):
                continue
            if values.ndim == 1:
                columns[each.name] = values
                continue
            asked = self.percentiles if each.name == "percentile" else self.tolerances
            for one, column in zip(asked, values.T):
                columns[each.name if len(asked) == 1 else f"{each.name}_{one:g}"] = column
        return columns

    def to_csv(self, path: str | PathLike[str] | None = None) -> str | None:
        """Writes the file that ``nearfield metrics -o FILE.csv`` writes; without a path, returns the text."""
        return csv_of(self.to_dict(), path)

    def to_pandas(self) -> Any:
        """Returns the columns of `to_dict` as a ``pandas.DataFrame``."""
        return pandas_of(self.to_dict())


def table_of(
    whole: bytes, real: bytes, percentiles: tuple[float, ...], tolerances: tuple[float, ...], batch: bool
) -> SurfaceTable:
    """Makes the table of the rows that the library packs."""
    counts = np.frombuffer(whole, np.int64).reshape(-1, 4)
    p, t = len(percentiles), len(tolerances)
    rows = np.frombuffer(real, np.float64).reshape(-1, 9 + p + 3 * t)
    lists = np.split(rows[:, 9:], [p, p + t, p + 2 * t], axis=1)
    columns: dict[str, np.ndarray[Any, Any]] = dict(
        zip(("hausdorff", "symmetric_average", "dice", "hausdorff_a", "hausdorff_b", "average", "average_b"), rows.T)
    )
    columns |= {"area_a": rows[:, 7], "area_b": rows[:, 8]}
    columns |= {"label": counts[:, 1], "size_a": counts[:, 2], "size_b": counts[:, 3]}
    columns |= dict(zip(("percentile", "surface_dice", "overlap_a", "overlap_b"), lists))
    columns = {name: column.copy() for name, column in columns.items()}
    image = counts[:, 0].copy() if batch else None
    return SurfaceTable(percentiles=percentiles, tolerances=tolerances, image=image, **columns)
