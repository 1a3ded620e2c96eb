"""Fields of arrays in files that do not fit into memory, in one process: from Zarr, NPY, NRRD and TIFF to the same.

>>> import numpy as np, os, tempfile
>>> from nearfield import outofcore
>>> folder = tempfile.TemporaryDirectory()
>>> source, target = os.path.join(folder.name, "mask.npy"), os.path.join(folder.name, "away.npy")
>>> np.save(source, np.array([[0, 1, 1], [1, 1, 1]], np.uint8))
>>> outofcore.distance_transform(source, target)
>>> np.load(target)
array([[0.       , 1.       , 2.       ],
       [1.       , 1.4142135, 2.236068 ]], dtype=float32)

Answers have the bits of the whole grid. A source is a path, or an array that slices give parts of, such as one of Zarr
or HDF5. NRRD has to be in one piece and not compressed; TIFF that is compressed or in tiles needs the package zarr. The
finest level of a group of OME-Zarr is read, with its spacing. Targets end in .zarr, .npy, .nrrd or .tif, and appear
when they are finished; those that end in .ome.zarr are groups of OME-Zarr (0.5) of one level.

If a call was interrupted, killed, or stopped by a full disk, the same call continues it: the folder
``TARGET.unfinished`` notes what is finished. `nearfield.dask` is for clusters.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nearfield import _morphology as morphology
from nearfield._chunk_call import Asked, few_chunks_at_once
from nearfield._chunk_classes import classes_for
from nearfield._chunk_components import label_slabs
from nearfield._chunk_device import gpu_for
from nearfield._chunk_fields import by_balls, by_lines, by_windows
from nearfield._chunk_files import Part, Source, check_target
from nearfield._chunk_lines import grid
from nearfield._chunk_tables import Rows, tabulate
from nearfield._chunk_work import Work, bytes_of, full_disk_told
from nearfield._component_table import ComponentTable
from nearfield._core import version
from nearfield._distance import distance_type
from nearfield._label import label as label_of_array
from nearfield._label_request import Periodic, _periodic_of, lengths_of
from nearfield._progress import Progress, callable_of
from nearfield._request import Border, Request, Signed, Sites, Spacing, flag_of, request_for, spacing_of, threads_of

File = str | os.PathLike[str]


def distance_transform(
    source: Any,
    target: File | None,
    *,
    indices: File | None = None,
    coordinates: File | None = None,
    trusted: File | None = None,
    memory: Any = None,
    spacing: Spacing = None,
    sites: Sites = "zero",
    squared: bool = False,
    signed: Signed = False,
    multilabel: bool = False,
    half_cell: bool = False,
    border: Border = "open",
    max_distance: float | None = None,
    where: Any = None,
    dtype: Any = None,
    device: str | None = None,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress = None,
) -> None:
    """`nearfield.distance_transform` from file to file.

    Parameters
    ----------
    source : path or array
        See above.
    target : path or None
        File for the distances; an existing one is replaced in the end.
    indices : path, optional
        File for the nearest sites: int64 linear indices of the whole grid.
    coordinates : path, optional
        File for their coordinates: int32 of shape ``(axes, *shape)``.
    trusted : path, optional
        File of bool: False for distances that content beyond the open borders could change.
    memory : int or str, optional
        Bytes that this process may take in all, such as ``"4GB"``; default: what it has and half of what is free.
        Without a limit the disk needs space for the target, or for the field between the two passes if that is larger:
        2 to 8 bytes a cell, and 4 or 8 for sites.
    spacing
        As in `nearfield.distance_transform`; default: the file's.
    where : path, array or 'nodata', optional
        Mask of bool or uint8, of the source's shape; cells where it is zero take no part. ``'nodata'`` excludes the
        cells that a GeoTIFF marks as without data.
    signed, multilabel, half_cell, sites, squared, border, max_distance, dtype, threads
        As in `nearfield.distance_transform`.
    device : {'cpu', 'cuda', 'cuda:N'}, optional
        Default: a GPU, if there is one and the package cupy.
    resume : bool
        Continue what an earlier call with these arguments left; False starts anew.
    progress : bool or callable, optional
        True draws a bar on a terminal, with the time that remains. A callable receives the share done, and stops the
        call if it returns False.

    Raises
    ------
    ValueError, TypeError, FileNotFoundError
        An argument is invalid, such as `memory` in which no part fits; nothing was computed.
    OSError
        The disk is full or cannot be written. Finished parts are kept.
    """
    opened = Source(source)
    kind = "squared" if flag_of("squared", squared) else "distance"
    flags: dict[str, Any] = dict(signed=signed, multilabel=multilabel, half_cell=half_cell, sites=sites)
    _compute(
        opened,
        {"distance": target, "index": indices, "coordinates": coordinates, "trusted": trusted},
        kind,
        dtype,
        dict(spacing=spacing, border=border, max_distance=max_distance, **flags),
        dict(memory=memory, device=device, threads=threads, resume=resume, progress=progress),
        where,
    )


def voronoi(
    source: Any,
    target: File | None,
    *,
    labels: File | None = None,
    distances: File | None = None,
    coordinates: File | None = None,
    trusted: File | None = None,
    memory: Any = None,
    spacing: Spacing = None,
    sites: Sites = "nonzero",
    border: Border = "open",
    max_distance: float | None = None,
    where: Any = None,
    device: str | None = None,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress = None,
) -> None:
    """`nearfield.voronoi` from file to file; parameters and errors as in `distance_transform`.

    Parameters
    ----------
    target : path or None
        File for the nearest sites: int64 linear indices of the whole grid.
    labels, distances : path, optional
        Files for the source's values at the nearest sites, and for the distances to them.
    coordinates, trusted : path, optional
        As in `distance_transform`.
    """
    opened = Source(source)
    if sites == "other_labels":
        raise ValueError("sites='other_labels' has no diagram; give 'nonzero' or 'zero'")
    flags: dict[str, Any] = dict(signed=False, multilabel=False, half_cell=False, sites=sites)
    _compute(
        opened,
        {"index": target, "label": labels, "distance": distances, "coordinates": coordinates, "trusted": trusted},
        "distance",
        None,
        dict(spacing=spacing, border=border, max_distance=max_distance, **flags),
        dict(memory=memory, device=device, threads=threads, resume=resume, progress=progress),
        where,
    )


def expand_labels(source: Any, target: File, distance: float | None = 1, spacing: Spacing = None, **how: Any) -> None:
    """`nearfield.expand_labels` from file to file; other keywords as in `voronoi`."""
    voronoi(source, None, labels=target, max_distance=distance, spacing=spacing, **how)


def label(
    source: Any,
    target: File,
    *,
    memory: Any = None,
    connectivity: int = 1,
    criterion: Any = "nonzero",
    background: float | None = 0,
    periodic: Periodic = False,
    dtype: Any = "int32",
    device: str | None = None,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress = None,
) -> int:
    """`nearfield.label` from file to file, with the numbers of the whole grid; returns how many components there are.

    The call reads the source twice, and keeps only the ends of slabs of planes between. Parameters are those of
    `nearfield.label` and of `distance_transform`.
    """
    run = dict(memory=memory, device=device, threads=threads, resume=resume, progress=progress)
    how = dict(connectivity=connectivity, criterion=criterion, background=background)
    return _numbered(Source(source), target, how, periodic, dtype, run, False)[0]


def components(
    source: Any, target: File, *, spacing: Spacing = None, dtype: Any = "int32", periodic: Periodic = False, **how: Any
) -> ComponentTable:
    """`nearfield.components` from file to file: labels go to `target`, and their table is returned.

    Parameters are those of `label` and of `nearfield.components`. The source has at most three axes, not counting first
    ones of one cell, which the table omits. Intensities are not measured.
    """
    opened = Source(source)
    axes = len(opened.shape)
    if axes > 3:
        raise ValueError(f"source has {axes} axes; tables are of at most 3")
    lengths = spacing if spacing is not None else (opened.spacing or (1.0,) * axes)[-axes:]
    lengths_of(lengths, axes)
    words = {"memory", "device", "threads", "resume", "progress"}
    run: dict[str, Any] = dict(memory=None, device=None, threads=None, resume=True, progress=None)
    run.update({word: how.pop(word) for word in words & how.keys()})
    how = {**dict(connectivity=1, criterion="nonzero", background=0), **how}
    count, rows, wraps = _numbered(opened, target, how, periodic, dtype, run, True)
    return tabulate(rows, count, opened.shape, spacing=lengths, periodic=wraps)


def _numbered(
    opened: Source, target: File, how: Any, periodic: Periodic, dtype: Any, run: dict[str, Any], measured: bool
) -> tuple[int, list[Rows], Any]:
    ends = _periodic_of(periodic, len(opened.full_shape))
    wraps = (ends * len(opened.full_shape) if len(ends) == 1 else ends)[opened.lead :]
    probe = np.zeros((1,) * len(opened.shape), opened.dtype)
    kind = np.dtype(label_of_array(probe, dtype=dtype, periodic=wraps, **how).dtype)
    about = dict(call="label", measured=measured, dtype=kind.name, periodic=wraps)
    about.update({word: repr(value) for word, value in how.items()})
    asked = _asked(opened, {"label": target}, {"label": kind}, opened.spacing, run)
    count, rows = _finished(asked, about, run, lambda: label_slabs(asked, wraps, how, measured))
    return count, rows, wraps


def erosion(source: Any, target: File, radius: float, **how: Any) -> None:
    """`nearfield.erosion` from file to file.

    Keywords are `spacing`, `border` and `labels` of `nearfield.erosion`, and `memory`, `device`, `threads`, `resume`
    and `progress` of `distance_transform`. With labels `closing` has no periodic first axis.
    """
    _by_ball(1, morphology.erosion, source, target, radius, **how)


def dilation(source: Any, target: File, radius: float, *, labels: bool = False, **how: Any) -> None:
    """`nearfield.dilation` from file to file; keywords as in `erosion`."""
    if flag_of("labels", labels):
        return expand_labels(source, target, radius, **how)
    _by_ball(1, morphology.dilation, source, target, radius, **how)


def opening(source: Any, target: File, radius: float, **how: Any) -> None:
    """`nearfield.opening` from file to file; keywords as in `erosion`."""
    _by_ball(2, morphology.opening, source, target, radius, **how)


def closing(source: Any, target: File, radius: float, **how: Any) -> None:
    """`nearfield.closing` from file to file; keywords as in `erosion`."""
    _by_ball(2, morphology.closing, source, target, radius, **how)


# ---- what all have in common ---------------------------------------------------------------------------------------


def _compute(
    source: Source, targets: dict[str, Any], kind: Any, dtype: Any, how: dict[str, Any], run: dict[str, Any], where: Any
) -> None:
    lengths = source.spacing if how["spacing"] is None else how["spacing"]
    axes = len(source.full_shape)
    request = request_for(axes, batch_axes=0, **{**how, "spacing": lengths})
    ends = request.border * axes if len(request.border) == 1 else request.border
    of_all = grid(source.full_shape, spacing=lengths, border=how["border"], half_cell=request.half_cell)
    first = set(ends[: source.lead])
    if "closed" in first or ("open" in first and targets["trusted"] is not None):
        raise ValueError(
            f"border is {min(first)} along a first axis of one cell; take that axis off, or give 'periodic'"
        )
    types = {
        "distance": np.dtype(distance_type(kind, dtype, None, source.full_shape, request)),
        "index": np.dtype("int64"),
        "coordinates": np.dtype("int32"),
        "trusted": np.dtype("bool"),
        "label": source.dtype,
    }
    spaced = (1.0 if not request.spacing else request.spacing[0],) * axes if len(request.spacing) < 2 else None
    spaced = spaced or request.spacing
    part = None if where is None else Part.given(where, source)
    about = dict(call=kind, dtype=str(dtype), request=repr(request))
    if part is not None:
        about["where"] = [part.source.token, part.none]
    asked = _asked(source, targets, types, spaced, run)
    asked.part = part
    asked.squared, asked.request = kind == "squared", request
    of = of_all._replace(
        shape=source.shape,
        spacing=of_all.spacing[source.lead :],
        border=of_all.border[source.lead :],
        sites=bool({"index", "label"} & set(asked.fields)),
    )
    asked.classes = classes_for(request, source.dtype)
    _finished(asked, about, run, lambda: None if by_windows(asked, of) else by_lines(asked, of))


def _by_ball(
    times: int,
    function: Any,
    source: Any,
    target: File,
    radius: float,
    *,
    spacing: Spacing = None,
    border: Border = "open",
    labels: bool = False,
    memory: Any = None,
    device: str | None = None,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress = None,
) -> None:
    opened = Source(source)
    of = grid(opened.full_shape, spacing=opened.spacing if spacing is None else spacing, border=border)
    if "closed" in of.border[: opened.lead]:
        raise ValueError("border is closed along a first axis of one cell; take that axis off")
    rounds = of.border[opened.lead] == "periodic"
    if rounds and flag_of("labels", labels) and function is morphology.closing:
        raise ValueError("closing of labels needs a first axis that is not periodic; close them one by one")
    ends = ("open",) * rounds + of.border[opened.lead + rounds :]
    lengths = spacing_of(opened.spacing if spacing is None else spacing, len(of.shape), 0) or (1.0,)
    each = (lengths * len(of.shape) if len(lengths) == 1 else lengths)[opened.lead :]
    how: dict[str, Any] = dict(spacing=each, border=ends, labels=flag_of("labels", labels))
    kind = function(np.zeros((1,) * len(opened.shape), opened.dtype), radius, **how).dtype
    reach = times * (math.floor(min(radius / each[0], opened.shape[0])) + 1)
    balls = Request((("distance", "bool"),), each, "other_labels" if labels else "zero", border=ends)
    if labels:
        balls = balls._replace(fields=(("label", opened.dtype.name),))
    run = dict(memory=memory, device=device, threads=threads, resume=resume, progress=progress)
    asked = _asked(opened, {"image": target}, {"image": kind}, each, run)
    about = dict(call=function.__name__, radius=float(radius), how=repr(how))

    def fields(window: Any) -> list[Any]:
        return [function(window, radius, **how, threads=threads)]

    _finished(asked, about, run, lambda: by_balls(asked, reach, balls, fields, rounds))


def _asked(source: Source, targets: dict[str, Any], types: dict[str, Any], spacing: Any, run: dict[str, Any]) -> Asked:
    paths = {name: Path(path) for name, path in targets.items() if path is not None}
    if not paths:
        raise ValueError("nothing is asked for; give a target")
    if len({path.resolve() for path in paths.values()}) < len(paths):
        raise ValueError("two targets are one file; give each its own")
    for name, path in paths.items():
        check_target(name, path, types[name], len(source.full_shape) + (name == "coordinates"))
        if source.path is not None and path.resolve() in (source.path.resolve(), *source.path.resolve().parents):
            raise ValueError(f"{name} is {path}, which is the source; give another name")
    threads, told = threads_of(run["threads"]), callable_of(run["progress"])
    asked = Asked(source, paths, types, spacing, bytes_of(run["memory"]), threads or None, told)
    gpu = gpu_for(run["device"], asked.memory)
    asked.gpu = gpu if len(source.shape) > 1 and asked.plane > 0 else None
    return asked


def _finished(asked: Asked, about: dict[str, Any], run: dict[str, Any], compute: Callable[[], Any]) -> Any:
    where = {name: str(path.resolve()) for name, path in asked.targets.items()}
    about = dict(about, version=version, source=asked.source.token, targets=where, memory=str(run["memory"]))
    asked.work = Work(asked.targets, about, flag_of("resume", run["resume"]))
    wanted = sum(asked.sizes.values())
    try:
        with full_disk_told(asked.work.folder, 4 * wanted), few_chunks_at_once():
            made = compute()
            asked.work.finish()
    finally:
        asked.work.close()
    return made


__all__ = [
    "closing",
    "components",
    "dilation",
    "distance_transform",
    "erosion",
    "expand_labels",
    "label",
    "opening",
    "voronoi",
]
