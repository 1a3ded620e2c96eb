"""Tables of `bench_all propagation`: the source text's, the length of links, the switches, what a round moves."""

import math

from report_data import number, size_name, table, times

PARTS = ("neighbours", "links", "masters", "hooked")


def unique(values):
    return list(dict.fromkeys(values))


def name_of(row):
    return f"{row['image']} {size_name(row['shape'])}"


def switches_of(row):
    return ", ".join(part for part in PARTS if row[part])


def directions(row):
    """Of a connectivity by its usual name."""
    return row["connectivity"]


def bytes_a_cell(row):
    """What a round must move: the labels read and written, and the links of all directions, four to a word."""
    words = math.ceil(directions(row) / 4)
    return 8 + 4 * words * (2 if row["links"] and row["length"] > 255 else 1)


def with_rounds(row):
    return f"{number(row['ms'])} ({row['rounds']})" if row else ""


def text_table(rows):
    """Both forms beside label() and the published time."""
    titles = [
        "image, connectivity, length",
        "published ms",
        "pull ms (rounds)",
        "with transfers ms",
        "hooked ms (rounds)",
    ]
    titles += ["label() ms", "label() is faster than hooked"]
    lines = []
    key = ("image", "shape", "connectivity", "length", "published_ms")
    for image in unique(tuple(str(row[k]) for k in key) for row in rows):
        pull, hooked = (
            next(row for row in rows if row["hooked"] == form and tuple(str(row[k]) for k in key) == image)
            for form in (False, True)
        )
        line = [f"{name_of(pull)}, {pull['connectivity']}, {pull['length']}", f"{pull['published_ms']:.2f}"]
        line += [
            with_rounds(pull),
            number(pull["transfers_ms"] or None),
            with_rounds(hooked),
            number(pull["label_ms"] or None),
        ]
        line.append(times(hooked["ms"] / pull["label_ms"]) if pull["label_ms"] else "")
        lines.append(line)
    return table(titles, lines)


def length_table(rows):
    """Lengths and forms down, images across: milliseconds, and rounds in brackets."""
    images = unique(name_of(row) for row in rows)
    found = {(name_of(row), row["length"], row["hooked"]): row for row in rows}
    lines = []
    for form, name in ((False, "pull"), (True, "hooked")):
        for length in unique(row["length"] for row in rows):
            lines.append([name, str(length), *(with_rounds(found.get((image, length, form))) for image in images)])
    return table(["form", "length", *images], lines)


def switch_table(rows):
    images = unique(name_of(row) for row in rows)
    found = {(name_of(row), switches_of(row)): row for row in rows}
    lines = []
    for how in unique(switches_of(row) for row in rows):
        lines.append([how, *(with_rounds(found.get((image, how))) for image in images)])
    return table(["a round", *images], lines)


def round_table(sheet, rows):
    """Of the text's images with all switches, pull-only: what one round takes, and what it would at a copy's speed."""
    titles = [
        "image, connectivity",
        "links ms",
        "a round, microseconds",
        "labels read and written at copy speed",
        "times",
    ]
    titles += ["links read too", "times"]
    lines = []
    for row in rows:
        gb_s = sheet["copy_gb_s"].get(str(row["threads"]))
        if row["hooked"] or not gb_s:
            continue
        took = 1e3 * row["rounds_ms"] / row["rounds"]
        least, most = (math.prod(row["shape"]) * n / gb_s / 1e3 for n in (8, bytes_a_cell(row)))
        line = [f"{name_of(row)}, {row['connectivity']}", number(row["links_ms"]), number(took)]
        lines.append([*line, number(least), times(took / least), number(most), times(took / most)])
    return table(titles, lines)


def propagation_section(sheet):
    rows = sheet["propagation"]
    part = {name: [row for row in rows if row["part"] == name] for name in ("text", "length", "switches")}
    where = sheet["device"] or sheet["details"]
    parts = [f"{where} ({sheet['details']}), built by {sheet['compiler']}, {sheet['date']}."]
    parts += [
        "**The text's table**; its figures are of a Tesla C2050 with transfers, on images of its own",
        text_table(part["text"]),
    ]
    if sheet["copy_gb_s"]:
        parts += ["**One round** of the pull-only form", round_table(sheet, part["text"])]
    parts += [
        "**The length of links**, 4-connected (the volume 6): milliseconds, and rounds in brackets",
        length_table(part["length"]),
    ]
    parts += [
        "**What a round does**, length 64, 4-connected (the volume 6): milliseconds, and rounds in brackets",
        switch_table(part["switches"]),
    ]
    return "\n\n".join(parts)
