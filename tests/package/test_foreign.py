"""Images of other libraries given to nearfield itself: refused by a message that names what takes them."""

import pathlib

import numpy as np
import pytest

import nearfield as nf
from nearfield import ndimage

CELLS = np.array([[0, 1, 1], [2, 2, 0]], np.uint8)


def sitk_image():
    return pytest.importorskip("SimpleITK").GetImageFromArray(CELLS)


def nibabel_image():
    return pytest.importorskip("nibabel").Nifti1Image(CELLS, np.eye(4))


def data_array():
    return pytest.importorskip("xarray").DataArray(CELLS)


def itk_image():
    return pytest.importorskip("itk").image_from_array(CELLS)


IMAGES = [
    (sitk_image, "is of type Image of SimpleITK; give it to a function of nearfield.compat.sitk"),
    (nibabel_image, "is of type Nifti1Image of nibabel; give it to a function of nearfield.compat.nibabel"),
    (data_array, "is of type DataArray of xarray; give it to a function of nearfield.compat.xarray"),
    (itk_image, "of itk; give it to a function of nearfield.compat.itk"),
    (lambda: "cells.png", "is 'cells.png'; give an array: nearfield reads no files"),
    (lambda: pathlib.Path("cells.png"), "nearfield reads no files"),
    (lambda: None, "is None; give an array"),
]
CALLS = {
    "image": [nf.distance_transform, nf.label, nf.components, nf.plan, nf.compare, nf.label_by_propagation],
    "labels": [nf.expand_labels, nf.relabel, nf.component_statistics, nf.label_lists, nf.contacts],
    "seeds": [nf.voronoi],
}


@pytest.mark.parametrize(("make", "says"), IMAGES, ids=[make.__name__ + str(k) for k, (make, _) in enumerate(IMAGES)])
def test_what_is_no_array_is_refused(make, says):
    image = make()
    for argument, functions in CALLS.items():
        for function in functions:
            with pytest.raises(TypeError, match=f"^{argument} .*{says}|^{argument} {says}"):
                function(image)
    with pytest.raises(TypeError, match=f"^image .*{says}|^image {says}"):
        nf.remove_small(image, 3)
    if make.__name__ != "<lambda>":
        for argument, function in (
            ("image", nf.distance_transform),
            ("seeds", nf.voronoi),
            ("labels", nf.expand_labels),
        ):
            with pytest.raises(TypeError, match=f"^{argument} .*{says}|^{argument} {says}"):
                function([image, image])
    if image is not None:
        for call, argument in (
            (lambda: nf.voronoi(CELLS, weights=image), "weights"),
            (lambda: nf.components(CELLS, intensity=image), "intensity"),
            (lambda: nf.component_statistics(CELLS, intensity=image), "intensity"),
        ):
            with pytest.raises(TypeError, match=f"^{argument} .*{says}|^{argument} {says}"):
                call()


def test_scipy_s_functions_refuse_what_numpy_would_flatten():
    for function in (ndimage.distance_transform_edt, ndimage.label, ndimage.find_objects):
        with pytest.raises(TypeError, match="^input is of type Image of SimpleITK"):
            function(sitk_image())
    np.testing.assert_array_equal(ndimage.label(data_array())[0], ndimage.label(CELLS)[0])


def test_what_the_messages_say_works():
    sitk = pytest.importorskip("SimpleITK")
    image = sitk_image()  # its views do not keep it
    np.testing.assert_array_equal(nf.label(sitk.GetArrayViewFromImage(image)), nf.label(CELLS))
    np.testing.assert_array_equal(nf.label(np.asanyarray(nibabel_image().dataobj)), nf.label(CELLS))
    np.testing.assert_array_equal(nf.label(data_array().values), nf.label(CELLS))
