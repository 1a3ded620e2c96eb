"""Arrays whose first axis lies closest in memory: the same answers, and values in the order of their image."""

import numpy as np
import pytest

import nearfield as nf


@pytest.fixture(params=[(40, 50), (9, 20, 33), (3, 8, 7, 20)], ids=str)
def image(request):
    return np.random.default_rng(3).random(request.param) < 0.97


VALUES = {
    "distance": {},
    "signed": {"signed": True},
    "squared": {"squared": True},
    "faces, closed": {"half_cell": True, "border": "closed"},
    "trusted": {"return_trusted": True},
    "limit, float16": {"max_distance": 5, "dtype": "float16"},
}


@pytest.mark.parametrize("name", VALUES)
def test_values_lie_as_the_image_does(image, name):
    here = nf.distance_transform(image, **VALUES[name])
    there = nf.distance_transform(np.asfortranarray(image), **VALUES[name])
    for one, other in zip(here, there) if isinstance(here, tuple) else ((here, there),):
        assert one.flags.c_contiguous and other.flags.f_contiguous
        np.testing.assert_array_equal(one, other)


def test_other_orders(image):
    """Axes in a row of memory, backwards and with gaps; an output that lies otherwise than the image."""
    wanted = nf.distance_transform(image, spacing=np.arange(1, image.ndim + 1))
    middle_last = np.moveaxis(np.ascontiguousarray(np.moveaxis(image, 0, -1)), -1, 0)
    spread = np.zeros([2 * n for n in image.shape[::-1]], bool).T[tuple(slice(None, None, 2) for _ in image.shape)]
    spread[...] = image
    for each in (middle_last, spread, np.asfortranarray(image)[::-1][::-1]):
        found = nf.distance_transform(each, spacing=np.arange(1, image.ndim + 1))
        np.testing.assert_array_equal(found, wanted)
        for order in "CF":
            out = np.empty(image.shape, np.float32, order=order)
            assert nf.distance_transform(each, spacing=np.arange(1, image.ndim + 1), out=out) is out
            np.testing.assert_array_equal(out, wanted)


CALLS = {
    "sites": lambda x: nf.distance_transform(x, return_indices=True),
    "labels of seeds": lambda x: nf.voronoi(~x, return_indices=False, return_labels=True),
    "label": nf.label,
    "erosion": lambda x: nf.erosion(x, 1.5),
    "thickness": lambda x: nf.local_thickness(x[:3]),
    "statistics": lambda x: np.asarray(nf.component_statistics(nf.label(x)).size),
    "watershed": lambda x: nf.watershed(nf.distance_transform(x).round().astype("uint8")),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_takes_fortran_order(image, name):
    if image.ndim == 4 and name not in ("sites", "labels of seeds", "label"):
        return
    here, there = CALLS[name](image), CALLS[name](np.asfortranarray(image))
    for one, other in zip(here, there) if isinstance(here, tuple) else ((here, there),):
        np.testing.assert_array_equal(one, other)


def test_tensors_keep_their_strides(image):
    torch = pytest.importorskip("torch")
    found = nf.distance_transform(torch.from_numpy(np.asfortranarray(image)))
    np.testing.assert_array_equal(found.numpy(), nf.distance_transform(image))
    assert found.stride()[0] == 1
