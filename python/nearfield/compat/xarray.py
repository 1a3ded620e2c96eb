"""The native calls on xarray's DataArrays: spacing comes from coordinates; dimensions, coordinates and attributes stay.

>>> import numpy, xarray
>>> from nearfield.compat import xarray as nfx
>>> land = xarray.DataArray(numpy.array([[0, 1, 1, 1]]), dims=("y", "x"), coords={"x": [0.0, 2.5, 5.0, 7.5]})
>>> nfx.distance_transform(land).values
array([[0. , 2.5, 5. , 7.5]], dtype=float32)
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import nearfield
from nearfield._request import items_of, said
from nearfield.compat._images import RETURNED, Opened, fields, library, run, run_components, run_label
from nearfield.compat._shapes import adapted

xr: Any = library("xarray")

Dims = str | Sequence[str]
# The dimension in front of coordinates of sites, labelled with the names of the others.
AXIS = "axis"


def distance_transform(image: Any, *, spacing: Any = None, batch_dims: Dims = (), **keywords: Any) -> Any:
    """`nearfield.distance_transform` of a DataArray, as DataArrays.

    Parameters
    ----------
    image : xarray.DataArray
        Of any array that `nearfield.distance_transform` takes; one of dask is computed first, while the functions of
        `nearfield.dask` take such a DataArray lazily.
    spacing : float, sequence of floats or mapping from dimensions to floats, optional
        A sequence is in the order of the dimensions that are no batch dimensions. What it does not name is the step
        of the dimension's coordinate, which has to be even to a thousandth of a step, or 1 without a coordinate.
    batch_dims : str or sequence of str
        Dimensions that number images, such as 'time' or 'channel', wherever they stand.
    **keywords
        As in `nearfield.distance_transform`, except for `batch_axes` and outputs to be filled. `border` may be a
        mapping from dimensions: ``border={"lon": "periodic"}``.

    Returns
    -------
    xarray.DataArray or tuple of them
        With the dimensions, coordinates, name and attributes of `image`, but the attribute ``units`` of distances is
        that of the coordinates, if they agree on one, and indices have none. Coordinates of sites are positions along
        the dimensions that a new first dimension ``axis`` names; linear ones count in array order.

    Raises
    ------
    TypeError
        Not a DataArray, or a coordinate that is no number, such as a date.
    ValueError
        An uneven coordinate, an unknown dimension, whatever the native call refuses.

    Examples
    --------
    >>> one = xr.DataArray([[0, 1, 1], [1, 1, 0]], dims=("time", "x"), attrs={"source": "a"})
    >>> away = distance_transform(one, batch_dims="time")
    >>> away.values.tolist(), away.dims, away.attrs
    ([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], ('time', 'x'), {'source': 'a'})
    """
    opened = _open(image, spacing, batch_dims, keywords)
    return run(nearfield.distance_transform, opened, None, keywords)


def voronoi(seeds: Any, *, spacing: Any = None, batch_dims: Dims = (), **keywords: Any) -> Any:
    """`nearfield.voronoi` of a DataArray, as DataArrays; parameters and results as in `distance_transform`.

    Examples
    --------
    >>> seeds = xr.DataArray([7, 0, 0, 0, 9], dims="x")
    >>> voronoi(seeds, return_indices=False, return_labels=True).values
    array([7, 7, 7, 9, 9])
    """
    return run(nearfield.voronoi, _open(seeds, spacing, batch_dims, keywords), None, keywords)


def expand_labels(
    labels: Any, distance: float | None = 1, *, spacing: Any = None, batch_dims: Dims = (), **keywords: Any
) -> Any:
    """`nearfield.expand_labels` of a DataArray; `distance` is in units of its coordinates.

    Examples
    --------
    >>> labels = xr.DataArray([7, 0, 0, 0, 9], dims="x", coords={"x": [0, 20, 40, 60, 80]})
    >>> expand_labels(labels, 20).values
    array([7, 7, 0, 9, 9])
    """
    return run(nearfield.expand_labels, _open(labels, spacing, batch_dims, keywords), None, keywords, distance)


def label(image: Any, *, batch_dims: Dims = (), **keywords: Any) -> Any:
    """`nearfield.label` of a DataArray, as one; `periodic` may map dimensions: ``periodic={"lon": True}``.

    Examples
    --------
    >>> ring = xr.DataArray([7, 0, 9, 0, 7], dims="lon")
    >>> label(ring, periodic={"lon": True}).values
    array([1, 0, 2, 0, 1], dtype=int32)
    """
    opened = _open(image, 1.0, batch_dims, keywords)
    _order_periodic(image, batch_dims, keywords)
    return run_label(opened, keywords)


def components(image: Any, *, spacing: Any = None, batch_dims: Dims = (), **keywords: Any) -> Any:
    """`nearfield.components` of a DataArray: the labels as one, and the table, in the units of its coordinates.

    Examples
    --------
    >>> line = xr.DataArray([7, 7, 0, 9], dims="x", coords={"x": [0, 20, 40, 60]})
    >>> components(line).table.centroid
    array([[10.],
           [60.]])
    """
    opened = _open(image, spacing, batch_dims, keywords)
    _order_periodic(image, batch_dims, keywords)
    return run_components(opened, None, keywords)


def run_lazily(function: Any, image: Any, more: Any, keywords: dict[str, Any]) -> Any:
    """A function of `nearfield.dask` of a DataArray over an array of dask, as DataArrays over such."""
    name, spaced = function.__name__, "spacing" in inspect.signature(function).parameters
    spacing = keywords.pop("spacing", None) if spaced else 1.0
    opened = _open(image, spacing, (), keywords, computed=False)
    if name in ("label", "components"):
        _order_periodic(image, (), keywords)
    made = function(opened.array, *more, **({"spacing": opened.spacing} if spaced else {}), **keywords)
    names = {"label": ["components"], "components": ["components"]}.get(name) or (
        fields(name, keywords) if name in RETURNED else ["labels"]
    )
    each = made if isinstance(made, tuple) else (made,)
    back = [opened.back(field, one) for field, one in zip(names, each)] + list(each[len(names) :])
    return tuple(back) if len(back) > 1 else back[0]


def _order_periodic(image: Any, batch_dims: Dims, keywords: dict[str, Any]) -> None:
    """Puts `periodic` of the keywords into array order."""
    periodic = keywords.get("periodic")
    if isinstance(periodic, Mapping):
        _, space = _split(image, batch_dims)
        _known("periodic", periodic, space)
        keywords["periodic"] = tuple(periodic.get(dim, False) for dim in space)


def _open(image: Any, spacing: Any, batch_dims: Dims, keywords: dict[str, Any], computed: bool = True) -> Opened:
    """Puts `border` of the keywords into array order; arrays of dask are computed, or not."""
    if not isinstance(image, xr.DataArray):
        raise TypeError(f"image is {type(image).__name__}; give an xarray.DataArray, such as dataset['mask']")
    if keywords.get("batch_axes"):
        raise TypeError("batch_axes is not taken here; name the dimensions in batch_dims=")
    keywords.pop("batch_axes", None)
    batch, space = _split(image, batch_dims)
    if isinstance(keywords.get("border"), Mapping):
        border = keywords["border"]
        _known("border", border, space)
        keywords["border"] = tuple(border.get(dim, "open") for dim in space)

    def array_of(image: Any) -> Any:
        if not isinstance(image, xr.DataArray):
            return image
        array = image.transpose(*batch, *space).data
        return array.compute() if computed and hasattr(array, "__dask_graph__") else array

    def back(field: str, result: Any) -> Any:
        attrs = _attributes(image, field, space, bool(keywords.get("squared")))
        if field == "coordinates":
            coords = {**image.coords, AXIS: list(space)}
            made = xr.DataArray(result, coords, (AXIS, *batch, *space), name=image.name, attrs=attrs)
            return made.transpose(AXIS, *image.dims)
        made = xr.DataArray(result, image.coords, (*batch, *space), name=image.name, attrs=attrs)
        return made.transpose(*image.dims)

    return Opened(array_of(image), _lengths(image, spacing, space), len(batch), array_of, back)


def _split(image: Any, batch_dims: Dims) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The dimensions that number images, and the others."""
    names = [batch_dims] if isinstance(batch_dims, str) else items_of(batch_dims)
    if names is None:
        raise TypeError(f"batch_dims is {said(batch_dims)}; give the name of a dimension, or a sequence of names")
    _known("batch_dims", names, image.dims)
    batch = tuple(names)
    if len(set(batch)) < len(batch):
        raise ValueError(f"batch_dims is {batch}; name each dimension once")
    space = tuple(dim for dim in image.dims if dim not in batch)
    if not space:
        raise ValueError(f"batch_dims names every dimension, {batch}; leave out those that are space")
    return batch, space


def _lengths(image: Any, spacing: Any, space: tuple[Any, ...]) -> Any:
    if spacing is not None and not isinstance(spacing, Mapping):
        return spacing
    given = spacing or {}
    _known("spacing", given, space)
    return tuple(given[dim] if dim in given else _step(image, dim) for dim in space)


def _known(argument: str, names: Any, dims: tuple[Any, ...]) -> None:
    unknown = [name for name in names if name not in dims]
    if unknown:
        raise ValueError(f"{argument} names {unknown[0]!r}; the dimensions are {', '.join(map(repr, dims))}")


def _step(image: Any, dim: Any) -> float:
    """How far apart the cells of a dimension are by its coordinate; 1 without one."""
    if dim not in image.coords or image.sizes[dim] < 2:
        return 1.0
    values = np.asarray(image.coords[dim])
    if values.dtype.kind not in "iuf":
        raise TypeError(
            f"coordinate {dim!r} is of type {values.dtype}, which is no length; name it in batch_dims= if it numbers "
            f"images, or give spacing={{{dim!r}: 1.0}}"
        )
    values = values.astype(np.float64)
    if not np.isfinite(values).all() or (values == values[0]).all():
        raise ValueError(
            f"coordinate {dim!r} has no step, with values from {values.min():.6g} to {values.max():.6g}; give "
            f"spacing={{{dim!r}: 1.0}}"
        )
    step = (values[-1] - values[0]) / (values.size - 1)
    off = np.abs(values - (values[0] + step * np.arange(values.size)))
    if step == 0 or off.max() > 1e-3 * abs(step):
        steps = np.sign(step or 1) * np.diff(values)
        raise ValueError(
            f"coordinate {dim!r} is uneven, with steps from {steps.min():.6g} to {steps.max():.6g}; interpolate to an "
            f"even one, image.interp({dim}=np.linspace(...), method='nearest'), or give spacing={{{dim!r}: "
            f"{np.abs(steps).mean():.6g}}}"
        )
    return abs(float(step))


def _attributes(image: Any, field: str, space: tuple[Any, ...], squared: bool) -> dict[Any, Any]:
    attrs = dict(image.attrs)
    if field == "labels":
        return attrs
    attrs.pop("units", None)
    units = {image.coords[dim].attrs.get("units") if dim in image.coords else None for dim in space}
    if field == "distance" and len(units) == 1 and None not in units:
        unit = units.pop()
        attrs["units"] = f"{unit}^2" if squared else unit
    return attrs


def _open_shape(image: Any, spacing: Any, keywords: dict[str, Any]) -> Opened:
    return _open(image, spacing, keywords.pop("batch_dims", ()), keywords)


erosion = adapted("erosion", _open_shape)
dilation = adapted("dilation", _open_shape)
opening = adapted("opening", _open_shape)
closing = adapted("closing", _open_shape)
local_thickness = adapted("local_thickness", _open_shape)
granulometry = adapted("granulometry", _open_shape)
porosimetry = adapted("porosimetry", _open_shape)
medial_axis = adapted("medial_axis", _open_shape)
skeletonize = adapted("skeletonize", _open_shape)
skeleton_graph = adapted("skeleton_graph", _open_shape)
natural_neighbor = adapted("natural_neighbor", _open_shape)
split = adapted("split", _open_shape)
watershed = adapted("watershed", _open_shape)
h_maxima = adapted("h_maxima", _open_shape)
fill_holes = adapted("fill_holes", _open_shape)
