"""Fields of grids that do not fit into memory, from chunks that do: the steps of which drivers are made.

`nearfield.dask` and `nearfield.outofcore` are such drivers. Arrays are NumPy's or CuPy's. No step keeps state, and the
answers have the bits that the whole grid gives.

Distances and nearest sites, for any content: apply `planes` to slabs of whole planes of the grid, then `lines` to
pencils, chunks that are whole along axis 0, then `distance`. Between the two lie 4 or 8 bytes a cell, and as many for
its site. They change places once: write the results of `planes` in chunks as slabs, and read them as pencils.

Within a limit there is a simpler way: `nearfield.distance_transform` of windows with `max_distance`, a window being a
chunk with its surroundings within the limit (`halo`). Without a limit the same windows do where sites are near: if
`certified` holds for the chunk's part of such a field, that part is the field of the whole grid.

Components: apply `faces` to every window, a chunk with one more cell at the high end of each axis; `merge` to all
results; `renumber` to every window with its table. For a table, apply `measure` to every window, then `tabulate`.

>>> import numpy as np
>>> from nearfield import chunks
>>> image = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], np.uint8)
>>> grid = chunks.grid(image.shape, spacing=(2, 1))
>>> slabs = [chunks.planes(grid, image[k : k + 1], k).squared for k in range(3)]
>>> chunks.distance(grid, chunks.lines(grid, chunks.Partial(np.concatenate(slabs))).squared)
array([[2.236068, 2.      , 2.236068],
       [1.      , 0.      , 1.      ],
       [2.236068, 2.      , 2.236068]], dtype=float32)
"""

from __future__ import annotations

from typing import Any

from nearfield import _core
from nearfield._arrays import framework_of
from nearfield._chunk_labels import Faces, faces, merge, renumber
from nearfield._chunk_lines import Grid, Partial, distance, grid, lines, planes
from nearfield._chunk_tables import Rows, measure, tabulate
from nearfield._request import Spacing, spacing_of


def halo(limit: float, spacing: Spacing, axes: int) -> tuple[int, ...]:
    """Number of cells round a chunk, along each axis, on which a field within `limit` depends."""
    return tuple(_core.window_halo(limit, spacing_of(spacing, axes, 0) or (1.0,), axes))


def certified(field: Any) -> bool:
    """Tells whether every cell of distances, squares or indices has a site.

    If the field is the chunk's part of a window that has `halo(limit)` cells round it and was computed with
    ``max_distance=limit``, then it has the bits of the whole grid without a limit.
    """
    framework = framework_of(field)
    array = framework.array("field", field)
    return _core.every_cell_has_site(framework.describe("field", array, False), *framework.place(array), 0)


__all__ = [
    "Faces",
    "Grid",
    "Partial",
    "Rows",
    "certified",
    "distance",
    "faces",
    "grid",
    "halo",
    "lines",
    "measure",
    "merge",
    "planes",
    "renumber",
    "tabulate",
]
