"""`where`: cells that take no part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nearfield as nf

RNG = np.random.default_rng(11)


def searched(image: np.ndarray, where: np.ndarray, sites: Any) -> tuple[np.ndarray, np.ndarray]:
    """Squared distance and linear index of each cell p of `where` among those q of it with sites(p, q)."""
    squared, index = np.full(image.shape, np.inf), np.full(image.shape, -1)
    cells = np.argwhere(where)
    for p in cells:
        there = [q for q in cells if sites(image[tuple(p)], image[tuple(q)])]
        if there:
            best = min(there, key=lambda q: (((p - q) ** 2).sum(), *q[::-1]))
            squared[tuple(p)] = ((p - best) ** 2).sum()
            index[tuple(p)] = np.ravel_multi_index(tuple(best), image.shape)
    return squared, index


@pytest.mark.parametrize("shape", [(40,), (9, 12), (4, 6, 5)])
def test_against_all_pairs(shape: tuple[int, ...]) -> None:
    image = RNG.integers(0, 4, shape).astype(np.int16)
    where = RNG.random(shape) < 0.6
    for words, sites in (
        ({}, lambda p, q: q == 0),
        ({"sites": "nonzero"}, lambda p, q: q != 0),
        ({"multilabel": True}, lambda p, q: p != q or p == 0),
        ({"signed": True}, lambda p, q: (p == 0) != (q == 0)),
    ):
        squared, index = searched(image, where, sites)
        sign = np.where((image != 0) & where, -1, 1) if "signed" in words else 1
        got, at, labels = nf.distance_transform(
            image, where=where, return_indices="linear", return_labels=True, dtype="float64", **words
        )
        np.testing.assert_array_equal(got, sign * np.sqrt(squared))
        np.testing.assert_array_equal(at, index)
        np.testing.assert_array_equal(labels, np.where(index < 0, 0, image.ravel()[index]))


def test_batches_broadcast_and_other_words_go_with_it() -> None:
    images = (RNG.random((3, 8, 9)) < 0.8).astype(np.uint8)
    where = RNG.random((8, 9)) < 0.7
    words = dict(spacing=(2, 0.5), border=("periodic", "closed"), max_distance=2.5, half_cell=True, return_trusted=True)
    together = nf.distance_transform(images, where=where, batch_axes=1, **words)
    for k, image in enumerate(images):
        for batch, alone in zip(together, nf.distance_transform(image[:, ::-1], where=where[:, ::-1], **words)):
            np.testing.assert_array_equal(batch[k][:, ::-1], alone)
    everywhere = nf.distance_transform(images[0], where=True, **words)
    for batch, alone in zip(everywhere, nf.distance_transform(images[0], **words)):
        np.testing.assert_array_equal(batch, alone)


def test_cells_that_take_no_part_keep_what_out_held() -> None:
    image, where = np.array([0, 1, 1, 1, 0], np.uint8), np.array([0, 1, 1, 1, 1], bool)
    out = np.full(5, 7, np.float32)
    found, index = nf.distance_transform(image, where=where, out=out, return_indices="linear")
    assert found is out
    np.testing.assert_array_equal(out, [7, 3, 2, 1, 0])
    np.testing.assert_array_equal(index, [-1, 4, 4, 4, 4])
    squared = nf.distance_transform(image, where=where, squared=True)
    np.testing.assert_array_equal(squared, [np.iinfo(np.uint32).max, 9, 4, 1, 0])


def test_seeds_and_labels_that_grow() -> None:
    seeds, where = np.array([7, 0, 0, 0, 9]), np.array([0, 1, 1, 0, 1], bool)
    np.testing.assert_array_equal(nf.expand_labels(seeds, None, where=where), [0, 9, 9, 0, 9])
    np.testing.assert_array_equal(nf.voronoi(seeds, where=where, return_indices="linear"), [-1, 4, 4, -1, 4])
    kept = np.full(5, 3)
    nf.expand_labels(seeds, None, where=where, labels_out=kept)
    np.testing.assert_array_equal(kept, [3, 9, 9, 3, 9])


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    image, where = torch.tensor([0, 1, 1, 0]), torch.tensor([False, True, True, True])
    found = nf.distance_transform(image, where=where)
    assert isinstance(found, torch.Tensor) and found.tolist() == [float("inf"), 2, 1, 0]


def test_nonsense() -> None:
    image = np.ones((5, 7), np.uint8)
    for words, match in (
        ({"where": np.ones(6, bool)}, "where has shape"),
        ({"where": np.ones(7)}, "where has element type float64"),
        ({"where": np.ones(7, bool), "max_distance": np.ones(7)}, "where"),
        ({"where": np.ones(7, bool), "method": "jump-flood"}, "where"),
        ({"where": np.ones(7, bool), "metric": "cityblock"}, "where"),
    ):
        with pytest.raises(ValueError, match=match):
            nf.distance_transform(image, **words)
    with pytest.raises(TypeError, match="where goes with one array"):
        nf.distance_transform([image, image], where=np.ones(7, bool))
    with pytest.raises(ValueError, match="where"):
        nf.voronoi(image, where=np.ones(7, bool), weights=image)


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    image, where = RNG.integers(0, 2, (3, 7, 9)).astype(np.int32), RNG.random((3, 7, 9)) < 0.5
    for words in (
        {"batch_axes": 1, "return_indices": True, "return_labels": True, "return_trusted": True},
        {"batch_axes": 1, "signed": "outside", "sites": "nonzero", "border": "periodic", "return_indices": True},
        {"squared": True, "max_distance": 1.5},
        {"signed": True, "spacing": (1, 2, 0.5)},
        {"dtype": "bool", "max_distance": 1},
    ):
        wanted = nf.distance_transform(image, where=where, **words)
        call = lambda x, w, words=words: nf.distance_transform(x, where=w, **words)  # noqa: E731
        for run in (call, jax.jit(call)):
            for came, due in zip(jax.tree.leaves(run(jax.numpy.asarray(image), where)), jax.tree.leaves(wanted)):
                np.testing.assert_array_equal(came, due)
    alone = jax.vmap(lambda x, w: nf.distance_transform(x, where=w))(jax.numpy.asarray(image), jax.numpy.asarray(where))
    np.testing.assert_array_equal(alone, nf.distance_transform(image, where=where, batch_axes=1))
    with pytest.raises(ValueError, match="multilabel"):
        nf.distance_transform(jax.numpy.asarray(image), where=where, multilabel=True)
    with pytest.raises(ValueError, match="where has shape"):
        nf.distance_transform(jax.numpy.asarray(image), where=where[0, 0, :3])
