"""Pairs of components that touch each other."""

from __future__ import annotations

from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._columns import csv_of, html_of, pandas_of
from nearfield._components import _labels_of, _place
from nearfield._label_request import connectivity_of, lengths_of
from nearfield._request import Spacing
from nearfield._workplace import keywords_named


class Contacts(NamedTuple):
    """Pairs of labels that touch, sorted, as arrays of NumPy."""

    labels: np.ndarray[Any, Any]
    """int64, shape (n, 2): the smaller label first."""
    pairs: np.ndarray[Any, Any]
    """int64: number of pairs of neighbouring cells, by the given connectivity."""
    area: np.ndarray[Any, Any]
    """float64: area of the shared faces, in squared units of `spacing` (in 2-D, length in its units)."""

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        labels = {"label_a": self.labels[:, 0], "label_b": self.labels[:, 1]}
        return {**labels, "pairs": self.pairs, "area": self.area}

    def _repr_html_(self) -> str:
        """Shows the first rows, for notebooks."""
        return html_of(self._columns(), len(self.pairs))

    def to_csv(self, path: str | PathLike[str] | None = None) -> str | None:
        """Writes the columns of `to_pandas` as CSV; without a path, returns the text."""
        return csv_of(self._columns(), path)

    def to_pandas(self) -> Any:
        """Returns the columns label_a, label_b, pairs and area as a ``pandas.DataFrame``."""
        return pandas_of(self._columns())


def contacts(labels: Any, *, connectivity: int = 1, spacing: Spacing = None, threads: int | None = None) -> Contacts:
    """Finds the labels that touch, in how many pairs of cells, and how much area they share.

    Parameters
    ----------
    labels : array of integers, 1 to 3 axes
        Labels; 0 is background and touches nothing.
    connectivity : int
        Neighbours that touch, as in `label`. Default: 1.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis. Default: 1.

    Returns
    -------
    Contacts
        Arrays of NumPy: `labels` of shape (n, 2), `pairs` and `area`. A call on a GPU waits for them.

    Examples
    --------
    >>> import nearfield as nf
    >>> found = nf.contacts([[1, 1, 2], [3, 3, 2]], spacing=(5, 1))
    >>> found.labels.tolist(), found.pairs, found.area
    ([[1, 2], [1, 3], [2, 3]], array([1, 2, 1]), array([5., 2., 5.]))
    """
    work = _labels_of(labels)
    lengths = lengths_of(spacing, len(work.shape))
    with keywords_named("labels"):
        found = _core.contacts(work.described(), connectivity_of(connectivity), list(lengths), _place(work, threads))
    rows = found.view(np.int64)  # NumPy's own type of 64 bits, of the two that it may have
    return Contacts(rows[:, :2], rows[:, 2], rows[:, 3].view(np.float64))
