"""Graphs of skeletons: tips, junctions and the branches between them, with measurements."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY
from nearfield._columns import written
from nearfield._distance import with_shape
from nearfield._methods import _on_host
from nearfield._request import Border, Spacing, border_of, length_of, said, spacing_of

Array = np.ndarray[Any, Any]

_KINDS = ("tip", "junction", "cycle", "alone")
_RULES = ("length", "ratio", "angle")
_NODE = np.dtype([("kind", "i8"), ("cell", "i8", 3)])
_BRANCH = np.dtype(
    [
        *((name, "i8") for name in ("skeleton_id", "node_id_src", "node_id_dst", "branch_type")),
        *((name, "i8", 3) for name in ("steps", "src", "dst")),
        *((name, "f8") for name in ("branch_distance", "euclidean_distance")),
        *((name, "f8") for name in ("mean_value", "least_value", "largest_value")),
    ]
)


class _Cells(NamedTuple):
    """The cells of a skeleton in C order, as the library takes them."""

    shape: tuple[int, ...]
    linear: Array
    values: Array | None
    spacing: tuple[float, ...]
    wraps: tuple[bool, ...]

    def arguments(self) -> tuple[_core.Array, _core.Array | None, int, list[int], list[float], list[bool]]:
        more = 3 - len(self.shape)
        values = None if self.values is None else NUMPY.describe("values", self.values, False)
        each = [*self.shape, *[1] * more], [*self.spacing, *[1.0] * more], [*self.wraps, *[False] * more]
        return NUMPY.describe("skeleton", self.linear, False), values, len(self.shape), *each


@dataclass(frozen=True, eq=False, repr=False)
class SkeletonGraph:
    """Branches of a skeleton, one a row, in the order of their nodes. `skeleton_graph` makes it.

    A node is a tip (a cell with one neighbour), a junction (a set of touching cells with three or more neighbours
    each), a single cell, or the first cell of a cycle without either. Nodes are numbered in C order of their first
    cells; skeletons (components) are numbered from 1 in the same order.

    Attributes
    ----------
    skeleton_id, node_id_src, node_id_dst : array of int64
        Number of the skeleton, and of the nodes at both ends.
    branch_type : array of int64
        0: tip to tip; 1: tip to junction; 2: junction to junction; 3: cycle without a node.
    steps : array of int64, shape (n, axes)
        Numbers of steps of the branch along one axis, along two and along three at once.
    branch_distance, euclidean_distance : array of float64
        Length along the steps, and straight distance between the ends, in units of `spacing`.
    mean_value, least_value, largest_value : array of float64 or None
        Statistics of `values` at the branch's cells, including those at its ends. None without `values`.
    src, dst : array of int64, shape (n, axes)
        Cells at the ends; at a junction, the cell from which the branch leaves.
    node_kind : array of int64
        Kind of each node. 0: tip; 1: junction; 2: cycle; 3: single cell.
    node_cell : array of int64, shape (nodes, axes)
        First cell of each node.
    """

    skeleton_id: Array
    node_id_src: Array
    node_id_dst: Array
    branch_type: Array
    steps: Array
    branch_distance: Array
    euclidean_distance: Array
    src: Array
    dst: Array
    mean_value: Array | None
    least_value: Array | None
    largest_value: Array | None
    node_kind: Array
    node_cell: Array
    _cells: _Cells

    def __len__(self) -> int:
        return int(self.skeleton_id.size)

    def __repr__(self) -> str:
        return f"SkeletonGraph({len(self)} branches, {self.node_kind.size} nodes)"

    def to_dict(self) -> dict[str, Array]:
        """Columns by skan's names. skan lacks the steps and the least and largest values."""
        axes, spacing = range(len(self._cells.shape)), self._cells.spacing
        columns = {
            "skeleton-id": self.skeleton_id,
            "node-id-src": self.node_id_src,
            "node-id-dst": self.node_id_dst,
            "branch-distance": self.branch_distance,
            "branch-type": self.branch_type,
        }
        for name, column in zip(("mean", "least", "largest"), (self.mean_value, self.least_value, self.largest_value)):
            if column is not None:
                columns[f"{name}-pixel-value"] = column
        for end, at in (("src", self.src), ("dst", self.dst)):
            columns |= {f"image-coord-{end}-{axis}": at[:, axis] for axis in axes}
        for end, at in (("src", self.src), ("dst", self.dst)):
            columns |= {f"coord-{end}-{axis}": at[:, axis] * spacing[axis] for axis in axes}
        columns["euclidean-distance"] = self.euclidean_distance
        return columns | {f"steps-{axis + 1}": self.steps[:, axis] for axis in axes}

    def to_csv(self, path: str | PathLike[str] | None = None) -> str | None:
        """Writes the columns of `to_dict` as CSV; without a path, returns the text."""
        return self._text(path, swc=False)

    def to_pandas(self) -> Any:
        """Returns the columns of `to_dict` as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def to_networkx(self) -> Any:
        """Returns a ``networkx.MultiGraph``: nodes have `kind` and `cell`, edges the columns of `to_dict`."""
        import networkx

        graph = networkx.MultiGraph()
        for node, (kind, cell) in enumerate(zip(self.node_kind.tolist(), self.node_cell.tolist())):
            graph.add_node(node, kind=_KINDS[kind], cell=tuple(cell))
        columns = self.to_dict()
        for row in zip(*(column.tolist() for column in columns.values())):
            edge = dict(zip(columns, row))
            graph.add_edge(edge["node-id-src"], edge["node-id-dst"], **edge)
        return graph

    def to_swc(self, path: str | PathLike[str] | None = None) -> str | None:
        """Writes SWC, as neuron tracing uses it; without a path, returns the text. x is the last axis.

        Each cell is a sample, with its radius from `values`, else 1. Each skeleton is a tree from its first cell,
        breadth first, so one step of a cycle is left out. Along a periodic axis, coordinates continue beyond the end.
        """
        return self._text(path, swc=True)

    def _text(self, path: str | PathLike[str] | None, swc: bool) -> str | None:
        return written(_core.skeleton_text(*self._cells.arguments(), swc), path)

    def to_mask(self) -> Array:
        """Cells of the graph as bool, of the skeleton's shape."""
        mask = np.zeros(self._cells.shape, bool)
        mask.reshape(-1)[self._cells.linear] = True
        return mask

    def prune(
        self, length: float | None = None, *, ratio: float | None = None, angle: float | None = None
    ) -> SkeletonGraph:
        """Removes short branches to a tip and joins the rest, until no branch is short.

        Parameters
        ----------
        length : float, optional
            Remove branches from a tip to a junction that are shorter than this, in units of `spacing`.
        ratio : float, optional
            Remove those that are shorter than this times the value, a radius, at their junction.
        angle : float, optional
            Remove those from which both sides of the shape are seen under less than so many degrees; values are radii.
            In them, the radius falls towards the tip by more than ``cos(angle / 2)`` times the length.
        """
        given = [(rule, bound) for rule, bound in enumerate((length, ratio, angle)) if bound is not None]
        if len(given) != 1:
            raise TypeError("prune() takes one of length, ratio and angle")
        ((rule, bound),) = given
        least = length_of(_RULES[rule], bound)
        if rule > 0 and self._cells.values is None:
            raise ValueError(f"{_RULES[rule]} compares with radii; give values= to skeleton_graph")
        return _graph_of(self._cells, rule, least)


def skeleton_graph(
    skeleton: Any, *, values: Any = None, spacing: Spacing = None, border: Border = "open"
) -> SkeletonGraph:
    """Finds the branches of a skeleton and the tips and junctions between them.

    Parameters
    ----------
    skeleton : array of 1 to 3 axes
        Cells that are not zero are the skeleton; a device's array is copied to the CPU. Cells that share a face, an
        edge or a corner are neighbours.
    values : array of the same shape, optional
        Values to measure along branches, such as radii from ``distance_transform(mask)``.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis.
    border : {'open', 'closed', 'periodic'} or sequence of one per axis
        Says what lies beyond the ends of an axis. Branches continue at the other end of periodic axes.

    Returns
    -------
    SkeletonGraph

    Examples
    --------
    >>> import nearfield as nf
    >>> graph = nf.skeleton_graph([[1, 0, 0, 0, 1], [0, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0]])
    >>> graph.branch_type, graph.branch_distance
    (array([1, 1, 1]), array([2.82842712, 2.82842712, 1.        ]))
    >>> graph.prune(2).branch_distance
    array([5.65685425])
    """
    cells = _on_host(with_shape("skeleton", skeleton)) != 0
    if not 1 <= cells.ndim <= 3:
        raise ValueError(f"skeleton has {cells.ndim} axes; give 1 to 3")
    lengths = spacing_of(spacing, cells.ndim, 0) or (1.0,)
    ends = border_of(border, cells.ndim, 0)
    lengths = lengths * cells.ndim if len(lengths) == 1 else lengths
    ends = ends * cells.ndim if len(ends) == 1 else ends
    if len(lengths) != cells.ndim or not all(0 < each < np.inf for each in lengths):
        raise ValueError(f"spacing is {lengths}; give a positive length for each of {cells.ndim} axes")
    index = np.flatnonzero(cells)
    radii = None
    if values is not None:
        given = _on_host(with_shape("values", values))
        if given.shape != cells.shape:
            raise ValueError(f"values has shape {given.shape} and skeleton {cells.shape}; give the same for both")
        radii = given.reshape(-1)[index].astype(np.float64)
    if len(ends) != cells.ndim:
        raise ValueError(f"border is {said(border)}; give one for all {cells.ndim} axes, or one per axis")
    wraps = tuple(each == "periodic" for each in ends)
    return _graph_of(_Cells(cells.shape, index.astype(np.int64), radii, lengths, wraps))


def _graph_of(cells: _Cells, rule: int = -1, bound: float = 0) -> SkeletonGraph:
    axes = len(cells.shape)
    at, values, nodes, branches = _core.skeleton_graph(*cells.arguments(), rule, bound)
    node, branch = np.frombuffer(nodes, _NODE), np.frombuffer(branches, _BRANCH)
    columns: dict[str, Any] = {name: np.ascontiguousarray(branch[name]) for name in _BRANCH.names or ()}
    columns |= {name: np.ascontiguousarray(columns[name][:, :axes]) for name in ("steps", "src", "dst")}
    radii = None if cells.values is None else np.frombuffer(values)
    if radii is None:
        columns |= dict.fromkeys(("mean_value", "least_value", "largest_value"))
    left = cells._replace(linear=np.frombuffer(at, np.int64), values=radii)
    cell = np.ascontiguousarray(node["cell"][:, :axes])
    return SkeletonGraph(**columns, node_kind=node["kind"].copy(), node_cell=cell, _cells=left)
