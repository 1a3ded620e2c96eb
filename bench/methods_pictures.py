"""The pictures of docs/methods.md that are drawn from numbers: errors and times over density, and two grids that go wrong."""

import math
import pathlib

from report_svg import Svg

ERRORS = (
    ("jump-flood", "halving", "line0"),
    ("jump-flood doubling", "doubling", "goal"),
    ("jump-flood +1", "JFA+1", "line1"),
    ("jump-flood 1+", "1+JFA", "line2"),
    ("jump-flood randomised", "randomised", "line4"),
    ("plane-sweep", "plane-sweep", "line5"),
)
TIMES = (
    ("banding", "banding", "line0"),
    ("jump-flood", "jump-flood", "line1"),
    ("jump-flood squared", "squared", "line2"),
    ("plane-sweep", "plane-sweep", "line5"),
    ("plane-sweep independent", "independent", "line3"),
    ("brushfire parallel", "parallel fire", "goal"),
    ("chamfer iterated", "chamfer", "line4"),
)
LEFT, TOP, WIDTH, HEIGHT, APART = 62, 56, 300, 220, 150


def percent(density):
    return f"{density * 100:g} %"


def wrong_in_a_million(row):
    cells = math.prod(row["shape"])
    return (row["errors"]["wrong_sites"] + row["errors"]["missing"]) / cells * 1e6


def density_chart(errors, image, times, large):
    """Errors on `image` beside times on `large`, both over the share of sites."""
    svg = Svg(2 * (WIDTH + APART) + LEFT, TOP + HEIGHT + 56, "Errors and times of the methods over the share of sites")

    def wrong(key):
        return [(d, wrong_in_a_million(errors.get(key, image, d))) for d in errors.densities]

    def slower(key):
        return [(d, times.get(key, large, d)["ms"] / times.get("exact", large, d)["ms"]) for d in times.densities]

    panel(svg, LEFT, f"wrong cells in a million, {image[0]}^2", errors, wrong, ERRORS, 1e6 / math.prod(image) / 3)
    panel(svg, LEFT + WIDTH + APART, f"times the exact engine's time, {large[0]}^2", times, slower, TIMES, None)
    return svg.written()


def panel(svg, left, title, sheet, points_of, lines, nothing):
    """Logarithms both ways; values of 0 lie at the line named 0, each method's a little above the one's before."""
    series = [(name, kind, points_of(key)) for key, name, kind in lines]
    seen = [v for _, _, points in series for _, v in points if v > 0]
    low = math.floor(math.log10(nothing or min(seen)))
    high = math.ceil(math.log10(max(seen)))
    first, last = math.log10(sheet.densities[0]), math.log10(sheet.densities[-1])

    def across(density):
        return left + WIDTH * (math.log10(density) - first) / (last - first)

    def place(density, value, lifted):
        if value <= 0:
            return across(density), TOP + HEIGHT - lifted
        return across(density), TOP + HEIGHT * (high - math.log10(value)) / (high - low)

    svg.text(left, TOP - 24, title, "ink", size=13)
    for power in range(low, high + 1):
        y = TOP + HEIGHT * (high - power) / (high - low)
        svg.line(left, y, left + WIDTH, y, "grid")
        zero = nothing is not None and power == low
        svg.text(left - 8, y + 4, "0" if zero else f"{10.0**power:g}", "soft", "end", 11)
    shares(svg, left, sheet.densities, across)
    svg.text(left + WIDTH / 2, TOP + HEIGHT + 40, "share of sites", "soft", "middle", 11)
    zeros = 0
    for row, (name, kind, points) in enumerate(sorted(series, key=lambda s: -sum(math.log1p(v) for _, v in s[2]))):
        line = [place(d, v, 3 * zeros) for d, v in points]
        zeros += any(v <= 0 for _, v in points)
        svg.path(line, kind)
        for x, y in line:
            svg.dot(x, y, kind, 2.5)
        key = TOP + 4 + 18 * row
        svg.line(left + WIDTH + 14, key, left + WIDTH + 32, key, kind, 2.5)
        svg.text(left + WIDTH + 38, key + 4, name, "ink", size=11)


def shares(svg, left, densities, across):
    """Names below the axis, but for those that would run into the one to their right."""
    right = left + 2 * WIDTH
    for density in reversed(densities):
        x = across(density)
        if right - x < 34:
            continue
        svg.text(x, TOP + HEIGHT + 18, percent(density), "soft", "middle", 10)
        right = x


# ---- grids ---------------------------------------------------------------------------------------------------------

SIDE = 26


def nearest(seeds, rows, columns):
    """Every cell's nearest seed; ties go to the smaller x, then to the smaller y."""

    def of(y, x):
        return min(seeds, key=lambda s: ((s[0] - y) ** 2 + (s[1] - x) ** 2, s[1], s[0]))

    return {(y, x): of(y, x) for y in range(rows) for x in range(columns)}


def grid_picture(title, seeds, rows, columns, marks, arrows=()):
    """Cells in the colours of their nearest seeds; `marks` are cells with a letter, `arrows` go from cell to cell."""
    svg = Svg(columns * SIDE + 40, rows * SIDE + 40, title)
    kinds = dict(zip(seeds, ("line4", "line1", "line2", "line0", "line5")))

    def middle(cell):
        return 20 + (cell[1] + 0.5) * SIDE, 20 + (cell[0] + 0.5) * SIDE

    for (y, x), seed in nearest(seeds, rows, columns).items():
        svg.rect(20 + x * SIDE, 20 + y * SIDE, SIDE - 1, SIDE - 1, kinds[seed], opacity=1 if (y, x) == seed else 0.35)
    for start, end in arrows:
        svg.line(*middle(start), *middle(end), "ink", 1.5, "4 3")
    for cell, letter in marks.items():
        svg.note(middle(cell)[0], middle(cell)[1] + 4, letter, "ink", 12)
    return svg.written()


def three_seeds():
    """The lecture's: p's nearest seed is r, whose jump of four rows ends at p1 or p2, and these have nearer seeds."""
    r, g, b = (6, 2), (4, 0), (4, 10)
    marks = {r: "r", g: "g", b: "b", (2, 5): "p", (2, 2): "p1", (2, 6): "p2"}
    return grid_picture("Three seeds where jump flooding fails", [r, g, b], 12, 12, marks, [(r, (2, 2)), (r, (2, 6))])


def exclave():
    """A cell of a seed's region none of whose neighbours is in it."""
    seeds = [(0, 6), (0, 9), (1, 3), (2, 1)]
    return grid_picture("An exclave cell", seeds, 14, 14, {(13, 8): "e", **dict(zip(seeds, "abcd"))})


def write(folder: pathlib.Path, errors, image, times, large):
    for name, picture in (
        ("methods-density", density_chart(errors, image, times, large)),
        ("methods-three-seeds", three_seeds()),
        ("methods-exclave", exclave()),
    ):
        (folder / f"{name}.svg").write_text(picture)
