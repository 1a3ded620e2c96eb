"""The custom operation nearfield::compute of PyTorch. Imported only while a graph is being traced: torch is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from nearfield._call import compute
from nearfield._request import Request


def _request(
    fields: str,
    spacing: Sequence[float],
    sites: str,
    sign: str,
    half_cell: bool,
    border: str,
    max_distance: float,
    batch_axes: int,
) -> Request:
    named = tuple((field, dtype) for field, _, dtype in (each.partition(":") for each in fields.split(",")))
    return Request(named, tuple(spacing), sites, sign, half_cell, tuple(border.split(",")), max_distance, batch_axes)


@torch.library.custom_op("nearfield::compute", mutates_args=())
def _compute(
    image: torch.Tensor,
    weights: torch.Tensor | None,
    fields: str,
    spacing: Sequence[float],
    sites: str,
    sign: str,
    half_cell: bool,
    border: str,
    max_distance: float,
    batch_axes: int,
    device: str,
    threads: int,
) -> list[torch.Tensor]:
    request = _request(fields, spacing, sites, sign, half_cell, border, max_distance, batch_axes)
    return compute(image, request, {}, weights=weights, device=device or None, threads=threads or None)


@_compute.register_fake
def _(image: Any, weights: Any, *words: Any) -> list[torch.Tensor]:
    request = _request(*words[:-2])  # all but device and threads
    return [
        torch.empty(request.shape_of(field, tuple(image.shape)), dtype=getattr(torch, dtype), device=image.device)
        for field, dtype in request.fields
    ]


def compute_in_graph(
    image: torch.Tensor,
    request: Request,
    weights: torch.Tensor | None,
    device: str | None,
    threads: int | None,
) -> list[Any]:
    """The operation for a request, as a call that can be traced."""
    return list(
        torch.ops.nearfield.compute(
            image,
            weights,
            ",".join(f"{field}:{dtype}" for field, dtype in request.fields),
            list(request.spacing),
            request.sites,
            request.sign,
            request.half_cell,
            ",".join(request.border),
            request.max_distance,
            request.batch_axes,
            device or "",
            threads or 0,
        )
    )
