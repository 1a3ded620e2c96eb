"""Euclidean morphology: grows and shrinks shapes by a ball of any radius."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nearfield._arrays import framework_of
from nearfield._distance import distance_transform, element_type, with_shape
from nearfield._progress import Progress
from nearfield._request import Border, Spacing, check_flags
from nearfield._voronoi import expand_labels


def erosion(
    image: Any,
    radius: float,
    *,
    spacing: Spacing = None,
    border: Border = "open",
    labels: bool = False,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Cells farther than `radius` from every cell outside the shape: a ball centred on them stays inside it.

    Parameters
    ----------
    image : array of 1 to 8 axes
        Cells that are not zero are foreground. NumPy, CuPy, PyTorch, JAX and others, as in `distance_transform`. The
        call does not change it.
    radius : float
        Radius of the ball, in units of `spacing`; at least 0, and 0 changes nothing. Distances are exact, and compared
        with the radius as doubles.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis, in array order. Default: 1.
    border : {'open', 'closed', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis. Open: nothing that changes a cell. Closed: background for `erosion`
        and `opening`, foreground for `dilation` and `closing`. Periodic: the axis' other end.
    labels : bool
        Treat the values of `image` as labels (integers): each label is a shape of its own, and 0 is background.
    batch_axes : int
        Number of leading axes that number images; each image is processed by itself. Default: 0.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array
        Shape and kind of `image`. It is bool; with `labels` it holds the image's values in cells that stay, else 0.

    Raises
    ------
    TypeError, ValueError, MemoryError, RuntimeError
        As in `distance_transform`.

    Notes
    -----
    The CPU and GPUs give the same bits. The call takes one or two distance transforms bounded by `radius`, and never
    writes their distances: the cost does not grow with the ball's volume. For whole r, the same radius corresponds to
    flat balls of scikit-image and SciPy (`ball(r)`). `dilation` with ``border='open'`` equals theirs; `erosion` equals
    theirs with foreground beyond the border.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.erosion([0, 1, 1, 1, 1, 0], 1).astype(int)
    array([0, 0, 1, 1, 0, 0])
    >>> nf.erosion([3, 3, 3, 4, 4, 4], 1, labels=True)
    array([3, 3, 0, 0, 4, 4])
    """
    how = _how(radius, spacing, border, labels, batch_axes, device, threads, progress)
    image = with_shape("image", image)
    near = how.within(image, "other_labels" if labels else "zero")
    return _kept(image, ~near) if labels else _turned(near)


def dilation(
    image: Any,
    radius: float,
    *,
    spacing: Spacing = None,
    border: Border = "open",
    labels: bool = False,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Cells within `radius` of the shape.

    Arguments and answer are those of `erosion`. With `labels`, a background cell within `radius` takes its nearest
    label, as by `expand_labels`.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.dilation([0, 0, 0, 1, 0, 0], 1.5).astype(int)
    array([0, 0, 1, 1, 1, 0])
    """
    how = _how(radius, spacing, border, labels, batch_axes, device, threads, progress)
    image = with_shape("image", image)
    return how.grown(image) if labels else how.within(image, "nonzero")


def opening(
    image: Any,
    radius: float,
    *,
    spacing: Spacing = None,
    border: Border = "open",
    labels: bool = False,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """The union of all balls of `radius` that fit the shape: the dilation of its erosion. It removes thin parts.

    Arguments and answer are those of `erosion`. With `labels`, each label is opened by itself.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.opening([0, 1, 0, 0, 1, 1, 1, 0], 1).astype(int)
    array([0, 0, 0, 0, 1, 1, 1, 0])
    """
    how = _how(radius, spacing, border, labels, batch_axes, device, threads, progress)
    image = with_shape("image", image)
    left = how.within(image, "other_labels" if labels else "zero")
    opened = how.second().within(left, "zero")
    # Cells within reach of an eroded label's cell have that label.
    return _kept(image, opened) if labels else opened


def closing(
    image: Any,
    radius: float,
    *,
    spacing: Spacing = None,
    border: Border = "open",
    labels: bool = False,
    batch_axes: int = 0,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Cells that no ball of `radius` beside the shape reaches: the erosion of its dilation. It fills gaps and holes.

    Arguments and answer are those of `erosion`. With `labels`, it closes the union of all labels; new cells take their
    nearest label.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.closing([1, 1, 0, 1, 1, 0, 0, 0], 1).astype(int)
    array([1, 1, 1, 1, 1, 0, 0, 0])
    """
    how = _how(radius, spacing, border, labels, batch_axes, device, threads, progress)
    image = with_shape("image", image)
    dilated = how.within(image, "nonzero")
    beside = how.second().within(dilated, "zero")
    return _kept(how.grown(image), ~beside) if labels else _turned(beside)


class _Ball:
    """Radius and the arguments that every distance transform of a call shares."""

    def __init__(self, radius: float, ends: Border, every: dict[str, Any]) -> None:
        self.radius, self.ends, self.every = radius, ends, every

    def within(self, image: Any, sites: Any) -> Any:
        """Says as bool where a site lies within the radius."""
        given = {"sites": sites, "max_distance": self.radius, "dtype": "bool", "border": self.ends}
        return _in_words(lambda: distance_transform(image, **given, **self.every))

    def grown(self, image: Any) -> Any:
        return _in_words(lambda: expand_labels(image, self.radius, border=self.ends, **self.every))

    def second(self) -> _Ball:
        """The ball of the second step, for which closed ends are open."""
        return _Ball(self.radius, open_ends(self.ends), self.every)


def open_ends(border: Border) -> Border:
    """Replaces closed ends by open ones: a second step sees nothing beyond them."""
    if isinstance(border, str):
        return "open" if border == "closed" else border
    return ["open" if end == "closed" else end for end in border]


def _how(
    radius: float,
    spacing: Spacing,
    border: Border,
    labels: bool,
    batch_axes: int,
    device: str | None,
    threads: int | None,
    progress: Progress,
) -> _Ball:
    check_flags(labels=labels)
    if radius is None:
        raise TypeError("radius is None; give a length of at least 0")
    if getattr(radius, "ndim", 0):
        raise TypeError("radius is an array; give a length of at least 0")
    every = {"spacing": spacing, "batch_axes": batch_axes, "device": device, "threads": threads, "progress": progress}
    return _Ball(radius, border, every)


def _kept(labels: Any, where: Any) -> Any:
    """Keeps the labels where the mask is true; sets 0 elsewhere."""
    return labels & where if element_type(labels) == "bool" else labels * where


def _turned(bits: Any) -> Any:
    """The complement of an array that nobody else has. CuPy takes 8 cells at a time as fast as one."""
    if framework_of(bits).name != "cupy" or bits.size % 8 != 0 or not bits.flags.c_contiguous:
        return ~bits
    words = bits.ravel().view("uint64")
    words ^= 0x0101010101010101
    return bits


def _in_words(call: Callable[[], Any]) -> Any:
    """Makes errors name this module's arguments."""
    try:
        return call()
    except (TypeError, ValueError) as problem:
        if type(problem) not in (TypeError, ValueError):
            raise
        text = re.sub(r"\bmultilabel=True\b", "labels=True", str(problem))
        text = re.sub(r"\bseeds\b", "image", re.sub(r"\b(max_)?distance is\b", "radius is", text))
        raise type(problem)(text) from None
