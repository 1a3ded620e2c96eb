"""Measures, lists, renumbers and drops numbered components."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import framework_of, name_of, parts_of
from nearfield._call import as_numpy, target
from nearfield._component_table import ComponentTable, TableMaker
from nearfield._dispatch import workplace_of
from nearfield._label_request import (
    LABEL_TYPES,
    LabelKeywords,
    LabelRequest,
    RemovalKeywords,
    label_request,
    lengths_of,
)
from nearfield._label_run import label_slot, run
from nearfield._progress import Progress
from nearfield._request import Spacing, count_of, flag_of, threads_of
from nearfield._run_at import RunAt, filled
from nearfield._traced import is_traced
from nearfield._workplace import Workplace, keywords_named

if TYPE_CHECKING:
    from typing_extensions import Unpack


# Labels up to this value may exceed the number of cells: memory always has room for a table of as many rows.
MOST_EMPTY_ROWS = 2**24


class Components(NamedTuple):
    """Labels, and a table with one row for each of them."""

    labels: Any
    table: ComponentTable


class LabelLists(NamedTuple):
    """Concatenated lists: that of label ``i + 1`` is ``entries[offsets[i]:offsets[i + 1]]``."""

    offsets: Any
    entries: Any


def components(
    image: Any,
    *,
    intensity: Any = None,
    spacing: Spacing = None,
    dtype: Any = None,
    out: Any = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **keywords: Unpack[LabelKeywords],
) -> Components:
    """Numbers the connected components and measures them, in one call.

    Parameters
    ----------
    image : array
        As in `label`.
    intensity : array of the labels' shape, optional
        Values to measure: bool, integers, float32 or float64, on the device of `image`.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis that is neither batch nor channels. Centroids are in this unit. Default: 1.
    dtype, out, device, threads, progress
        As in `label`; `dtype` and `out` concern the labels.
    **keywords
        `connectivity`, `criterion`, `background`, `norm`, `channels`, `periodic`, `batch_axes`, `min_size`, `max_size`,
        `largest` and `clear_border` of `label`.

    Returns
    -------
    labels : array
        As from `label`.
    table : ComponentTable
        One row for each component: `size`, `box`, `centroid`, `border`, `faces`, and of the intensities `lowest`,
        `highest`, `sum`, `mean`, `variance`. ``table.to_csv("cells.csv")`` and ``table.to_pandas()`` export it. On a
        GPU the call waits for the number of rows.

    Notes
    -----
    Sums are exact, so the CPU and GPUs give the same bits.

    Examples
    --------
    >>> import nearfield as nf
    >>> labels, table = nf.components([[1, 1, 0, 0], [1, 0, 0, 1]], spacing=(2, 0.5))
    >>> table.size
    array([3, 1])
    >>> table.centroid
    array([[0.66666667, 0.16666667],
           [2.        , 1.5       ]])
    >>> table.slices()[0]
    (slice(0, 2, None), slice(0, 2, None))
    """
    work = workplace_of("image", image)
    request = _request_of("components", len(work.shape), keywords)
    axes = request.axes(work.shape)
    lengths = lengths_of(spacing, axes)
    maker = TableMaker(work, axes, _intensity_of(work, intensity, target(device, work.place, work.name)))
    slot = label_slot(work, request, dtype, out)
    batched = request.batch_axes > 0
    counts = run(work, request, slot, batched, maker, device, threads, progress)
    return Components(work.hand_out(slot), maker.table(lengths, counts if batched else None))


def component_statistics(
    labels: Any,
    *,
    count: int | None = None,
    intensity: Any = None,
    spacing: Spacing = None,
    threads: int | None = None,
) -> ComponentTable:
    """Measures existing labels: row i measures the cells of value i + 1, connected or not.

    Parameters
    ----------
    labels : array of integers, 1 to 3 axes
        Labels of the cells. Values below 1 and above `count` are not measured.
    count : int, optional
        Number of rows. Default: the largest value, for which a call on a GPU waits; it must not exceed the number of
        cells or 2**24, whichever is larger.
    intensity, spacing, threads
        As in `components`.

    Returns
    -------
    ComponentTable
        One row for each value. A value without cells has size 0, box 0 and NaN for its means. `border` treats every
        axis as open.

    Examples
    --------
    >>> import nearfield as nf
    >>> table = nf.component_statistics([1, 1, 0, 3], intensity=[5.0, 7.0, 1.0, 2.0])
    >>> table.size, table.mean
    (array([2, 0, 1]), array([ 6., nan,  2.]))
    """
    work = _labels_of(labels)
    axes = len(work.shape)
    lengths = lengths_of(spacing, axes)
    maker = TableMaker(work, axes, _intensity_of(work, intensity, work.place.ordinal))
    described, place = work.described(), _place(work, threads)
    with keywords_named("labels"):
        if count is None and work.place.ordinal >= 0 and work.dtype in ("int32", "uint32"):
            # The largest value is found by the pass that measures.
            _core.component_statistics_of_all(described, lambda most: maker(_checked_rows(work, most)), place)
        else:
            _core.component_statistics(described, maker(_rows_of(work, count)), place)
    work.finish()
    return maker.table(lengths)


def label_lists(labels: Any, *, count: int | None = None, runs: bool = False, threads: int | None = None) -> LabelLists:
    """Lists the cells of each label, as one array with offsets (compressed sparse rows).

    Parameters
    ----------
    labels : array of integers, 1 to 3 axes
        Labels of the cells. Values below 1 and above `count` are not listed.
    count : int, optional
        Number of lists: those of labels 1 to `count`. Default: the largest value, as in `component_statistics`.
    runs : bool
        List runs instead of cells. Entries have shape ``(m, 2)``: the first cell of a run along the last axis, and its
        number of cells.
    threads : int, optional
        As in `label`.

    Returns
    -------
    offsets : array of int64, length ``count + 1``
        Places in `entries` where the lists begin and end.
    entries : array of int32, or int64 if indices need it
        C-order linear indices of the cells, ascending within each label. A call on a GPU waits for their number.

    Examples
    --------
    >>> import nearfield as nf
    >>> offsets, entries = nf.label_lists([[1, 1, 0], [2, 1, 1]])
    >>> offsets, entries
    (array([0, 4, 5]), array([0, 1, 4, 5, 3], dtype=int32))
    >>> nf.label_lists([[1, 1, 0], [2, 1, 1]], runs=True).entries
    array([[0, 2],
           [4, 2],
           [3, 1]], dtype=int32)
    """
    runs = flag_of("runs", runs)
    work = _labels_of(labels)
    place = _place(work, threads)
    offsets = work.empty((_rows_of(work, count) + 1,), "int64")
    with keywords_named("labels"):
        _core.label_list_offsets(work.described(), offsets.described, runs, place)
        handed_out = work.hand_out(offsets)
        total = int(handed_out[-1])
        cells = int(np.prod(work.shape, dtype=object))
        entries = work.empty((total, 2) if runs else (total,), "int32" if cells < 2**31 else "int64")
        _core.label_lists(work.described(), offsets.described, entries.described, runs, place)
    work.finish()
    return LabelLists(handed_out, work.hand_out(entries))


def relabel(
    labels: Any, *, return_num: bool = False, dtype: Any = None, out: Any = None, threads: int | None = None
) -> Any:
    """Renumbers values as 1, 2, ... in the order of their first cells; 0 stays 0.

    Parameters
    ----------
    labels : array of integers, 1 to 3 axes
        Values of any sign and size.
    return_num : bool
        Also return the number of values; on a GPU the call then waits.
    dtype : {'uint16', 'int32', 'uint32', 'int64', 'uint64'}, optional
        Type of the new labels. Default: int32, or int64 from 2**31 cells on. More values than it can number are an
        error.
    out : array, optional
        Array to fill instead of a new one.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.relabel([70, 70, 0, -3, 70], return_num=True)
    (array([1, 1, 0, 2, 1], dtype=int32), 2)
    """
    return_num = flag_of("return_num", return_num)
    if is_traced(labels):
        from nearfield import _jax_workplace

        _check_integers(labels.dtype.name)
        made, shape = _number_type(labels.shape, dtype), labels.shape
        return _jax_workplace.called_back(
            relabel, "labels", labels, shape, made, out, return_num, dtype=made, threads=threads
        )
    work = _labels_of(labels)
    if out is not None:
        slot = work.given("out", out)
    else:
        slot = work.empty(work.shape, _number_type(work.shape, dtype))
    with keywords_named("labels", slot):
        count = _core.relabel(work.described(), slot.described, return_num, _place(work, threads))
    work.finish()
    made = work.hand_out(slot)
    return (made, count) if return_num else made


def remove_small(
    image: Any,
    min_size: int,
    *,
    out: Any = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **keywords: Unpack[RemovalKeywords],
) -> Any:
    """Turns components of fewer than `min_size` cells into background.

    Parameters
    ----------
    image : array
        As in `label`, on the CPU or a GPU.
    min_size : int
        Least number of cells of a component that stays.
    out : array, optional
        Array to fill instead of a new one: of the image's shape and type (float32 for float16), or the image itself.
    device, threads, progress, **keywords
        As in `label`: neighbours, criterion, background and the other filters.

    Returns
    -------
    array
        The image without these components, of the same kind, shape and type.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.remove_small([5, 5, 0, 7, 0, 9, 9, 9], 2)
    array([5, 5, 0, 0, 0, 9, 9, 9])
    >>> nf.remove_small([5, 5, 0, 7, 0, 9, 9, 9], 3, criterion="equal", background=0)
    array([0, 0, 0, 0, 0, 9, 9, 9])
    """
    least = count_of("min_size", min_size, 0)
    if is_traced(image):
        from nearfield import _jax_workplace

        _request_of("remove_small", len(image.shape), keywords)
        words: dict[str, Any] = {**keywords, "min_size": least, "device": device, "threads": threads}
        return _jax_workplace.called_back(
            remove_small, "image", image, image.shape, image.dtype.name, out, False, **words
        )
    work = workplace_of("image", image)
    request = _request_of("remove_small", len(work.shape), keywords)
    slot = work.empty(work.shape, work.dtype) if out is None else work.given("out", out)
    where = RunAt(work, device, threads, progress)

    def call(read: _core.Array, to: _core.Array) -> None:
        _core.remove_small(read, to, least, request.options, *where.place())

    made = filled(work, slot, where, call)
    return made if out is not None else work.in_given_type(made)


# ---- the work --------------------------------------------------------------------------------------------------------


def _request_of(function: str, ndim: int, keywords: Mapping[str, Any]) -> LabelRequest:
    for name in keywords:
        if name not in LabelKeywords.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return label_request(ndim, **keywords)


def _labels_of(labels: Any) -> Workplace:
    work = workplace_of("labels", labels)
    _check_integers(work.given_dtype)
    return work


def _check_integers(dtype: str) -> None:
    if dtype.startswith("float"):
        raise TypeError(f"labels has element type {dtype}; labels are integers")


def _number_type(shape: tuple[int, ...], dtype: Any) -> str:
    asked = name_of(dtype) if dtype is not None else "int32" if math.prod(shape) < 2**31 else "int64"
    if asked not in LABEL_TYPES:
        raise ValueError(f"dtype is {asked}; labels are one of {', '.join(LABEL_TYPES)}")
    return asked


def _place(work: Workplace, threads: int | None) -> _core.Place:
    return _core.Place(work.place.ordinal, work.place.stream, threads_of(threads))


def _rows_of(work: Workplace, count: int | None) -> int:
    """Number of rows: that of the caller, else the largest label, which must be small enough for a table."""
    if count is not None:
        return count_of("count", count, 0)
    if 0 in work.shape:
        return 0
    if work.dtype == "bool":
        return 1
    if work.framework.name == "cuda array interface":
        raise TypeError(f"{work.name} offers no way to ask for its largest value; give count=")
    array = work.array if hasattr(work.array, "max") else as_numpy(work.array)
    parts = parts_of(array) if isinstance(array, np.ndarray) else [...]
    return _checked_rows(work, max(int(array[part].max()) for part in parts))


def _checked_rows(work: Workplace, largest: int) -> int:
    """Number of rows for labels up to the largest, which must be small enough for a table."""
    if largest > max(math.prod(work.shape), MOST_EMPTY_ROWS):
        raise ValueError(
            f"{work.name} has the value {largest}, more than there are cells, and every value from 1 on takes a row; "
            "relabel() makes small ones, or give count="
        )
    return max(0, largest)


def _intensity_of(work: Workplace, intensity: Any, ordinal: int) -> tuple[_core.Array, str] | None:
    if intensity is None:
        return None
    if ordinal >= 0 and work.place.ordinal < 0:  # goes to a device, which takes contiguous memory
        intensity = np.ascontiguousarray(as_numpy(framework_of(intensity).array("intensity", intensity)))
    described = work.read("intensity", intensity)
    return described, described.dtype
