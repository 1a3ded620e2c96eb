"""The native calls on SimpleITK images: spacing is read from the image, its geometry and metadata are copied back.

>>> import SimpleITK as sitk
>>> from nearfield.compat import sitk as nfs
>>> image = sitk.Image(5, 4, sitk.sitkUInt8) + 1
>>> image[0, 0] = 0
>>> image.SetSpacing((0.5, 2.0))
>>> away = nfs.distance_transform(image)
>>> away[4, 0], away[0, 3], away.GetSpacing()
(2.0, 6.0, (0.5, 2.0))
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nearfield
from nearfield._request import count_of
from nearfield.compat._images import Opened, library, refuse_time, refuse_types, run, run_components, run_label
from nearfield.compat._maurer import signed_maurer
from nearfield.compat._shapes import adapted

sitk: Any = library("SimpleITK")


def distance_transform(image: Any, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.distance_transform` of a SimpleITK image, as SimpleITK images.

    Parameters
    ----------
    image : SimpleITK.Image
        Scalar pixels, up to 3 axes; a fourth needs ``batch_axes=1``, or `spacing`. Not changed, not copied.
    spacing : float or sequence of floats, optional
        In array order, which is the reverse of SimpleITK's (x, y, z). Default: that of the image.
    **keywords
        As in `nearfield.distance_transform`, except for outputs to be filled; axes in array order.

    Returns
    -------
    SimpleITK.Image or tuple of them
        With origin, spacing, direction and metadata of `image`. Coordinates are a vector image, int32, in SimpleITK's
        order: each pixel has the index (x, y, z) of its nearest site. Linear indices are int64, x fastest.

    Raises
    ------
    TypeError
        Not an image, several components a pixel, or a result of a type that SimpleITK does not have.
    ValueError
        A fourth axis without `batch_axes` and `spacing`; whatever `nearfield.distance_transform` refuses.

    Examples
    --------
    >>> mask = sitk.GetImageFromArray([[1, 1, 0], [1, 1, 1]])
    >>> away, site = distance_transform(mask, return_indices=True)
    >>> site[0, 1]
    (2, 0)
    """
    return run(nearfield.distance_transform, _open(image, spacing, keywords, "distance_transform"), spacing, keywords)


def voronoi(seeds: Any, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.voronoi` of a SimpleITK image, as SimpleITK images; parameters and results as in `distance_transform`.

    Examples
    --------
    >>> seeds = sitk.GetImageFromArray([[7, 0, 0, 0, 9]])
    >>> sitk.GetArrayFromImage(voronoi(seeds, return_indices=False, return_labels=True))
    array([[7, 7, 7, 9, 9]])
    """
    return run(nearfield.voronoi, _open(seeds, spacing, keywords, "voronoi"), spacing, keywords)


def expand_labels(labels: Any, distance: float | None = 1, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.expand_labels` of a SimpleITK image; `distance` is in the units of its spacing, usually mm.

    Examples
    --------
    >>> labels = sitk.GetImageFromArray([[7, 0, 0, 0, 9]])
    >>> labels.SetSpacing((0.4, 0.4))
    >>> sitk.GetArrayFromImage(expand_labels(labels, 0.5))
    array([[7, 7, 0, 9, 9]])
    """
    return run(nearfield.expand_labels, _open(labels, spacing, keywords, "expand_labels"), spacing, keywords, distance)


def label(image: Any, **keywords: Any) -> Any:
    """`nearfield.label` of a SimpleITK image, as a SimpleITK image; keywords and results as there, axes in array order.

    Examples
    --------
    >>> mask = sitk.GetImageFromArray([[7, 7, 0, 9]])
    >>> sitk.GetArrayFromImage(label(mask))
    array([[1, 1, 0, 2]], dtype=int32)
    """
    return run_label(_open(image, None, keywords, "label"), keywords)


def components(image: Any, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.components` of a SimpleITK image: labels as such an image, and the table in the units of its spacing.

    Examples
    --------
    >>> mask = sitk.GetImageFromArray([[7, 7, 0, 9]])
    >>> components(mask).table.size
    array([2, 1])
    """
    return run_components(_open(image, spacing, keywords, "label"), spacing, keywords)


def SignedMaurerDistanceMap(
    image1: Any,
    insideIsPositive: bool = False,
    squaredDistance: bool = True,
    useImageSpacing: bool = False,
    backgroundValue: float = 0.0,
) -> Any:
    """SimpleITK's function of this name, its arguments, defaults and distances, float32.

    Distances go to the nearest contour pixel, which is a pixel of the object that touches the background at a side, an
    edge or a corner; contour pixels have 0. ``nearfield.distance_transform(signed=True)`` is another measure: from each
    pixel to the nearest on the other side, so that no pixel has 0. Without any contour pixel distances are inf.

    Examples
    --------
    >>> mask = sitk.GetImageFromArray(np.array([[0, 0, 1, 1, 1, 1]], np.uint8))
    >>> sitk.GetArrayFromImage(SignedMaurerDistanceMap(mask, squaredDistance=False))
    array([[ 2.,  1.,  0., -1., -2., -3.]], dtype=float32)
    """
    keywords: dict[str, Any] = {}
    opened = _open(image1, None, keywords, "distance_transform")
    spacing = opened.spacing if useImageSpacing else None
    field = signed_maurer(opened.array, spacing, insideIsPositive, squaredDistance, backgroundValue)
    return opened.back("distance", field)


def _open(image: Any, spacing: Any, keywords: dict[str, Any], function: str) -> Opened:
    """Takes `batch_axes` out of the keywords."""
    if not isinstance(image, sitk.Image):
        raise TypeError(f"image is {type(image).__name__}; give a SimpleITK.Image, or arrays to nearfield itself")
    components = image.GetNumberOfComponentsPerPixel()
    if components > 1:
        raise TypeError(
            f"image has {components} components a pixel; give one, such as SimpleITK.VectorIndexSelectionCast(image, 0)"
        )
    if image.GetPixelIDTypeAsString().startswith("label of"):
        raise TypeError("image is a label map of runs; give SimpleITK.LabelMapToLabel(image)")
    refuse_types(keywords, ("float16", "bool"), "SimpleITK", function)
    batch = count_of("batch_axes", keywords.pop("batch_axes", 0), 0)
    array = _array_of(image)
    refuse_time(array.ndim, batch, spacing)

    def back(field: str, result: Any) -> Any:
        if field == "coordinates":
            result = np.moveaxis(result[::-1], 0, -1)
        made = sitk.GetImageFromArray(np.ascontiguousarray(result), isVector=field == "coordinates")
        made.CopyInformation(image)
        for key in image.GetMetaDataKeys():
            made.SetMetaData(key, image.GetMetaData(key))
        return made

    return Opened(array, image.GetSpacing()[::-1][batch:], batch, _array_of, back)


def _array_of(image: Any) -> Any:
    return sitk.GetArrayViewFromImage(image) if isinstance(image, sitk.Image) else image


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
