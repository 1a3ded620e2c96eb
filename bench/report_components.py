"""The tables of what is done with labels."""

from report_data import library, number, ratio_text, size_name

FIELDS = {
    "shape": "size, box, centroid, border",
    "faces": "faces",
    "uint8 values": "all of uint8 values",
    "float32 values": "all of float32 values",
    "offsets": "offsets of lists",
    "lists of cells": "offsets and cells",
    "lists of runs": "offsets and runs",
    "relabel": "relabel",
    "contacts": "contacts",
}


def milliseconds(sheets):
    """{(data, shape): {(engine, field): ms}}, of one thread on the host."""
    images = {}
    for sheet in sheets:
        for row in sheet["components"]:
            if row["threads"] <= 1:
                image = images.setdefault((row["data"], tuple(row["shape"])), {})
                image[library(row["engine"]), row["field"]] = row["ms"]
    return images


def host_table(images, peers):
    lines = [f"| labels | | ms | {' | '.join(peers)} |", f"|---|---|---:|{'---:|' * len(peers)}"]
    for (data, shape), ms in images.items():
        for field, name in FIELDS.items():
            ours = ms["nearfield", field]
            theirs = [ms.get((library(peer), field)) for peer in peers]
            if any(theirs):
                cells = " | ".join(ratio_text(each / ours) if each else "" for each in theirs)
                lines.append(f"| {data}, {size_name(shape)} | {name} | {number(ours)} | {cells} |")
    return lines


def device_table(images):
    names = (f"{data}, {size_name(shape)}" for data, shape in images)
    lines = [f"| ms | {' | '.join(names)} |", f"|---|{'---:|' * len(images)}"]
    for field, name in FIELDS.items():
        cells = " | ".join(number(ms["nearfield", field]) for ms in images.values())
        lines.append(f"| {name} | {cells} |")
    return lines


def component_sections(sheets):
    """(name of the file in docs/tables, text) for each place that has results."""
    found = []
    for place in ("device", "host"):
        here = [sheet for sheet in sheets if sheet["place"] == place]
        ours = next((sheet for sheet in here if sheet["engine"] == "nearfield"), None)
        if ours is None:
            continue
        images = milliseconds(here)
        engines = (row["engine"] for sheet in here for row in sheet["components"])
        peers = [name for name in dict.fromkeys(engines) if name != "nearfield"]
        table = device_table(images) if place == "device" else host_table(images, peers)
        details = f", {ours['details']}" if ours["details"] else ""
        head = f"{ours['device']}{details}, {ours['compiler']}, {ours['date']}; int32 labels."
        if peers:
            head += " One thread; how many times the other library's time is ours."
        found.append((f"components-{place}", "\n".join([head, "", *table])))
    return found
