"""Tables of `bench_all targets`: bad inputs, odd shapes, time by size, small images, workspace."""

import math

from report_data import SITES, beside, number, percent, size_name, table, times

USUAL_DENSITY = 0.1


class Targets:
    """Rows of `bench_all targets` by part."""

    def __init__(self, sheet):
        self.sheet = sheet
        self.rows = [row | {"shape": tuple(row["shape"]), "cells": math.prod(row["shape"])} for row in sheet["targets"]]

    def part(self, name, **wanted):
        rows = (row for row in self.rows if row["part"] == name)
        return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]

    def bad(self):
        """(picture, shape, field, ms, times of 10 % random sites of the shape)"""
        usual = {(row["shape"], row["field"]): row["ms"] for row in self.part("bad", data="random")}
        return [
            (row["data"], row["shape"], row["field"], row["ms"], row["ms"] / usual[row["shape"], row["field"]])
            for row in self.part("bad")
            if row["data"] != "random"
        ]

    def odd(self):
        """(shape, shape compared with, field, ms, times of the time a cell there)"""
        rows, found = self.part("odd"), []
        for row in rows:
            if len(set(row["shape"])) == 1 and row["shape"][0] % 2 == 0:
                continue
            usual = [
                other
                for other in rows
                if other["field"] == row["field"]
                and len(other["shape"]) == len(row["shape"])
                and len(set(other["shape"])) == 1
                and other["shape"][0] % 2 == 0
            ]
            if usual:
                near = min(usual, key=lambda other: abs(math.log(other["cells"] / row["cells"])))
                apart = row["ms"] / row["cells"] / (near["ms"] / near["cells"])
                found.append((row["shape"], near["shape"], row["field"], row["ms"], apart))
        return found

    def flat(self):
        """{(axes, field, density): {shape: picoseconds a cell}}"""
        found = {}
        for row in self.part("flat"):
            line = found.setdefault((len(row["shape"]), row["field"], row["density"]), {})
            line[row["shape"]] = row["ms"] / row["cells"] * 1e9
        return found


def unique(values):
    return list(dict.fromkeys(values))


def bad_table(targets, fields):
    found = {(picture, shape): (ms, apart) for picture, shape, field, ms, apart in targets.bad() if field in fields}
    shapes = unique(shape for _, shape in found)
    titles = ["image", *(f"{size_name(shape)} ms" for shape in shapes)]
    usual = {row["shape"]: row["ms"] for row in targets.part("bad", data="random") if row["field"] in fields}
    lines = [["10 % random", *(number(usual[shape]) for shape in shapes)]]
    for picture in unique(picture for picture, _ in found):
        lines.append([picture, *(beside(*found.get((picture, shape), (None, None))) for shape in shapes)])
    return table(titles, lines)


def odd_table(targets):
    found = targets.odd()
    lines = []
    for shape, near in unique((shape, near) for shape, near, *_ in found):
        line = [size_name(shape), size_name(near)]
        for fields in (("distance",), SITES):
            row = next((row for row in found if row[0] == shape and row[2] in fields), None)
            line.append(beside(row[3], row[4]) if row else "")
        lines.append(line)
    return table(["shape", "beside", "distance ms", "site ms"], lines)


def flat_table(targets):
    found = targets.flat()
    columns = unique((field, density) for _, field, density in found)
    titles = ["image", *(f"{'distance' if f == 'distance' else 'site'}, {percent(d)}" for f, d in columns)]
    lines = []
    for axes in sorted({axes for axes, _, _ in found}):
        for shape in unique(shape for key, line in found.items() if key[0] == axes for shape in line):
            values = (found.get((axes, *column), {}).get(shape) for column in columns)
            lines.append([size_name(shape), *(f"{v:.2f}" if v else "" for v in values)])
        spread = (found.get((axes, *column), {}).values() for column in columns)
        lines.append([f"most / least, {axes} axes", *(times(max(v) / min(v)) if v else "" for v in spread)])
    return table(titles, lines)


HOW = {"call": "a call", "graph": "a graph of one", "in graph": "within a graph", "wait": "call and wait"}


def small_table(targets):
    found = {(r["shape"], r["density"], r["field"], r["how"]): 1e3 * r["ms"] for r in targets.part("small")}
    fields = unique(field for _, _, field, _ in found)
    lines = []
    for field in fields:
        name = "distance" if field == "distance" else "site"
        for shape, density in unique(key[:2] for key in found):
            values = (found.get((shape, density, field, how)) for how in HOW)
            lines.append([name, size_name(shape), percent(density), *(f"{v:.1f}" if v else "" for v in values)])
    return table(["", "image", "sites", *HOW.values()], lines)


def workspace_table(targets):
    found = {(r["shape"], r["field"]): r["bytes"] / r["cells"] for r in targets.part("workspace")}
    fields = unique(field for _, field in found)
    names = {"distance": "distance", "index32": "site, int32", "index": "site, int64"}
    lines = [
        [size_name(shape), *(times(found.get((shape, field))) for field in fields)]
        for shape in unique(shape for shape, _ in found)
    ]
    return table(["shape", *(names[f] for f in fields)], lines)


def target_section(sheet):
    targets = Targets(sheet)
    where = f"{sheet['device']} ({sheet['details']})" if sheet["device"] else "Planned without a GPU"
    parts = [f"{where}, nearfield {sheet['version']} built by {sheet['compiler']}, {sheet['date']}."]
    if targets.part("bad"):
        parts += [
            "**Bad inputs: distances**, milliseconds, and in brackets multiples of the time of 10 % random sites",
            bad_table(targets, ("distance",)),
        ]
        parts += ["**Bad inputs: nearest sites** (int32), the same", bad_table(targets, SITES)]
    if targets.part("odd"):
        text = "in brackets multiples of the time a cell of the square or cube with the most similar number of cells"
        parts += [f"**Odd shapes**, 10 % random sites, {text}", odd_table(targets)]
    if targets.part("flat"):
        parts += [
            "**Picoseconds a cell by size** (sites as int64 for all, since the largest need it)",
            flat_table(targets),
        ]
    if targets.part("small"):
        parts += ["**Small images**, microseconds", small_table(targets)]
    if targets.part("workspace"):
        parts += ["**Workspace**, bytes a cell besides image and field", workspace_table(targets)]
    return "\n\n".join(parts)
