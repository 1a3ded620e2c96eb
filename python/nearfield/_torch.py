"""The custom operations nearfield::compute and nearfield::label of PyTorch. Imported only while a graph is being traced: torch is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from nearfield._call import compute
from nearfield._label import label, label_type
from nearfield._label_request import CRITERIA, label_request
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


def _keywords(
    connectivity: int,
    criterion: str,
    background: str,
    norm: str,
    channels: bool,
    periodic: Sequence[bool],
    batch_axes: int,
    sizes: Sequence[int],
    clear_border: bool,
) -> dict[str, Any]:
    ends: Any = periodic[0] if len(periodic) == 1 else list(periodic)
    return dict(
        connectivity=connectivity,
        criterion=criterion if criterion in CRITERIA else _number(criterion),
        background=_number(background) if background else None,
        norm=norm,
        channels=channels,
        periodic=ends,
        batch_axes=batch_axes,
        min_size=sizes[0],
        max_size=sizes[1] if sizes[1] >= 0 else None,
        largest=sizes[2] if sizes[2] >= 0 else None,
        clear_border=clear_border,
    )


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


@torch.library.custom_op("nearfield::label", mutates_args=())
def _label(
    image: torch.Tensor,
    connectivity: int,
    criterion: str,
    background: str,
    norm: str,
    channels: bool,
    periodic: Sequence[bool],
    batch_axes: int,
    sizes: Sequence[int],
    clear_border: bool,
    dtype: str,
    device: str,
    threads: int,
) -> torch.Tensor:
    words = _keywords(connectivity, criterion, background, norm, channels, periodic, batch_axes, sizes, clear_border)
    return label(image, dtype=dtype or None, device=device or None, threads=threads or None, **words)


@_label.register_fake
def _(image: Any, *words: Any) -> torch.Tensor:
    *own, dtype, _, _ = words
    request = label_request(image.ndim, **_keywords(*own))
    shape = tuple(image.shape)
    known = all(isinstance(n, int) for n in shape)
    made = dtype or (label_type(shape, request, None) if known else "int32")
    return torch.empty(request.grid(shape), dtype=getattr(torch, made), device=image.device)


def label_in_graph(
    image: torch.Tensor, keywords: dict[str, Any], dtype: Any, device: str | None, threads: int | None
) -> torch.Tensor:
    """The operation for the keywords of `label`, as a call that can be traced."""
    periodic, background = keywords["periodic"], keywords["background"]
    max_size, largest = keywords["max_size"], keywords["largest"]
    return torch.ops.nearfield.label(
        image,
        keywords["connectivity"],
        str(keywords["criterion"]),
        "" if background is None else str(background),
        keywords["norm"],
        keywords["channels"],
        [periodic] if isinstance(periodic, bool) else list(periodic),
        keywords["batch_axes"],
        [keywords["min_size"], -1 if max_size is None else max_size, -1 if largest is None else largest],
        keywords["clear_border"],
        "" if dtype is None else str(dtype).removeprefix("torch."),
        device or "",
        threads or 0,
    )
