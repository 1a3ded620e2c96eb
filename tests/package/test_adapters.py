"""Images of SimpleITK, ITK, nibabel and xarray: the answers of arrays, with the image's geometry and metadata."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import ndimage

import nearfield as nf

RANDOM = np.random.default_rng(7)
MASK = (RANDOM.random((6, 7, 8)) < 0.9).astype(np.uint8)
LABELS = (RANDOM.integers(1, 90, MASK.shape) * (MASK == 0)).astype(np.int16)
SPACING = (2.0, 0.5, 0.75)  # array order
BLOBS = {
    sigma_shape: (ndimage.gaussian_filter(RANDOM.standard_normal(sigma_shape), 2) > 0).astype(np.uint8)
    for sigma_shape in [(40, 50), (20, 30, 25)]
}


@pytest.mark.parametrize("module", ["sitk", "itk", "nibabel", "xarray"])
def test_libraries_are_imported_with_their_adapter_only(module):
    code = (
        "import sys, nearfield.compat\n"
        "assert not {'SimpleITK', 'itk', 'nibabel', 'xarray'} & set(sys.modules)\n"
        f"sys.modules[{'SimpleITK' if module == 'sitk' else module!r}] = None\n"
        f"try: nearfield.compat.{module}\n"
        "except ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install" in said


def test_an_unknown_adapter():
    import nearfield.compat

    with pytest.raises(AttributeError, match="it has cc3d, edt, itk, nibabel"):
        nearfield.compat.vtk  # noqa: B018


class Itk:
    """What holds for SimpleITK and ITK; `image_of`, `array_of` and `adapter` are the library's."""

    def test_fields(self):
        image, wanted = self.image_of(MASK), {"spacing": SPACING, "return_indices": "linear", "return_labels": True}
        away, index, label = self.adapter.distance_transform(image, return_indices="linear", return_labels=True)
        for made, expected in zip((away, index, label), nf.distance_transform(MASK, **wanted)):
            np.testing.assert_array_equal(self.array_of(made), expected)
            assert tuple(made.GetOrigin()) == (3.0, 4.0, 5.0)
            assert tuple(made.GetSpacing()) == SPACING[::-1]
            np.testing.assert_array_equal(np.array(made.GetDirection()).reshape(3, 3), self.turned())

    def test_coordinates_are_indices_of_the_image(self):
        site = self.array_of(self.adapter.voronoi(self.image_of(LABELS)))
        wanted = nf.voronoi(LABELS, spacing=SPACING)
        np.testing.assert_array_equal(np.moveaxis(site, -1, 0)[::-1], wanted)
        assert self.image_of(LABELS).GetPixel([int(n) for n in site[1, 2, 3]]) != 0

    def test_labels_and_weights(self):
        grown = self.adapter.expand_labels(self.image_of(LABELS), 1.5)
        np.testing.assert_array_equal(self.array_of(grown), nf.expand_labels(LABELS, 1.5, spacing=SPACING))
        owner = self.adapter.voronoi(self.image_of(LABELS), weights=self.image_of(LABELS), return_indices="linear")
        wanted = nf.voronoi(LABELS, weights=LABELS, spacing=SPACING, return_indices="linear")
        np.testing.assert_array_equal(self.array_of(owner), wanted)

    def test_spacing_given_is_in_array_order(self):
        away = self.adapter.distance_transform(self.image_of(MASK), spacing=(1, 2, 3), squared=True)
        np.testing.assert_array_equal(self.array_of(away), nf.distance_transform(MASK, spacing=(1, 2, 3), squared=True))
        assert tuple(away.GetSpacing()) == SPACING[::-1]

    def test_a_fourth_axis_is_refused_or_a_batch(self):
        series = np.stack([MASK, 1 - MASK])
        with pytest.raises(ValueError, match="batch_axes=1"):
            self.adapter.distance_transform(self.image_of(series))
        away = self.adapter.distance_transform(self.image_of(series), batch_axes=1)
        np.testing.assert_array_equal(self.array_of(away)[1], nf.distance_transform(1 - MASK, spacing=SPACING))
        away = self.adapter.distance_transform(self.image_of(series), spacing=(1, 2, 3, 4))
        np.testing.assert_array_equal(self.array_of(away), nf.distance_transform(series, spacing=(1, 2, 3, 4)))

    def test_refused(self):
        with pytest.raises(TypeError, match="give a"):
            self.adapter.distance_transform(MASK)
        with pytest.raises(TypeError, match="new images"):
            self.adapter.distance_transform(self.image_of(MASK), out=MASK)
        with pytest.raises(TypeError, match="float16"):
            self.adapter.distance_transform(self.image_of(MASK), dtype=np.float16)
        with pytest.raises(ValueError, match="spacing"):
            self.adapter.distance_transform(self.image_of(MASK), spacing=(1, 2))

    @staticmethod
    def turned():
        return np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


class TestSimpleITK(Itk):
    @pytest.fixture(autouse=True)
    def _library(self):
        self.library = pytest.importorskip("SimpleITK")
        from nearfield.compat import sitk

        self.adapter, self.array_of = sitk, self.library.GetArrayFromImage

    def image_of(self, array):
        image = self.library.GetImageFromArray(array, isVector=False)
        image.SetSpacing((*SPACING[::-1], 1.0)[: array.ndim])
        image.SetOrigin((3.0, 4.0, 5.0, 0.0)[: array.ndim])
        turned = np.eye(array.ndim)
        turned[: min(array.ndim, 3), : min(array.ndim, 3)] = self.turned()[: min(array.ndim, 3), : min(array.ndim, 3)]
        image.SetDirection(turned.ravel().tolist())
        image.SetMetaData("0010|0020", "nobody")
        return image

    def test_metadata(self):
        assert self.adapter.distance_transform(self.image_of(MASK)).GetMetaData("0010|0020") == "nobody"

    def test_several_components_and_label_maps(self):
        colours = self.library.GetImageFromArray(np.zeros((3, 4, 3), np.uint8), isVector=True)
        with pytest.raises(TypeError, match="3 components"):
            self.adapter.distance_transform(colours)
        runs = self.library.LabelImageToLabelMap(self.library.Cast(self.image_of(MASK), self.library.sitkUInt8))
        with pytest.raises(TypeError, match="LabelMapToLabel"):
            self.adapter.distance_transform(runs)

    @pytest.mark.parametrize("shape", BLOBS)
    @pytest.mark.parametrize("options", range(8))
    def test_maurer_as_the_library(self, shape, options):
        positive, squared, spaced = bool(options & 1), bool(options & 2), bool(options & 4)
        image = self.image_of(BLOBS[shape])
        theirs = self.array_of(self.library.SignedMaurerDistanceMap(image, positive, squared, spaced))
        ours = self.array_of(self.adapter.SignedMaurerDistanceMap(image, positive, squared, spaced))
        if spaced:
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        else:
            np.testing.assert_array_equal(ours, theirs)

    def test_maurer_s_background_and_missing_contours(self):
        image = self.library.GetImageFromArray(np.array([[5, 5, 3, 0, 3, 3]], np.int16))
        options = {"squaredDistance": False, "backgroundValue": 5}
        theirs = self.library.SignedMaurerDistanceMap(image, **options)
        ours = self.adapter.SignedMaurerDistanceMap(image, **options)
        np.testing.assert_array_equal(self.array_of(ours), self.array_of(theirs))
        empty = self.library.Image(3, 3, self.library.sitkUInt8)
        assert (self.array_of(self.adapter.SignedMaurerDistanceMap(empty)) == np.inf).all()

    def test_unsigned_maurer_outside_is_the_distance_to_the_object(self):
        image = self.image_of(BLOBS[20, 30, 25])
        maurer = self.array_of(self.adapter.SignedMaurerDistanceMap(image, squaredDistance=False, useImageSpacing=True))
        away = self.array_of(self.adapter.distance_transform(image, sites="nonzero"))
        np.testing.assert_array_equal(np.maximum(maurer, 0), away)


class TestITK(Itk):
    @pytest.fixture(autouse=True)
    def _library(self):
        self.library = pytest.importorskip("itk")
        from nearfield.compat import itk

        self.adapter, self.array_of = itk, self.library.array_from_image

    def image_of(self, array):
        image = self.library.image_from_array(array)
        image.SetSpacing((*SPACING[::-1], 1.0)[: array.ndim])
        image.SetOrigin((3.0, 4.0, 5.0, 0.0)[: array.ndim])
        turned = np.eye(array.ndim)
        turned[: min(array.ndim, 3), : min(array.ndim, 3)] = self.turned()[: min(array.ndim, 3), : min(array.ndim, 3)]
        image.SetDirection(self.library.matrix_from_array(turned))
        image["patient"] = "nobody"
        return image

    def test_metadata_and_filters(self):
        assert self.adapter.distance_transform(self.image_of(MASK))["patient"] == "nobody"
        source = self.library.BinaryThresholdImageFilter.New(self.image_of(MASK), LowerThreshold=1)
        away = self.array_of(self.adapter.distance_transform(source))
        np.testing.assert_array_equal(away, nf.distance_transform(MASK, spacing=SPACING))

    def test_several_components(self):
        with pytest.raises(TypeError, match="3 components"):
            self.adapter.distance_transform(
                self.library.image_from_array(np.zeros((3, 4, 3), np.uint8), is_vector=True)
            )

    def test_a_region_that_does_not_start_at_zero(self):
        image = self.image_of(MASK)
        region = image.GetLargestPossibleRegion()
        region.SetIndex((2, 0, 1))
        image.SetRegions(region)
        away = self.adapter.distance_transform(image)
        assert tuple(away.GetLargestPossibleRegion().GetIndex()) == (2, 0, 1)
        with pytest.raises(ValueError, match="starts at"):
            self.adapter.voronoi(image)

    @pytest.mark.parametrize("shape", BLOBS)
    @pytest.mark.parametrize("options", range(8))
    def test_maurer_as_the_library(self, shape, options):
        names = ("inside_is_positive", "squared_distance", "use_image_spacing")
        chosen = {name: bool(options >> bit & 1) for bit, name in enumerate(names)}
        image = self.image_of(BLOBS[shape])
        theirs = self.array_of(self.library.signed_maurer_distance_map_image_filter(image, **chosen))
        ours = self.array_of(self.adapter.signed_maurer_distance_map_image_filter(image, **chosen))
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


class TestNibabel:
    AFFINE = np.array([[0.0, 0.5, 0.0, 3.0], [-2.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.75, 5.0], [0.0, 0.0, 0.0, 1.0]])

    @pytest.fixture(autouse=True)
    def _library(self):
        self.library = pytest.importorskip("nibabel")
        from nearfield.compat import nibabel

        self.adapter = nibabel

    def image_of(self, array, affine=AFFINE):
        image = self.library.Nifti1Image(array, affine)
        image.header.set_xyzt_units("mm", "sec")
        image.header["descrip"] = b"of the tests"
        image.header["cal_max"] = 1
        return image

    def test_fields(self):
        away, index, label = self.adapter.distance_transform(
            self.image_of(MASK), return_indices="linear", return_labels=True
        )
        wanted = nf.distance_transform(MASK, spacing=SPACING, return_indices="linear", return_labels=True)
        for made, expected in zip((away, index, label), wanted):
            assert isinstance(made, self.library.Nifti1Image)
            np.testing.assert_array_equal(np.asarray(made.dataobj), expected)
            assert made.get_data_dtype() == expected.dtype
            np.testing.assert_array_equal(made.affine, self.AFFINE)
            assert made.header.get_xyzt_units() == ("mm", "sec")
            assert made.header["descrip"] == b"of the tests" and made.header["cal_max"] == 0

    def test_a_file_and_back(self, tmp_path):
        self.library.save(self.image_of(MASK), tmp_path / "mask.nii.gz")
        away = self.adapter.distance_transform(self.library.load(tmp_path / "mask.nii.gz"))
        self.library.save(away, tmp_path / "away.nii.gz")
        back = self.library.load(tmp_path / "away.nii.gz")
        np.testing.assert_array_equal(back.get_fdata(), nf.distance_transform(MASK, spacing=SPACING))
        assert back.header.get_zooms() == SPACING

    def test_voxel_sizes_of_float32_are_what_was_meant(self):
        affine = np.diag(np.float32([0.6, 0.6, 1.1, 1])).astype(np.float64)
        away = self.adapter.distance_transform(self.image_of(MASK, affine), dtype="float64")
        wanted = nf.distance_transform(MASK, spacing=(0.6, 0.6, 1.1), dtype="float64")
        np.testing.assert_array_equal(np.asarray(away.dataobj), wanted)

    def test_labels_and_coordinates(self):
        grown = self.adapter.expand_labels(self.image_of(LABELS), 1.5)
        np.testing.assert_array_equal(np.asarray(grown.dataobj), nf.expand_labels(LABELS, 1.5, spacing=SPACING))
        site = self.adapter.voronoi(self.image_of(LABELS), spacing=1)
        assert site.shape == (*LABELS.shape, 1, 3) and site.header.get_intent()[0] == "vector"
        np.testing.assert_array_equal(np.moveaxis(np.asarray(site.dataobj)[..., 0, :], -1, 0), nf.voronoi(LABELS))

    def test_time_numbers_volumes(self):
        series = self.image_of(np.stack([MASK, 1 - MASK], axis=-1))
        away, site = self.adapter.distance_transform(series, return_indices=True)
        wanted, where = nf.distance_transform(1 - MASK, spacing=SPACING, return_indices=True)
        np.testing.assert_array_equal(np.asarray(away.dataobj)[..., 1], wanted)
        np.testing.assert_array_equal(np.asarray(site.dataobj)[..., 1, :], np.moveaxis(where, 0, -1))

    def test_other_formats(self):
        away = self.adapter.distance_transform(self.library.MGHImage(MASK, self.AFFINE))
        assert isinstance(away, self.library.MGHImage)
        with pytest.raises(TypeError, match="has no vectors"):
            self.adapter.voronoi(self.library.MGHImage(MASK, self.AFFINE))

    def test_refused(self):
        sheared = self.AFFINE.copy()
        sheared[0, 2] = 0.5
        with pytest.raises(ValueError, match="sheared"):
            self.adapter.distance_transform(self.image_of(MASK, sheared))
        self.adapter.distance_transform(self.image_of(MASK, sheared), spacing=1)
        with pytest.raises(TypeError, match="give a volume"):
            self.adapter.distance_transform(MASK)
        with pytest.raises(TypeError, match="axes after the third"):
            self.adapter.distance_transform(self.image_of(MASK), batch_axes=1)


class TestXarray:
    @pytest.fixture(autouse=True)
    def _library(self):
        self.library = pytest.importorskip("xarray")
        from nearfield.compat import xarray

        self.adapter = xarray

    def image_of(self, array, **coords):
        step = {"z": 2.0, "y": -0.5, "x": 0.75}
        made = {dim: (dim, 10 + step[dim] * np.arange(n), {"units": "m"}) for dim, n in zip("zyx", array.shape)}
        made |= {"depth": ("z", np.arange(array.shape[0])), "crs": 4326}
        return self.library.DataArray(
            array, {**made, **coords}, tuple("zyx"), name="land", attrs={"units": "1", "by": "us"}
        )

    def test_fields(self):
        image = self.image_of(MASK)
        away, index, label = self.adapter.distance_transform(image, return_indices="linear", return_labels=True)
        wanted = nf.distance_transform(MASK, spacing=SPACING, return_indices="linear", return_labels=True)
        for made, expected, units in zip((away, index, label), wanted, ("m", None, "1")):
            np.testing.assert_array_equal(made.values, expected)
            self.library.testing.assert_identical(made.coords.to_dataset(), image.coords.to_dataset())
            assert made.dims == image.dims and made.name == "land"
            assert made.attrs.get("units") == units and made.attrs["by"] == "us"
        assert self.adapter.distance_transform(image, squared=True).attrs["units"] == "m^2"

    def test_coordinates_of_sites(self):
        site = self.adapter.voronoi(self.image_of(LABELS))
        assert site.dims == ("axis", "z", "y", "x")
        np.testing.assert_array_equal(site.sel(axis="y").values, nf.voronoi(LABELS, spacing=SPACING)[1])

    def test_batch_dimensions_anywhere(self):
        image = self.library.DataArray(np.stack([MASK, 1 - MASK], axis=2), dims=("z", "y", "time", "x"))
        away, site = self.adapter.distance_transform(image, batch_dims="time", return_indices=True)
        assert away.dims == image.dims and site.dims == ("axis", *image.dims)
        wanted, where = nf.distance_transform(1 - MASK, return_indices=True)
        np.testing.assert_array_equal(away.isel(time=1).values, wanted)
        np.testing.assert_array_equal(site.isel(time=1).values, where)
        assert site.axis.values.tolist() == ["z", "y", "x"]

    def test_mappings(self):
        image = self.image_of(MASK)
        away = self.adapter.distance_transform(image, spacing={"y": 3}, border={"x": "periodic"})
        wanted = nf.distance_transform(MASK, spacing=(2, 3, 0.75), border=("open", "open", "periodic"))
        np.testing.assert_array_equal(away.values, wanted)

    def test_weights_are_turned_as_the_seeds(self):
        seeds = self.library.DataArray(LABELS[0], dims=("y", "x"))
        owner = self.adapter.voronoi(seeds, weights=seeds.T, return_indices="linear", batch_dims=[])
        wanted = nf.voronoi(LABELS[0], weights=LABELS[0], return_indices="linear")
        np.testing.assert_array_equal(owner.values, wanted)

    def test_float32_coordinates_are_even(self):
        image = self.library.DataArray(MASK[0], {"x": np.float32(359.75) - np.float32(0.1) * np.arange(8)}, ("y", "x"))
        np.testing.assert_allclose(
            self.adapter.distance_transform(image).values, nf.distance_transform(MASK[0], spacing=(1, 0.1)), rtol=1e-3
        )

    def test_other_arrays_stay_themselves(self):
        strict = pytest.importorskip("array_api_strict")
        image = self.library.DataArray(strict.asarray(MASK), dims=tuple("zyx"))
        away = self.adapter.distance_transform(image)
        assert type(away.data) is type(image.data)
        np.testing.assert_array_equal(np.from_dlpack(away.data), nf.distance_transform(MASK))

    def test_refused(self):
        uneven = self.image_of(MASK, x=np.arange(8.0) ** 2)
        with pytest.raises(ValueError, match=r"coordinate 'x' is uneven, with steps from 1 to 13.*image.interp"):
            self.adapter.distance_transform(uneven)
        self.adapter.distance_transform(uneven, spacing={"x": 1})
        dated = self.image_of(MASK, x=np.datetime64("2020-01-01") + np.arange(8))
        with pytest.raises(TypeError, match="batch_dims"):
            self.adapter.distance_transform(dated)
        for wrong, error, says in (
            (0, TypeError, "^batch_dims is 0; give the name of a dimension"),
            (None, TypeError, "^batch_dims is None; give the name of a dimension"),
            (("x", "x"), ValueError, "^batch_dims is .*; name each dimension once"),
        ):
            for call in (self.adapter.distance_transform, self.adapter.label):
                with pytest.raises(error, match=says):
                    call(self.image_of(MASK), batch_dims=wrong)
        for x in (np.full(8, 3.0), np.r_[np.arange(7.0), np.nan]):
            with pytest.raises(ValueError, match=r"^coordinate 'x' has no step, .*; give spacing=\{'x': 1.0\}"):
                self.adapter.distance_transform(self.image_of(MASK, x=x))
        with pytest.raises(ValueError, match="is uneven, with steps from -1 to 1"):
            self.adapter.distance_transform(self.image_of(MASK, x=np.arange(8.0) % 2))
        with pytest.raises(ValueError, match="batch_dims names 'time'; the dimensions are 'z', 'y', 'x'"):
            self.adapter.distance_transform(self.image_of(MASK), batch_dims="time")
        with pytest.raises(TypeError, match="DataArray"):
            self.adapter.distance_transform(self.image_of(MASK).to_dataset())
