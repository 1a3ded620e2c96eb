"""Odd values for every argument of every public function: an answer, or an error in words that name the argument."""

import inspect

import numpy as np
import pytest

import nearfield as nf
from nearfield import chunks
from nearfield.compat import cc3d, edt

IMAGE = np.array([[0, 1, 1, 0], [2, 2, 0, 3], [0, 0, 3, 3]], np.int32)


class Awkward:
    def __repr__(self):
        raise RuntimeError("no text")


ODD = [
    None, True, False, np.True_, 0, 1, -1, 7, 2**31, 2**40, -(2**40), 2**63, 2**64, 10**400, 10**5000, 0.5, -0.5, 1e39,
    1e400, float("nan"), 1j, "", "x", "zero", "no\0thing", "cuda:" + "9" * 30, "cuda:²", "²", b"zero", bytearray(b"x"),
    (), [], {}, [None], ["1", "2"], ["open"], [1.5], [1, 2], (1, 2, 3), [[1], [2, 3]], {1, 2}, {"a": 1}, object(),
    object, Awkward(), len, np.array(2), np.array("x"), np.array([1, 2]), np.zeros((3, 4)), np.zeros((3, 4), complex),
    np.zeros((3, 4), np.int32), np.empty((0, 4)), np.array([None, 1]), np.float32(2), np.datetime64("2020"),
    np.dtype("U3"), range(3), iter([1, 2]), slice(3), 1e-320,
    2**70 * np.ones(2, object),
]  # fmt: skip

SHARED = {
    nf.components: nf.label,
    nf.remove_small: nf.label,
}
MESH = nf.Mesh([[0, 0, 0], [3, 0, 0], [0, 3, 0], [0, 0, 3]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
NEEDED = {
    nf.voxelize: {"mesh": MESH, "pitch": 1},
    nf.mesh_distance: {"mesh": MESH, "grid": nf.VoxelGrid((3, 3, 3))},
    nf.isosurface: {"field": np.arange(27).reshape(3, 3, 3), "level": 4},
    nf.offset: {"mesh": MESH, "distance": 0.5, "pitch": 0.5},
    nf.remove_small: {"min_size": 2},
    nf.centroidal_voronoi: {"sites": 2},
    nf.stipple: {"n": 2},
    nf.balls: {"centres": [[0, 1], [2, 3]], "radii": 1.5, "shape": (3, 4)},
    nf.porosimetry: {"inlets": IMAGE, "sizes": [1, 2]},
    nf.reconstruct: {"squared": IMAGE},
    nf.reconstruct_gray: {"mask": IMAGE},
    nf.geodesic: {"seeds": [[0, 1]]},
    nf.travel_cost: {"seeds": [[0, 1]]},
    nf.plan_path: {"start": (0, 0), "goals": (0, 3)},
    nf.nav2_clearance_costs: {"inscribed_radius": 0.1},
    nf.flood: {"seeds": [[0, 1]]},
    nf.raycast: {"rays": ([0, 0], [0, 1])},
    nf.sphere_trace: {"rays": ([0, 0], [0, 1])},
    nf.render: {"volume": np.arange(27.0).reshape(3, 3, 3), "width": 9, "height": 9},
    **{each: {"h": 1} for each in (nf.h_maxima, nf.h_minima)},
    nf.fill_nearest: {"missing": 0},
    **{each: {"radius": 1.5} for each in (nf.erosion, nf.dilation, nf.opening, nf.closing)},
}
GRID = chunks.grid((3, 4))
PENCIL = chunks.planes(GRID, IMAGE)
ODD_LENGTHS = (1e308, 1e-308, float("inf"), float("nan"), 0, -1)
NOT_SHARED = {"return_num", "method", "progress", "device", "dtype"}


def cases():
    functions = [getattr(nf, name) for name in nf.__all__]
    others = (nf.info, nf.devices, nf.release_device_memory, nf.read_map, nf.write_map)  # test_paths has files
    for function in functions:
        if not inspect.isfunction(function) or function in others:
            continue
        names = [name for name, each in inspect.signature(function).parameters.items() if each.kind != each.VAR_KEYWORD]
        if function in SHARED:
            more = inspect.signature(SHARED[function]).parameters
            names += [name for name in list(more)[1:] if name not in names and name not in NOT_SHARED]
        for name in names:
            yield pytest.param(function, name, id=f"{function.__name__}-{name}")


@pytest.mark.parametrize(("function", "name"), list(cases()))
def test_odd_values_are_taken_or_refused_in_words(function, name):
    first = next(iter(inspect.signature(function).parameters))
    for value in ODD:
        if name == "count" and isinstance(value, int) and value >= 2**31:  # a caller may mean so many rows
            continue
        if name == "progress" and callable(value):  # its exceptions are its own
            continue
        arguments = {first: IMAGE.copy(), **NEEDED.get(function, {}), name: value}
        try:
            function(**arguments)
        except (TypeError, ValueError, MemoryError, NotImplementedError) as problem:
            text = str(problem)
            assert type(problem).__module__ in ("builtins", "numpy", "numpy.exceptions", "numpy._core._exceptions")
            assert "incompatible function arguments" not in text and "\n" not in text
            named = (
                name.removesuffix("s") in text
                or f"{first} has element type" in text
                or "distances of this grid" in text
            )
            assert named or isinstance(problem, MemoryError), (
                value if not isinstance(value, Awkward | int) else "awkward",
                text,
            )


def test_switches_are_true_false_one_and_zero():
    for switch in (1, 1.0, np.True_, np.array(1), np.float32(1)):
        assert nf.distance_transform([0, 1], squared=switch).dtype == np.uint32
    for switch in (0, 0.0, np.False_, np.array(0)):
        assert nf.distance_transform([0, 1], squared=switch).dtype == np.float32


def test_nine_axes_are_refused_by_the_name_of_the_image():
    nine = np.ones((1,) * 9, np.int32)
    for function, name in (
        *((nf.distance_transform, "image"), (nf.voronoi, "seeds"), (nf.expand_labels, "labels"), (nf.label, "image")),
        *((nf.components, "image"), (nf.relabel, "labels"), (nf.compare, "image"), (nf.plan, "image")),
        *((lambda x: nf.distance_transform(x, return_indices=True), "image"), (edt.edt, "data")),
        (lambda x: nf.distance_transform(x, squared=True), "image"),
        (lambda x: nf.plan(x.shape, return_indices=True), "image"),
    ):
        with pytest.raises(ValueError, match=f"^{name} has 9 axes; give an array of 1 to 8 axes$"):
            function(nine)
    with pytest.raises(ValueError, match="^indices_out has 10 axes; give an array of 1 to 9 axes$"):
        nf.voronoi([1], indices_out=np.zeros((1,) * 10, np.int32))
    eight = np.ones((1,) * 8)
    assert nf.voronoi(eight, indices_out=np.empty((8, *eight.shape), np.int32)).shape == (8, *eight.shape)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (
            nf.plan_path,
            {"obstacles": 0 * IMAGE, "start": (0, 0), "goals": (0, 3), "connectivity": 3},
            "connectivity is 3",
        ),
        (nf.flood, {"image": IMAGE, "seeds": [[0, 1]], "level": float("nan")}, "level is nan"),
        (nf.flood, {"image": IMAGE, "seeds": [[0, 1]], "level": True}, "level is True"),
        (nf.balls, {"centres": [[0, 1]], "radii": "1", "shape": (3, 4)}, "radii is '1'"),
        (nf.balls, {"centres": [[0, 1]], "radii": [b"1"], "shape": (3, 4)}, "radii is "),
        (nf.balls, {"centres": [[0, 1]], "radii": np.array([1 + 2j]), "shape": (3, 4)}, "radii is "),
        (nf.component_statistics, {"labels": IMAGE, "spacing": 1e200}, "spacing is "),
        (nf.component_statistics, {"labels": IMAGE, "spacing": 1e-200}, "spacing is "),
        (nf.geodesic, {"mask": IMAGE, "seeds": IMAGE, "spacing": (1, 2, 3)}, "spacing has 3 values for 2 axes"),
        (nf.porosimetry, {"mask": IMAGE, "inlets": IMAGE.astype(object)}, "inlets has element type object"),
        (nf.centroidal_voronoi, {"density": 0.0 * IMAGE, "sites": 3}, "density is 0 everywhere"),
        (
            nf.centroidal_voronoi,
            {"density": IMAGE, "sites": 2, "capacities": [1e308] * 2},
            "capacities have an infinite",
        ),
        (nf.distance_transform, {"image": IMAGE, "spacing": np.array([1 + 1j, 2])}, "spacing is "),
        (nf.distance_transform, {"image": IMAGE, "max_distance": np.complex64(2 + 1j)}, "max_distance is "),
        (nf.render, {"volume": np.full((3, 3, 3), 1e300), "threshold": 1}, "volume has values beyond float32"),
        (
            nf.sphere_trace,
            {"field": np.full((3, 3), 1e300), "rays": ([0, 0], [0, 1])},
            "field has values beyond float32",
        ),
        (chunks.grid, {"shape": (-3, 4)}, "shape is -3"),
        (chunks.grid, {"shape": (3.7, 4)}, "shape is 3.7"),
        (chunks.grid, {"shape": ()}, "shape has 0 axes"),
        (chunks.grid, {"shape": (2**40, 2**40)}, "shape is .*fewer than"),
        *((chunks.grid, {"shape": (3, 4), "spacing": odd}, "spacing along axis 0 is ") for odd in ODD_LENGTHS),
        (chunks.planes, {"of": GRID, "slab": IMAGE, "first": -1}, "first is -1"),
        (chunks.planes, {"of": GRID, "slab": IMAGE, "first": 1}, "first is 1 and slab has 3 planes"),
        (chunks.lines, {"of": GRID, "pencil": PENCIL, "limit": float("nan")}, "limit is nan"),
        (chunks.lines, {"of": GRID, "pencil": PENCIL, "limit": -1}, "limit is -1"),
        (chunks.lines, {"of": GRID, "pencil": PENCIL, "start": (0,)}, "start has 1 values for 2 axes"),
        (chunks.distance, {"of": GRID, "field": PENCIL.squared.astype(float)}, "field has element type float64"),
        (chunks.distance, {"of": GRID, "field": PENCIL.squared, "dtype": "complex64"}, "dtype is complex64"),
        (
            chunks.distance,
            {"of": GRID, "field": PENCIL.squared, "out": np.zeros((3, 4), int)},
            "out has element type int64",
        ),
        (chunks.distance, {"of": GRID, "field": PENCIL.squared, "out": np.zeros((3, 1))}, "out has shape"),
        (nf.effects.glow, {"field": IMAGE, "blur": 1}, "glow.. got an unexpected keyword argument 'blur'"),
        (nf.effects.decode, {"image": None}, "image is None"),
        (nf.ndimage.find_objects, {"input": 1.5 * IMAGE}, "input has element type float64; give integers"),
    ],
)
def test_values_without_meaning_are_refused(function, arguments, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        function(**arguments)


def test_levels_may_be_arrays_without_axes():
    assert np.array_equal(nf.flood(IMAGE, [[0, 0]], np.array(1)), nf.flood(IMAGE, [[0, 0]], 1))


def test_densities_may_be_tiny():
    tiny, plain = (nf.centroidal_voronoi(scale * np.ones((6, 7)), 3).points for scale in (1e-310, 1))
    assert np.array_equal(tiny, plain)


def test_peers_take_infinite_thresholds_and_threads():
    assert not cc3d.dust(IMAGE, threshold=float("inf"), connectivity=4).any()
    assert np.array_equal(cc3d.dust(IMAGE, threshold=-float("inf"), connectivity=4), IMAGE)
    assert np.array_equal(edt.edt(IMAGE, parallel=float("inf")), edt.edt(IMAGE))
    with pytest.raises(cc3d.DimensionError):
        cc3d.estimate_provisional_labels(1)


@pytest.mark.parametrize("path", [True, 0, 1, np.int8(1), 0.5])
def test_tables_are_not_written_to_descriptors(path):
    labels = nf.label(IMAGE)
    tables = (
        nf.component_statistics(labels),
        nf.contacts(labels),
        nf.skeleton_graph(IMAGE > 0),
        nf.pore_network(IMAGE > 0),
    )
    for write in (*(table.to_csv for table in tables), tables[2].to_swc):
        with pytest.raises(TypeError, match="os.PathLike"):
            write(path)
    assert nf.contacts([[1, 1, 2]]).to_csv() == "label_a,label_b,pairs,area\n1,2,1,1\n"
