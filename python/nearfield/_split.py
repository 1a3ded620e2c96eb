"""Separates objects that touch: from a mask or a gray image to labels, and to a table of objects."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, in_rows
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
    spacing_of,
    threads_of,
    word_of,
)
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
    gray: bool = False,
    return_table: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Separates objects that touch.

    Parameters
    ----------
    mask : array of 1 to 3 axes
        Cells that are not zero are objects; with `gray` an image of bright objects.
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
    gray : bool
        Make the mask from a gray image first, in CPU memory. Let r be the radius of a ball as large as the objects that
        Otsu's threshold gives. The image, blurred by r / 8, is compared with its mean within 3 r / 2, by Otsu's
        threshold of the difference; holes are filled. A watershed's default of `h` is then r / 16, if that is larger,
        and a `min_size` of 1 stands for a twentieth of the objects' size.
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
    check_flags(gray=gray, return_table=return_table)
    how, least = METHODS.index(word_of("method", method, METHODS)), count_of("min_size", min_size, 1)
    work = workplace_of("mask", mask)
    axes = len(work.shape)
    request = Request((), spacing=spacing_of(spacing, axes, 0), border=border_of(border, axes, 0))
    height = None if h is None else length_of("h", h)
    options = _core.SplitOptions(request.options(), how, height, least)
    with words("mask", smallest="min_size"):
        if gray:
            work, options = _objects_of(work, options, threads)
        made = work.empty(work.shape, "int32")
        Call(work, device, threads, progress).split(made, options)
    found = work.hand_out(made)
    return (found, component_statistics(found, spacing=spacing, threads=threads)) if return_table else found


def _objects_of(
    work: Workplace, options: _core.SplitOptions, threads: int | None
) -> tuple[Workplace, _core.SplitOptions]:
    """The mask of a gray image, where the image is, and the options that separate its objects."""
    image, mask = in_rows(_on_host(work.array)), np.empty(work.shape, bool)
    options = _core.gray_objects(
        NUMPY.describe("image", image, False), NUMPY.describe("mask", mask, True), options, threads_of(threads)
    )
    return workplace_of(work.name, work.constant(mask)), options
