"""Tables of the exact engine and of its options."""

from forms_table import faster, machine
from report_data import (
    NAMES,
    SITES,
    beside,
    image_name,
    library,
    mean_and_least,
    number,
    peer_ms,
    percent,
    size_name,
    table,
)


def head(rows):
    s = rows.ours
    copies = [
        f"{gb_s:.1f} GB/s" + (f" with {n} thread{'s' if n != '1' else ''}" if n != "0" else "")
        for n, gb_s in s["copy_gb_s"].items()
    ]
    dates = {sheet["date"] for sheet in rows.sheets}
    text = f"{s['device']} ({s['details']}), nearfield {s['version']} built by {s['compiler']}, {s['date']}. "
    text += f"Copy bandwidth, read plus write: {', '.join(copies)}. "
    if rows.peers:
        text += f"Peers: {', '.join(rows.peers)}"
        text += ". " if len(dates) == 1 else f" (measured {', '.join(sorted(dates))}). "
    return text + "Milliseconds are medians after a warm-up; in brackets: how many times nearfield's."


def field_table(rows, field, threads_list):
    """One table of one field: ours, every peer, and how many times faster ours is than each."""
    peers = []
    for peer in map(library, rows.peers):
        known = any(rows.get(image, peer, field, n) for image in rows.images for n in threads_list)
        if known and peer not in peers:
            peers.append(peer)
    titles = ["image", "sites", "threads", "nearfield ms", "copy %", *(f"{peer} ms (ratio)" for peer in peers)]
    lines = []
    for image in rows.images:
        for threads in threads_list:
            ours = rows.get(image, "nearfield", field, threads)
            if ours is None:
                continue
            floor = rows.floor_ms(image, field, threads)
            line = [
                image_name(image),
                percent(image[2]),
                str(threads) if threads else "",
                number(ours),
                f"{100 * floor / ours:.1f}" if floor and not threads else "",  # seven columns at most
            ]
            lines.append(line + [peer_ms(rows.get(image, peer, field, threads), ours) for peer in peers])
    return table(titles, lines)


def summary(rows, field, threads_list):
    """How many times faster than each peer, over all images that both were timed on."""
    said = []
    for peer in dict.fromkeys(map(library, rows.peers)):
        ratios = [r for image in rows.images for n in threads_list if (r := rows.ratio(image, peer, field, n))]
        if ratios:
            said.append(f"{peer} {mean_and_least(ratios)}")
    return "Times faster, geometric mean: " + ", ".join(said) + "." if said else ""


def simd_table(rows):
    """Distances with lesser instruction sets, as multiples of the best one's time."""
    levels, lines = list(dict.fromkeys(level for _, level in rows.simd)), []
    for image in dict.fromkeys(image for image, _ in rows.simd):
        threads = next(n for (other, _), (_, n) in rows.simd.items() if other == image)
        best = rows.get(image, "nearfield", "distance", threads)
        found = [rows.simd.get((image, level), (None, 0))[0] for level in levels]
        name = f"{image_name(image)}, {percent(image[2])}"
        lines.append([name, *(beside(ms, ms and best and ms / best) for ms in found)])
    return table(["image, sites", *levels], lines)


def exact_section(rows):
    threads = rows.threads()
    parts = [head(rows)]
    for field in rows.fields():
        parts += [f"**{NAMES[field]}**", summary(rows, field, threads), field_table(rows, field, threads)]
    if rows.simd:
        text = "EMU128 and SCALAR are the least x86-64, SSE2"
        parts += [
            "**Instruction sets**, distances, one thread: milliseconds, and multiples of the best set's time; " + text,
            simd_table(rows),
        ]
    return "\n\n".join(filter(None, parts))


DOTS = (("device", 0, ("PBA+", "CuPy", "NPP")), ("host", 2, ("edt", "OpenCV", "SciPy")))
DOT_IMAGES = ((4096,) * 2, (256,) * 3, (512,) * 3)


def dots(rows, shape, fields, threads, peers):
    """10 % random sites: milliseconds, and how many times faster than each peer."""
    image = ("random", shape, 0.1)
    field = next((f for f in fields if rows.get(image, "nearfield", f, threads)), None)
    ours, against = rows.get(image, "nearfield", field, threads), []
    for peer in peers:
        # A peer without threads of its own was timed on one.
        theirs = rows.get(image, peer, field, threads) or rows.get(image, peer, field, 1)
        if ours and theirs:
            against.append(f"{peer} {theirs / ours:.1f}x")
    return [number(ours), ", ".join(against)]


def dot_section(exact):
    """A few rows of both places: 10 % random sites."""
    lines = []
    for place, threads, peers in DOTS:
        rows = exact[place]
        where = rows.ours["device"] + (f", {threads} threads" if threads else "")
        for shape in DOT_IMAGES:
            cells = [cell for fields in (("distance",), SITES) for cell in dots(rows, shape, fields, threads, peers)]
            if cells[0]:
                lines.append([where, size_name(shape), *cells])
    dates = " and ".join(f"{exact[place].ours['device']}, {exact[place].ours['date']}" for place, *_ in DOTS)
    text = f"{dates}; data in place, peers in the same run but for PBA+."
    return f"{text}\n\n" + table(
        ["on", "image", "distances ms", "faster than", "nearest sites ms", "faster than"], lines
    )


HEADLINE = (
    ("mask: distance", "smooth mask: distance"),
    ("mask: distance, coordinates", "the same and coordinates (SciPy's form)"),
    ("mask: distance, real spacing", "distance, spacing (2.5, 0.7, 0.7)"),
    ("labels: distance", "labels: distance to the nearest boundary"),
    ("seeds: labels", "seeds: label of the nearest"),
)
HEADLINE_DOTS = (("device", (512,) * 3), ("host", (256,) * 3))


def headline(folder):
    """For the README: forms that people call, then random dots, one volume each on the device and on the host."""
    lines, said = [], []
    for form, name in HEADLINE:
        line = [name]
        for place, sheet in folder.forms.items():
            row = next((r for r in sheet["rows"] if r["form"] == form and len(r["shape"]) == 3), None)
            line += [number(row["ms"]) if row else "", faster(place, row)]
        lines.append(line)
    for fields, name in ((("distance",), "distance"), (SITES, "nearest site")):
        line = [f"10 % random dots: {name}"]
        for (place, shape), (_, threads, peers) in zip(HEADLINE_DOTS, DOTS, strict=True):
            line += dots(folder.exact[place], shape, fields, threads, peers[:2])
        lines.append(line)
    titles = ["volume: call"]
    for (place, shape), sheet in zip(HEADLINE_DOTS, folder.forms.values(), strict=True):
        volume = next(size_name(row["shape"]) for row in sheet["rows"] if len(row["shape"]) == 3)
        titles += [f"{place} ms", "faster than"]
        dot, where = folder.exact[place].ours, ", ".join(machine(place, sheet))
        said.append(
            f"The {place} is {where}, {volume} cells; for random dots {dot['device']}, {dot['date']}, "
            f"{size_name(shape)} cells."
        )
    return f"{' '.join(said)}\n\n{table(titles, lines)}"


def option_section(sheet):
    """Options down, shapes across: milliseconds, in brackets times the plain call (or what the name says)."""
    shapes = list(dict.fromkeys(tuple(row["shape"]) for row in sheet["options"]))
    names = list(dict.fromkeys(row["name"] for row in sheet["options"]))
    rows = {(row["name"], tuple(row["shape"])): row for row in sheet["options"]}
    titles, lines = ["call", *(f"{size_name(shape)} ms" for shape in shapes)], []
    for name in names:
        found = [rows.get((name, shape)) for shape in shapes]
        lines.append([name, *(beside(row["ms"], row["times"]) if row else "" for row in found)])
    where = sheet["device"] or sheet["details"]
    text = f"{where} ({sheet['details']}), built by {sheet['compiler']}, {sheet['date']}."
    return text + "\n\n" + table(titles, lines)
