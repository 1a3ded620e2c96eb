"""Separates objects that touch: from a mask or a gray image to labels, and to a table of objects."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, in_rows
from nearfield._centroidal import luminance
from nearfield._components import component_statistics
from nearfield._dispatch import workplace_of
from nearfield._methods import _on_host
from nearfield._progress import Progress
from nearfield._request import (
    Border,
    Request,
    Spacing,
    border_of,
    check_flags,
    count_of,
    length_of,
    said,
    spacing_of,
    threads_of,
    word_of,
)
from nearfield._traced import refuse_traced
from nearfield._watershed import Call, words
from nearfield._workplace import Workplace

SplitMethod = Literal["watershed", "lecture", "voronoi", "geodesic"]
METHODS = ("watershed", "lecture", "voronoi", "geodesic")


def split(
    mask: Any,
    *,
    method: SplitMethod = "watershed",
    h: float | None = None,
    spacing: Spacing = None,
    border: Border = "open",
    min_size: int = 1,
    gray: bool | Literal["dark"] = False,
    channel_axis: int | None = None,
    return_table: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Separates objects that touch.

    Parameters
    ----------
    mask : array of 1 to 3 axes
        Cells that are not zero are objects; with `gray` an image of bright or dark objects.
    method : {'watershed', 'lecture', 'voronoi', 'geodesic'}
        'watershed' takes the watershed of the inverted distance to the background, from its peaks of height `h`. The
        others start from the components of the cells farther than `h` from the background. 'lecture' gives a cell of
        the mask to the nearest of their barycentres, rounded to cells; 'voronoi' to the nearest component; 'geodesic'
        to the component that is reached in the fewest steps within the mask.
    h : float, optional
        Height, or distance, in units of `spacing`. Default: three quarters of the shortest length of a cell; for the
        other methods half of the largest distance.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis. Default: 1.
    border : {'open', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis: nothing, or its other end.
    min_size : int
        Least number of cells of an object; smaller ones are dropped.
    gray : bool or 'dark'
        Make the mask from a gray image first, in CPU memory. Let r be the radius of a ball as large as the objects that
        Otsu's threshold gives. The image, blurred by r / 8, is compared with its mean within 3 r / 2, by Otsu's
        threshold of the difference; holes are filled. A watershed's default of `h` is then r / 16, if that is larger,
        and a `min_size` of 1 stands for a twentieth of the objects' size. Objects are brighter than what is around
        them; with 'dark' they are darker.
    channel_axis : int, optional
        Axis of a gray image that holds red, green, blue and perhaps alpha, whose luminance is taken. `spacing`,
        `border` and the answer do without it.
    return_table : bool
        Also return the `ComponentTable` of the objects.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array of int32, or with `return_table` a tuple of it and a table
        Labels of the objects, from 1 in raster order; 0 is background. The last two methods also give 0 to cells that
        no component reaches.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.split([0, 1, 1, 1, 1, 1, 0])
    array([0, 1, 1, 1, 1, 1, 0], dtype=int32)
    >>> nf.split([0, 1, 1, 1, 0, 1, 0], return_table=True)[1].size
    array([3, 1])
    """
    dark = isinstance(gray, str) and gray == "dark"
    if isinstance(gray, str) and not dark:
        raise ValueError(f"gray is {said(gray)}; give True, False or 'dark'")
    check_flags(gray=dark or gray, return_table=return_table)
    how, least = METHODS.index(word_of("method", method, METHODS)), count_of("min_size", min_size, 1)
    work = workplace_of("mask", mask)
    if channel_axis is not None and not gray:
        raise ValueError(f"channel_axis is {said(channel_axis)}, but a mask has one value a cell; give gray=True")
    if gray and channel_axis is None and len(work.shape) == 3 and work.shape[2] in (3, 4) and min(work.shape[:2]) > 8:
        raise ValueError(
            f"mask has shape {work.shape}, which looks like colours; give channel_axis=-1, or one channel, as"
            " mask[..., 0]. Move the last axis of a volume that is so thin to the front"
        )
    axes = len(work.shape) - (channel_axis is not None)
    request = Request((), spacing=spacing_of(spacing, axes, 0), border=border_of(border, axes, 0))
    height = None if h is None else length_of("h", h)
    options = _core.SplitOptions(request.options(), how, height, least)
    with words("mask", smallest="min_size"):
        if gray:
            work, options = _objects_of(work, options, dark, channel_axis, threads)
        made = work.empty(work.shape, "int32")
        Call(work, device, threads, progress).split(made, options)
    found = work.hand_out(made)
    return (found, component_statistics(found, spacing=spacing, threads=threads)) if return_table else found


def _objects_of(
    work: Workplace, options: _core.SplitOptions, dark: bool, channel_axis: int | None, threads: int | None
) -> tuple[Workplace, _core.SplitOptions]:
    """The mask of a gray image, where the image is, and the options that separate its objects."""
    image = in_rows(_on_host(work.array) if channel_axis is None else luminance(work.name, work.array, channel_axis))
    mask = np.empty(image.shape, bool)
    options = _core.gray_objects(
        NUMPY.describe("image", image, False), NUMPY.describe("mask", mask, True), options, dark, threads_of(threads)
    )
    return workplace_of(work.name, work.constant(mask)), options


def threshold_otsu(image: Any, *, threads: int | None = None) -> float:
    """Otsu's threshold: the value that separates two classes of values best; ``image > threshold`` is their mask.

    Parameters
    ----------
    image : array
        Any number of axes. Values that are not finite do not count; arrays on a GPU are copied to CPU memory.
    threads : int, optional
        As in `distance_transform`.

    Returns
    -------
    float
        An edge between 1024 bins of equal width. Integers less than 65536 apart have a bin each, as in scikit-image,
        and the answer is the largest one below the edge. If all values are equal it is this value, so that no cell is
        larger.

    References
    ----------
    Otsu, "A threshold selection method from gray-level histograms", IEEE Trans. SMC 9(1), 1979.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.threshold_otsu([1, 2, 2, 9, 8])
    2.0
    """
    refuse_traced("image", image)
    values = in_rows(_on_host(workplace_of("image", image).array))
    return _core.threshold_otsu(NUMPY.describe("image", values, False), threads_of(threads))
