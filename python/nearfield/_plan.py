"""What a call would do, before it runs."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from html import escape
from typing import Any

from nearfield import _core
from nearfield._arrays import HOST, Place, check_axes, check_type, framework_of, name_of
from nearfield._call import arguments_named, planned, target
from nearfield._distance import add_indices, distance_type
from nearfield._fields import is_several
from nearfield._request import Border, Indices, Signed, Sites, Spacing, check_flags, request_for, threads_of


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
) -> Plan:
    """What `distance_transform` with these arguments would do; nothing is computed, no GPU is needed.

    Parameters
    ----------
    image : array, or tuple of ints
        An image, or the shape of one of type `image_dtype` that need not exist. An array is an image, also one of
        a few integers.
    device : {'cpu', 'cuda'}, optional
        Default: where `image` is.
    **keywords
        As in `distance_transform`.

    Returns
    -------
    Plan

    Raises
    ------
    TypeError, ValueError
        As the call would. RuntimeError: device is 'cuda' and this build has no CUDA.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.plan((512, 512, 512)).output_bytes
    536870912
    """
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
        said = planned(_core.Array(0, element, shape), request, None, on_device, threads_of(threads))
    said["passes"] = tuple(Pass(**each) for each in said["passes"])
    return Plan(**said)


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
