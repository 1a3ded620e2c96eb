"""What was set out to be reached, beside what was measured."""

import math
import statistics

from report_data import SITES, image_name, mean_and_least, percent, size_name, table
from report_targets import Targets

MISSING = "not measured"
SIDES = {2: (512, 1024, 2048, 4096, 8192, 16384), 3: (64, 128, 256, 512, 768, 1024)}
DENSITIES = (0.0001, 0.01, 0.1, 0.3, 0.5, 0.9)
SITE_TEXT = {"distance": "distances", "index32": "nearest sites (int32)", "index": "nearest sites (int64)"}


class Goals:
    """Lines of the table: goal, what was wanted, figure, verdict."""

    def __init__(self):
        self.lines = []

    def add(self, goal, wanted, figure=None, met=None):
        verdict = {True: "met", False: "**not met**", None: ""}.get(met, met)
        self.lines.append([goal, wanted, figure or MISSING, verdict if figure else ""])

    def most(self, goal, limit, found, unit=""):
        """The largest of (value, where) must not be larger than the limit."""
        if not found:
            return self.add(goal, f"at most {limit:g}{unit}")
        value, where = max(found)
        self.add(goal, f"at most {limit:g}{unit}", f"{value:.2f}{unit} ({where})", value <= limit)


def site_field(fields):
    """Nearest sites as int32 where they were measured, else as int64."""
    return next((field for field in SITES if field in fields), None)


def against_pba(goals, rows):
    fields = (("distance", 10, 7, 3), (site_field(rows.fields()) if rows else None, 7, 5, 2))
    for field, mean, accepted, least in fields:
        images = [("random", (n,) * axes, d) for axes in SIDES for n in SIDES[axes] for d in DENSITIES]
        wanted = f"geometric mean {mean}; accepted: {accepted}, none below {least}"
        goal = f"times faster than PBA+, {SITE_TEXT[field or 'index32']}, 72 images"
        ratios = {image: rows.ratio(image, "PBA+", field, 0) for image in images} if rows and field else {}
        ratios = {image: ratio for image, ratio in ratios.items() if ratio}
        if not ratios:
            goals.add(goal, wanted)
            continue
        value, worst = statistics.geometric_mean(ratios.values()), min(ratios, key=ratios.get)
        met = value >= mean or ("accepted" if value >= accepted and ratios[worst] >= least else False)
        if len(ratios) < len(images):
            met = f"of {len(ratios)} images"
        where = f"{image_name(worst)}, {percent(worst[2])}"
        goals.add(goal, wanted, f"{value:.1f}, least {ratios[worst]:.1f} ({where})", met)


FLOORS = (
    (("distance",), (512,) * 3, (0.1, 0.3, 0.5, 0.9), 4, "10 % sites and more"),
    (("distance",), (512,) * 3, (0.0001, 0.01), 8, "0.01 % and 1 % sites"),
    (("distance",), (8192,) * 2, (0.1, 0.3, 0.5, 0.9), 5, "10 % sites and more"),
    (SITES, (512,) * 3, (0.1, 0.3, 0.5, 0.9), 4, "10 % sites and more"),
    (SITES, (512,) * 3, (0.0001, 0.01), 8, "0.01 % and 1 % sites"),
    (SITES, (8192,) * 2, (0.1, 0.3, 0.5, 0.9), 5, "10 % sites and more"),
)


def over_floor(goals, rows):
    for fields, shape, densities, limit, text in FLOORS:
        known = rows.fields() if rows else []
        field = next((field for field in fields if field in known), fields[0])
        found = []
        for density in densities:
            value = rows.over_floor(("random", shape, density), field, 0) if rows else None
            if value:
                found.append((value, percent(density)))
        goals.most(f"times the floor, {SITE_TEXT[field]}, {size_name(shape)}, {text}", limit, found)


SMALL = (
    ("call", 20, "one call"),
    ("graph", 12, "a CUDA graph of one call"),
    ("in graph", 12, "a call within a CUDA graph of 64"),
)


def beside_the_usual(goals, targets):
    """Bad inputs, odd shapes, sizes, small images, workspace."""
    for fields in (("distance",), SITES):
        text = "distances" if fields[0] == "distance" else "nearest sites"
        bad = [(apart, f"{p} {size_name(s)}") for p, s, f, _, apart in targets.bad() if f in fields] if targets else []
        goals.most(f"bad inputs, {text}: times 10 % random sites", 2.5, bad)
        odd = [(apart, size_name(s)) for s, _, f, _, apart in targets.odd() if f in fields] if targets else []
        goals.most(f"odd shapes, {text}: times the time a cell of a square or cube", 1.5, odd)
        flat = []
        for (_, field, density), line in (targets.flat() if targets else {}).items():
            if field in fields and len(line) > 1:
                sizes = [size_name(min(line, key=math.prod)), size_name(max(line, key=math.prod))]
                spread = max(line.values()) / min(line.values())
                flat.append((spread, f"{' to '.join(sizes)}, {percent(density)}"))
        goals.most(f"time a cell by size, {text}: most over least", 1.6, flat)
        for how, limit, name in SMALL:
            rows = targets.part("small", how=how) if targets else []
            found = [
                (1e3 * r["ms"], f"{size_name(r['shape'])}, {percent(r['density'])}")
                for r in rows
                if r["field"] in fields
            ]
            goals.most(f"small images, {text}, {name}", limit, found, " microseconds")
        rows = targets.part("workspace") if targets else []
        used = [
            (r["bytes"] / r["cells"], f"{size_name(r['shape'])}, {r['field']}") for r in rows if r["field"] in fields
        ]
        goals.most(f"workspace, {text}", 6, used, " bytes a cell")


FAMILIES = (
    ("spacing", ("spacing, integral", "spacing, real", "spacing, real, the same along all axes")),
    ("labels", ("2 labels", "a million labels", "a million labels, index")),
    ("signed", ("signed", "blobs, signed")),
    ("border", ("closed borders", "periodic borders", "periodic borders, index")),
    (
        "truncation",
        (
            *("max_distance 3", "max_distance 10", "max_distance 30"),
            *("0.01 % sites, max_distance 3", "0.01 % sites, max_distance 10"),
        ),
    ),
)


def options(goals, sheet):
    for family, names in FAMILIES:
        found = []
        for row in sheet["options"] if sheet else []:
            if row["name"] in names:
                found.append((row["times"], f"{row['name']}, {size_name(row['shape'])}"))
        goals.most(f"option {family}, device: times the plain call", 1.5, found)


HOST_DENSITIES = (0.0001, 0.01, 0.1, 0.5, 0.9)
HOST = (
    ("edt", (256,) * 3, 10, 5),
    ("edt", (512,) * 3, 10, 5),
    ("OpenCV", (4096,) * 2, 10, 5),
    ("SciPy", (256,) * 3, 100, 0),
)


def host_images(rows, shape):
    """Random sites of 0.01 to 90 %, blobs and the atlas."""
    random = [("random", shape, density) for density in HOST_DENSITIES]
    return random + [image for image in rows.images if image[0] in ("blobs", "atlas") and image[1] == shape]


def host_peers(goals, rows):
    for peer, shape, mean, least in HOST:
        wanted = f"geometric mean {mean}" + (f", none below {least}" if least else "")
        figures, met = [], []
        for threads in rows.threads() if rows else []:
            ratios = [r for image in host_images(rows, shape) if (r := rows.ratio(image, peer, "distance", threads))]
            if ratios:
                figures.append(f"{mean_and_least(ratios)} with {threads} thread{'' if threads == 1 else 's'}")
                met.append(statistics.geometric_mean(ratios) >= mean and min(ratios) >= least)
        goals.add(f"times faster than {peer}, host, {size_name(shape)}", wanted, "; ".join(figures), all(met))


def host_threads(goals, rows):
    """Scaling means: n threads take at most 1 / (0.85 n) of the time of one."""
    most = max(rows.threads()) if rows else 2
    ratios = []
    for shape in dict.fromkeys(line[1] for line in HOST):
        for image in host_images(rows, shape) if rows else []:
            one, many = (rows.get(image, "nearfield", "distance", n) for n in (1, most))
            if one and many and most > 1:
                ratios.append(one / many)
    figure = mean_and_least(ratios) if ratios else None
    goals.add(
        f"{most} threads against one, host",
        f"{0.85 * most:g}",
        figure,
        bool(ratios) and statistics.geometric_mean(ratios) >= 0.85 * most,
    )


def host_simd(goals, rows):
    simd = rows.simd if rows else {}
    plain = next(
        (level for _, level in simd if level == "EMU128"), next((level for _, level in simd if level == "SCALAR"), None)
    )
    slower, faster = [], []
    for (image, level), (ms, threads) in simd.items():
        best, edt = (rows.get(image, engine, "distance", threads) for engine in ("nearfield", "edt"))
        if level == "AVX2" and best:
            slower.append((ms / best, f"{image_name(image)}, {percent(image[2])}"))
        if level == plain and edt:
            faster.append(edt / ms)
    goals.most("AVX2, host: times the time of AVX-512", 2, slower)
    figure = mean_and_least(faster) if faster else None
    goals.add(
        "times faster than edt, host, the least x86-64 (SSE2)",
        "2",
        figure,
        bool(faster) and statistics.geometric_mean(faster) >= 2,
    )


def goal_section(folder):
    """The whole table; what the folder has no results for is said to be not measured."""
    goals, device, host = Goals(), folder.exact.get("device"), folder.exact.get("host")
    against_pba(goals, device)
    over_floor(goals, device)
    beside_the_usual(goals, Targets(folder.targets) if folder.targets else None)
    options(goals, folder.options.get("device"))
    host_peers(goals, host)
    host_threads(goals, host)
    host_simd(goals, host)
    verdicts = [line[3] for line in goals.lines]
    count = f"{verdicts.count('met')} of {len(verdicts)} met, {verdicts.count('accepted')} accepted."
    return count + "\n\n" + table(["goal", "wanted", "figure", ""], goals.lines)
