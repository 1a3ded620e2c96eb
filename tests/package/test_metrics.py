"""Surfaces of segmentations: the definitions, other libraries where theirs are the same, tables, losses, errors.

tests/metrics has the random cases.
"""

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial.distance import cdist

import nearfield as nf

SPACINGS = [None, (1.0, 2.0, 3.0), (0.7, 1.3, 2.9)]


def blobs(seed, shape=(17, 20, 23), labels=3):
    """Two label images that are alike."""
    random = np.random.default_rng(seed)
    fields = [ndimage.gaussian_filter(random.standard_normal(shape), 2.5) for _ in range(labels)]
    other = [field + 0.35 * ndimage.gaussian_filter(random.standard_normal(shape), 2) for field in fields]
    return tuple(
        np.where(np.max(each, 0) > 0.03, np.argmax(each, 0) + 1, 0).astype(kind)
        for each, kind in ((fields, np.int16), (other, np.uint8))
    )


def edge(mask):
    return mask & ~ndimage.binary_erosion(mask)  # cells beyond the image are outside


def distances(mask, other, spacing):
    away = [np.argwhere(edge(each)) * np.asarray(spacing) for each in (mask, other)]
    return cdist(*away).min(1)


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("seed", range(3))
def test_definition(seed, spacing):
    a, b = blobs(seed)
    table = nf.metrics.surface(a, b, spacing=spacing, percentile=(0, 33.3, 50, 95, 100), tolerance=(0, 1, 1.5))
    assert table.label.tolist() == [1, 2, 3] and table.image is None
    for row, label in enumerate(table.label):
        mine, theirs = a == label, b == label
        lengths = (1, 1, 1) if spacing is None else spacing
        there, back = distances(mine, theirs, lengths), distances(theirs, mine, lengths)
        both = np.concatenate([there, back])
        near = {"rtol": 1e-13}
        assert (table.size_a[row], table.area_a[row]) == (mine.sum(), len(there))
        assert table.dice[row] == 2 * (mine & theirs).sum() / (mine.sum() + theirs.sum())
        np.testing.assert_allclose(table.hausdorff_a[row], there.max(), **near)
        np.testing.assert_allclose(table.hausdorff[row], both.max(), **near)
        np.testing.assert_allclose(table.average[row], there.mean(), **near)
        np.testing.assert_allclose(table.average_b[row], back.mean(), **near)
        np.testing.assert_allclose(table.symmetric_average[row], both.mean(), **near)
        for percent, value in zip(table.percentiles, table.percentile[row]):
            wanted = max(np.percentile(there, percent), np.percentile(back, percent))
            np.testing.assert_allclose(value, wanted, **near)
        if spacing != SPACINGS[2]:  # for it a distance may equal a tolerance up to rounding
            assert table.overlap_a[row].tolist() == [(there <= x).mean() for x in table.tolerances]
            np.testing.assert_allclose(table.surface_dice[row], [(both <= x).mean() for x in table.tolerances], **near)


@pytest.mark.parametrize("labels", [1, 300])
def test_last_cells_of_lines_are_found_wherever_they_are(labels):
    """A line is searched from its end, in steps of many cells, for the last one of a label; codes have 1 or 4 bytes."""
    image = np.zeros((200, 700), np.int32)
    rows = np.arange(200)
    image[rows, 0] = image[rows, 500 + rows] = labels
    image[0, 100 : 99 + labels] = np.arange(1, labels)
    table = nf.metrics.surface(image, image[:, ::-1])
    assert (table.area_a[-1], table.area_b[-1], table.hausdorff[-1]) == (400, 400, 199)


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("spacing", SPACINGS)
def test_elements_are_those_of_surface_distance(axes, spacing, monkeypatch):
    peer = pytest.importorskip("surface_distance")
    for name in ("filters", "morphology"):  # SciPy's old names, which the package uses
        monkeypatch.setattr(ndimage, name, ndimage, raising=False)
    a, b = (each[(9,) if axes == 2 else ...] for each in blobs(4))
    lengths = (1.0, 1.0, 1.0)[:axes] if spacing is None else spacing[:axes]
    table = nf.metrics.surface(a, b, spacing=lengths, percentile=(20, 50, 95), tolerance=(1, 1.7), surface="elements")
    assert len(table) == 3
    for row, label in enumerate(table.label):
        theirs = peer.compute_surface_distances(a == label, b == label, lengths)
        averages = peer.compute_average_surface_distance(theirs)
        np.testing.assert_allclose((table.average[row], table.average_b[row]), averages, rtol=1e-12)
        np.testing.assert_allclose(table.area_a[row], theirs["surfel_areas_gt"].sum(), rtol=1e-12)
        np.testing.assert_allclose(table.hausdorff[row], peer.compute_robust_hausdorff(theirs, 100), rtol=1e-12)
        wanted = [peer.compute_robust_hausdorff(theirs, percent) for percent in table.percentiles]
        np.testing.assert_allclose(table.percentile[row], wanted, rtol=1e-12)
        shares = [peer.compute_surface_dice_at_tolerance(theirs, x) for x in table.tolerances]
        np.testing.assert_allclose(table.surface_dice[row], shares, rtol=1e-12)
        overlaps = np.array([peer.compute_surface_overlap_at_tolerance(theirs, x) for x in table.tolerances])
        np.testing.assert_allclose(table.overlap_a[row], overlaps[:, 0], rtol=1e-12)
        np.testing.assert_allclose(table.overlap_b[row], overlaps[:, 1], rtol=1e-12)
        dice = peer.compute_dice_coefficient(a == label, b == label)
        np.testing.assert_allclose(table.dice[row], dice, rtol=1e-12)


@pytest.mark.parametrize("spacing", SPACINGS[:2])
def test_hausdorff_is_that_of_simpleitk_and_scikit_image(spacing):
    a, b = blobs(5)
    table = nf.metrics.surface(a, b, spacing=spacing)
    for row, label in enumerate(table.label):
        edges = [edge(each == label) for each in (a, b)]
        if spacing is None:
            metrics = pytest.importorskip("skimage.metrics")
            np.testing.assert_allclose(table.hausdorff[row], metrics.hausdorff_distance(*edges), rtol=1e-13)
        simple = pytest.importorskip("SimpleITK")
        images = [simple.GetImageFromArray(each.astype(np.uint8)) for each in edges]
        for image in images:
            image.SetSpacing((spacing or (1.0, 1.0, 1.0))[::-1])
        found = simple.HausdorffDistanceImageFilter()
        found.Execute(*images)
        np.testing.assert_allclose(table.hausdorff[row], found.GetHausdorffDistance(), rtol=1e-6)
        overlap = simple.LabelOverlapMeasuresImageFilter()
        overlap.Execute(*(simple.GetImageFromArray((each == label).astype(np.uint8)) for each in (a, b)))
        np.testing.assert_allclose(table.dice[row], overlap.GetDiceCoefficient(), rtol=1e-13)


def test_cells_are_those_of_monai():
    monai = pytest.importorskip("monai.metrics")
    torch = pytest.importorskip("torch")
    a, b = blobs(6)
    table = nf.metrics.surface(a, b)
    hot = [torch.from_numpy(np.stack([each == label for label in table.label])[None]) for each in (a, b)]
    for name, percentile in (("hausdorff", None), ("percentile", 95)):
        wanted = monai.compute_hausdorff_distance(*hot, include_background=True, percentile=percentile)
        np.testing.assert_allclose(np.ravel(getattr(table, name)), wanted[0].numpy(), rtol=1e-5)  # ranks in float32
    for name, both in (("average", False), ("symmetric_average", True)):
        wanted = monai.compute_average_surface_distance(*hot, include_background=True, symmetric=both)
        np.testing.assert_allclose(getattr(table, name), wanted[0].numpy(), rtol=1e-6)
    wanted = monai.compute_surface_dice(*hot, [1.0] * 3, include_background=True)
    np.testing.assert_allclose(table.surface_dice[:, 0], wanted[0].numpy(), rtol=1e-6)


def test_batches_channels_strides_and_threads():
    pairs = [blobs(seed) for seed in (1, 2)]
    a, b = (np.stack([pair[side] for pair in pairs]) for side in (0, 1))
    every = nf.metrics.surface(a, b, batch_axes=1, spacing=SPACINGS[2], surface="elements")
    assert every.image.tolist() == [0, 0, 0, 1, 1, 1]
    for k, pair in enumerate(pairs):
        one = nf.metrics.surface(*pair, spacing=SPACINGS[2], surface="elements", threads=1)
        for name, column in one.to_dict().items():
            np.testing.assert_array_equal(every.to_dict()[name][3 * k : 3 * k + 3], column)
    # Channels of masks, as in one-hot images, in any memory order.
    hot = [np.stack([each == label for label in (1, 2, 3)], 1) for each in (a, b)]
    channels = nf.metrics.surface(*(np.asfortranarray(each) for each in hot), batch_axes=2)
    plain = nf.metrics.surface(a, b, batch_axes=1)
    assert channels.image.tolist() == list(range(6)) and set(channels.label.tolist()) == {1}
    np.testing.assert_array_equal(channels.hausdorff, plain.hausdorff)
    np.testing.assert_array_equal(channels.symmetric_average, plain.symmetric_average)


def test_empty_masks():
    a, b = np.array([[0, 1, 1, 0], [0, 0, 0, 2]]), np.array([[0, 1, 0, 0], [3, 0, 0, 0]])
    table = nf.metrics.surface(a, b, labels=[1, 2, 3, 4], percentile=())
    inf, nan = np.inf, np.nan
    wanted = {
        "hausdorff": [1, inf, inf, nan],
        "average": [0.5, inf, nan, nan],
        "average_b": [0, nan, inf, nan],
        "symmetric_average": [1 / 3, inf, inf, nan],
        "surface_dice": [1, 0, 0, nan],
        "overlap_a": [1, 0, nan, nan],
        "overlap_b": [1, nan, 0, nan],
        "dice": [2 / 3, 0, 0, nan],
        "area_a": [2, 1, 0, 0],
    }
    for name, column in wanted.items():
        np.testing.assert_array_equal(table.to_dict()[name], column, name)
    assert table.percentile.shape == (4, 0)
    assert len(nf.metrics.surface(a, b, labels=[])) == 0
    assert len(nf.metrics.surface(np.zeros((0, 3), int), np.zeros((0, 3), bool))) == 0


def test_tables(tmp_path):
    a, b = blobs(7)
    table = nf.metrics.surface(a, b)
    first = ["label", "hausdorff", "percentile", "average", "symmetric_average", "surface_dice", "dice"]
    assert list(table.to_dict())[:7] == first
    assert repr(table).startswith("SurfaceTable(3 rows: label, hausdorff,") and "<th>dice</th>" in table._repr_html_()
    table.to_csv(tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text()
    assert text == table.to_csv() and len(text.splitlines()) == 4
    assert float(text.splitlines()[1].split(",")[1]) == table.hausdorff[0]
    several = nf.metrics.surface(a, b, percentile=(50, 99.5), tolerance=(1, 2.5)).to_dict()
    assert {"percentile_50", "percentile_99.5", "surface_dice_2.5", "overlap_b_1"} <= several.keys()
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.dice.tolist() == table.dice.tolist()


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_other_frameworks(name):
    framework = pytest.importorskip(name)
    made = framework.from_numpy if name == "torch" else framework.numpy.asarray
    a, b = blobs(8)
    here, there = nf.metrics.surface(a, b), nf.metrics.surface(made(a), made(b))
    assert here.to_csv() == there.to_csv()
    weights = nf.metrics.boundary_weights(made(b), labels=[1, 2])
    assert type(weights) is type(made(b))
    np.testing.assert_array_equal(np.asarray(weights), nf.metrics.boundary_weights(b, labels=[1, 2]))


@pytest.mark.parametrize("spacing", SPACINGS)
def test_boundary_weights(spacing):
    _, b = blobs(9)
    target = np.stack([b, np.zeros_like(b), np.ones_like(b)])
    weights = nf.metrics.boundary_weights(target, labels=[1, 3], spacing=spacing, batch_axes=1, dtype="float64")
    assert weights.shape == (3, 2, *b.shape)
    for k, label in enumerate((1, 3)):
        inside = b == label
        wanted = ndimage.distance_transform_edt(~inside, spacing) - ndimage.distance_transform_edt(inside, spacing)
        np.testing.assert_allclose(weights[0, k], wanted, rtol=1e-13)
    assert not weights[1:].any()
    masks = np.stack([target == 1, target == 3], 1)
    alike = nf.metrics.boundary_weights(masks, spacing=spacing, batch_axes=2, dtype="float64")
    np.testing.assert_array_equal(alike, weights)
    assert nf.metrics.boundary_weights(b, half_cell=True).min() < 0


def test_losses_have_gradients():
    torch = pytest.importorskip("torch")
    _, b = blobs(10)
    target = torch.from_numpy(b.astype(np.int64))[None]
    weights = nf.metrics.boundary_weights(target, labels=range(4), batch_axes=1)
    logits = torch.randn(1, 4, *b.shape, requires_grad=True)
    probabilities = logits.softmax(1)
    boundary = (probabilities * weights).mean()
    truth = torch.nn.functional.one_hot(target, 4).movedim(-1, 1)
    found = nf.metrics.boundary_weights(probabilities.argmax(1), labels=range(4), batch_axes=1)
    hausdorff = ((probabilities - truth) ** 2 * (weights**2 + found**2)).mean()
    (boundary + hausdorff).backward()
    assert not weights.requires_grad and logits.grad.abs().max() > 0
    # The boundary loss is least if the prediction is the truth.
    assert (truth * weights).mean() < boundary


def test_errors_name_the_arguments():
    a, b = blobs(0)
    for words, said in (
        ({"labels": [1, 1]}, "labels has 1 twice"),
        ({"labels": [2**63]}, "labels has"),
        ({"percentile": 101}, "percentile"),
        ({"tolerance": -1}, "tolerance"),
        ({"tolerance": [1] * 17}, "tolerance"),
        ({"spacing": (1, 2)}, "spacing"),
        ({"batch_axes": 3}, "batch_axes"),
        ({"surface": "voxels"}, "surface is 'voxels'"),
        ({"device": "tpu"}, "device"),
        ({"threads": 0}, "threads"),
    ):
        with pytest.raises(ValueError, match=said):
            nf.metrics.surface(a, b, **words)
    for words, said in (({"labels": 3}, "labels is 3"), ({"percentile": "x"}, "percentile is 'x'")):
        with pytest.raises(TypeError, match=said):
            nf.metrics.surface(a, b, **words)
    with pytest.raises(ValueError, match="b has shape"):
        nf.metrics.surface(a, b[1:])
    with pytest.raises(ValueError, match="name the labels"):
        nf.metrics.surface(-a, b)
    with pytest.raises((TypeError, ValueError), match="b has element type float64"):
        nf.metrics.surface(a, b.astype(float))
    with pytest.raises(ValueError, match="labels is empty"):
        nf.metrics.boundary_weights(a, labels=[])
    with pytest.raises(ValueError, match="dtype is int32"):
        nf.metrics.boundary_weights(a, dtype="int32")
    with pytest.raises(ValueError, match="target has 0 axes"):
        nf.metrics.boundary_weights(1)
