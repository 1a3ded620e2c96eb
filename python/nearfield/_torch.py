"""The custom operations nearfield::compute and nearfield::label of PyTorch.

Imported only while a graph is being traced: torch is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from nearfield import _core
from nearfield._arrays import name_of
from nearfield._call import compute
from nearfield._foreign import refuse_no_array
from nearfield._label_request import CRITERIA, label_request
from nearfield._label_run import label_type, numbered
from nearfield._request import NARROWEST, Request, items_of, threads_of


def _request(
    shape: Sequence[int],
    fields: str,
    spacing: Sequence[float],
    sites: str,
    sign: str,
    half_cell: bool,
    border: str,
    max_distance: float,
    batch_axes: int,
) -> Request:
    request = Request((), tuple(spacing), sites, sign, half_cell, tuple(border.split(",")), max_distance, batch_axes)

    def known(dtype: str) -> str:
        if dtype != NARROWEST:
            return dtype
        return _core.squared_distance_type([int(n) for n in shape], request.options())

    named = (each.partition(":") for each in fields.split(","))
    return request._replace(fields=tuple((field, known(dtype)) for field, _, dtype in named))


def _registered_vmap(operation: Any) -> Any:
    """What torch.vmap calls for an operation; PyTorch before 2.5 has no such rules, and says so itself."""
    register = getattr(torch.library, "register_vmap", None)
    return (lambda rule: rule) if register is None else register(operation)


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
    request = _request(image.shape, fields, spacing, sites, sign, half_cell, border, max_distance, batch_axes)
    return compute(image, request, {}, weights=weights, device=device or None, threads=threads or None)


@_compute.register_fake
def _(image: Any, weights: Any, *words: Any) -> list[torch.Tensor]:
    request = _request(image.shape, *words[:-2])  # all but device and threads
    return [
        torch.empty(request.shape_of(field, tuple(image.shape)), dtype=getattr(torch, dtype), device=image.device)
        for field, dtype in request.fields
    ]


def _batched(x: torch.Tensor, axis: int | None, images: int) -> torch.Tensor:
    """With the axis that torch.vmap maps in front; what it does not map is the same for all images."""
    return x.expand(images, *x.shape) if axis is None else x.movedim(axis, 0)


@_registered_vmap(_compute)
def _(info: Any, in_dims: Any, image: Any, weights: Any, fields: str, spacing: Any, *words: Any) -> Any:
    """One call for all images, with one batch axis more."""
    sites, sign, half_cell, border, max_distance, batch_axes, device, threads = words
    made = _compute(
        _batched(image, in_dims[0], info.batch_size),
        None if weights is None else _batched(weights, in_dims[1], info.batch_size),
        fields,
        [1.0, *spacing] if len(spacing) > 1 else spacing,
        sites,
        sign,
        half_cell,
        f"open,{border}" if "," in border else border,
        max_distance,
        batch_axes + 1,
        device,
        threads,
    )
    return made, [1 if field.startswith("coordinates") else 0 for field in fields.split(",")]


def _tensor_of(name: str, x: Any, device: torch.device) -> Any:
    if isinstance(x, torch.Tensor):
        return x.detach()
    if not torch.compiler.is_compiling():  # which cannot trace it
        refuse_no_array(name, x)
    return torch.as_tensor(np.asarray(x), device=device)


def compute_in_graph(
    image: torch.Tensor,
    request: Request,
    weights: Any,
    device: Any,
    threads: Any,
) -> list[Any]:
    """The operation for a request, as a call that can be traced."""
    return list(
        torch.ops.nearfield.compute(
            image.detach(),
            None if weights is None else _tensor_of("weights", weights, image.device),
            ",".join(f"{field}:{dtype}" for field, dtype in request.fields),
            list(request.spacing),
            request.sites,
            request.sign,
            request.half_cell,
            ",".join(request.border),
            request.max_distance,
            request.batch_axes,
            "" if device is None else str(device),
            threads_of(threads),
        )
    )


def _keywords(
    connectivity: int,
    criterion: str,
    background: str,
    norm: str,
    channels: bool,
    periodic: Sequence[int],
    batch_axes: int,
    sizes: Sequence[int],
    clear_border: bool,
) -> dict[str, Any]:
    ends: Any = bool(periodic[0]) if len(periodic) == 1 else [bool(each) for each in periodic]
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
    periodic: Sequence[int],
    batch_axes: int,
    sizes: Sequence[int],
    clear_border: bool,
    dtype: str,
    device: str,
    threads: int,
) -> torch.Tensor:
    words = _keywords(connectivity, criterion, background, norm, channels, periodic, batch_axes, sizes, clear_border)
    labels: torch.Tensor = numbered(image, words, False, dtype or None, None, device or None, threads or None, None)
    return labels


@_label.register_fake
def _(image: Any, *words: Any) -> Any:
    *own, dtype, _, _ = words
    request = label_request(image.ndim, **_keywords(*own))
    shape = tuple(image.shape)
    known = all(isinstance(n, int) for n in shape)
    made = dtype or (label_type(shape, request, None) if known else "int32")
    return torch.empty(request.grid(shape), dtype=getattr(torch, made), device=image.device)


@_registered_vmap(_label)
def _(info: Any, in_dims: Any, image: Any, *words: Any) -> Any:
    *own, batch_axes, sizes, clear_border, dtype, device, threads = words
    return _label(image.movedim(in_dims[0], 0), *own, batch_axes + 1, sizes, clear_border, dtype, device, threads), 0


def label_in_graph(image: torch.Tensor, keywords: dict[str, Any], dtype: Any, device: Any, threads: Any) -> Any:
    """The operation for the keywords of `label`, as a call that can be traced."""
    image = image.detach()
    if not torch.compiler.is_compiling():  # which cannot trace it
        label_request(image.ndim, **keywords)
    periodic, background = keywords["periodic"], keywords["background"]
    max_size, largest = keywords["max_size"], keywords["largest"]
    return torch.ops.nearfield.label(
        image,
        keywords["connectivity"],
        str(keywords["criterion"]),
        "" if background is None else str(background),
        keywords["norm"],
        keywords["channels"],
        [int(periodic)] if items_of(periodic) is None else [int(each) for each in periodic],
        keywords["batch_axes"],
        [keywords["min_size"], -1 if max_size is None else max_size, -1 if largest is None else largest],
        keywords["clear_border"],
        "" if dtype is None else name_of(dtype),
        "" if device is None else str(device),
        threads_of(threads),
    )
