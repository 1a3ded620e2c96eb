"""Signed fields and effects: definitions, frameworks, errors. tests/sdf and tests/effects have the random cases."""

import numpy as np
import pytest

import nearfield as nf


def disc(n=64, radius=20.0, parts=8):
    """Coverage of a disc, 8 bits, and its signed distance."""
    at = (np.arange(n * parts) + 0.5) / parts - 0.5
    d = radius - np.hypot(at[:, None] - 31.3, at - 30.8)
    share = np.clip(d * parts + 0.5, 0, 1).reshape(n, parts, n, parts).mean((1, 3))
    y, x = np.mgrid[:n, :n]
    return np.rint(255 * share).astype(np.uint8), radius - np.hypot(y - 31.3, x - 30.8)


def test_coverage():
    image, d = disc()
    field = nf.sdf(image)
    assert field.dtype == np.float32
    near = np.abs(d) < 8
    assert np.sqrt(np.mean((field - d)[near] ** 2)) < 0.015
    np.testing.assert_array_equal(field, nf.sdf(image, threads=1))
    np.testing.assert_array_equal(field, nf.sdf(image.astype(np.uint16) * 257))
    codes = nf.sdf(image, radius=16, cutoff=0.5, dtype="uint8")
    np.testing.assert_array_equal(codes, np.floor(255 * (0.5 + field.astype(float) / 16) + 0.5).clip(0, 255))


def test_masks_are_exact():
    mask = np.random.default_rng(1).random((24, 30)) < 0.3
    wanted = nf.distance_transform(mask, signed="outside", half_cell=True)
    np.testing.assert_array_equal(nf.sdf(mask), wanted)
    np.testing.assert_array_equal(nf.sdf(mask * 7, antialias=False), wanted)
    twice = nf.sdf(np.kron(mask, np.ones((2, 2), bool)), supersample=2)
    np.testing.assert_allclose(twice, wanted, rtol=1e-6)


def test_batches_outputs_and_periodic_ends():
    image, _ = disc()
    out = np.zeros((2, 64, 64), np.uint16)
    assert nf.sdf(np.stack([image, 255 - image]), batch_axes=1, out=out) is out
    np.testing.assert_array_equal(out[1], nf.sdf(255 - image, dtype="uint16"))
    whole = nf.sdf(np.tile(image, (3, 3)))[64:128, 64:128]
    np.testing.assert_allclose(nf.sdf(image, border="periodic"), whole, atol=0.05)


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_other_frameworks(name):
    framework = pytest.importorskip(name)
    made = framework.from_numpy if name == "torch" else framework.numpy.asarray
    image, _ = disc()
    answer = nf.sdf(made(image))
    assert type(answer) is type(made(image))
    np.testing.assert_array_equal(np.asarray(answer), nf.sdf(image))


def test_layers():
    _, d = disc()
    field = d.astype(np.float32)
    cover = lambda v: np.clip(v + 0.5, 0, 1)  # noqa: E731
    effects = nf.effects
    np.testing.assert_allclose(effects.outline(field, 1, 3), cover(d + 3) - cover(d - 1), atol=1e-5)
    np.testing.assert_allclose(effects.glow(field, 9, power=2), np.clip(1 + d / 9, 0, 1) ** 2, atol=1e-5)
    np.testing.assert_allclose(effects.shadow(field, 0, 0, 0), cover(d), atol=1e-5)
    for layer in (
        effects.bevel(field), effects.contour(field, side="inside"), effects.trail(field), effects.light(field, 2, 2),
        effects.halftone(effects.glow(field)),
    ):  # fmt: skip
        assert layer.shape == field.shape and layer.dtype == np.float32
        assert layer.min() >= -1 and 0.2 < layer.max() <= 1
    assert (effects.trail(field, 0, 40) >= effects.trail(field, 0, 4) - 1e-6).all()


def test_padding_is_nearest_fill():
    random = np.random.default_rng(2)
    image = random.integers(1, 256, (20, 30, 4), np.uint8)
    image[..., 3] *= random.random((20, 30)) < 0.1
    wanted = nf.fill_nearest(image[..., :3], image[..., 3] == 0, channels=True)
    padded = nf.effects.pad(image)
    np.testing.assert_array_equal(padded[..., :3], wanted)
    np.testing.assert_array_equal(padded[..., 3], image[..., 3])
    np.testing.assert_array_equal(nf.effects.pad(image[..., :3], image[..., 3]), wanted)


def test_canvases():
    image = np.random.default_rng(3).integers(0, 256, (5, 6, 4), np.uint8)
    image[..., 3] |= 1
    canvas = nf.effects.decode(image)
    np.testing.assert_array_equal(nf.effects.encode(canvas), image)
    plain = nf.effects.canvas((2, 3), "#ff8800")
    assert nf.effects.encode(plain, alpha=False).tolist() == [[[255, 136, 0]] * 3] * 2
    lit = nf.effects.paint(plain, np.full((2, 3), 0.5, np.float32), "#0000ff", blend="add")
    assert lit is plain and lit[0, 0].tolist() == pytest.approx([1, 0.2462, 0.5, 1], abs=1e-3)


def test_errors_name_the_arguments():
    image, _ = disc()
    for words, said in (
        ({"radius": 0}, "radius is 0"),
        ({"cutoff": 1.5}, "cutoff is 1.5"),
        ({"supersample": 3}, "supersample"),
        ({"border": "closed"}, "closed"),
        ({"dtype": "float64"}, "dtype is float64"),
        ({"out": np.zeros((3, 3), np.float32)}, "out"),
    ):
        with pytest.raises(ValueError, match=said):
            nf.sdf(image, **words)
    with pytest.raises(ValueError, match="axes"):
        nf.sdf(np.zeros((2, 2, 2), np.uint8))
    for kind in (np.uint8, np.uint16):
        mask = (image > 99).astype(kind)
        with pytest.raises(ValueError, match="antialias=False"):
            nf.sdf(mask)
        assert np.array_equal(nf.sdf(mask, antialias=False), nf.sdf(mask > 0))
        assert nf.sdf(mask, antialias=True).max() < 0.1 and np.isinf(nf.sdf(mask * 0)).all()
    field = nf.sdf(image)
    for call, said in (
        (lambda: nf.effects.outline(field, inner=-1), "inner is -1"),
        (lambda: nf.effects.glow(field, side="left"), "side"),
        (lambda: nf.effects.outline(image), "float32"),
        (lambda: nf.effects.pad(np.zeros((2, 2, 3), np.uint8)), "known"),
        (lambda: nf.effects.paint(nf.effects.canvas((2, 2)), field, "#fff"), "layer"),
        (lambda: nf.effects.canvas((2, 2), "red"), "colour"),
    ):
        with pytest.raises(ValueError, match=said):
            call()
