"""Tables of the exact engine and of its options."""

from report_data import (
    NAMES,
    SITES,
    image_name,
    library,
    mean_and_least,
    number,
    percent,
    ratio_text,
    size_name,
    table,
    times,
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
    return text + "Milliseconds are medians after a warm-up; Mcells/s and copy % are nearfield's."


def field_table(rows, field, threads_list):
    """One table of one field: ours, every peer, and how many times faster ours is than each."""
    peers = []
    for peer in map(library, rows.peers):
        known = any(rows.get(image, peer, field, n) for image in rows.images for n in threads_list)
        if known and peer not in peers:
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
            floor, cells = rows.floor_ms(image, field, threads), 1
            for n in image[1]:
                cells *= n
            line = [
                image_name(image),
                percent(image[2]),
                str(threads) if threads else "",
                number(ours),
                f"{cells / ours / 1e3:.0f}",
                f"{100 * floor / ours:.1f}" if floor else "",
            ]
            for peer in peers:
                line += [
                    number(rows.get(image, peer, field, threads)),
                    ratio_text(rows.ratio(image, peer, field, threads)),
                ]
            lines.append(line)
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
    """Distances with lesser instruction sets beside the best one and, where it was timed, edt."""
    levels = list(dict.fromkeys(level for _, level in rows.simd))
    titles, lines = ["image", "sites", "best ms"], []
    for level in levels:
        titles += [f"{level} ms", "times", "vs edt"]
    for image in dict.fromkeys(image for image, _ in rows.simd):
        threads = next(n for (other, _), (_, n) in rows.simd.items() if other == image)
        best, edt = (rows.get(image, engine, "distance", threads) for engine in ("nearfield", "edt"))
        line = [image_name(image), percent(image[2]), number(best)]
        for level in levels:
            ms = rows.simd.get((image, level), (None, 0))[0]
            line += [number(ms), times(ms / best) if ms and best else "", ratio_text(edt / ms) if ms and edt else ""]
        lines.append(line)
    return table(titles, lines)


def exact_section(rows):
    threads = rows.threads()
    parts = [head(rows)]
    for field in rows.fields():
        parts += [f"**{NAMES[field]}**", summary(rows, field, threads), field_table(rows, field, threads)]
    if rows.simd:
        text = "times are those of the best set's time, EMU128 and SCALAR are the least x86-64, SSE2"
        parts += [f"**Instruction sets** (distances, one thread; {text})", simd_table(rows)]
    return "\n\n".join(filter(None, parts))


HEADLINE = (("device", 0, ("PBA+", "CuPy", "NPP")), ("host", 2, ("edt", "OpenCV", "SciPy")))
HEADLINE_IMAGES = ((4096,) * 2, (256,) * 3, (512,) * 3)


def headline(exact):
    """A few rows for the README: 10 % random sites, how many times faster than each peer."""
    lines = []
    for place, threads, peers in HEADLINE:
        rows = exact[place]
        where = rows.ours["device"] + (f", {threads} threads" if threads else "")
        for shape in HEADLINE_IMAGES:
            image = ("random", shape, 0.1)
            line = [where, image_name(image)]
            for fields in (("distance",), SITES):
                field = next((f for f in fields if rows.get(image, "nearfield", f, threads)), None)
                ours = rows.get(image, "nearfield", field, threads)
                against = []
                for peer in peers:
                    # A peer without threads of its own was timed on one.
                    theirs = rows.get(image, peer, field, threads) or rows.get(image, peer, field, 1)
                    if ours and theirs:
                        against.append(f"{peer} {theirs / ours:.1f}x")
                line += [f"{number(ours)} ms" if ours else "", ", ".join(against)]
            if line[2]:
                lines.append(line)
    return table(["on", "image", "distances", "faster than", "nearest sites", "faster than"], lines)


def option_section(sheet):
    """Options down, shapes across: milliseconds, and how many times the plain call (or what the name says)."""
    shapes = list(dict.fromkeys(tuple(row["shape"]) for row in sheet["options"]))
    names = list(dict.fromkeys(row["name"] for row in sheet["options"]))
    rows = {(row["name"], tuple(row["shape"])): row for row in sheet["options"]}
    titles, lines = ["call"], [[name] for name in names]
    for shape in shapes:
        titles += [f"{size_name(shape)} ms", "times"]
        for name, line in zip(names, lines, strict=True):
            row = rows.get((name, shape))
            line += [number(row["ms"]), times(row["times"])] if row else ["", ""]
    where = sheet["device"] or sheet["details"]
    text = f"{where} ({sheet['details']}), built by {sheet['compiler']}, {sheet['date']}."
    return text + "\n\n" + table(titles, lines)
