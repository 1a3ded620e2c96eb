"""scikit-image's watershed, and its functions for maxima and reconstruction."""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np

from nearfield._basins import h_maxima as marks_of
from nearfield._request import count_of, said
from nearfield._watershed import reconstruct_gray
from nearfield._watershed import watershed as flooded
from nearfield.ndimage import find_objects

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
    """Marks the cells of maxima of at least height `h`, uint8. Without `footprint` all neighbours count.

    An image whose values differ by less than `h` has none.
    """
    values = np.asarray(image)
    if values.size and values.ndim and h > np.ptp(values):
        return np.zeros(values.shape, np.uint8)
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
    """Returns the coordinates of peaks: the cells that are the largest of their cubes of 2 min_distance + 1 cells.

    The highest comes first, label by label if there are labels. Of peaks nearer to each other than `min_distance` by
    the norm `p_norm` the first one stays. A flat image has no peaks. It does not support `footprint`.
    """
    if footprint is not None:
        raise NotImplementedError(
            f"footprint={said(footprint)} is not supported; min_distance takes cubes: leave it out"
        )
    values = np.asarray(image)
    distance = count_of("min_distance", min_distance, 0)
    inner = tuple(
        slice(margin, max(length - margin, 0))
        for margin, length in zip(_margins(exclude_border, distance, values.ndim), values.shape)
    )
    if not values.size:
        return np.zeros((0, values.ndim), np.int64)
    least = values.min() if threshold_abs is None else threshold_abs
    if threshold_rel is not None:
        least = max(least, threshold_rel * values.max())
    if labels is None:
        peak = np.zeros(values.shape, bool)
        peak[inner] = (_are_largest(values, distance, None) & (values > least))[inner]
        return _apart(values, peak, distance, p_norm, num_peaks)
    given = np.zeros(values.shape, np.int64)
    given[inner] = np.asarray(labels)[inner]
    found = []
    for label, box in enumerate(find_objects(given), 1):
        if box is not None:
            inside = np.asarray(labels)[box] == label
            part = np.where(inside, values[box], _least_of(values.dtype)).astype(values.dtype)
            peak = _are_largest(part, distance, inside) & (part > least)
            found.append(_apart(part, peak, distance, p_norm, num_peaks_per_label) + [side.start for side in box])
    cells = np.concatenate(found) if found else np.zeros((0, values.ndim), np.int64)
    if len(cells) <= num_peaks:
        return cells
    peak = np.zeros(values.shape, bool)
    peak[tuple(cells.T)] = True
    return _apart(values, peak, distance, p_norm, num_peaks)


def _are_largest(values: Array, distance: int, inside: Array | None) -> Array:
    """Says which cells are the largest of the cube of 2 distance + 1 cells around them; none of equal ones is.

    `inside` marks the cells of a label. If they are equal, those that no cross of the label covers are peaks.
    """
    if distance == 0 or values.size == 1:
        return np.ones(values.shape, bool)
    found = values == _largest_near(values, distance)
    if inside is None:
        return np.asarray(found & ~found.all())
    if found[inside].all():
        return inside & ~_cross(~_cross(~inside, True), False)
    return np.asarray(found)


def _cross(mask: Array, beyond: bool) -> Array:
    """Says which cells, or their neighbours along an axis, are marked; `beyond` is the mark outside of the array."""
    wide = np.pad(mask, 1, constant_values=beyond)
    core = (slice(1, -1),) * mask.ndim
    near = [np.roll(wide, step, axis)[core] for axis in range(mask.ndim) for step in (-1, 1)]
    return np.asarray(np.any([mask, *near], axis=0))


def _apart(values: Array, peak: Array, distance: int, norm: float, most: float) -> Array:
    """Returns the cells of `peak`, the highest first, without those nearer than `distance` to one before them."""
    cells = np.argwhere(peak)
    height = values[peak]
    cells = cells[::-1][np.argsort(height[::-1], kind="stable")[::-1]]
    if distance > 1:
        reach = distance - 1
        steps = np.indices((2 * reach + 1,) * values.ndim).reshape(values.ndim, -1) - reach
        near = (np.linalg.norm(steps, norm, axis=0) < distance).reshape((2 * reach + 1,) * values.ndim)
        taken = np.zeros([length + 2 * reach for length in values.shape], bool)
        kept: list[list[int]] = []
        for cell in cells.tolist():
            if len(kept) >= most:
                break
            if not taken[tuple(at + reach for at in cell)]:
                taken[tuple(slice(at, at + 2 * reach + 1) for at in cell)] |= near
                kept.append(cell)
        cells = np.asarray(kept, np.int64).reshape(-1, values.ndim)
    return cells if np.isinf(most) else cells[: int(most)]


def _least_of(kind: np.dtype[Any]) -> Any:
    """Returns the least finite value of a type."""
    return np.finfo(kind).min if kind.kind == "f" else np.iinfo(kind).min if kind.kind in "iu" else False


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
