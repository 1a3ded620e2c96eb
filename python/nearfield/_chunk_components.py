"""Components out of core: slabs of planes are labelled twice, and only components at their ends are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield._chunk_call import Asked
from nearfield._chunk_labels import roots
from nearfield._chunk_tables import Rows, rows_of
from nearfield._label import label


def label_slabs(asked: Asked, wraps: Any, how: dict[str, Any], measured: bool = False) -> tuple[int, list[Rows]]:
    """How many components there are, and of each slab, where they are `measured`, its rows.

    Slabs are labelled with one plane more, whose components the next slab has, too.
    A component's number is one more than how many components have an earlier first cell, and first cells come in the
    order of slabs and of labels within each. So only what joins a component that began earlier has to be known.
    """
    shape, kind = asked.source.shape, asked.types["label"]
    ahead, step = asked.layout(lambda: _choose(asked, measured))
    how = dict(how, periodic=[False, *wraps[1:]], threads=asked.threads)
    firsts = range(0, shape[0], step)
    folder = asked.work.folder

    def read(first: int) -> Any:
        return _window(asked, first, step, wraps[0])

    def faces(first: int, window: Any) -> dict[str, Any]:
        labels, own = _labelled(asked, window, how), min(step, shape[0] - first)
        return dict(low=labels[0].copy(), high=labels[own:].copy(), count=labels[:own].max(initial=0))

    def keep(first: int, faces: dict[str, Any]) -> None:
        np.savez(folder / f"{first}.npz", **faces)
        if first > 0:
            _join(folder, first - step, first)

    asked.stream("faces", firsts, (0.0, 0.5), ahead, read, faces, keep)
    if not len(firsts):
        asked.outputs()
        return 0, []
    if wraps[0]:
        _join(folder, firsts[-1], 0)
    tables, count = _numbered(folder, firsts, wraps[0])
    if count > np.iinfo(kind).max:
        asked.work.abandon()
        raise ValueError(f"there are {count} components, more than dtype={kind} can number; give a wider one")
    _filled(asked, tables, firsts, ahead, read, wraps, how, measured)
    rows = [Rows(**np.load(folder / f"{first}-rows.npz")) for first in firsts] if measured else []
    return int(count), rows


def _choose(asked: Asked, measured: bool) -> list[Any]:
    item, kind = asked.source.dtype.itemsize, asked.types["label"].itemsize

    def cost(count: int) -> int:
        wide = 4 if (count + 1) * asked.plane < 2**31 else 8
        return int((count + 1) * asked.plane * (2 * item + wide * (1 + measured) + kind + 1))

    kept, ahead, step = asked.slabs_within(cost, lambda count: (count + 1) * asked.plane * (item + kind))
    if step == 0:
        raise asked.too_little(cost(1), f"a plane of {asked.plane} cells, labelled,")
    return [kept, ahead, step]


def _window(asked: Asked, first: int, step: int, round_ends: bool) -> Any:
    """A slab with the plane after it."""
    planes = asked.source.shape[0]
    stop = min(first + step, planes)
    window = asked.source.planes(first, min(stop + 1, planes))
    return np.concatenate([window, asked.source.planes(0, 1)]) if round_ends and stop == planes else window


def _labelled(asked: Asked, window: Any, how: dict[str, Any]) -> Any:
    kind = asked.types["label"].itemsize
    on_gpu = asked.gpu is not None and asked.gpu.holds(window.size * (window.itemsize + kind + 16))
    return label(window, device=asked.gpu.name if asked.gpu is not None and on_gpu else None, **how)


def _join(folder: Any, before: int, after: int) -> None:
    """Pairs of labels of one cell, in two slabs."""
    with np.load(folder / f"{before}.npz") as lower, np.load(folder / f"{after}.npz") as upper:
        mine, theirs, most = lower["high"].ravel(), upper["low"].ravel(), lower["count"]
    known = (mine > 0) & (mine <= most)
    pairs = np.unique(np.stack([mine[known], theirs[known]]).astype(np.int64), axis=1)
    np.save(folder / f"{before}-pairs.npy", pairs)


def _numbered(folder: Any, firsts: range, round_ends: bool) -> tuple[dict[int, Any], int]:
    """Of each slab how many components it has, the number before its first new one, and those that are not new.

    Of these their labels and numbers.
    """
    counts = []
    for first in firsts:
        with np.load(folder / f"{first}.npz") as faces:
            counts.append(int(faces["count"]))
    begin = np.concatenate([[0], np.cumsum(counts)])  # of all components of all slabs, in the order of first cells
    joined = [np.empty((2, 0), np.int64)]
    for k, first in enumerate(firsts):
        if k + 1 < len(firsts) or round_ends:
            pairs = np.load(folder / f"{first}-pairs.npy")
            joined.append(pairs + np.array([[begin[k]], [begin[(k + 1) % len(firsts)]]]))
    ends, places = np.unique(np.concatenate(joined, axis=1), return_inverse=True)
    places = places.reshape(2, -1)
    root = ends[roots(len(ends), *places)] if len(ends) else ends
    old = ends[root != ends]  # components that began earlier
    number = root[root != ends] - np.searchsorted(old, root[root != ends])
    tables = {}
    for k, first in enumerate(firsts):
        low, high = np.searchsorted(old, [begin[k] + 1, begin[k + 1] + 1])
        tables[first] = counts[k], int(begin[k] - low), old[low:high] - begin[k], number[low:high]
    return tables, int(begin[-1] - len(old))


def _filled(
    asked: Asked,
    tables: Any,
    firsts: range,
    ahead: int,
    read: Callable[[int], Any],
    wraps: Any,
    how: dict[str, Any],
    measured: bool,
) -> None:
    out, kind = asked.outputs(firsts.step), asked.types["label"]

    def made(first: int, window: Any) -> tuple[Any, Rows | None]:
        # Labels of the plane after it alone may be larger.
        labels = _labelled(asked, window, how)[: min(firsts.step, firsts.stop - first)]
        table = _table(tables[first], kind)
        numbers = table[labels]
        if not measured:
            return numbers, None
        pairs = [(numbers.take([-1], axis), numbers.take([0], axis)) for axis in range(1, labels.ndim) if wraps[axis]]
        after = first + firsts.step if first + firsts.step in firsts else 0
        if after or wraps[0]:
            with np.load(asked.work.folder / f"{after}.npz") as faces:
                pairs.append((numbers[-1:], _table(tables[after], kind)[faces["low"]]))
        begin = (first, *(0,) * (labels.ndim - 1))
        return numbers, rows_of(labels, begin, table[1:].astype(np.int64), pairs)

    def write(first: int, all_: tuple[Any, Rows | None]) -> None:
        numbers, rows = all_
        asked.put(out, (first, *(0,) * (numbers.ndim - 1)), [numbers])
        if rows is not None:
            np.savez(asked.work.folder / f"{first}-rows.npz", **rows._asdict())

    asked.stream("labels", firsts, (0.5, 1.0), ahead, read, made, write)


def _table(known: Any, kind: Any) -> Any:
    """Numbers of a slab's labels."""
    count, before, old, number = known
    table = np.zeros(count + 1, kind)
    new = np.ones(count, bool)
    new[old - 1] = False
    table[1:][new] = np.arange(before + 1, before + 1 + count - len(old), dtype=kind)
    table[old] = number
    return table
