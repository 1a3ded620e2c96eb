#!/usr/bin/env python3
"""Turns the JSON of `bench_all methods` into the tables of docs/methods.md, between their markers, and its drawn pictures.

methods_report.py                  writes the tables of bench/results/methods
methods_report.py --keep FOLDER    takes what bench/run_methods.sh left in FOLDER first
"""

import argparse
import json
import pathlib

import methods_pictures

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "methods"
PAGE = ROOT / "docs" / "methods.md"
KEPT = {
    "methods_device.json": "methods.json",
    "methods_rounds.json": "jump_flood.json",
    "methods_host.json": "host.json",
}
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


def errors_table(sheet, columns):
    """Wrong cells in a million."""

    def cell(row):
        if row is None:
            return ""
        share = methods_pictures.wrong_in_a_million(row)
        return "0" if share == 0 else f"{share:.3g} ({row['errors']['largest_error']:.2g})"

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


def sheets():
    """Of a GPU: the methods, and jump flooding's rounds; of the host: errors by share of sites."""
    return [Sheet(RESULTS / name) for name in KEPT.values()]


def kept(said):
    """A run's results; of the host's errors and rounds only, which do not depend on what else a machine does."""
    left_out = ("ms", "stages") if said["place"] == "host" else ()
    rows = [json.dumps({k: v for k, v in row.items() if k not in left_out}) for row in said["results"]]
    head = json.dumps({k: v for k, v in said.items() if k != "results"}, indent=1)
    return head.removesuffix("\n}") + ',\n "results": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"


def image_of(sheet):
    return next(s for s in sheet.shapes if len(s) == 2)


def filled(page, methods, rounds, host):
    """The page with its tables."""
    columns = [(s, d) for s in methods.shapes if len(s) == 2 or s[0] > 128 for d in methods.densities]
    for marker, text in (
        ("errors", f"{errors_table(methods, columns)}\n\n{methods.where}."),
        ("density", errors_table(host, [(image_of(host), d) for d in host.densities])),
        ("times", f"{times_table(methods)}\n\n{methods.where}."),
        ("work", f"{work_table(methods)}\n\n{methods.where}."),
        ("floors", f"{floors_table(rounds)}\n\n{rounds.where}."),
    ):
        page = insert(page, marker, text)
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    for came, name in KEPT.items() if options.keep else ():
        if (options.keep / came).is_file():
            (RESULTS / name).write_text(kept(json.loads((options.keep / came).read_text())))
    methods, rounds, host = sheets()
    PAGE.write_text(filled(PAGE.read_text(), methods, rounds, host))
    methods_pictures.write(PAGE.parent / "images", host, image_of(host), methods, (4096, 4096))


if __name__ == "__main__":
    main()
