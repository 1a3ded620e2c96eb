"""Distances in the chessboard and the city-block metric: `metric=` of `distance_transform`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield import _core
from nearfield._arrays import name_of
from nearfield._dispatch import workplace_of
from nearfield._medial_axis import _Where, _words
from nearfield._progress import Progress
from nearfield._request import Request, word_of
from nearfield._sdf import filled
from nearfield._traced import refuse_traced
from nearfield._workplace import Workplace

METRICS = ("euclidean", "chessboard", "cityblock", "taxicab")
TYPES = ("int32", "uint32", "uint8", "uint16")


def metric_of(metric: Any) -> str:
    word = word_of("metric", metric, METRICS)
    return "cityblock" if word == "taxicab" else word


def refuse_euclidean(metric: str, **given: bool) -> None:
    """Throws for keywords that go with the Euclidean metric only; each comes with whether it was given."""
    for name, is_given in given.items():
        if is_given:
            raise ValueError(f"{name} goes with metric='euclidean', not {metric!r}; leave it out")


def step_transform(
    image: Any,
    request: Request,
    metric: str,
    *,
    distances: bool,
    indices: bool,
    dtype: Any,
    out: Any,
    device: str | None,
    threads: int | None,
    progress: Progress,
) -> Any:
    """What `distance_transform` gives in a metric of steps."""
    refuse_traced("image", image)
    if request.sites == "other_labels":
        raise ValueError(f"sites is 'other_labels', which does not go with metric={metric!r}; give 'zero' or 'nonzero'")
    work = workplace_of("image", image)
    where = _Where(work, device, threads, progress)
    if indices and (where.ordinal >= 0 or request.batch_axes or set(request.border) != {"open"}):
        raise ValueError(
            f"return_indices goes with metric={metric!r} on the CPU, open borders and no batch; leave it out"
        )
    fields = [_distances(work, where, request, metric, dtype, out)] if distances or out is not None else []
    if indices:
        fields.append(_indices(work, request, metric, where.threads))
    return fields[0] if len(fields) == 1 else tuple(fields)


def _distances(work: Workplace, where: _Where, request: Request, metric: str, dtype: Any, out: Any) -> Any:
    kind = "int32" if dtype is None else name_of(dtype)
    if kind not in TYPES:
        raise ValueError(f"dtype is {kind}; give one of {', '.join(TYPES)} with metric={metric!r}")
    slot = work.empty(work.shape, kind) if out is None else work.given("out", out)

    def call(read: _core.Array, to: _core.Array) -> None:
        _core.step_distance(read, to, request.options(), metric == "chessboard", *where.place())

    return filled(work, slot, where, call)


def _indices(work: Workplace, request: Request, metric: str, threads: int) -> Any:
    ndim = len(work.shape)
    if request.max_distance != float("inf"):
        raise ValueError("return_indices does not go with max_distance in this metric; leave one of them out")
    changes = np.abs(np.indices((3,) * ndim) - 1).sum(axis=0).ravel()
    weights = [] if metric == "chessboard" else [int(each) for each in changes == 1]
    made = work.empty((ndim, *work.shape), "int32")
    image = work.array if request.sites == "zero" else work.array == 0
    with _words(work.name):
        _core.chamfer(work.framework.describe("image", image, False), None, made.described, weights, False, threads)
    return work.hand_out(made)
