"""Fields of grids that do not fit into memory, from chunks that do: the steps of which drivers are made.

`nearfield.dask` and `nearfield.outofcore` are such drivers. Arrays are NumPy's or CuPy's. No step keeps state, and the
answers have the bits that the whole grid gives.

Distances and nearest sites, for any content: apply `planes` to slabs of whole planes of the grid, then `lines` to
pencils, chunks that are whole along axis 0, then `distance`. Between the two lie 4 or 8 bytes a cell, and as many for
its site. They change places once: write the results of `planes` in chunks as slabs, and read them as pencils. Within a
limit there is a simpler way: fields of windows, a window being a chunk with its surroundings within the limit (`halo`).

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

import math

from nearfield._chunk_labels import Faces, faces, merge, renumber
from nearfield._chunk_lines import Grid, Partial, distance, grid, lines, planes
from nearfield._chunk_tables import Rows, measure, tabulate
from nearfield._request import Spacing, spacing_of


def halo(limit: float, spacing: Spacing, axes: int) -> tuple[int, ...]:
    """Number of cells round a chunk, along each axis, on which a field within `limit` depends."""
    lengths = spacing_of(spacing, axes, 0) or (1.0,)
    return tuple(math.floor(limit / s) + 1 for s in (lengths * axes if len(lengths) == 1 else lengths))


__all__ = [
    "Faces",
    "Grid",
    "Partial",
    "Rows",
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
