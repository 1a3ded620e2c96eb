"""Discrete Voronoi diagrams: the nearest seed of every cell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from nearfield._distance import add_indices, element_type, method_of, with_shape
from nearfield._fields import Asked, How, answer, answers, is_several, refuse_with_several
from nearfield._progress import Progress
from nearfield._request import (
    Border,
    Indices,
    Request,
    Spacing,
    batch_of,
    border_of,
    check_flags,
    max_distance_of,
    said,
    spacing_of,
)
from nearfield._types import Cells, Tensor
from nearfield.methods import Method

if TYPE_CHECKING:
    from typing_extensions import Unpack


class GrowthKeywords(TypedDict, total=False):
    """Keywords that `voronoi` and `expand_labels` share."""

    weights: Any
    where: Any
    border: Border
    labels_out: Any
    out: Any
    batch_axes: int
    method: str | Method
    device: str | None
    threads: int | None
    progress: Progress


class VoronoiKeywords(GrowthKeywords, total=False):
    """Keywords of `voronoi` besides the seeds and the `return_` flags."""

    spacing: Spacing
    max_distance: float | None
    indices_out: Any


@overload
def voronoi(seeds: Cells, **keywords: Unpack[VoronoiKeywords]) -> Cells: ...
@overload
def voronoi(
    seeds: Cells, *, return_labels: Literal[True], **keywords: Unpack[VoronoiKeywords]
) -> tuple[Cells, Cells]: ...
@overload
def voronoi(seeds: Tensor, **keywords: Unpack[VoronoiKeywords]) -> Tensor: ...
@overload
def voronoi(
    seeds: Tensor, *, return_labels: Literal[True], **keywords: Unpack[VoronoiKeywords]
) -> tuple[Tensor, Tensor]: ...
@overload
def voronoi(
    seeds: Any,
    *,
    return_indices: Indices = True,
    return_labels: bool = False,
    return_distances: bool = False,
    return_trusted: bool = False,
    **keywords: Unpack[VoronoiKeywords],
) -> Any: ...
def voronoi(
    seeds: Any,
    *,
    spacing: Spacing = None,
    weights: Any = None,
    where: Any = None,
    border: Border = "open",
    max_distance: float | None = None,
    return_indices: Indices = True,
    return_labels: bool = False,
    return_distances: bool = False,
    return_trusted: bool = False,
    indices_out: Any = None,
    labels_out: Any = None,
    out: Any = None,
    batch_axes: int = 0,
    method: str | Method = "exact",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Nearest seed of every cell; seeds are the cells that are not zero.

    Parameters
    ----------
    seeds : array of 1 to 8 axes, or list of arrays
        As `image` of `distance_transform`.
    weights : array of the shape of `seeds`, optional
        Weights of the power diagram: a seed of weight r*r reaches as far as a ball of radius r. They are in squared
        units of `spacing`, integers up to 2**53, float32 or float64; only those of seeds are read. The distances are
        then powers, squared distance less weight, as float64. `max_distance` is not taken.
    return_indices, return_labels, return_distances, return_trusted : bool
        Say what to return. Indices are int32 coordinates of shape ``(ndim, *seeds.shape)``, or with ``'linear'`` int64
        C-order linear indices. Labels are the values of the nearest seeds, in the seeds' type. Distances are float32.
        Trusted is bool, as in `distance_transform`.
    indices_out, labels_out, out : array, optional
        Arrays to fill instead of new ones: with the indices, the labels, the distances.
    spacing, border, max_distance, where, batch_axes, method, device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array or tuple of arrays
        The requested fields, in the order indices, labels, distances, trusted. A single one comes without a tuple.
        Cells without a seed have -1, 0 and inf. A list of arrays gives a list of these.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.voronoi([7, 0, 0, 0, 9], return_indices=False, return_labels=True)
    array([7, 7, 7, 9, 9])
    >>> nf.voronoi([7, 0, 0, 0, 9], return_indices="linear")
    array([0, 0, 0, 4, 4])
    """
    how = How("seeds", method_of(method), device, threads, progress)
    check_flags(return_labels=return_labels, return_distances=return_distances, return_trusted=return_trusted)

    def asked_of(seeds: Any) -> Asked:
        seeds = with_shape("seeds", seeds)
        ndim = len(seeds.shape)
        batch = batch_of(batch_axes, ndim)
        fields: list[tuple[str, str]] = []
        given: dict[str, Any] = {"label": labels_out}
        add_indices(fields, given, return_indices, indices_out)
        if return_labels or labels_out is not None:
            fields.append(("label", element_type(seeds)))
        if return_distances or out is not None:
            field = "distance" if weights is None else "squared"
            usual = "float32" if weights is None else "float64"
            fields.append((field, usual if out is None else element_type(out, "out")))
            given[field] = out
        if return_trusted:
            fields.append(("trusted", "bool"))
        if not fields:
            raise ValueError(
                "nothing is asked for; give at least one of return_indices, return_labels, return_distances, "
                "return_trusted"
            )
        options = spacing_of(spacing, ndim, batch), "nonzero", "none", False, border_of(border, ndim, batch)
        return Asked(seeds, Request(tuple(fields), *options, max_distance_of(max_distance), batch), given)

    if is_several(seeds):
        refuse_with_several(
            "seeds", weights=weights, where=where, indices_out=indices_out, labels_out=labels_out, out=out
        )
        return answers([asked_of(each) for each in seeds], how)
    if weights is not None and how.method != "exact":
        raise ValueError(f"weights do not go with method={said(how.method)}; leave one of them out")
    return answer(asked_of(seeds), how, weights, where=where)


@overload
def expand_labels(
    labels: Cells, distance: float | None = 1, spacing: Spacing = None, **keywords: Unpack[GrowthKeywords]
) -> Cells: ...
@overload
def expand_labels(
    labels: Tensor, distance: float | None = 1, spacing: Spacing = None, **keywords: Unpack[GrowthKeywords]
) -> Tensor: ...
@overload
def expand_labels(
    labels: Any,
    distance: float | None = 1,
    spacing: Spacing = None,
    *,
    return_distances: bool = False,
    **keywords: Unpack[GrowthKeywords],
) -> Any: ...
def expand_labels(
    labels: Any,
    distance: float | None = 1,
    spacing: Spacing = None,
    *,
    weights: Any = None,
    where: Any = None,
    border: Border = "open",
    return_distances: bool = False,
    labels_out: Any = None,
    out: Any = None,
    batch_axes: int = 0,
    method: str | Method = "exact",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Grows labels by up to `distance` without overlap, as scikit-image's function of this name.

    Parameters
    ----------
    labels : array of 1 to 8 axes, or list of arrays
        Labels to grow; zero is background.
    distance : float or None
        How far to grow, in units of `spacing`. Default: 1. None grows until no background is left.
    spacing and other keywords
        As in `voronoi`.

    Returns
    -------
    array
        The grown labels, of shape and type of `labels`. If two labels are equally near, the tie rule of
        `distance_transform` decides. With `return_distances` the distances follow.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.expand_labels([7, 0, 0, 0, 9])
    array([7, 7, 0, 9, 9])
    """
    if distance is not None and weights is not None:
        raise ValueError(f"weights do not go with distance={said(distance)}; give distance=None")
    try:
        return voronoi(
            labels,
            spacing=spacing,
            weights=weights,
            where=where,
            border=border,
            max_distance=distance,
            return_indices=False,
            return_labels=True,
            return_distances=return_distances,
            labels_out=labels_out,
            out=out,
            batch_axes=batch_axes,
            method=method,
            device=device,
            threads=threads,
            progress=progress,
        )
    except (TypeError, ValueError) as problem:
        if type(problem) not in (TypeError, ValueError):
            raise
        text = re.sub(r"\bmax_distance\b", "distance", re.sub(r"\bseeds\b", "labels", str(problem)))
        raise type(problem)(text) from None
