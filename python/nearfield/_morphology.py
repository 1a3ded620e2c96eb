"""Euclidean morphology: shapes grown and shrunk by a ball of any radius."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

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
    """Cells farther than `radius` from every cell outside the shape: those from which a ball does not lead out of it.

    Parameters
    ----------
    image : array of 1 to 8 axes
        Foreground is what is not zero. NumPy, CuPy, PyTorch, JAX and others, as in `distance_transform`. Not changed.
    radius : float
        Of the ball, in units of `spacing`; at least 0, and 0 changes nothing. Distances are exact, and compared with
        it as doubles.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis, in array order.
    border : {'open', 'closed', 'periodic'} or sequence of one per axis
        What lies beyond the ends of an axis. Open: nothing that changes a cell. Closed: background for `erosion` and
        `opening`, foreground for `dilation` and `closing`. Periodic: its other end.
    labels : bool
        The values of `image` are labels (integers), each a shape of its own; 0 is background.
    batch_axes : int
        Leading axes that number images, each by itself.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    array
        Shape and kind of `image`: bool, or with `labels` the image's values where they stay, else 0.

    Raises
    ------
    TypeError, ValueError, MemoryError, RuntimeError
        As `distance_transform`.

    Notes
    -----
    The same bits on the CPU and on GPUs. One or two distance transforms bounded by `radius`, whose distances are never
    written: cost does not grow with the ball's volume. What a flat ball of scikit-image or SciPy gives (`ball(r)` with
    r whole) is this with the same radius; `dilation` with ``border='open'`` is theirs, `erosion` is theirs with
    foreground beyond the border.

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
    return _kept(image, ~near) if labels else ~near


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

    Arguments and answer are those of `erosion`. With `labels` a background cell within `radius` takes its nearest
    label: this is `expand_labels`.

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
    """The union of all balls of `radius` that fit the shape: the dilation of its erosion. Thin parts go.

    Arguments and answer are those of `erosion`. With `labels` each label is opened by itself.

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
    # What lies within reach of a cell of an eroded label has its label.
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
    """What no ball of `radius` beside the shape reaches: the erosion of its dilation. Gaps and small holes fill.

    Arguments and answer are those of `erosion`. With `labels` it is the closing of all labels together, whose new cells
    take their nearest label.

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
    return _kept(how.grown(image), ~beside) if labels else ~beside


class _Ball:
    """A radius and what goes with it: the arguments of every distance transform of a call."""

    def __init__(self, radius: float, ends: Border, every: dict[str, Any]) -> None:
        self.radius, self.ends, self.every = radius, ends, every

    def within(self, image: Any, sites: Any) -> Any:
        """Where there is a site within the radius: bool."""
        given = {"sites": sites, "max_distance": self.radius, "dtype": "bool", "border": self.ends}
        return _in_words(lambda: distance_transform(image, **given, **self.every))

    def grown(self, image: Any) -> Any:
        return _in_words(lambda: expand_labels(image, self.radius, border=self.ends, **self.every))

    def second(self) -> _Ball:
        """Of a second step, which sees nothing beyond closed ends."""
        return _Ball(self.radius, open_ends(self.ends), self.every)


def open_ends(border: Border) -> Border:
    """The same without closed ends, beyond which a second step sees nothing."""
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
    """The labels where that is true, else 0."""
    return labels & where if element_type(labels) == "bool" else labels * where


def _in_words(call: Callable[[], Any]) -> Any:
    """Errors speak of this module's arguments."""
    try:
        return call()
    except (TypeError, ValueError) as problem:
        if type(problem) not in (TypeError, ValueError):
            raise
        text = re.sub(r"\bmultilabel=True\b", "labels=True", str(problem))
        text = re.sub(r"\bseeds\b", "image", re.sub(r"\b(max_)?distance is\b", "radius is", text))
        raise type(problem)(text) from None
