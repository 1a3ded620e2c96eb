"""Pore networks: by definition, hand cases, tables, refusals."""

import copy
import csv
import io
import math
import pickle

import numpy as np
import pytest
from scipy import ndimage

import nearfield as nf


def blobs(shape, seed, share=0.6, sigma=2.5):
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).random(shape), sigma)
    return noise < np.quantile(noise, share)


def by_definition(regions, squared, spacing):
    """Throats by pairs of cells that share a face: (labels) -> (largest least squared distance, faces by axis)."""
    found = {}
    for axis in range(regions.ndim):
        for p in np.ndindex(*regions.shape):
            q = tuple(at + (k == axis) for k, at in enumerate(p))
            if q[axis] == regions.shape[axis] or 0 in (regions[p], regions[q]) or regions[p] == regions[q]:
                continue
            key = tuple(sorted((int(regions[p]), int(regions[q]))))
            best, faces = found.get(key, (0, [0] * regions.ndim))
            faces[axis] += 1
            found[key] = (max(best, min(squared[p], squared[q])), faces)
    return {
        key: (2 * math.sqrt(best), math.hypot(*(n * math.prod(spacing) / spacing[k] for k, n in enumerate(faces))))
        for key, (best, faces) in found.items()
    }


@pytest.mark.parametrize(("shape", "spacing"), [((40, 50), (1, 1)), ((14, 15, 16), (2, 1, 0.5)), ((60,), (3,))])
def test_network_by_definition(shape, spacing):
    mask = blobs(shape, 4)
    network = nf.pore_network(mask, spacing=spacing)
    squared = nf.distance_transform(mask, squared=True, spacing=spacing, dtype="float64")
    exact = nf.distance_transform(mask, squared=True, spacing=spacing)
    regions = network.regions
    np.testing.assert_array_equal(regions, nf.watershed(exact, mask=mask, maxima=True, h=min(spacing), squared=True))
    count = regions.max()
    assert network["pore.region_label"].tolist() == list(range(1, count + 1)) and count > 2
    largest = ndimage.maximum(squared, regions, range(1, count + 1))
    np.testing.assert_array_equal(network["pore.inscribed_diameter"], 2 * np.sqrt(largest))
    at = np.rint(network["pore.coords"][:, : len(shape)] / spacing).astype(int)
    np.testing.assert_array_equal(squared[tuple(at.T)], largest)
    np.testing.assert_array_equal(network["pore.volume"], np.bincount(regions.flat)[1:] * math.prod(spacing))
    centroid = np.array(ndimage.center_of_mass(mask, regions, range(1, count + 1))) * spacing
    np.testing.assert_allclose(network["pore.geometric_centroid"][:, : len(shape)], centroid, atol=1e-9)
    wanted = by_definition(regions, squared, spacing)
    assert network["throat.conns"].tolist() == [[a - 1, b - 1] for a, b in sorted(wanted)]
    sizes = np.column_stack([network["throat.inscribed_diameter"], network["throat.cross_sectional_area"]])
    np.testing.assert_allclose(sizes, np.reshape([wanted[key] for key in sorted(wanted)], (-1, 2)), rtol=1e-12)
    ends = network["pore.coords"][network["throat.conns"]]
    ways = np.linalg.norm(ends - network["throat.global_peak"][:, None], axis=2)
    np.testing.assert_allclose(network["throat.total_length"], ways.sum(1))
    np.testing.assert_allclose(network["throat.direct_length"], np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1))


def test_two_discs_and_a_neck():
    y, x = np.mgrid[:21, :45]
    mask = ((y - 10) ** 2 + (x - 11) ** 2 <= 49) | ((y - 10) ** 2 + (x - 33) ** 2 <= 49)
    mask |= (abs(y - 10) <= 1) & (x >= 11) & (x <= 33)
    network = nf.pore_network(mask, spacing=2)
    assert network["pore.coords"].tolist() == [[20, 22, 0], [20, 66, 0]]
    assert network["throat.inscribed_diameter"].tolist() == [8]
    assert network["throat.cross_sectional_area"].tolist() == network["throat.equivalent_diameter"].tolist() == [6]
    assert network["throat.total_length"].tolist() == network["throat.direct_length"].tolist() == [44]
    assert network["pore.volume"].sum() == 4 * mask.sum()
    assert repr(network) == "PoreNetwork(2 pores, 1 throat)"
    assert len(nf.pore_network(mask, h=20)["pore.volume"]) == 1


def test_inclined_throats_have_their_area():
    regions = np.ones((30, 30, 30), int)
    z, y, x = np.indices(regions.shape)
    regions[z + y + x > 43] = 2
    network = nf.pore_network(np.ones(regions.shape), regions=regions)
    plane = network["throat.cross_sectional_area"][0]  # a hexagon; its projection along an axis is half a square less
    faces = ((regions[1:] != regions[:-1]).sum(), (regions[:, 1:] != regions[:, :-1]).sum())
    assert plane == pytest.approx(math.sqrt(3) * faces[0]) and faces[0] == faces[1]


def test_boundaries():
    mask = blobs((40, 50), 6)
    inner, network = nf.pore_network(mask), nf.pore_network(mask, boundaries=True, border=("open", "closed"))
    assert "pore.boundary" not in inner
    regions = network.regions
    wanted = [np.unique(side[side > 0]) for side in (regions[0], regions[-1])]
    boundary = network["pore.boundary"]
    assert boundary.sum() == sum(map(len, wanted)) and not boundary[: regions.max()].any()
    for name, labels, at in (("xmin", wanted[0], -0.5), ("xmax", wanted[1], 39.5)):
        rows = np.flatnonzero(network[f"pore.{name}"])
        joined = network["throat.conns"][np.isin(network["throat.conns"][:, 1], rows)]
        assert joined[:, 0].tolist() == (labels - 1).tolist()
        assert (network["pore.coords"][rows, 0] == at).all() and not network["pore.volume"][rows].any()
    assert not network["pore.ymin"].any() and "pore.zmin" not in network


def test_tables_agree():
    pandas = pytest.importorskip("pandas")
    network = nf.pore_network(blobs((14, 15, 16), 5), boundaries=True)
    text = network.to_csv()
    rows = list(csv.DictReader(io.StringIO(text)))
    for name, column in network.items():
        for k, part in enumerate(np.atleast_2d(column.T)):
            cells = [row[name if column.ndim == 1 else f"{name}[{k}]"] for row in rows]
            assert not any(cells[len(part) :])
            own = [cell == "True" if column.dtype == bool else float(cell) for cell in cells[: len(part)]]
            np.testing.assert_array_equal(own, part)
    frames = network.to_pandas()
    read = pandas.read_csv(io.StringIO(text))
    for kind in ("pore", "throat"):
        assert set(frames[kind]) == {name for name in read if name.startswith(kind)}
        assert len(frames[kind]) == len(network["pore.volume" if kind == "pore" else "throat.conns"])
    assert set(dict(network)) == set(network) and len(network) == len(dict(network))


def test_csv_goes_to_a_file(tmp_path):
    network = nf.pore_network(blobs((30, 30), 5))
    assert network.to_csv(tmp_path / "network.csv") is None
    assert (tmp_path / "network.csv").read_text() == network.to_csv()


def test_network_comes_back_from_a_process():
    network = nf.pore_network(blobs((30, 30), 5), boundaries=True)
    for again in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
        assert list(again) == list(network) and all(np.array_equal(again[name], network[name]) for name in network)
        assert again.to_csv() == network.to_csv() and np.array_equal(again.regions, network.regions)
        assert pickle.loads(pickle.dumps(again)).to_csv() == network.to_csv()


def test_periodic_pores_hardly_depend_on_the_origin():
    mask = np.roll(blobs((24, 24), 7), 5, 1)
    network = nf.pore_network(mask, border="periodic")
    moved = nf.pore_network(np.roll(mask, (7, 9), (0, 1)), border="periodic")
    for name in ("pore.volume", "pore.inscribed_diameter", "throat.inscribed_diameter"):
        assert abs(len(network[name]) - len(moved[name])) <= 2
    np.testing.assert_array_equal(network["pore.volume"].sum(), mask.sum())
    assert (network["throat.direct_length"] <= math.hypot(12, 12)).all()


def test_threads_and_layouts_do_not_show():
    mask = blobs((30, 31, 32), 8)
    one = nf.pore_network(mask, threads=1).to_csv()
    assert nf.pore_network(mask, threads=3).to_csv() == one
    assert nf.pore_network(np.asfortranarray(mask.astype("f4"))).to_csv() == one


def test_nothing_there():
    for mask in (np.zeros((3, 4)), np.empty((0, 4))):
        network = nf.pore_network(mask)
        assert repr(network) == "PoreNetwork(0 pores, 0 throats)"
        assert network["pore.coords"].shape == (0, 3)
    solid = nf.pore_network(np.ones((3, 4)))
    assert np.isinf(solid["pore.inscribed_diameter"]).all()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (dict(mask=np.ones((1,) * 4)), "mask has 4 axes"),
        (dict(h=-1), "h is -1"),
        (dict(h="x"), "h is 'x'"),
        (dict(regions=np.ones((2, 2), int)), "regions has shape"),
        (dict(regions=np.ones((3, 4))), "regions has element type float64"),
        (dict(regions=np.full((3, 4), 99)), "regions has label 99"),
        (dict(regions=-np.ones((3, 4), int)), "regions has label -1"),
        (dict(connectivity=3), "connectivity is 3"),
        (dict(boundaries=2), "boundaries is 2"),
        (dict(spacing=0), "spacing"),
        (dict(border="wall"), "border is 'wall'"),
        (dict(device="tpu"), "device is 'tpu'"),
    ],
)
def test_refused(words, says):
    with pytest.raises((TypeError, ValueError), match=says):
        nf.pore_network(**{"mask": np.ones((3, 4)), **words})


def test_openpnm_reads_networks(tmp_path):
    openpnm = pytest.importorskip("openpnm")
    network = nf.pore_network(blobs((24, 24, 24), 3), spacing=2, boundaries=True)
    network.to_csv(tmp_path / "network.csv")
    for read in (
        openpnm.io.network_from_porespy(dict(network)),
        openpnm.io.network_from_csv(str(tmp_path / "network.csv")),
    ):
        assert (read.Np, read.Nt) == (len(network["pore.coords"]), len(network["throat.conns"])) and read.Nt > 5
        for name, column in dict(network).items():
            np.testing.assert_allclose(np.asarray(read[name], float), np.asarray(column, float), err_msg=name)
        health = openpnm.utils.check_network_health(read)
        assert not (health["headless_throats"] or health["looped_throats"] or health["duplicate_throats"])
