"""Tables of connected components on the GPU: labels over the floor and beside peers, what else a call wants, goals."""

import math
from statistics import geometric_mean

from report_data import number, size_name, table

PUBLISHED = ("BKE", "BUF", "HA4", "HA8", "KE4")


class Times:
    """Milliseconds of nearfield by (what, data, shape, connectivity, granularity, percent); of peers by engine too."""

    def __init__(self, sheets):
        self.ours = next(s for s in sheets if s["engine"] == "nearfield")
        self.ms = {self.key(row): row["ms"] for row in self.ours["labels"]}
        self.peers = {}
        for row in (row for sheet in sheets if sheet is not self.ours for row in sheet["labels"]):
            self.peers.setdefault(row["engine"].split()[0], {})[self.key(row)] = row["ms"]
        self.gb_s = next(iter(self.ours["copy_gb_s"].values()))

    @staticmethod
    def key(row):
        return row["what"], row["data"], tuple(row["shape"]), row["connectivity"], row["grain"], row["percent"]

    def floors(self, key):
        cells = 1
        for n in key[2]:
            cells *= n
        return self.ms[key] / (5 * cells / self.gb_s * 1e-6)

    def published(self, key):
        """The fastest of the published algorithms, and its name."""
        found = [(self.peers[name][key], name) for name in PUBLISHED if key in self.peers.get(name, {})]
        return min(found, default=(None, ""))

    def ratios(self, of):
        pairs = [(of(key), ms) for key, ms in self.ms.items() if key[0] == "labels"]
        return [theirs / ours for theirs, ours in pairs if theirs]


def groups(times, what, random=True):
    found = {}
    for key in times.ms:
        if key[0] == what and (key[1] == "random") == random:
            found.setdefault(key[1:5], []).append(key)
    return found


def label_table(times):
    percents = sorted({key[5] for key in times.ms if key[1] == "random"})
    lines = []
    for (_, shape, connectivity, grain), keys in groups(times, "labels").items():
        line = [f"{size_name(shape)}, {connectivity}, {grain}"]
        for percent in percents:
            key = next((k for k in keys if k[5] == percent), None)
            theirs, name = times.published(key) if key else (None, "")
            said = f" ({theirs / times.ms[key]:.1f}x {name})" if theirs else ""
            line.append(f"{times.ms[key]:.3f}{said}" if key else "")
        line.append(f"{geometric_mean(times.floors(key) for key in keys):.1f}")
        lines.append(line)
    return table(["image, neighbours, granularity", *(f"{p} %" for p in percents), "floors"], lines)


def beside_table(times, asked):
    lines = []
    for random in (True, False):
        for (data, shape, connectivity, grain), keys in groups(times, asked[0], random).items():
            for key in keys:
                name = size_name(shape) if random else f"{data} {size_name(shape)}"
                name += f", {connectivity}" + (f", {grain}, {key[5]} %" if random else "")
                line = [name, number(times.ms.get(("labels", *key[1:])))]
                lines.append(line + [number(times.ms.get((what, *key[1:]))) for what in asked])
    titles = ["image, neighbours, granularity, share", "labels ms", *(f"{what} ms" for what in asked)]
    return table(titles, lines)


def image_device_section(sheet):
    """Real images, over the time of a copy of their bytes too."""
    gb_s = next(iter(sheet["copy_gb_s"].values()))
    lines = []
    for row in sheet["label_images"]:
        cells = math.prod(row["shape"])
        line = [row["text"], "x".join(map(str, row["shape"])), str(row["connectivity"]), str(row["components"])]
        floor = cells * (row["bytes"] + 4) / gb_s * 1e-6
        lines.append([*line, number(row["ms"]), f"{cells / row['ms'] / 1e6:.1f}", f"{row['ms'] / floor:.1f}"])
    text = f"{sheet['device']} ({sheet['details']}), nearfield {sheet['version']} built by {sheet['compiler']}, "
    text += (
        f"{sheet['date']}. Medians of 15 runs. `floors`: times of a copy of the image's bytes in and four a cell out."
    )
    return f"{text}\n\n" + table(
        ["image", "cells", "neighbours", "components", "nearfield ms", "Gcells/s", "floors"], lines
    )


def reached(yes):
    return "" if yes else ": not reached"


def goal_table(times):
    best = times.ratios(lambda key: times.published(key)[0])
    cupy = times.ratios(times.peers["CuPy"].get)
    large = [k for k in times.ms if k[0] == "labels" and k[1] == "random" and k[2] == (8192, 8192) and k[4] >= 8]
    over = {c: max(times.floors(k) for k in large if k[3] == c) for c in (8, 4)}
    tables = [
        times.ms[k] / times.ms["labels", *k[1:]] - 1
        for k in times.ms
        if k[0] == "size, box, centroid" and ("labels", *k[1:]) in times.ms
    ]
    criteria = [
        times.ms[k] / times.ms["labels", *k[1:]]
        for k in times.ms
        if k[0] in ("equal values", "within 5") and ("labels", *k[1:]) in times.ms
    ]
    lines = [
        ["3 times the best published, geometric mean", f"{geometric_mean(best):.1f} times, of {len(best)}"],
        ["no image less than 1.5 times", f"{min(best):.2f} times"],
        ["8 times CuPy everywhere", f"{min(cupy):.1f} times, mean {geometric_mean(cupy):.1f}"],
        [
            "at most 3 floors at 8192^2, granularity 8 and more",
            f"8 neighbours: {over[8]:.2f}; 4 neighbours: {over[4]:.2f}",
        ],
        [
            "size, box and centroid add at most 25 %",
            f"{min(tables):.0%} to {max(tables):.0%}{reached(max(tables) <= 0.25)}",
        ],
        [
            "equal values and criteria within 2 times",
            f"{min(criteria):.1f} to {max(criteria):.0f} times{reached(max(criteria) <= 2)}",
        ],
    ]
    return table(["goal", "reached"], lines)


def label_device_section(sheets):
    times = Times(sheets)
    s = times.ours
    text = (
        f"{s['device']} ({s['details']}), nearfield {s['version']} built by {s['compiler']}, {s['date']}. "
        "Medians of 15 runs, int32 labels in raster order from bytes on the device. In brackets: times faster than the "
        "fastest of BKE, BUF, HA4, HA8 and KE4 on the same kind of GPU, whose labels are not consecutive; `floors` is "
        "the geometric mean "
        "over the shares, in times of a copy of one byte in and four out."
    )
    asked = ["equal values", "within 5", "size, box, centroid", "and border, faces", "and mean, variance"]
    asked = [what for what in asked if any(key[0] == what for key in times.ms)]
    parts = [
        text,
        goal_table(times),
        label_table(times),
        "What else a call can be asked for:",
        beside_table(times, asked),
    ]
    return "\n\n".join(filter(None, parts))
