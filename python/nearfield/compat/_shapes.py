"""The calls of shapes for every adapter: spacing from the image, answers as images like it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import nearfield
from nearfield.compat._images import Opened, _refuse_outputs

# What a call returns, in this order: fields of Opened.back, or None for what is no image.
_RETURNED: dict[str, tuple[str | None, ...]] = {
    **dict.fromkeys(("erosion", "dilation", "opening", "closing"), ("labels",)),
    "local_thickness": ("distance",),
    "granulometry": (None,),
    "porosimetry": ("distance",),
    "medial_axis": ("mask", "distance"),
    "skeletonize": ("mask",),
    "skeleton_graph": (None,),
    "natural_neighbor": ("labels",),
    "split": ("components", None),
    "watershed": ("components", "labels"),
    **dict.fromkeys(("h_maxima", "h_minima"), ("mask",)),
    "fill_holes": ("labels",),
}
_IMAGES = ("keep", "known", "values", "markers", "mask", "inlets")  # keywords that may be images, too
_WITHOUT_SPACING = ("watershed", "h_maxima", "h_minima", "fill_holes")
_WITHOUT_BATCHES = ("granulometry", "porosimetry", "skeleton_graph", "split", *_WITHOUT_SPACING)


def adapted(name: str, open_image: Callable[[Any, Any, dict[str, Any]], Opened]) -> Callable[..., Any]:
    """`nearfield.<name>` for images that `open_image(image, spacing, keywords)` opens."""
    function = getattr(nearfield, name)

    def call(image: Any, *arguments: Any, spacing: Any = None, **keywords: Any) -> Any:
        _refuse_outputs(keywords)
        if keywords.get("return_sites"):
            raise TypeError("return_sites is not taken here, as sites are no image; leave it out, or work on the array")
        opened = open_image(image, spacing, keywords)
        given, placed = dict(keywords), arguments  # hold the images whose memory the arrays show
        for each in _IMAGES:
            if each in given and not isinstance(given[each], str | None):
                keywords[each] = opened.array_of(given[each])
        arguments = tuple(each if isinstance(each, str | float | int) else opened.array_of(each) for each in placed)
        if name not in _WITHOUT_SPACING:
            keywords["spacing"] = opened.spacing if spacing is None or isinstance(spacing, Mapping) else spacing
        elif spacing is not None:
            raise TypeError(f"spacing is not taken here, as nearfield.{name} measures no lengths; leave it out")
        if name not in _WITHOUT_BATCHES:
            keywords["batch_axes"] = opened.batch_axes
        elif opened.batch_axes > 0:
            raise ValueError(f"image holds several images, and nearfield.{name} takes one; give one of them")
        results = function(opened.array, *arguments, **keywords)
        made = [
            each if field is None else opened.back(field, each.astype("uint8") if each.dtype == bool else each)
            for field, each in zip(_RETURNED[name], results if type(results) is tuple else [results])
        ]
        return tuple(made) if len(made) > 1 else made[0]

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`nearfield.{name}` of an image, with its arguments: spacing is the image's, images are like it."
    return call
