"""fill_nearest and interpolate_slices: SciPy's idiom, definitions, types, frameworks, refusals."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import ndimage

import nearfield as nf


def some_image(shape=(12, 17), share=0.7, seed=3):
    random = np.random.default_rng(seed)
    return np.where(random.random(shape) < share, np.nan, random.random(shape))


# ---- fill_nearest ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40,), (12, 17), (5, 6, 7)])
def test_equals_scipys_idiom(shape):
    image = some_image(shape)
    index = ndimage.distance_transform_edt(np.isnan(image), return_distances=False, return_indices=True)
    np.testing.assert_array_equal(nf.fill_nearest(image), image[tuple(index)])


@pytest.mark.parametrize(
    "dtype",
    ["bool", "i1", "u2", "f2", ">i4", "f8", "c16", "c8", "M8[s]", "S3", "U5", "V7", [("x", "u1"), ("y", "<f8")]],
)
def test_any_element_type(dtype):
    where = np.arange(60).reshape(5, 12) % 7 != 0
    made = np.random.default_rng(1).integers(32, 127, (5, 12, np.dtype(dtype).itemsize), np.uint8)
    if dtype == "bool":
        made %= 2
    if dtype == "U5":
        image = made.sum(2).astype("U5")
    else:
        image = made.view(dtype)[..., 0]
    index = ndimage.distance_transform_edt(where, return_distances=False, return_indices=True)
    filled = nf.fill_nearest(image, where)
    assert filled.dtype.newbyteorder("=") == image.dtype.newbyteorder("=")
    assert filled.tolist() == image[tuple(index)].tolist()


def test_channels_and_values():
    colours = np.random.default_rng(2).integers(0, 3, (9, 11, 3), np.uint8)
    gone = (colours == 0).any(-1)
    index = ndimage.distance_transform_edt(gone, return_distances=False, return_indices=True)
    wanted = colours[tuple(index)]
    for missing in (0, gone, colours == 0, lambda image: image == 0):
        np.testing.assert_array_equal(nf.fill_nearest(colours, missing, channels=True), wanted)
    waves = colours.astype(complex) * 1j
    np.testing.assert_array_equal(nf.fill_nearest(waves, 0, channels=True), wanted * 1j)


def test_batches_periods_and_bounds():
    images = some_image((3, 9, 10))
    alone = [nf.fill_nearest(each, border="periodic") for each in images]
    np.testing.assert_array_equal(nf.fill_nearest(images, border="periodic", batch_axes=1), alone)
    tiled = nf.fill_nearest(np.tile(images[0], (3, 3)))[9:18, 10:20]
    far = nf.distance_transform(np.isnan(images[0]), border="periodic")
    assert (alone[0] == tiled).mean() > 0.8  # ties choose other copies
    near = nf.fill_nearest(images[0], border="periodic", max_distance=1)
    np.testing.assert_array_equal(near, np.where(far <= 1, alone[0], np.nan))
    line = [5.0, np.nan, np.nan, np.nan]
    np.testing.assert_array_equal(nf.fill_nearest(line, border="closed"), [5, 5, 5, np.nan])
    np.testing.assert_array_equal(nf.fill_nearest([[1, 0, 0], [0, 0, 2]], 0, spacing=(5, 1)), [[1, 1, 1], [2, 2, 2]])


def test_without_any_value_nothing_changes():
    np.testing.assert_array_equal(nf.fill_nearest(np.full((3, 4), 7), 7), np.full((3, 4), 7))
    assert nf.fill_nearest(np.empty((0, 3))).shape == (0, 3)
    assert nf.fill_nearest(np.empty((4, 0, 3)), channels=True).shape == (4, 0, 3)


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    image = some_image().astype("f4")
    for dtype in ("float32", "float16"):
        given = torch.from_numpy(image).to(getattr(torch, dtype))
        filled = nf.fill_nearest(given)
        assert isinstance(filled, torch.Tensor) and filled.dtype == given.dtype
        np.testing.assert_array_equal(filled.numpy(), nf.fill_nearest(given.numpy()))
    pair = torch.stack([torch.from_numpy(image)] * 2, -1)
    np.testing.assert_array_equal(nf.fill_nearest(pair, channels=True)[..., 1].numpy(), nf.fill_nearest(image))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (dict(missing=np.zeros(3, bool)), "missing has shape"),
        (dict(missing=np.zeros((2, 3))), "missing has shape .* of float64"),
        (dict(missing=lambda image: 1 / 0), "raised ZeroDivisionError"),
        (dict(missing="x"), "missing is 'x'"),
        (dict(spacing=0), "spacing"),
        (dict(border="wall"), "border is 'wall'"),
        (dict(max_distance=-1), "max_distance is -1"),
        (dict(batch_axes=2), "batch_axes"),
        (dict(channels=2), "channels is 2"),
    ],
)
def test_refused(words, says):
    with pytest.raises((TypeError, ValueError), match=says):
        nf.fill_nearest(np.zeros((2, 3)), **{"missing": 0, **words})


def test_refused_images():
    with pytest.raises(ValueError, match="channels is true for an image of 1 axis"):
        nf.fill_nearest([1, 2], 0, channels=True)
    with pytest.raises(TypeError, match="image has element type object"):
        nf.fill_nearest(np.array([None, 1]), [True, False])


# ---- interpolate_slices ----------------------------------------------------------------------------------------------


def signed(slice_, label, spacing=None):
    inside = slice_ == label
    if inside.all():
        return np.full(slice_.shape, -np.inf)
    out, within = (ndimage.distance_transform_edt(each, spacing) for each in (~inside, inside))
    return out - within


def between(a, b, t, spacing=None):
    """The definition in doubles: labels, and whether a cell is decided by more than rounding."""
    shared = sorted(set(a.flat) & set(b.flat))
    values = np.array([(1 - t) * signed(a, k, spacing) + t * signed(b, k, spacing) for k in shared])
    ordered = np.sort(values, axis=0)
    sure = np.full(a.shape, True) if len(shared) < 2 else ordered[1] - ordered[0] > 1e-9
    return np.array(shared)[values.argmin(0)], sure


def blobs(shape, seed, labels=3):
    noise = ndimage.gaussian_filter(
        np.random.default_rng(seed).random((labels, *shape)), 4 * (np.arange(len(shape) + 1) > 0)
    )
    return noise.argmax(0).astype(np.uint8)


@pytest.mark.parametrize("spacing", [None, (2, 1, 1), (9, 0.5, 1.5)])
def test_equals_raya_and_udupa(spacing):
    a, b = blobs((40, 50), 1), blobs((40, 50), 2)
    for t in (Fraction(1, 5), Fraction(1, 2), Fraction(2, 3)):
        found = nf.interpolate_slices(np.stack([a, b]), 0, [t], spacing=spacing)[0]
        wanted, sure = between(a, b, float(t), None if spacing is None else spacing[1:])
        assert sure.mean() > 0.8
        np.testing.assert_array_equal(found[sure], wanted[sure])


def test_ties_go_to_the_smaller_label():
    row = np.array([[[1, 1, 1, 0, 0, 0, 0]], [[1, 1, 1, 1, 1, 0, 0]]])
    np.testing.assert_array_equal(nf.interpolate_slices(row, 0, [0.5])[0, 0], [1, 1, 1, 1, 0, 0, 0])
    row = np.array([[[1, 1, 0, 0, 0]], [[1, 1, 1, 0, 0]]])  # at cell 2: -1/2 + 1/2
    np.testing.assert_array_equal(nf.interpolate_slices(row, 0, [0.5])[0, 0], [1, 1, 0, 0, 0])
    np.testing.assert_array_equal(nf.interpolate_slices(7 - row, 0, [0.5])[0, 0], [6, 6, 6, 7, 7])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_every_fifth_slice_drawn(axis):
    volume = np.moveaxis(np.stack([blobs((20, 24), k) for k in range(11)]), 0, axis)
    drawn = np.zeros_like(volume)
    each = np.moveaxis(drawn, axis, 0)
    each[::5] = np.moveaxis(volume, axis, 0)[::5]
    found = np.moveaxis(nf.interpolate_slices(drawn, axis), axis, 0)
    np.testing.assert_array_equal(found[::5], each[::5])
    np.testing.assert_array_equal(found[2], nf.interpolate_slices(each[:6:5], 0, [Fraction(2, 5)])[0])
    np.testing.assert_array_equal(found[7], nf.interpolate_slices(each, 0, [7], drawn=[0, 5, 10])[0])
    some = np.moveaxis(nf.interpolate_slices(drawn, axis, drawn=[5, 10]), axis, 0)
    assert not some[:5].any()
    np.testing.assert_array_equal(some[5:], found[5:])


def test_aligned_shapes_move():
    y, x = np.mgrid[:30, :60]
    first, last = ((y - 14) ** 2 + (x - at) ** 2 <= 36 for at in (10, 50))
    stack = np.stack([first, last])
    assert not nf.interpolate_slices(stack, 0, [0.5]).any()
    np.testing.assert_array_equal(
        nf.interpolate_slices(stack, 0, [0.25], align=True)[0], (y - 14) ** 2 + (x - 20) ** 2 <= 36
    )


def test_positions_of_all_kinds():
    stack = np.stack([blobs((20, 24), k) for k in range(3)])
    wanted = nf.interpolate_slices(stack, 0, [Fraction(1, 5), Fraction(1), Fraction(9, 5)])
    for given in ([0.2, 1, 1.8], np.array([0.2, 1, 1.8]), (np.float32(0.2), np.int8(1), 1.8)):
        np.testing.assert_array_equal(nf.interpolate_slices(stack, 0, given), wanted)
    assert nf.interpolate_slices(stack, 0, []).shape == (0, 20, 24)
    out = np.full((3, 20, 48), 9, np.uint8)[:, :, ::2]
    assert nf.interpolate_slices(stack, 0, [0.2, 1, 1.8], out=out) is out
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (dict(axis=3), "axis is 3"),
        (dict(positions=[-1]), "positions has -1"),
        (dict(positions=[2.5]), "positions has 5/2"),
        (dict(positions=0.5), "positions is 0.5"),
        (dict(positions=[Fraction(1, 2**21)]), "positions has Fraction"),
        (dict(drawn=[]), "drawn is"),
        (dict(drawn=[1, 0]), "drawn has 0 after 1"),
        (dict(drawn=[7]), "drawn has 7"),
        (dict(align=2), "align is 2"),
        (dict(spacing=-1), "spacing"),
        (dict(labels=np.zeros((2, 3))), "labels has element type float64"),
        (dict(labels=np.zeros(3, int)), "labels has 1 axes"),
        (dict(labels=np.zeros((1,) * 5, int)), "labels has 5 axes"),
        (dict(labels=np.zeros((0, 4, 5), int), positions=[0]), "labels has no slices"),
    ],
)
def test_refused_slices(words, says):
    with pytest.raises((TypeError, ValueError), match=says):
        nf.interpolate_slices(**{"labels": np.zeros((3, 4, 5), int), **words})
