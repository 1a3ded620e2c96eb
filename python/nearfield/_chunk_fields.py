"""Distances and nearest sites out of core: by windows within a limit, or by slabs and pencils."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nearfield._call import compute
from nearfield._chunk_call import Asked
from nearfield._chunk_lines import Grid, Partial, distance, lines, planes
from nearfield._chunk_work import Between
from nearfield._request import Request


def by_windows(asked: Asked, of: Grid, plain: bool) -> bool:
    """Slabs with what lies within the limit round them. False where that is not possible, or not the better way."""
    request = asked.request
    assert request is not None
    if math.isinf(request.max_distance) or of.border[0] != "open":
        if not plain:
            raise ValueError(
                "signed, multilabel, half_cell and sites='other_labels' need max_distance and an open border of the "
                "first axis"
            )
        return False
    reach = min(math.floor(request.max_distance / (of.spacing[0] * math.sqrt(of.unit2))) + 1, of.shape[0])
    options = _within_slabs(asked, request)

    def cost(count: int) -> int:
        shape = (min(count + 2 * reach, of.shape[0]), *of.shape[1:])
        taken = asked.workspace(shape, options)
        each = 2 * asked.source.dtype.itemsize + sum(asked.types[name].itemsize for name in asked.targets)
        return int(taken + math.prod(shape) * each + count * asked.plane * 8)

    def choose() -> list[Any]:
        held, step = asked.planes_within(cost)
        if plain and (step == 0 or (step < 2 * reach and step < of.shape[0])):
            return _choose(asked, of)
        if step == 0:
            raise asked.too_little(cost(1), f"a plane with {2 * reach} others round it")
        return [held, "windows", step]

    way, step, *_ = asked.layout(choose)
    if way == "windows":
        _run_windows(asked, of, options, step, reach)
    return bool(way == "windows")


def _within_slabs(asked: Asked, request: Request) -> Request:
    """The request of a window: fields in the order of the library's."""
    lead = asked.source.lead
    lengths = request.spacing if len(request.spacing) < 2 else request.spacing[lead:]
    ends = request.border if len(request.border) == 1 else request.border[lead:]
    kind = "squared" if asked.squared else "distance"
    fields = tuple((kind if n == "distance" else n, asked.types[n].name) for n in asked.targets)
    return request._replace(spacing=lengths, border=ends, fields=fields)


def _run_windows(asked: Asked, of: Grid, options: Request, step: int, reach: int) -> None:
    out = asked.outputs(step)
    for first in asked.tasks("slab", range(0, of.shape[0], step), (0.0, 1.0)):
        low, stop = max(first - reach, 0), min(first + step, of.shape[0])
        window = asked.source.planes(low, min(stop + reach, of.shape[0]))
        made = compute(window, options, {}, threads=asked.threads)
        for name, field in zip(asked.targets, made, strict=True):
            own = field[first - low : stop - low]
            if name == "index":
                own[own >= 0] += low * asked.plane
            asked.put(out[name], (first, *(0,) * (len(of.shape) - 1)), own)
        del window, made


def by_lines(asked: Asked, of: Grid) -> None:
    """The fields of slabs of planes go to a file, from where pencils of whole lines are read."""
    request = asked.request
    assert request is not None
    labels = "label" in asked.targets
    _, step, *box = asked.layout(lambda: _choose(asked, of))
    between = Between(asked.work.folder / "between", of.shape, _held(asked, of), step, box)
    try:
        sites: Any = request.sites
        for first in asked.tasks("slab", range(0, of.shape[0], step), (0.0, 0.5)):
            slab = asked.source.planes(first, min(first + step, of.shape[0]))
            between.write(first, planes(of, slab, first, sites, labels=labels, threads=asked.threads))
            del slab
        _run_lines(asked, of, between, request.max_distance)
    finally:
        between.close()


def _run_lines(asked: Asked, of: Grid, between: Between, limit: float) -> None:
    out = asked.outputs()
    for number in asked.tasks("pencil", range(len(between.boxes)), (0.5, 1.0)):
        start = [0, *(s.start for s in between.boxes[number])]
        part = lines(of, between.read(number), start, limit=limit, overwrite=True, threads=asked.threads)
        for name in asked.targets:
            asked.put(out[name], start, _field(asked, of, part, name))
        del part


def _field(asked: Asked, of: Grid, part: Partial, name: str) -> Any:
    if name == "distance":
        return distance(of, part.squared, asked.types[name], squared=asked.squared)
    field = part.index if name == "index" else part.label
    return field.astype(asked.types[name], copy=False)


def _held(asked: Asked, of: Grid) -> list[str]:
    """Types of the fields between the passes."""
    labels = [asked.source.dtype.name] if "label" in asked.targets else []
    return [of.squared_type] + ([of.index_type] if of.sites else []) + labels


def _choose(asked: Asked, of: Grid) -> list[Any]:
    """Planes of a slab, and the size of pencils across."""
    held = _held(asked, of)
    kept, step = asked.planes_within(lambda count: _slab_bytes(asked, of, held, count))
    if step == 0:
        raise asked.too_little(_slab_bytes(asked, of, held, 1), f"a plane of {asked.plane} cells")
    each = sum(np.dtype(kind).itemsize for kind in held) + max(asked.types[n].itemsize for n in asked.targets) + 1
    cells = asked.room() // (each * max(of.shape[0], 1)) - 64
    sizes = asked.target_chunks or (1,) * len(of.shape)
    box = [min(c, max(n, 1)) for c, n in zip(sizes[1:], of.shape[1:], strict=True)]
    while math.prod(box) > cells and max(box, default=1) > 1:
        box[box.index(max(box))] //= 2
    if cells < 1:
        raise asked.too_little(of.shape[0] * 64 * each, f"a pencil of lines of {of.shape[0]} cells")
    for axis in range(len(box) - 1, -1, -1):  # as long as they can be, the last axis first
        whole = max(of.shape[axis + 1], 1)
        box[axis] = min(whole, box[axis] * max(1, cells // math.prod(box)))
    return [kept, "lines", step, *box]


def _slab_bytes(asked: Asked, of: Grid, held: list[str], count: int) -> int:
    """Bytes of the arrays of `planes` for so many of them."""
    item, cells = asked.source.dtype.itemsize, count * asked.plane
    sizes = [np.dtype(kind).itemsize for kind in held]
    each = 2 * item + sum(sizes)
    if len(of.shape) == 1 or of.squared_type == "float64":
        return int(cells * (2 * each + 10))
    fields: list[tuple[str, str]] = [("squared", of.squared_type)] + ([("index", of.index_type)] if of.sites else [])
    ends = tuple("open" if b == "closed" else b for b in of.border)
    request = Request(tuple(fields), of.spacing, "zero", border=ends, batch_axes=1)
    taken = asked.workspace((count, *of.shape[1:]), request)
    return int(cells * each + int(taken) + cells * max(sizes) // 2)
