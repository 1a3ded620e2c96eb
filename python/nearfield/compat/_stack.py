"""Components of a volume that comes in parts, as `nearfield.compat.cc3d` numbers them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from nearfield._components import relabel
from nearfield._label import label
from nearfield.compat._labels import DimensionError, cells, changes_of, is_fortran, numbered

Array = np.ndarray[Any, Any]


def connected_components_stack(
    stacked_images: Iterable[Any], connectivity: int = 26, return_N: bool = False, binary_image: bool = False
) -> Any:
    """Number the components of a volume whose parts come one after another along the last axis.

    Parameters
    ----------
    stacked_images : iterable of array_like of 3 axes
        Parts of one width, height and type, in order; one is asked for when the labels of the one before are found.
    connectivity : {26, 6}
        Number of neighbours.
    return_N : bool
        Also return the number of components.
    binary_image : bool
        All cells that are not zero are alike.

    Returns
    -------
    numpy.ndarray, or with `return_N` a pair of it and the number
        Labels of the whole volume, in the memory order of the first part and numbered so; uint32, or uint64 where those
        are too few.

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> import numpy as np
    >>> parts = (np.full((1, 1, 2), value) for value in (5, 5, 0, 5))
    >>> cc3d.connected_components_stack(parts, connectivity=6)
    array([[[1, 1, 1, 1, 0, 0, 2, 2]]], dtype=uint32)
    """
    if connectivity not in (6, 26):
        raise ValueError(f"Connectivity must be 6 or 26. Got: {connectivity}")
    words: dict[str, Any] = dict(connectivity=changes_of(connectivity, 3))
    parts: list[Array] = []  # labels, the stack's axis first; each part counts from 1
    counts: list[int] = []
    joined: dict[int, int] = {}  # trees of labels that meet where parts do, counted through all parts
    before: Array | None = None
    fortran = False
    for image in stacked_images:
        part = _checked(cells("image", image), before)
        words["criterion"] = "nonzero" if binary_image or part.dtype.kind == "b" else "equal"
        labels, count = numbered(part, None, **words)
        if before is not None and len(part) > 0:
            ends = [_through(parts[-1][-1], sum(counts[:-1])), _through(labels[0], sum(counts))]
            _join(joined, label(np.stack([before, part[0]]), **words), np.stack(ends))
        if len(part) > 0:
            fortran = fortran or (not parts and is_fortran(np.asarray(image)))
            before = part[-1].copy()
            parts.append(labels)
            counts.append(count)
    turned, found = _merged(parts, counts, joined)
    labels = turned.T if fortran else relabel(np.ascontiguousarray(turned.T), dtype=turned.dtype)
    return (labels, found) if return_N else labels


def _checked(image: Array, before: Array | None) -> Array:
    """The part with its axes turned, so that the stack's comes first and the image's first lies contiguous."""
    if image.ndim != 3:
        raise DimensionError(f"Only 3D arrays supported. Got: {image.ndim}")
    part = np.asfortranarray(image).T
    if before is not None and (part.shape[1:] != before.shape or part.dtype != before.dtype):
        raise ValueError(
            f"a part has shape {image.shape} and type {part.dtype} after planes of shape {before.T.shape} and type "
            f"{before.dtype}; give parts of the same type, width and height"
        )
    return part


def _through(labels: Array, first: int) -> Array:
    return np.where(labels != 0, labels + np.uint64(first), np.uint64(0))


def _join(joined: dict[int, int], seam: Array, labels: Array) -> None:
    """All labels that occur in one component of the two planes at a seam become one."""
    inside = seam != 0
    pairs = np.unique(np.stack([seam[inside].astype(np.uint64), labels[inside]]), axis=1).T.tolist()
    for (component, one), (other_component, other) in itertools.pairwise(pairs):
        if component == other_component:
            a, b = _root(joined, one), _root(joined, other)
            joined[max(a, b)] = min(a, b)


def _root(joined: dict[int, int], label: int) -> int:
    while (up := joined.get(label, label)) != label:
        joined[label] = joined.get(up, up)
        label = up
    return label


def _merged(parts: list[Array], counts: list[int], joined: dict[int, int]) -> tuple[Array, int]:
    if not parts:
        return np.zeros((0, 0, 0), "uint32"), 0
    total = sum(counts)
    dtype = np.dtype("uint32" if total < 2**32 else "uint64")
    # In order already: a part's labels are, and the first of those that are joined stays.
    first_of = np.arange(total + 1)
    for each in joined:
        first_of[each] = _root(joined, each)
    own = first_of == np.arange(total + 1)
    own[0] = False
    number = np.cumsum(own, dtype=dtype)[first_of]
    whole = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), dtype)
    plane = first = 0
    while parts:  # a part is given back when its labels are there
        labels, count = parts.pop(0), counts.pop(0)
        of_part = number[first : first + count + 1].copy()
        of_part[0] = 0
        whole[plane : plane + len(labels)] = of_part[labels]
        plane, first = plane + len(labels), first + count
    return whole, int(number.max())
