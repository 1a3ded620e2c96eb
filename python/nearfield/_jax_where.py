"""`where=` of JAX's arrays: cells are taken from the sites before a call and from its answers after it.

All of it are operations of JAX, so that `jax.jit`, `jax.vmap` and `shard_map` go through them. Imported only when JAX
is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from nearfield._request import Request

Call = Callable[[Any, Request], list[Any]]


def compute(image: Any, request: Request, where: Any, call: Call) -> list[Any]:
    """The fields of `request`; `call` computes those of an image of which all cells take part."""
    if request.sites == "other_labels":
        raise ValueError("where does not go with multilabel=True for arrays of JAX; give an array of NumPy or CuPy")
    try:
        part = jnp.broadcast_to(jnp.asarray(where), image.shape) != 0
    except ValueError:
        came = tuple(where.shape)
        raise ValueError(
            f"where has shape {came}, which does not broadcast to {tuple(image.shape)}; give one value for each cell"
        ) from None
    found = _among(image, part, request._replace(sign="none"), call)
    if request.sign != "none":
        other = "nonzero" if request.sites == "zero" else "zero"
        of_sites = _among(image, part, request._replace(sign="none", sites=other), call)
        is_site = (image == 0) == (request.sites == "zero")
        negative = is_site if request.sign == "outside" else ~is_site
        found = [jnp.where(is_site, theirs, ours) for theirs, ours in zip(of_sites, found)]
        found = [
            jnp.where(negative, -x, x) if field in ("distance", "squared") else x
            for (field, _), x in zip(request.fields, found)
        ]
    return [jnp.where(part, x, _none(field, x.dtype)) for (field, _), x in zip(request.fields, found)]


def _among(image: Any, part: Any, request: Request, call: Call) -> list[Any]:
    no_site = jnp.asarray(1 if request.sites == "zero" else 0, image.dtype)
    return call(jnp.where(part, image, no_site), request)


def _none(field: str, dtype: Any) -> Any:
    """What a cell without a site has."""
    if field in ("index", "coordinates"):
        return jnp.asarray(-1, dtype)
    if field in ("label", "trusted") or jnp.issubdtype(dtype, jnp.bool_):
        return jnp.asarray(0, dtype)
    return jnp.asarray(jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).max, dtype)
