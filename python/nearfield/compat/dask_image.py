"""`label` of `dask_image.ndmeasure`. Migrate by ``from nearfield.compat import dask_image as ndmeasure``.

Deliberate differences:

- Components are numbered in raster order of their first cells, as SciPy numbers them; `dask_image` numbers them by
  chunks. What is compared between chunks are the labels at their faces alone.
- The first half runs at once, and the number of components is an array of dask that is known.
- `structure` is one that `scipy.ndimage.generate_binary_structure` makes; others are a ValueError.
- `wrap_axes` takes single axes, ``((0,), (2,))``; pairs of axes alone are a ValueError.

>>> import dask.array as da
>>> from nearfield.compat import dask_image as ndmeasure
>>> labels, count = ndmeasure.label(da.from_array([[1, 0, 2], [1, 0, 0]], chunks=1))
>>> labels.compute(), int(count)
(array([[1, 0, 2],
       [1, 0, 0]], dtype=int32), 2)
"""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

import nearfield.dask


def label(
    image: Any, structure: Any = None, wrap_axes: Any = None, produce_sequential_labels: bool = True
) -> tuple[Any, Any]:
    """Number the components of what is not zero: labels, int32, and how many there are, both arrays of dask.

    Parameters
    ----------
    image : array of dask, or array_like
        1 to 8 axes.
    structure : array_like of 3 cells along each axis, optional
        Which of a cell's neighbours belong with it. Default: those along the axes.
    wrap_axes : sequence of sequences of one axis, optional
        Axes whose ends are neighbours.
    produce_sequential_labels : bool
        Numbers are always sequential.
    """
    image = da.asarray(image)
    periodic = [False] * image.ndim
    for axes in wrap_axes or ():
        if len(axes) != 1:
            raise ValueError(f"wrap_axes has {tuple(axes)}; give single axes, such as ((0,), (1,))")
        periodic[axes[0]] = True
    how = dict(connectivity=_connectivity(structure, image.ndim), periodic=periodic)
    labels, count = nearfield.dask.label(image, return_num=True, dtype="int32", **how)
    return labels, da.from_array(np.array(count), chunks=())


def _connectivity(structure: Any, axes: int) -> int:
    if structure is None:
        return 1
    flags = np.asarray(structure, bool)
    if flags.shape != (3,) * axes:
        raise ValueError(f"structure has shape {flags.shape}; give 3 cells along each of {axes} axes")
    changes = np.abs(np.indices(flags.shape) - 1).sum(axis=0)
    for connectivity in range(1, axes + 1):
        if np.array_equal(flags | (changes == 0), changes <= connectivity):
            return connectivity
    raise ValueError("structure is none of scipy.ndimage.generate_binary_structure; give one of these")


__all__ = ["label"]
