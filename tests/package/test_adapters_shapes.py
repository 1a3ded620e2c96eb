"""Calls of shapes on images of SimpleITK, ITK, nibabel and xarray: the answers of arrays, as images."""

import importlib

import numpy as np
import pytest
from scipy import ndimage

import nearfield as nf

SPACING = (2.0, 0.5, 0.75)  # array order
MASK = (ndimage.gaussian_filter(np.random.default_rng(5).standard_normal((12, 16, 15)), 1.5) > 0).astype(np.uint8)


def _sitk(library, array):
    image = library.GetImageFromArray(array)
    image.SetSpacing(SPACING[::-1])
    return image


def _itk(library, array):
    image = library.image_from_array(array)
    image.SetSpacing(SPACING[::-1])
    return image


def _nibabel(library, array):
    return library.Nifti1Image(array, np.diag([*SPACING, 1]))


def _xarray(library, array):
    coords = {dim: step * np.arange(n) for dim, step, n in zip("zyx", SPACING, array.shape)}
    return library.DataArray(array, coords, tuple("zyx"))


IMAGES = {
    "sitk": ("SimpleITK", _sitk, lambda library, image: library.GetArrayFromImage(image)),
    "itk": ("itk", _itk, lambda library, image: library.array_from_image(image)),
    "nibabel": ("nibabel", _nibabel, lambda library, image: np.asarray(image.dataobj)),
    "xarray": ("xarray", _xarray, lambda library, image: image.values),
}


@pytest.fixture(params=IMAGES)
def adapter(request):
    name, made, read = IMAGES[request.param]
    library = pytest.importorskip(name)
    module = importlib.import_module(f"nearfield.compat.{request.param}")
    return module, lambda array: made(library, array), lambda image: read(library, image)


def test_answers_are_those_of_arrays(adapter):
    module, image_of, array_of = adapter
    image = image_of(MASK)
    for name, arguments, words in (
        ("local_thickness", (), {}),
        ("erosion", (1.2,), {}),
        ("dilation", (1.2,), {"border": "periodic"}),
        ("opening", (1.2,), {}),
        ("closing", (1.2,), {}),
        ("medial_axis", (), {"pruning": "linear"}),
        ("skeletonize", (), {"keep": "isthmuses"}),
        ("natural_neighbor", (), {"known": MASK}),
    ):
        made = getattr(module, name)(image, *arguments, **words)
        assert type(made).__module__ == type(image).__module__, name
        wanted = getattr(nf, name)(MASK, *arguments, spacing=SPACING, **words)
        np.testing.assert_array_equal(array_of(made), wanted, name)


def test_objects(adapter):
    module, image_of, array_of = adapter
    labels, table = module.split(image_of(MASK), min_size=3, return_table=True)
    wanted, told = nf.split(MASK, spacing=SPACING, min_size=3, return_table=True)
    np.testing.assert_array_equal(array_of(labels), wanted)
    assert table.to_csv() == told.to_csv()
    squared = nf.distance_transform(MASK, squared=True, dtype="float32")
    seeds = nf.split(MASK)
    for words in ({}, {"markers": seeds, "mask": MASK}, {"h": 1, "maxima": True}):
        held = {each: image_of(x) if isinstance(x, np.ndarray) else x for each, x in words.items()}
        np.testing.assert_array_equal(
            array_of(module.watershed(image_of(squared), **held)), nf.watershed(squared, **words)
        )
    peaks = array_of(module.h_maxima(image_of(squared), 2))
    np.testing.assert_array_equal(peaks, nf.h_maxima(squared, 2))
    np.testing.assert_array_equal(array_of(module.fill_holes(image_of(MASK))), nf.fill_holes(MASK))
    with pytest.raises(TypeError, match="spacing"):
        module.watershed(image_of(squared), spacing=2)


def test_several_answers_tables_and_images_as_keywords(adapter):
    module, image_of, array_of = adapter
    axis, radius = module.medial_axis(image_of(MASK), return_distance=True)
    np.testing.assert_array_equal(array_of(radius), nf.distance_transform(MASK, spacing=SPACING))
    np.testing.assert_array_equal(array_of(axis), nf.medial_axis(MASK, spacing=SPACING))
    held = np.zeros_like(MASK)
    held[::5] = 1
    skeleton = module.skeletonize(image_of(MASK), keep=image_of(held))
    np.testing.assert_array_equal(array_of(skeleton), nf.skeletonize(MASK, keep=held, spacing=SPACING))
    graph = module.skeleton_graph(skeleton, values=radius)
    assert graph.to_csv() == nf.skeleton_graph(array_of(skeleton), values=array_of(radius), spacing=SPACING).to_csv()
    assert module.granulometry(image_of(MASK)).volume.sum() == MASK.sum() * 0.75
    inlets = np.zeros_like(MASK)
    inlets[:, 0] = 1
    found = module.porosimetry(image_of(MASK), image_of(inlets), sizes=[1, 3])
    np.testing.assert_array_equal(array_of(found), nf.porosimetry(MASK, inlets, [1, 3], spacing=SPACING))


def test_refused(adapter):
    module, image_of, _ = adapter
    with pytest.raises(TypeError, match="new images"):
        module.local_thickness(image_of(MASK), out=MASK)
    with pytest.raises(TypeError, match="return_sites"):
        module.medial_axis(image_of(MASK), return_sites=True)
    with pytest.raises(TypeError, match="give a"):
        module.erosion(MASK, 1)
