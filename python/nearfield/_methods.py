"""The published methods behind `method=`; `compare` counts what each of them gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, framework_of
from nearfield._call import _described, arguments_named, as_numpy, taken, target
from nearfield._progress import Progress, callable_of
from nearfield._request import (
    Request,
    Spacing,
    check_flags,
    items_of,
    max_distance_of,
    said,
    spacing_of,
    threads_of,
    word_of,
)
from nearfield._untouched import Untouched
from nearfield.methods import Method, text_of

USUAL = (
    "exact",
    "banding",
    "jump-flood",
    "jump-flood:order=doubling",
    "jump-flood:after=1",
    "jump-flood:before=1",
    "jump-flood:sites=2",
    "jump-flood:runs=2",
    "plane-sweep",
    "brushfire",
    "chamfer",
)


class Stage(NamedTuple):
    """A stage of a method as the literature counts it."""

    name: str
    milliseconds: float
    rounds: int
    bytes: int


class Comparison(NamedTuple):
    """One method against the exact answer."""

    #: What ran. On a GPU, brushfire runs in its parallel form and chamfer iterated.
    method: str
    #: Cells whose site is farther than the nearest one, and cells without a site although there is one.
    wrong_sites: int
    missing_sites: int
    #: Cells whose site is as near as the nearest one, but is not the one that the tie rule names.
    other_ties: int
    #: Cells whose distance is not exact, including those without a site. Chamfer's distances are prices of paths.
    wrong_distances: int
    #: Absolute errors of the distances, in units of the spacing: the mean over the wrong ones that are finite, the
    #: largest, and the largest as a share of the exact distance.
    mean_error: float
    largest_error: float
    largest_relative_error: float
    milliseconds: float
    rounds: int
    #: Bytes read and written at least; each cell counts once in a round.
    bytes: int
    stages: tuple[Stage, ...]
    #: float32: every cell's error, inf where a site is missing; None unless requested.
    error: np.ndarray | None


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
    count = threads_of(threads)
    tell = callable_of(progress)
    framework, array, place, out = taken(image, request, given, name)
    ordinal = target(device, place, name)
    with arguments_named(name, given):
        if ordinal < 0:
            seen = framework.describe(name, array, False)
            took = _core.run_method_on_host(seen, _described(request, out), request.options(), method, count, tell)
        elif place.ordinal >= 0:
            seen = framework.describe(name, array, False)
            took = _core.run_method_on_device(
                seen, _described(request, out), request.options(), method, ordinal, place.stream, False
            )
        else:
            took = _staged(framework, array, out, request, method, ordinal)
    return out, took


def _staged(framework: Any, array: Any, out: list[Any], request: Request, method: str, ordinal: int) -> dict[str, Any]:
    views = [as_numpy(x) for x in out]
    packed = [v if v.flags.c_contiguous else np.empty(v.shape, v.dtype) for v in views]
    image = np.ascontiguousarray(as_numpy(array))
    seen = NUMPY.describe("image", image, False)
    took = _core.run_method_on_device(seen, _described(request, packed), request.options(), method, ordinal, 0, True)
    for view, filled in zip(views, packed):
        if view is not filled:
            view[...] = filled
    return took


def compare(
    image: Any,
    methods: Sequence[str | Method] = USUAL,
    *,
    sites: Literal["nonzero", "zero"] = "nonzero",
    spacing: Spacing = None,
    max_distance: float | None = None,
    return_errors: bool = False,
    device: str | None = None,
    threads: int | None = None,
) -> list[Comparison]:
    """Runs published methods on one input and compares each with the exact answer.

    Parameters
    ----------
    image : array of 1 to 3 axes
        As in `distance_transform`. Arrays on a GPU are processed there; the errors are counted on the CPU.
    methods : sequence of str or of nearfield.methods
        Methods as text or objects: ``'jump-flood:order=doubling,after=1'`` or
        ``nf.methods.JumpFlood(order="doubling", after=1)``; docs/methods.md lists them. On a GPU, brushfire runs in its
        parallel form and chamfer iterated.
    sites : {'nonzero', 'zero'}
        Says which cells are sites. Default: 'nonzero'.
    spacing, max_distance, device, threads
        As in `distance_transform`.
    return_errors : bool
        Also return every cell's error.

    Returns
    -------
    list of Comparison
        One entry for each method, in their order.

    Examples
    --------
    >>> import nearfield as nf
    >>> [c] = nf.compare([1, 0, 0, 0, 1], ["jump-flood"])
    >>> c.wrong_sites, c.rounds
    (0, 5)
    """
    each_method = items_of(methods)
    if each_method is None:
        raise TypeError(f"methods is {said(methods)}; give a sequence of names: [{said(methods)}]")
    names = [text_of(each, "one of methods") for each in each_method]
    check_flags(return_errors=return_errors)
    framework = framework_of(image)
    image = framework.array("image", image)
    ordinal = target(device, framework.place(image), "image")
    device = "cpu" if ordinal < 0 else f"cuda:{ordinal}"
    seeds = _on_host(image)
    request = Request(
        (("distance", "float64"), ("index", "int64")),
        spacing_of(spacing, seeds.ndim, 0),
        word_of("sites", sites, ("nonzero", "zero")),
        max_distance=max_distance_of(max_distance),
    )
    [exact, _], _ = compute_by_method(seeds, request, {}, "exact", device="cpu", threads=threads)
    return [_compare_one(seeds, exact, request, name, return_errors, device, threads) for name in names]


def _on_host(x: Any) -> np.ndarray[Any, Any]:
    """Copies x from a GPU by the method that CuPy, PyTorch or Numba has for it; JAX's by ``__array__``."""
    if isinstance(x, Untouched):
        return x
    for name in ("get", "cpu", "copy_to_host"):
        if hasattr(x, name):
            x = getattr(x, name)()
            break
    return np.asarray(x) if hasattr(x, "__array__") else np.from_dlpack(x)


def _compare_one(
    seeds: np.ndarray[Any, Any],
    exact: np.ndarray[Any, Any],
    request: Request,
    name: str,
    wants_error: bool,
    device: str,
    threads: int | None,
) -> Comparison:
    run_as = name if device == "cpu" else _on_gpu(name)
    [distance, index], took = compute_by_method(seeds, request, {}, run_as, device=device, threads=threads)
    sites = _core.compare_sites(
        NUMPY.describe("image", seeds, False),
        NUMPY.describe("index", index, False),
        None,
        request.options(),
        threads_of(threads),
    )
    error = np.zeros(exact.shape)
    np.subtract(distance, exact, out=error, where=distance != exact)  # two infinities have no difference
    np.abs(error, out=error)
    wrong = (error != 0) & np.isfinite(error)
    errors = error[wrong]
    return Comparison(
        _core.method_text(run_as),
        **{k: sites[k] for k in ("wrong_sites", "missing_sites", "other_ties")},
        wrong_distances=int(np.count_nonzero(error)),
        mean_error=float(errors.mean()) if errors.size else 0.0,
        largest_error=float(errors.max(initial=0)),
        largest_relative_error=float((errors / exact[wrong]).max(initial=0)),
        **{k: took[k] for k in ("milliseconds", "rounds", "bytes")},
        stages=tuple(Stage(*each) for each in took["stages"]),
        error=error.astype(np.float32) if wants_error else None,
    )


def _on_gpu(name: str) -> str:
    kind, _, switches = name.partition(":")
    form = {"brushfire": "parallel", "chamfer": "iterated"}.get(kind)
    if form is None:
        return name
    return f"{kind}:{switches},{form}" if switches else f"{kind}:{form}"
