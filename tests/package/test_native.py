"""The native calls on NumPy arrays: values, shapes, types, memory layouts, and what is refused."""

import math
import pathlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

import nearfield as nf
from brute_force import nearest
from examples import examples

SMALL = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5)
BORDERS = st.sampled_from(["open", "closed", "periodic"])


def expected(image, **options):
    found, where = nearest(image, **options)
    distance = np.array([math.inf if d is None else math.sqrt(d) for d in found.flat]).reshape(image.shape)
    indices = np.array([[-1] * image.ndim if w is None else w for w in where.flat]).reshape(*image.shape, image.ndim)
    return distance, np.moveaxis(indices, -1, 0)


@examples(150)
@given(
    data=st.data(),
    image=hnp.arrays(st.sampled_from([np.uint8, np.int32, np.float32]), SMALL, elements=st.integers(0, 2)),
)
def test_equals_brute_force(data, image):
    options = {
        "spacing": data.draw(st.none() | st.tuples(*[st.integers(1, 4)] * image.ndim)),
        "border": data.draw(BORDERS),
        "sites": data.draw(st.sampled_from(["zero", "nonzero"])),
    }
    distance, indices = nf.distance_transform(image, return_indices=True, dtype=np.float64, **options)
    distance_wanted, indices_wanted = expected(image, **options)
    np.testing.assert_array_equal(distance, distance_wanted)
    np.testing.assert_array_equal(indices, indices_wanted)


@examples(80)
@given(image=hnp.arrays(np.int16, SMALL, elements=st.integers(0, 3)), border=st.sampled_from(["open", "closed"]))
def test_multilabel_equals_brute_force(image, border):
    distance = nf.distance_transform(image, multilabel=True, border=border, dtype="float64")
    np.testing.assert_array_equal(distance, expected(image, sites="other_labels", border=border)[0])


@examples(60)
@given(image=hnp.arrays(bool, hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=12)))
def test_equals_scipy_with_indices(image):
    image.flat[0] = False
    distance, indices = nf.distance_transform(image, return_indices=True, dtype=np.float64)
    distance_wanted, indices_wanted = ndimage.distance_transform_edt(image, return_indices=True)
    np.testing.assert_array_equal(distance, distance_wanted)
    np.testing.assert_array_equal(indices, indices_wanted)


def some_image(shape=(7, 9, 11), share=0.8):
    return np.random.default_rng(5).random(shape) < share


def test_signed_is_outside_less_inside():
    image = some_image()
    outside, inside = nf.distance_transform(image), nf.distance_transform(image, sites="nonzero")
    np.testing.assert_array_equal(nf.distance_transform(image, signed=True), inside - outside)
    np.testing.assert_array_equal(nf.distance_transform(image, signed="outside"), outside - inside)


def test_squared_types():
    image = some_image()
    assert nf.distance_transform(image, squared=True).dtype == np.uint32
    assert nf.distance_transform(image, squared=True, spacing=0.3).dtype == np.float64
    assert nf.distance_transform(image, squared=True, spacing=1e5).dtype == np.uint64
    assert nf.distance_transform(image, squared=True, dtype=np.uint16).dtype == np.uint16


def test_linear_indices_agree_with_coordinates():
    image = some_image()
    coordinates = nf.distance_transform(image, return_distances=False, return_indices="coordinates")
    linear = nf.distance_transform(image, return_distances=False, return_indices="linear")
    assert linear.dtype == np.int64 and coordinates.dtype == np.int32
    np.testing.assert_array_equal(np.ravel_multi_index(tuple(coordinates), image.shape), linear)


def test_labels_are_the_values_at_the_indices():
    seeds = np.where(some_image(share=0.05), np.arange(7 * 9 * 11).reshape(7, 9, 11), 0)
    indices, labels, distances = nf.voronoi(seeds, return_labels=True, return_distances=True)
    np.testing.assert_array_equal(labels, seeds[tuple(indices)])
    assert labels.dtype == seeds.dtype and distances.dtype == np.float32
    np.testing.assert_array_equal(nf.expand_labels(seeds, 2.5), np.where(distances <= 2.5, labels, 0))


def test_power_diagram():
    seeds = np.zeros((1, 11), np.uint8)
    seeds[0, 2], seeds[0, 8] = 1, 2
    weights = np.zeros((1, 11), np.int32)
    weights[0, 8] = 24
    labels, power = nf.voronoi(seeds, weights=weights, return_indices=False, return_labels=True, return_distances=True)
    at = np.arange(11)
    powers = np.array([(at - 2) ** 2, (at - 8) ** 2 - 24])
    np.testing.assert_array_equal(power[0], powers.min(0))
    np.testing.assert_array_equal(labels[0], 1 + powers.argmin(0))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_weights_of_every_integer_type(dtype):
    seeds = some_image((9, 12), share=0.2)
    weights = np.arange(seeds.size).reshape(seeds.shape)
    wanted = nf.voronoi(seeds, weights=weights.astype("f8"))
    np.testing.assert_array_equal(nf.voronoi(seeds, weights=weights.astype(dtype)), wanted)


def test_weights_that_float64_does_not_hold():
    with pytest.raises(ValueError, match=r"weights holds 9007199254740993.*2\^53"):
        nf.voronoi([1, 0, 1], weights=[2**53 + 1, 0, 0])


@pytest.mark.parametrize("spacing", [1e39, 1e-46])
@pytest.mark.parametrize("method", ["exact", "brushfire"])
def test_distances_that_float32_does_not_hold(spacing, method):
    with pytest.raises(ValueError, match="float64"):
        nf.distance_transform([0, 1, 1], spacing=spacing, method=method)
    far = nf.distance_transform([0, 1, 1], spacing=spacing, method=method, dtype="float64")
    np.testing.assert_array_equal(far, np.sqrt(spacing * spacing * np.array([0, 1, 4])))


@pytest.mark.parametrize("method", ["exact", "brushfire"])
def test_functions_without_dtype_name_out_instead(method):
    for call in (
        lambda **more: nf.voronoi([0, 1, 1], return_indices=False, return_distances=True, **more),
        lambda **more: nf.expand_labels([0, 1, 1], None, return_distances=True, **more),
        lambda **more: nf.voronoi([np.array([0, 1, 1])] * 2, return_indices=False, return_distances=True, **more),
    ):
        with pytest.raises(ValueError, match=r"^(seeds\[0\]: )?distances are float32, .*: give out= of float64"):
            call(spacing=1e39, method=method)
    far = np.empty(3)
    nf.voronoi([0, 1, 1], spacing=1e39, out=far, method=method)
    np.testing.assert_array_equal(far, [1e39, 0, 0])


def test_batch_axes_are_a_loop():
    images = some_image((3, 8, 9))
    together = nf.distance_transform(images, batch_axes=1, return_indices=True, spacing=(2, 3))
    for k, image in enumerate(images):
        alone = nf.distance_transform(image, return_indices=True, spacing=(2, 3))
        np.testing.assert_array_equal(together[0][k], alone[0])
        np.testing.assert_array_equal(together[1][:, k], alone[1])


@pytest.mark.parametrize(
    "view",
    [
        np.asfortranarray,
        lambda a: a[::-1],
        lambda a: a[:, ::2, ::-3],
        lambda a: a.transpose(2, 0, 1),
        lambda a: np.broadcast_to(a[:1], (5, *a.shape[1:])),
        lambda a: a.astype(">i4"),
        lambda a: a.astype([("x", "u1"), ("label", "<i4")])["label"],
    ],
    ids=["fortran", "negative", "steps", "transposed", "broadcast", "big endian", "field of records"],
)
def test_any_memory_layout(view):
    image = view(some_image().astype(np.uint8))
    image.flags.writeable = False
    plain = np.ascontiguousarray(image).astype(np.int32)
    np.testing.assert_array_equal(nf.distance_transform(image), nf.distance_transform(plain))


def test_outputs_in_place_any_strides():
    image = some_image()
    memory = np.full((14, 9, 22), 7.0, np.float32)
    out = memory[::2, :, ::-2]
    indices = np.empty((3, *image.shape), np.int32, order="F")
    returned = nf.distance_transform(image, return_indices=True, out=out, indices_out=indices)
    assert returned[0] is out and returned[1] is indices
    wanted = nf.distance_transform(image, return_indices=True)
    np.testing.assert_array_equal(out, wanted[0])
    np.testing.assert_array_equal(indices, wanted[1])
    assert (memory[1::2] == 7).all() and (memory[::2, :, ::2] == 7).all()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 0, 4), (1,), (1, 1, 1, 1, 1, 1, 1, 1)])
def test_empty_and_thin(shape):
    distance, indices = nf.distance_transform(np.ones(shape, bool), return_indices=True)
    assert distance.shape == shape and indices.shape == (len(shape), *shape)
    assert np.isinf(distance).all() and (indices == -1).all()


def test_lists_numbers_and_nan():
    np.testing.assert_array_equal(nf.distance_transform([0, 1, 1]), [0, 1, 2])
    np.testing.assert_array_equal(nf.distance_transform([0.0, np.nan, -1.0]), [0, 1, 2])
    np.testing.assert_array_equal(nf.distance_transform([True, False]), [1, 0])


REFUSED = [
    (dict(spacing=(1, 2)), ValueError, "spacing has 2 values for a 3-D array .shape 7x9x11.*one per axis"),
    (dict(spacing=math.nan), ValueError, "spacing along axis 0 is nan"),
    (dict(spacing=-1), ValueError, "spacing along axis 0 is -1"),
    (dict(spacing="5um"), TypeError, "spacing is '5um'"),
    (dict(spacing=(1, "a", 1)), TypeError, "spacing is 'a'"),
    (dict(border="wall"), ValueError, "border is 'wall'; give one of 'open', 'closed', 'periodic'"),
    (dict(border=("open", "open")), ValueError, "border has 2 values"),
    (dict(border=3), TypeError, "border is 3"),
    (dict(sites="one"), ValueError, "sites is 'one'"),
    (dict(sites="nonzero", multilabel=True), ValueError, "multilabel=True"),
    (dict(signed="both"), ValueError, "signed is 'both'"),
    (dict(max_distance=-1), ValueError, "max_distance is -1"),
    (dict(max_distance="far"), TypeError, "max_distance is 'far'"),
    (dict(dtype="int32"), ValueError, "dtype is int32; give one of bool, float16, float32, float64"),
    (dict(dtype="int32", squared=True), ValueError, "dtype is int32; give one of uint16"),
    (dict(dtype="uint16", spacing=1e3, squared=True), ValueError, "dtype is uint16, which cannot hold .* give uint32"),
    (dict(dtype="float16", spacing=1e5), ValueError, "dtype is float16, which ends at 65504"),
    (dict(spacing=True), TypeError, "spacing is True"),
    (dict(spacing=()), ValueError, "spacing has 0 values for 3 axes"),
    (dict(spacing=[2.0]), ValueError, "spacing has 1 value for 3 axes"),
    (dict(spacing=["1", "2", "3"]), TypeError, "spacing is '1'"),
    (dict(spacing=10**400), ValueError, "spacing is 1000.*too large"),
    (dict(spacing={1, 2, 3}), TypeError, "spacing is {1, 2, 3}"),
    (dict(border=["open"]), ValueError, "border has 1 value for 3 axes"),
    (dict(border="x\0y"), ValueError, r"border is 'x\\x00y'; give one of 'open'"),
    (dict(max_distance="5"), TypeError, "max_distance is '5'; give a number"),
    (dict(sites=1), TypeError, "sites is 1; give one of 'zero'"),
    (dict(sites=b"zero"), TypeError, "sites is b'zero'; give one of 'zero'"),
    (dict(multilabel=True, half_cell=True, method="banding"), ValueError, "multilabel=True does not go with banding"),
    (dict(signed=True, method="jump-flood"), ValueError, "signed does not go with jump-flood"),
    (dict(device="cuda:" + "9" * 30), ValueError, "device is 'cuda:9999"),
    (dict(device="cuda:²"), ValueError, "device is 'cuda:²'; give 'cpu'"),
    (dict(batch_axes=2**40), ValueError, "batch_axes is 1099511627776 for an array of 3 axes"),
    (dict(dtype="no type"), TypeError, "dtype is 'no type'"),
    (dict(dtype="float16", out=np.empty((7, 9, 11), np.float32)), ValueError, "dtype is float16 and out has float32"),
    (dict(out=np.empty((7, 9), np.float32)), ValueError, "out has shape 7x9; give one of the image's shape 7x9x11"),
    (dict(out=[1, 2]), TypeError, "out is list"),
    (dict(out=np.empty((7, 9, 11), ">f4")), ValueError, "byte order"),
    (dict(indices_out=np.empty((7, 9, 11), np.int32)), ValueError, "indices_out has shape"),
    (dict(return_distances=False), ValueError, "nothing is asked for"),
    (dict(return_indices="flat"), ValueError, "return_indices is 'flat'"),
    (dict(batch_axes=3), ValueError, "batch_axes is 3"),
    (dict(batch_axes=0.5), TypeError, "batch_axes is 0.5"),
    (dict(threads=0), ValueError, "threads is 0"),
    (dict(device="tpu"), ValueError, "device is 'tpu'"),
    (dict(method="guess"), ValueError, "method is 'guess'"),
    (dict(progress=3), TypeError, "progress is 3"),
    (dict(squared=2), TypeError, "squared is 2; give True or False"),
    (dict(squared=math.nan), TypeError, "squared is nan; give True or False"),
    (dict(half_cell=0.5), TypeError, "half_cell is 0.5; give True or False"),
    (dict(max_distance=np.array("2")), TypeError, "max_distance is array.'2'.*; give a number"),
    (dict(max_distance=np.timedelta64(2)), TypeError, "max_distance is np.timedelta64.2.; give a number"),
]


@pytest.mark.parametrize(("keywords", "kind", "says"), REFUSED, ids=[str(list(case[0])) for case in REFUSED])
def test_refused_arguments_name_the_fix(keywords, kind, says):
    with pytest.raises(kind, match=says):
        nf.distance_transform(some_image(), **keywords)


@pytest.mark.parametrize(
    ("image", "kind", "says"),
    [
        (np.array(3), ValueError, "image has 0 axes"),
        (np.ones((1,) * 9), ValueError, "image has 9 axes"),
        (np.ones(3, complex), TypeError, "complex128"),
        (np.array([None]), TypeError, "object"),
        (np.array(["a"]), TypeError, "U1"),
        (np.ones(3, np.longdouble), TypeError, "float128|longdouble"),
        (np.ma.masked_array([1, 2]), TypeError, "masked"),
        (None, TypeError, "image is None; give an array"),
        ("cells.png", TypeError, "image is 'cells.png'; give an array: nearfield reads no files"),
        (pathlib.Path("cells.png"), TypeError, "cells.png'.; give an array: nearfield reads no files"),
        ([[2**70]], (TypeError, ValueError), "image has"),
    ],
)
def test_refused_images(image, kind, says):
    with pytest.raises(kind, match=says):
        nf.distance_transform(image)


def test_refused_memory():
    image = some_image().astype(np.float32)
    read_only = np.empty(image.shape, np.float32)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        nf.distance_transform(image, out=read_only)
    with pytest.raises(ValueError, match="overlap"):
        nf.distance_transform(image, out=image)
    memory = np.empty(image.size * 3 + 1, np.int32)
    with pytest.raises(ValueError, match="overlap"):
        nf.distance_transform(
            image,
            out=memory[: image.size].view(np.float32).reshape(image.shape),
            indices_out=memory[: image.size * 3].reshape(3, *image.shape),
        )


@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 1, 60), (1, 7), (1,), (0, 4), (60,)])
def test_copies_in_parts_are_whole(shape, monkeypatch):
    from nearfield import _arrays

    monkeypatch.setattr(_arrays, "_PART", 7)
    a = np.arange(math.prod(shape), dtype=">i4").reshape(shape)
    np.testing.assert_array_equal(_arrays.copied(a.T, "i4"), a.T)
    assert sum(a[part].size for part in _arrays.parts_of(a)) == a.size
    if a.size:
        assert len(nf.component_statistics(a)) == a.size - 1


class Liar(np.ndarray):
    """An array that says what it likes."""

    shape = (1000, 1000)
    ndim = 2
    strides = (4000, 4)


def test_arrays_are_what_they_are_whatever_they_say():
    image = np.array([[0, 1, 1], [1, 1, 1]], np.float32)
    out = np.empty_like(image)
    nf.distance_transform(image, out=out.view(Liar))
    np.testing.assert_array_equal(out, nf.distance_transform(image))
    np.testing.assert_array_equal(nf.distance_transform(image.view(Liar)), out)
    np.testing.assert_array_equal(nf.label(image.view(Liar)), nf.label(image))


def test_expand_labels_speaks_of_its_own_arguments():
    for arguments, keywords, kind, says in (
        (([1, 0], -1), {}, ValueError, "^distance is -1"),
        (([1, 0], "3"), {}, TypeError, "^distance is '3'; give a number"),
        ((np.ones(3, complex),), {}, TypeError, "^labels has element type complex128"),
        ((np.ones((1,) * 9),), {}, ValueError, "^labels has 9 axes"),
        (
            ([1, 0],),
            {"max_distance": 3},
            TypeError,
            r"^expand_labels\(\) got an unexpected keyword argument 'max_distance'",
        ),
        (([1, 0],), {"colour": 3}, TypeError, r"^expand_labels\(\) got an unexpected keyword argument 'colour'"),
    ):
        with pytest.raises(kind, match=says):
            nf.expand_labels(*arguments, **keywords)
    with pytest.raises(ValueError, match="^weights do not go with distance=2; give distance=None"):
        nf.expand_labels([1, 0], 2, weights=[0, 0])


def test_plan_takes_the_types_that_calls_take():
    assert nf.plan((5, 5), image_dtype=np.uint16).input_bytes == 50
    said = nf.plan((64, 64, 64))
    page = said._repr_html_()
    assert page.count("<tr>") == 1 + len(said.passes) and str(said).splitlines()[0] in page
    assert nf.plan(np.array([512, 512])).cells == 2 and nf.plan((np.int64(5), 5)).cells == 25
    for image, keywords, kind, says in (
        ([512, 512], {}, TypeError, "image is a list of 2 numbers; give a shape as a tuple"),
        ((5.0, 5), {}, TypeError, "image is a tuple of 2 numbers; give a shape as a tuple of integers, or an array"),
        ((np.ones((3, 3)),) * 2, {}, TypeError, "image is a list of arrays"),
        ((5, 5), {"squared": 2}, TypeError, "squared is 2"),
        ((5, 5), {"image_dtype": "complex64"}, TypeError, "image_dtype is complex64"),
        ((5, 5), {"image_dtype": "no type"}, TypeError, "image_dtype is 'no type'"),
        ((5, 5), {"device": "cudaX"}, ValueError, "device is 'cudaX'"),
        ((5, 5), {"dtype": "uint16"}, ValueError, "dtype is uint16"),
    ):
        with pytest.raises(kind, match=says):
            nf.plan(image, **keywords)


def test_a_huge_shape_is_refused_before_anything_runs():
    huge = np.broadcast_to(np.uint8(1), (1 << 22, 1 << 22))
    with pytest.raises(MemoryError):
        nf.distance_transform(huge)
    with pytest.raises(ValueError, match="2\\*\\*62"):
        nf.plan((1 << 40, 1 << 40))


def test_plan_tells_what_the_call_does():
    image = some_image()
    told = nf.plan(image, return_indices=True, threads=2)
    assert (told.place, told.threads, told.cells) == ("host", 2, image.size)
    assert told.output_bytes == image.size * 16 and told.passes and "axis" in str(told)
    with pytest.raises(ValueError, match="spacing has 2 values"):
        nf.plan(image, spacing=(1, 2))


def test_info():
    told = nf.info()
    assert told.version == nf.__version__ and told.cores >= 1
    assert bool(told.devices) != bool(told.why_no_device)
    assert nf.devices() == () or nf.devices()[0].memory_bytes > 0
    assert told.version in str(told)
