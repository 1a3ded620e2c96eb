"""Distances between two segmentations, and weights for losses of neural networks.

>>> import nearfield as nf
>>> table = nf.metrics.surface([0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1])
>>> table.hausdorff, table.dice
(array([2.]), array([0.57142857]))
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, Literal

from nearfield import _core
from nearfield._arrays import name_of
from nearfield._dispatch import workplace_of
from nearfield._distance import distance_transform
from nearfield._progress import Progress
from nearfield._request import Request, Spacing, batch_of, items_of, length_of, number_of, said, spacing_of, word_of
from nearfield._run_at import RunAt, in_our_words
from nearfield._surface_table import SurfaceTable, table_of

__all__ = ["SurfaceTable", "boundary_weights", "surface"]


def surface(
    a: Any,
    b: Any,
    *,
    labels: Any = None,
    spacing: Spacing = None,
    percentile: float | Sequence[float] = 95,
    tolerance: float | Sequence[float] = 1,
    surface: Literal["cells", "elements"] = "cells",
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> SurfaceTable:
    """Compares two segmentations label by label: distances between surfaces, and overlaps.

    Parameters
    ----------
    a, b : arrays of bool or integers, of one shape
        Labels, where 0 is background: 1 to 3 axes besides those of batches, on the CPU or a GPU. Masks that overlap go
        into a batch, as channels of bool.
    labels : sequence of ints, optional
        Values to compare, each as a mask. Default: all values but 0 that occur in either, which must be 1 to 65535.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis, in array order. Default: 1.
    percentile : float or sequence of floats
        Percentiles of the distances, in percent. For cells they follow NumPy's 'linear', for elements its
        'inverted_cdf' with areas as weights. Default: 95.
    tolerance : float or sequence of floats
        Distances up to which a point of a surface counts as right, in units of `spacing`. Default: 1.
    surface : {'cells', 'elements'}
        'cells': a surface consists of the cells of the mask with a face neighbour outside, each counting 1, as for
        MONAI and SimpleITK. 'elements': it consists of the corners between cells inside and outside, weighted by the
        area between them, as for DeepMind's surface-distance. All cells beyond the ends of the image are outside.
    batch_axes : int
        Number of leading axes that number images; each image is compared by itself. Default: 0.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    SurfaceTable
        A table with columns `label`, `hausdorff`, `percentile`, `average`, `symmetric_average`, `surface_dice`, `dice`
        and more, and with ``to_pandas()``, ``to_dict()`` and ``to_csv()``. A call on a GPU waits for it.

    Notes
    -----
    If a label has no cells in one of the two, distances that need both are infinite and overlaps 0; a mean over no
    points is NaN. If it has none in either, all are NaN. Hausdorff distances are exact. The CPU and GPUs give the same
    bits, and a batch those of a loop. See docs/metrics.md.

    References
    ----------
    Nikolov et al., "Clinically applicable segmentation of head and neck anatomy for radiotherapy", J. Med. Internet
    Res. 23(7), 2021, for elements and surface Dice.

    Examples
    --------
    >>> import nearfield as nf
    >>> truth = [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 2]]
    >>> found = [[0, 1, 1, 0], [0, 1, 1, 0], [0, 1, 1, 0]]
    >>> table = nf.metrics.surface(truth, found)
    >>> table.label, table.hausdorff, table.surface_dice[:, 0]
    (array([1, 2]), array([ 1., inf]), array([1., 0.]))
    """
    work = workplace_of("a", a)
    ndim = len(work.shape)
    batch = batch_of(batch_axes, ndim)
    request = Request((), spacing_of(spacing, ndim, batch), batch_axes=batch)
    percentiles, tolerances = _numbers("percentile", percentile), _numbers("tolerance", tolerance)
    elements = word_of("surface", surface, ("cells", "elements")) == "elements"
    chosen = [] if labels is None else _labels_of(labels)
    if labels is not None and not chosen:
        return table_of(b"", b"", percentiles, tolerances, batch > 0)
    where = RunAt(work, device, threads, progress)
    with in_our_words("a"):
        other = where.other("b", b)
        rows = _core.compare_surfaces(
            where.read(), other, chosen, request.options(), elements, percentiles, tolerances, *where.place()
        )
        work.finish()
    return table_of(*rows, percentiles, tolerances, batch > 0)


def boundary_weights(
    target: Any,
    *,
    labels: Any = None,
    spacing: Spacing = None,
    half_cell: bool = False,
    batch_axes: int = 0,
    dtype: Any = "float32",
    device: str | None = None,
    threads: int | None = None,
) -> Any:
    """Signed distance to the boundary of each mask, as weights of boundary and Hausdorff losses.

    Parameters
    ----------
    target : array
        With `labels`, an array of labels; else masks, whose cells are not zero.
    labels : sequence of ints, optional
        The classes. The answer has one more axis for them, after those of batches.
    half_cell : bool
        Measure to the faces between cells, instead of to the nearest cell's centre on the other side.
    dtype : {'float16', 'float32', 'float64'}
        Type of the answer. Default: float32.
    spacing, batch_axes, device, threads
        As in `surface`.

    Returns
    -------
    array
        Distances of the kind of `target`: negative inside, positive outside. They are 0 throughout if a mask has no
        boundary, because it is empty or fills its image. The answer is a constant: no gradient flows through it.

    References
    ----------
    Kervadec et al., "Boundary loss for highly unbalanced segmentation", MIDL 2019. Karimi, Salcudean, "Reducing the
    Hausdorff distance in medical image segmentation with convolutional neural networks", IEEE TMI 39(2), 2020.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.metrics.boundary_weights([[0, 1, 1, 2], [0, 0, 0, 0]], labels=[1, 2], batch_axes=1)
    array([[[ 1., -1., -1.,  1.],
            [ 3.,  2.,  1., -1.]],
    <BLANKLINE>
           [[ 0.,  0.,  0.,  0.],
            [ 0.,  0.,  0.,  0.]]], dtype=float32)
    """
    work = workplace_of("target", target)
    given = target if hasattr(target, "at") else work.array  # keeps arrays of JAX
    given = given.detach() if hasattr(given, "detach") else given
    batch = batch_of(batch_axes, len(work.shape))
    made_of = name_of(dtype)
    if made_of not in ("float16", "float32", "float64"):
        raise ValueError(f"dtype is {made_of}; give one of float16, float32, float64")
    words: dict[str, Any] = {"half_cell": half_cell, "dtype": made_of, "device": device, "threads": threads}
    words |= {"spacing": spacing, "batch_axes": batch, "signed": True}
    if labels is None:
        return _without_boundary_0(distance_transform(given, **words))
    made = [_without_boundary_0(distance_transform(given == label, **words)) for label in _labels_of(labels)]
    if not made:
        raise ValueError("labels is empty; give at least one class")
    return _stacked(made, batch)


def _without_boundary_0(field: Any) -> Any:
    endless = abs(field) == math.inf
    if hasattr(field, "masked_fill"):
        return field.masked_fill(endless, 0)
    if hasattr(field, "at"):  # an array of JAX
        return field.at[endless].set(0)
    field[endless] = 0
    return field


def _stacked(made: list[Any], axis: int) -> Any:
    first = made[0]
    if hasattr(first, "masked_fill"):
        import torch

        return torch.stack(made, axis)
    known = hasattr(first, "__array_namespace__")
    space = first.__array_namespace__() if known else sys.modules[type(first).__module__.partition(".")[0]]
    return space.stack(made, axis=axis)


def _numbers(name: str, value: Any) -> tuple[float, ...]:
    each = items_of(value)
    return (length_of(name, value),) if each is None else tuple(length_of(name, one) for one in each)


def _labels_of(labels: Any) -> list[int]:
    """Converts labels to integers of 64 bits."""
    each = items_of(labels)
    if each is None:
        raise TypeError(f"labels is {said(labels)}; give a sequence of integers, such as [1, 2]")
    numbers = [number_of("labels", one) for one in each]
    for number in numbers:
        if not isinstance(number, int) or not -(2**63) <= number < 2**63:
            raise ValueError(f"labels has {said(number)}; give integers of 64 bits")
    return [int(number) for number in numbers]
