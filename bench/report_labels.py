"""Tables of connected components: labels beside peers, criteria beside binary images, tables beside labels alone."""

from statistics import geometric_mean

from report_data import beside, library, mean_and_least, number, size_name, table

LABELS = "labels"


class Times:
    """Milliseconds by image, engine, what was asked for and threads."""

    def __init__(self, sheets):
        self.ours = next(s for s in sheets if s["engine"] == "nearfield")
        self.sheets = [s for s in sheets if s["device"] == self.ours["device"]]
        self.ms, self.peers = {}, []
        for sheet in self.sheets:
            for row in sheet["labels"]:
                image = (row["data"], tuple(row["shape"]), row["connectivity"], row["grain"], row["percent"])
                self.ms[image, library(row["engine"]), row["what"], row["threads"]] = row["ms"]
                if row["engine"] != "nearfield" and row["engine"] not in self.peers:
                    self.peers.append(row["engine"])

    def get(self, image, engine, what, threads):
        """A peer without threads of its own was timed on one."""
        ms = self.ms.get((image, engine, what, threads))
        return ms if ms or engine == "nearfield" else self.ms.get((image, engine, what, 1))

    def groups(self, what, data="random"):
        """Images of one shape, connectivity, granularity and number of threads, in the order of the measurement."""
        found = {}
        for image, engine, asked, threads in self.ms:
            if engine == "nearfield" and asked == what and (image[0] == "random") == (data == "random"):
                found.setdefault((*image[:4], threads), []).append(image)
        return found


def mean_ms(rows, images, engine, what, threads):
    found = [rows.get(image, engine, what, threads) for image in images]
    return geometric_mean(found) if found and all(found) else None


def ratios(rows, images, peer, what, threads):
    pairs = [(rows.get(i, peer, what, threads), rows.get(i, "nearfield", what, threads)) for i in images]
    return [theirs / ours for theirs, ours in pairs if theirs and ours]


def group_name(group):
    data, shape, connectivity, grain, threads = group
    name = size_name(shape) if data == "random" else f"{data} {size_name(shape)}"
    return [f"{name}, {connectivity}", str(grain) if grain else "", str(threads) if threads else ""]


HEAD = ["image, neighbours", "granularity", "threads"]


def peer_table(rows, what, data="random"):
    names = list(dict.fromkeys(map(library, rows.peers)))
    titles = [*HEAD, "nearfield ms", *(f"{name} ms (ratio, least)" for name in names)]
    lines = []
    for group, images in rows.groups(what, data).items():
        line = [*group_name(group), number(mean_ms(rows, images, "nearfield", what, group[-1]))]
        for name in names:
            found = ratios(rows, images, name, what, group[-1])
            theirs = mean_ms(rows, images, name, what, group[-1])
            line.append(f"{number(theirs)} ({geometric_mean(found):.1f}x, {min(found):.1f}x)" if found else "")
        lines.append(line)
    return table(titles, lines)


def summary(rows, what):
    """Over all densities and granularities, for each peer, number of axes and number of threads."""
    said = []
    for name in dict.fromkeys(map(library, rows.peers)):
        by_threads = {}
        for group, images in rows.groups(what).items():
            key = (len(group[1]), group[-1])
            by_threads.setdefault(key, []).extend(ratios(rows, images, name, what, group[-1]))
        for (axes, threads), found in sorted(by_threads.items()):
            if found:
                said.append(f"{name}, {axes}-D, {threads} thread{'s' if threads > 1 else ''}: {mean_and_least(found)}")
    return "Times faster, geometric mean: " + "; ".join(said) + "." if said else ""


def beside_table(rows, asked):
    """What else was asked for, as times of the call for labels of a binary image."""
    groups = {
        key: images
        for key, images in rows.groups(LABELS).items()
        if rows.get(images[0], "nearfield", asked[0], key[-1])
    }
    titles, lines = [*HEAD, "labels ms", *(f"{what} ms" for what in asked)], []
    for group, images in groups.items():
        plain = mean_ms(rows, images, "nearfield", LABELS, group[-1])
        line = [*group_name(group), number(plain)]
        for what in asked:
            ms = mean_ms(rows, images, "nearfield", what, group[-1])
            line.append(beside(ms, ms / plain) if ms else "")
        lines.append(line)
    return table(titles, lines) if lines else ""


def label_section(sheets):
    rows = Times(sheets)
    s = rows.ours
    asked = list(dict.fromkeys(what for _, engine, what, _ in rows.ms if engine == "nearfield"))
    text = f"{s['device']} ({s['details']}), nearfield {s['version']} built by {s['compiler']}, {s['date']}. "
    if s.get("clock", "wall-clock time") != "wall-clock time":
        text += "Times are processor time. "
    text += "Milliseconds are the best of up to 21 runs after a warm-up, and of a line the geometric mean over its "
    text += "densities; `least` is the smallest ratio of one density."
    if rows.peers:
        text += f" Peers: {', '.join(rows.peers)}."
    parts = [text, "**Labels**", summary(rows, LABELS), peer_table(rows, LABELS)]
    hard = peer_table(rows, LABELS, "hard") if rows.groups(LABELS, "hard") else ""
    parts += ["**Hard images**", hard] if hard else []
    criteria = [what for what in asked if what.startswith(("equal", "within"))]
    tables = [what for what in asked if what not in (LABELS, *criteria)]
    if criteria:
        parts += ["**Criteria** (the same images, foreground in three values)", beside_table(rows, criteria)]
    if tables:
        parts += ["**Tables in the same call**", beside_table(rows, tables)]
        parts += [summary(rows, tables[0]), peer_table(rows, tables[0])] if rows.peers else []
    return "\n\n".join(filter(None, parts))


def image_section(sheet):
    """Real, hard and large images, each beside whichever peers take it."""
    rows = {}
    for row in sheet["label_images"]:
        key = (row["image"], row["connectivity"])
        rows.setdefault(key, {"row": row})[library(row["engine"])] = row["ms"]
    names = list(dict.fromkeys(name for each in rows.values() for name in each if name not in ("row", "nearfield")))
    titles = ["image", "cells", "neighbours", "components", "nearfield ms", "times faster than"]
    lines, found = [], {name: [] for name in names}
    for (_, connectivity), each in rows.items():
        row, ours = each["row"], each["nearfield"]
        line = [row["text"], "x".join(map(str, row["shape"])), str(connectivity), str(row["components"]), number(ours)]
        beside_these = {name: each[name] / ours for name in names if name in each}
        for name, ratio in beside_these.items():
            found[name].append(ratio)
        lines.append([*line, ", ".join(f"{name} {ratio:.1f}" for name, ratio in beside_these.items())])
    said = "; ".join(f"{name}: {mean_and_least(ratios)}" for name, ratios in found.items())
    peers = dict.fromkeys(row["engine"] for row in sheet["label_images"] if row["engine"] != "nearfield")
    text = f"{sheet['device']} ({sheet['details']}), nearfield {sheet['version']}, {sheet['date']}. "
    text += "Milliseconds of processor time, the best of up to 21 runs. "
    text += f"Peers: {', '.join(peers)}. Times faster, geometric mean: {said}."
    return "\n\n".join([text, table(titles, lines)])
