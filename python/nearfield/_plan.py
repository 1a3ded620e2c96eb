"""What a call would do, before it runs."""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, is_dataclass
from html import escape
from typing import Any, overload

import numpy as np

from nearfield import _core, effects, metrics
from nearfield._arrays import HOST, Place, check_axes, check_type, framework_of, name_of
from nearfield._basins import h_maxima, h_minima, peaks
from nearfield._call import arguments_named, planned, target
from nearfield._centroidal import centroidal_voronoi, stipple
from nearfield._components import components, remove_small
from nearfield._distance import add_indices, distance_transform, distance_type
from nearfield._esdf import esdf, inflate_costmap
from nearfield._fields import is_several
from nearfield._fill import fill_nearest
from nearfield._geodesic import geodesic, travel_cost
from nearfield._granulometry import balls, granulometry, porosimetry
from nearfield._holes import fill_holes
from nearfield._label import label
from nearfield._medial_axis import medial_axis, reconstruct
from nearfield._mesh import is_mesh
from nearfield._morphology import closing, dilation, erosion, opening
from nearfield._natural_neighbor import natural_neighbor
from nearfield._path import plan_path, roadmap
from nearfield._pores import pore_network
from nearfield._rays import raycast
from nearfield._render import render
from nearfield._request import Border, Indices, Signed, Sites, Spacing, check_flags, request_for, said, threads_of
from nearfield._sdf import sdf
from nearfield._skeleton import skeletonize
from nearfield._skeleton_graph import skeleton_graph
from nearfield._slices import interpolate_slices
from nearfield._split import split
from nearfield._surfaces import isosurface, mesh_distance, offset, voxelize
from nearfield._thickness import local_thickness
from nearfield._untouched import Untouched
from nearfield._voronoi import expand_labels, voronoi
from nearfield._watershed import flood, reconstruct_gray, watershed

_OF_MESHES = (voxelize, mesh_distance, offset)
_AS_GIVEN = (*_OF_MESHES, balls)  # they read their first arguments
_OF_ONE_IMAGE = (plan_path,)  # they read all arguments but the first
_EFFECTS = (
    effects.outline, effects.glow, effects.shadow, effects.bevel, effects.contour, effects.trail, effects.light,
    effects.halftone, effects.pad,
)  # fmt: skip
_ON_HOST = (centroidal_voronoi, stipple, sdf, isosurface, raycast, render, *_EFFECTS, *_OF_MESHES)
_PLANNED = (
    distance_transform, voronoi, expand_labels, erosion, dilation, opening, closing, local_thickness, granulometry,
    porosimetry, balls, medial_axis, reconstruct, skeletonize, skeleton_graph, natural_neighbor, label, components,
    remove_small, watershed, flood, fill_holes, reconstruct_gray, h_maxima, h_minima, peaks, split, metrics.surface,
    fill_nearest, interpolate_slices, pore_network, geodesic, travel_cost, esdf, inflate_costmap, plan_path, roadmap,
    *_ON_HOST,
)  # fmt: skip


@dataclass(frozen=True)
class Pass:
    """One sweep over the grid; axis -1 is a sweep along none."""

    axis: int
    method: str
    tiles: int
    tile_rows: int
    tile_columns: int


@dataclass(frozen=True)
class Plan:
    """Where a call would run, in which steps, with how much memory; printing it gives a table."""

    place: str
    numbers: str
    threads: int
    cells: int
    input_bytes: int
    output_bytes: int
    workspace_bytes: int
    passes: tuple[Pass, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """The first line of the text, and a table of the passes, for notebooks."""
        lines = [f"<tr><th>{'</th><th>'.join(('axis', 'method', 'tiles', 'tile'))}</th></tr>"]
        for each in self.passes:
            cells = (str(each.axis), escape(each.method), str(each.tiles), f"{each.tile_rows}x{each.tile_columns}")
            lines.append(f"<tr><td>{'</td><td>'.join(cells)}</td></tr>")
        return f"<p>{escape(self.text.split(chr(10))[0])}</p><table>{''.join(lines)}</table>"


@overload
def plan(
    image: Any,
    *,
    image_dtype: Any = "uint8",
    spacing: Spacing = None,
    sites: Sites = "zero",
    squared: bool = False,
    signed: Signed = False,
    multilabel: bool = False,
    half_cell: bool = False,
    border: Border = "open",
    max_distance: float | None = None,
    return_distances: bool = True,
    return_indices: Indices = False,
    return_labels: bool = False,
    return_trusted: bool = False,
    dtype: Any = None,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
) -> Plan: ...


@overload
def plan(function: Callable[..., Any], /, *arguments: Any, image_dtype: Any = "uint8", **keywords: Any) -> Plan: ...


def plan(*image: Any, **keywords: Any) -> Plan:
    """What a call with these arguments would do; nothing is computed, no GPU is needed.

    ``plan(image, ...)`` is of `distance_transform`, ``plan(function, image, ...)`` of another function.

    Parameters
    ----------
    function : callable, optional
        Of distances, morphology, thickness, axes and skeletons, components, watersheds, splitting, surface metrics,
        filling, pores, geodesic distances, paths, roadmaps or fields for robots, such as ``nf.opening``; on the CPU
        also of meshes, isosurfaces, rays, pictures, effects, stippling and centroidal diagrams.
    image : array, or tuple of ints
        An image, or the shape of one of type `image_dtype` that need not exist. An array is an image, also one of
        a few integers.
    image_dtype : type, or list of types
        Of images whose shape is given; a list has one for each shape.
    device : {'cpu', 'cuda'}, optional
        Default: where `image` is.
    *arguments, **keywords
        As in the function. Positional tuples of ints are shapes of further images; a mesh is given as it is, and so are
        the centres and the shape of `balls`.

    Returns
    -------
    Plan
        Without what depends on the values of cells, which the passes name, such as basins of a watershed.

    Raises
    ------
    TypeError, ValueError
        As the call would; TypeError for a function that has no plan. RuntimeError: device is 'cuda' and the library has
        no kernels: it was built without CUDA, or opened without a driver and without ``NEARFIELD_KERNELS=1``.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.plan((512, 512, 512)).output_bytes
    536870912
    >>> nf.plan(nf.opening, (512, 512, 512), 3).output_bytes
    134217728
    """
    if image and callable(image[0]) and not hasattr(image[0], "shape"):
        return _plan_of_function(image[0], image[1:], **keywords)
    return _plan_of_distances(*image, **keywords)


def _plan_of_distances(
    image: Any,
    *,
    image_dtype: Any = "uint8",
    spacing: Spacing = None,
    sites: Sites = "zero",
    squared: bool = False,
    signed: Signed = False,
    multilabel: bool = False,
    half_cell: bool = False,
    border: Border = "open",
    max_distance: float | None = None,
    return_distances: bool = True,
    return_indices: Indices = False,
    return_labels: bool = False,
    return_trusted: bool = False,
    dtype: Any = None,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
) -> Plan:
    check_flags(
        squared=squared, return_distances=return_distances, return_labels=return_labels, return_trusted=return_trusted
    )
    shape, element, place = _subject(image, image_dtype)
    request = request_for(
        len(shape),
        spacing=spacing,
        sites=sites,
        signed=signed,
        multilabel=multilabel,
        half_cell=half_cell,
        border=border,
        max_distance=max_distance,
        batch_axes=batch_axes,
    )
    fields: list[tuple[str, str]] = []
    if return_distances:
        field = "squared" if squared else "distance"
        fields.append((field, distance_type(field, dtype, None, shape, request)))
    add_indices(fields, {}, return_indices, None)
    if return_labels:
        fields.append(("label", element))
    if return_trusted:
        fields.append(("trusted", "bool"))
    if not fields:
        raise ValueError(
            "nothing is asked for; give at least one of return_distances, return_indices, return_labels, return_trusted"
        )
    request = request._replace(fields=tuple(fields))
    on_device = target(device, place, "image") >= 0
    with arguments_named("image", {}):
        return _told(planned(_core.Array(0, element, shape), request, None, on_device, threads_of(threads)))


def _told(told: dict[str, Any]) -> Plan:
    return Plan(**{**told, "passes": tuple(Pass(**each) for each in told["passes"])})


# ---- other functions -------------------------------------------------------------------------------------------------

_ONE_AT_A_TIME = threading.Lock()


def _plan_of_function(
    function: Callable[..., Any], arguments: tuple[Any, ...], image_dtype: Any = "uint8", **keywords: Any
) -> Plan:
    """The function takes its steps on arrays that stand for its images, up to the call that would need values."""
    if function not in _PLANNED:
        names = ", ".join(each.__name__ for each in _PLANNED)
        raise TypeError(f"{said(getattr(function, '__name__', function))} has no plan; give one of {names}")
    types = list(image_dtype) if isinstance(image_dtype, list | tuple) else image_dtype
    if function is render and arguments and is_mesh(arguments[0]):
        raise TypeError("render has a plan for volumes only; give a volume, or its shape")
    with _ONE_AT_A_TIME:
        given = arguments[1:] if function in _OF_ONE_IMAGE else ()
        subjects = arguments[: len(arguments) - len(given)]
        images, device = (list(subjects), None) if function in _AS_GIVEN else _stand_ins(subjects, types)
        images += given
        if device is not None and function is not skeleton_graph:
            keywords.setdefault("device", device)
        if function in _ON_HOST and (device or keywords.get("device") or "cpu") != "cpu":
            raise TypeError(f"{function.__name__} has a plan on the CPU only; leave out device, or give 'cpu'")
        first = _shape(images[0]) if images else None
        fields = {name: _stand_in(x) if first is not None and _shape(x) == first else x for name, x in keywords.items()}

        def calls() -> tuple[int, int]:
            Untouched.bytes_made, handed = 0, -1
            with suppress(_core.Planned):
                handed = _bytes(function(*images, **fields))
            return Untouched.bytes_made, handed

        return _told(_core.plan_calls(calls))


def _stand_ins(arguments: tuple[Any, ...], types: Any) -> tuple[list[Any], str | None]:
    """Arguments with images as arrays that are not touched, and the device of the first."""
    made: list[Any] = []
    device = None
    for k, x in enumerate(arguments):
        is_shape = isinstance(x, tuple) and all(hasattr(n, "__index__") and np.ndim(n) == 0 for n in x)
        if not is_shape and k > 0:
            made.append(_stand_in(x) if _shape(x) == made[0].shape else x)
            continue
        if is_shape and types == []:
            raise ValueError("image_dtype has fewer types than there are shapes; give one for each")
        kind = types.pop(0) if isinstance(types, list) and is_shape else types if is_shape else "uint8"
        shape, element, place = _subject(x, kind)
        made.append(Untouched.of(shape, element))
        if k == 0 and place.ordinal >= 0:
            device = f"cuda:{place.ordinal}"
    if not made:
        raise TypeError("no image is given; give one, or its shape, after the function")
    return made, device


def _shape(x: Any) -> Any:
    return tuple(x.shape) if hasattr(x, "shape") and hasattr(x, "dtype") else None


def _stand_in(x: Any) -> Untouched:
    framework = framework_of(x)
    return Untouched.of(framework.shape(x), framework.dtype(x))


def _bytes(answer: Any) -> int:
    if is_dataclass(answer):
        answer = tuple(vars(answer).values())
    return sum(map(_bytes, answer)) if isinstance(answer, tuple) else int(getattr(answer, "nbytes", 0))


def _subject(image: Any, image_dtype: Any) -> tuple[tuple[int, ...], str, Place]:
    element = check_type("image_dtype", name_of(image_dtype, "image_dtype"), "is")
    if is_several(image):
        raise TypeError("image is a list of arrays; give one of them, or its shape")
    if isinstance(image, tuple) and all(hasattr(n, "__index__") for n in image):
        check_axes("image", len(image))
        shape = tuple(map(operator.index, image))
        if min(shape) < 0 or math.prod(shape) >= 2**62:
            raise ValueError(f"image has shape {shape}; give sizes of at least 0 and fewer than 2**62 cells in all")
        return shape, element, HOST
    if isinstance(image, list | tuple) and all(hasattr(n, "__float__") for n in image):
        raise TypeError(
            f"image is a {type(image).__name__} of {len(image)} numbers; give a shape as a tuple of integers, or an "
            "array"
        )
    framework = framework_of(image)
    array = framework.array("image", image)
    check_axes("image", len(framework.shape(array)))
    return framework.shape(array), framework.dtype(array), framework.place(array)
