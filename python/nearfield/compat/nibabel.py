"""The native calls on NIfTI and other images of nibabel: voxel sizes are read, affine and header are copied back.

>>> import nibabel, numpy
>>> from nearfield.compat import nibabel as nfn
>>> mask = numpy.ones((2, 3, 4), numpy.uint8)
>>> mask[0, 0, 0] = 0
>>> away = nfn.distance_transform(nibabel.Nifti1Image(mask, numpy.diag([2.0, 2.0, 5.0, 1.0])))
>>> float(away.dataobj[0, 0, 3]), float(away.dataobj[1, 0, 0])
(15.0, 2.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nearfield
from nearfield.compat._images import Opened, fields, library, refuse_types, run, run_components, run_label
from nearfield.compat._shapes import adapted

nib: Any = library("nibabel")


def distance_transform(image: Any, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.distance_transform` of a nibabel image, as nibabel images.

    Parameters
    ----------
    image : nibabel.spatialimages.SpatialImage
        A volume. Axes after the third, time above all, number volumes that are each solved by itself.
    spacing : float or sequence of floats, optional
        Of the first three axes, in the order of the image's array, which is (x, y, z). Default: the voxel sizes, from
        the affine; in its units, mm in NIfTI.
    **keywords
        As in `nearfield.distance_transform`, except for `batch_axes` and outputs to be filled.

    Returns
    -------
    image or tuple of images
        Of the class of `image`, with its affine, header and units, of the type of the answer. Coordinates have shape
        ``(x, y, z, 1, 3)``, which is how NIfTI keeps vectors; linear indices are int64, of the array in C order.

    Raises
    ------
    TypeError
        Not a volume, or a result of a type that the format does not have.
    ValueError
        The affine is sheared, so that no voxel sizes describe distances; whatever the native call refuses.

    Examples
    --------
    >>> one = nib.Nifti1Image(np.array([[[0, 1, 1]]], np.uint8), np.diag([1, 1, 2.5, 1]))
    >>> np.asarray(distance_transform(one).dataobj)
    array([[[0. , 2.5, 5. ]]], dtype=float32)
    """
    return run(nearfield.distance_transform, _open(image, spacing, keywords, "distance_transform"), spacing, keywords)


def voronoi(seeds: Any, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.voronoi` of a nibabel image, as nibabel images; parameters and results as in `distance_transform`.

    Examples
    --------
    >>> seeds = nib.Nifti1Image(np.array([[[7, 0, 0, 0, 9]]], np.uint8), np.eye(4))
    >>> np.asarray(voronoi(seeds, return_indices=False, return_labels=True).dataobj)
    array([[[7, 7, 7, 9, 9]]], dtype=uint8)
    """
    return run(nearfield.voronoi, _open(seeds, spacing, keywords, "voronoi"), spacing, keywords)


def expand_labels(labels: Any, distance: float | None = 1, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.expand_labels` of a nibabel image; `distance` is in the affine's units, mm in NIfTI.

    Examples
    --------
    >>> labels = nib.Nifti1Image(np.array([[[7, 0, 0, 0, 9]]], np.uint8), np.eye(4))
    >>> np.asarray(expand_labels(labels, 1).dataobj)
    array([[[7, 7, 0, 9, 9]]], dtype=uint8)
    """
    return run(nearfield.expand_labels, _open(labels, spacing, keywords, "expand_labels"), spacing, keywords, distance)


def label(image: Any, **keywords: Any) -> Any:
    """`nearfield.label` of a nibabel image, as a nibabel image; keywords and results as there.

    Examples
    --------
    >>> mask = nib.Nifti1Image(np.array([[[7, 7, 0, 9]]], np.uint8), np.eye(4))
    >>> np.asarray(label(mask).dataobj)
    array([[[1, 1, 0, 2]]], dtype=int32)
    """
    return run_label(_open(image, 1.0, keywords, "label"), keywords)


def components(image: Any, *, spacing: Any = None, **keywords: Any) -> Any:
    """`nearfield.components` of a nibabel image: labels as a nibabel image, and the table in the units of its spacing.

    Examples
    --------
    >>> mask = nib.Nifti1Image(np.array([[[7, 7, 0, 9]]], np.uint8), np.eye(4))
    >>> components(mask).table.size
    array([2, 1])
    """
    return run_components(_open(image, spacing, keywords, "label"), spacing, keywords)


def _open(image: Any, spacing: Any, keywords: dict[str, Any], function: str) -> Opened:
    if not isinstance(image, nib.spatialimages.SpatialImage) or not 1 <= len(image.shape) <= 5:
        raise TypeError(
            f"image is {type(image).__name__}; give a volume, such as nibabel.load('labels.nii.gz'), "
            "or arrays to nearfield itself"
        )
    if keywords.get("batch_axes"):
        raise TypeError("batch_axes is not taken here: axes after the third number volumes, the others are space")
    keywords.pop("batch_axes", None)
    refuse_types(keywords, ("float16", "bool"), "nibabel", function)
    if not isinstance(image, nib.Nifti1Pair) and "coordinates" in fields(function, keywords):
        raise TypeError(
            f"image is {type(image).__name__}, which has no vectors; ask for return_indices='linear', "
            "or give nibabel.Nifti1Image.from_image(image)"
        )
    array = _array_of(image)
    space = min(array.ndim, 3)
    batch = array.ndim - space

    def back(field: str, result: Any) -> Any:
        vector = field == "coordinates"
        if vector:
            result = np.moveaxis(result, 0, -1)
        result = np.moveaxis(result, tuple(range(batch)), tuple(range(space, space + batch)))
        if vector:
            result = result.reshape(*result.shape[:-1], *(1,) * (5 - result.ndim), result.shape[-1])
        return _like(image, field, result)

    sizes = _voxel_sizes(image, space) if spacing is None else ()
    return Opened(array, sizes, batch, _array_of, back)


def _array_of(image: Any) -> Any:
    """The axes that number volumes come first."""
    if not isinstance(image, nib.spatialimages.SpatialImage):
        return image
    array = np.asanyarray(image.dataobj)
    last = tuple(range(3, array.ndim))
    return np.moveaxis(array, last, tuple(range(len(last))))


def _voxel_sizes(image: Any, space: int) -> tuple[float, ...]:
    if image.affine is None:
        return tuple(float(size) for size in image.header.get_zooms()[:space])
    columns = np.asarray(image.affine, np.float64)[:3, :space]
    sizes = np.sqrt((columns**2).sum(axis=0))
    angles = (columns.T @ columns) / np.outer(sizes, sizes) if sizes.all() else np.eye(space)
    if np.abs(angles - np.eye(space)).max() > 1e-3:
        raise ValueError(
            "image has a sheared affine, so that lengths along its axes do not give distances; resample it, as by "
            "nibabel.processing.resample_to_output(image), or give spacing= to measure along its axes all the same"
        )
    return tuple(_short(float(size)) for size in sizes)


def _short(size: float) -> float:
    """Most files keep float32 numbers: 0.6 where 0.60000002 comes of their rounding."""
    short = float(f"{size:.6g}")
    return short if abs(short - size) <= 2e-7 * size else size


def _like(image: Any, field: str, result: Any) -> Any:
    header = image.header.copy()
    header.set_data_dtype(result.dtype)
    if isinstance(image, nib.Nifti1Pair):
        header["cal_min"] = header["cal_max"] = 0
        header.set_slope_inter(1, 0)
        if field != "labels":
            header.set_intent("vector" if field == "coordinates" else "none")
    made = type(image) if image.makeable else nib.Nifti1Image
    return made(result, image.affine, header, image.extra)


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
