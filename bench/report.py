#!/usr/bin/env python3
"""Turns the JSON of the benchmarks into tables and pictures.

report.py                  writes the tables of bench/results into docs/performance.md and README.md, between their
                           markers, and the pictures docs/images/roofline.svg and docs/images/against.svg
report.py FOLDER           the same from another folder's JSON
report.py --print FOLDER   prints the tables
"""

import argparse
import pathlib
import sys

from report_data import RESULTS, Folder
from report_goals import goal_section
from report_pictures import against_picture, roofline_picture
from report_tables import exact_section, headline, option_section
from report_targets import target_section

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
README = ROOT / "README.md"
IMAGES = ROOT / "docs" / "images"


def sections(folder):
    """(marker in docs/performance.md, text)"""
    found = [(f"exact {place}", exact_section(rows)) for place, rows in folder.exact.items()]
    if folder.targets:
        found.append(("targets device", target_section(folder.targets)))
    found += [(f"options {place}", option_section(sheet)) for place, sheet in sorted(folder.options.items())]
    return [*found, ("goals", goal_section(folder))]


def insert(page, marker, text):
    start, end = f"<!-- report: {marker} -->", "<!-- /report -->"
    begin = page.find(start)
    stop = page.find(end, begin)
    if begin < 0 or stop < 0:
        raise SystemExit(f"report.py: the page has no {start} ... {end}")
    return page[: begin + len(start)] + "\n\n" + text + "\n\n" + page[stop:]


def write_pages(folder):
    page = PAGE.read_text()
    for marker, text in sections(folder):
        page = insert(page, marker, text)
    PAGE.write_text(page)
    if set(folder.exact) >= {"host", "device"}:
        README.write_text(insert(README.read_text(), "headline", headline(folder.exact)))
    if "device" in folder.exact:
        (IMAGES / "roofline.svg").write_text(roofline_picture(folder.exact["device"]))
        (IMAGES / "against.svg").write_text(against_picture(folder.exact["device"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--print", action="store_true", dest="to_terminal")
    options = parser.parse_args()
    folder = Folder(options.folder)
    if folder.empty():
        raise SystemExit(f"report.py: no results in {options.folder}; run ./dev bench exact")
    for place in folder.only_peers:
        print(f"report.py: no nearfield rows for the {place}, its peers are left out", file=sys.stderr)
    for rows in folder.exact.values():
        for sheet in rows.left_out:
            print(f"report.py: rows of {sheet['device']} are left out beside {rows.ours['device']}", file=sys.stderr)
    if options.to_terminal:
        for _, text in sections(folder):
            print(f"\n{text}")
    else:
        write_pages(folder)


if __name__ == "__main__":
    main()
