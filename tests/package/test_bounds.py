"""`max_distance` of each cell."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("shape", [(40,), (17, 23), (6, 9, 11)])
@pytest.mark.parametrize("signed", [False, True])
def test_every_cell_has_its_own(shape: tuple[int, ...], signed: bool) -> None:
    image = (RNG.random(shape) < 0.9).astype(np.uint8)
    bounds = RNG.integers(0, 5, shape)
    exact = nf.distance_transform(image, dtype="float64", signed=signed)
    sites = nf.distance_transform(image, return_distances=False, return_indices="linear", signed=signed)
    far = np.abs(exact) > bounds
    distance, index = nf.distance_transform(image, max_distance=bounds, return_indices="linear", signed=signed)
    np.testing.assert_array_equal(distance, np.where(far, np.copysign(np.inf, exact), exact).astype(np.float32))
    np.testing.assert_array_equal(index, np.where(far, -1, sites))
    within = nf.distance_transform(image, max_distance=bounds, dtype="bool") if not signed else ~far
    np.testing.assert_array_equal(within, ~far)


def test_broadcasts() -> None:
    image = np.ones((5, 7), np.uint8)
    image[2, 3] = 0
    rows = np.array([[1.0], [np.inf], [0], [np.nan], [9]])
    found = nf.distance_transform(image, max_distance=rows, squared=True)
    whole = nf.distance_transform(image, max_distance=np.broadcast_to(rows, image.shape), squared=True)
    np.testing.assert_array_equal(found, whole)
    assert (found[3] == np.iinfo(np.uint32).max).all() and found[2, 3] == 0 and found[4, 3] == 4
    assert (found[1] == nf.distance_transform(image, squared=True)[1]).all()
    np.testing.assert_array_equal(
        nf.distance_transform(image, max_distance=np.float32(2)), nf.distance_transform(image, max_distance=2)
    )


def test_nonsense() -> None:
    image = np.ones((5, 7), np.uint8)
    with pytest.raises(ValueError, match="max_distance has shape"):
        nf.distance_transform(image, max_distance=np.ones(6))
    with pytest.raises(ValueError, match="return_trusted"):
        nf.distance_transform(image, max_distance=np.ones(7), return_trusted=True)
    with pytest.raises(ValueError, match="method"):
        nf.distance_transform(image, max_distance=np.ones(7), method="jump-flood")
    with pytest.raises(TypeError, match="max_distance"):
        nf.distance_transform([image, image], max_distance=np.ones(7))
    with pytest.raises((TypeError, ValueError)):
        nf.distance_transform(image, max_distance=np.array(["a"] * 7))
