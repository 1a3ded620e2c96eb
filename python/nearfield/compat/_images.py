"""What the adapters share: an image of some library as an array with a spacing, and results as images again."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nearfield._arrays import name_of
from nearfield._components import Components, components
from nearfield._distance import DISTANCE_TYPES
from nearfield._label import label
from nearfield._label_request import LABEL_TYPES
from nearfield._request import flag_of

# What a native call returns, in this order, and by which keyword with which default it is asked for.
RETURNED = {
    "distance_transform": (("distance", True), ("indices", False), ("labels", False), ("trusted", False)),
    "voronoi": (("indices", True), ("labels", False), ("distance", False), ("trusted", False)),
    "expand_labels": (("indices", False), ("labels", True), ("distance", False)),
    "label": (("components", True),),
    "shape": (),  # _shapes.py
}
_KEYWORD = {
    "distance": "return_distances",
    "indices": "return_indices",
    "labels": "return_labels",
    "trusted": "return_trusted",
    "components": "return_components",
}
_OUTPUTS = ("out", "indices_out", "labels_out")
_OFFERED = {"label": LABEL_TYPES, "distance_transform": DISTANCE_TYPES["distance"][1:]}  # no bool


class Opened(NamedTuple):
    """An image as the native calls see it."""

    array: Any
    spacing: tuple[float, ...]  # of the axes that are no batch axes, in array order
    batch_axes: int
    array_of: Callable[[Any], Any]  # another image of that shape; whatever is no image stays as it is
    # The result of one field as an image: 'distance', 'labels', 'indices' (linear), 'coordinates' or 'components', and
    # its array.
    back: Callable[[str, Any], Any]


def library(name: str) -> Any:
    """The library of an adapter, which is imported with it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = f"nearfield.compat needs {name} for its images; pip install {name}"
        raise ImportError(message, name=error.name) from error


def run(function: Callable[..., Any], opened: Opened, spacing: Any, keywords: dict[str, Any], *more: Any) -> Any:
    """`function` of the opened image; spacing is the image's own unless given."""
    _refuse_outputs(keywords)
    if spacing is None:
        spacing = opened.spacing
    if keywords.get("weights") is not None:
        keywords = {**keywords, "weights": opened.array_of(keywords["weights"])}
    results = function(opened.array, *more, spacing=spacing, batch_axes=opened.batch_axes, **keywords)
    names = fields(function.__name__, keywords)
    made = [
        opened.back(name, result.astype("uint8") if name == "trusted" else result)  # of bool these have no images
        for name, result in zip(names, results if len(names) > 1 else [results])
    ]
    return tuple(made) if len(made) > 1 else made[0]


def run_label(opened: Opened, keywords: dict[str, Any]) -> Any:
    """`nearfield.label` of the opened image."""
    _refuse_outputs(keywords)
    _refuse_channels(keywords)
    result = label(opened.array, batch_axes=opened.batch_axes, **keywords)
    if keywords.get("return_num"):
        return opened.back("components", result[0]), result[1]
    return opened.back("components", result)


def run_components(opened: Opened, spacing: Any, keywords: dict[str, Any]) -> Components:
    """`nearfield.components` of the opened image; spacing is the image's own unless given."""
    _refuse_outputs(keywords)
    _refuse_channels(keywords)
    if keywords.get("intensity") is not None:
        keywords = {**keywords, "intensity": opened.array_of(keywords["intensity"])}
    lengths = opened.spacing if spacing is None else spacing
    labels, table = components(opened.array, spacing=lengths, batch_axes=opened.batch_axes, **keywords)
    return Components(opened.back("components", labels), table)


def _refuse_outputs(keywords: dict[str, Any]) -> None:
    for name in _OUTPUTS:
        if keywords.get(name) is not None:
            raise TypeError(f"{name} is not taken here, as results are new images; leave it out, or work on the array")


def _refuse_channels(keywords: dict[str, Any]) -> None:
    if flag_of("channels", keywords.get("channels", False)):
        raise TypeError(
            "channels is not taken here, as every axis of an image is a place; leave it out, or work on the array"
        )


def fields(function: str, keywords: dict[str, Any]) -> list[str]:
    """What a call with these keywords returns, in order."""
    names = []
    for field, default in RETURNED[function]:
        asked = keywords.get(_KEYWORD[field], default)
        if field == "indices" and asked and asked != "linear":
            field = "coordinates"
        if asked:
            names.append(field)
    return names


def refuse_types(keywords: dict[str, Any], refused: Sequence[str], owner: str, function: str) -> None:
    """Before any work: results of a type that the library has no images of."""
    dtype = keywords.get("dtype")
    name = None if dtype is None else name_of(dtype)
    if name in refused and function in _OFFERED:  # others have no dtype
        offered = [each for each in _OFFERED[function] if each not in refused]
        raise TypeError(f"dtype is {name}, which {owner} has no images of; give one of {', '.join(offered)}")


def refuse_time(ndim: int, batch_axes: int, spacing: Any) -> None:
    """ITK's fourth axis is a place or a time, and its image does not tell which."""
    if ndim - batch_axes > 3 and spacing is None:
        raise ValueError(
            f"image has {ndim} axes, and the last may be time; give batch_axes={ndim - 3} to solve each volume by "
            f"itself, or spacing= with {ndim} lengths in array order to measure across all axes"
        )
