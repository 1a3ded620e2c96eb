# The compiled part; tests/python/test_package.py holds it against the module.
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
def order_after(ordinal: int, later: int, earlier: int) -> None: ...
def run_on_host(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    weights: Array | None,
    threads: int,
    progress: Callable[[float], object] | None,
) -> None: ...
def run_on_stream(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    weights: Array | None,
    ordinal: int,
    stream: int,
) -> None: ...
def run_staged(
    image: Array, out: tuple[Array | None, ...], options: Options, weights: Array | None, ordinal: int
) -> None: ...
def plan(
    image: Array,
    out: tuple[Array | None, ...],
    options: Options,
    weights: Array | None,
    on_device: bool,
    threads: int,
) -> dict[str, Any]: ...
def chamfer(
    image: Array,
    distance: Array | None,
    coordinates: Array | None,
    weights: Sequence[int],
    first_found: bool,
    threads: int,
) -> None: ...
def squared_distance_type(shape: Sequence[int], options: Options) -> str: ...
def query_system() -> dict[str, Any]: ...
def release_device_memory() -> None: ...
