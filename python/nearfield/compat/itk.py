"""The native calls on ITK images: spacing is read from the image, its geometry and metadata are copied back.

>>> import itk, numpy
>>> from nearfield.compat import itk as nfi
>>> image = itk.image_from_array(numpy.array([[0, 1, 1], [1, 1, 1]], numpy.uint8))
>>> image.SetSpacing((0.5, 2.0))
>>> itk.array_from_image(nfi.distance_transform(image))
array([[0.       , 0.5      , 1.       ],
       [2.       , 2.0615528, 2.236068 ]], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nearfield
from nearfield._request import count_of
from nearfield.compat._images import Opened, fields, library, refuse_time, refuse_types, run, run_components, run_label
from nearfield.compat._maurer import signed_maurer
from nearfield.compat._shapes import adapted

itk: Any = library("itk")


def distance_transform(image: Any, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.distance_transform` of an ITK image, as ITK images.

    Parameters
    ----------
    image : itk.Image, or a filter whose output is one
        Scalar pixels, up to 3 axes; a fourth needs ``batch_axes=1``, or `spacing`. Not changed, not copied.
    spacing : float or sequence of floats, optional
        In array order, which is the reverse of ITK's (x, y, z). Default: that of the image.
    **keywords
        As in `nearfield.distance_transform`, except for outputs to be filled; axes in array order.

    Returns
    -------
    itk.Image or tuple of them
        With origin, spacing, direction, region and metadata of `image`. Coordinates are a vector image in ITK's order:
        each pixel has the index (x, y, z) of its nearest site. Those and linear indices are float64, and exact, as
        ITK's Python has no such images of signed integers.

    Raises
    ------
    TypeError
        Not an image, several components a pixel, or a result of a type that ITK does not have.
    ValueError
        A fourth axis without `batch_axes` and `spacing`; coordinates of an image whose region does not start at 0;
        whatever `nearfield.distance_transform` refuses.

    Examples
    --------
    >>> mask = itk.image_from_array(np.array([[1, 1, 0], [1, 1, 1]], np.uint8))
    >>> away, site = distance_transform(mask, return_indices=True)
    >>> tuple(map(float, site[0, 1]))
    (2.0, 0.0)
    """
    return run(nearfield.distance_transform, _open(image, spacing, keywords, "distance_transform"), spacing, keywords)


def voronoi(seeds: Any, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.voronoi` of an ITK image, as ITK images; parameters and results as in `distance_transform`.

    Examples
    --------
    >>> seeds = itk.image_from_array(np.array([[7, 0, 0, 0, 9]], np.uint8))
    >>> itk.array_from_image(voronoi(seeds, return_indices=False, return_labels=True))
    array([[7, 7, 7, 9, 9]], dtype=uint8)
    """
    return run(nearfield.voronoi, _open(seeds, spacing, keywords, "voronoi"), spacing, keywords)


def expand_labels(labels: Any, distance: float | None = 1, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.expand_labels` of an ITK image; `distance` is in the units of its spacing, usually mm.

    Examples
    --------
    >>> labels = itk.image_from_array(np.array([[7, 0, 0, 0, 9]], np.uint8))
    >>> labels.SetSpacing((0.4, 0.4))
    >>> itk.array_from_image(expand_labels(labels, 0.5))
    array([[7, 7, 0, 9, 9]], dtype=uint8)
    """
    return run(nearfield.expand_labels, _open(labels, spacing, keywords, "expand_labels"), spacing, keywords, distance)


def label(image: Any, **keywords: Any) -> Any:
    """`nearfield.label` of an ITK image, as an ITK image; keywords and results as there, axes in array order.

    Examples
    --------
    >>> mask = itk.image_from_array(np.array([[7, 7, 0, 9]], np.uint8))
    >>> itk.array_from_image(label(mask))
    array([[1, 1, 0, 2]], dtype=int32)
    """
    return run_label(_open(image, None, keywords, "label"), keywords)


def components(image: Any, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.components` of an ITK image: the labels as an ITK image, and the table, in the units of its spacing.

    Examples
    --------
    >>> mask = itk.image_from_array(np.array([[7, 7, 0, 9]], np.uint8))
    >>> components(mask).table.size
    array([2, 1])
    """
    return run_components(_open(image, spacing, keywords, "label"), spacing, keywords)


def signed_maurer_distance_map_image_filter(
    image: Any,
    *,
    inside_is_positive: bool = False,
    squared_distance: bool = True,
    use_image_spacing: bool = True,
    background_value: float = 0,
) -> Any:
    """ITK's function of this name, its keywords, defaults and distances, float32.

    Distances go to the nearest contour pixel, which is a pixel of the object that touches the background at a side, an
    edge or a corner; contour pixels have 0. ``nearfield.distance_transform(signed=True)`` is another measure: from each
    pixel to the nearest on the other side, so that no pixel has 0. Without any contour pixel distances are inf.

    Examples
    --------
    >>> mask = itk.image_from_array(np.array([[0, 0, 1, 1, 1, 1]], np.uint8))
    >>> itk.array_from_image(signed_maurer_distance_map_image_filter(mask, squared_distance=False))
    array([[ 2.,  1.,  0., -1., -2., -3.]], dtype=float32)
    """
    opened = _open(image, None, {}, "distance_transform")
    spacing = opened.spacing if use_image_spacing else None
    field = signed_maurer(opened.array, spacing, inside_is_positive, squared_distance, background_value)
    return opened.back("distance", field)


def _open(image: Any, spacing: Any, keywords: dict[str, Any], function: str) -> Opened:
    """Takes `batch_axes` out of the keywords."""
    image = itk.output(image)
    if not hasattr(image, "GetLargestPossibleRegion"):
        raise TypeError(f"image is {type(image).__name__}; give an itk.Image, or arrays to nearfield itself")
    image.Update()
    components = image.GetNumberOfComponentsPerPixel()
    if components > 1:
        raise TypeError(
            f"image has {components} components a pixel; give one, such as "
            "itk.vector_index_selection_cast_image_filter(image, index=0)"
        )
    refuse_types(keywords, ("float16", "bool", "int8", "int64"), "ITK", function)
    batch = count_of("batch_axes", keywords.pop("batch_axes", 0), 0)
    array = _array_of(image)
    refuse_time(array.ndim, batch, spacing)
    start = tuple(image.GetLargestPossibleRegion().GetIndex())
    if any(start) and "coordinates" in fields(function, keywords):
        raise ValueError(
            f"image has a region that starts at {start}, and -1 in coordinates means no site; ask for "
            "return_indices='linear', or give itk.region_of_interest_image_filter(image, region_of_interest=...)"
        )

    def back(field: str, result: Any) -> Any:
        if field == "coordinates":
            result = np.moveaxis(result[::-1], 0, -1)
        if field in ("coordinates", "indices"):
            result = result.astype(np.float64)
        made = itk.image_from_array(np.ascontiguousarray(result), is_vector=field == "coordinates")
        made.SetRegions(image.GetLargestPossibleRegion())
        made.SetSpacing(image.GetSpacing())
        made.SetOrigin(image.GetOrigin())
        made.SetDirection(image.GetDirection())
        made.SetMetaDataDictionary(image.GetMetaDataDictionary())
        return made

    return Opened(array, tuple(image.GetSpacing())[::-1][batch:], batch, _array_of, back)


def _array_of(image: Any) -> Any:
    return itk.array_view_from_image(image) if hasattr(image, "GetLargestPossibleRegion") else image


def _open_shape(image: Any, spacing: Any, keywords: dict[str, Any]) -> Opened:
    return _open(image, spacing, keywords, "shape")


erosion = adapted("erosion", _open_shape)
dilation = adapted("dilation", _open_shape)
opening = adapted("opening", _open_shape)
closing = adapted("closing", _open_shape)
local_thickness = adapted("local_thickness", _open_shape)
granulometry = adapted("granulometry", _open_shape)
porosimetry = adapted("porosimetry", _open_shape)
medial_axis = adapted("medial_axis", _open_shape)
skeletonize = adapted("skeletonize", _open_shape)
skeleton_graph = adapted("skeleton_graph", _open_shape)
natural_neighbor = adapted("natural_neighbor", _open_shape)
split = adapted("split", _open_shape)
watershed = adapted("watershed", _open_shape)
h_maxima = adapted("h_maxima", _open_shape)
fill_holes = adapted("fill_holes", _open_shape)
