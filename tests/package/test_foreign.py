"""Images of other libraries given to nearfield itself: refused by a message that names what takes them."""

import pathlib

import numpy as np
import pytest

import nearfield as nf
from nearfield import ndimage
from nearfield.compat import cc3d, edt

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
    image = sitk_image()  # kept, because its views do not keep it alive
    np.testing.assert_array_equal(nf.label(sitk.GetArrayViewFromImage(image)), nf.label(CELLS))
    np.testing.assert_array_equal(nf.label(np.asanyarray(nibabel_image().dataobj)), nf.label(CELLS))
    np.testing.assert_array_equal(nf.label(data_array().values), nf.label(CELLS))


def test_images_within_lists_are_refused():
    for within in (lambda x: [[x]], lambda x: [[x], [x]], lambda x: [CELLS, x], lambda x: (CELLS, CELLS, x)):
        for call in (nf.distance_transform, nf.label):
            with pytest.raises(TypeError, match="^image is of type Image of SimpleITK"):
                call(within(sitk_image()))
    with pytest.raises(ValueError, match="^image makes no array .*; give rows of equal length"):
        nf.distance_transform([[1, 2], [3]])


COMPATIBLE = {
    "data": [
        *(edt.edt, edt.edtsq, edt.sdf, edt.sdfsq),
        *(cc3d.connected_components, cc3d.voxel_connectivity_graph, cc3d.estimate_provisional_labels),
    ],
    "vcg": [cc3d.color_connectivity_graph],
    "out_labels": [cc3d.statistics],
    "img": [lambda x: cc3d.dust(x, 2), lambda x: cc3d.largest_k(x, 2)],
    "labels": [cc3d.contacts, cc3d.region_graph, cc3d.each, lambda x: edt.each(x, CELLS)],
    "dt": [lambda x: edt.each(CELLS, x)],
    "image": [lambda x: cc3d.connected_components_stack([x])],
}


@pytest.mark.parametrize(("make", "says"), IMAGES, ids=[make.__name__ + str(k) for k, (make, _) in enumerate(IMAGES)])
def test_functions_of_other_packages_refuse_what_numpy_would_flatten(make, says):
    if make is data_array:
        pytest.skip("its cells are an array")
    image = make()
    for argument, functions in COMPATIBLE.items():
        for function in functions:
            with pytest.raises(TypeError, match=f"^{argument} .*{says}|^{argument} {says}"):
                function(image)


def test_functions_of_other_packages_take_data_arrays():
    image = data_array()
    np.testing.assert_array_equal(edt.edt(image), edt.edt(CELLS))
    np.testing.assert_array_equal(cc3d.connected_components(image), cc3d.connected_components(CELLS))


def test_cc3d_returns_tensors_of_tensors(torch):
    wanted, count = cc3d.connected_components(CELLS, return_N=True)
    labels = cc3d.connected_components(torch.from_numpy(CELLS))
    assert isinstance(labels, torch.Tensor)
    np.testing.assert_array_equal(labels.numpy(), wanted)
    labels, number = cc3d.connected_components(torch.from_numpy(CELLS).double().requires_grad_(), return_N=True)
    assert isinstance(labels, torch.Tensor) and number == count
