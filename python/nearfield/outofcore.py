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
or HDF5. TIFF and NRRD have to be in one piece and not compressed; of a group of OME-Zarr the finest level is read, with
its spacing. Targets end in .zarr, .npy, .nrrd or .tif, and appear when they are finished.

A call that was interrupted, killed, or stopped by a full disk is gone on with by the same call: what it had finished is
noted in the folder ``TARGET.unfinished`` and is not done again. `nearfield.dask` has more functions, and clusters.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nearfield._chunk_call import Asked, few_chunks_at_once
from nearfield._chunk_components import label_slabs
from nearfield._chunk_fields import by_lines, by_windows
from nearfield._chunk_files import Source, check_target
from nearfield._chunk_lines import grid
from nearfield._chunk_work import Work, bytes_of, full_disk_told
from nearfield._core import version
from nearfield._distance import distance_type
from nearfield._label import label as label_of_array
from nearfield._label_request import Periodic, _periodic_of
from nearfield._progress import Progress, callable_of
from nearfield._request import Border, Signed, Sites, Spacing, flag_of, request_for, threads_of

File = str | os.PathLike[str]


def distance_transform(
    source: Any,
    target: File | None,
    *,
    indices: File | None = None,
    memory: Any = None,
    spacing: Spacing = None,
    sites: Sites = "zero",
    squared: bool = False,
    signed: Signed = False,
    multilabel: bool = False,
    half_cell: bool = False,
    border: Border = "open",
    max_distance: float | None = None,
    dtype: Any = None,
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
        Where distances go; a file that is there is replaced in the end.
    indices : path, optional
        Where nearest sites go, too: int64 linear indices of the whole grid.
    memory : int or str, optional
        Bytes that this process may take in all, such as ``"4GB"``; default: what it has, and half of what is free.
        Files are read and written in parts that are small enough. A call without a limit needs, beside the target,
        disk space for the field between the two passes: 4 to 8 bytes a cell, and as many for sites.
    spacing
        As in `nearfield.distance_transform`; default: the file's.
    signed, multilabel, half_cell, sites='other_labels'
        Only with `max_distance` and an open border of the first axis.
    sites, squared, border, max_distance, dtype, threads
        As in `nearfield.distance_transform`.
    resume : bool
        Go on with what an earlier call with these arguments left. False: begin anew.
    progress : bool or callable, optional
        True draws a bar on a terminal, with the time that remains. A callable gets the share done; False stops.

    Raises
    ------
    ValueError, TypeError, FileNotFoundError
        An argument is not what it has to be, such as `memory` in which no part fits; nothing was computed.
    OSError
        The disk is full, or cannot be written. What is done is kept.
    """
    opened = Source(source)
    kind = "squared" if flag_of("squared", squared) else "distance"
    flags: dict[str, Any] = dict(signed=signed, multilabel=multilabel, half_cell=half_cell, sites=sites)
    _compute(
        opened,
        {"distance": target, "index": indices},
        kind,
        dtype,
        dict(spacing=spacing, border=border, max_distance=max_distance, **flags),
        dict(memory=memory, threads=threads, resume=resume, progress=progress),
    )


def voronoi(
    source: Any,
    target: File | None,
    *,
    labels: File | None = None,
    distances: File | None = None,
    memory: Any = None,
    spacing: Spacing = None,
    sites: Sites = "nonzero",
    border: Border = "open",
    max_distance: float | None = None,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress = None,
) -> None:
    """`nearfield.voronoi` from file to file; parameters and errors as in `distance_transform`.

    Parameters
    ----------
    target : path or None
        Where nearest sites go: int64 linear indices of the whole grid.
    labels, distances : path, optional
        Where the source's values at them and the distances to them go, too.
    """
    opened = Source(source)
    if sites == "other_labels":
        raise ValueError("sites='other_labels' has no diagram; give 'nonzero' or 'zero'")
    flags: dict[str, Any] = dict(signed=False, multilabel=False, half_cell=False, sites=sites)
    _compute(
        opened,
        {"index": target, "label": labels, "distance": distances},
        "distance",
        None,
        dict(spacing=spacing, border=border, max_distance=max_distance, **flags),
        dict(memory=memory, threads=threads, resume=resume, progress=progress),
    )


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
    threads: int | None = None,
    resume: bool = True,
    progress: Progress = None,
) -> int:
    """`nearfield.label` from file to file, with the numbers of the whole grid; returns how many components there are.

    The source is read twice; nothing but what is at the ends of slabs of planes is kept between. Parameters as in
    `nearfield.label`, and as in `distance_transform`.
    """
    opened = Source(source)
    ends = _periodic_of(periodic, len(opened.full_shape))
    wraps = (ends * len(opened.full_shape) if len(ends) == 1 else ends)[opened.lead :]
    how = dict(connectivity=connectivity, criterion=criterion, background=background)
    probe = np.zeros((1,) * len(opened.shape), opened.dtype)
    kind = np.dtype(label_of_array(probe, dtype=dtype, periodic=wraps, **how).dtype)
    run = dict(memory=memory, threads=threads, resume=resume, progress=progress)
    about = dict(call="label", dtype=kind.name, periodic=wraps, **{k: repr(v) for k, v in how.items()})
    asked = _asked(opened, {"label": target}, {"label": kind}, opened.spacing, run)
    return int(_finished(asked, about, run, lambda: label_slabs(asked, wraps, how)))


# ---- what all have in common ---------------------------------------------------------------------------------------


def _compute(
    source: Source, targets: dict[str, Any], kind: Any, dtype: Any, how: dict[str, Any], run: dict[str, Any]
) -> None:
    lengths = source.spacing if how["spacing"] is None else how["spacing"]
    axes = len(source.full_shape)
    request = request_for(axes, batch_axes=0, **{**how, "spacing": lengths})
    ends = request.border * axes if len(request.border) == 1 else request.border
    of_all = grid(source.full_shape, spacing=lengths, border=how["border"])
    if "closed" in ends[: source.lead]:
        raise ValueError("border is closed along a first axis of one cell; take that axis off")
    types = {
        "distance": np.dtype(distance_type(kind, dtype, None, source.full_shape, request)),
        "index": np.dtype("int64"),
        "label": source.dtype,
    }
    spaced = (1.0 if not request.spacing else request.spacing[0],) * axes if len(request.spacing) < 2 else None
    spaced = spaced or request.spacing
    about = dict(call=kind, dtype=str(dtype), request=repr(request))
    asked = _asked(source, targets, types, spaced, run)
    asked.squared, asked.request = kind == "squared", request
    of = of_all._replace(
        shape=source.shape,
        spacing=of_all.spacing[source.lead :],
        border=of_all.border[source.lead :],
        sites=bool(asked.targets.keys() & {"index", "label"}),
    )
    plain = request.sign == "none" and not request.half_cell and request.sites != "other_labels"
    _finished(asked, about, run, lambda: None if by_windows(asked, of, plain) else by_lines(asked, of))


def _asked(source: Source, targets: dict[str, Any], types: dict[str, Any], spacing: Any, run: dict[str, Any]) -> Asked:
    paths = {name: Path(path) for name, path in targets.items() if path is not None}
    if not paths:
        raise ValueError("nothing is asked for; give a target")
    if len({path.resolve() for path in paths.values()}) < len(paths):
        raise ValueError("two targets are one file; give each its own")
    for name, path in paths.items():
        check_target(name, path, types[name])
        if source.path is not None and path.resolve() in (source.path.resolve(), *source.path.resolve().parents):
            raise ValueError(f"{name} is {path}, which is the source; give another name")
    threads, told = threads_of(run["threads"]), callable_of(run["progress"])
    return Asked(source, paths, types, spacing, bytes_of(run["memory"]), threads or None, told)


def _finished(asked: Asked, about: dict[str, Any], run: dict[str, Any], compute: Callable[[], Any]) -> Any:
    where = {name: str(path.resolve()) for name, path in asked.targets.items()}
    about = dict(about, version=version, source=asked.source.token, targets=where, memory=str(run["memory"]))
    asked.work = Work(asked.targets, about, flag_of("resume", run["resume"]))
    wanted = sum(math.prod(asked.source.full_shape) * asked.types[name].itemsize for name in asked.targets)
    try:
        with full_disk_told(asked.work.folder, 4 * wanted), few_chunks_at_once():
            made = compute()
            asked.work.finish()
    finally:
        asked.work.close()
    return made


__all__ = ["distance_transform", "label", "voronoi"]
