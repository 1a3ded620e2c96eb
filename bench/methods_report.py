#!/usr/bin/env python3
"""Turns the JSON of `bench_all methods` into the tables of docs/methods.md, between their markers.

methods_report.py                  writes the tables of bench/results/methods
methods_report.py --keep FOLDER    takes methods.json and jump_flood.json of a run on a GPU there first
"""

import argparse
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "methods"
PAGE = ROOT / "docs" / "methods.md"
KEPT = ("methods.json", "jump_flood.json")
VARIANTS = (
    ("jump-flood", "halving"),
    ("jump-flood doubling", "doubling"),
    ("jump-flood +1", "JFA+1"),
    ("jump-flood +2", "JFA+2"),
    ("jump-flood 1+", "1+JFA"),
    ("jump-flood two sites", "two sites a cell"),
    ("jump-flood squared", "the series twice"),
    ("jump-flood randomised", "randomised"),
)
FAMILIES = (
    "exact",
    "banding",
    "jump-flood",
    "jump-flood 1+",
    "jump-flood squared",
    "plane-sweep",
    "plane-sweep independent",
    "brushfire parallel",
    "chamfer iterated",
)


def size_of(shape):
    return f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 else "x".join(map(str, shape))


def percent(density):
    return f"{density * 100:g} %"


class Sheet:
    def __init__(self, path):
        said = json.loads(path.read_text())
        self.where = f"{said['device']}, {said['details']}, {said['compiler']}, {said['date']}"
        self.rows = {(r["method"], tuple(r["shape"]), r["density"]): r for r in said["results"]}
        self.shapes = list(dict.fromkeys(tuple(r["shape"]) for r in said["results"]))
        self.densities = sorted({r["density"] for r in said["results"]})

    def get(self, method, shape, density):
        return self.rows.get((method, shape, density))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def errors_table(sheet):
    """Wrong cells in a million."""

    def cell(row):
        if row is None:
            return ""
        e = row["errors"]
        cells = 1
        for n in row["shape"]:
            cells *= n
        share = (e["wrong_sites"] + e["missing"]) / cells * 1e6
        return "0" if share == 0 else f"{share:.3g} ({e['largest_error']:.2g})"

    columns = [(s, d) for s in sheet.shapes if len(s) == 2 or s[0] > 128 for d in sheet.densities]
    head = ["variant", *(f"{size_of(s)}, {percent(d)}" for s, d in columns)]
    rows = [[name, *(cell(sheet.get(key, s, d)) for s, d in columns)] for key, name in VARIANTS]
    rows += [
        [key, *(cell(sheet.get(key, s, d)) for s, d in columns)]
        for key in ("plane-sweep", "plane-sweep independent", "brushfire parallel")
    ]
    return table(head, rows)


def times_table(sheet):
    columns = [(s, d) for s in sheet.shapes for d in sheet.densities]
    head = ["method", *(f"{size_of(s)}, {percent(d)}" for s, d in columns)]
    rows = []
    for key in FAMILIES:
        found = [sheet.get(key, s, d) for s, d in columns]
        rows.append([key, *("" if r is None else f"{r['ms']:.3g}" for r in found)])
    return table(head, rows)


def work_table(sheet):
    """Rounds and bytes a cell, at 1 % of sites."""
    shapes = [s for s in sheet.shapes if len(s) == 2]
    head = ["method", *(f"{size_of(s)}: rounds | bytes a cell" for s in shapes)]
    rows = []
    for key in FAMILIES:
        cells = []
        for s in shapes:
            row = sheet.get(key, s, 0.01)
            cells.append("" if row is None else f"{row['rounds']} | {row['bytes'] / (s[0] * s[1]):.0f}")
        rows.append([key, *cells])
    return table(" | ".join(head).split(" | "), rows)


def floors_table(sheet):
    """Each round of jump flooding as times one read and one write of the sites at the speed of a copy."""
    shapes = [s for s in sheet.shapes if sheet.get("jump-flood", s, 0.01)]
    steps = [1 << k for k in range(13, -1, -1)]
    head = ["size", "all, ms", "steps, ms", "Mcells/s of the steps", *(f"{k}" for k in steps)]
    rows = []
    for s in shapes:
        row = sheet.get("jump-flood", s, 0.01)
        found = {st["name"]: st for st in row["stages"]}
        stepping = sum(st["ms"] for name, st in found.items() if name.startswith("step"))
        cells = 1
        for n in s:
            cells *= n
        floors = [found.get(f"step {k}") for k in steps]
        rows.append(
            [
                size_of(s),
                f"{row['ms']:.3g}",
                f"{stepping:.3g}",
                f"{cells / stepping / 1e3:,.0f}",
                *("" if f is None else f"{f['floors']:.1f}" for f in floors),
            ]
        )
    return table(head, rows)


def insert(page, marker, text):
    start, end = f"<!-- methods: {marker} -->", "<!-- /methods -->"
    begin = page.index(start) + len(start)
    return f"{page[:begin]}\n\n{text}\n\n{page[page.index(end, begin) :]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    for name in KEPT if options.keep else ():
        (RESULTS / name).write_bytes((options.keep / name).read_bytes())
    methods, rounds = (Sheet(RESULTS / name) for name in KEPT)
    page = PAGE.read_text()
    for marker, text in (
        ("errors", f"{errors_table(methods)}\n\n{methods.where}."),
        ("times", f"{times_table(methods)}\n\n{methods.where}."),
        ("work", f"{work_table(methods)}\n\n{methods.where}."),
        ("floors", f"{floors_table(rounds)}\n\n{rounds.where}."),
    ):
        page = insert(page, marker, text)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
