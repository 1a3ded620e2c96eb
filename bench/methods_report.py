#!/usr/bin/env python3
"""Turns the JSON of `bench_all methods` into the tables of docs/methods.md and the pages that go with it, between their
markers, and draws their pictures.

methods_report.py                  writes the tables of bench/results/methods
methods_report.py --keep FOLDER    takes what bench/run_methods.sh left in FOLDER first
"""

import argparse
import json
import pathlib

import methods_pictures

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "methods"
NAMES = ("methods.md", "methods-cost.md", "tables/methods-variants.md", "notebook/jump-flooding.md")
PAGES = [ROOT / "docs" / name for name in NAMES]
KEPT = {
    "methods_device.json": "methods.json",
    "methods_times.json": "times.json",
    "methods_rounds.json": "jump_flood.json",
    "methods_sweeps.json": "sweeps.json",
    "methods_bands.json": "bands.json",
    "methods_host.json": "host.json",
    "methods_host_times.json": "host_times.json",
}
# Errors and rounds do not depend on what else a machine does; times are of a run by itself.
LEFT_OUT = {"host.json": ("ms", "stages"), "host_times.json": ("stages",)}
CHAMFER = "chamfer.json"
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
MAIN = ("exact", "banding", "jump-flood", "plane-sweep independent", "brushfire parallel", "chamfer iterated")
OTHERS = ("exact", "jump-flood 1+", "jump-flood squared", "plane-sweep")
FAMILIES = (*MAIN[:3], *OTHERS[1:], *MAIN[3:])


def size_of(shape):
    return f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 else "x".join(map(str, shape))


def percent(density):
    return f"{density * 100:g} %"


class Sheet:
    def __init__(self, path):
        said = json.loads(path.read_text())
        self.where = f"{said['device']}, {said['details']}, {said['compiler']}, {said['date']}"
        self.said = said["results"]
        self.rows = {(r.get("method"), tuple(r["shape"]), r["density"]): r for r in self.said}
        self.shapes = list(dict.fromkeys(tuple(r["shape"]) for r in said["results"]))
        self.densities = sorted({r["density"] for r in said["results"]})

    def get(self, method, shape, density):
        return self.rows.get((method, shape, density))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


SWEEPS = (("plane-sweep",) * 2, ("plane-sweep independent",) * 2, ("brushfire parallel",) * 2)


def errors_tables(sheet, lines):
    """Wrong cells in a million: the orders and rounds of jump flooding, then its other variants, sweeps and fire."""

    def cell(row):
        if row is None:
            return ""
        share = methods_pictures.wrong_in_a_million(row)
        return "0" if share == 0 else f"{share:.3g} ({row['errors']['largest_error']:.2g})"

    tables = []
    for variants in (VARIANTS[:5], (*VARIANTS[5:], *SWEEPS)):
        rows = [[f"{size_of(s)}, {percent(d)}", *(cell(sheet.get(key, s, d)) for key, _ in variants)] for s, d in lines]
        tables.append(table(["image, sites", *(name for _, name in variants)], rows))
    return "\n\n".join(tables)


def short(ms):
    return f"{ms:.3g}"


def times_table(sheet, methods, others=()):
    """A row for each size and share of sites; the fastest of the published methods, `others` too, is bold."""
    rows = []
    for shape in sheet.shapes:
        for density in sheet.densities:
            every = {key: row["ms"] for key in (*methods, *others) if (row := sheet.get(key, shape, density))}
            if "exact" in every:
                best = min(ms for key, ms in every.items() if key != "exact")
                cells = [short(every[key]) if key in every else "" for key in methods]
                cells = [f"**{c}**" if every.get(key) == best else c for key, c in zip(methods, cells, strict=True)]
                rows.append([f"{size_of(shape)}, {percent(density)}", *cells])
    return table(["size, sites", *methods], rows)


def host_table(sheet):
    """Milliseconds of one thread."""
    columns = [(s, d) for s in sheet.shapes for d in sheet.densities if sheet.get("exact", s, d)]
    methods = list(dict.fromkeys(r["method"] for r in sheet.said if not r["method"].startswith("plane-sweep ")))
    methods.insert(methods.index("plane-sweep") + 1, "plane-sweep independent")
    head = ["method", *(f"{size_of(s)}, {percent(d)}" for s, d in columns)]
    rows = []
    for key in methods:
        found = [sheet.get(key, s, d) for s, d in columns]
        rows.append([key, *("" if r is None else short(r["ms"]) for r in found)])
    return table(head, rows)


def sweeps_table(sheet):
    """Milliseconds of all sweeps without the ends of a call; in brackets of independent ones."""
    forms = (("cooperative", "one launch"), ("banded", "bands, shared memory"), ("shuffled", "bands, shuffles"))
    rows = []
    for shape in sheet.shapes:
        cells = []
        for key, _ in forms:
            turn, once = (sheet.get(f"plane-sweep {key}{more}", shape, 0.01) for more in ("", " independent"))
            parts = [short(methods_pictures.alone_ms(r)) for r in (turn, once) if r]
            cells.append(parts[0] + (f" ({parts[1]})" if len(parts) > 1 else "") if parts else "")
        rows.append([size_of(shape), *cells])
    return table(["size", *(name for _, name in forms)], rows)


def bands_tables(sheet):
    """The phases over numbers of bands, the fastest bold, at 1 % of sites; and the whole method."""
    rows, columns = [], {}
    for row in sheet.said:
        size = size_of(tuple(row["shape"]))
        columns.setdefault(size, {})[row["density"]] = row["default_ms"]
        if row["density"] != 0.01:
            continue
        cells = []
        for phase in ("m1", "m2", "m3"):
            best = min(ms for _, ms in row[phase])
            cells.append(" / ".join(f"**{short(ms)}**" if ms == best else short(ms) for _, ms in row[phase]))
        rows.append([size, *cells])
    first = next(r for r in sheet.said if r["density"] == 0.01)
    head = ["", *(f"phase {k} by m{k}: {' / '.join(str(n) for n, _ in first[f'm{k}'])}" for k in (1, 2, 3))]
    whole = [[size, *(short(ms[d]) for d in sheet.densities)] for size, ms in columns.items()]
    return table(head, rows), table(["size", *map(percent, sheet.densities)], whole)


def chamfer_table(rows):
    """Milliseconds: two passes on the host, rounds on a GPU."""
    places = list(dict.fromkeys((r["device"], r["threads"]) for r in rows))
    lines = []
    for kind, side in dict.fromkeys((r["kind"], r["side"]) for r in rows):
        here = {(r["device"], r["threads"]): r for r in rows if (r["kind"], r["side"]) == (kind, side)}
        gpu = next((r for r in here.values() if r["device"] != "cpu"), None)
        name = "full cube" if kind == "cube" else "roots"
        cells = ["" if p not in here else short(here[p]["ms"]) for p in places]
        lines.append([f"{name}, {side}^3", *cells, "" if gpu is None else str(gpu["rounds"])])
    named = [
        ("iterated, GPU" if d != "cpu" else f"two passes, {'1 thread' if t == 1 else 'every core'}") for d, t in places
    ]
    return table(["volume", *(f"{n}, ms" for n in named), "rounds, iterated"], lines)


def work_table(sheet):
    """Rounds, and in brackets bytes a cell, at 1 % of sites."""
    shapes = [s for s in sheet.shapes if len(s) == 2]
    rows = []
    for key in FAMILIES:
        cells = []
        for s in shapes:
            row = sheet.get(key, s, 0.01)
            cells.append("" if row is None else f"{row['rounds']} ({row['bytes'] / (s[0] * s[1]):.0f})")
        rows.append([key, *cells])
    return table(["method", *map(size_of, shapes)], rows)


def floors_table(sheet):
    """Each round of jump flooding as times one read and one write of the sites at the speed of a copy."""
    shapes = [s for s in sheet.shapes if sheet.get("jump-flood", s, 0.01)]
    steps = [1 << k for k in range(13, -1, -1)]
    head = [
        "size",
        "all, ms",
        "steps, ms",
        "Mcells/s of the steps",
        "slowest step / a copy",
        "initialise",
        "fields",
        *map(str, steps),
    ]
    rows = []
    for s in shapes:
        row = sheet.get("jump-flood", s, 0.01)
        found = {st["name"]: st for st in row["stages"]}
        stepping = sum(st["ms"] for name, st in found.items() if name.startswith("step"))
        slowest = max(st["ms"] / st["rounds"] for name, st in found.items() if name.startswith("step"))
        # Rounds that go in one stage, as "steps 512 to 1": each has their mean.
        for name in [name for name in found if name.startswith("steps ")]:
            first, last = (int(step) for step in name.removeprefix("steps ").split(" to "))
            found |= {f"step {k}": found[name] for k in steps if last <= k <= first}
        cells = 1
        for n in s:
            cells *= n
        floors = [found.get(name) for name in ("initialise", "fields", *(f"step {k}" for k in steps))]
        rows.append(
            [
                size_of(s),
                f"{row['ms']:.3g}",
                f"{stepping:.3g}",
                f"{cells / stepping / 1e3:,.0f}",
                f"{slowest / row['copy_ms']:.2f}" if "copy_ms" in row else "",
                *("" if f is None else f"{f['floors']:.1f}" for f in floors),
            ]
        )
    return table(head, rows)


def floors_of(row):
    """Of the rounds of a call: their mean and the slowest, as times one read and one write of the sites."""
    steps = [st for st in row["stages"] if st["name"].startswith("step")]
    mean = sum(st["floors"] * st["bytes"] for st in steps) / sum(st["bytes"] for st in steps)
    return f"{mean:.1f}, {max(st['floors'] for st in steps):.1f}"


def shares_table(sheet):
    """Rounds of jump flooding over the share of sites: mean and slowest."""
    rows = []
    for s in sheet.shapes:
        found = [sheet.get("jump-flood", s, d) for d in sheet.densities]
        rows.append([size_of(s), *("" if r is None else floors_of(r) for r in found)])
    return table(["size", *(percent(d) for d in sheet.densities)], rows)


def variants_table(sheet):
    """The same of its variants, for few sites and for some."""
    columns = [(s, d) for d in sheet.densities[:2] for s in sheet.shapes]
    rows = []
    for key, name in VARIANTS:
        found = [sheet.get(key, s, d) for s, d in columns]
        rows.append([name, *("" if r is None else floors_of(r) for r in found)])
    return table(["variant", *(f"{size_of(s)}, {percent(d)}" for s, d in columns)], rows)


def insert(page, marker, text):
    start, end = f"<!-- methods: {marker} -->", "<!-- /methods -->"
    begin = page.index(start) + len(start)
    return f"{page[:begin]}\n\n{text}\n\n{page[page.index(end, begin) :]}"


def sheets():
    """Of a GPU: errors, times, jump flooding's rounds, sweeps, bands; of the host: errors by share of sites, times; and
    the rows of chamfer distances."""
    return [*(Sheet(RESULTS / name) for name in KEPT.values()), json.loads((RESULTS / CHAMFER).read_text())]


def kept(said, left_out):
    """A run's results, a row a line."""
    rows = [json.dumps({k: v for k, v in row.items() if k not in left_out}) for row in said["results"]]
    head = json.dumps({k: v for k, v in said.items() if k != "results"}, indent=1)
    return head.removesuffix("\n}") + ',\n "results": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"


def kept_chamfer(folder):
    """The command line's reports, one a row; a run on a GPU alone leaves the host's rows as they are."""
    key = ("kind", "side", "device", "threads")
    rows = {tuple(r[k] for k in key): r for r in json.loads((RESULTS / CHAMFER).read_text())}
    came = False
    for path in sorted(folder.glob("chamfer_*.json"), key=lambda p: (p.stem.split("_")[1], int(p.stem.split("_")[2]))):
        _, kind, side, device, threads = path.stem.split("_")
        said = json.loads(path.read_text())["methods"][0]
        row = {
            "kind": kind,
            "side": int(side),
            "device": "gpu" if device == "cuda" else device,
            "threads": int(threads),
            "rounds": sum(st["rounds"] for st in said["stages"] if st["stage"] not in ("initialise", "fields")),
            "ms": said["ms"],
        }
        rows[tuple(row[k] for k in key)], came = row, True
    return "[\n " + ",\n ".join(map(json.dumps, rows.values())) + "\n]\n" if came else None


def image_of(sheet):
    return next(s for s in sheet.shapes if len(s) == 2)


def sections(methods, times, rounds, sweeps, bands, host, host_times, chamfer):
    """{marker: text}"""
    lines = [(s, d) for s in methods.shapes if len(s) == 2 or s[0] > 128 for d in methods.densities]
    phases, whole = bands_tables(bands)
    return {
        "errors": f"{errors_tables(methods, lines)}\n\n{methods.where}.",
        "density": errors_tables(host, [(image_of(host), d) for d in host.densities]),
        "sweeps": f"{sweeps_table(sweeps)}\n\n{sweeps.where}.",
        "times": f"{times_table(times, MAIN, OTHERS)}\n\n{times.where}.",
        "times of variants": f"{times_table(times, OTHERS, MAIN)}\n\n{times.where}.",
        "host": f"{host_table(host_times)}\n\n{host_times.where}; one thread.",
        "chamfer": chamfer_table(chamfer),
        "work": f"{work_table(times)}\n\n{times.where}.",
        "bands": f"{phases}\n\n{bands.where}.",
        "banding": f"{whole}\n\n{bands.where}.",
        "floors": f"{floors_table(rounds)}\n\n{rounds.where}.",
        "shares": f"{shares_table(rounds)}\n\n{rounds.where}.",
        "variants": f"{variants_table(methods)}\n\n{methods.where}.",
    }


def filled(pages, texts):
    """The pages' texts with these tables; every marker is in one of the pages."""
    for marker, text in texts.items():
        at = next(k for k, page in enumerate(pages) if f"<!-- methods: {marker} -->" in page)
        pages[at] = insert(pages[at], marker, text)
    return pages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    for came, name in KEPT.items() if options.keep else ():
        if (options.keep / came).is_file():
            (RESULTS / name).write_text(kept(json.loads((options.keep / came).read_text()), LEFT_OUT.get(name, ())))
    if options.keep and (chamfer := kept_chamfer(options.keep)):
        (RESULTS / CHAMFER).write_text(chamfer)
    methods, times, rounds, sweeps, bands, host, host_times, chamfer = sheets()
    texts = sections(methods, times, rounds, sweeps, bands, host, host_times, chamfer)
    for page, text in zip(PAGES, filled([page.read_text() for page in PAGES], texts), strict=True):
        page.write_text(text)
    methods_pictures.write(ROOT / "docs" / "images", methods, host, times, sweeps, chamfer)


if __name__ == "__main__":
    main()
