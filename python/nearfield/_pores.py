"""Pore networks: pores and throats of a porous material, as OpenPNM names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY
from nearfield._columns import written
from nearfield._dispatch import workplace_of
from nearfield._distance import distance_transform
from nearfield._methods import _on_host
from nearfield._morphology import open_ends
from nearfield._progress import Progress, callable_of
from nearfield._request import Border, Request, Spacing, border_of, count_of, flag_of, length_of, spacing_of, threads_of
from nearfield._watershed import watershed, words

Array = np.ndarray[Any, Any]

_PORE = np.dtype(
    [
        *((name, "i8") for name in ("region", "cells", "side")),
        *((name, "f8", 3) for name in ("centre", "centroid")),
        *((name, "f8") for name in ("inscribed", "volume", "equivalent")),
    ]
)
_THROAT = np.dtype(
    [
        ("conns", "i8", 2),
        ("centre", "f8", 3),
        *((name, "f8") for name in ("inscribed", "area", "equivalent", "total", "direct")),
    ]
)
_SIDES = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")


class PoreNetwork(Mapping[str, Array]):
    """Pores and throats: arrays of NumPy by OpenPNM's names, in the order of the pores. `pore_network` makes it.

    ``network["pore.coords"]`` reads an array; `openpnm.io.network_from_porespy` takes ``dict(network)``. Lengths are in
    units of `spacing`. Coordinates are those of cells times their length, three for each pore, with 0 for missing axes.

    Attributes
    ----------
    regions : array
        Label of the pore of each cell, 0 in the solid; of the kind of the mask.

    Notes
    -----
    For each region, ``pore.coords`` is the centre of its largest ball and ``pore.inscribed_diameter`` that ball's
    diameter. ``pore.geometric_centroid`` and ``pore.volume`` measure its cells; ``pore.equivalent_diameter`` belongs to
    a ball (2-D: a disc) of the same volume; ``pore.region_label`` is its label in `regions`. With boundaries,
    ``pore.boundary`` and ``pore.xmin`` to ``pore.zmax``, of axes 0 to 2, mark pores on the ends of the sample.

    ``throat.conns`` holds the rows of the two pores. ``throat.global_peak`` is the centre of the largest ball that
    passes, ``throat.inscribed_diameter`` its diameter. ``throat.total_length`` is the distance between the centres of
    the pores over that peak, ``throat.direct_length`` the straight one. ``throat.cross_sectional_area`` (2-D: a length)
    is the root of the sum of squares, over the axes, of the faces across each that both regions share.
    ``throat.equivalent_diameter`` belongs to a disc of that area.
    """

    def __init__(self, made: _core.PoreNetwork, regions: Any, axes: int) -> None:
        self._text: Any = made.csv
        self.regions = regions
        pore, throat = np.frombuffer(made.pores(), _PORE), np.frombuffer(made.throats(), _THROAT)
        self._columns: dict[str, Array] = {
            "throat.conns": throat["conns"],
            "throat.global_peak": throat["centre"],
            "throat.inscribed_diameter": throat["inscribed"],
            "throat.cross_sectional_area": throat["area"],
            "throat.equivalent_diameter": throat["equivalent"],
            "throat.total_length": throat["total"],
            "throat.direct_length": throat["direct"],
            "pore.coords": pore["centre"],
            "pore.geometric_centroid": pore["centroid"],
            "pore.region_label": pore["region"],
            "pore.inscribed_diameter": pore["inscribed"],
            "pore.volume": pore["volume"],
            "pore.equivalent_diameter": pore["equivalent"],
        }
        if (pore["side"] >= 0).any():
            self._columns["pore.boundary"] = pore["side"] >= 0
            self._columns |= {f"pore.{name}": pore["side"] == k for k, name in enumerate(_SIDES[: 2 * axes])}
        self._columns = {name: np.array(column, order="C") for name, column in self._columns.items()}

    def __getitem__(self, name: str) -> Array:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_text": self.to_csv()}  # the library's own table cannot be pickled

    def __repr__(self) -> str:
        pores, throats = len(self["pore.volume"]), len(self["throat.conns"])
        return f"PoreNetwork({pores} pore{'s' * (pores != 1)}, {throats} throat{'s' * (throats != 1)})"

    def to_csv(self, path: str | PathLike[str] | None = None) -> str | None:
        """Writes the table that `openpnm.io.network_from_csv` reads; without a path, returns the text."""
        text: str = self._text if isinstance(self._text, str) else self._text()
        return written(text, path)

    def to_pandas(self) -> dict[str, Any]:
        """Returns a ``pandas.DataFrame`` of pores and one of throats, ``{"pore": ..., "throat": ...}``, as OpenPNM."""
        import pandas

        frames = {}
        for kind in ("pore", "throat"):
            columns: dict[str, Array] = {}
            for name, column in self.items():
                if name.startswith(kind + "."):
                    one = column.ndim == 1
                    columns |= {name: column} if one else {f"{name}[{k}]": part for k, part in enumerate(column.T)}
            frames[kind] = pandas.DataFrame(columns)
        return frames


def pore_network(
    mask: Any,
    *,
    h: float | None = None,
    regions: Any = None,
    boundaries: bool = False,
    connectivity: int = 1,
    spacing: Spacing = None,
    border: Border = "open",
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> PoreNetwork:
    """Finds the pores of a porous material, the throats between them, and their sizes. Exact and reproducible.

    Parameters
    ----------
    mask : array of 1 to 3 axes
        Cells that are not zero are pores. Distances and regions are computed where the array is, on the CPU or a GPU;
        tables are made on the CPU.
    h : float, optional
        Least amount by which a ball must shrink on its way to a larger one, in units of `spacing`, to be a pore of its
        own: the height of its peak of the distance. Default: the shortest length of a cell.
    regions : array of integers of the mask's shape, optional
        Partition of the pores: labels from 1, and 0 for solid. Default: the watershed of the distance from its peaks.
    boundaries : bool
        Add a pore without volume on the end of each open axis for each pore with cells there, and a throat to it.
    connectivity : int
        Number of coordinates that a step to a neighbour may change. With 1, the default, throats share faces.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis. Default: 1.
    border : {'open', 'closed', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis: unknown pores, solid, or the other end.
    device, threads, progress
        As in `distance_transform`.

    Returns
    -------
    PoreNetwork
        Mapping of OpenPNM's names to arrays, with `to_csv`, `to_pandas` and `regions`.

    Notes
    -----
    The method is SNOW (PoreSpy's `snow2`), but nothing is blurred, trimmed or rounded. The largest ball that passes
    from a region to a neighbouring one is centred on the cell with the largest min(D(p), D(q)) among all pairs of
    neighbours p and q of both.

    References
    ----------
    Gostick, "Versatile and efficient pore network extraction method using marker-based watershed segmentation",
    Physical Review E 96, 2017.

    Examples
    --------
    >>> import nearfield as nf
    >>> network = nf.pore_network([[0, 0, 0, 0, 0, 0, 0, 0, 0],
    ...                            [0, 1, 1, 1, 0, 1, 1, 1, 0],
    ...                            [0, 1, 1, 1, 1, 1, 1, 1, 0],
    ...                            [0, 1, 1, 1, 0, 1, 1, 1, 0],
    ...                            [0, 0, 0, 0, 0, 0, 0, 0, 0]])
    >>> network
    PoreNetwork(2 pores, 1 throat)
    >>> network["pore.coords"].tolist(), network["throat.inscribed_diameter"]
    ([[2.0, 2.0, 0.0], [2.0, 6.0, 0.0]], array([2.]))
    """
    work = workplace_of("mask", mask)
    axes = len(work.shape)
    if axes > 3:
        raise ValueError(f"mask has {axes} axes; give 1 to 3")
    near, sides = count_of("connectivity", connectivity, 1, axes), flag_of("boundaries", boundaries)
    lengths = spacing_of(spacing, axes, 0)
    height = min(lengths or (1.0,)) if h is None else length_of("h", h)
    where: dict[str, Any] = {"device": device, "threads": threads}
    squared = distance_transform(mask, squared=True, spacing=spacing, border=border, **where)
    if regions is None:
        found = watershed(
            squared, mask=squared != 0, connectivity=near, border=open_ends(border), maxima=True, h=height,
            squared=True, progress=progress if work.place.ordinal < 0 else None, **where,
        )  # fmt: skip
    else:
        given = workplace_of("regions", regions)
        if given.shape != work.shape:
            raise ValueError(f"regions has shape {given.shape} and mask {work.shape}; give one label a cell")
        found = given.array
    labels, values = np.ascontiguousarray(_on_host(found)), np.ascontiguousarray(_on_host(squared))
    request = Request((), lengths, border=border_of(border, axes, 0))
    with words("regions"):
        made = _core.network_of_regions(
            NUMPY.describe("regions", labels, False), NUMPY.describe("squared", values, False), request.options(),
            near, sides, threads_of(threads), callable_of(None),
        )  # fmt: skip
    return PoreNetwork(made, found, axes)
