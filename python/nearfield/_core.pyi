# The compiled part; tests/package/test_package.py holds it against the module.
# It is over 400 lines because it is one module.
from collections.abc import Callable, Sequence
from typing import Any

version: str

class Array:
    def __init__(
        self,
        data: int,
        dtype: str,
        shape: Sequence[int],
        strides: Sequence[int] | None = None,
        owner: object | None = None,
    ) -> None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def data(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...

class Options:
    def __init__(
        self,
        spacing: Sequence[float],
        sites: str,
        sign: str,
        half_cell: bool,
        border: Sequence[str],
        max_distance: float,
        batch_axes: int,
    ) -> None: ...

class LabelOptions:
    def __init__(
        self,
        connectivity: int,
        criterion: str,
        tolerance: int | float,
        background: int | float | None,
        channels: bool,
        norm: str,
        periodic: Sequence[bool],
        batch_axes: int,
        steps: Sequence[int],
        smallest: int,
        largest: int,
        keep_largest: int,
        clear_border: bool,
    ) -> None: ...

class Place:
    def __init__(self, ordinal: int, stream: int, threads: int) -> None: ...

class Basins:
    def __init__(
        self,
        image: Array,
        mask: Array | None,
        options: WatershedOptions,
        ordinal: int,
        stream: int,
        threads: int,
        progress: object,
    ) -> None: ...
    def extrema(self, h: float, roots: bool) -> bytes: ...
    def peaks(self, h: float, roots: bool, shape: Sequence[int]) -> bytes: ...
    def mark(self, out: Array, h: float, roots: bool, ordinal: int, stream: int, threads: int) -> None: ...
    def watershed(
        self,
        markers: Array | None,
        label: Array | None,
        passes: Array | None,
        options: WatershedOptions,
        ordinal: int,
        stream: int,
        threads: int,
    ) -> None: ...
    def extinctions(self, by: int, roots: bool) -> bytes: ...
    def cut(
        self,
        out: Array,
        by: int,
        least: float,
        regions: int,
        roots: bool,
        ordinal: int,
        stream: int,
        threads: int,
    ) -> None: ...
    def passes(self, a: Sequence[int], b: Sequence[int]) -> list[float]: ...

class SplitOptions:
    def __init__(self, options: Options, method: int, h: float | None, smallest: int) -> None: ...

class WatershedOptions:
    def __init__(
        self, options: Options, connectivity: int, maxima: bool, lines: bool, h: float, roots: bool
    ) -> None: ...

class PoreNetwork:
    def pores(self) -> bytes: ...
    def throats(self) -> bytes: ...
    def csv(self) -> str: ...

class PropagationOptions:
    def __init__(
        self, links: bool, neighbours: bool, masters: bool, hooked: bool, gather_length: int, most_rounds: int
    ) -> None: ...

class DeviceMemory:
    def __init__(self, ordinal: int, bytes: int) -> None: ...
    @property
    def data(self) -> int: ...

class StreamMark:
    def __init__(self, ordinal: int, stream: int) -> None: ...
    def passed(self) -> bool: ...

def array_of(capsule: Any) -> Array: ...
def device_array(memory: DeviceMemory, shape: Sequence[int], dtype: str, ordinal: int) -> Any: ...
def device_of(data: int) -> int: ...
def own_stream(ordinal: int) -> int: ...
def xla_targets() -> list[tuple[str, str, object]]: ...
def order_after(ordinal: int, later: int, earlier: int) -> None: ...
def run_on_host(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    weights: Array | None,
    threads: int,
    progress: Callable[[float], object] | None,
    more: list[tuple[Array, tuple[Array | None, ...]]],
    bounds: Array | None = None,
    where: tuple[Any, ...] = (),
) -> None: ...
def run_on_stream(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    weights: Array | None,
    ordinal: int,
    stream: int,
    more: list[tuple[Array, tuple[Array | None, ...]]],
    bounds: Array | None = None,
    where: tuple[Any, ...] = (),
) -> None: ...
def run_method_on_host(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    method: str,
    threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
def run_method_on_device(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    method: str,
    ordinal: int,
    stream: int,
    staged: bool,
) -> dict[str, Any]: ...
def compare_sites(
    image: Array, index: Array, error: Array | None, options: Options, threads: int
) -> dict[str, Any]: ...
def method_text(method: str) -> str: ...
def run_staged(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    weights: Array | None,
    ordinal: int,
    bounds: Array | None = None,
    where: tuple[Any, ...] = (),
) -> None: ...
def plan(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    weights: Array | None,
    on_device: bool,
    threads: int,
) -> dict[str, Any]: ...

class Planned(BaseException): ...

def plan_calls(calls: Callable[[], tuple[int, int]]) -> dict[str, Any]: ...
def chamfer(
    image: Array,
    distance: Array | None,
    coordinates: Array | None,
    weights: Sequence[int],
    first_found: bool,
    threads: int,
) -> None: ...
def pass_along(
    squared: Array,
    site: Array | None,
    label: Array | None,
    axis: int,
    spacing: float,
    periodic: bool,
    grid: Sequence[int],
    half_cell: bool,
    ordinal: int,
    stream: int,
    threads: int,
) -> None: ...
def every_cell_has_site(field: Array, ordinal: int, stream: int, threads: int) -> bool: ...
def chunk_faces(
    labels: Array,
    count: int,
    start: Sequence[int],
    size: Sequence[int],
    grid: Sequence[int],
    ordinal: int,
    stream: int,
    threads: int,
) -> tuple[list[int], bytes, bytes, bytes]: ...
def merge_chunks(
    faces: Sequence[tuple[Sequence[int], Sequence[int], Array, Array, Array]], chunks: Sequence[int]
) -> tuple[list[bytes], int]: ...
def joined_sets(count: int, a: Array, b: Array) -> bytes: ...
def renumber(labels: Array, numbers: Array, out: Array, ordinal: int, stream: int, threads: int) -> None: ...
def window_halo(limit: float, spacing: Sequence[float], rank: int) -> list[int]: ...
def skeletonize(
    image: Array,
    anchors: Array | None,
    out: Array,
    options: Options,
    keep: str,
    faces: bool,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def skeleton_graph(
    cells: Array,
    values: Array | None,
    axes: int,
    shape: Sequence[int],
    spacing: Sequence[float],
    wraps: Sequence[bool],
    rule: int,
    bound: float,
) -> tuple[bytes, bytes, bytes, bytes]: ...
def skeleton_text(
    cells: Array,
    values: Array | None,
    axes: int,
    shape: Sequence[int],
    spacing: Sequence[float],
    wraps: Sequence[bool],
    swc: bool,
) -> str: ...
def fill_nearest(
    image: Array,
    missing: Array,
    out: Array,
    options: Options,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def interpolate_slices(
    labels: Array,
    axis: int,
    positions: Sequence[tuple[int, int]],
    out: Array,
    options: Options,
    drawn: Sequence[int],
    align: bool,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def network_of_regions(
    regions: Array,
    squared: Array,
    options: Options,
    connectivity: int,
    boundaries: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> PoreNetwork: ...
def label_on_host(
    image: Array,
    label: Array | None,
    count: Array | None,
    make_tables: Callable[[int], tuple[Array | None, ...]] | None,
    options: LabelOptions,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def label_on_stream(
    image: Array,
    label: Array | None,
    images: int,
    make_tables: Callable[[int], tuple[Array | None, ...]] | None,
    options: LabelOptions,
    ordinal: int,
    stream: int,
) -> list[int]: ...
def label_staged(
    image: Array,
    label: Array | None,
    count: Array | None,
    make_tables: Callable[[int], tuple[Array | None, ...]] | None,
    options: LabelOptions,
    ordinal: int,
) -> None: ...
def link_bit(step: Sequence[int]) -> int: ...
def label_type(shape: Sequence[int], options: LabelOptions) -> str: ...
def component_statistics(labels: Array, tables: tuple[Array | None, ...], place: Place) -> None: ...
def component_statistics_of_all(
    labels: Array, make_tables: Callable[[int], tuple[Array | None, ...]], place: Place
) -> None: ...
def label_list_offsets(labels: Array, offsets: Array, runs: bool, place: Place) -> None: ...
def label_lists(labels: Array, offsets: Array, entries: Array, runs: bool, place: Place) -> None: ...
def relabel(labels: Array, out: Array, counted: bool, place: Place) -> int: ...
def remove_small(
    image: Array,
    out: Array,
    smallest: int,
    options: LabelOptions,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def contacts(labels: Array, connectivity: int, spacing: Sequence[float], place: Place) -> Any: ...
def shape_measures(labels: Array, rows: int, spacing: Sequence[float], place: Place) -> bytes: ...
def label_by_propagation(
    image: Array, out: Array, options: LabelOptions, propagation: PropagationOptions, place: Place
) -> dict[str, Any]: ...
def medial_axis(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    method: int,
    pruning: int,
    gamma: float,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def natural_neighbor(
    values: Array,
    known: Array | None,
    out: Array,
    options: Options,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def step_distance(
    image: Array,
    out: Array,
    options: Options,
    diagonal: bool,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def raycast(
    mask: Array,
    origins: Array,
    directions: Array,
    cells: Array,
    faces: Array,
    entry: Array,
    steps: Array,
    skips: int,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def sphere_trace(
    field: Array,
    origins: Array,
    directions: Array,
    entry: Array,
    normals: Array,
    steps: Array,
    options: Options,
    level: float,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def sphere_trace_camera(
    field: Array,
    camera: list[float],
    entry: Array,
    normals: Array,
    steps: Array,
    options: Options,
    level: float,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def render(
    volume: Array,
    picture: Array,
    options: Options,
    numbers: list[float],
    colormap: bytes,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def camera_for(shape: list[int], options: Options, turn: float, elevation: float, aspect: float) -> list[float]: ...
def sdf(
    image: Array,
    out: Array,
    options: Options,
    radius: float,
    cutoff: float,
    supersample: int,
    antialias: bool,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def effect(
    field: Array,
    out: Array,
    options: Options,
    name: str,
    numbers: list[float],
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def pad(
    image: Array,
    known: Array | None,
    out: Array,
    options: Options,
    radius: float,
    least: float,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def paint(canvas: Array, layer: Array, colour: str, strength: float, how: int, threads: int) -> None: ...
def decode(image: Array, canvas: Array, threads: int) -> None: ...
def encode(canvas: Array, image: Array, threads: int) -> None: ...
def compare_surfaces(
    a: Array,
    b: Array,
    labels: Sequence[int],
    options: Options,
    elements: bool,
    percentiles: Sequence[float],
    tolerances: Sequence[float],
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> tuple[bytes, bytes]: ...
def reconstruct(
    axis: Array,
    squared: Array,
    out: Array,
    options: Options,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def watershed(
    image: Array,
    markers: Array | None,
    mask: Array | None,
    label: Array | None,
    passes: Array | None,
    extrema: Array | None,
    options: WatershedOptions,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...

class GeodesicOptions:
    def __init__(
        self,
        options: Options,
        axes: int,
        prices: Sequence[int],
        knights: bool,
        reach: int,
        lengths: Sequence[float],
        per_unit: float,
        both: bool,
        cut_corners: bool,
        max_cost: float,
        unit: float,
    ) -> None: ...

def geodesic(
    mask: Array,
    seeds: Array,
    cost: Array | None,
    distance: Array | None,
    coordinates: Array | None,
    label: Array | None,
    options: GeodesicOptions,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...

class Roadmap:
    @staticmethod
    def of(
        obstacles: Array,
        options: Options,
        radius: float,
        ordinal: int,
        stream: int,
        staged: bool,
        threads: int,
        progress: Callable[[float], object] | None,
    ) -> Roadmap: ...
    def nodes(self) -> list[int]: ...
    def radii(self) -> list[float]: ...
    def roads(self) -> tuple[bytes, bytes, bytes, bytes]: ...
    def find(
        self, start: Sequence[int], goal: Sequence[int], smooth: bool
    ) -> tuple[bytes, float, float, int, bool, str, int, int, list[int]]: ...

def read_map(path: str) -> tuple[bytes, int, int, float, list[float]]: ...
def write_map(path: str, costs: bytes, rows: int, columns: int, resolution: float, origin: Sequence[float]) -> None: ...
def plan_path(
    obstacles: Array,
    starts: Sequence[int],
    goals: Sequence[int],
    options: Options,
    radius: float,
    objective: int,
    connectivity: int,
    weight: float,
    decay: float,
    costs: Sequence[tuple[float, float]],
    smooth: bool,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> list[tuple[bytes, float, float, int, bool, str, int, int, list[int]]]: ...
def nav2_clearance_costs(
    resolution: float, inscribed_radius: float, inflation_radius: float, cost_scaling_factor: float, weight: float
) -> list[tuple[float, float]]: ...

class RepeatedCall:
    def __init__(self) -> None: ...

def esdf(
    occupancy: Array,
    distance: Array,
    site: Array,
    gradient: Array,
    options: Options,
    negative_inside: bool,
    first: Sequence[int],
    end: Sequence[int],
    repeated: RepeatedCall,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def inflate_costmap(
    costmap: Array,
    out: Array,
    resolution: float,
    inscribed_radius: float,
    inflation_radius: float,
    cost_scaling_factor: float,
    inflate_unknown: bool,
    around_unknown: bool,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def centroidal_voronoi(
    density: Array,
    sites: Array,
    moved: Array,
    weights: Array,
    energy: Array,
    labels: Array | None,
    options: Options,
    rounds: int,
    relax: float,
    tolerance: float,
    supersample: int,
    ordinal: int,
    stream: int,
    there: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def capacity_voronoi(
    density: Array,
    sites: Array,
    capacities: Array,
    options: Options,
    rounds: int,
    relax: float,
    supersample: int,
    ordinal: int,
    threads: int,
    progress: Callable[[float], object] | None,
) -> tuple[bytes, bytes, bytes, bytes, bytes, float, float, bool]: ...
def stipple(
    image: Array,
    points: int,
    size: float,
    lbg: bool,
    rounds: int,
    seed: int,
    invert: bool,
    supersample: int,
    options: Options,
    ordinal: int,
    stream: int,
    there: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> tuple[bytes, bytes, bytes, int, int]: ...
def peaks(
    image: Array,
    mask: Array | None,
    labels: Array | None,
    options: WatershedOptions,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> bytes: ...
def sorted_peaks(rows: bytes, shape: Sequence[int], apart: float, ordinal: int, stream: int) -> bytes: ...
def gray_objects(image: Array, mask: Array, options: SplitOptions, dark: bool, threads: int) -> SplitOptions: ...
def threshold_otsu(image: Array, threads: int) -> float: ...
def split(
    mask: Array,
    out: Array,
    options: SplitOptions,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def reconstruct_gray(
    seed: Array,
    image: Array,
    out: Array,
    options: WatershedOptions,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def thickness(
    image: Array,
    inlets: Array | None,
    thickness: Array | None,
    squared: Array | None,
    options: Options,
    sizes: Sequence[float],
    balls: bool,
    connectivity: int,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def squared_distance_type(shape: Sequence[int], options: Options) -> str: ...
def require_memory(bytes: int, what: str) -> None: ...
def field_memory(bytes: int) -> Any: ...
def query_system() -> dict[str, Any]: ...
def release_device_memory() -> None: ...
def read_mesh(data: bytes, path: str) -> tuple[Any, Any]: ...
def mesh_bytes(
    vertices: Array,
    faces: Array,
    path: str,
    text: bool,
    values: Array | None,
    name: str,
    low: float,
    high: float,
) -> bytes: ...
def measure_mesh(vertices: Array, faces: Array) -> tuple[bool, int, int, float, float]: ...
def grid_around(
    vertices: Array, faces: Array, pitch: float, shape: Sequence[int], by_shape: bool, margin: int
) -> tuple[list[int], list[float], list[float]]: ...
def voxelize(
    vertices: Array,
    faces: Array,
    out: Array,
    origin: Sequence[float],
    pitch: Sequence[float],
    solid: bool,
    surface: bool,
    winding: bool,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def mesh_distance(
    vertices: Array,
    faces: Array,
    distance: Array,
    triangle: Array | None,
    origin: Sequence[float],
    pitch: Sequence[float],
    is_signed: bool,
    winding: bool,
    max_distance: float,
    samples: bool,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def isosurface(
    field: Array,
    level: float,
    origin: Sequence[float],
    spacing: Sequence[float],
    below: bool,
    closed: bool,
    dual: bool,
    ordinal: int,
    stream: int,
    staged: bool,
    threads: int,
    progress: Callable[[float], object] | None,
) -> tuple[Any, Any]: ...
def offset(
    vertices: Array,
    faces: Array,
    distance: float,
    pitch: float,
    voxels: bool,
    sharp: bool,
    hollow: bool,
    winding: bool,
    ordinal: int,
    threads: int,
    progress: Callable[[float], object] | None,
) -> tuple[tuple[Any, Any], float, float, bytes]: ...
