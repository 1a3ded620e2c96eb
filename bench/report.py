#!/usr/bin/env python3
"""Turns the JSON of the benchmarks into tables.

report.py                  writes the tables of bench/results into docs/performance.md, between their markers
report.py FOLDER           the same from another folder's JSON
report.py --print FOLDER   prints them
"""

import argparse
import json
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
README = ROOT / "README.md"


def load(folder):
    """All files of the folder by place; every row knows where it was measured."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        sheet = json.loads(path.read_text())
        if "results" in sheet and "place" in sheet:
            found.setdefault(sheet["place"], []).append(sheet)
    return found


def library(engine):
    """An engine's name without its version, by which peers share a column."""
    return engine.split()[0]


class Rows:
    """Milliseconds by image, density, engine, field and threads."""

    def __init__(self, sheets):
        self.ours = next((s for s in sheets if s["engine"] == "nearfield"), None)
        self.sheets = [s for s in sheets if s is self.ours or self.ours is None or s["device"] == self.ours["device"]]
        self.left_out = [s for s in sheets if s not in self.sheets]
        self.ms, self.images, self.peers = {}, {}, []
        for sheet in self.sheets:
            for row in sheet["results"]:
                image = (row["data"], tuple(row["shape"]), round(row["density"], 6))
                self.ms[image, library(row["engine"]), row["field"], row["threads"]] = row["ms"]
                if row["engine"] == "nearfield":
                    self.images.setdefault(image)
                elif row["engine"] not in self.peers:
                    self.peers.append(row["engine"])

    def get(self, image, engine, field, threads):
        # PBA+ finds sites; distances follow from them at no less than that time.
        field = "index" if engine == "PBA+" else field
        return self.ms.get((image, engine, field, threads))

    def share_of_copy(self, image, field, threads):
        ms, cells = self.get(image, "nearfield", field, threads), cells_of(image)
        gb_s = self.ours["copy_gb_s"].get(str(threads))
        if ms is None or not gb_s:
            return None
        return 100 * cells * (9 if field == "index" else 5) / (ms * 1e-3) / (gb_s * 1e9)

    def head(self):
        s = self.ours
        copies = [
            f"{gb_s:.1f} GB/s" + (f" with {n} thread{'s' if n != '1' else ''}" if n != "0" else "")
            for n, gb_s in s["copy_gb_s"].items()
        ]
        dates = {sheet["date"] for sheet in self.sheets}
        text = f"{s['device']} ({s['details']}), nearfield {s['version']} built by {s['compiler']}, {s['date']}. "
        text += f"Copy bandwidth, read plus write: {', '.join(copies)}. "
        if self.peers:
            text += f"Peers: {', '.join(self.peers)}"
            text += ". " if len(dates) == 1 else f" (measured {', '.join(sorted(dates))}). "
        return text + "Milliseconds are medians after a warm-up; Mcells/s and copy % are nearfield's."


def cells_of(image):
    cells = 1
    for n in image[1]:
        cells *= n
    return cells


def image_name(image):
    data, shape, _ = image
    size = f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 else "x".join(map(str, shape))
    return size if data == "random" else f"{data} {size}"


def number(value):
    if value is None:
        return ""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def table(titles, rows):
    """Markdown, padded so that it reads well in a terminal too; columns without any value are dropped."""
    keep = [k for k in range(len(titles)) if any(row[k] for row in rows)]
    cells = [[line[k] for k in keep] for line in [titles, *rows]]
    widths = [max(len(line[k]) for line in cells) for k in range(len(keep))]
    lines = ["| " + " | ".join(text.rjust(w) for text, w in zip(line, widths, strict=True)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 1) + ":" for w in widths) + "|")
    return "\n".join(lines)


def ratio(theirs, ours):
    return f"{theirs / ours:.1f}x" if theirs and ours else ""


def field_table(rows, field, threads_list):
    """One table of one field: ours, every peer, and how many times faster ours is than each."""
    peers = []
    for peer in map(library, rows.peers):
        if peer not in peers and any(key[1] == peer and (key[2] == field or peer == "PBA+") for key in rows.ms):
            peers.append(peer)
    titles = ["image", "sites", "threads", "nearfield ms", "Mcells/s", "copy %"]
    for peer in peers:
        titles += [f"{peer} ms", f"vs {peer}"]
    lines = []
    for image in rows.images:
        for threads in threads_list:
            ours = rows.get(image, "nearfield", field, threads)
            if ours is None:
                continue
            share = rows.share_of_copy(image, field, threads)
            line = [
                image_name(image),
                f"{100 * image[2]:.4g} %",
                str(threads) if threads else "",
                number(ours),
                f"{cells_of(image) / ours / 1e3:.0f}",
                f"{share:.1f}" if share else "",
            ]
            for peer in peers:
                theirs = rows.get(image, peer, field, threads)
                line += [number(theirs), ratio(theirs, ours)]
            lines.append(line)
    return table(titles, lines)


def summary(rows, field, threads_list):
    """How many times faster than each peer, over all images that both were timed on."""
    said = []
    for peer in dict.fromkeys(map(library, rows.peers)):
        ratios = []
        for image in rows.images:
            for threads in threads_list:
                ours, theirs = (rows.get(image, engine, field, threads) for engine in ("nearfield", peer))
                if ours and theirs:
                    ratios.append(theirs / ours)
        if ratios:
            said.append(f"{peer} {statistics.geometric_mean(ratios):.1f} (least {min(ratios):.1f}, of {len(ratios)})")
    return "Times faster, geometric mean: " + ", ".join(said) + "." if said else ""


def section(rows):
    threads = sorted({key[3] for key in rows.ms if key[1] == "nearfield"})
    parts = [rows.head()]
    for field, title in (("distance", "Distance (float32)"), ("index", "Nearest site (int64 index)")):
        if any(key[1] == "nearfield" and key[2] == field for key in rows.ms):
            parts += [f"**{title}**", summary(rows, field, threads), field_table(rows, field, threads)]
    return "\n\n".join(filter(None, parts))


HEADLINE = (("device", 0, ("PBA+", "CuPy", "NPP")), ("host", 2, ("edt", "OpenCV", "SciPy")))
HEADLINE_IMAGES = ((4096,) * 2, (256,) * 3, (512,) * 3)


def headline(found):
    """A few rows for the README: distances, 10 % random sites, how many times faster than each peer."""
    lines = []
    for place, threads, peers in HEADLINE:
        rows = Rows(found[place])
        where = rows.ours["device"] + (f", {threads} threads" if threads else "")
        for shape in HEADLINE_IMAGES:
            image = ("random", shape, 0.1)
            ours = rows.get(image, "nearfield", "distance", threads)
            if ours is None:
                continue
            against = []
            for peer in peers:
                # A peer without threads of its own was timed on one.
                theirs = rows.get(image, peer, "distance", threads) or rows.get(image, peer, "distance", 1)
                if theirs:
                    against.append(f"{peer} {theirs / ours:.1f}x")
            lines.append([where, image_name(image), f"{number(ours)} ms", ", ".join(against)])
    return table(["on", "image", "nearfield", "faster than"], lines)


def option_sheets(folder):
    """What bench_options measured, by place."""
    sheets = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return {sheet["place"]: sheet for sheet in sheets if "options" in sheet}


def option_section(sheet):
    """Options down, shapes across: milliseconds, and how many times the plain call (or what the name says)."""
    shapes = list(dict.fromkeys(tuple(row["shape"]) for row in sheet["options"]))
    names = list(dict.fromkeys(row["name"] for row in sheet["options"]))
    rows = {(row["name"], tuple(row["shape"])): row for row in sheet["options"]}
    titles, lines = ["call"], [[name] for name in names]
    for shape in shapes:
        titles += [f"{image_name(('random', shape, 0))} ms", "times"]
        for name, line in zip(names, lines, strict=True):
            row = rows.get((name, shape))
            line += [number(row["ms"]), f"{row['times']:.2f}"] if row else ["", ""]
    where = sheet["device"] or sheet["details"]
    text = f"{where} ({sheet['details']}), built by {sheet['compiler']}, {sheet['date']}."
    return text + "\n\n" + table(titles, lines)


def insert(page, marker, text):
    start, end = f"<!-- report: {marker} -->", "<!-- /report -->"
    begin = page.find(start)
    stop = page.find(end, begin)
    if begin < 0 or stop < 0:
        raise SystemExit(f"report.py: the page has no {start} ... {end}")
    return page[: begin + len(start)] + "\n\n" + text + "\n\n" + page[stop:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "bench" / "results")
    parser.add_argument("--print", action="store_true", dest="to_terminal")
    options = parser.parse_args()
    found = load(options.folder)
    if not found and not option_sheets(options.folder):
        raise SystemExit(f"report.py: no results in {options.folder}; run ./dev bench exact")
    page = PAGE.read_text() if not options.to_terminal else ""
    for place, sheets in sorted(found.items()):
        rows = Rows(sheets)
        if rows.ours is None:
            print(
                f"report.py: no nearfield rows for the {place} in {options.folder}, its peers are left out",
                file=sys.stderr,
            )
            continue
        for sheet in rows.left_out:
            print(f"report.py: rows of {sheet['device']} are left out beside {rows.ours['device']}", file=sys.stderr)
        if options.to_terminal:
            print(f"\n{section(rows)}")
        else:
            page = insert(page, f"exact {place}", section(rows))
    for place, sheet in sorted(option_sheets(options.folder).items()):
        if options.to_terminal:
            print(f"\n{option_section(sheet)}")
        else:
            page = insert(page, f"options {place}", option_section(sheet))
    if not options.to_terminal:
        PAGE.write_text(page)
        if set(found) >= {"host", "device"}:
            README.write_text(insert(README.read_text(), "headline", headline(found)))


if __name__ == "__main__":
    main()
