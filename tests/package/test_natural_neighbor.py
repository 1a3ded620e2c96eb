"""Natural neighbours: the definition, every framework, errors. tests/natural_neighbor has the random cases."""

import numpy as np
import pytest

import nearfield as nf


def by_definition(values, known, spacing):
    """Each cell gives the value of its nearest known cell to the cells of its open ball."""
    away, index = nf.distance_transform(
        known, sites="nonzero", spacing=spacing, squared=True, dtype="float64", return_indices="linear"
    )
    grid = np.indices(values.shape).reshape(values.ndim, -1).T * np.asarray(spacing)
    total, count = np.zeros(values.size), np.zeros(values.size)
    for cell, r2, site in zip(grid, away.ravel(), index.ravel()):
        inside = ((grid - cell) ** 2).sum(1) < r2 if r2 > 0 else (grid == cell).all(1)
        total[inside] += values.ravel()[site]
        count[inside] += 1
    return (total / count).reshape(values.shape)


@pytest.mark.parametrize("seed", range(20))
def test_definition(seed):
    random = np.random.default_rng(seed)
    shape = [(40,), (15, 18), (7, 8, 9)][seed % 3]
    spacing = (1, 2, 3)[: len(shape)] if seed % 2 else (1,) * len(shape)
    values, known = random.integers(-99, 99, shape), random.random(shape) < 0.05
    known.flat[seed] = True
    wanted = by_definition(values, known, spacing)
    np.testing.assert_array_equal(nf.natural_neighbor(values, known, spacing=spacing), wanted)
    gaps = np.where(known, values, np.nan)
    np.testing.assert_array_equal(nf.natural_neighbor(gaps, spacing=spacing), wanted)
    np.testing.assert_array_equal(nf.natural_neighbor(gaps.astype("float32"), spacing=spacing), wanted.astype("f4"))


def test_batches_threads_and_nothing_known():
    random = np.random.default_rng(1)
    values = np.where(random.random((3, 30, 40)) < 0.02, random.random((3, 30, 40)), np.nan)
    every = nf.natural_neighbor(values, batch_axes=1, border="periodic")
    for image, one in zip(values, every):
        np.testing.assert_array_equal(one, nf.natural_neighbor(image, border="periodic", threads=1))
    assert np.isnan(nf.natural_neighbor(np.full((3, 4), np.nan))).all()
    assert nf.natural_neighbor(np.zeros((0, 4))).shape == (0, 4)


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_other_frameworks(name):
    framework = pytest.importorskip(name)
    made = framework.from_numpy if name == "torch" else framework.numpy.asarray
    random = np.random.default_rng(2)
    values, known = random.random((20, 30), np.float32), random.random((20, 30)) < 0.05
    answer = nf.natural_neighbor(made(values), made(known))
    assert type(answer) is type(made(values))
    np.testing.assert_array_equal(np.asarray(answer), nf.natural_neighbor(values, known))


def test_errors_name_the_arguments():
    values = np.zeros((4, 5))
    for words, said in (
        ({"known": values[1:]}, "known has shape"),
        ({"border": "closed"}, "border"),
        ({"spacing": -1}, "spacing"),
        ({"dtype": "int32"}, "dtype is int32"),
        ({"batch_axes": 2}, "batch_axes"),
        ({"out": np.zeros(3)}, "out"),
        ({"device": "tpu"}, "device"),
    ):
        with pytest.raises(ValueError, match=said):
            nf.natural_neighbor(values, **words)
    with pytest.raises(ValueError, match="values has"):
        nf.natural_neighbor(np.zeros((2, 2, 2, 2)))
