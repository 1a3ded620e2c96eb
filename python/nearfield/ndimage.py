"""`scipy.ndimage`'s distance functions, `label` and `find_objects`, with its signatures, types and errors.

Write ``from nearfield import ndimage`` in place of ``from scipy import ndimage``. All functions take linear time and
use all cores. They differ from SciPy on purpose:

- Without any zero in the image, every distance of `distance_transform_edt` and of the Euclidean `distance_transform_bf`
  is inf and every index -1 (SciPy measures to a cell outside the image, or returns 1.3e154, and the indices 0 or the
  cell's own). City block and chessboard distances are SciPy's, -1 or 4294967295; the indices are -1.
- A `sampling` that is zero, negative, infinite or NaN is a ValueError.
- With a `sampling` that is not integral, squared distances are sums of squared lengths times squared steps (one length
  for all axes: its square times the sum of squared steps), as by `nearfield.distance_transform`: the last bit of a
  distance, and which of two equally near cells an index names, may differ.
- A `metric` array of `distance_transform_cdt` counts as what it holds, whatever its type (SciPy reads its bytes), and
  must have as many axes as the image; the distances are those of the cheapest path for every such array (SciPy stops
  after two passes, too early where steps along the axes are missing).
- `distances` and `indices` that are no arrays are a TypeError; images have up to 8 axes.
- `label` takes every byte order and any real type. A `structure` that is not symmetric is a ValueError (SciPy:
  AssertionError), and a read-only `output` is refused (SciPy writes it). Numbers come in C order whatever the memory
  order of `output` (SciPy's follow its first axis if that is the contiguous one). `find_objects` takes bool without
  `max_label`.
"""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, check_axes, framework_of, is_jax
from nearfield._distance import distance_transform
from nearfield._request import flag_of
from nearfield._scipy import Array, Output, Sampling, answer, array_of, check_asked, lengths_of, mask_of
from nearfield._scipy_label import find_objects, label
from nearfield._traced import refuse_traced

__all__ = ["distance_transform_bf", "distance_transform_cdt", "distance_transform_edt", "find_objects", "label"]

_CITY_BLOCK = ("taxicab", "cityblock", "manhattan")


def distance_transform_edt(
    input: Any,
    sampling: Sampling = None,
    return_distances: bool = True,
    return_indices: bool = False,
    distances: Any = None,
    indices: Any = None,
    *,
    block_params: Any = None,
    float64_distances: bool = True,
) -> Any:
    """Exact Euclidean distance from every cell to the nearest zero, that zero's coordinates, or both.

    Parameters
    ----------
    input : array_like
        Distances are measured from cells that are not zero; NaN is not zero. NumPy, CuPy, PyTorch or JAX; lists. A
        number counts as an array of one cell.
    sampling : float or sequence of floats, optional
        Length of a cell along each axis, or along all of them; must be positive. Default: 1.
    return_distances, return_indices : bool
        Say what to return.
    distances : float64 array of the shape of `input`, optional
        Array to fill instead of a new one; it is then not returned.
    indices : int32 array of shape ``(input.ndim, *input.shape)``, optional
        Array to fill instead of a new one; it is then not returned.
    block_params
        Parameter of `cupyx.scipy.ndimage`, whose algorithm it tunes; it is ignored.
    float64_distances : bool
        Parameter of `cupyx.scipy.ndimage`: False asks for float32 distances.

    Returns
    -------
    array, tuple of arrays, or None
        Distances, float64 (float32 for JAX arrays without ``jax_enable_x64``, which have no float64), and coordinates
        of the nearest zero, int32; inf and -1 if there is none. Arrays of a device give arrays of that device.

    Raises
    ------
    RuntimeError
        Nothing is requested; `distances` or `indices` is given but not requested, or has a wrong shape or type;
        `sampling` has a wrong length.
    ValueError
        `sampling` is not positive.

    Examples
    --------
    >>> from nearfield import ndimage
    >>> ndimage.distance_transform_edt([[0, 1, 1], [1, 1, 1]])
    array([[0.        , 1.        , 2.        ],
           [1.        , 1.41421356, 2.23606798]])
    >>> ndimage.distance_transform_edt([1, 1, 0], sampling=0.5, return_distances=False, return_indices=True)
    array([[2, 2, 2]], dtype=int32)
    """
    check_asked(return_distances, return_indices, distances, indices)
    dtype = "float64" if flag_of("float64_distances", float64_distances) else "float32"
    if framework_of(input) is not NUMPY:
        return _edt_elsewhere(input, sampling, dtype, return_distances, return_indices, distances, indices)
    image = np.atleast_1d(mask_of(input))
    lengths = lengths_of(sampling, image.ndim)
    given = [each for each in (distances, indices) if isinstance(each, np.ndarray)]
    where = Output("indices", indices, (image.ndim, *image.shape), "int32", [image]) if return_indices else None
    far = Output("distances", distances, image.shape, dtype, [image, *given[1:]]) if return_distances else None
    _euclidean(image, lengths, array_of(far), array_of(where))
    return answer(far, where)


def distance_transform_cdt(
    input: Any,
    metric: Any = "chessboard",
    return_distances: bool = True,
    return_indices: bool = False,
    distances: Any = None,
    indices: Any = None,
) -> Any:
    """Number of steps between neighbours from every cell to the nearest zero, that zero's coordinates, or both.

    Parameters
    ----------
    input : array_like
        Distances are measured from cells that are not zero; NaN is not zero. Arrays on a GPU take metrics by name, and
        give distances only.
    metric : {'chessboard', 'taxicab', 'cityblock', 'manhattan'} or array of 3 cells along each axis
        Steps to all neighbours, steps along the axes, or steps to the cells that are not zero in the array. Only an
        array's cells before its middle are read; steps lead to those and to their opposites.
    return_distances, return_indices : bool
        Say what to return.
    distances : int32 array of the shape of `input`, optional
        Array to fill instead of a new one; it is then not returned.
    indices : int32 array of shape ``(input.ndim, *input.shape)``, optional
        Array to fill instead of a new one; it is then not returned.

    Returns
    -------
    array, tuple of arrays, or None
        Distances and coordinates of the nearest zero, both int32; -1 if no path leads to one.

    Raises
    ------
    ValueError
        `metric` is none of these; `distances` or `indices` has a wrong shape or type.
    RuntimeError
        Nothing is requested; `distances` or `indices` is given but not requested.

    Examples
    --------
    >>> from nearfield import ndimage
    >>> ndimage.distance_transform_cdt([[0, 1, 1], [1, 1, 1]], metric="taxicab")
    array([[0, 1, 2],
           [1, 2, 3]], dtype=int32)
    """
    check_asked(return_distances, return_indices, distances, indices)
    if _is_on_device(input):
        return _steps_there("distance_transform_cdt", input, metric, "int32", return_indices, distances)
    image = np.atleast_1d(mask_of(input))
    check_axes("input", image.ndim)
    weights = _weights_of(metric, image.ndim)
    given = [each for each in (distances, indices) if isinstance(each, np.ndarray)]
    far = Output("distances", distances, image.shape, "int32", [image], ValueError) if return_distances else None
    where = (
        Output("indices", indices, (image.ndim, *image.shape), "int32", [image, *given[:-1]], ValueError)
        if return_indices
        else None
    )
    _steps(image, weights, True, array_of(far), array_of(where))
    if far is not None:
        np.putmask(far.array, far.array == np.iinfo(np.int32).max, -1)
    return answer(far, where)


def distance_transform_bf(
    input: Any,
    metric: str = "euclidean",
    sampling: Sampling = None,
    return_distances: bool = True,
    return_indices: bool = False,
    distances: Any = None,
    indices: Any = None,
) -> Any:
    """Answer of SciPy's comparison of every cell with every zero, in linear time.

    Parameters
    ----------
    input : array_like
        Distances are measured from cells that are not zero; NaN is not zero. Arrays on a GPU give distances only.
    metric : {'euclidean', 'taxicab', 'cityblock', 'manhattan', 'chessboard'}
        Name of the metric, in upper or lower case.
    sampling : float or sequence of floats, optional
        Length of a cell along each axis, or along all of them; only for 'euclidean'. Default: 1.
    return_distances, return_indices : bool
        Say what to return.
    distances : array of the shape of `input`, optional
        Array of float64 for 'euclidean', else of uint32, to fill instead of a new one; it is then not returned.
    indices : int32 array of shape ``(input.ndim, *input.shape)``, optional
        Array to fill instead of a new one; it is then not returned.

    Returns
    -------
    array, tuple of arrays, or None
        Distances, float64 or uint32, and coordinates of the nearest zero, int32; without any zero inf or 4294967295,
        and -1. Among equally near zeros, the last one in C order wins.

    Raises
    ------
    RuntimeError
        `metric` is none of these; or a reason of `distance_transform_edt` applies.

    Examples
    --------
    >>> from nearfield import ndimage
    >>> ndimage.distance_transform_bf([0, 1, 1, 1, 0], "chessboard", return_indices=True)
    (array([0, 1, 2, 1, 0], dtype=uint32), array([[0, 0, 4, 4, 4]], dtype=int32))
    """
    check_asked(return_distances, return_indices, distances, indices)
    name = metric.lower()
    if name not in ("euclidean", "chessboard", *_CITY_BLOCK):
        raise RuntimeError(f"distance metric not supported: {metric!r}; give 'euclidean', 'taxicab' or 'chessboard'")
    if _is_on_device(input):
        if name == "euclidean" and not return_indices:
            return _edt_elsewhere(input, sampling, "float64", True, False, distances, None)
        return _steps_there("distance_transform_bf", input, name, "uint32", return_indices, distances)
    image = mask_of(input)
    shape, ndim = image.shape, image.ndim
    lengths = lengths_of(sampling, ndim)
    dtype = "float64" if name == "euclidean" else "uint32"
    far = Output("distances", distances, shape, dtype, [image]) if return_distances else None
    given = [each for each in (distances,) if isinstance(each, np.ndarray)]
    where = Output("indices", indices, (ndim, *shape), "int32", [image, *given]) if return_indices else None
    _last_of_ties(np.atleast_1d(image), name, lengths, array_of(far), array_of(where))
    return answer(far, where)


# ---- the work --------------------------------------------------------------------------------------------------------


def _is_on_device(input: Any) -> bool:
    refuse_traced("input", input)
    framework = framework_of(input)
    return framework is not NUMPY and framework.place(input).ordinal >= 0


def _steps_there(name: str, input: Any, metric: Any, dtype: str, return_indices: bool, distances: Any) -> Any:
    """Distances in steps for arrays on a device, as arrays of its framework."""
    if return_indices or not isinstance(metric, str):
        raise TypeError(
            f"{name} on a device gives distances in a metric that has a name; copy input to the CPU, or use "
            "distance_transform_edt, which gives indices on the device too"
        )
    _weights_of(metric, 1)  # refuses unknown metrics
    word: Literal["chessboard", "cityblock"] = "chessboard" if metric == "chessboard" else "cityblock"
    image = input if input.ndim else input.reshape(1)
    far = distance_transform(image, metric=word, dtype=dtype, out=distances)
    none = np.iinfo(np.int32).max
    if dtype == "int32" and is_jax(far):
        far = sys.modules["jax"].numpy.where(far == none, -1, far)
    elif dtype == "int32":
        far[far == none] = -1
    return far if distances is None else None


def _edt_elsewhere(
    input: Any,
    sampling: Sampling,
    dtype: str,
    return_distances: bool,
    return_indices: bool,
    distances: Any,
    indices: Any,
) -> Any:
    """Serves arrays of other frameworks, and returns such."""
    filled = distance_transform(
        input if input.ndim else input.reshape(1),
        spacing=lengths_of(sampling, max(input.ndim, 1)) or None,
        dtype="float32" if _is_narrow(input) else dtype,
        return_distances=bool(return_distances),
        return_indices=bool(return_indices),
        out=distances,
        indices_out=indices,
    )
    fields = filled if isinstance(filled, tuple) else (filled,)
    new = [each for each in fields if each is not distances and each is not indices]
    return tuple(new) if len(new) == 2 else new[0] if new else None


def _is_narrow(input: Any) -> bool:
    """Says whether this is an array of JAX without float64."""
    return is_jax(input) and not sys.modules["jax"].config.read("jax_enable_x64")


def _euclidean(image: Array, lengths: tuple[float, ...], far: Array | None, where: Array | None) -> None:
    distance_transform(
        image,
        spacing=lengths or None,
        return_distances=far is not None,
        return_indices=where is not None,
        out=far,
        indices_out=where,
    )


def _steps(image: Array, weights: list[int], first_found: bool, far: Array | None, where: Array | None) -> None:
    _core.chamfer(
        NUMPY.describe("input", NUMPY.array("input", image), False),
        None if far is None else NUMPY.describe("distances", far, True),
        None if where is None else NUMPY.describe("indices", where, True),
        weights,
        first_found,
        0,
    )


def _weights_of(metric: Any, ndim: int) -> list[int]:
    """Prices of the steps to the 3**ndim cells round a cell."""
    if isinstance(metric, str):
        if metric == "chessboard":
            return []
        if metric not in _CITY_BLOCK:
            raise ValueError(f"invalid metric provided: {metric!r}; give 'chessboard', 'taxicab' or an array")
        changes = np.abs(np.indices((3,) * ndim) - 1).sum(axis=0)
        return [int(each) for each in (changes == 1).ravel()]
    steps = np.asarray(metric)
    if any(size != 3 for size in steps.shape):
        raise ValueError(f"metric sizes must be equal to 3; metric has shape {steps.shape}")
    if steps.ndim != ndim:
        raise ValueError(f"metric has {steps.ndim} axes and input has {ndim}; give an array of shape {(3,) * ndim}")
    half = [int(each) for each in (steps != 0).ravel()[: 3**ndim // 2]]
    return [*half, 0, *reversed(half)]


def _turned(a: Array, ndim: int) -> Array:
    """Reverses the order of the last `ndim` axes, and the direction of every axis."""
    leading = a.ndim - ndim
    backward = a[(slice(None, None, -1),) * a.ndim]
    return backward.transpose(*range(leading), *range(a.ndim - 1, leading - 1, -1))


def _last_of_ties(
    image: Array, metric: str, lengths: tuple[float, ...], far: Array | None, where: Array | None
) -> None:
    """Turns the axes round: then the library's first among equally near sites is the last in C order."""
    ndim = image.ndim
    if where is not None and where.ndim != ndim + 1:  # the image is a number, and has no coordinates
        where = None
    if far is None and where is None:
        return
    seen = _turned(image, ndim)
    distance = None if far is None else _turned(np.atleast_1d(far), ndim)
    index = None if where is None else _turned(where, ndim)
    if metric == "euclidean":
        _euclidean(seen, lengths[::-1], distance, index)
    else:
        weights = _weights_of("chessboard" if metric == "chessboard" else "cityblock", ndim)
        _steps(seen, weights, False, distance, index)
    if where is None or not image.size or where.flat[0] < 0:
        return
    for axis, size in enumerate(image.shape):
        np.subtract(size - 1, where[axis], out=where[axis])
