#!/usr/bin/env python3
"""Turns the JSON of the benchmarks into tables and pictures.

report.py                  writes the tables of bench/results into docs/tables, from there into docs/performance.md and
                           README.md between their markers, and the pictures docs/images/roofline.svg and against.svg
report.py --keep FOLDER    takes the JSON of a run of ./dev bench into bench/results first
report.py --print FOLDER   prints the tables of a run
"""

import argparse
import pathlib
import sys

from forms_table import HEADS as FORMS
from forms_table import forms_section
from report_components import component_sections
from report_data import RESULTS, Folder
from report_goals import goal_section
from report_label_device import image_device_section, label_device_section
from report_labels import image_section, label_section
from report_pages import ROOT, fill_pages, write_table
from report_pictures import against_picture, roofline_picture
from report_propagation import propagation_section
from report_tables import dot_section, exact_section, headline, option_section
from report_targets import target_section

IMAGES = ROOT / "docs" / "images"


# What the scripts of the benchmarks leave, and its name in bench/results.
KEPT = {
    "forms_device.json": "forms_device.json",
    "forms_host.json": "forms_host.json",
    "components_device.json": "h200_components_device.json",
    "components_host.json": "host_components.json",
    "components_host_peers.json": "host_components_peers.json",
    "exact_device.json": "h200_exact_device.json",
    "exact_device_peers.json": "h200_exact_device_peers.json",
    "targets_device.json": "h200_targets_device.json",
    "options_device.json": "h200_options_device.json",
    "propagation_device.json": "h200_propagation_device.json",
    "propagation_host.json": "host_propagation.json",
    "label_device.json": "h200_label_device.json",
    "label_device_peers.json": "h200_label_device_peers.json",
    "exact_host.json": "host_exact.json",
    "exact_host_peers.json": "host_exact_peers.json",
    "options_host.json": "host_options.json",
    "label_host.json": "host_label.json",
    "label_host_peers.json": "host_label_peers.json",
    "label_images.json": "host_label_images.json",
    "label_device_images.json": "h200_label_device_images.json",
}


def keep(folder):
    found = [(folder / name, RESULTS / kept) for name, kept in KEPT.items() if (folder / name).is_file()]
    for name, kept in found:
        kept.write_bytes(name.read_bytes())
        print(f"report.py: {name} is now {kept.relative_to(ROOT)}")
    if not found:
        raise SystemExit(f"report.py: {folder} has none of {', '.join(KEPT)}")


def sections(folder):
    """(name of the file in docs/tables, text)"""
    found = [(f"forms-{place}", forms_section(place, sheet)) for place, sheet in folder.forms.items()]
    found += [(f"random-dots-{place}", exact_section(rows)) for place, rows in folder.exact.items()]
    if set(folder.exact) >= {"host", "device"}:
        found.append(("random-dots", dot_section(folder.exact)))
        if len(folder.forms) == 2:
            found.append(("headline", headline(folder)))
    if folder.targets:
        found.append(("bad-inputs", target_section(folder.targets)))
    found += [(f"options-{place}", option_section(sheet)) for place, sheet in sorted(folder.options.items())]
    found += [(f"propagation-{place}", propagation_section(s)) for place, s in sorted(folder.propagation.items())]
    for place, sheets in sorted(folder.labels.items()):
        found.append((f"labels-{place}", (label_device_section if place == "device" else label_section)(sheets)))
    if "host" in folder.label_images:
        found.append(("labels-host-images", image_section(folder.label_images["host"])))
    if "device" in folder.label_images:
        found.append(("labels-device-images", image_device_section(folder.label_images["device"])))
    found += component_sections(folder.components)
    return [*found, ("goals", goal_section(folder))]


def write_pages(folder):
    for name, text in sections(folder):
        write_table(name, text, FORMS.get(name.removeprefix("forms-")))
    fill_pages()
    if "device" in folder.exact:
        (IMAGES / "roofline.svg").write_text(roofline_picture(folder.exact["device"]))
        (IMAGES / "against.svg").write_text(against_picture(folder.exact["device"], folder.forms.get("device")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--keep", metavar="FOLDER", type=pathlib.Path)
    group.add_argument("--print", metavar="FOLDER", type=pathlib.Path, dest="to_terminal")
    options = parser.parse_args()
    if options.keep:
        keep(options.keep)
    folder = Folder(options.to_terminal or RESULTS)
    if folder.empty():
        raise SystemExit(f"report.py: no results in {options.to_terminal or RESULTS}; run ./dev bench")
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
