"""Fields of one image, or of each image of a list: from the request to what the caller gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nearfield._arrays import framework_of, is_jax
from nearfield._call import compute as compute_here
from nearfield._call import compute_several, target
from nearfield._compiled import in_graph
from nearfield._dispatch import compute, compute_by_method
from nearfield._progress import Progress, callable_of
from nearfield._request import Request


class Asked(NamedTuple):
    """An image, the fields wanted of it, and the caller's arrays for them."""

    image: Any
    request: Request
    given: dict[str, Any]


class How(NamedTuple):
    """Settings that all images of a call share; errors call an image `name`."""

    name: str
    method: str
    device: str | None
    threads: int | None
    progress: Progress


def is_several(image: Any) -> bool:
    """Says whether this is a list of arrays, each an image; a list of lists of numbers is one image."""
    return isinstance(image, list | tuple) and bool(image) and all(getattr(each, "shape", ()) for each in image)


def refuse_with_several(name: str, **given: Any) -> None:
    for argument, value in given.items():
        if value is not None:
            raise TypeError(
                f"{argument} goes with one array, and {name} is a list of them; leave it out, or call in a loop"
            )


def answer(asked: Asked, how: How, weights: Any = None, bounds: Any = None, where: Any = None) -> Any:
    """Computes the fields and returns them as a tuple; a single one without it."""
    options: dict[str, Any] = {"name": how.name, "device": how.device, "threads": how.threads, "progress": how.progress}
    if where is not None:
        _check_where(asked.image, how.method, weights, bounds)
        if is_jax(asked.image):
            from nearfield import _jax_where

            def call(image: Any, request: Request) -> list[Any]:
                return compute(image, request, asked.given, **options)

            return _alone_or_tuple(_jax_where.compute(asked.image, asked.request, where, call))
        return _alone_or_tuple(compute_here(*asked, where=where, **options))
    if how.method != "exact":
        return _alone_or_tuple(compute_by_method(*asked, how.method, **options)[0])
    if bounds is not None:
        if in_graph.serves(asked.image) or is_jax(asked.image):
            raise ValueError("max_distance of each cell goes with arrays of NumPy, CuPy and PyTorch; give one number")
        return _alone_or_tuple(compute_here(*asked, bounds=bounds, **options))
    run = in_graph if in_graph.serves(asked.image) else compute
    return _alone_or_tuple(run(*asked, weights=weights, **options))


def _check_where(image: Any, method: str, weights: Any, bounds: Any) -> None:
    if method != "exact" or weights is not None or bounds is not None:
        raise ValueError("where goes with neither weights, a max_distance of each cell nor a method but 'exact'")
    if in_graph.serves(image):
        raise ValueError(
            "where does not go with torch.compile, torch.vmap and fake tensors; take the cells from the sites with "
            "torch.where before the call, and from the answer after it"
        )


def answers(asked: Sequence[Asked], how: How) -> list[Any]:
    """Returns what `answer` does for each image; images that are alike share one call of the library."""
    if how.method == "exact" and _are_alike(asked, how.device, how.name):
        filled = compute_several(
            [each.image for each in asked],
            asked[0].request,
            name=how.name,
            threads=how.threads,
            progress=how.progress,
        )
        return [_alone_or_tuple(each) for each in filled]
    tell = callable_of(how.progress)
    return [
        answer(each, how._replace(progress=None if tell is None else _share_of(tell, k, len(asked))))
        for k, each in enumerate(asked)
    ]


def _alone_or_tuple(filled: list[Any]) -> Any:
    return filled[0] if len(filled) == 1 else tuple(filled)


def _share_of(tell: Callable[[float], object], k: int, count: int) -> Callable[[float], object]:
    return lambda share: tell((k + share) / count)


def _are_alike(asked: Sequence[Asked], device: str | None, name: str) -> bool:
    """Says whether framework, place, element type, number of axes and fields agree; JAX's images never do."""
    first = asked[0]
    if any(in_graph.serves(each.image) or is_jax(each.image) or each.request != first.request for each in asked):
        return False
    framework = framework_of(first.image)
    arrays = [framework_of(each.image).array(name, each.image) for each in asked]
    kinds = {(framework_of(x), framework_of(x).place(x), framework_of(x).dtype(x), len(x.shape)) for x in arrays}
    place = framework.place(arrays[0])
    return len(kinds) == 1 and target(device, place, name) == place.ordinal
