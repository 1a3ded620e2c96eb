"""Components of images of SimpleITK, ITK, nibabel and xarray: the labels of arrays, with the image's geometry."""

import numpy as np
import pytest

import nearfield as nf

MASK = (np.random.default_rng(7).random((6, 7, 8)) < 0.4).astype(np.uint8)
VALUES = np.random.default_rng(8).random(MASK.shape).astype(np.float32)
SPACING = (2.0, 0.5, 0.75)  # array order
WANTED = nf.components(MASK, spacing=SPACING, intensity=VALUES, connectivity=3)


def assert_table(came):
    for name, column in WANTED.table.to_dict().items():
        np.testing.assert_array_equal(came.to_dict()[name], column, name)


def assert_label_refuses(adapter, image):
    for call in (adapter.label, adapter.components):
        with pytest.raises(TypeError, match="^channels is not taken here, as every axis of an image is a place"):
            call(image, channels=True)
        with pytest.raises(TypeError, match="^dtype is float16, .* give one of uint16, int32, uint32"):
            call(image, dtype="float16")


@pytest.mark.parametrize("module", ["sitk", "itk"])
def test_itk(module):
    library = pytest.importorskip("SimpleITK" if module == "sitk" else "itk")
    adapter = getattr(pytest.importorskip("nearfield").compat, module)
    make = library.GetImageFromArray if module == "sitk" else library.image_from_array
    read = library.GetArrayFromImage if module == "sitk" else library.array_from_image
    image, values = make(MASK), make(VALUES)
    image.SetSpacing(SPACING[::-1])
    image.SetOrigin((3.0, 4.0, 5.0))
    labels, table = adapter.components(image, intensity=values, connectivity=3)
    np.testing.assert_array_equal(read(labels), WANTED.labels)
    assert tuple(labels.GetOrigin()) == (3.0, 4.0, 5.0) and tuple(labels.GetSpacing()) == SPACING[::-1]
    assert_table(table)
    labels, count = adapter.label(image, return_num=True, batch_axes=1)
    wanted, counts = nf.label(MASK, return_num=True, batch_axes=1)
    np.testing.assert_array_equal(read(labels), wanted)
    np.testing.assert_array_equal(count, counts)
    with pytest.raises(TypeError, match="out is not taken here"):
        adapter.label(image, out=np.zeros(MASK.shape, np.int32))
    with pytest.raises(TypeError, match="image is ndarray"):
        adapter.components(MASK)
    assert_label_refuses(adapter, image)
    with pytest.raises(TypeError, match="^dtype is float16, .* give one of float32, float64$"):
        adapter.distance_transform(image, dtype="float16")


def test_nibabel():
    nib = pytest.importorskip("nibabel")
    from nearfield.compat import nibabel as adapter

    affine = np.diag([*SPACING, 1])
    image = nib.Nifti1Image(MASK, affine)
    labels, table = adapter.components(image, intensity=nib.Nifti1Image(VALUES, affine), connectivity=3)
    np.testing.assert_array_equal(np.asarray(labels.dataobj), WANTED.labels)
    assert labels.get_data_dtype() == np.int32 and (labels.affine == affine).all()
    assert_table(table)
    series = nib.Nifti1Image(np.moveaxis(MASK[None].repeat(2, 0), 0, -1), affine)
    labels, counts = adapter.label(series, return_num=True)
    np.testing.assert_array_equal(np.asarray(labels.dataobj)[..., 1], nf.label(MASK))
    assert counts.tolist() == [nf.label(MASK).max()] * 2
    sheared = nib.Nifti1Image(MASK, np.array([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))
    np.testing.assert_array_equal(np.asarray(adapter.label(sheared).dataobj), nf.label(MASK))
    with pytest.raises(ValueError, match="sheared"):
        adapter.components(sheared)
    assert_label_refuses(adapter, image)


def test_xarray():
    xr = pytest.importorskip("xarray")
    from nearfield.compat import xarray as adapter

    coords = {dim: step * np.arange(n) for dim, step, n in zip("zyx", SPACING, MASK.shape)}
    image = xr.DataArray(MASK, coords, tuple("zyx"), attrs={"units": "K", "source": "a"})
    labels, table = adapter.components(image, intensity=xr.DataArray(VALUES, coords, tuple("zyx")), connectivity=3)
    np.testing.assert_array_equal(labels.values, WANTED.labels)
    assert labels.dims == image.dims and labels.attrs == {"source": "a"}
    assert_table(table)
    labels = adapter.label(image, batch_dims="y", periodic={"x": True})
    wanted = nf.label(MASK.transpose(1, 0, 2), batch_axes=1, periodic=(False, True)).transpose(1, 0, 2)
    np.testing.assert_array_equal(labels.values, wanted)
    with pytest.raises(ValueError, match="periodic names 'lon'"):
        adapter.label(image, periodic={"lon": True})
    with pytest.raises(TypeError, match="^periodic is 'no'; give True or False"):
        adapter.label(image, periodic={"x": "no"})
    for call in (adapter.label, adapter.components):
        with pytest.raises(TypeError, match="^channels is not taken here"):
            call(image, channels=True)
