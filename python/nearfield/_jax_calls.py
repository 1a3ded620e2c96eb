"""The library's calls as operations of the programs that `jax.jit` makes. Imported only when JAX is there.

XLA calls a handler of the compiled part with its own buffers, on a GPU on its own stream: there is no callback of
Python's and no copy. Under `jax.vmap` the handler gets all images in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import numpy as np

from nearfield import _core
from nearfield._label_request import LabelRequest
from nearfield._request import Request

_MOST_MAPPED = 7  # axes of an image that jax.vmap gives one more
_MOST_LABELLED = 3  # axes of images that label takes on a GPU


@cache
def platforms() -> tuple[str, ...]:
    """JAX's names of the platforms whose programs can call the library; empty if JAX is too old or too new."""
    try:
        from jax import ffi

        taken = []
        for name, platform, handler in _core.xla_targets():
            ffi.register_ffi_target(name, handler, platform=platform)
            taken.append(platform.lower())
    except Exception:  # XLA refuses a handler with various types
        return ()
    return tuple(dict.fromkeys(taken))


def compute(
    inputs: Sequence[Any], request: Request, shapes: Sequence[Any], threads: int, otherwise: Callable[..., Any]
) -> list[Any]:
    """Fields of an image, with weights of the power diagram; calls `otherwise(*inputs)` if XLA cannot call us."""
    words = dict(
        axes=inputs[0].ndim,
        fields=",".join(field for field, _ in request.fields),
        spacing=np.array(request.spacing or (1.0,)),
        sites=request.sites,
        sign=request.sign,
        half_cell=request.half_cell,
        border=",".join(request.border),
        max_distance=np.float64(request.max_distance),
        batch_axes=request.batch_axes,
        threads=threads,
    )
    where = platforms() if inputs[0].ndim <= _MOST_MAPPED else ()
    return list(_called("nearfield_fields", inputs, shapes, words, where, otherwise))


def label(image: Any, request: LabelRequest, shape: Any, threads: int, otherwise: Callable[..., Any]) -> Any:
    """Components of an image; calls `otherwise(image)` if XLA cannot call us."""
    asked = request.words
    words = dict(
        axes=image.ndim,
        connectivity=asked.connectivity,
        criterion=asked.criterion,
        tolerance=_number(asked.tolerance),
        has_background=asked.background is not None,
        background=_number(asked.background or 0),
        channels=asked.channels,
        norm=asked.norm,
        periodic=",".join("periodic" if each else "open" for each in asked.periodic),
        batch_axes=asked.batch_axes,
        smallest=asked.smallest,
        largest=asked.largest,
        keep_largest=asked.keep_largest,
        clear_border=asked.clear_border,
        threads=threads,
    )
    where = platforms() if image.ndim <= _MOST_MAPPED else ()
    if request.axes(image.shape) > _MOST_LABELLED:
        where = tuple(each for each in where if each == "cpu")
    compared = image.astype("float32") if image.dtype == "float16" else image  # the library compares no float16
    return _called("nearfield_label", [compared], shape, words, where, otherwise)


def _number(value: int | float) -> str:
    """Prints a number to the last bit: JAX passes no integers above 2**63."""
    return value.hex() if isinstance(value, float) else str(value)


def _platform() -> str:
    """Platform of JAX's default device, which is that of programs unless their arrays are placed elsewhere."""
    device = jax.devices()[0]
    if device.platform != "gpu":
        return str(device.platform)
    return "cuda" if "cuda" in device.client.platform_version.lower() else "rocm"


def _called(
    target: str,
    inputs: Sequence[Any],
    shapes: Any,
    words: dict[str, Any],
    where: Sequence[str],
    otherwise: Callable[..., Any],
) -> Any:
    if not where:
        return otherwise(*inputs)

    def native(*inputs: Any) -> Any:
        return jax.ffi.ffi_call(target, shapes, vmap_method="broadcast_all")(*inputs, **words)

    if _platform() in where:
        return native(*inputs)
    return jax.lax.platform_dependent(*inputs, **dict.fromkeys(where, native), default=otherwise)
