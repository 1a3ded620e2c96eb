"""The medial axis of scikit-image."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield._medial_axis import medial_axis as integer_axis


def medial_axis(image: Any, mask: Any = None, return_distance: bool = False, *, rng: Any = None) -> Any:
    """Medial axis of a binary image, as `skimage.morphology.medial_axis`.

    Parameters
    ----------
    image : array of 2 axes
        Cells that are not zero are the shape.
    mask : array of bool, optional
        Cells to compute; cells outside keep their value.
    return_distance : bool
        Also return the distance transform, float64.
    rng : optional
        Accepted for the signature's sake; no random numbers are drawn.

    Returns
    -------
    array of bool, or with `return_distance` a tuple of it and the distances

    Notes
    -----
    It differs from scikit-image in the choice of the axis: this is the integer medial axis with square-root pruning,
    one local test instead of a thinning in random order. Every call gives the same axis, which may be two cells thick
    and need not be connected.
    """
    shape = np.asarray(image).astype(bool)
    if shape.ndim != 2:
        raise ValueError(
            f"image has {shape.ndim} axes; scikit-image's medial_axis takes 2, nearfield.medial_axis 1 to 3"
        )
    inside = shape if mask is None else shape & np.asarray(mask, dtype=bool)
    axis, squared = integer_axis(inside, pruning="sqrt", squared=True)
    if mask is not None:
        outside = ~np.asarray(mask, dtype=bool)
        axis[outside] = shape[outside]
    if not return_distance:
        return axis
    reached = squared != np.iinfo(squared.dtype).max
    return axis, np.where(reached, np.sqrt(squared.astype(np.float64)), np.inf)
