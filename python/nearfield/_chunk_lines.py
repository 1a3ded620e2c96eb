"""Distances and nearest sites by slabs of planes and pencils of lines; public in nearfield.chunks."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import TYPES, check_axes, framework_of
from nearfield._chunk_threads import in_parallel
from nearfield._distance import distance_transform
from nearfield._request import Border, Sites, Spacing, border_of, count_of, flag_of, said, spacing_of

# Rules of docs/semantics.md, "Squared distance".
MOST_COUNTED = 2.0**52
MOST_BOTTOM = 1000
MOST_MULTIPLE = 2.0**26
MOST_INTEGER = 2.0**62
MOST_UINT32 = 2.0**32 - 1

_PART, _PART_THERE = 1 << 18, 1 << 22  # cells to finish at a time on the CPU, on a GPU


class Grid(NamedTuple):
    """Facts that all chunks of one call share; `grid` makes them."""

    shape: tuple[int, ...]  #: shape of the whole grid
    spacing: tuple[float, ...]  #: length along each axis, in the unit of counting
    unit2: float  #: square of that unit
    border: tuple[str, ...]  #: border of each axis
    sites: bool  #: True if nearest sites are found, too
    half_cell: bool = False  #: True if distances end at faces; they are then counted in quarters

    @property
    def largest(self) -> float:
        """Upper bound of squared distances, in `unit2`."""
        far = [n // 2 if b == "periodic" else n - 1 for n, b in zip(self.shape, self.border, strict=True)]
        return float(sum((s * self.reach(max(n, 1))) ** 2 for s, n in zip(self.spacing, far, strict=True)))

    def reach(self, steps: Any) -> Any:
        """What is squared for cells that are so many steps apart, at least one."""
        return 2 * steps - 1 if self.half_cell else steps

    @property
    def squared_type(self) -> str:
        """Type of squared distances between the steps: an integer if they are exact."""
        if any(s != round(s) for s in self.spacing) or self.largest * (1 + 1e-15) >= MOST_INTEGER:
            return "float64"
        return "uint32" if self.largest < MOST_UINT32 else "uint64"

    @property
    def index_type(self) -> str:
        """Type of indices of sites between the steps."""
        return "int32" if math.prod(self.shape) < 2**31 else "int64"


class Partial(NamedTuple):
    """Fields of some cells, after `planes` or after `lines`. Arrays of the same shape."""

    squared: Any  #: of type Grid.squared_type, in `unit2`; the type's maximum, or inf, if there is no site
    index: Any = None  #: of type Grid.index_type: C-order linear index of the nearest site in the whole grid; or -1
    label: Any = None  #: value of the image at that site; or 0


def grid(
    shape: Sequence[int],
    *,
    spacing: Spacing = None,
    border: Border = "open",
    sites: bool = False,
    half_cell: bool = False,
) -> Grid:
    """Decides how to count squared distances of a grid; with `sites`, nearest sites are found, too."""
    shape = tuple(count_of("shape", n, 0) for n in shape)
    check_axes("shape", len(shape))
    if math.prod(shape) >= 2**62:
        raise ValueError(f"shape is {said(shape)}; give fewer than 2**62 cells in all")
    lengths = spacing_of(spacing, len(shape), 0) or (1.0,)
    each = lengths * len(shape) if len(lengths) == 1 else lengths
    ends = border_of(border, len(shape), 0)
    ends = ends * len(shape) if len(ends) == 1 else ends
    for name, came in (("spacing", len(each)), ("border", len(ends))):
        if came != len(shape):
            raise ValueError(f"{name} has {came} values for {len(shape)} axes; give one per axis, or one for all")
    _core.window_halo(0.0, each, len(shape))  # refuses lengths whose squares are no numbers above 0
    made = _counted(Grid(shape, each, 1.0, ends, bool(sites), flag_of("half_cell", half_cell)))
    return made._replace(unit2=made.unit2 / 4) if made.half_cell else made


def _counted(plain: Grid) -> Grid:
    """Applies the rules of docs/semantics.md, "Squared distance"."""
    integral = all(s == round(s) for s in plain.spacing)
    if len(set(plain.spacing)) == 1:
        cells = plain._replace(spacing=(1.0,) * len(plain.shape), unit2=plain.spacing[0] ** 2)
        return cells if cells.largest < MOST_COUNTED else plain
    for bottom in range(1, 2 if integral else MOST_BOTTOM + 1):
        multiples = [float(round(s * bottom)) for s in plain.spacing]
        if all(1 <= m < MOST_MULTIPLE and m / bottom == s for m, s in zip(multiples, plain.spacing, strict=True)):
            top = math.gcd(*(int(m) for m in multiples))
            if integral and top == 1:
                return plain
            unit2 = (top * top) / (bottom * bottom)
            made = plain._replace(spacing=tuple(m / top for m in multiples), unit2=unit2)
            return made if made.largest < MOST_COUNTED else plain
    return plain


def held(of: Grid, label: Any = None) -> dict[str, Any]:
    """Types of the fields between the passes, in the order of `Partial`; `label`: the type of those, if there are."""
    types = {"squared": of.squared_type, "index": of.index_type if of.sites else None, "label": label}
    return {name: np.dtype(kind) for name, kind in types.items() if kind is not None}


def space_of(x: Any) -> Any:
    """Module whose functions make arrays like this one: CuPy or NumPy."""
    return sys.modules["cupy"] if framework_of(x).name == "cupy" else np


def planes(
    of: Grid,
    slab: Any,
    first: int = 0,
    sites: Sites = "zero",
    *,
    labels: bool = False,
    out: Partial | None = None,
    threads: int | None = None,
) -> Partial:
    """Computes the fields within each plane of a slab of the grid.

    Parameters
    ----------
    slab : array
        Whole planes of the image: any number along axis 0, all cells along the others.
    first : int
        Number of its first plane in the grid.
    sites : {'zero', 'nonzero', 'other_labels'}
        As in `nearfield.distance_transform`; `lines` does not continue the last one.
    labels : bool
        Also return the image's values at the nearest sites; the grid needs `sites`.
    out : Partial, optional
        Arrays that may be filled instead of new ones.
    """
    xp = space_of(slab)
    slab = xp.ascontiguousarray(slab)
    if slab.shape[1:] != of.shape[1:]:
        raise ValueError(f"slab has shape {slab.shape}; give whole planes, of shape {of.shape[1:]}")
    if count_of("first", first, 0) + len(slab) > of.shape[0]:
        raise ValueError(f"first is {first} and slab has {len(slab)} planes; the grid has {of.shape[0]}")
    if labels and not of.sites:
        raise ValueError("labels of a grid without sites; give sites=True to grid")
    if by_passes(of):
        if sites == "other_labels":
            raise ValueError("sites is 'other_labels', which needs two axes, integer squares and whole cells")
        return _planes_by_passes(of, slab, first, sites, labels, threads)
    border = tuple("open" if b == "closed" else b for b in of.border[1:])
    how: dict[str, Any] = dict(spacing=of.spacing[1:], sites=sites, border=border, batch_axes=1, threads=threads)
    how.update(squared=True, dtype=of.squared_type, out=None if out is None else out.squared)
    if not of.sites:
        return Partial(distance_transform(slab, **how))
    index = xp.empty(slab.shape, of.index_type) if out is None else out.index
    squared, _ = distance_transform(slab, return_indices="linear", indices_out=index, **how)
    values = xp.zeros(slab.shape, slab.dtype) if labels else None
    for k in range(len(slab)):
        there = index[k] >= 0
        if values is not None:
            xp.copyto(values[k], slab[k].ravel()[index[k]], where=there)
        index[k] = xp.where(there, index[k] + (first + k) * math.prod(of.shape[1:]), -1)
    return Partial(squared, index, values)


def by_passes(of: Grid) -> bool:
    """True for planes that one call does not compute."""
    return len(of.shape) == 1 or of.squared_type == "float64" or of.half_cell


def _planes_by_passes(of: Grid, slab: Any, first: int, sites: str, labels: bool, threads: int | None) -> Partial:
    """For half cells, and for squares that are rounded: in the order of the formula, whatever lengths a plane has."""
    xp = space_of(slab)
    there = (slab == 0) if sites == "zero" else (slab != 0)
    part = Partial(xp.full(slab.shape, none_of(of.squared_type), of.squared_type))
    part.squared[there] = 0
    if of.sites:
        begin = first * math.prod(of.shape[1:])
        number = xp.arange(begin, begin + slab.size, dtype=of.index_type).reshape(slab.shape)
        part = part._replace(index=xp.where(there, number, number.dtype.type(-1)))
    if labels:
        part = part._replace(label=xp.where(there, slab, slab.dtype.type(0)))
    for axis in range(slab.ndim - 1, 0, -1):
        pass_along(of, part, axis, threads)
    return part


def lines(
    of: Grid,
    pencil: Partial,
    start: Sequence[int] | None = None,
    *,
    limit: float = math.inf,
    overwrite: bool = False,
    threads: int | None = None,
) -> Partial:
    """Computes the fields of the whole grid for a pencil: cells whose lines along axis 0 are whole.

    Parameters
    ----------
    pencil : Partial
        Results of `planes` for these cells.
    start : sequence of int, optional
        Position of the pencil in the grid; needed for closed borders of axes other than the first.
    limit : float
        Largest distance, as `max_distance`: cells that are farther from every site have none.
    overwrite : bool
        Fill the arrays of `pencil`, which must be contiguous, with the answer.
    """
    shape = tuple(pencil.squared.shape)
    if shape[:1] != of.shape[:1] or len(shape) != len(of.shape):
        raise ValueError(f"pencil has shape {shape}; give whole lines of {of.shape[0]} cells along axis 0")
    if start is not None and len(start) != len(shape):
        raise ValueError(f"start has {len(start)} values for {len(shape)} axes; give the position of the first cell")
    if not limit >= 0:
        raise ValueError(f"limit is {said(limit)}; give a distance of at least 0")
    if not overwrite:
        pencil = Partial(*(None if a is None else space_of(a).array(a, order="C") for a in pencil))
    pass_along(of, pencil, 0, threads)
    finish(of, pencil, start, limit)
    return pencil


def finish(of: Grid, pencil: Partial, start: Sequence[int] | None, limit: float) -> None:
    """Applies closed borders and the limit after all passes."""
    shape = pencil.squared.shape
    closed = [axis for axis, b in enumerate(of.border) if b == "closed"]
    if start is None and any(axis > 0 for axis in closed):
        raise ValueError("start is left out; with closed borders it tells where the pencil begins")
    if closed:
        _close(of, pencil, closed, (0,) * len(shape) if start is None else start)
    if not math.isinf(limit):
        for part in parts_of(pencil):
            _drop(of, part, space_of(part.squared).sqrt(part.squared * of.unit2) > limit)


def pass_along(of: Grid, part: Partial, axis: int, threads: int | None) -> None:
    framework = framework_of(part.squared)
    squared, site, label = (None if a is None else framework.describe("pencil", a, True) for a in part)
    place = framework.place(part.squared)
    periodic = of.border[axis] == "periodic"
    assert squared is not None
    how = (axis, of.spacing[axis], periodic, list(of.shape), of.half_cell)
    _core.pass_along(squared, site, label, *how, *place, threads or 0)


def _close(of: Grid, part: Partial, closed: Sequence[int], start: Sequence[int]) -> None:
    """Makes the cell beyond a closed border the nearest site wherever it is nearer than every site."""
    rows, xp = rows_at_once(part.squared), space_of(part.squared)
    wide = _beyond(of, part.squared, closed, start)
    for k, one in enumerate(parts_of(part)):
        near = wide[k * rows : (k + 1) * rows]
        _drop(of, one, near < one.squared)
        xp.minimum(one.squared, near, out=one.squared)


def _beyond(of: Grid, squared: Any, axes: Sequence[int], start: Sequence[int]) -> Any:
    """Squared distances from cells that begin at `start` in the grid to the nearest cell beyond the ends of `axes`."""
    shape, xp = squared.shape, space_of(squared)
    beyond = xp.full((1,) * len(shape), none_of(of.squared_type), of.squared_type)
    for axis in axes:
        at = xp.arange(start[axis], start[axis] + shape[axis], dtype=np.float64)
        steps = xp.minimum(at + 1, of.shape[axis] - at)
        away = (of.spacing[axis] ** 2 * of.reach(steps) ** 2).astype(of.squared_type)
        beyond = xp.minimum(beyond, away.reshape([-1 if k == axis else 1 for k in range(len(shape))]))
    return xp.broadcast_to(beyond, shape)


def trusted(of: Grid, squared: Any, start: Sequence[int], limit: float) -> Any:
    """True for cells whose distance by `lines` no content beyond the open borders can change."""
    xp = space_of(squared)
    made = xp.full(squared.shape, True)
    ends = [axis for axis, b in enumerate(of.border) if b == "open"]
    beyond = _beyond(of, squared, ends, start)
    for k in range(0, len(made) if ends else 0, rows_at_once(made)):
        rows = slice(k, k + rows_at_once(made))
        far = xp.sqrt(beyond[rows] * of.unit2) > limit
        made[rows] = xp.where(squared[rows] == none_of(of.squared_type), far, squared[rows] <= beyond[rows])
    return made


def _drop(of: Grid, part: Partial, gone: Any) -> None:
    """Marks cells as having no site."""
    part.squared[gone] = none_of(of.squared_type)
    if part.index is not None:
        part.index[gone] = -1
    if part.label is not None:
        part.label[gone] = 0


def rows_at_once(x: Any) -> int:
    """Returns how many rows are finished at a time, for which temporary arrays take little memory."""
    most = _PART if space_of(x) is np else _PART_THERE
    return max(1, most // max(1, int(math.prod(x.shape[1:]))))


def parts_of(part: Partial) -> Iterator[Partial]:
    """Yields some rows at a time, so that temporary arrays take little memory."""
    step = rows_at_once(part.squared)
    for k in range(0, len(part.squared), step):
        yield Partial(*(None if a is None else a[k : k + step] for a in part))


def coordinate(index: Any, shape: Sequence[int], axis: int) -> Any:
    """Coordinates along an axis of a grid: int32, of linear indices in host memory; -1 if there is no site."""
    made, below = np.empty(index.shape, np.int32), math.prod(shape[axis + 1 :])
    for k in range(0, len(made), rows_at_once(made)):
        part = index[k : k + rows_at_once(made)]
        made[k : k + rows_at_once(made)] = np.where(part < 0, -1, part // below % shape[axis])
    return made


def none_of(kind: Any) -> Any:
    """Value of an element type that stands for no site."""
    kind = np.dtype(kind)
    return np.iinfo(kind).max if kind.kind == "u" else math.inf


def no_site(field: str, kind: Any) -> Any:
    """What a cell without a site has in one of the fields that are asked for."""
    return {"index": -1, "label": 0}.get(field, 0 if np.dtype(kind) == "bool" else none_of(kind))


def distance(
    of: Grid,
    field: Any,
    dtype: Any = "float32",
    *,
    squared: bool = False,
    out: Any = None,
    threads: int | None = None,
) -> Any:
    """Distances of the whole grid from the squares of `lines`; with `squared`, those squares in another type.

    `out` is filled instead of a new array; it may be the memory of `field`, if its elements are as wide.
    """
    xp = space_of(field)
    if xp is not np and np.dtype(dtype) == "float16":  # CuPy rounds it twice
        return xp.asarray(distance(of, field.get(), dtype, squared=squared, threads=threads))
    made = xp.empty(field.shape, dtype) if out is None else out
    if field.dtype != of.squared_type:
        raise TypeError(
            f"field has element type {field.dtype}; give squares of lines, which are {of.squared_type} here"
        )
    if made.dtype.name not in TYPES or made.dtype.kind == "i":
        name = "dtype is" if out is None else "out has element type"
        raise TypeError(f"{name} {made.dtype}; give bool, an unsigned integer, float16, float32 or float64")
    if made.shape != field.shape:
        raise ValueError(f"out has shape {made.shape}; give one of the shape of field, {field.shape}")
    step = rows_at_once(made)

    def of_rows(k: int) -> None:
        _distance(of, field[k : k + step], made[k : k + step], squared)

    in_parallel(of_rows, range(0, len(made), step), threads if xp is np else 1)
    return made


def _distance(of: Grid, field: Any, out: Any, squared: bool) -> None:
    xp, none = space_of(field), none_of(of.squared_type)
    counted = xp is np and field.dtype == "uint32" and out.dtype == "float32" and of.unit2 == 1.0 and not squared
    if counted and field.max(initial=0) < 1 << 24:  # float32 holds it, and has the root that double rounds to
        np.sqrt(field.astype(np.float32), out=out)
        return
    gone = field == none
    if out.dtype.kind == "b":
        xp.logical_not(gone, out=out)
        return
    value = field if squared and out.dtype.kind == "u" and of.unit2 == 1.0 else field * of.unit2
    if not squared:
        xp.sqrt(value, out=value)
    if out.dtype.kind == "u":
        value = xp.where(gone, 0, value)
    with np.errstate(over="ignore"):  # of float16
        xp.copyto(out, value, casting="unsafe")
    if xp is not np or gone.any():  # a GPU is not waited for
        out[gone] = none_of(out.dtype)
