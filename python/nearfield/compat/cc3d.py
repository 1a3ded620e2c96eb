"""The functions of `connected-components-3d`, with its signatures. Migrate by ``import nearfield.compat.cc3d as cc3d``.

Components are numbered as there: in the order in which their first cells lie in memory, C or Fortran. Deliberate
differences:

- Binary images (of bool, or with `binary_image=True`) with `connectivity=8` are numbered in that order too; `cc3d` 4.1
  visits these by pairs of rows, so a cell of the second row may come before one of the first. If a side is odd, it
  sometimes numbers cells of the background, which stay 0 here.
- Labels are uint16 if the number of components fits, else uint32, then uint64; `cc3d` uses an estimate, which may give
  uint32 for fewer. No image runs out of labels; `cc3d` 4.1 does for some binary ones with 26 neighbours,
  such as points two cells apart.
- `delta` with 8, 18 and 26 neighbours joins all cells that a path of small enough steps joins; `cc3d` 4.1 misses some.
- `periodic_boundary` works for every connectivity, and for the smallest images. `out_file` is refused with
  NotImplementedError. `max_labels` is ignored, as in `cc3d`.
- `contacts` counts each pair of cells once (`cc3d` counts some diagonal ones twice, with 8 and with 26 neighbours), in
  the order of the labels; a label may be negative.
- Among components of one size, `largest_k` prefers those that come first.
- `each` takes every integer type; `statistics` any that holds no negative label.
- A negative `delta` is a ValueError; arguments that are no arrays are converted.
- `largest_k` with ``k=0, return_N=True`` returns a pair as well.
- `dust` keeps the type of a signed image; `cc3d` returns int8 as uint8 if it removes nothing. `largest_k` does not
  depend on installed packages; with `fastremap`, `cc3d` returns other numbers, and types from uint8 on.
- `binary_image=True` makes components of all cells that are not zero with 4 neighbours, too; `cc3d` compares values
  in that case.
- With `delta` float16 is a TypeError, as there.
- `connected_components_stack` returns an array of NumPy, which has to fit the memory; `cc3d` compresses with `crackle`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield._arrays import framework_of, in_elements
from nearfield._components import component_statistics, remove_small
from nearfield._contacts import contacts as _contacts
from nearfield.compat._graphs import color_connectivity_graph, estimate_provisional_labels, voxel_connectivity_graph
from nearfield.compat._labels import (
    DimensionError,
    Each,
    cells,
    changes_of,
    inclusive,
    integers,
    is_fortran,
    numbered,
    sizes_of,
)
from nearfield.compat._stack import connected_components_stack

__all__ = [
    "DimensionError",
    "color_connectivity_graph",
    "connected_components",
    "connected_components_stack",
    "contacts",
    "dust",
    "each",
    "estimate_provisional_labels",
    "largest_k",
    "region_graph",
    "statistics",
    "voxel_connectivity_graph",
]


def connected_components(
    data: Any,
    max_labels: int = -1,
    connectivity: int = 26,
    return_N: bool = False,
    delta: float = 0,
    out_dtype: Any = None,
    out_file: Any = None,
    periodic_boundary: bool = False,
    binary_image: bool = False,
) -> Any:
    """Numbers the components of cells of equal value; 0 is background.

    Parameters
    ----------
    data : array_like of 1 to 3 axes
        Bool, integers or floats.
    max_labels : int
        Ignored.
    connectivity : {26, 18, 6} or, in 2-D, {8, 4}
        Number of neighbours. In images, 26 and 18 mean 8, and 6 means 4.
    return_N : bool
        Also return the number of components.
    delta : number
        Join neighbours whose values differ by at most this.
    out_dtype : {uint16, uint32, uint64}, optional
        Type of the labels. Default: the narrowest that holds the number of components.
    out_file : None
        Not supported.
    periodic_boundary : bool
        Make cells at both ends of every axis neighbours.
    binary_image : bool
        Treat all cells that are not zero as equal.

    Returns
    -------
    numpy.ndarray, or with `return_N` a pair of it and the number
        The labels. A tensor of PyTorch gives a tensor, in CPU memory.

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> import numpy as np
    >>> cc3d.connected_components(np.array([[1, 1, 2], [0, 2, 2]]), connectivity=4, return_N=True)
    (array([[1, 1, 2],
           [0, 2, 2]], dtype=uint16), 2)
    """
    if out_file is not None:
        raise NotImplementedError("out_file is not supported; leave it out and save what is returned")
    is_tensor = framework_of(data).name == "torch"
    image = _checked(cells("data", data.detach().cpu() if is_tensor else data))
    if not delta >= 0:
        raise ValueError(f"delta is {delta}; a difference is 0 or more")
    if delta > 0 and image.dtype == np.float16:
        raise TypeError("delta does not go with float16; give float32")
    changes = changes_of(connectivity, image.ndim)
    turned = is_fortran(image)
    labels, count = numbered(
        image.T if turned else image,
        out_dtype,
        connectivity=changes,
        criterion="nonzero" if binary_image or image.dtype.kind == "b" else delta if delta > 0 else "equal",
        periodic=bool(periodic_boundary),
    )
    labels = labels.T if turned else labels
    if is_tensor:
        labels = sys.modules["torch"].from_numpy(labels)
    return (labels, count) if return_N else labels


def statistics(out_labels: Any, no_slice_conversion: bool = False) -> dict[str, Any]:
    """Measures labels: sizes, bounding boxes and centroids; row 0 belongs to the background.

    Parameters
    ----------
    out_labels : array_like of integers, 1 to 3 axes
        Labels; none may be negative, or larger than the number of cells.
    no_slice_conversion : bool
        Return boxes as an array: first and last cell along each axis.

    Returns
    -------
    dict
        ``voxel_counts``, ``bounding_boxes`` (a list of tuples of slices, None for a label without cells) and
        ``centroids``, NaN for a label without cells. A line of cells is an image of one column.

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> cc3d.statistics([[0, 1, 1], [2, 1, 1]])["voxel_counts"]
    array([1, 4, 1], dtype=uint32)
    """
    labels = integers("out_labels", out_labels)
    if labels.size == 0:
        return {"voxel_counts": None, "bounding_boxes": None, "centroids": None}
    least, most = int(labels.min()), int(labels.max())
    if least < 0 or most > labels.size:
        raise ValueError(
            "Statistics can only be computed on volumes containing labels with values lower than the number of voxels. "
            f"Min: {least} Max: {most}"
        )
    if labels.ndim == 1:
        labels = labels[:, np.newaxis]
    parts = [component_statistics(labels == 0, count=1), component_statistics(labels, count=most)]
    size, box, centroid = (np.concatenate([getattr(p, name) for p in parts]) for name in ("size", "box", "centroid"))
    wide = size.size and (labels.size >= 2**32)
    found: dict[str, Any] = {"voxel_counts": size.astype("uint64" if wide else "uint32")}
    if no_slice_conversion:
        found["bounding_boxes"] = inclusive(size, box, labels.shape)
    else:
        found["bounding_boxes"] = [
            tuple(slice(a, b) for a, b in zip(*each)) if cells else None for cells, each in zip(size, box.tolist())
        ]
    found["centroids"] = centroid
    return found


def dust(
    img: Any,
    threshold: float | Sequence[float],
    connectivity: int = 26,
    in_place: bool = False,
    binary_image: bool = False,
    precomputed_ccl: bool = False,
    invert: bool = False,
    return_N: bool = False,
) -> Any:
    """Removes components of fewer than `threshold` cells, or with sizes outside a range ``[least, below)``.

    Parameters
    ----------
    img : array_like of 1 to 3 axes
        An image, or with `precomputed_ccl` the labels of its components.
    threshold : int or pair of ints
        Size in cells.
    invert : bool
        Keep what would be removed, and remove the rest.
    in_place : bool
        Change `img` itself.
    connectivity, binary_image, return_N
        As in `connected_components`.

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> import numpy as np
    >>> cc3d.dust(np.array([[7, 7, 0, 9]]), 2, connectivity=4)
    array([[7, 7, 0, 0]])
    """
    image = cells("img", img)
    if in_place and (image is not img or not image.flags.writeable):
        raise ValueError("in_place=True needs a NumPy array that may be written")
    _checked(image)
    ranged = np.ndim(threshold) != 0
    if ranged and np.shape(threshold) != (2,):
        raise ValueError(f"threshold is {threshold!r}; give a number of cells, or a pair of them: least and below")
    written = image.dtype.isnative and image.dtype != np.float16 and in_elements(image)  # the library can write to it
    if written and not (ranged or precomputed_ccl or invert or return_N):
        return _without_small(image, threshold, connectivity, in_place, binary_image)
    if precomputed_ccl:
        labels = integers("img", image)
    else:
        labels = connected_components(image, connectivity=connectivity, binary_image=binary_image)
    keep = sizes_of(labels)
    small = ~((threshold[0] <= keep) & (keep < threshold[1])) if ranged else keep < threshold  # type: ignore[index]
    if invert:
        small = ~small
    small[0] = False
    result = image if in_place else np.copy(image)
    result[small[labels]] = 0
    return (result, int(np.count_nonzero(~small[1:] & (keep[1:] > 0)))) if return_N else result


def largest_k(
    img: Any,
    k: int,
    connectivity: int = 26,
    delta: float = 0,
    return_N: bool = False,
    binary_image: bool = False,
    precomputed_ccl: bool = False,
) -> Any:
    """Labels the `k` components with the most cells, from 1 for the smallest of them up to `k`; a mask for ``k=1``.

    If there are `k` components or fewer, it returns all of them, as `connected_components` numbers them. Parameters
    are those of that function; with `precomputed_ccl`, `img` holds the labels of the components.

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> import numpy as np
    >>> cc3d.largest_k(np.array([[4, 0, 5, 5, 5, 0, 6, 6]]), 2, connectivity=4)
    array([[0, 0, 2, 2, 2, 0, 1, 1]], dtype=uint16)
    """
    if k < 0:
        raise ValueError(f"k is {k}; give 0 or more")
    image = cells("img", img)
    if k == 0:
        nothing = np.zeros(image.shape, "uint16", order="F" if is_fortran(image) else "C")
        return (nothing, 0) if return_N else nothing
    if precomputed_ccl:
        labels = integers("img", image).copy()
        count = int(labels.max(initial=0))
    else:
        labels, count = connected_components(
            image, connectivity=connectivity, return_N=True, delta=delta, binary_image=binary_image
        )
    if count <= k:
        return (labels, count) if return_N else labels
    sizes = sizes_of(labels)
    order = 1 + np.argsort(-sizes[1:], kind="stable")[:k]
    if k == 1:
        mask = labels == order[0]
        return (mask, 1) if return_N else mask
    number = np.zeros(sizes.size, labels.dtype)
    number[sorted(order.tolist(), key=lambda each: (sizes[each], each))] = np.arange(1, k + 1)
    return (number[labels], k) if return_N else number[labels]


def contacts(
    labels: Any,
    connectivity: int = 26,
    surface_area: bool = True,
    anisotropy: Sequence[float] = (1, 1, 1),
) -> dict[tuple[int, int], float]:
    """Finds the labels that touch: for each pair, the area of their shared faces or the number of neighbouring cells.

    Parameters
    ----------
    labels : array_like of integers, 1 to 3 axes
    connectivity : {26, 18, 6} or, in 2-D, {8, 4}
        With 26, 18 and 6 an image is a volume of one plane.
    surface_area : bool
        Return the area; otherwise the number of pairs of cells.
    anisotropy : sequence of three floats
        Length of a cell along each axis; images with 4 and 8 neighbours use the first two.

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> cc3d.contacts([[1, 1, 2], [3, 3, 2]], connectivity=4)
    {(1, 2): 1.0, (1, 3): 2.0, (2, 3): 1.0}
    """
    image = integers("labels", labels)
    if connectivity in (6, 18, 26):
        image = image.reshape(*image.shape, *(1,) * (3 - image.ndim))
    elif connectivity in (4, 8) and image.ndim <= 2:
        image = image if image.ndim == 2 else image[:, np.newaxis]
    else:
        raise ValueError(f"Only 4, 8, 6, 18, and 26 connectivities are supported, 4 and 8 in 2D. Got: {connectivity}")
    found = _contacts(image, connectivity=connectivity, spacing=tuple(anisotropy)[: image.ndim])
    values = found.area if surface_area else found.pairs
    return {(a, b): float(value) for (a, b), value in zip(found.labels.tolist(), values)}


def region_graph(labels: Any, connectivity: int = 26) -> set[tuple[int, int]]:
    """Finds the pairs of labels that touch, as `contacts` does.

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> cc3d.region_graph([[[1, 2]]])
    {(1, 2)}
    """
    return set(contacts(labels, connectivity))


def each(labels: Any, binary: bool = False, in_place: bool = False) -> Each:
    """Yields one image per label, labels ascending, without 0.

    Parameters
    ----------
    labels : array_like of integers
    binary : bool
        Return images of bool; otherwise of the labels' type, holding the label.
    in_place : bool
        Reuse one read-only array for every image: this is faster, but each step overwrites the last image.

    Returns
    -------
    iterable
        Pairs of a label and an image. It has a length, and can be iterated again.

    Examples
    --------
    >>> import nearfield.compat.cc3d as cc3d
    >>> for number, image in cc3d.each([3, 3, 0, 1], binary=True):
    ...     print(number, image.astype(int))
    1 [0 0 0 1]
    3 [1 1 0 0]
    """
    return Each(integers("labels", labels), binary, in_place)


def _checked(image: Any) -> Any:
    if not 1 <= image.ndim <= 3:
        raise DimensionError(f"Only 1D, 2D, and 3D arrays supported. Got: {image.ndim}")
    if image.dtype.kind not in "biuf" or image.dtype.itemsize > 8:
        raise TypeError(f"Type {image.dtype} is not currently supported; give bool, integers or floats")
    return image


def _without_small(image: Any, threshold: Any, connectivity: int, in_place: bool, binary: bool) -> Any:
    """Runs `dust` without its other options, which takes no labels."""
    return remove_small(
        image,
        math.ceil(min(max(0, threshold), image.size + 1)),
        out=image if in_place else np.empty_like(image),
        connectivity=changes_of(connectivity, image.ndim),
        criterion="nonzero" if binary or image.dtype.kind == "b" else "equal",
    )
