"""Two pictures: time over the memory floor by size, and our time beside other GPU libraries'."""

import math

from forms_table import machine, peer_of
from report_data import number, percent
from report_goals import DENSITIES, SIDES, site_field
from report_svg import Svg

TITLES = {"distance": "Distances", "index32": "Nearest sites (int32)", "index": "Nearest sites (int64)"}
# Largest time over the floor by shape, of some densities.
LIMITS = (
    ((512,) * 3, 4, "4x from 10 %", 14),
    ((512,) * 3, 8, "8x under 10 %", -6),
    ((8192,) * 2, 5, "5x from 10 %", 14),
)


def raised(shape):
    """512 with a small 3, for text outside Markdown."""
    return f"{shape[0]}{' ²³'[len(shape) - 1]}"


class Panel:
    """Time over the floor, logarithmic, by size."""

    low, high = 1, 1000

    def __init__(self, svg, rows, field, axes, box):
        self.svg, self.rows, self.field, self.axes = svg, rows, field, axes
        self.left, self.top, self.width, self.height = box
        self.shapes = [(n,) * axes for n in SIDES[axes]]

    def x(self, k):
        return self.left + (k + 0.5) * self.width / len(self.shapes)

    def y(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.top + self.height * (1 - share)

    def frame(self):
        svg, right = self.svg, self.left + self.width
        for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
            strong = tick in (1, 10, 100, 1000)
            svg.line(self.left, self.y(tick), right, self.y(tick), "edge" if strong else "grid")
            svg.text(self.left - 8, self.y(tick) + 4, f"{tick}x", "soft", "end", 11)
        for k, shape in enumerate(self.shapes):
            svg.text(self.x(k), self.top + self.height + 16, raised(shape), "soft", "middle", 11)
        kind = "images" if self.axes == 2 else "volumes"
        svg.text(self.left, self.top - 8, f"{TITLES[self.field]}, {kind}", "ink bold", size=13)

    def values(self, density, engine="nearfield"):
        found = (
            (k, self.rows.over_floor(("random", s, density), self.field, 0, engine)) for k, s in enumerate(self.shapes)
        )
        return [(self.x(k), self.y(min(max(value, self.low), self.high))) for k, value in found if value]

    def peers(self):
        """PBA+ as a band from its best to its worst density."""
        lines = [line for density in DENSITIES if len(line := self.values(density, "PBA+")) == len(self.shapes)]
        if lines:
            best = [max(points, key=lambda p: p[1]) for points in zip(*lines, strict=True)]
            worst = [min(points, key=lambda p: p[1]) for points in zip(*lines, strict=True)]
            self.svg.area([*best, *reversed(worst)], "band", 0.28)
            x, y = worst[-2]
            self.svg.text(x, y - 8, "PBA+", "soft bold", "middle", 12)

    def draw(self):
        self.frame()
        self.peers()
        for k, density in enumerate(DENSITIES):
            line = self.values(density)
            self.svg.path(line, f"line{k}")
            for x, y in line:
                self.svg.dot(x, y, f"line{k}")
        for shape, limit, text, below in LIMITS:
            if shape in self.shapes:
                x, y, half = self.x(self.shapes.index(shape)), self.y(limit), 0.5 * self.width / len(self.shapes)
                self.svg.line(x - half, y, x + half, y, "goal", 2, "5 3")
                self.svg.note(x, y + below, text, "goal", 11)


def roofline_picture(rows):
    """Four panels: images and volumes, distances and nearest sites."""
    width, panel_width, panel_height = 1000, 410, 270
    svg = Svg(width, 800, "Time of the whole call over the memory floor, by size and share of sites")
    svg.text(24, 30, "Time of a call over the memory floor", "ink bold", size=17)
    floor = "Floor (1x): the image's bytes read and the field written once, at the speed of a copy. "
    s = rows.ours
    svg.text(24, 50, floor + f"{s['device']}, {s['date']}, random sites.", "soft")
    x = 24
    svg.text(x, 76, "share of sites:", "soft")
    x += 90
    for k, density in enumerate(DENSITIES):
        svg.line(x, 72, x + 22, 72, f"line{k}", 3)
        svg.text(x + 28, 76, percent(density), "ink")
        x += 96
    svg.line(x, 72, x + 22, 72, "goal", 2, "5 3")
    svg.text(x + 28, 76, "goal of that size", "ink")
    svg.rect(x + 140, 65, 22, 13, "band", opacity=0.28)
    svg.text(x + 168, 76, "PBA+ (nearest sites)", "ink")
    for column, field in enumerate(("distance", site_field(rows.fields()) or "index")):
        for row, axes in enumerate((2, 3)):
            box = (66 + column * (panel_width + 68), 124 + row * (panel_height + 76), panel_width, panel_height)
            Panel(svg, rows, field, axes, box).draw()
    svg.text(20, 430, "time / floor (logarithmic)", "soft", "middle", 12, turn=-90)
    svg.text(66 + panel_width / 2, 784, "size of the image or volume, cells", "soft", "middle")
    svg.text(134 + 1.5 * panel_width, 784, "size of the image or volume, cells", "soft", "middle")
    return svg.written()


LARGE = ((8192,) * 2, (512,) * 3)
CALLS = (
    ("mask: distance", "Smooth mask: distance"),
    ("mask: distance, coordinates", "Smooth mask: distance, coordinates"),
)
PANEL = 408  # pixels


def bars(svg, title, found, left, top):
    """One panel: a bar an engine, fastest first; `found` is {engine: milliseconds}."""
    svg.text(left, top, title, "ink bold", size=14)
    ours, most = found.get("nearfield"), max(found.values(), default=None)
    if not ours:
        return svg.text(left, top + 30, "not measured", "soft")
    name_width, text_width = 72, 108
    room = PANEL - name_width - text_width
    for k, (ms, engine) in enumerate(sorted((ms, engine) for engine, ms in found.items())):
        y, mine = top + 14 + 25 * k, engine == "nearfield"
        svg.text(left + name_width - 8, y + 14, engine, "ink bold" if mine else "ink", "end", 13)
        svg.rect(left + name_width, y, max(room * ms / most, 2), 19, "ours" if mine else "other", round_=2)
        text = (
            f"{number(ms)} ms"
            + ("" if mine else f"  ({ms / ours:.1f}x)")
            + ("" if len(found) > 1 else "  (no peer timed)")
        )
        svg.text(left + name_width + room * ms / most + 8, y + 14, text, "ink bold" if mine else "soft", size=12)
    return None


def form_bars(sheet, form, shape):
    """{engine: milliseconds} of a row of forms.py."""
    row = next((r for r in sheet["rows"] if r["form"] == form and tuple(r["shape"]) == shape), None)
    found = {"nearfield": row["ms"], peer_of("device", row): row.get("peer_ms")} if row else {}
    return {engine: ms for engine, ms in found.items() if ms}


def against_picture(rows, forms=None):
    """Milliseconds of calls on a smooth mask, and of nearest sites of 10 % dots, beside the libraries built on PBA+."""
    svg = Svg(880, 404, "Milliseconds of nearfield, CuPy and PBA+ on a smooth mask and on 10 % random dots")
    s, sites = rows.ours, site_field(rows.fields()) or "index"
    svg.text(24, 32, "Exact distance transform on a GPU: milliseconds, less is better", "ink bold", size=17)
    text = f"Random dots: {s['device']}, {s['date']}. Data on the device, medians."
    if forms:
        text = f"Smooth mask, 30 % objects: {', '.join(machine('device', forms))}. {text}"
    svg.text(24, 53, text, "soft")
    lines = [[(title, form, shape) for shape in LARGE] for form, title in CALLS if forms]
    top = 88
    for line in lines:
        for k, (title, form, shape) in enumerate(line):
            bars(svg, f"{title}, {raised(shape)}", form_bars(forms, form, shape), 24 + k * 424, top)
        top += 96
    for k, shape in enumerate(LARGE):
        every = {e: rows.get(("random", shape, 0.1), e, sites, 0) for e in ("nearfield", "PBA+", "CuPy")}
        found = {engine: ms for engine, ms in every.items() if ms}
        bars(svg, f"10 % random dots: nearest sites, {raised(shape)}", found, 24 + k * 424, top)
    text = "CuPy is built on PBA+. PBA+: a run of its own on the same kind of GPU, the best of its parameters."
    svg.text(24, 390, text, "soft", size=11)
    return svg.written()
