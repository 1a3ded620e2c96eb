"""scikit-image's functions of distances, with its signatures; to migrate, import them from here.

``isotropic_erosion``, ``isotropic_dilation``, ``isotropic_opening``, ``isotropic_closing``, ``skeletonize`` and
``medial_axis`` (``skimage.morphology``; notes say what differs) and ``expand_labels`` (``skimage.segmentation``);
``watershed``, ``h_maxima``, ``reconstruction`` and ``peak_local_max`` of their modules.
Deliberate differences:

- Without any cell outside (or, for a dilation, inside) the shape nothing is within reach: an erosion of a full image is
  that image. scikit-image measures to a place beyond the corner there.
- Distances are compared with `radius` exactly: their squares are integers where the spacing allows, else doubles.
- `skeletonize` is another algorithm, with other cells: `nearfield.skeletonize` with its defaults, for images and
  volumes alike. It keeps components, holes and cavities, which both of scikit-image's may lose.
- `watershed` shares plateaus by steps and coordinates, not in the order of a queue: some cells between labels differ.
- `h_maxima` compares heights exactly; `peak_local_max` gives one cell for each maximum, and measures Euclidean.
  A number of markers is scikit-image's even grid.
- `expand_labels` gives a cell that is equally near to two labels to the same one on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nearfield import _morphology, _skeleton, _voronoi
from nearfield._request import said
from nearfield.compat._skimage_axis import medial_axis
from nearfield.compat._skimage_watershed import h_maxima, peak_local_max, reconstruction, watershed

__all__ = [
    "expand_labels",
    "h_maxima",
    "isotropic_closing",
    "isotropic_dilation",
    "isotropic_erosion",
    "isotropic_opening",
    "medial_axis",
    "peak_local_max",
    "reconstruction",
    "skeletonize",
    "watershed",
]

Array = np.ndarray[Any, Any]
Spacing = float | Sequence[float] | None


def isotropic_erosion(image: Any, radius: float, out: Array | None = None, spacing: Spacing = None) -> Array:
    """Cells farther than `radius` from every background cell; bool."""
    return _run(_morphology.erosion, image, radius, out, spacing)


def isotropic_dilation(image: Any, radius: float, out: Array | None = None, spacing: Spacing = None) -> Array:
    """Cells within `radius` of a foreground cell; bool."""
    return _run(_morphology.dilation, image, radius, out, spacing)


def isotropic_opening(image: Any, radius: float, out: Array | None = None, spacing: Spacing = None) -> Array:
    """The dilation of the erosion; bool."""
    return _run(_morphology.opening, image, radius, out, spacing)


def isotropic_closing(image: Any, radius: float, out: Array | None = None, spacing: Spacing = None) -> Array:
    """The erosion of the dilation; bool."""
    return _run(_morphology.closing, image, radius, out, spacing)


def skeletonize(image: Any, *, method: str | None = None) -> Array:
    """The shape thinned to curves; bool. `method`, one of scikit-image's 'zhang' and 'lee', changes nothing."""
    if method not in (None, "zhang", "lee"):
        raise ValueError(f"method is {said(method)}; give 'zhang', 'lee' or None, which are all the same here")
    return np.asarray(_skeleton.skeletonize(np.asarray(image)))


def expand_labels(label_image: Any, distance: float = 1, spacing: Spacing = 1) -> Array:
    """Labels grown by up to `distance` without running into each other."""
    return np.asarray(_voronoi.expand_labels(np.asarray(label_image), distance, spacing))


def _run(operation: Callable[..., Any], image: Any, radius: float, out: Array | None, spacing: Spacing) -> Array:
    answer: Array = operation(np.asarray(image), radius, spacing=spacing)
    if out is None:
        return answer
    out[...] = answer
    return out
