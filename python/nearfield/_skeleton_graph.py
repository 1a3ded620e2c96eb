"""Graphs of skeletons: tips, junctions and the branches between them, measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np

from nearfield._distance import with_shape
from nearfield._methods import _on_host
from nearfield._request import Spacing, length_of, spacing_of
from nearfield._skeleton_cells import Array, Cells, joined, kept, tree, with_pairs

Measured = tuple[Array | None, Array | None, Array | None]

TIP, JUNCTION, CYCLE, ALONE = 0, 1, 2, 3


@dataclass(frozen=True, eq=False, repr=False)
class SkeletonGraph:
    """Branches of a skeleton, one a row, in the order of their nodes. Made by `skeleton_graph`.

    A node is a tip (a cell with one neighbour), a junction (all cells with three or more neighbours that touch each
    other), a cell alone, or the first cell of a cycle without either. Nodes are numbered in C order of their first
    cells, skeletons (components) from 1 in the same order.

    Attributes
    ----------
    skeleton_id, node_id_src, node_id_dst : array of int64
    branch_type : array of int64
        0 tip to tip, 1 tip to junction, 2 junction to junction, 3 cycle without a node.
    steps : array of int64, shape (n, axes)
        How many steps of the branch go along one axis, two and three at once.
    branch_distance, euclidean_distance : array of float64
        Length along the steps, and in a straight line between the ends, in units of `spacing`.
    mean_value, least_value, largest_value : array of float64 or None
        Of `values` at the branch's cells, those at its ends included.
    src, dst : array of int64, shape (n, axes)
        Cells of the ends; of a junction the one from which the branch leaves.
    node_kind : array of int64
        Of each node: 0 tip, 1 junction, 2 cycle, 3 alone.
    node_cell : array of int64, shape (nodes, axes)
        Its first cell.
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
    _cells: Cells
    _branch_of_cell: Array  # -1 at nodes other than tips

    def __len__(self) -> int:
        return int(self.skeleton_id.size)

    def __repr__(self) -> str:
        return f"SkeletonGraph({len(self)} branches, {self.node_kind.size} nodes)"

    def to_dict(self) -> dict[str, Array]:
        """Columns by skan's names; those it lacks are the steps and the least and largest values."""
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
        """Writes the columns of `to_dict`; without a path the text is returned."""
        columns = self.to_dict()
        rows = zip(*(column.tolist() for column in columns.values()))
        lines = chain([columns], (map(_text_of, row) for row in rows))
        text = "".join(",".join(line) + "\n" for line in lines)
        if path is None:
            return text
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return None

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` of the columns of `to_dict`."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def to_networkx(self) -> Any:
        """A ``networkx.MultiGraph``: nodes with `kind` and `cell`, edges with the columns of `to_dict`."""
        import networkx

        graph = networkx.MultiGraph()
        for node, (kind, cell) in enumerate(zip(self.node_kind.tolist(), self.node_cell.tolist())):
            graph.add_node(node, kind=("tip", "junction", "cycle", "alone")[kind], cell=tuple(cell))
        columns = self.to_dict()
        for row in zip(*(column.tolist() for column in columns.values())):
            edge = dict(zip(columns, row))
            graph.add_edge(edge["node-id-src"], edge["node-id-dst"], **edge)
        return graph

    def to_swc(self, path: str | PathLike[str] | None = None) -> str | None:
        """SWC, as neuron tracing uses it: a sample for each cell, radii from `values`, else 1; x is the last axis.

        A tree for each skeleton, from its first cell, breadth first: of a cycle one step is left out.
        """
        cells = self._cells
        at = np.stack(np.unravel_index(cells.linear, cells.shape), 1) * np.array(cells.spacing)
        place = np.zeros((cells.linear.size, 3))
        place[:, : at.shape[1]] = at[:, ::-1]
        radius = np.ones(cells.linear.size) if cells.values is None else cells.values
        lines = ["# SWC: id type x y z radius parent\n"]
        number: dict[int, int] = {}
        for cell, parent in tree(cells):
            number[cell] = len(number) + 1
            words = map(_text_of, (*place[cell].tolist(), float(radius[cell])))
            lines.append(f"{number[cell]} 0 {' '.join(words)} {number.get(parent, -1)}\n")
        text = "".join(lines)
        if path is None:
            return text
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return None

    def to_mask(self) -> Array:
        """The cells of the graph: bool, of the skeleton's shape."""
        mask = np.zeros(self._cells.shape, bool)
        mask.reshape(-1)[self._cells.linear] = True
        return mask

    def prune(self, length: float | None = None, *, ratio: float | None = None) -> SkeletonGraph:
        """The graph without its short branches to a tip, the rest joined, until no branch is short.

        Parameters
        ----------
        length : float, optional
            Branches from a tip to a junction that are shorter go, in units of `spacing`.
        ratio : float, optional
            Those go that are shorter than this times the value at their junction: a radius there.
        """
        if (length is None) == (ratio is None):
            raise TypeError("prune() takes one of length and ratio")
        least = length_of("length" if ratio is None else "ratio", length if ratio is None else ratio)
        if ratio is not None and self._cells.values is None:
            raise ValueError("ratio compares with radii; give values= to skeleton_graph")
        graph = self
        while True:
            short = graph.branch_type == 1
            bound = least * (graph._value_at_junction() if ratio is not None else np.ones(len(graph)))
            short &= graph.branch_distance < bound
            if not short.any():
                return graph
            gone = (graph._branch_of_cell >= 0) & np.append(short, False)[graph._branch_of_cell]
            graph = _graph_of(kept(graph._cells, ~gone))

    def _value_at_junction(self) -> Array:
        """Of branches from a tip to a junction."""
        cells = self._cells
        is_tip = self.node_kind[self.node_id_src] == TIP
        at = np.where(is_tip[:, None], self.dst, self.src)
        assert cells.values is not None
        values: Array = cells.values[np.searchsorted(cells.linear, np.ravel_multi_index(tuple(at.T), cells.shape))]
        return values


def skeleton_graph(skeleton: Any, *, values: Any = None, spacing: Spacing = None) -> SkeletonGraph:
    """Branches of a skeleton and the tips and junctions between them.

    Parameters
    ----------
    skeleton : array of 1 to 3 axes
        What is not zero; copied to the CPU from a device. Cells that share a face, an edge or a corner are neighbours.
    values : array of the same shape, optional
        Measured along branches: ``distance_transform(mask)`` gives radii.
    spacing : float or sequence of floats, optional
        Length of a cell along each axis.

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
    lengths = lengths * cells.ndim if len(lengths) == 1 else lengths
    if len(lengths) != cells.ndim or not all(0 < each < math.inf for each in lengths):
        raise ValueError(f"spacing is {lengths}; give a positive length for each of {cells.ndim} axes")
    index = np.flatnonzero(cells)
    radii = None
    if values is not None:
        given = _on_host(with_shape("values", values))
        if given.shape != cells.shape:
            raise ValueError(f"values has shape {given.shape} and skeleton {cells.shape}; give the same for both")
        radii = given.reshape(-1)[index].astype(np.float64)
    return _graph_of(with_pairs(cells.shape, index, radii, lengths))


# ---- the work --------------------------------------------------------------------------------------------------------


def _graph_of(cells: Cells) -> SkeletonGraph:
    n, a, b = cells.linear.size, cells.first, cells.second
    degree = np.bincount(a, minlength=n) + np.bincount(b, minlength=n)
    path, junction = degree == 2, degree > 2
    component = joined(n, a, b)
    within = junction[a] & junction[b]
    node = joined(n, a[within], b[within])  # of cells that are no path, the first one of their node
    along = path[a] & path[b]
    line = joined(n, a[along], b[along])  # of path cells, the first one of their branch
    # Pairs that end a branch: from a path cell to a node. Two for each branch, none for a cycle.
    ends = path[a] != path[b]
    inner, outer = np.where(path[a], a, b)[ends], np.where(path[a], b, a)[ends]
    order = np.lexsort((outer, node[outer], line[inner]))
    lines, from_, to = line[inner][order][::2], outer[order][::2], outer[order][1::2]
    direct = ~path[a] & ~path[b] & (node[a] != node[b])
    turned = node[a[direct]] > node[b[direct]]
    x, y = np.where(turned, b[direct], a[direct]), np.where(turned, a[direct], b[direct])
    cycles = np.setdiff1d(line[path], lines)
    src, dst = np.concatenate([from_, x, cycles]), np.concatenate([to, y, cycles])
    # A branch by its first cell: of its path, or else the end that is a tip.
    key = np.concatenate([lines, np.where(degree[x] == 1, x, y), cycles])
    is_cycle = np.arange(key.size) >= key.size - cycles.size
    node[cycles] = cycles
    is_node = ~path
    is_node[cycles] = True
    order = np.lexsort((key, node[dst], node[src], component[src]))
    branch_of = np.full(n, -1)
    branch_of[key[order]] = np.arange(key.size)
    branch_of[path] = branch_of[line[path]]
    src, dst, is_cycle = src[order], dst[order], is_cycle[order]
    for end in (src, dst):
        tips = (degree[end] == 1) & ~is_cycle
        branch_of[end[tips]] = np.flatnonzero(tips)
    return _measured(cells, degree, component, node, is_node, src, dst, is_cycle, branch_of)


def _measured(
    cells: Cells,
    degree: Array,
    component: Array,
    node: Array,
    is_node: Array,
    src: Array,
    dst: Array,
    is_cycle: Array,
    branch_of: Array,
) -> SkeletonGraph:
    a, b, step = cells[4:]
    axes, count = len(cells.shape), src.size
    # A pair is of its path cell's branch, else of its tip's.
    path = (degree == 2)[a]
    owner = np.where(path | ((degree == 1)[a] & (degree != 2)[b]), branch_of[a], branch_of[b])
    owner = np.where((degree > 2)[a] & (degree > 2)[b], -1, owner)
    of = owner >= 0
    kinds = np.bincount(owner[of] * (1 << axes) + step[of], minlength=count << axes).reshape(count, 1 << axes)
    bits = np.array([bin(mask).count("1") for mask in range(1 << axes)])
    steps = np.stack([kinds[:, bits == k + 1].sum(1) for k in range(axes)], 1)
    squares = [each * each for each in cells.spacing]
    distance = np.zeros(count)
    for mask in range(1, 1 << axes):
        distance += kinds[:, mask] * math.sqrt(sum(squares[axis] for axis in range(axes) if mask >> axis & 1))
    first = np.unique(node[is_node])
    kind = np.select([degree[first] == 0, degree[first] == 1, degree[first] == 2], [ALONE, TIP, CYCLE], JUNCTION)
    place = np.stack(np.unravel_index(cells.linear, cells.shape), 1)
    apart = ((place[dst] - place[src]) * np.array(cells.spacing)) ** 2
    number = np.searchsorted(np.unique(component), component[src]) + 1
    junctions = (degree[src] > 2).astype(np.int64) + (degree[dst] > 2)
    mean, least, largest = _values_along(cells, degree, src, dst, branch_of)
    return SkeletonGraph(
        skeleton_id=number,
        node_id_src=np.searchsorted(first, node[src]),
        node_id_dst=np.searchsorted(first, node[dst]),
        branch_type=np.where(is_cycle, 3, junctions),
        steps=steps,
        branch_distance=distance,
        euclidean_distance=np.sqrt(apart.sum(1)),
        src=place[src],
        dst=place[dst],
        mean_value=mean,
        least_value=least,
        largest_value=largest,
        node_kind=kind,
        node_cell=place[first],
        _cells=cells,
        _branch_of_cell=branch_of,
    )


def _values_along(cells: Cells, degree: Array, src: Array, dst: Array, branch_of: Array) -> Measured:
    """Mean, least and largest: of path cells and of the cells at both ends."""
    if cells.values is None:
        return None, None, None
    path = np.flatnonzero((degree == 2) & (branch_of >= 0))
    no_path = (degree[src] != 2), (degree[dst] != 2)
    at = np.concatenate([path, src[no_path[0]], dst[no_path[1]]])
    of = np.concatenate([branch_of[path], np.flatnonzero(no_path[0]), np.flatnonzero(no_path[1])])
    value, count = cells.values[at], src.size
    least, largest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, of, value)
    np.maximum.at(largest, of, value)
    return np.bincount(of, value, count) / np.bincount(of, minlength=count), least, largest


def _text_of(value: Any) -> str:
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
