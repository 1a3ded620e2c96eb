"""Distances and nearest sites out of core: by windows within a limit, or by slabs and pencils."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from nearfield._call import compute
from nearfield._chunk_call import PARTS, Asked
from nearfield._chunk_classes import Searches, bits_of, classes_for, differing
from nearfield._chunk_device import Gpu, Piece
from nearfield._chunk_lines import Grid, Partial, distance, held, lines, no_site, planes, trusted
from nearfield._chunk_work import Between
from nearfield._request import Request

_OF_PART = 38  # bytes a cell that `where` takes in a window and in the library

Fields = Callable[..., list[Any]]  #: computes fields of a window, given which of its cells take part


def by_windows(asked: Asked, of: Grid) -> bool:
    """Computes slabs with what lies within the limit round them; False if that is impossible, or slower."""
    request = asked.request
    assert request is not None
    if math.isinf(request.max_distance) or of.border[0] == "periodic":
        return False
    options = _within_slabs(asked, request)
    reach = min(math.floor(request.max_distance / (options.spacing or (1.0,))[0]) + 1, of.shape[0])

    def fields(window: Any, where: Any = None) -> list[Any]:
        return compute(window, options, {}, threads=asked.threads, where=where)

    def cost(count: int) -> int:
        shape = (min(count + 2 * reach, of.shape[0]), *of.shape[1:])
        taken = asked.workspace(shape, options)
        each = 2 * asked.source.dtype.itemsize + asked.cell
        each += 0 if asked.part is None else _OF_PART
        return int(taken + math.prod(shape) * each + count * asked.plane * 8)

    def choose() -> list[Any]:
        held, ahead, step = asked.slabs_within(cost, lambda count: _ahead_of_windows(asked, count, reach), 8 * reach)
        if step == 0 or (step < 2 * reach and step < of.shape[0]):
            _search(asked, of)
            return _choose(asked, of)
        return [held, "windows", ahead, step]

    way, ahead, step, *_ = asked.layout(choose)
    if way == "windows":
        _run_windows(asked, ahead, step, reach, fields, False)
    return bool(way == "windows")


def _within_slabs(asked: Asked, request: Request) -> Request:
    """Returns the request for a window."""
    lead = asked.source.lead
    lengths = request.spacing if len(request.spacing) < 2 else request.spacing[lead:]
    ends = request.border if len(request.border) == 1 else request.border[lead:]
    kind = "squared" if asked.squared else "distance"
    fields = tuple((kind if n == "distance" else n, asked.types[n].name) for n in asked.fields)
    return request._replace(spacing=lengths, border=ends, fields=fields)


def by_balls(asked: Asked, reach: int, balls: Request, fields: Fields, rounds: bool) -> None:
    """Computes `fields` of slabs with `reach` planes round them, which take the workspace of `balls`.

    With `rounds` the first plane lies beyond the last one.
    """
    item, kind = asked.source.dtype.itemsize, asked.types["image"].itemsize
    reach = min(reach, asked.source.shape[0])

    def cost(count: int) -> int:
        wide = count + 2 * reach
        shape = (wide if rounds else min(wide, asked.source.shape[0]), *asked.source.shape[1:])
        taken = asked.workspace(shape, balls)
        return int(taken + math.prod(shape) * (2 * item + kind + 3) + count * asked.plane * kind)

    def choose() -> list[Any]:
        held, ahead, step = asked.slabs_within(cost, lambda count: _ahead_of_windows(asked, count, reach), 8 * reach)
        if step == 0:
            raise asked.too_little(cost(1), f"a plane with {2 * reach} others round it")
        return [held, ahead, step]

    ahead, step = asked.layout(choose)
    _run_windows(asked, ahead, step, reach, fields, rounds)


def _ahead_of_windows(asked: Asked, count: int, reach: int) -> int:
    """Returns the bytes of the window that is read and of the fields that are written while others are computed."""
    item = asked.source.dtype.itemsize + (0 if asked.part is None else 1 + asked.part.source.dtype.itemsize)
    wide = (count + 2 * reach) * item
    return int(asked.plane * (wide + count * asked.cell))


def _run_windows(asked: Asked, ahead: int, step: int, reach: int, fields: Fields, rounds: bool) -> None:
    out, shape = asked.outputs(step), asked.source.shape

    def ends_of(first: int) -> tuple[int, int]:
        low, high = first - reach, min(first + step, shape[0]) + reach
        return (low, high) if rounds else (max(low, 0), min(high, shape[0]))

    def read(first: int) -> Any:
        return [source.planes(*ends_of(first)) for source in (asked.source, asked.part) if source is not None]

    def made(first: int, window: Any) -> list[Any]:
        low, _ = ends_of(first)
        all_ = _of_window(asked, fields, window, low, (first, min(first + step, shape[0])), reach)
        for name, own in zip(asked.fields, all_, strict=True):
            if name == "index":
                own[own >= 0] += low * asked.plane
        return all_

    def write(first: int, all_: list[Any]) -> None:
        asked.put(out, (first, *(0,) * (len(shape) - 1)), all_)

    asked.stream("slab", range(0, shape[0], step), (0.0, 1.0), ahead, read, made, write)


def _of_window(
    asked: Asked, fields: Fields, window: list[Any], low: int, ends: tuple[int, int], reach: int
) -> list[Any]:
    """Computes fields of the planes `ends` of a window that begins at plane `low`; indices are the window's."""
    first, stop = (end - low for end in ends)
    step = stop - first if asked.gpu is None else asked.gpu.rows(asked.plane, 2 * reach)
    if asked.gpu is None or not asked.gpu.holds(80 * (step + 2 * reach) * asked.plane):
        return [field[first:stop] for field in fields(*window)]
    shape = (stop - first, *asked.source.shape[1:])
    out = [asked.array(str(k), shape, asked.types[name]) for k, name in enumerate(asked.fields)]

    def piece(k: int) -> Piece:
        begin, end = max(k - reach, 0), min(k + step, stop)

        def computed(*there: Any) -> list[Any]:
            return [field[k - begin : end - begin] for field in fields(*there)]

        def store(*made: Any) -> None:
            for name, to, field in zip(asked.fields, out, made, strict=True):
                if name == "index":
                    field[field >= 0] += begin * asked.plane
                to[k - first : end - first] = field

        return [each[begin : end + reach] for each in window], computed, store

    asked.gpu.each(map(piece, range(first, stop, step)), (step + 2 * reach) * asked.plane)
    return out


def by_lines(asked: Asked, of: Grid) -> None:
    """Writes fields of slabs of planes to a file, and reads pencils of whole lines from it."""
    request = asked.request
    assert request is not None
    labels = "label" in asked.targets
    _search(asked, of)
    _, slabs_ahead, step, pencils_ahead, *box = asked.layout(lambda: _choose(asked, of))
    between = Between(asked.work.folder / "between", of.shape, _held(asked, of), step, box, asked.copiers)
    part = asked.part
    sites: Any = request.sites

    def read(first: int) -> Any:
        ends = first, min(first + step, of.shape[0])
        slab, mask = asked.source.planes(*ends), None if part is None else part.planes(*ends)
        if mask is None or asked.classes is not None:
            return slab, mask
        return np.where(mask, slab, slab.dtype.type(sites == "zero")), None

    def made(first: int, came: Any) -> list[Any]:
        return [field for field in _of_slab(asked, of, came, first, sites, labels) if field is not None]

    try:
        out = asked.outputs(None, between.least, between.bytes)
        asked.stream("slab", range(0, of.shape[0], step), (0.0, 0.5), slabs_ahead, read, made, between.write)
        _run_lines(asked, of, between, out, request.max_distance, pencils_ahead)
    finally:
        between.close()


def _of_slab(asked: Asked, of: Grid, came: Any, first: int, sites: Any, labels: bool) -> Iterable[Any]:
    slab, mask = came
    made = {} if asked.classes and not asked.gpu else _arrays(asked, slab.shape, _held(asked, of))

    def fields(first: int, slab: Any, mask: Any = None) -> Iterable[Any]:
        if asked.classes is not None:
            return asked.classes.slab(of, slab, first, mask, asked.threads)
        out = None if asked.gpu else Partial(**made)
        return planes(of, slab, first, sites, labels=labels, out=out, threads=asked.threads)

    if asked.gpu is None:
        return fields(first, slab, mask)
    step = asked.gpu.rows(asked.plane, taken=asked.travels)

    def piece(k: int) -> Piece:
        def computed(*there: Any) -> list[Any]:
            return [field for field in fields(first + k, *there) if field is not None]

        def store(*fields: Any) -> None:
            for to, field in zip(made.values(), fields, strict=True):
                to[k : k + step] = field

        return [each[k : k + step] for each in came if each is not None], computed, store

    asked.gpu.each(map(piece, range(0, len(slab), step)), step * asked.plane)
    return made.values()


def _arrays(asked: Asked, shape: Sequence[int], types: dict[str, Any]) -> dict[str, Any]:
    return {name: asked.array(name, shape, kind) for name, kind in types.items()}


def _run_lines(asked: Asked, of: Grid, between: Between, out: Any, limit: float, ahead: int) -> None:
    def start_of(number: int) -> list[int]:
        return [0, *(s.start for s in between.boxes[number])]

    def made(number: int, fields: dict[str, Any]) -> list[Any]:
        if asked.gpu is not None:
            return _of_pencil(asked, asked.gpu, of, fields, start_of(number), limit)
        return _of_lines(asked, of, fields, start_of(number), limit)

    def write(number: int, fields: list[Any]) -> None:
        between.drop(lambda k: f"pencil:{k}" in asked.work.done)
        box = (slice(None), *between.boxes[number])
        there = None if asked.part is None else asked.part.box(box)
        for name, field in zip(asked.fields, fields, strict=True):
            if there is not None:
                field[~there] = no_site(name, field.dtype)
        asked.put(out, start_of(number), fields)

    asked.stream("pencil", range(len(between.boxes)), (0.5, 1.0), ahead, between.read, made, write)


def _of_lines(asked: Asked, of: Grid, fields: dict[str, Any], start: list[int], limit: float) -> list[Any]:
    if asked.classes is None:
        part = lines(of, Partial(**fields), start, limit=limit, overwrite=True, threads=asked.threads)
        return [_field(asked, of, part, name, start) for name in asked.fields]
    part = asked.classes.pencil(of, fields, start, limit, asked.threads)
    all_ = [_field(asked, of, part, name, start) for name in asked.fields]
    return [asked.classes.signed(field, part.label) for field in all_]


def _of_pencil(asked: Asked, gpu: Gpu, of: Grid, fields: dict[str, Any], start: list[int], limit: float) -> list[Any]:
    shape = next(iter(fields.values())).shape
    made = _arrays(asked, shape, {name: asked.types[name] for name in asked.fields})
    row = math.prod(shape) // shape[1]
    step = gpu.rows(row, taken=asked.travels)

    def piece(k: int) -> Piece:
        def computed(*there: Any) -> list[Any]:
            at = [0, start[1] + k, *start[2:]]
            return _of_lines(asked, of, dict(zip(fields, there, strict=True)), at, limit)

        def store(*fields: Any) -> None:
            for to, field in zip(made.values(), fields, strict=True):
                to[:, k : k + step] = field

        return [field[:, k : k + step] for field in fields.values()], computed, store

    gpu.each(map(piece, range(0, shape[1], step)), step * row)
    return list(made.values())


def _field(asked: Asked, of: Grid, part: Partial, name: str, start: Sequence[int]) -> Any:
    if name == "trusted":
        assert asked.request is not None
        return trusted(of, part.squared, start, asked.request.max_distance)
    if name == "distance":
        kind = np.dtype(asked.types[name])
        in_place = kind.itemsize == part.squared.itemsize and "trusted" not in asked.targets  # which needs the squares
        out = part.squared.view(kind) if in_place else None
        return distance(of, part.squared, kind, squared=asked.squared, out=out, threads=asked.copiers)
    field = part.index if name == "index" else part.label
    return field.astype(asked.types[name], copy=False)


def _search(asked: Asked, of: Grid) -> None:
    """Prepares the searches of classes, and counts what travels."""
    if asked.part is not None and asked.request is not None:
        bits = functools.partial(asked.noted, "bits", functools.partial(_bits, asked))
        asked.classes = classes_for(asked.request, asked.source.dtype, bits)
    asked.travels = asked.cell + sum(kind.itemsize for kind in _held(asked, of).values())


def _bits(asked: Asked) -> int:
    """Reads in which bits labels differ."""
    item = 3 * asked.source.dtype.itemsize + 3
    kept, step = asked.planes_within(lambda count: count * asked.plane * item)
    asked.source.holds = bool(kept)
    if step == 0:
        raise asked.too_little(asked.plane * item, f"a plane of {asked.plane} cells")
    assert asked.part is not None
    ends = [(k, min(k + step, asked.source.shape[0])) for k in range(0, asked.source.shape[0], step)]
    return differing([(0, -1), *(bits_of(asked.source.planes(*one)[asked.part.planes(*one)]) for one in ends)])


def _held(asked: Asked, of: Grid) -> dict[str, Any]:
    """Types of the fields between the passes."""
    if asked.classes is not None:
        return asked.classes.held(of)
    return held(of, asked.source.dtype if "label" in asked.targets else None)


def _choose(asked: Asked, of: Grid) -> list[Any]:
    """Decides how many planes a slab has, and the size of pencils across."""
    sizes_held = [kind.itemsize for kind in _held(asked, of).values()]
    item, between = asked.source.dtype.itemsize, sum(sizes_held)
    item += 0 if asked.part is None else item + 1 + asked.part.source.dtype.itemsize
    slabs = asked.slabs_within(
        lambda count: _slab_bytes(asked, of, sizes_held, count), lambda count: count * asked.plane * (item + between)
    )
    if slabs[-1] == 0:
        raise asked.too_little(_slab_bytes(asked, of, sizes_held, 1), f"a plane of {asked.plane} cells")
    each = between + asked.cell + 16 * isinstance(asked.classes, Searches)
    each += 0 if asked.part is None else 1 + asked.part.source.dtype.itemsize
    sizes = asked.target_chunks or (1,) * len(of.shape)
    box = [min(c, max(n, 1)) for c, n in zip(sizes[1:], of.shape[1:], strict=True)]
    # Chunks of the targets that are written in parts cost more than is gained by writing them meanwhile.
    ahead = int(_cells_of_pencil(asked, of, 2 * each + 1) >= max(math.prod(box), 1))
    cells = _cells_of_pencil(asked, of, (2 if ahead else 1) * each + 1)
    if ahead:
        cells = min(cells, max(math.prod(box), -(-asked.plane // PARTS)))
    while math.prod(box) > cells and max(box, default=1) > 1:
        box[box.index(max(box))] //= 2
    if cells < 1:
        raise asked.too_little(of.shape[0] * 64 * each, f"a pencil of lines of {of.shape[0]} cells")
    for axis in range(len(box) - 1, -1, -1):  # as long as they can be, the last axis first
        whole = max(of.shape[axis + 1], 1)
        box[axis] = min(whole, box[axis] * max(1, cells // math.prod(box)))
    kept, slabs_ahead, step = slabs
    return [kept, "lines", slabs_ahead, step, ahead, *box]


def _cells_of_pencil(asked: Asked, of: Grid, each: int) -> int:
    """Returns how many lines a pencil may have whose cells take `each` bytes."""
    return asked.room() // (each * max(of.shape[0], 1)) - 64


def _slab_bytes(asked: Asked, of: Grid, sizes: list[int], count: int) -> int:
    """Returns the bytes of the arrays of `planes` for so many of them."""
    item, cells = asked.source.dtype.itemsize, count * asked.plane
    each = 2 * item + sum(sizes) + (0 if asked.part is None else item + 1 + asked.part.source.dtype.itemsize)
    if len(of.shape) == 1 or of.squared_type == "float64" or of.half_cell or asked.classes is not None:
        return int(cells * (2 * each + 10))
    fields: list[tuple[str, str]] = [("squared", of.squared_type)] + ([("index", of.index_type)] if of.sites else [])
    ends = tuple("open" if b == "closed" else b for b in of.border)
    request = Request(tuple(fields), of.spacing, "zero", border=ends, batch_axes=1)
    taken = asked.workspace((count, *of.shape[1:]), request)
    return int(cells * each + int(taken) + cells * max(sizes) // 2)
