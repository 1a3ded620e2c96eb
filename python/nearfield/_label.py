"""Connected components: `label` and `link_bit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from nearfield import _core
from nearfield._compiled import in_graph
from nearfield._label_request import Criterion, LabelKeywords, Norm, Periodic, label_request
from nearfield._label_run import label_type, numbered
from nearfield._progress import Progress, callable_of
from nearfield._propagation import label_as_published
from nearfield._request import flag_of, items_of, number_of, said, word_of
from nearfield._traced import is_traced
from nearfield._types import Cells, Tensor

if TYPE_CHECKING:
    from typing_extensions import Unpack

Way = Literal["fast", "propagation"]


class AllKeywords(LabelKeywords, total=False):
    """Keywords of `label` besides the image and `return_num`."""

    dtype: Any
    out: Any
    method: Way
    device: str | None
    threads: int | None
    progress: Progress


@overload
def label(image: Cells, **keywords: Unpack[AllKeywords]) -> Cells: ...
@overload
def label(image: Cells, *, return_num: Literal[True], **keywords: Unpack[AllKeywords]) -> tuple[Cells, Any]: ...
@overload
def label(image: Tensor, **keywords: Unpack[AllKeywords]) -> Tensor: ...
@overload
def label(image: Tensor, *, return_num: Literal[True], **keywords: Unpack[AllKeywords]) -> tuple[Tensor, Any]: ...
@overload
def label(image: Any, *, return_num: bool = False, **keywords: Unpack[AllKeywords]) -> Any: ...
def label(
    image: Any,
    *,
    connectivity: int = 1,
    criterion: Criterion = "nonzero",
    background: float | None = 0,
    norm: Norm = "maximum",
    channels: bool = False,
    periodic: Periodic = False,
    batch_axes: int = 0,
    min_size: int = 1,
    max_size: int | None = None,
    largest: int | None = None,
    clear_border: bool = False,
    return_num: bool = False,
    dtype: Any = None,
    out: Any = None,
    method: Way = "fast",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Numbers the connected components of an image: 1, 2, ... in the order of their first cells; background gets 0.

    Parameters
    ----------
    image : array of 1 to 3 axes besides batch and channels; in CPU memory up to 8
        Bool, integers of 8 to 64 bits or floats. It may come from NumPy, CuPy, PyTorch, JAX, from anything with
        ``__cuda_array_interface__`` or of the array API standard, or convert to NumPy. Its strides are free, and it
        does not change.
    connectivity : int
        Number of coordinates that a step to a neighbour may change, 1 to the number of axes, as in scikit-image; or
        number of neighbours: 2 in 1-D, 4 or 8 in 2-D, 6, 18 or 26 in 3-D. Default: 1.
    criterion : {'nonzero', 'equal', 'links'} or number
        Says which neighbours belong together. 'nonzero': all cells that are not zero. 'equal': cells of equal value. A
        number: cells whose values differ by at most that much. NaN is not zero and equals nothing. 'links': cells of
        which one names the other by a bit of its value (`link_bit`); no cell is background.
    background : number or None
        With 'equal' or a number: cells of this value (a colour has it in every channel) get 0; it may be NaN. None puts
        every cell into a component. Default: 0.
    norm : {'maximum', 'sum', 'euclidean'}
        Measures how far two colours are apart, for a `criterion` that is a number.
    channels : bool
        The last axis holds the 1 to 4 channels of a colour, as uint8, uint16, float32 or float64.
    periodic : bool or sequence of one per axis
        Cells at both ends of a periodic axis are neighbours. A sequence has one entry for each axis that is neither
        batch nor channels.
    batch_axes : int
        Number of leading axes that number images; each image is labelled by itself. Default: 0.
    min_size, max_size : int, optional
        Components of fewer or more cells become background before the others are numbered.
    largest : int, optional
        Keep only this many of the remaining components: those with the most cells; among equals, those that come first.
    clear_border : bool
        Components with a cell at the end of an axis that is not periodic become background.
    return_num : bool
        Also return the number of components. On a GPU, the call then waits for the answer.
    dtype : {'uint16', 'int32', 'uint32', 'int64', 'uint64'}, optional
        Type of the labels. Default: int32 as long as no image of this shape can have more components, else int64. If
        this image has more components than a given type can number, that is an error.
    out : array, optional
        Array to fill instead of a new one, on the device of `image`. It may not overlap `image`.
    method : {'fast', 'propagation'}
        Algorithm; the labels are the same. 'propagation' is the published method, which `label_by_propagation` offers
        with more options. It takes no filters, batch axes or periodic axes.
    device : {'cpu', 'cuda', 'cuda:N'}, optional
        Where to compute. Default: where `image` is. 'cuda' copies an array in CPU memory to the GPU and the answer
        back.
    threads : int, optional
        Number of CPU threads. Default: every core the process may use. The answer does not depend on it.
    progress : bool or callable, optional
        As in `distance_transform`.

    Returns
    -------
    labels : array
        Labels of the image's kind, on its device, of its shape without channels.
    num : int or array of int64
        Number of components, if `return_num`. With `batch_axes`, an array of NumPy with one number for each image.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, and nothing was computed; or there are more components than `dtype` can number.
    MemoryError
        Memory does not suffice; the message says how many bytes are needed and free.
    RuntimeError
        There is no GPU, or it failed. `nearfield.Cancelled`, a RuntimeError: `progress` stopped the work.

    Notes
    -----
    The CPU and GPUs give the same bits with any number of threads. The answer equals that of `scipy.ndimage.label` if
    SciPy has the operation, numbering included. On a GPU, work is ordered on the caller's current stream; the call
    waits for it only if `return_num` is set or the given type could be too narrow.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.label([[1, 1, 0, 1], [0, 0, 1, 0]])
    array([[1, 1, 0, 2],
           [0, 0, 3, 0]], dtype=int32)
    >>> nf.label([[1, 1, 0, 1], [0, 0, 1, 0]], connectivity=2, return_num=True)
    (array([[1, 1, 0, 1],
           [0, 0, 1, 0]], dtype=int32), 1)
    >>> nf.label([7, 7, 8, 0, 7], criterion="equal")
    array([1, 1, 2, 0, 3], dtype=int32)
    >>> nf.label([10, 12, 15, 30], criterion=3, background=None)
    array([1, 1, 1, 2], dtype=int32)
    >>> nf.label([0, nf.link_bit([-1]), nf.link_bit([1]), 0], criterion="links")
    array([1, 1, 2, 2], dtype=int32)
    >>> nf.label([1, 0, 1, 0, 1, 1], periodic=True)
    array([1, 0, 2, 0, 1, 1], dtype=int32)
    """
    keywords: dict[str, Any] = dict(
        connectivity=connectivity,
        criterion=criterion,
        background=background,
        norm=norm,
        channels=channels,
        periodic=periodic,
        batch_axes=batch_axes,
        min_size=min_size,
        max_size=max_size,
        largest=largest,
        clear_border=clear_border,
    )
    return_num = flag_of("return_num", return_num)
    word_of("method", method, ("fast", "propagation"))
    callable_of(progress)
    if method == "propagation" and progress is not None and progress is not False:
        raise ValueError("progress does not go with method='propagation'; leave one of them out")
    if in_graph.serves(image):
        given = out is not None or bool(progress) or method != "fast"
        return in_graph.label(image, keywords, return_num, dtype, given, device, threads)
    how = (return_num, dtype, out, device, threads)
    if is_traced(image):
        return _in_program(image, keywords, method, progress, *how)
    if method == "propagation":
        return label_as_published(image, keywords, *how)
    return numbered(image, keywords, *how, progress)


def _in_program(
    image: Any,
    keywords: dict[str, Any],
    method: str,
    progress: Progress,
    return_num: bool,
    dtype: Any,
    out: Any,
    device: str | None,
    threads: int | None,
) -> Any:
    """Labels an image that JAX traces."""
    from nearfield import _jax_workplace

    request = label_request(image.ndim, **keywords)
    made = label_type(image.shape, request, dtype)
    native = request if method == "fast" else None
    words = {**keywords, "dtype": made, "method": method, "device": device, "threads": threads, "progress": progress}
    return _jax_workplace.called_back(
        label, "image", image, request.grid(image.shape), made, out, return_num, native, **words
    )


def link_bit(step: Sequence[int]) -> int:
    """Bit by which a cell of a graph (``criterion="links"``) names the neighbour that lies `step` away.

    Parameters
    ----------
    step : sequence of 1 to 3 ints
        -1, 0 or 1 along each axis of an image; not all of them 0.

    Returns
    -------
    int
        A single bit, one of 8 for images and one of 26 for volumes. The order is that of
        `cc3d.voxel_connectivity_graph`, whose x is the last axis here: pass ``graph.T`` of an array that `cc3d` made.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.link_bit([0, 1]), nf.link_bit([0, -1]), nf.link_bit([1, 0]), nf.link_bit([-1, 1])
    (1, 2, 4, 64)
    """
    by = [number_of("step", each) for each in items_of(step) or ()]
    if not 1 <= len(by) <= 3 or not any(by) or not set(by) <= {-1, 0, 1}:
        raise ValueError(f"step is {said(step)}; give -1, 0 or 1 along each of 1 to 3 axes, not all of them 0")
    return _core.link_bit([int(each) for each in by])
