"""Discrete Voronoi diagrams: whose cell is it."""

from __future__ import annotations

import re
from typing import Any

from nearfield._arrays import framework_of
from nearfield._call import compute
from nearfield._compiled import in_graph
from nearfield._distance import Indices, add_indices, element_type, method_of
from nearfield._methods import compute_by_method
from nearfield._progress import Progress
from nearfield._request import (
    Border,
    Request,
    Spacing,
    batch_of,
    border_of,
    check_flags,
    max_distance_of,
    said,
    spacing_of,
)
from nearfield.methods import Method


def voronoi(
    seeds: Any,
    *,
    spacing: Spacing = None,
    weights: Any = None,
    border: Border = "open",
    max_distance: float | None = None,
    return_indices: Indices = True,
    return_labels: bool = False,
    return_distances: bool = False,
    indices_out: Any = None,
    labels_out: Any = None,
    out: Any = None,
    batch_axes: int = 0,
    method: str | Method = "exact",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Nearest seed of every cell; the seeds are the cells that are not zero.

    Parameters
    ----------
    seeds : array of 1 to 8 axes
        As the image of `distance_transform`.
    weights : array of the shape of `seeds`, optional
        The power diagram: a seed of weight r*r reaches as far as a ball of radius r. In squared units of `spacing`, read
        at seeds only; int8 to int32, uint8 to uint32, float32 or float64. The distances are then powers, squared
        distance less weight, float64, and `max_distance` is not taken.
    return_indices, return_labels, return_distances : bool
        What to return. Indices: int32 coordinates of shape ``(ndim, *seeds.shape)``, or with ``'linear'`` int64 C-order
        linear indices. Labels: the seeds' values carried to their cells, in the seeds' type. Distances: float32.
    indices_out, labels_out, out : array, optional
        Filled instead of new arrays: the indices, the labels, the distances.
    spacing, border, max_distance, batch_axes, method, device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array or tuple of arrays
        Those asked for, in the order indices, labels, distances; alone, not in a tuple. Cells without a seed have -1, 0
        and inf.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.voronoi([7, 0, 0, 0, 9], return_indices=False, return_labels=True)
    array([7, 7, 7, 9, 9])
    >>> nf.voronoi([7, 0, 0, 0, 9], return_indices="linear")
    array([0, 0, 0, 4, 4])
    """
    method = method_of(method)
    check_flags(return_labels=return_labels, return_distances=return_distances)
    framework = framework_of(seeds)
    if framework.name == "numpy":
        seeds = framework.array("seeds", seeds)
    ndim = len(seeds.shape)
    batch = batch_of(batch_axes, ndim)
    fields: list[tuple[str, str]] = []
    given: dict[str, Any] = {"label": labels_out}
    add_indices(fields, given, return_indices, indices_out)
    if return_labels or labels_out is not None:
        fields.append(("label", element_type(seeds)))
    if return_distances or out is not None:
        field = "distance" if weights is None else "squared"
        fields.append(
            (field, element_type(out, "out") if out is not None else "float32" if weights is None else "float64")
        )
        given[field] = out
    if not fields:
        raise ValueError("nothing is asked for; give at least one of return_indices, return_labels, return_distances")
    request = Request(
        tuple(fields),
        spacing_of(spacing, ndim, batch),
        "nonzero",
        border=border_of(border, ndim, batch),
        max_distance=max_distance_of(max_distance),
        batch_axes=batch,
    )
    if method != "exact":
        if weights is not None:
            raise ValueError(f"weights do not go with method={said(method)}; leave one of them out")
        filled, _ = compute_by_method(
            seeds, request, given, method, name="seeds", device=device, threads=threads, progress=progress
        )
        return filled[0] if len(filled) == 1 else tuple(filled)
    run = in_graph if in_graph.serves(seeds) else compute
    filled = run(
        seeds, request, given, name="seeds", weights=weights, device=device, threads=threads, progress=progress
    )
    return filled[0] if len(filled) == 1 else tuple(filled)


def expand_labels(labels: Any, distance: float | None = 1, *, spacing: Spacing = None, **keywords: Any) -> Any:
    """Labels grown by up to `distance` without running into each other, as scikit-image's function of this name.

    Parameters
    ----------
    labels : array of 1 to 8 axes
        Zero is background.
    distance : float or None
        How far, in units of `spacing`; None: until nothing is left.
    spacing, **keywords
        As in `voronoi`.

    Returns
    -------
    array
        Shape and type of `labels`. Where two labels are equally near, the tie rule of `distance_transform` decides.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.expand_labels([7, 0, 0, 0, 9])
    array([7, 7, 0, 9, 9])
    """
    for name in keywords:
        if name == "max_distance" or name not in (voronoi.__kwdefaults__ or ()):
            raise TypeError(f"expand_labels() got an unexpected keyword argument {name!r}")
    if distance is not None and keywords.get("weights") is not None:
        raise ValueError(f"weights do not go with distance={said(distance)}; give distance=None")
    asked: dict[str, Any] = {"return_indices": False, "return_labels": True, **keywords}
    try:
        return voronoi(labels, spacing=spacing, max_distance=distance, **asked)
    except (TypeError, ValueError) as problem:
        text = re.sub(r"\bmax_distance\b", "distance", re.sub(r"\bseeds\b", "labels", str(problem)))
        raise type(problem)(text) from None
