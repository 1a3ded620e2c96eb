"""scikit-image's watershed, and its functions for maxima and reconstruction."""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np

from nearfield._basins import PEAK, sorted_peaks
from nearfield._basins import h_maxima as marks_of
from nearfield._dispatch import workplace_of
from nearfield._request import count_of, said
from nearfield._watershed import Call, options_of, reconstruct_gray
from nearfield._watershed import watershed as flooded

Array = np.ndarray[Any, Any]


def watershed(
    image: Any,
    markers: Any = None,
    connectivity: Any = 1,
    offset: Any = None,
    mask: Any = None,
    compactness: float = 0,
    watershed_line: bool = False,
) -> Array:
    """Floods an image from markers and returns its basins in their type. A number makes about as many markers, evenly.

    Without markers, and with a number, the basins are int32.

    It does not support `offset`, `compactness`, or an array as `connectivity`.
    """
    if offset is not None or compactness != 0 or not isinstance(connectivity, int | np.integer):
        raise NotImplementedError(
            f"offset={said(offset)}, compactness={said(compactness)} and connectivity={said(connectivity)}: only a "
            "number as connectivity is supported, without offset and compactness"
        )
    values = np.asarray(image)
    inside = None if mask is None else np.asarray(mask).astype(bool)
    given = None if markers is None else np.asarray(markers)
    if given is not None and given.ndim == 0:
        given = _even_markers(values.shape, markers, inside)
    found = flooded(values, given, mask=inside, connectivity=int(connectivity), lines=bool(watershed_line))
    return np.asarray(found)


def h_maxima(image: Any, h: float, footprint: Any = None) -> Array:
    """Marks the cells of maxima of at least height `h`, uint8. Without `footprint` all neighbours count."""
    values = np.asarray(image)
    return np.asarray(marks_of(values, h, connectivity=_connectivity(footprint, values.ndim)), np.uint8)


def peak_local_max(
    image: Any,
    min_distance: int = 1,
    threshold_abs: float | None = None,
    threshold_rel: float | None = None,
    exclude_border: Any = True,
    num_peaks: float = np.inf,
    footprint: Any = None,
    labels: Any = None,
    num_peaks_per_label: float = np.inf,
    p_norm: float = np.inf,
) -> Array:
    """Returns the coordinates of peaks, the highest first: the largest of their cubes of 2 min_distance + 1 cells.

    Each maximum has one cell, and of equal peaks nearer than `min_distance` (Euclidean) the first one stays. It does
    not support `footprint`, or a `p_norm` that is neither 2 nor the default.
    """
    if footprint is not None or p_norm not in (2, np.inf):
        raise NotImplementedError(
            f"footprint={said(footprint)} and p_norm={said(p_norm)} are not supported; min_distance is Euclidean, and "
            "peaks are maxima by all neighbours: leave them out"
        )
    values = np.asarray(image)
    least = values.min(initial=np.inf) if threshold_abs is None else threshold_abs
    if threshold_rel is not None:
        least = max(least, threshold_rel * values.max())
    work = workplace_of("image", values)
    options = options_of(values.ndim, values.ndim, "open", True)
    rows = np.frombuffer(Call(work, None, None, None).peaks(values > least, labels, options), PEAK)
    found = np.stack(np.unravel_index(rows["cell"], values.shape), axis=1)
    margin = np.asarray(_margins(exclude_border, min_distance, values.ndim))
    inner = ((found >= margin) & (found < np.asarray(values.shape) - margin)).all(axis=1)
    inner[inner] = _are_largest(values, found[inner], int(min_distance), None if labels is None else np.asarray(labels))
    found = sorted_peaks(rows[inner].tobytes(), work, min_distance)
    if labels is not None and not np.isinf(num_peaks_per_label):
        of_peak = np.asarray(labels)[tuple(found.T)]
        rank = [int((of_peak[:i] == each).sum()) for i, each in enumerate(of_peak)]
        found = found[np.asarray(rank, int) < num_peaks_per_label]
    most: Array = found if np.isinf(num_peaks) else found[: int(num_peaks)]
    return most


def _are_largest(values: Array, cells: Array, distance: int, labels: Array | None) -> Array:
    """Says which cells are the largest, of their label, in the cube of 2 distance + 1 cells around them."""
    own = values[tuple(cells.T)]
    if labels is None:
        return np.asarray(own == _largest_near(values, distance)[tuple(cells.T)])
    near = [tuple(slice(max(at - distance, 0), at + distance + 1) for at in cell) for cell in cells.tolist()]
    label = labels[tuple(cells.T)]
    largest = [np.nanmax(values[part][labels[part] == each]) for part, each in zip(near, label)]
    return np.asarray(own == np.asarray(largest, values.dtype))


def _largest_near(values: Array, distance: int) -> Array:
    """Returns the largest value, NaN left out, of the cube of 2 distance + 1 cells around each cell."""
    made = values.copy()
    for axis in range(values.ndim):
        line = np.moveaxis(made, axis, 0)
        for way in (line, line[::-1]):
            reach = 1  # cells that the maximum covers, the own one and those after it
            while reach <= distance:
                step = min(reach, distance + 1 - reach)
                np.fmax(way[:-step], way[step:], out=way[:-step])
                reach += step
    return made


def _margins(exclude: Any, distance: int, axes: int) -> list[int]:
    """Returns the number of cells at the ends of each axis where no peak counts."""
    if isinstance(exclude, bool | np.bool_):
        return [int(distance) if exclude else 0] * axes
    each = list(exclude) if isinstance(exclude, tuple | list) else [exclude] * axes
    if len(each) != axes or any(not isinstance(n, int | np.integer) or n < 0 for n in each):
        raise ValueError(f"exclude_border is {said(exclude)}; give True, False, a number of cells or {axes} of them")
    return [int(n) for n in each]


def _even_markers(shape: tuple[int, ...], count: Any, inside: Array | None) -> Array:
    """Numbers about `count` cells of a grid that has equal steps along all axes; only cells inside keep a number.

    An axis shorter than the step gets one cell, and the other axes share the rest.
    """
    wanted = count_of("markers", count.item() if isinstance(count, np.ndarray) else count, 1)
    if inside is not None:
        wanted = int(wanted / max(inside.mean(), 1 / inside.size)) if inside.size else wanted
    step, left, cells = dict.fromkeys(range(len(shape)), 1.0), sorted(range(len(shape)), key=lambda k: shape[k]), wanted
    while left and np.prod([shape[k] for k in left]) > cells:
        apart = float(np.prod([shape[k] for k in left]) / cells) ** (1 / len(left))
        if shape[left[0]] >= apart:
            step.update(dict.fromkeys(left, apart))
            break
        step[left[0]] = float(shape[left[0]])
        left = left[1:]
    at = tuple(slice(int(step[k] // 2), None, int(round(step[k]))) for k in range(len(shape)))
    made = np.zeros(shape, np.int32)
    made[at] = np.arange(1, made[at].size + 1).reshape(made[at].shape)
    return made if inside is None else np.where(inside, made, 0)


def reconstruction(seed: Any, mask: Any, method: str = "dilation", footprint: Any = None, offset: Any = None) -> Array:
    """Reconstructs `mask` from `seed` in gray values, in a type that holds both."""
    if offset is not None:
        raise NotImplementedError(f"offset={said(offset)} is not supported; leave it out")
    values, start = np.asarray(mask), np.asarray(seed)
    kind = np.result_type(values, start)
    if method == "dilation" and (start > values).any() or method == "erosion" and (start < values).any():
        raise ValueError("seed lies above the mask somewhere (erosion: below); clip it")
    how = cast(Literal["dilation", "erosion"], method)
    near = _connectivity(footprint, values.ndim)
    found = reconstruct_gray(start.astype(kind), values.astype(kind), method=how, connectivity=near)
    return np.asarray(found)


def _connectivity(footprint: Any, axes: int) -> int:
    """Returns the number of coordinates that a step may change in a footprint: the cross, all ones, or between."""
    if footprint is None:
        return axes
    given = np.asarray(footprint).astype(bool)
    steps = np.abs(np.indices((3,) * axes) - 1).sum(axis=0)
    for changes in range(1, axes + 1):
        if given.shape == steps.shape and np.array_equal(given, steps <= changes):
            return changes
    raise NotImplementedError("footprint is none of a cell's neighbours that change 1, 2, ... coordinates")
