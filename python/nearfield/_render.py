"""Pictures of volumes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._camera import Camera, Triple, triple_of, view_of
from nearfield._dispatch import workplace_of
from nearfield._mesh import Mesh, is_mesh, mesh_of
from nearfield._progress import Progress
from nearfield._rays import as_floats
from nearfield._request import (
    Request,
    Spacing,
    check_flags,
    count_of,
    flag_of,
    items_of,
    length_of,
    not_taken,
    said,
    spacing_of,
    word_of,
)
from nearfield._run_at import RunAt, filled
from nearfield._surfaces import VoxelGrid, mesh_distance
from nearfield._traced import refuse_traced
from nearfield._workplace import Workplace

_MODES = ("surface", "volume", "isolines")


def render(
    volume: Any,
    camera: Camera | None = None,
    *,
    mode: Literal["surface", "volume", "isolines"] = "surface",
    threshold: float | None = None,
    distance: bool = False,
    spacing: Spacing = None,
    width: int = 800,
    height: int = 600,
    light: Triple | None = None,
    shadows: float = 0.8,
    ambient: float = 0.7,
    color: Triple = (0.86, 0.82, 0.76),
    background: Triple = (1.0, 1.0, 1.0),
    colormap: Any = None,
    low: float | None = None,
    high: float | None = None,
    opacity: float = 0.1,
    transfer: Sequence[tuple[float, Triple, float]] | None = None,
    interval: float | None = None,
    samples: int = 1,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Renders a volume or a mesh: its surface with soft shadows, a cloud, or a cut with isolines.

    Parameters
    ----------
    volume : array of 3 axes, or a mesh
        A mask, gray values, or a distance field. Bool, uint8 and float32 are used as they are, others as float32; on
        the CPU or a GPU. Of a mesh, also one of trimesh, PyVista or VTK, the surface is drawn, by its exact distances
        on a grid of 256 cells along the longest side, with z up; for other grids see `mesh_distance`.
    camera : Camera, optional
        Camera of the picture. Default: ``Camera.fit``, which shows the whole volume. Beside a mesh its positions are
        z, y and x of the mesh's space.
    mode : {'surface', 'volume', 'isolines'}
        'surface' draws the surface on which the volume has the value `threshold`. 'volume' draws all values above it as
        a cloud in the colours of the map. 'isolines' draws a cut across the axis that faces the camera most, with
        values and their isolines.
    threshold : float, optional
        Value of the surface, and least value of a cloud. Default: 0.5 for masks, 0 for distance fields, else halfway
        between least and largest value.
    distance : bool
        The volume is a distance field in units of `spacing`: values below the threshold are inside, and rays skip as
        far as values allow. Else values of at least the threshold are inside.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis. Default: 1.
    width, height : int
        Size of the picture in pixels.
    light : 3 floats, optional
        Direction towards the light, in array order. Default: from above the camera's left shoulder.
    shadows, ambient : float
        Darkness of shadows and of corners, 0 to 1. 0 for both saves the distance field that they take.
    color, background : 3 floats
        Colour of the surface and of the background: red, green and blue, 0 to 1.
    colormap : (256, 3) array of uint8, or function, optional
        Colours of clouds and cuts. A function gets 256 numbers from 0 to 1, as matplotlib's do. Default:
        black to white.
    low, high : float, optional
        Values at the ends of the map. Default: the least (in a cloud the threshold) and the largest one.
    opacity : float
        Opacity of a cell whose value is `high`, in a cloud; it rises evenly from `threshold`.
    transfer : sequence of (value, color, opacity), optional
        Transfer function of a cloud: 2 to 32 points with ascending values, between which colours and opacities are
        linear. The ends hold beyond the ends; two points at one value make a step. Colours are triples from 0 to 1.
        Opacities, from 0 to 1, are those of a way as long as a cell's narrowest side. It takes the place of
        `threshold`, `colormap`, `low`, `high` and `opacity`. Rays skip the parts whose opacity is 0.
    interval : float, optional
        Distance between isolines, in values. Default: a sixteenth of the range from `low` to `high`.
    samples : int
        Number of rays a pixel along each side, 1 to 8.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array
        Picture as uint8 of shape ``(height, width, 3)``, of the volume's kind and on its device.

    Notes
    -----
    Between the cells' centres the volume is linear along each axis. Shadows and ambient light are measured on the exact
    distance to the surface. The CPU and GPUs give the same bytes, with any number of threads; see render.hpp.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> z, y, x = np.indices((32, 32, 32)) - 15.5
    >>> nf.render(x * x + y * y + z * z < 150, width=120, height=90).shape
    (90, 120, 3)
    """
    refuse_traced("volume", volume)
    check_flags(distance=distance)
    if is_mesh(volume):
        if mode != "surface" or distance or threshold is not None or spacing is not None:
            raise ValueError("volume is a mesh; leave out mode, distance, threshold and spacing, or give a field of it")
        volume, spacing, camera = _field_of(mesh_of(volume), camera, device, threads)
        threshold = 0
    work = workplace_of("volume", volume)
    if len(work.shape) != 3:
        raise ValueError(f"volume has {len(work.shape)} axes; give one of 3")
    request = Request((), spacing_of(spacing, 3, 0))
    columns, rows = count_of("width", width, 1, 2**20), count_of("height", height, 1, 2**20)
    if camera is None:
        camera = Camera.fit(work.shape, spacing=spacing, aspect=columns / rows)
    elif not isinstance(camera, Camera):
        raise TypeError(f"camera is {said(camera)}; give a nearfield.Camera")
    how = _MODES.index(word_of("mode", mode, _MODES))
    points: list[float] = []
    if transfer is not None:
        points = _points_of(transfer, how, threshold, colormap, low, high)
        threshold, low, high = 0.0, 0.0, 1.0
    numbers = [how, *view_of(camera), *_values_of(work, how, bool(flag_of("distance", distance)), threshold, low, high)]
    last, first = numbers.pop(), numbers.pop()
    numbers += [*triple_of("light", light), 0] if light is not None else [0.0, 0.0, 0.0, 1]
    numbers += [length_of("shadows", shadows), length_of("ambient", ambient)]
    numbers += [*triple_of("color", color), *triple_of("background", background)]
    numbers += [first, last, length_of("opacity", opacity)]
    numbers += [abs(last - first) / 16 or 1.0 if interval is None else length_of("interval", interval)]
    numbers += [count_of("samples", samples, 1, 8), *points]
    if work.dtype not in ("bool", "uint8", "float32"):
        work = workplace_of("volume", as_floats(work))
    slot = work.empty((rows, columns, 3), "uint8")
    where = RunAt(work, device, threads, progress)
    table = _map_of(colormap)

    def call(read: _core.Array, to: _core.Array) -> None:
        _core.render(read, to, request.options(), [float(each) for each in numbers], table, *where.place())

    return filled(work, slot, where, call)


def _field_of(
    mesh: Mesh, camera: Camera | None, device: str | None, threads: int | None
) -> tuple[Any, float, Camera | None]:
    """Distances near a mesh, positive inside, with axes z, y and x; their pitch; the camera in their space."""
    pitch = VoxelGrid.around(mesh, shape=256, margin=8).spacing[0]
    grid = VoxelGrid.around(mesh, pitch, margin=8)
    reach = 6 * pitch  # normals look four cells away along each axis
    is_open = mesh.open_edges > 0
    field = mesh_distance(mesh, grid, signed=True, winding=is_open, max_distance=reach, device=device, threads=threads)
    if isinstance(camera, Camera):
        eye, target = (tuple(np.subtract(each, grid.origin[::-1])) for each in (camera.eye, camera.target))
        camera = replace(camera, eye=eye, target=target)
    inside = np.clip(-field, -reach, reach)
    if is_open:  # its faces are sheets, which may have no inside
        inside = np.maximum(inside, 0.75 * pitch - np.abs(inside), dtype=inside.dtype)
    return np.ascontiguousarray(inside.T), pitch, camera


def _points_of(transfer: Any, how: int, *others: Any) -> list[float]:
    if how != 1 or any(each is not None for each in others):
        raise ValueError("transfer goes with mode='volume', without threshold, colormap, low and high")
    numbers: list[float] = []
    for point in items_of(transfer) or (None,):
        each = items_of(point)
        if each is None or len(each) != 3:
            raise not_taken("transfer", transfer, "triples of a value, a color and an opacity")
        numbers += [length_of("transfer", each[0]), *triple_of("transfer", each[1]), length_of("transfer", each[2])]
    return numbers


def _values_of(
    work: Workplace, how: int, distance: bool, threshold: float | None, low: float | None, high: float | None
) -> list[float]:
    """Returns the threshold, whether the volume is a distance field, and the map's ends."""
    least = most = None
    if work.dtype == "bool":
        least, most = 0.0, 1.0
    elif threshold is None and not distance or (how != 0 and (low is None or high is None)):
        least, most = _ends_of(work.array)
    if threshold is not None:
        at = length_of("threshold", threshold)
    else:
        at = 0.0 if distance else 0.5 * ((least or 0.0) + (most or 0.0))
    first = at if how == 1 else least
    start = length_of("low", low) if low is not None else 0.0 if first is None else first
    end = length_of("high", high) if high is not None else 1.0 if most is None else most
    return [at, float(distance), start, end]


def _ends_of(array: Any) -> tuple[float, float]:
    if 0 in array.shape:
        return 0.0, 1.0
    if isinstance(array, np.ndarray) and array.dtype.kind == "f":
        array = array[np.isfinite(array)]
        if not array.size:
            return 0.0, 1.0
    if hasattr(array, "aminmax"):  # of PyTorch: one pass and one copy for both
        least, most = sys.modules["torch"].stack(array.aminmax()).tolist()
        return float(least), float(most)
    return float(array.min()), float(array.max())


def _map_of(colormap: Any) -> bytes:
    if colormap is None:
        return b""
    table = colormap
    if callable(colormap):
        try:
            table = np.asarray(colormap(np.linspace(0, 1, 256)))
        except Exception as problem:
            raise ValueError(f"colormap was called with 256 numbers and raised {type(problem).__name__}") from None
        if table.dtype.kind == "f":
            table = np.rint(255 * np.clip(table[..., :3], 0, 1)).astype("uint8")
    try:
        table = np.asarray(table)
    except ValueError:
        table = np.empty(0)
    if table.shape != (256, 3) or table.dtype != "uint8":
        raise ValueError(f"colormap has shape {table.shape} of {table.dtype}; give (256, 3) of uint8, or a function")
    return bytes(table.tobytes())
