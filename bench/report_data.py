"""What the benchmarks left in a folder, and how figures are written."""

import json
import math
import pathlib
import statistics

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
NAMES = {
    "distance": "Distance (float32)",
    "index32": "Nearest site (int32 linear index)",
    "index": "Nearest site (int64 linear index)",
}
SITES = ("index32", "index")


def read_sheets(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def library(engine):
    """An engine's name without its version, by which peers share a column."""
    return engine.split()[0]


class Rows:
    """Milliseconds by image, engine, field and threads, of one place."""

    def __init__(self, sheets):
        self.ours = next((s for s in sheets if s["engine"] == "nearfield"), None)
        self.sheets = [s for s in sheets if self.ours is None or s["device"] == self.ours["device"]]
        self.left_out = [s for s in sheets if s not in self.sheets]
        self.ms, self.simd, self.images, self.peers = {}, {}, {}, []
        for sheet in self.sheets:
            for row in sheet["results"]:
                image = (row["data"], tuple(row["shape"]), round(row["density"], 6))
                if "simd" in row:
                    self.simd[image, row["simd"]] = (row["ms"], row["threads"])
                    continue
                self.ms[image, library(row["engine"]), row["field"], row["threads"]] = row["ms"]
                if row["engine"] == "nearfield":
                    self.images.setdefault(image)
                elif row["engine"] not in self.peers:
                    self.peers.append(row["engine"])

    def get(self, image, engine, field, threads):
        """A peer's nearest sites are compared with both of ours. PBA+ finds sites alone; distances cost it no less."""
        if engine != "nearfield" and (field in SITES or engine == "PBA+"):
            field = "index"
        return self.ms.get((image, engine, field, threads))

    def ratio(self, image, engine, field, threads):
        """How many times faster ours is, or None; a peer without threads of its own was timed on one."""
        ours, theirs = (self.get(image, name, field, threads) for name in ("nearfield", engine))
        return theirs / ours if ours and theirs else None

    def fields(self):
        return [f for f in NAMES if any(key[1] == "nearfield" and key[2] == f for key in self.ms)]

    def threads(self):
        return sorted({key[3] for key in self.ms if key[1] == "nearfield"})

    def floor_ms(self, image, field, threads):
        """Reading the image's bytes and writing the field once, at the speed of a copy."""
        gb_s = self.ours["copy_gb_s"].get(str(threads))
        return math.prod(image[1]) * (9 if field == "index" else 5) / (gb_s * 1e6) if gb_s else None

    def over_floor(self, image, field, threads, engine="nearfield"):
        ms, floor = self.get(image, engine, field, threads), self.floor_ms(image, field, threads)
        return ms / floor if ms and floor else None


def has_pba(sheet):
    return any(library(row["engine"]) == "PBA+" for row in sheet.get("results", []))


def has_published_labels(sheet):
    return any(row["engine"] == "BKE" for row in sheet.get("labels", []))


class Folder:
    """All results of a folder by kind and place.

    PBA+ and the published ways to label are compared with wherever the device is theirs.
    """

    def __init__(self, folder):
        sheets = read_sheets(folder)
        if any(s.get("engine") == "nearfield" and s["place"] == "device" and "results" in s for s in sheets):
            sheets += [s for s in read_sheets(RESULTS) if has_pba(s) and s not in sheets]
        if any("labels" in s and s["place"] == "device" for s in sheets):
            sheets += [s for s in read_sheets(RESULTS) if has_published_labels(s) and s not in sheets]
        by_place = {}
        for sheet in sheets:
            # Methods are timed by image too, and have a page of their own.
            if "place" in sheet and "data" in next(iter(sheet.get("results", [])), {}):
                by_place.setdefault(sheet["place"], []).append(sheet)
        every = {place: Rows(found) for place, found in sorted(by_place.items())}
        self.exact = {place: rows for place, rows in every.items() if rows.ours}
        self.only_peers = [place for place in every if place not in self.exact]
        self.options = {sheet["place"]: sheet for sheet in sheets if "options" in sheet}
        self.propagation = {sheet["place"]: sheet for sheet in sheets if "propagation" in sheet}
        self.components = [sheet for sheet in sheets if "components" in sheet]
        self.labels = {}
        for sheet in sheets:
            if "labels" in sheet:
                self.labels.setdefault(sheet["place"], []).append(sheet)
        self.label_images = {sheet["place"]: sheet for sheet in sheets if "label_images" in sheet}
        found = {place: folder / f"forms_{place}.json" for place in ("device", "host")}
        self.forms = {place: json.loads(path.read_text()) for place, path in found.items() if path.is_file()}
        self.targets = next((sheet for sheet in sheets if "targets" in sheet), None)

    def empty(self):
        every = (
            self.exact,
            self.forms,
            self.options,
            self.propagation,
            self.labels,
            self.components,
            self.targets,
            self.label_images,
        )
        return not any(every)


def size_name(shape):
    return f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 and len(shape) > 1 else "x".join(map(str, shape))


def image_name(image):
    data, shape, _ = image
    return size_name(shape) if data == "random" else f"{data} {size_name(shape)}"


def percent(density):
    return f"{100 * density:.4g} %"


def number(value):
    if value is None:
        return ""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def times(value):
    return "" if value is None else f"{value:.2f}"


def beside(value, other):
    """Milliseconds, and what multiple of others they are."""
    return f"{number(value)} ({other:.2f})" if value is not None and other else number(value)


def peer_ms(theirs, ours):
    """A peer's milliseconds, and how many times ours they are."""
    return f"{number(theirs)} ({theirs / ours:.1f}x)" if theirs and ours else number(theirs)


def ratio_text(value):
    return f"{value:.1f}x" if value else ""


def mean_and_least(ratios):
    return f"{statistics.geometric_mean(ratios):.1f} (least {min(ratios):.1f}, of {len(ratios)})"


def table(titles, rows):
    """Markdown, padded so that it reads well in a terminal too; columns without any value are dropped."""
    keep = [k for k in range(len(titles)) if any(row[k] for row in rows)]
    cells = [[line[k] for k in keep] for line in [titles, *rows]]
    widths = [max(len(line[k]) for line in cells) for k in range(len(keep))]
    lines = ["| " + " | ".join(text.rjust(w) for text, w in zip(line, widths, strict=True)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 1) + ":" for w in widths) + "|")
    return "\n".join(lines)
