"""Chooses who serves an array: JAX's are immutable and have modules of their own, imported only where JAX is.

These modules build on those for all other arrays, so the choice is made here, above both.
"""

from __future__ import annotations

from typing import Any

from nearfield import _call, _methods
from nearfield._arrays import is_jax
from nearfield._progress import Progress, callable_of
from nearfield._request import Request, threads_of
from nearfield._traced import is_traced
from nearfield._workplace import Workplace


def compute(
    image: Any,
    request: Request,
    given: dict[str, Any],
    *,
    name: str = "image",
    weights: Any = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> list[Any]:
    """Fills and returns the requested fields, in the request's order: those in `given` in place, the others new."""
    used, tell = threads_of(threads), callable_of(progress)
    if is_jax(image) or is_traced(weights):
        from nearfield import _jax

        return _jax.compute(image, request, given, name, weights, device, used, tell)
    return _call.compute(
        image, request, given, name=name, weights=weights, device=device, threads=threads, progress=progress
    )


def compute_by_method(
    image: Any,
    request: Request,
    given: dict[str, Any],
    method: str,
    *,
    name: str = "image",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> tuple[list[Any], dict[str, Any]]:
    """Computes as `compute` does, by a published method; also returns a report on its stages. Waits for a GPU."""
    threads_of(threads)
    callable_of(progress)
    if is_jax(image):
        from nearfield import _jax

        return _jax.compute_by_method(image, request, given, method, name, device, threads, progress)
    return _methods.compute_by_method(
        image, request, given, method, name=name, device=device, threads=threads, progress=progress
    )


def workplace_of(name: str, x: Any) -> Workplace:
    """The workplace of the framework of `x`, which errors call `name`."""
    if is_jax(x):
        from nearfield import _jax_workplace

        return _jax_workplace.workplace_of(name, x)
    return Workplace(name, x)
