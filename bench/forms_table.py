#!/usr/bin/env python3
"""Turns the JSON of `forms.py --json` into docs/tables/forms-device.md and forms-host.md.

forms_table.py                                writes the tables of bench/results
forms_table.py --device FILE --host FILE      takes one file or both into bench/results first

report.py writes the same tables, and draws the picture of the README from the same files.
"""

import argparse
import pathlib
import re
from statistics import geometric_mean

from report_data import RESULTS, Folder, number, size_name, table
from report_pages import fill_pages, write_table

INTRO = (
    "Masks are blurred noise, 30 % of whose cells are objects; labels are 3,000 Voronoi cells with smooth holes of "
    "background; "
    "seeds are 3,000 random cells. A *floor* is the time in which a copy would read the inputs and write the outputs "
    "once. "
    "Real spacing is (2.5, 0.7, 0.7), in images (2.5, 0.7); integral spacing is (40, 4, 4), in images (3, 2). "
    "`bench/forms.py {}` times every row."
)
HEADS = {
    "device": ("The calls that people make, on the device", INTRO.format("device")),
    "host": ("The calls that people make, on the host", INTRO.format("host")),
}


def peer_of(place, row):
    """The library that `peer_ms` belongs to; files of older runs do not name it."""
    if row.get("peer") or place == "device":
        return row.get("peer", "CuPy")
    return "cc3d" if row["form"].endswith(("components", "corners", "statistics")) else "edt"


def by_form(sheet):
    """{form: {shape: row}} in the order of the measurement, and the shapes."""
    found = {}
    for row in sheet["rows"]:
        found.setdefault(row["form"], {})[tuple(row["shape"])] = row
    return found, list(dict.fromkeys(tuple(row["shape"]) for row in sheet["rows"]))


def machine(place, sheet):
    """Its name and the date; files of older runs say neither, but what `nf.info()` printed."""
    found = re.search(r"cuda:0: ([^,\n]+)" if place == "device" else r"CPU: (.+)", sheet["info"])
    return sheet.get("device") or (found[1] if found else "unnamed"), sheet.get("date", "undated")


def faster(place, row):
    return f"{peer_of(place, row)} {row['peer_ms'] / row['ms']:.1f}x" if row and row.get("peer_ms") else ""


def forms_section(place, sheet):
    """Forms down, two shapes across: milliseconds, floors, how many times faster than a peer."""
    found, shapes = by_form(sheet)
    titles, lines = ["form"], []
    for shape in shapes:
        titles += [f"{size_name(shape)} ms", "floors", "faster than"]
    for form, rows in found.items():
        line = [form]
        for shape in shapes:
            row = rows.get(shape)
            line += [number(row["ms"]), f"{row['floors']:.1f}", faster(place, row)] if row else ["", "", ""]
        lines.append(line)
    most = max(sheet["rows"], key=lambda row: row["floors"])
    mean = geometric_mean(row["floors"] for row in sheet["rows"])
    text = f"{', '.join(machine(place, sheet))}; {sheet['info'].splitlines()[0]}. "
    text += f"Copy, read plus write: {sheet['copy_gb_s']:.0f} GB/s. "
    text += f"Geometric mean of {len(sheet['rows'])} calls: {mean:.1f} floors; most: {most['floors']:.1f} "
    text += f"({most['form']}, {size_name(most['shape'])})."
    return f"{text}\n\n{table(titles, lines)}"


def write(sheets):
    for place, sheet in sheets.items():
        write_table(f"forms-{place}", forms_section(place, sheet), HEADS[place])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for place in HEADS:
        parser.add_argument(f"--{place}", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args()
    for place in HEADS:
        if taken := getattr(options, place):
            (RESULTS / f"forms_{place}.json").write_bytes(taken.read_bytes())
    write(Folder(RESULTS).forms)
    fill_pages()


if __name__ == "__main__":
    main()
