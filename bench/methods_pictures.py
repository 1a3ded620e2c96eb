"""The pictures of docs/methods.md that are drawn from numbers: errors, times, rounds, and two grids that go wrong."""

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
EXACT = ("exact", "exact engine", "ink")
LEFT, TOP, WIDTH, HEIGHT, APART = 62, 56, 300, 220, 150


def percent(density):
    return f"{density * 100:g} %"


# Words for an axis, and how its values are written.
SHARES = ("share of sites", percent)
SIDES = ("cells a side", lambda n: f"{n:g}")


def wrong_in_a_million(row):
    cells = math.prod(row["shape"])
    return (row["errors"]["wrong_sites"] + row["errors"]["missing"]) / cells * 1e6


def density_chart(errors, image, sizes, times, large):
    """Errors on `image` over the share of sites, errors over the side at 1 %, and times on `large` over the share."""
    svg = sheet_of(3, "Errors and times of the methods over the share of sites and the side")
    sides = [s for s in sizes.shapes if len(s) == 2]

    def wrong(key):
        return [(d, wrong_in_a_million(errors.get(key, image, d))) for d in errors.densities]

    def slower(key):
        return [(d, times.get(key, large, d)["ms"] / times.get("exact", large, d)["ms"]) for d in times.densities]

    def over_side(key):
        return [(s[0], wrong_in_a_million(sizes.get(key, s, 0.01))) for s in sides]

    nothing = 1e6 / math.prod(image) / 3
    panel(svg, 0, f"wrong cells in a million, {image[0]}^2", named(ERRORS, wrong), SHARES, nothing)
    panel(
        svg, 1, "wrong cells in a million, 1 % of sites", named(ERRORS, over_side), SIDES, 1e6 / max(sides)[0] ** 2 / 3
    )
    panel(svg, 2, f"times the exact engine's time, {large[0]}^2", named(TIMES, slower), SHARES)
    return svg.written()


def wins_chart(times):
    """Time for a million cells over the side of an image, for few sites, some and many."""
    images = [s for s in times.shapes if len(s) == 2]
    shown = [d for d in (0.0001, 0.1, 0.9) if d in times.densities] or times.densities
    svg = sheet_of(len(shown), "Times of the methods over the size of images")
    for column, density in enumerate(shown):

        def a_million(key, density=density):
            return [(s[0], times.get(key, s, density)["ms"] / math.prod(s) * 1e9) for s in images]

        panel(
            svg,
            column,
            f"µs for a million cells, {percent(density)} of sites",
            named((EXACT, *TIMES), a_million),
            SIDES,
        )
    return svg.written()


def sweeps_chart(sweeps):
    """Sweeps in turn and all at once; bands that share memory and bands that shuffle."""
    images = [s for s in sweeps.shapes if len(s) == 2]
    svg = sheet_of(2, "Milliseconds of plane sweeps over the side of images")

    def took(key):
        return [(s[0], alone_ms(sweeps.get(f"plane-sweep {key}", s, 0.01))) for s in images]

    at_once = (
        ("cooperative", "one launch", "line5"),
        ("cooperative independent", "one launch, at once", "line4"),
        ("banded", "bands", "line0"),
        ("banded independent", "bands, at once", "line1"),
    )
    shuffles = (
        ("banded", "shared memory", "line0"),
        ("banded independent", "shared, at once", "line1"),
        ("shuffled", "shuffles", "goal"),
        ("shuffled independent", "shuffles, at once", "line3"),
    )
    panel(svg, 0, "ms, sweeps in turn and all at once", named(at_once, took), SIDES)
    panel(svg, 1, "ms, bands by shared memory and by shuffles", named(shuffles, took), SIDES)
    return svg.written()


def work_chart(times):
    """Rounds and bytes a cell over the side of an image, at 1 % of sites, beside what is predicted."""
    images = [s for s in times.shapes if len(s) == 2]
    svg = sheet_of(2, "Depth and work of the methods over the side of images")
    lines = tuple(
        t for t in TIMES if t[0] in ("jump-flood", "plane-sweep", "plane-sweep independent", "brushfire parallel")
    )

    def rounds(key):
        return [(s[0], times.get(key, s, 0.01)["rounds"]) for s in images]

    def a_cell(key):
        return [(s[0], times.get(key, s, 0.01)["bytes"] / math.prod(s)) for s in images]

    n0 = images[0][0]
    at = dict(rounds("jump-flood"))[n0], dict(a_cell("jump-flood"))[n0]
    log = ("log n", "soft", [(s[0], at[0] * math.log2(s[0]) / math.log2(n0)) for s in images])
    line = ("n", "soft", [(s[0], dict(rounds("plane-sweep"))[n0] * s[0] / n0) for s in images])
    log_work = ("log n", "soft", [(s[0], at[1] * math.log2(s[0]) / math.log2(n0)) for s in images])
    panel(svg, 0, "rounds, 1 % of sites", named(lines, rounds), SIDES, predicted=(log, line))
    panel(svg, 1, "bytes a cell, 1 % of sites", named(lines, a_cell), SIDES, predicted=(log_work,))
    return svg.written()


def chamfer_chart(rows):
    """Two passes on the host and rounds on a GPU, over the side of a full cube."""
    svg = sheet_of(2, "Chamfer distances of full cubes: two passes and rounds")
    cubes = [r for r in rows if r["kind"] == "cube"]

    def of(key, value):
        return sorted((r["side"], value(r)) for r in cubes if key(r))

    one = of(lambda r: r["device"] == "cpu" and r["threads"] == 1, lambda r: r["ms"])
    every = of(lambda r: r["device"] == "cpu" and r["threads"] != 1, lambda r: r["ms"])
    gpu = of(lambda r: r["device"] != "cpu", lambda r: r["ms"])
    rounds = of(lambda r: r["device"] != "cpu", lambda r: r["rounds"])
    series = [
        ("1 thread", "line5", one),
        ("all threads", "line0", every),
        ("GPU", "line1", gpu),
    ]
    panel(svg, 0, "ms", [s for s in series if s[2]], SIDES)
    panel(svg, 1, "rounds", [("GPU", "line1", rounds), ("two passes", "line0", [(n, 2) for n, _ in rounds])], SIDES)
    return svg.written()


def alone_ms(row):
    """The method alone, without reading the image and writing fields."""
    return sum(st["ms"] for st in row["stages"] if st["name"] not in ("initialise", "fields"))


def named(lines, points_of):
    return [(name, kind, points_of(key)) for key, name, kind in lines]


def sheet_of(panels, title):
    return Svg(panels * (WIDTH + APART) + LEFT, TOP + HEIGHT + 56, title)


def panel(svg, column, title, series, axis, nothing=None, predicted=()):
    """Logarithms both ways; values of 0 lie at the line named 0, each method's a little above the one's before. What is
    predicted is dashed."""
    left = LEFT + column * (WIDTH + APART)
    positions = [x for _, _, points in series for x, _ in points]
    seen = [v for _, _, points in [*series, *predicted] for _, v in points if v > 0]
    low = math.floor(math.log10(nothing or min(seen)))
    high = max(math.ceil(math.log10(max(seen))), low + 1)
    first, last = math.log10(min(positions)), math.log10(max(positions))

    def across(x):
        return left + WIDTH * (math.log10(x) - first) / (last - first)

    def place(x, value, lifted):
        if value <= 0:
            return across(x), TOP + HEIGHT - lifted
        return across(x), TOP + HEIGHT * (high - math.log10(value)) / (high - low)

    svg.text(left, TOP - 24, title, "ink", size=13)
    for power in range(low, high + 1):
        y = TOP + HEIGHT * (high - power) / (high - low)
        svg.line(left, y, left + WIDTH, y, "grid")
        zero = nothing is not None and power == low
        svg.text(left - 8, y + 4, "0" if zero else f"{10.0**power:g}", "soft", "end", 11)
    below(svg, left, sorted(set(positions)), across, axis)
    for name, kind, points in predicted:
        ends = [place(*points[0], 0), place(*points[-1], 0)]
        for start, end in zip([place(x, v, 0) for x, v in points], [place(x, v, 0) for x, v in points[1:]]):
            svg.line(*start, *end, kind, 1, "4 3")
        svg.text(ends[1][0] - 4, ends[1][1] - 5, name, kind, "end", 10)
    zeros = 0
    for row, (name, kind, points) in enumerate(sorted(series, key=lambda s: -sum(math.log1p(v) for _, v in s[2]))):
        line = [place(x, v, 3 * zeros) for x, v in points]
        zeros += any(v <= 0 for _, v in points)
        svg.path(line, kind)
        for x, y in line:
            svg.dot(x, y, kind, 2.5)
        key = TOP + 4 + 18 * row
        svg.line(left + WIDTH + 14, key, left + WIDTH + 32, key, kind, 2.5)
        svg.text(left + WIDTH + 38, key + 4, name, "ink", size=11)


def below(svg, left, positions, across, axis):
    """Names below the axis, but for those that would run into the one to their right."""
    word, of = axis
    svg.text(left + WIDTH / 2, TOP + HEIGHT + 40, word, "soft", "middle", 11)
    right = left + 2 * WIDTH
    for position in reversed(positions):
        x = across(position)
        if right - x < 34:
            continue
        svg.text(x, TOP + HEIGHT + 18, of(position), "soft", "middle", 10)
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


def all_of(methods, host, times, sweeps, chamfer):
    """Names and what is drawn."""
    image = next(s for s in host.shapes if len(s) == 2)
    large = (4096, 4096) if (4096, 4096) in times.shapes else times.shapes[0]
    return {
        "methods-density": density_chart(host, image, methods, times, large),
        "methods-wins": wins_chart(times),
        "methods-sweeps": sweeps_chart(sweeps),
        "methods-work": work_chart(times),
        "methods-chamfer-times": chamfer_chart(chamfer),
        "methods-three-seeds": three_seeds(),
        "methods-exclave": exclave(),
    }


def write(folder: pathlib.Path, *results):
    for name, picture in all_of(*results).items():
        (folder / f"{name}.svg").write_text(picture)
