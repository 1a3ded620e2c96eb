"""What `nearfield.compat.cc3d` is made of: names of neighbours, types of labels, boxes, images of single labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from nearfield._components import component_statistics, label_lists, relabel
from nearfield._foreign import refuse_no_cells
from nearfield._label import label

Array = np.ndarray[Any, Any]


class DimensionError(Exception):
    """The array has the wrong number of axes."""


class Each:
    """Cells listed by label once; an image then costs its own cells, and, unless in place, new memory."""

    def __init__(self, labels: Array, binary: bool, in_place: bool) -> None:
        self._order = "F" if is_fortran(labels) else "C"
        flat = labels.ravel(self._order)  # type: ignore[arg-type]
        self._shape, self._type, self._in_place = labels.shape, "bool" if binary else labels.dtype, in_place
        self._offsets, self._cells = label_lists(relabel(flat))
        values = flat[self._cells[self._offsets[:-1]]]
        self._lists = [(int(values[k]), int(k)) for k in np.argsort(values, kind="stable")]

    def __len__(self) -> int:
        return len(self._lists)

    def __iter__(self) -> Iterator[tuple[int, Array]]:
        shared = np.zeros(int(np.prod(self._shape)), self._type)
        for value, k in self._lists:
            cells = self._cells[self._offsets[k] : self._offsets[k + 1]]
            flat = shared if self._in_place else np.zeros_like(shared)
            flat[cells] = True if self._type == "bool" else value
            image = flat.reshape(self._shape, order=self._order)  # type: ignore[call-overload]
            image.flags.writeable = not self._in_place
            yield value, image
            if self._in_place:
                shared[cells] = 0


def changes_of(connectivity: int, ndim: int) -> int:
    """How many coordinates a step may change."""
    known = {4: 1, 8: 2} if ndim == 2 else {}
    known |= {6: 1, 18: min(2, ndim), 26: ndim}
    if connectivity not in known:
        if ndim == 2:
            raise ValueError(
                f"Only 4, 8, and 6, 18, 26 connectivities are supported for 2D images. Got: {connectivity}"
            )
        raise ValueError(f"Only 6, 18, and 26 connectivities are supported for 3D images. Got: {connectivity}")
    return known[connectivity]


def numbered(image: Array, out_dtype: Any, **keywords: Any) -> tuple[Array, int]:
    types: tuple[str, ...] = ("uint16", "uint32", "uint64")
    if out_dtype is not None:
        asked = np.dtype(out_dtype).name
        if asked not in types:
            raise ValueError(f"Explicitly defined out_dtype ({asked}) must be one of: np.uint16, np.uint32, np.uint64")
        types = (asked,)
    for dtype in types[:-1]:
        try:
            return label(image, dtype=dtype, return_num=True, **keywords)  # type: ignore[no-any-return]
        except ValueError:  # too narrow; whatever else is wrong the widest type reports
            continue
    return label(image, dtype=types[-1], return_num=True, **keywords)  # type: ignore[no-any-return]


def is_fortran(image: Array) -> bool:
    return image.flags.f_contiguous and not image.flags.c_contiguous


def cells(name: str, x: Any) -> Array:
    """An array of whatever NumPy makes one of without losing its axes."""
    refuse_no_cells(name, x)
    return np.asarray(x)


def integers(name: str, x: Any) -> Array:
    labels = cells(name, x)
    if labels.dtype.kind not in "biu":
        raise TypeError(f"{name} has type {labels.dtype}; labels are integers")
    if not 1 <= labels.ndim <= 3:
        raise DimensionError(f"Only 1D, 2D, and 3D arrays supported. Got: {labels.ndim}")
    return labels.view("uint8") if labels.dtype.kind == "b" else labels


def sizes_of(labels: Array) -> Array:
    """Cells of each label, from 0 on; that of 0 is not counted."""
    table = component_statistics(labels)
    return np.concatenate([[0], table.size])


def inclusive(size: Array, box: Array, shape: tuple[int, ...]) -> Array:
    """first, last, first, last, ...; of labels without cells the type's maximum and 0."""
    dtype = np.dtype("uint16" if max(shape) <= 2**16 else "uint32" if max(shape) <= 2**32 else "uint64")
    made = np.zeros((size.size, 2 * len(shape)), dtype)
    made[:, 0::2] = np.where(size[:, None] > 0, box[:, 0], np.iinfo(dtype).max)
    made[:, 1::2] = np.where(size[:, None] > 0, box[:, 1] - 1, 0)
    return made
