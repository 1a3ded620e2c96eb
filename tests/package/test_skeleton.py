"""Skeletons and their graphs: topology, every framework, a slow graph by walking from cell to cell."""

import subprocess
import sys
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import ndimage as scipy_ndimage

import nearfield as nf
from nearfield.compat import skimage as compat


def blobs(shape, seed=1, sigma=2):
    noise = np.random.default_rng(seed).random(shape)
    smooth = scipy_ndimage.gaussian_filter(noise, sigma, mode="wrap")
    return smooth > np.median(smooth)


def everywhere(ndim):
    return np.ones((3,) * ndim)


def parts(cells, structure):
    return scipy_ndimage.label(cells, structure)[1]


@pytest.mark.parametrize("shape", [(60, 80), (20, 24, 28), (50,)])
@pytest.mark.parametrize("keep", ["ends", "isthmuses", None])
def test_topology_stays(shape, keep):
    image = blobs(shape)
    for connectivity in (None, 1):
        skeleton = nf.skeletonize(image, keep=keep, connectivity=connectivity)
        assert skeleton.dtype == bool and not (skeleton & ~image).any()
        inside, outside = everywhere(image.ndim), None
        if connectivity == 1:
            inside, outside = outside, inside
        assert parts(skeleton, inside) == parts(image, inside)
        if image.ndim > 1:
            assert parts(np.pad(skeleton, 1) == 0, outside) == parts(np.pad(image, 1) == 0, outside)


def test_euler_number_stays():
    measure = pytest.importorskip("skimage.measure")
    image = blobs((30, 30, 30))
    for connectivity in (1, 3):
        skeleton = nf.skeletonize(image, connectivity=connectivity)
        assert measure.euler_number(skeleton, connectivity) == measure.euler_number(image, connectivity)


def test_threads_batches_and_spacing():
    image = blobs((3, 40, 50))
    one = nf.skeletonize(image, batch_axes=1, threads=1)
    assert np.array_equal(one, nf.skeletonize(image, batch_axes=1, threads=2))
    assert np.array_equal(one, np.stack([nf.skeletonize(each) for each in image]))
    image = blobs((16, 24, 28))
    volume = nf.skeletonize(image)
    assert np.array_equal(volume, nf.skeletonize(image, spacing=0.7))
    assert not np.array_equal(volume, nf.skeletonize(image, spacing=(3, 1, 1)))


def test_periodic_skeletons_move_with_the_image():
    image = blobs((40, 60))
    skeleton = nf.skeletonize(image, border="periodic")
    moved = nf.skeletonize(np.roll(image, (2, 14), (0, 1)), border="periodic")
    assert np.array_equal(moved, np.roll(skeleton, (2, 14), (0, 1)))


def test_cells_to_keep():
    image = blobs((40, 50))
    held = np.zeros_like(image)
    held[::7, ::7] = True
    for cells in (held, held.astype("uint8"), held.astype("float32") * 3):
        skeleton = nf.skeletonize(image, keep=cells)
        assert (skeleton[held & image]).all()
    assert np.array_equal(nf.skeletonize(image, keep=image), image)
    assert nf.skeletonize(np.pad(np.ones((9, 9)), 1), keep=None).sum() == 1


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_other_frameworks(name):
    framework = pytest.importorskip(name)
    made = framework.from_numpy if name == "torch" else framework.numpy.asarray
    image = blobs((30, 40))
    answer = nf.skeletonize(made(image))
    assert type(answer) is type(made(image))
    assert np.array_equal(np.asarray(answer), nf.skeletonize(image))
    held = blobs((30, 40), 3)
    assert np.array_equal(np.asarray(nf.skeletonize(made(image), keep=made(held))), nf.skeletonize(image, keep=held))
    assert len(nf.skeleton_graph(answer, values=nf.distance_transform(made(image)))) > 0


def test_errors_name_the_arguments():
    image = blobs((5, 6))
    for words, said in (
        ({"keep": "tips"}, "keep"),
        ({"keep": image[1:]}, "keep has shape"),
        ({"connectivity": 5}, "connectivity"),
        ({"border": "shut"}, "border"),
        ({"spacing": (1, 2, 3)}, "spacing"),
        ({"batch_axes": 3}, "batch_axes"),
        ({"device": "tpu"}, "device"),
    ):
        with pytest.raises(ValueError, match=said):
            nf.skeletonize(image, **words)
    with pytest.raises(ValueError, match="axes"):
        nf.skeletonize(np.ones((2, 2, 2, 2)))


def test_scikit_images_signature():
    image = blobs((40, 60))
    skeleton = compat.skeletonize(image)
    assert np.array_equal(skeleton, nf.skeletonize(image)) and skeleton.dtype == bool
    assert np.array_equal(compat.skeletonize(image, method="lee"), skeleton)
    with pytest.raises(ValueError, match="method"):
        compat.skeletonize(image, method="thin")


# ---- graphs ----------------------------------------------------------------------------------------------------------


class Walk:
    """Branches by walking from cell to cell."""

    def __init__(self, skeleton, spacing, wraps):
        self.spacing, self.wraps, self.shape = spacing, wraps, skeleton.shape
        self.cells = [tuple(cell) for cell in np.argwhere(skeleton).tolist()]
        inside = set(self.cells)
        steps = [step for step in product((-1, 0, 1), repeat=skeleton.ndim) if any(step)]
        moved = {c: sorted({self.wrapped(a + b for a, b in zip(c, step)) for step in steps} - {c}) for c in self.cells}
        self.near = {c: [each for each in moved[c] if each in inside] for c in self.cells}
        self.node = {}
        for cell in self.cells:
            if cell in self.node or len(self.near[cell]) == 2:
                continue
            stack = [cell]
            self.node[cell] = cell
            while stack and len(self.near[cell]) > 2:
                for other in self.near[stack.pop()]:
                    if len(self.near[other]) > 2 and other not in self.node:
                        self.node[other] = cell
                        stack.append(other)

    def wrapped(self, cell):
        return tuple(a % n if wraps else a for a, n, wraps in zip(cell, self.shape, self.wraps))

    def length(self, path):
        steps = [[min(abs(a - b), 1) * s for a, b, s in zip(p, q, self.spacing)] for p, q in pairwise(path)]
        return round(sum(float(np.linalg.norm(step)) for step in steps), 6)

    def row(self, path):
        ends = path[0], path[-1]
        kind = sum(len(self.near[end]) > 2 for end in ends)
        return tuple(sorted(self.node[end] for end in ends)), self.length(path), kind

    def branches(self):
        rows, used = [], set()
        for cell in self.node:
            for other in self.near[cell]:
                if (cell, other) in used or (other in self.node and self.node[other] == self.node[cell]):
                    continue
                path = [cell, other]
                while path[-1] not in self.node:
                    path.append(next(each for each in self.near[path[-1]] if each != path[-2]))
                used |= {(cell, other), (path[-1], path[-2])}
                rows.append(self.row(path))
        return sorted(rows)


def rows_of(graph):
    nodes = [tuple(cell) for cell in graph.node_cell.tolist()]
    ends = zip(graph.node_id_src.tolist(), graph.node_id_dst.tolist())
    each = zip(ends, graph.branch_distance.round(6).tolist(), graph.branch_type.tolist())
    return sorted((tuple(sorted((nodes[a], nodes[b]))), length, kind) for (a, b), length, kind in each if kind < 3)


@pytest.mark.parametrize("seed", range(40))
def test_graphs_by_walking(seed):
    ndim = 2 + seed % 2
    spacing = (1.0, 1.0, 1.0)[:ndim] if seed % 3 else (2.0, 0.5, 1.0)[:ndim]
    shape = (30, 40) if ndim == 2 else (9, 10, 11)
    if seed % 4 == 0:
        skeleton = nf.skeletonize(blobs(shape, seed, 1.5))
    else:
        skeleton = np.random.default_rng(seed).random(shape) < (0.12 if ndim == 2 else 0.06)
    wraps = tuple(np.random.default_rng(seed).random(ndim) < 0.5)
    border = ["periodic" if each else "open" for each in wraps]
    graph = nf.skeleton_graph(skeleton, spacing=spacing, border=border)
    assert rows_of(graph) == Walk(skeleton, spacing, wraps).branches()
    graph = nf.skeleton_graph(skeleton, spacing=spacing)
    assert rows_of(graph) == Walk(skeleton, spacing, (False,) * ndim).branches()
    assert graph.to_swc().count("\n") == 1 + skeleton.sum()
    pruned = graph.prune(2.5)
    assert not ((pruned.branch_type == 1) & (pruned.branch_distance < 2.5)).any()
    kept = pruned.to_mask()
    assert parts(kept, everywhere(ndim)) == parts(skeleton, everywhere(ndim))


def test_columns_of_a_graph(tmp_path):
    skeleton = np.array([[1, 0, 0, 0, 1], [0, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0]])
    graph = nf.skeleton_graph(skeleton, values=np.arange(20).reshape(4, 5), spacing=(2, 1))
    assert graph.steps.tolist() == [[0, 2], [0, 2], [1, 0]]
    assert np.allclose(graph.branch_distance, [2 * 5**0.5, 2 * 5**0.5, 2])
    assert graph.mean_value.tolist() == [6, 8, 14.5]
    assert graph.least_value.tolist() == [0, 4, 12] and graph.largest_value.tolist() == [12, 12, 17]
    table = graph.to_dict()
    assert list(table)[:6] == [
        *("skeleton-id", "node-id-src", "node-id-dst", "branch-distance", "branch-type", "mean-pixel-value")
    ]
    assert graph.to_csv().splitlines()[3].startswith("1,2,3,2,1,14.5,12,17,2,2,3,2,4,2,6,2,2,1,0")
    graph.to_csv(tmp_path / "graph.csv")
    assert (tmp_path / "graph.csv").read_text() == graph.to_csv()
    assert graph.to_swc().splitlines()[1] == "1 0 0 0 0 0 -1"
    assert len(graph.prune(ratio=0.3)) == 1 and len(graph.prune(ratio=0.1)) == 3
    with pytest.raises(TypeError, match="length, ratio and angle"):
        graph.prune()
    with pytest.raises(ValueError, match="values"):
        nf.skeleton_graph(skeleton).prune(ratio=1)
    with pytest.raises(ValueError, match="values has shape"):
        nf.skeleton_graph(skeleton, values=[1, 2])


def test_angles_of_branches():
    """Sides are seen under 2 acos(0.9) from the branches up and down, under 2 acos(0.5) from the one to the left."""
    skeleton, radius = np.zeros((21, 24), bool), np.zeros((21, 24))
    skeleton[10, :] = skeleton[5:16, 14] = True
    radius[10] = np.minimum(1 + np.arange(24) / 2, 8)
    radius[5:16, 14] = 8 - 0.9 * np.abs(np.arange(-5, 6))
    graph = nf.skeleton_graph(skeleton, values=radius)
    for angle, left in ((51, 4), (52, 1), (180, 1)):
        assert len(graph.prune(angle=angle)) == left, angle
    with pytest.raises(ValueError, match="angle compares with radii"):
        nf.skeleton_graph(skeleton).prune(angle=60)


def test_graphs_of_periodic_images():
    line = np.zeros((5, 8), bool)
    line[2] = True
    graph = nf.skeleton_graph(line, spacing=2, border=("open", "periodic"))
    assert graph.branch_type.tolist() == [3] and graph.branch_distance.tolist() == [16.0]
    assert graph.euclidean_distance.tolist() == [16.0]  # along the branch: once around
    assert len(nf.skeleton_graph(line[:, :2], border="periodic")) == 1  # two cells touch only once
    samples = nf.skeleton_graph(np.roll(line, 3, 1) & (np.arange(8) != 4), border="periodic").to_swc()
    assert [row.split()[2] for row in samples.splitlines()[1:]] == ["0", "1", "-1", "2", "-2", "3", "-3"]
    with pytest.raises(ValueError, match="border is"):
        nf.skeleton_graph(line, border=("open", "open", "open"))


def test_the_command_line_writes_the_same_graph(tmp_path):
    image = blobs((60, 80))
    np.save(tmp_path / "image.npy", image)
    for suffix, text in (("csv", "to_csv"), ("swc", "to_swc")):
        words = ["skeleton", "image.npy", "--graph", f"graph.{suffix}", "--prune-ratio", "1", "--prune-angle", "60"]
        words += ["--border", "periodic", "-q", "-o", "skeleton.npy"]
        subprocess.run([sys.executable, "-m", "nearfield", *words], cwd=tmp_path, check=True)
        radius = nf.distance_transform(image, border="periodic", dtype="float64")
        skeleton = nf.skeletonize(image, border="periodic")
        graph = nf.skeleton_graph(skeleton, values=radius, border="periodic").prune(ratio=1).prune(angle=60)
        assert (tmp_path / f"graph.{suffix}").read_text() == getattr(graph, text)()
        assert np.array_equal(np.load(tmp_path / "skeleton.npy") > 0, graph.to_mask())


def test_cycles_and_cells_alone():
    ring = np.zeros((5, 9), bool)
    ring[[1, 2, 2, 3], [2, 1, 3, 2]] = True
    ring[2, 7] = True
    graph = nf.skeleton_graph(ring)
    assert graph.branch_type.tolist() == [3] and graph.node_kind.tolist() == [2, 3]
    assert graph.steps.tolist() == [[0, 4]]
    assert len(nf.skeleton_graph(np.zeros((3, 0, 2)))) == 0


def test_graphs_for_networkx_and_pandas():
    graph = nf.skeleton_graph(nf.skeletonize(blobs((40, 50))))
    networkx = pytest.importorskip("networkx")
    made = graph.to_networkx()
    assert isinstance(made, networkx.MultiGraph)
    assert made.number_of_edges() == len(graph) and made.number_of_nodes() == graph.node_kind.size
    pytest.importorskip("pandas")
    assert len(graph.to_pandas()) == len(graph)
