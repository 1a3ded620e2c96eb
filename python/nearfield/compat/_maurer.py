"""The distances of ITK's SignedMaurerDistanceMapImageFilter, from native calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield._distance import distance_transform


def signed_maurer(image: Any, spacing: Any, inside_is_positive: bool, squared: bool, background: float) -> Any:
    """Distances, float32, to the nearest contour cell; contour cells have 0, and a sign marks the inside.

    A contour cell belongs to the object and touches the background at a side, an edge or a corner.
    """
    if not 1 <= image.ndim <= 3:
        raise ValueError(f"image has {image.ndim} axes; give one of 1 to 3, as ITK's filter has no others")
    inside = np.not_equal(image, background)
    # At unit spacing a squared distance of at most the number of axes is a step of at most 1 along each.
    near = distance_transform(inside, squared=True, max_distance=image.ndim**0.5)
    contour = inside & (near <= image.ndim)
    field = distance_transform(contour, sites="nonzero", spacing=spacing, squared=squared)
    field = field.astype(np.float32, copy=False) if contour.any() else np.full(image.shape, np.inf, np.float32)
    np.negative(field, out=field, where=~inside if inside_is_positive else inside & ~contour)
    return field
