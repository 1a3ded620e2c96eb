"""Distance fields of any array: the keywords of `distance_transform`, translated for the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY, check_axes, framework_of, name_of
from nearfield._chessboard import metric_of, step_transform
from nearfield._compiled import in_graph
from nearfield._fields import Asked, How, answer, answers, is_several, refuse_with_several
from nearfield._progress import Progress
from nearfield._request import (
    NARROWEST,
    Border,
    Indices,
    Request,
    Signed,
    Sites,
    Spacing,
    check_flags,
    flag_of,
    request_for,
    word_of,
)
from nearfield._types import Asked as AskedIndices
from nearfield._types import Cells, Tensor
from nearfield.methods import Method, text_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Metric = Literal["euclidean", "chessboard", "cityblock", "taxicab"]
DISTANCE_TYPES = {
    "distance": ("bool", "float16", "float32", "float64"),
    "squared": ("uint16", "uint32", "uint64", "float16", "float32", "float64"),
}


class DistanceKeywords(TypedDict, total=False):
    """Keywords of `distance_transform` besides the image and the `return_` flags."""

    spacing: Spacing
    sites: Sites
    metric: Metric
    squared: bool
    signed: Signed
    multilabel: bool
    half_cell: bool
    border: Border
    max_distance: Any
    where: Any
    dtype: Any
    out: Any
    indices_out: Any
    batch_axes: int
    method: str | Method
    device: str | None
    threads: int | None
    progress: Progress


@overload
def distance_transform(image: Cells, **keywords: Unpack[DistanceKeywords]) -> Cells: ...
@overload
def distance_transform(
    image: Cells, *, return_indices: AskedIndices, **keywords: Unpack[DistanceKeywords]
) -> tuple[Cells, Cells]: ...
@overload
def distance_transform(image: Tensor, **keywords: Unpack[DistanceKeywords]) -> Tensor: ...
@overload
def distance_transform(
    image: Tensor, *, return_indices: AskedIndices, **keywords: Unpack[DistanceKeywords]
) -> tuple[Tensor, Tensor]: ...
@overload
def distance_transform(
    image: Any,
    *,
    return_distances: bool = True,
    return_indices: Indices = False,
    return_labels: bool = False,
    return_trusted: bool = False,
    **keywords: Unpack[DistanceKeywords],
) -> Any: ...
def distance_transform(
    image: Any,
    *,
    spacing: Spacing = None,
    sites: Sites = "zero",
    metric: Metric = "euclidean",
    squared: bool = False,
    signed: Signed = False,
    multilabel: bool = False,
    half_cell: bool = False,
    border: Border = "open",
    max_distance: Any = None,
    where: Any = None,
    return_distances: bool = True,
    return_indices: Indices = False,
    return_labels: bool = False,
    return_trusted: bool = False,
    dtype: Any = None,
    out: Any = None,
    indices_out: Any = None,
    batch_axes: int = 0,
    method: str | Method = "exact",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Exact Euclidean distance of every cell to its nearest site, that site, or both.

    Parameters
    ----------
    image : array of 1 to 8 axes, or list of arrays
        Bool, integers of 8 to 64 bits, float16, float32 or float64. It may come from NumPy, CuPy, PyTorch, JAX, from
        anything with ``__cuda_array_interface__`` or of the array API standard, or convert to NumPy. Its strides are
        free, and it does not change. In a list or tuple of arrays, whose shapes may differ, each array is an image; the
        answer is a list, as from a loop. Images that are alike share one call of the library. (Nested lists of numbers
        are one image.)
    spacing : float or sequence of floats, optional
        Length of a cell along each axis, in array order; must be positive. Default: 1.
    sites : {'zero', 'nonzero', 'other_labels'}
        Says which cells are sites, the cells to which distances are measured. NaN is not zero. 'other_labels' is the
        same as `multilabel`.
    metric : {'euclidean', 'chessboard', 'cityblock'}
        'chessboard' takes the largest difference of coordinates, 'cityblock' (or 'taxicab') their sum. These answers
        are integers: int32 by default, or uint8, uint16 or uint32, whose maximum stands for larger distances and for
        cells without a site. They take `sites`, `border`, `max_distance` and `batch_axes`. `return_indices` works on
        the CPU, with open borders and without `max_distance` and `batch_axes`. A list of images is not taken.
    squared : bool
        Return squared distances, in squared units of `spacing`. They are exact integers if the spacing is integral.
    signed : bool or {'inside', 'outside'}
        Measure sites too: to the nearest cell that is no site. True or 'inside' makes the distances of cells that are
        no sites negative; 'outside' makes those of sites negative.
    multilabel : bool
        Treat values as labels, all in one pass. The sites of a cell are all cells of another value. Zero is background,
        and background cells are sites for every label.
    half_cell : bool
        Measure to the faces of a site's cell instead of to its centre.
    border : {'open', 'closed', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis: nothing, only sites, or the axis' other end.
    max_distance : float or array, optional
        Largest distance to report, in units of `spacing`; a smaller one takes less time. Cells that are farther get
        inf, and -1 as indices. An array bounds each cell: it broadcasts to the shape of `image` and lies on its device
        (on a GPU as float32 or float64). There, inf bounds nothing and NaN leaves no site. Such an array excludes
        `return_trusted`, a list of images and another `method`. It costs one more pass and a temporary float64 field.
    where : array of bool or uint8, optional
        Marks the cells that take part; broadcasts to the shape of `image` and lies on its device. A cell where it is
        zero is no site and gets no answer, but distances are measured straight through it. It keeps what `out` and
        `indices_out` held; in new arrays it has no site: inf, -1, 0. It excludes a list of images, a `max_distance` of
        each cell, another `metric` or `method`, torch.compile, and `multilabel` of JAX's arrays. With `multilabel` it
        takes two searches for each bit in which labels differ.
    return_distances, return_indices, return_labels, return_trusted : bool
        Say what to return. Indices are coordinates, int32 of shape ``(ndim, *image.shape)`` as SciPy's; ``'linear'``
        asks for int64 C-order linear indices of the image's shape instead. Labels are the image's values at the nearest
        sites, in the image's type. Trusted is bool: it is True if no content beyond the open borders can change the
        distance.
    dtype : dtype, optional
        Type of the distances: float16, float32 (default) or float64. bool says whether there is a site within
        `max_distance`. With `squared` it is any type that holds every answer exactly; the default is the narrowest of
        uint32, uint64 and float64 that does.
    out, indices_out : array, optional
        Arrays to fill instead of new ones, on the device of `image`. They may not overlap each other or `image`.
    batch_axes : int
        Number of leading axes that number images. Each image is solved by itself; coordinates and linear indices count
        within it. Default: 0.
    method : str or one of nearfield.methods
        'exact', or a published method with its switches, such as 'jump-flood:after=1' or
        ``nf.methods.JumpFlood(after=1)``, for study; docs/methods.md lists them. Published methods take 1 to 3 axes,
        return distances, indices and labels, and accept `spacing`, `sites` and `max_distance`.
    device : {'cpu', 'cuda', 'cuda:N'}, optional
        Where to compute. Default: where `image` is. 'cuda' copies an array in CPU memory to the GPU and the answer
        back.
    threads : int, optional
        Number of CPU threads. Default: every core the process may use. The answer does not depend on it.
    progress : bool or callable, optional
        True draws a bar on a terminal or in a notebook. A callable receives the share done, from this thread; if it
        returns False (Python's or NumPy's), the work stops with `nearfield.Cancelled`. GPUs report nothing.

    Returns
    -------
    array or tuple of arrays
        The requested fields, of the image's kind and on its device, in the order distances, indices, labels, trusted. A
        single field comes without a tuple. Cells of an image without any site have inf (an integer type's maximum), -1
        and 0. A list of images gives a list of these.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid; nothing was computed.
    MemoryError
        Memory does not suffice; the message says how many bytes are needed and free.
    RuntimeError
        There is no GPU, or it failed. `nearfield.Cancelled`, a RuntimeError: `progress` stopped the work.

    Notes
    -----
    If several sites are equally near, the one with the smallest coordinate along the last axis wins, then along the
    axis before it, and so on, which is SciPy's rule. Answers have the same bits on the CPU and on GPUs and with any
    number of threads. On a GPU, work is ordered on the caller's current stream; the call does not wait for it, and a
    CUDA graph may capture it. Most images take linear time; ``nearfield.plan`` tells the memory. The call releases the
    interpreter's lock.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.distance_transform([[0, 1, 1], [1, 1, 1]])
    array([[0.       , 1.       , 2.       ],
           [1.       , 1.4142135, 2.236068 ]], dtype=float32)
    >>> nf.distance_transform([[0, 1, 1], [1, 1, 1]], spacing=(5, 1), squared=True)
    array([[ 0,  1,  4],
           [25, 26, 29]], dtype=uint32)
    >>> nf.distance_transform([1, 1, 1, 2, 2], multilabel=True)
    array([3., 2., 1., 1., 2.], dtype=float32)
    """
    if metric_of(metric) != "euclidean":
        return step_transform(**locals())
    how = How("image", method_of(method), device, threads, progress)
    check_flags(
        squared=squared, return_distances=return_distances, return_labels=return_labels, return_trusted=return_trusted
    )
    bounds = bounds_of(max_distance, how, return_trusted)

    def asked_of(image: Any) -> Asked:
        image = with_shape("image", image)
        check_axes("image", len(image.shape))
        request = request_for(
            len(image.shape),
            spacing=spacing,
            sites=sites,
            signed=signed,
            multilabel=multilabel,
            half_cell=half_cell,
            border=border,
            max_distance=None if bounds is not None else max_distance,
            batch_axes=batch_axes,
        )
        fields: list[tuple[str, str]] = []
        given: dict[str, Any] = {}
        if return_distances or out is not None:
            field = "squared" if squared else "distance"
            fields.append((field, distance_type(field, dtype, out, tuple(image.shape), request)))
            given[field] = out
        add_indices(fields, given, return_indices, indices_out)
        add_others(fields, image, return_labels, return_trusted)
        return Asked(image, request._replace(fields=tuple(fields)), given)

    if is_several(image):
        refuse_with_several("image", out=out, indices_out=indices_out, max_distance=bounds, where=where)
        return answers([asked_of(each) for each in image], how)
    return answer(asked_of(image), how, bounds=bounds, where=where)


def bounds_of(max_distance: Any, how: How, return_trusted: bool) -> Any:
    """Returns the array of bounds, one for each cell; None if one number bounds all."""
    if not getattr(max_distance, "ndim", 0):
        return None
    if how.method != "exact" or return_trusted:
        raise ValueError(
            "max_distance of each cell does not go with return_trusted, nor with a method but 'exact'; give one number"
        )
    return max_distance


def with_shape(name: str, image: Any) -> Any:
    """Converts what is no array of any framework to NumPy's."""
    framework = framework_of(image)
    return framework.array(name, image) if framework.name == "numpy" else image


def method_of(method: str | Method) -> str:
    """Returns the method's name and switches; raises for an unknown method before any array is inspected.

    `torch.compile` traces the default.
    """
    return "exact" if isinstance(method, str) and method == "exact" else text_of(method)


def distance_type(field: str, dtype: Any, out: Any, shape: Sequence[int], request: Request) -> str:
    """Type of new distances: the requested one, that of `out`, or the field's default."""
    if dtype is not None:
        asked = name_of(dtype)
        if asked not in DISTANCE_TYPES[field]:
            raise ValueError(f"dtype is {asked}; give one of {', '.join(DISTANCE_TYPES[field])}")
        if out is not None and element_type(out, "out") != asked:
            raise ValueError(f"dtype is {asked} and out has {element_type(out, 'out')}; leave out one of them")
        return asked
    if out is not None:
        return element_type(out, "out")
    if field == "distance":
        return "float32"
    if in_graph.compiles():
        return NARROWEST
    return _core.squared_distance_type(list(shape), request.options())


def add_indices(fields: list[tuple[str, str]], given: dict[str, Any], indices: Indices, out: Any) -> None:
    word = (
        word_of("return_indices", indices, ("coordinates", "linear"))
        if isinstance(indices, str)
        else flag_of("return_indices", indices)
    )
    if not word and out is None:
        return
    field = "index" if word == "linear" else "coordinates"
    default = "int64" if field == "index" else "int32"
    fields.append((field, default if out is None else element_type(out, "indices_out")))
    given[field] = out


def add_others(fields: list[tuple[str, str]], image: Any, labels: bool, trusted: bool) -> None:
    if labels:
        fields.append(("label", element_type(image)))
    if trusted:
        fields.append(("trusted", "bool"))
    if not fields:
        raise ValueError(
            "nothing is asked for; give at least one of return_distances, return_indices, return_labels, "
            "return_trusted"
        )


def element_type(x: Any, argument: str = "image") -> str:
    framework = framework_of(x)
    if framework is NUMPY and not isinstance(x, np.ndarray):
        raise TypeError(f"{argument} is {type(x).__name__}; give an array")
    return framework.dtype(x)
