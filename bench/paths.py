#!/usr/bin/env python3
"""Times geodesic distances, paths and distance fields for robots beside other libraries, on the same inputs.

paths.py host [--quick] [--json FILE]      arrays in memory, beside scikit-image's MCP, dijkstra3d and nav2's inflation
paths.py device [--quick] [--json FILE]    CuPy's arrays
paths.py --table FILE...                   writes docs/tables/paths.md (host) and paths-device.md from such files

On the host one thread runs, and its CPU time counts, which other programs change less than they do the clock's. Peers
that are not installed are named and left out. Costs of a peer that differ from ours are an error. A maze is
perfect: there is one way between two of its cells. Needs nearfield and NumPy.
"""

import ctypes
import datetime
import importlib
import importlib.metadata
import pathlib
import statistics
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import partial

import numpy as np

from forms import Device, Host, smooth_mask
from report_data import number, table
from report_pages import write_table
from shapes import main

SIDES = {"host": {2: (2048, 256), 3: (192, 48)}, "device": {2: (4096, 512), 3: (256, 64)}}
HEAD = (
    "Paths, on the {place}",
    "Milliseconds, in brackets how many times as long as ours; on the host CPU time of one thread, a median of three, "
    "peers once. Peers ran in the same process on the same arrays: scikit-image's MCP and dijkstra3d flood from the "
    "same seed along axes; nav2 is its inflation as its documentation describes it, in C++ "
    "(`bench/nav2_inflation.cpp`). A maze has corridors of the width said; a path leads from the first free cell to "
    "the last. `./dev bench paths {place}` times every row.",
)
CALLS = ("along axes", "1000 seeds, with seeds", "quasi-Euclidean")


def corridors(side, wide, edges):
    """Rooms of wide * wide cells with walls of one cell, open between the pairs (a, b), b right of a or below it."""
    pitch = wide + 1
    rooms = (side - 1) // pitch
    mask = np.zeros((side, side), bool)
    for row in range(wide):
        for column in range(wide):
            mask[1 + row : 1 + rooms * pitch : pitch, 1 + column : 1 + rooms * pitch : pitch] = True
    (y, x), down = np.divmod(edges[:, 0], rooms), edges[:, 1] != edges[:, 0] + 1
    for k in range(wide):
        mask[1 + y * pitch + np.where(down, wide, k), 1 + x * pitch + np.where(down, k, wide)] = True
    return mask


def maze(random, side, wide):
    """A perfect maze, from a random spanning tree by Kruskal's algorithm."""
    rooms = (side - 1) // (wide + 1)
    root, edges = list(range(rooms * rooms)), []

    def find(a):
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        return a

    for edge in random.permutation(2 * rooms * rooms).tolist():
        a, down = edge // 2, edge % 2
        if (a // rooms if down else a % rooms) < rooms - 1:
            b = a + (rooms if down else 1)
            one, other = find(a), find(b)
            if one != other:
                root[one] = other
                edges.append((a, b))
    return corridors(side, wide, np.array(edges))


def spiral(side, wide):
    """A corridor that winds to the middle."""
    rooms = (side - 1) // (wide + 1)
    low, high, way = [0, 0], [rooms, rooms], []
    while low[0] < high[0] and low[1] < high[1]:
        way += [low[0] * rooms + x for x in range(low[1], high[1])]
        low[0] += 1
        way += [y * rooms + high[1] - 1 for y in range(low[0], high[0])]
        high[1] -= 1
        if low[0] < high[0]:
            way += [(high[0] - 1) * rooms + x for x in reversed(range(low[1], high[1]))]
            high[0] -= 1
        if low[1] < high[1]:
            way += [y * rooms + low[1] for y in reversed(range(low[0], high[0]))]
            low[1] += 1
    return corridors(side, wide, np.sort(np.stack([way[:-1], way[1:]], axis=1), axis=1))


def inputs(side2, side3, random):
    """{name: mask}"""
    yield "open room", np.ones((side2, side2), bool)
    yield "30 % obstacles", random.random((side2, side2)) > 0.3
    yield "blobs", smooth_mask(random, (side2, side2), 8, 0.4) > 0
    for wide in (1, 3):
        yield f"maze, width {wide}", maze(random, side2, wide)
    yield "spiral, width 3", spiral(side2, 3)
    yield "caves", smooth_mask(random, (side3,) * 3, 6, 0.5) > 0


def first_seed(mask):
    """In the first cell of what hangs together with most of the rest, so that the flood is no puddle."""
    import nearfield as nf

    parts = np.asarray(nf.label(mask))
    largest = np.bincount(parts.ravel())[1:].argmax() + 1
    return np.argwhere(parts == largest)[:1]


def peers(mask, seed, axial):
    """(distribution, call that gives costs of steps along axes)."""

    def mcp():
        graph = importlib.import_module("skimage.graph")
        costs = np.where(mask, 1.0, -1.0)
        found = graph.MCP(costs, fully_connected=not axial)
        return lambda: found.find_costs([tuple(seed[0])])[0]

    def dijkstra():
        library = importlib.import_module("dijkstra3d")
        weights = np.where(mask, 1, np.inf).astype(np.float32)
        kind = {2: 4 if axial else 8, 3: 6 if axial else 26}[mask.ndim]
        return lambda: library.distance_field(weights, source=tuple(map(int, seed[0])), connectivity=kind)

    yield "scikit-image", mcp
    yield "dijkstra3d", dijkstra


def same_costs(ours, theirs, seed):
    """scikit-image counts the seed's cell too."""
    reached = ours != np.iinfo(ours.dtype).max
    found = np.asarray(theirs, float)
    return bool((ours[reached] == (found - found[tuple(seed[0])])[reached].round()).all())


class OneThread(Host):
    """Arrays in memory, timed by what the process took of a core."""

    def median_ms(self, call, repeat):
        call()
        taken = []
        for _ in range(repeat):
            start = time.process_time()
            call()
            taken.append(1e3 * (time.process_time() - start))
        return statistics.median(taken)


def named(peer):
    """With its version, where it is a distribution."""
    with suppress(importlib.metadata.PackageNotFoundError):
        return f"{peer} {importlib.metadata.version(peer)}"
    return peer


class Sheet:
    """Rows, timed one after the other."""

    def __init__(self, place, quick, host=Host):
        self.device = host() if place == "host" else Device()
        self.repeat, self.rows, self.missing = 1 if quick else self.device.repeat, [], set()

    def add(self, title, shape, name, call, of_peers=()):
        row = {"input": title, "shape": shape, "call": name, "peers": []}
        row["ms"] = self.device.median_ms(call, self.repeat)
        for distribution, theirs, *part in of_peers:
            try:
                run, times = theirs(), part[0] if part else 1
            except (ImportError, OSError):
                self.missing.add(distribution)
                continue
            row["peers"].append([named(distribution), times * self.device.median_ms(run, 1)])
        self.rows.append(row)
        beside = "".join(f"  {who} {ms:.1f} ms, {ms / row['ms']:.1f}x" for who, ms in row["peers"])
        print(f"{title:16} {'x'.join(map(str, shape)):12} {name:26} {row['ms']:10.2f} ms{beside}", flush=True)


def add_floods(nf, sheet, place, quick, random, sides):
    for title, mask in inputs(*sides, random):
        seed = first_seed(mask)
        marks = np.zeros(mask.shape, np.int32)
        marks[tuple(seed.T)] = 1
        many = marks.copy()
        many.flat[random.permutation(np.flatnonzero(mask))[:1000]] = 2
        given, one, thousand = (sheet.device.move(each) for each in (mask, marks, many))
        of_peers = list(peers(mask, seed, True)) if place == "host" else []
        if quick:
            check(nf.geodesic(mask, marks, weights="cityblock"), seed, of_peers)
        flood = partial(nf.geodesic, given, one, weights="cityblock", threads=1)
        sheet.add(title, mask.shape, "along axes", flood, of_peers)
        spread = partial(nf.geodesic, given, thousand, weights="cityblock", return_sites=True, threads=1)
        sheet.add(title, mask.shape, "1000 seeds, with seeds", spread)
        if mask.ndim == 2:
            sheet.add(title, mask.shape, "quasi-Euclidean", partial(nf.geodesic, given, one, threads=1))


def check(ours, seed, of_peers):
    for distribution, theirs in of_peers:
        with suppress(ImportError):
            assert same_costs(ours, theirs()(), seed), f"{distribution} gives other costs"


def nav2(costs):
    """The inflation of nav2 by its documentation, at its default radii."""
    with tempfile.TemporaryDirectory() as folder:
        library, source = pathlib.Path(folder) / "nav2.so", pathlib.Path(__file__).with_name("nav2_inflation.cpp")
        subprocess.run(["c++", "-std=c++20", "-O3", "-shared", "-fPIC", source, "-o", library], check=True)
        inflate = ctypes.CDLL(str(library)).inflate
    image, out = np.ctypeslib.ndpointer(np.uint8, 2), np.empty_like(costs)
    inflate.argtypes = [image, image, ctypes.c_int, ctypes.c_int] + 4 * [ctypes.c_double]

    def run():
        inflate(costs, out, *costs.shape, 0.05, 0.1, 0.55, 10.0)
        return out

    return run


def add_robots(nf, sheet, place, random, sides):
    walls = smooth_mask(random, (sides[0],) * 2, 8, 0.7) > 0
    rock = smooth_mask(random, (sides[1],) * 3, 6, 0.8) <= 0
    for title, occupancy in (("walls", walls), ("caves", rock)):
        there = sheet.device.move(occupancy)
        field = nf.Esdf(occupancy.shape, like=there, threads=1)
        sheet.add(title, occupancy.shape, "distance field, kept", partial(field.update, there))
    bytes_ = np.where(walls, 254, 0).astype(np.uint8)
    costs = partial(nf.inflate_costmap, sheet.device.move(bytes_), threads=1)
    sheet.add("walls", walls.shape, "costmap", costs, [("nav2", partial(nav2, bytes_))] if place == "host" else [])
    free = np.argwhere(~walls)
    ends = free[0], free[-1]
    sheet.add("walls", walls.shape, "path, shortest", partial(nf.plan_path, sheet.device.move(walls), *ends, threads=1))
    if place == "host":
        roads = nf.roadmap(walls)
        sheet.add("walls", walls.shape, "roadmap", partial(nf.roadmap, walls, threads=1))
        sheet.add("walls", walls.shape, "path on the roadmap", partial(roads.path, *ends))


def measure(place, quick):
    import nearfield as nf

    sheet, random = Sheet(place, quick, OneThread), np.random.default_rng(5)
    sides = [SIDES[place][axes][quick] for axes in (2, 3)]
    add_floods(nf, sheet, place, quick, random, sides)
    add_robots(nf, sheet, place, random, sides)
    info = nf.info()
    machine = info.devices[0].name if place == "device" else f"{info.cores} cores, {info.simd}"
    if sheet.missing:
        print(f"not installed: {', '.join(sorted(sheet.missing))}")
    return {"place": place, "device": machine, "date": f"{datetime.date.today()}", "rows": sheet.rows}


def write_rows(sheet, head, said):
    """The table of a sheet: its name, title and text with {place}, and what measure() gave."""
    rows = []
    for row in said["rows"]:
        size = "x".join(map(str, row["shape"]))
        beside = [f"{who}: {number(ms)} ms, {ms / row['ms']:.1f}x" for who, ms in row["peers"]]
        rows.append([f"{row['input']}, {size}", row["call"], number(row["ms"]), "; ".join(beside)])
    text = f"{said['device']}, {said['date']}.\n\n" + table(
        ["input", "call", "ms", "beside, and how much faster"], rows
    )
    write_table(f"{sheet}-{said['place']}", text, tuple(each.format(place=said["place"]) for each in head))


def write_paths(said):
    """A line for each input that is flooded, and for each other call."""
    floods, others, peers = {}, [], {}
    for row in said["rows"]:
        size, ms = "x".join(map(str, row["shape"])), number(row["ms"])
        beside = {who.split()[0]: f"{number(its)} ({its / row['ms']:.1f})" for who, its in row["peers"]}
        peers |= {who.split()[0]: who for who, _ in row["peers"]}
        if row["call"] in CALLS:
            floods.setdefault(f"{row['input']}, {size}", {}).update({row["call"]: ms, **beside})
        else:
            others.append(
                [f"{row['call']}, {row['input']} {size}", ms, "; ".join(f"{w} {t}" for w, t in beside.items())]
            )
    of_floods = [who for who in peers if any(who in line for line in floods.values())]
    lines = [[title, *(line.get(each, "") for each in (*CALLS, *of_floods))] for title, line in floods.items()]
    text = f"{said['device']}, {said['date']}.\n\n" + table(["geodesic", *CALLS, *map(peers.get, of_floods)], lines)
    text += "\n\n" + table(["other calls", "ms", "beside"], others)
    name = "paths" if said["place"] == "host" else "paths-device"
    write_table(name, text, tuple(each.format(place=said["place"]) for each in HEAD))


if __name__ == "__main__":
    main(__doc__, measure, write_paths)
