"""`label` and `find_objects` with SciPy's signatures, types and errors; `nearfield.ndimage` offers them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from nearfield._arrays import NUMPY, framework_of, in_elements, is_jax
from nearfield._components import component_statistics
from nearfield._dispatch import workplace_of
from nearfield._foreign import refuse_image
from nearfield._label_request import LABEL_TYPES, LabelRequest, label_request
from nearfield._label_run import label_slot, run
from nearfield._scipy import Array, mask_of
from nearfield._traced import refuse_traced


def label(input: Any, structure: Any = None, output: Any = None) -> Any:
    """Numbers the connected components of cells that are not zero, in raster order of their first cells.

    Parameters
    ----------
    input : array_like
        Cells that are not zero are labelled; NaN is not zero. NumPy, CuPy, PyTorch or JAX; lists. Up to 8 axes.
    structure : array_like of 3 cells along each axis, optional
        Marks the neighbours of a cell that belong with it; symmetric about its middle. Default: those along the axes.
        On a GPU it must be one that `generate_binary_structure` makes.
    output : dtype or array, optional
        Type of the labels, int32 by default; or an array of any real type to fill, which is then not returned. It may
        be `input`.

    Returns
    -------
    labels, num : array and int
        The labels and the number of components. If `output` is an array, only `num` is returned.

    Raises
    ------
    TypeError
        The input is complex.
    RuntimeError
        `structure` has another number of axes than `input`; more components than `output` can number.
    ValueError
        `structure` has other sizes than 3, or is not symmetric; `output` has another shape than `input`.

    Examples
    --------
    >>> from nearfield import ndimage
    >>> ndimage.label([[0, 1, 1], [1, 0, 0]])
    (array([[0, 1, 1],
           [2, 0, 0]], dtype=int32), 2)
    >>> ndimage.label([[0, 1, 1], [1, 0, 0]], structure=[[1, 1, 1]] * 3)
    (array([[0, 1, 1],
           [1, 0, 0]], dtype=int32), 1)
    """
    if framework_of(input) is not NUMPY:
        return _elsewhere(input, structure, output)
    refuse_image("input", input, taken=("xarray",))
    given = np.asarray(input)
    if given.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    image = np.atleast_1d(mask_of(given))
    request = _request(image.ndim, structure, given.ndim)
    if isinstance(output, np.ndarray):
        if output.shape != given.shape:
            raise ValueError(f"output shape not correct: {output.shape}; give an array of shape {given.shape}")
        if not output.flags.writeable:
            raise ValueError("output is read-only; give an array that may be written")
    wide = "int64" if given.size >= 2**31 - 2 else "int32"
    dtype = _type_of(output, wide)
    labels, count = _fill(image, request, _place_for(output, dtype, image, wide), wide)
    if isinstance(output, np.ndarray):
        _convert(labels, output)
        return count
    if labels.dtype != dtype:
        narrow: Array = np.empty(labels.shape, dtype)
        _convert(labels, narrow)
        labels = narrow
    return labels.reshape(given.shape), count


def find_objects(input: Any, max_label: int = 0) -> list[tuple[slice, ...] | None]:
    """Finds the smallest box around each label, as slices.

    Parameters
    ----------
    input : array_like of integers
        Labels; values below 1 are ignored. Up to 8 axes, in CPU memory or on a GPU; JAX's are copied from there.
    max_label : int
        Label of the last object. 0, the default, takes the largest value.

    Returns
    -------
    list of tuples of slices
        The box of label ``l`` is entry ``l - 1``; None if there is no such label.

    Examples
    --------
    >>> from nearfield import ndimage
    >>> ndimage.find_objects([[1, 1, 0], [0, 0, 3]])
    [(slice(0, 1, None), slice(0, 2, None)), None, (slice(1, 2, None), slice(2, 3, None))]
    """
    if framework_of(input) is not NUMPY:
        refuse_traced("input", input)
        labels = np.asarray(input) if is_jax(input) else input
    else:
        refuse_image("input", input, taken=("xarray",))
        labels = np.asarray(input)
        if labels.dtype.kind == "c":
            raise TypeError("Complex type not supported")
    if isinstance(labels, np.ndarray) and labels.dtype.kind not in "biuf":
        raise TypeError(f"input has element type {labels.dtype}; give integers")
    if max_label < 1:
        if isinstance(labels, np.ndarray) and labels.dtype.kind == "f":
            raise TypeError(f"input has element type {labels.dtype}; give integers, or max_label")
        max_label = labels.max()
    rows = operator.index(max_label.item() if hasattr(max_label, "item") else max_label)
    if rows < 1:
        return []
    if isinstance(labels, np.ndarray) and labels.dtype.kind not in "biu":
        labels = labels.astype("int64")
    if labels.ndim == 0:
        return [() if each + 1 == int(labels) else None for each in range(rows)]
    sizes, starts, stops = _boxes(labels, rows)
    return [
        tuple(slice(a, b) for a, b in zip(start, stop)) if size > 0 else None
        for size, start, stop in zip(sizes, starts, stops)
    ]


# ---- the work --------------------------------------------------------------------------------------------------------


def _boxes(labels: Any, rows: int) -> tuple[list[int], list[list[int]], list[list[int]]]:
    """Measures more than three axes one by one: the axes before and behind each count as one axis."""
    if labels.ndim <= 3:
        table = component_statistics(labels, count=rows)
        box = table.box.tolist()
        return table.size.tolist(), [each[0] for each in box], [each[1] for each in box]
    sizes: list[int] = []
    ends: tuple[list[list[int]], list[list[int]]] = ([], [])
    shape = tuple(labels.shape)
    for axis, length in enumerate(shape):
        before = int(np.prod(shape[:axis], dtype=np.int64))
        after = int(np.prod(shape[axis + 1 :], dtype=np.int64))
        table = component_statistics(labels.reshape(before, length, after), count=rows)
        sizes = table.size.tolist()
        for side in (0, 1):
            ends[side].append(table.box[:, side, 1].tolist())
    return sizes, [list(each) for each in zip(*ends[0])], [list(each) for each in zip(*ends[1])]


def _request(ndim: int, structure: Any, given_ndim: int) -> LabelRequest:
    if structure is None:
        return label_request(ndim)
    flags = np.asarray(structure, dtype=bool)
    if flags.ndim != given_ndim:
        raise RuntimeError(
            f"structure and input must have equal rank: structure has {flags.ndim} axes and input {given_ndim}"
        )
    if any(size != 3 for size in flags.shape):
        raise ValueError(f"structure dimensions must be equal to 3; structure has shape {flags.shape}")
    if not np.array_equal(flags, flags[(slice(None, None, -1),) * flags.ndim]):
        raise ValueError("structure is not symmetric about its middle: a step is set and its opposite is not")
    if flags.ndim == 0:
        return label_request(ndim)
    changes = np.abs(np.indices(flags.shape) - 1).sum(axis=0)
    for connectivity in range(1, ndim + 1):
        if np.array_equal(flags | (changes == 0), changes <= connectivity):
            return label_request(ndim, connectivity=connectivity)
    return label_request(ndim, steps=[int(each) for each in flags.ravel()])


def _type_of(output: Any, wide: str) -> np.dtype[Any]:
    if isinstance(output, np.ndarray):
        dtype: np.dtype[Any] = output.dtype
    else:
        dtype = np.dtype(wide if output is None else output)
    if dtype.kind not in "biuf":
        raise TypeError(f"output has type {dtype}; give a type of real numbers, such as int32")
    return dtype


def _place_for(output: Any, dtype: np.dtype[Any], image: Array, wide: str) -> Array | None:
    """Returns `output` if the library can write it directly: it is plain, wide enough and not read."""
    if not isinstance(output, np.ndarray) or dtype.name not in LABEL_TYPES or dtype.itemsize < np.dtype(wide).itemsize:
        return None
    plain = dtype.isnative and in_elements(output) and 0 not in output.strides and output.ndim > 0
    return output if plain and not np.may_share_memory(output, image) else None


def _fill(image: Array, request: LabelRequest, out: Array | None, wide: str) -> tuple[Array, int]:
    work = workplace_of("input", image)
    slot = label_slot(work, request, None if out is not None else wide, out)
    counts = run(work, request, slot, True, None, None, None, None)
    return slot.array, int(counts[0])


def _convert(labels: Array, output: Array) -> None:
    if output is labels:
        return
    output[...] = labels.reshape(output.shape)
    if output.dtype.kind != "b" and not np.array_equal(output, labels.reshape(output.shape)):
        raise RuntimeError(f"insufficient bit-depth in requested output type {output.dtype}; give a wider one")


def _elsewhere(input: Any, structure: Any, output: Any) -> Any:
    """Serves arrays of other frameworks, and returns such."""
    image = input if input.ndim else input.reshape(1)
    work = workplace_of("input", image)
    request = _request(len(work.shape), structure, input.ndim)
    is_array = output is not None and hasattr(output, "shape") and hasattr(output, "dtype")
    slot = label_slot(work, request, None if is_array else output, output if is_array else None)
    count = int(run(work, request, slot, True, None, None, None, None)[0])
    labels = work.hand_out(slot)
    return count if is_array else (labels if input.ndim else labels.reshape(()), count)
