"""Chessboard distances, rays and pictures from Python. tests/chessboard, raycast and render have the random cases."""

import numpy as np
import pytest
from scipy import ndimage

import nearfield as nf

RANDOM = np.random.default_rng(5)
MASK = RANDOM.random((12, 14, 16)) < 0.02


@pytest.mark.parametrize("metric", ["chessboard", "cityblock", "taxicab"])
def test_metrics_are_scipys(metric):
    image = RANDOM.random((17, 40)) > 0.02
    name = "taxicab" if metric != "chessboard" else metric
    wanted = ndimage.distance_transform_cdt(image, name)
    np.testing.assert_array_equal(nf.distance_transform(image, metric=metric), wanted)
    far, where = nf.distance_transform(image, metric=metric, return_indices=True)
    np.testing.assert_array_equal(far, wanted)
    away = np.abs(where - np.indices(image.shape))
    np.testing.assert_array_equal(away.max(axis=0) if metric == "chessboard" else away.sum(axis=0), wanted)
    assert not image[tuple(where)].any()


def test_metric_options():
    image = np.ones((3, 9), np.float64)
    image[0, 0] = -0.0
    ring = nf.distance_transform(image, metric="chessboard", border="periodic", batch_axes=1)
    assert ring[0].tolist() == [0, 1, 2, 3, 4, 4, 3, 2, 1]
    assert (ring[1:] == 2**31 - 1).all()
    closed = nf.distance_transform(image, sites="nonzero", metric="cityblock", border="closed", dtype="uint16")
    assert closed.dtype == np.uint16
    assert closed[0].tolist() == [1, *[0] * 8]
    out = np.empty((3, 9), np.uint32)
    assert nf.distance_transform(image, metric="chessboard", out=out) is out
    indices = nf.distance_transform(image, metric="cityblock", return_distances=False, return_indices=True)
    assert (indices == 0).all()


@pytest.mark.parametrize(
    "words",
    [
        {"spacing": 2}, {"squared": True}, {"signed": True}, {"multilabel": True}, {"half_cell": True},
        {"return_labels": True}, {"return_trusted": True}, {"method": "banding"}, {"sites": "other_labels"},
        {"dtype": "float32"}, {"border": "periodic", "return_indices": True},
    ],
)  # fmt: skip
def test_metric_refuses_what_is_euclidean(words):
    with pytest.raises((ValueError, RuntimeError), match="|".join((*words, "CUDA", "GPU"))):
        nf.distance_transform(np.ones((3, 3), np.int32), metric="chessboard", **words)
    with pytest.raises(ValueError, match="metric"):
        nf.distance_transform(MASK, metric="manhatten")


def test_raycast_is_the_same_with_every_kind_of_skips():
    origins, directions = RANDOM.random((300, 3)) * 30 - 8, RANDOM.random((300, 3)) - 0.5
    every = [nf.raycast(MASK, (origins, directions), skips=skips) for skips in ("none", "cubes", "octants")]
    for hits in every[1:]:
        for name in ("cells", "faces", "entry"):
            np.testing.assert_array_equal(getattr(hits, name), getattr(every[0], name))
        assert hits.steps.sum() < every[0].steps.sum()
    hit = every[0].faces >= 0
    assert hit.any()
    assert MASK[tuple(every[0].cells[hit].T)].all()
    at = (origins + every[0].entry[:, None] * directions)[hit]
    axis, side = every[0].faces[hit] // 2, every[0].faces[hit] % 2
    rows = np.arange(len(axis))
    np.testing.assert_allclose(at[rows, axis], every[0].cells[hit][rows, axis] + side - 0.5, atol=1e-3)


def test_sphere_trace_and_camera():
    field = nf.distance_transform(~MASK, half_cell=True)
    camera = nf.Camera.fit(MASK.shape)
    hits = nf.sphere_trace(field, camera.rays(40, 30), level=0.6)
    met = np.isfinite(hits.entry)
    assert met.any() and not met.all()
    np.testing.assert_allclose(np.linalg.norm(hits.normals[met], axis=1), 1, atol=1e-5)
    slow = nf.sphere_trace(field.astype(np.float64), camera.rays(40, 30), level=0.6, threads=1)
    np.testing.assert_array_equal(slow.entry, hits.entry)
    picture = nf.sphere_trace(field, camera, level=0.6, width=40, height=30)
    assert picture.normals.shape == (30, 40, 3)
    np.testing.assert_array_equal(picture.entry.ravel(), hits.entry)
    np.testing.assert_array_equal(picture.normals.reshape(-1, 3), hits.normals)
    for turn, spacing in ((37, (1, 0.7, 2.3)), (-101, 0.3)):  # the same rays, to the bit
        seen = nf.Camera.fit(MASK.shape, spacing=spacing, turn=turn, elevation=11)
        one = nf.sphere_trace(field, seen, spacing=spacing, width=101, height=67)
        two = nf.sphere_trace(field, seen.rays(101, 67, spacing=spacing), spacing=spacing)
        np.testing.assert_array_equal(one.entry.ravel(), two.entry)
    assert nf.sphere_trace(field, camera).entry.shape == (600, 800)
    # The middle of a ball's picture is as far away as the formula says, in units of the spacing.
    z, y, x = np.indices((21, 21, 21)) - 10.0
    ball = 2 * (np.sqrt(x * x + y * y + z * z) - 5)
    seen = nf.sphere_trace(ball, nf.Camera((20, 20, -60), (20, 20, 20)), spacing=2, width=3, height=3)
    assert abs(seen.entry[1, 1] - 70) < 1e-6


def test_render():
    z, y, x = np.indices((20, 22, 24)) - 10.0
    away = np.sqrt(x * x + y * y + z * z)
    pictures = [
        nf.render(away < 7, width=60, height=50),
        nf.render((10 - away).astype(np.float32), width=60, height=50, threshold=3),
        nf.render(away - 7, distance=True, width=60, height=50),
        nf.render(away - 7, distance=True, mode="isolines", width=60, height=50),
        nf.render((255 - 12 * away).astype(np.uint8), mode="volume", width=60, height=50, threshold=120),
    ]
    for picture in pictures:
        assert picture.shape == (50, 60, 3)
        assert picture.dtype == np.uint8
        assert (picture[0, 0] == 255).all()
        assert (picture[25, 30] < 250).any()
    dark = nf.render(away < 7, width=60, height=50, background=(0, 0, 0), color=(1, 0, 0), light=(0, 0, 1), threads=1)
    assert dark[0, 0].tolist() == [0, 0, 0]
    assert dark[25, 30, 0] > dark[25, 30, 1]
    gray = np.clip(255 - 12 * away, 0, 255).astype(np.uint8)
    film = [(100, (1, 0, 0), 0), (120, (1, 0, 0), 0.9), (140, (1, 0, 0), 0), (255, (0, 0, 1), 0)]
    red = nf.render(gray, mode="volume", transfer=film, width=60, height=50)
    assert red[25, 30, 0] > red[25, 30, 2] + 50
    assert (red[0, 0] == 255).all()
    none = nf.render(gray, mode="volume", transfer=[(0, (0, 0, 0), 0), (255, (0, 0, 0), 0)], width=60, height=50)
    assert (none == 255).all()
    table = np.zeros((256, 3), np.uint8)
    assert (nf.render(away, mode="isolines", colormap=table, width=9, height=9) == 0).any()
    shared = nf.render(away, mode="isolines", colormap=lambda share: np.stack([share] * 4, -1), width=9, height=9)
    np.testing.assert_array_equal(shared, nf.render(away, mode="isolines", width=9, height=9))


def test_render_meshes():
    """A ball as a mesh looks like a ball of gray values; open meshes and cameras in the mesh's space are taken."""
    z, y, x = np.indices((40, 40, 40)) - 19.5
    away = np.sqrt(x * x + y * y + z * z)
    ball = nf.isosurface(away, 15, inside="below", spacing=0.5, origin=(3, 4, 5))
    camera = nf.Camera((40, 14, -20), (14.75, 13.75, 12.75))
    pictures = [nf.render(each, camera, width=80, height=60) for each in (ball, nf.Mesh(ball.vertices, ball.faces[9:]))]
    shifted = nf.Camera((35, 10, -23), (9.75, 9.75, 9.75))
    wanted = nf.render(15 - away, shifted, threshold=0, spacing=0.5, width=80, height=60)
    for picture in pictures:
        inside = [(each != 255).any(axis=2) for each in (picture, wanted)]
        assert inside[1].sum() > 300
        assert (inside[0] != inside[1]).sum() < 0.05 * inside[1].sum()
        assert np.abs(picture[inside[1]].astype(int) - wanted[inside[1]]).mean() < 6
    assert (nf.render(ball, width=40, height=30)[15, 20] < 250).any()
    sheet = nf.Mesh([[0, 0, 0], [0, 9, 0], [0, 9, 9], [0, 0, 9.0]], [[0, 1, 2], [0, 2, 3]])
    assert (nf.render(sheet, width=40, height=30) != 255).any(axis=2).mean() > 0.05
    with pytest.raises(ValueError, match="mesh"):
        nf.render(ball, mode="volume")
    with pytest.raises(TypeError, match="volumes only"):
        nf.plan(nf.render, ball)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nf.raycast(MASK, [1, 2, 3]), "rays"),
        (lambda: nf.raycast(MASK, ([1, 2], [1, 2])), "origins"),
        (lambda: nf.raycast(MASK, ([1, 2, 3], [[1, 2, 3]] * 2)), "rays"),
        (lambda: nf.raycast(MASK, ([1, 2, 3], [1, 2, 3]), skips="balls"), "skips"),
        (lambda: nf.raycast(np.zeros(5), ([1], [1])), "mask has 1 axes"),
        (lambda: nf.sphere_trace(MASK, ([1, 2, 3], [1, 2, 3]), level=np.nan), "level"),
        (lambda: nf.render(np.zeros((3, 3))), "volume has 2 axes"),
        (lambda: nf.render(MASK, mode="cloud"), "mode"),
        (lambda: nf.render(MASK, camera=3), "camera"),
        (lambda: nf.render(MASK, color=(1, 2)), "color"),
        (lambda: nf.render(MASK, colormap=np.zeros((2, 3))), "colormap"),
        (lambda: nf.Camera.fit((3, 4)), "shape"),
        (lambda: nf.sphere_trace(MASK, ([1, 2, 3], [1, 2, 3]), width=8), "camera"),
        (lambda: nf.sphere_trace(MASK[0], nf.Camera.fit((3, 4, 5))), "field has 2 axes"),
        (lambda: nf.render(MASK, transfer=[(0, (0, 0, 0), 0), (1, (1, 1, 1), 1)]), "transfer.*volume"),
        (lambda: nf.render(MASK, mode="volume", transfer=[(0, 1)]), "transfer.*triples"),
        (lambda: nf.render(MASK, mode="volume", transfer=[]), "transfer"),
        (lambda: nf.render(MASK, mode="volume", transfer=[(1, (0, 0, 0), 0), (0, (1, 1, 1), 1)]), "ascending"),
    ],
)
def test_refusals(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()
