"""Distances in the chessboard and the city-block metric, for `metric=` of `distance_transform`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield import _core
from nearfield._arrays import name_of
from nearfield._dispatch import workplace_of
from nearfield._fields import is_several
from nearfield._request import Request, flag_of, request_for, said, word_of
from nearfield._run_at import RunAt, filled, in_our_words
from nearfield._traced import refuse_traced
from nearfield._workplace import Workplace

METRICS = ("euclidean", "chessboard", "cityblock", "taxicab")
TYPES = ("int32", "uint32", "uint8", "uint16")


def metric_of(metric: Any) -> str:
    word = word_of("metric", metric, METRICS)
    return "cityblock" if word == "taxicab" else word


def step_transform(
    image: Any,
    *,
    metric: Any,
    sites: Any,
    border: Any,
    max_distance: Any,
    batch_axes: Any,
    dtype: Any,
    out: Any,
    return_distances: Any,
    return_indices: Any,
    device: Any,
    threads: Any,
    progress: Any,
    **others: Any,
) -> Any:
    """Runs `distance_transform`, with its keywords, in a metric of steps."""
    refuse_traced("image", image)
    word = metric_of(metric)
    usual = {"method": "exact", "spacing": None, "indices_out": None, "where": None}
    for name, value in others.items():
        if value is not usual.get(name, False) and not (isinstance(value, str) and value == usual.get(name)):
            raise ValueError(f"{name} is {said(value)}, which goes with metric='euclidean', not {word!r}; leave it out")
    if is_several(image):
        raise ValueError(f"image is a list of images, which goes with metric='euclidean', not {word!r}; call in a loop")
    work = workplace_of("image", image)
    words: dict[str, Any] = {"spacing": None, "signed": False, "multilabel": False, "half_cell": False}
    words |= {"sites": sites, "border": border, "max_distance": max_distance, "batch_axes": batch_axes}
    request = request_for(len(work.shape), **words)
    if request.sites == "other_labels":
        raise ValueError(f"sites is 'other_labels', which does not go with metric={word!r}; give 'zero' or 'nonzero'")
    where = RunAt(work, device, threads, progress)
    indices = flag_of("return_indices", return_indices)
    if indices and (where.ordinal >= 0 or request.batch_axes or set(request.border) != {"open"}):
        raise ValueError(
            f"return_indices goes with metric={word!r} on the CPU, open borders and no batch_axes; leave it out"
        )
    fields = []
    if flag_of("return_distances", return_distances) or out is not None:
        fields.append(_distances(work, where, request, word, dtype, out))
    if indices:
        fields.append(_indices(work, request, word, where.threads))
    if not fields:
        raise ValueError("nothing is asked for; give at least one of return_distances, return_indices")
    return fields[0] if len(fields) == 1 else tuple(fields)


def _distances(work: Workplace, where: RunAt, request: Request, metric: str, dtype: Any, out: Any) -> Any:
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
    with in_our_words(work.name):
        _core.chamfer(work.framework.describe("image", image, False), None, made.described, weights, False, threads)
    return work.hand_out(made)
