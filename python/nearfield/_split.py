"""Objects that touch, separated: from a mask to labels, and to a table of objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from nearfield._basins import on_host
from nearfield._call import as_numpy
from nearfield._components import component_statistics, relabel
from nearfield._distance import distance_transform
from nearfield._label import label
from nearfield._request import Spacing, check_flags, count_of, length_of, spacing_of, word_of
from nearfield._voronoi import voronoi
from nearfield._watershed import watershed

Array = np.ndarray[Any, Any]
SplitMethod = Literal["watershed", "lecture", "voronoi", "geodesic"]
METHODS = ("watershed", "lecture", "voronoi", "geodesic")


def split(
    mask: Any,
    *,
    method: SplitMethod = "watershed",
    h: float | None = None,
    spacing: Spacing = None,
    min_size: int = 1,
    return_table: bool = False,
    threads: int | None = None,
) -> Any:
    """Separate objects that touch.

    Parameters
    ----------
    mask : array on the CPU, 1 to 3 axes
        Objects are what is not zero.
    method : {'watershed', 'lecture', 'voronoi', 'geodesic'}
        'watershed': of the distance to the background, upside down, from its peaks of height `h`. The others start from
        the components of the cells farther than `h` from the background. 'lecture': a cell of the mask goes to the
        nearest of their barycentres, rounded to cells. 'voronoi': to the nearest component. 'geodesic': to the
        component that is reached in the fewest steps within the mask.
    h : float, optional
        In units of `spacing`. Default: the shortest length of a cell; for the other methods half of the largest
        distance.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis.
    min_size : int
        Objects of fewer cells are dropped.
    return_table : bool
        Also return the `ComponentTable` of the objects.
    threads
        As in `distance_transform`.

    Returns
    -------
    array of int32, or with `return_table` a tuple of it and a table
        Objects from 1 in raster order; 0 is background. By the last two methods what no component reaches is 0 too.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.split([0, 1, 1, 1, 1, 1, 0])
    array([0, 1, 1, 1, 1, 1, 0], dtype=int32)
    >>> nf.split([0, 1, 1, 1, 0, 1, 0], return_table=True)[1].size
    array([3, 1])
    """
    check_flags(return_table=return_table)
    how, least = word_of("method", method, METHODS), count_of("min_size", min_size, 1)
    inside = np.asarray(as_numpy(on_host("mask", mask).array)) != 0
    lengths = spacing_of(spacing, inside.ndim, 0) or (1.0,)
    height = None if h is None else length_of("h", h)
    if how == "watershed":
        found = _by_watershed(inside, min(lengths) if height is None else height, spacing, threads)
    else:
        distance = distance_transform(inside, spacing=spacing, dtype="float64", threads=threads)
        largest = distance[np.isfinite(distance)].max(initial=0)
        core = label(distance > (largest / 2 if height is None else height), connectivity=inside.ndim, threads=threads)
        found = np.where(inside, _GROWN[how](core, inside, spacing, threads), 0)
    made = _without_small(found, least, threads)
    return (made, component_statistics(made, spacing=spacing, threads=threads)) if return_table else made


def _by_watershed(inside: Array, h: float, spacing: Spacing, threads: int | None) -> Array:
    squared = distance_transform(inside, spacing=spacing, squared=True, threads=threads)
    found: Array = watershed(
        squared, mask=inside, connectivity=inside.ndim, maxima=True, h=h, squared=True, threads=threads
    )
    return found


def _by_barycentres(core: Array, inside: Array, spacing: Spacing, threads: int | None) -> Array:
    centre = component_statistics(core, threads=threads).centroid
    cells = np.floor(np.asarray(centre) + 0.5).astype(np.int64)
    seeds = np.zeros(core.shape, np.int32)
    # Of those that share a cell the first one has it.
    for number, cell in reversed(list(enumerate(cells, 1))):
        seeds[tuple(cell)] = number
    return _nearest(seeds, inside, spacing, threads)


def _nearest(seeds: Array, inside: Array, spacing: Spacing, threads: int | None) -> Array:
    found: Array = voronoi(seeds, spacing=spacing, return_indices=False, return_labels=True, threads=threads)
    return found


def _by_steps(core: Array, inside: Array, spacing: Spacing, threads: int | None) -> Array:
    found: Array = watershed(
        np.zeros(core.shape, np.uint8), core, mask=inside, connectivity=inside.ndim, threads=threads
    )
    return found


_GROWN: dict[str, Callable[[Array, Array, Spacing, int | None], Array]] = {
    "lecture": _by_barycentres,
    "voronoi": _nearest,
    "geodesic": _by_steps,
}


def _without_small(found: Array, least: int, threads: int | None) -> Array:
    """Objects of at least so many cells, numbered in raster order."""
    if least > 1:
        sizes = np.bincount(found.ravel())
        found = np.where(sizes[found] >= least, found, 0)
    made: Array = relabel(found, dtype="int32", threads=threads)
    return made
