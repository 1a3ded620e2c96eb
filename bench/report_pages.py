"""Files of docs/tables, each a page with one topic's tables, and the pages that show some of them between markers."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "docs" / "tables"
PAGES = (ROOT / "README.md", ROOT / "docs" / "performance.md")
# Figures of the exact engine that are dated before these are of other code.
DEVICE, HOST = "2026-11-28", "2026-11-24"
EXACT = ("forms-", "headline", "random-dots", "bad-inputs", "options-")
OLDER = (
    f"**Figures of a device dated before {DEVICE}, and of a host before {HOST}, are older than the present engine.**"
)
START, END = "<!-- table: {} -->", "<!-- /table -->"

# Title and first paragraph of each file.
HEADS = {
    "goals": (
        "Goals beside what was measured",
        "Each line takes the worst of what it names, unless it says mean. Random images have 0.01, 1, 10, 30, 50 and "
        "90 % sites; "
        "host means are over 0.01, 1, 10, 50 and 90 %, blobs and the atlas. [The "
        "notebook](../notebook/goals-not-reached.md) "
        "says what was tried for each goal that is not met.",
    ),
    "headline": ("How fast, in one table", ""),
    "random-dots": ("Random dots: 10 % sites", ""),
    "random-dots-host": (
        "Random dots on the host",
        "Sites are random cells; *blobs* are all cells but 200 balls that overlap and cover two fifths; *atlas* is "
        "the background "
        "of a brain atlas, scaled to the size (of its middle plane). `copy %` is the floor's share of the time.",
    ),
    "random-dots-device": (
        "Random dots on the device",
        "Sites are random cells. `copy %` is the floor's share of the time. PBA+ figures are from a run of their own "
        "on the same "
        "kind of GPU, the best of several parameter choices each; PBA+ finds nearest sites and yields no distance "
        "sooner, so the "
        "same time stands beside the distances.",
    ),
    "bad-inputs": (
        "Bad inputs, odd shapes and sizes on the device",
        "`bench/pictures.cpp` makes the bad inputs: a single site in the middle or the corner, the two opposite "
        "corners, a full "
        "border, a circle or sphere one cell thick, all cells at one distance from the middle (which ties for them), a "
        "diagonal, a checkerboard, 200 balls, their surfaces, all but 200 larger balls, and the atlas.",
    ),
    "options-host": (
        "Options on the host, random dots",
        "Each option stands beside the plain call on the same random sites of 1 %, or on the image that its name "
        "says; `blobs` is a "
        "checkerboard of blocks of 64 cells; labels are blocks too, and are compared with the 1 % of sites.",
    ),
    "options-device": (
        "Options on the device, random dots",
        "Each option stands beside the plain call on the same random sites of 1 %, or on the image that its name "
        "says; `blobs` is a "
        "checkerboard of blocks of 64 cells; labels are blocks too, and are compared with the 1 % of sites. The "
        "number in "
        "brackets is the time as a multiple of the plain call, or of what the name says.",
    ),
    "labels-host": (
        "Connected components on the host",
        "Images are random blocks: side n, granularity g, density d; `std::mt19937(1000 g + d)` draws the blocks in "
        "raster order, "
        "and each is foreground when the number modulo 100 is below d. Densities are 10, 50 and 90 %. Labels are "
        "int32, in "
        "memory that the caller gave and that was touched before, also for those peers that take it (OpenCV and "
        "SciPy do, cc3d "
        "and scikit-image allocate their own). Criteria are timed on the same foreground in three values, which has "
        "more runs than "
        "the mask. Columns of tables are each timed with those before them, except that `and mean, variance` is "
        "size, box, "
        "centroid, mean and variance. The number in brackets is the multiple of the time of labels alone.",
    ),
    "labels-host-images": (
        "Connected components of real and hard images on the host",
        "`bench/label_images.py` times these from the Python package: photographs that come with scikit-image, "
        "brighter or darker "
        "than their surroundings, volumes of Debian's mricron-data, and random blocks in 512^3. The machine was "
        "shared, hence "
        "processor time. A comb has one run in every second cell of every row.",
    ),
    "labels-device": (
        "Connected components on the device",
        "`bench_all label --place device` times labels, criteria and tables on random blocks of g cells a side, each "
        "foreground "
        "with a chance of d percent; `bench/peers_label_device.py` times CuPy on the same ones.",
    ),
    "labels-device-images": (
        "Connected components of real images on the device",
        "`bench/label_images.py --save` writes these images, `bench_all label --place device` times them. Those of "
        "atlases are uint16 "
        "and are labelled by equal values.",
    ),
    "propagation-device": (
        "Label propagation on the device",
        "[link_propagation.md](../link_propagation.md) says what the method is and what the switches mean. *Regions* "
        "are those of a "
        "Voronoi diagram of random seeds, 1200 cells each, in six colours; *noise* is smooth, in three levels, of "
        "each colour by "
        "itself in an image and of one value in a volume; *atlas* is the brain atlas aal of mricron-data, stretched; "
        "*spiral* and "
        "*hilbert* are curves one cell wide with one cell between. Sizes, connectivities and lengths are those of "
        "the source "
        "text's table, whose images are not published. Times are of whole calls with the wait for the labels, links "
        "and "
        "numbering included; medians after a warm-up. *Pull* is the text's form.",
    ),
    "components-device": (
        "Tables, lists and contacts of components on the device",
        "Images are blocks, half of them foreground, labelled by faces, and one label on all cells. `offsets and "
        "cells` is "
        "`label_list_offsets` and `label_lists`; contacts return to the host.",
    ),
    "components-host": (
        "Tables, lists and contacts of components on the host",
        "SciPy has a function for each of lowest, highest, sum, mean and variance: its time is that of all five. The "
        "machine had "
        "other work to do; the libraries were timed one after another.",
    ),
}
HEADS["propagation-host"] = ("Label propagation on the host", HEADS["propagation-device"][1])


def wrapped(text, width=120):
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def older(name, text):
    """The note for tables of the exact engine with figures of the engine before."""
    dates = re.findall(r"\b20\d\d-\d\d(?:-\d\d)?", text.split("\n")[0].split("Peers:")[0])
    return (
        OLDER if name.startswith(EXACT) and dates and min(dates) < (HOST if name.endswith("-host") else DEVICE) else ""
    )


def write_table(name, text, head=None):
    """Writes docs/tables/NAME.md: title, what is measured, the tables."""
    title, intro = head or HEADS[name]
    TABLES.mkdir(exist_ok=True)
    parts = [f"# {title}", wrapped(intro), older(name, text), text]
    (TABLES / f"{name}.md").write_text("\n\n".join(filter(None, parts)) + "\n")


def shown(name):
    """What a page shows of a table: all but its title."""
    return (TABLES / f"{name}.md").read_text().partition("\n")[2].strip()


def filled(page):
    """The page with the present tables between its markers."""
    parts = page.split("<!-- table: ")
    for k, part in enumerate(parts[1:], 1):
        name, _, rest = part.partition(" -->")
        if END not in rest:
            raise SystemExit(f"report_pages.py: no {END} after {START.format(name)}")
        parts[k] = f"{name} -->\n\n{shown(name)}\n\n{rest[rest.index(END) :]}"
    return "<!-- table: ".join(parts)


def fill_pages():
    for page in PAGES:
        page.write_text(filled(page.read_text()))
