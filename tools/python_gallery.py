"""Runs docs/examples, each a Python script that draws a picture, and writes the two pages that show them.

python_gallery.py            pictures into docs/images, and the pages; needs the package and Pillow; an
                             example that needs another package which is not installed is left out
python_gallery.py --check    fails where a page is not what would be written; runs nothing
"""

import argparse
import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"
DRAWN = """Each picture is made by the script below it, a file of [docs/examples](examples); what they share, colours and lines, is
[picture.py](examples/picture.py). `./dev docs` runs them and writes this page.{}

"""
# Page: title, what else the first paragraph says, scripts.
PAGES = {
    "python-gallery.md": (
        "What can be made of it in Python",
        " Shapes are in\n[python-gallery-shapes.md](python-gallery-shapes.md), surfaces in\n"
        "[python-gallery-surfaces.md](python-gallery-surfaces.md), objects that touch in\n"
        "[python-gallery-objects.md](python-gallery-objects.md), paths in\n[python-gallery-paths.md](python-gallery-paths.md), "
        "the published methods in\n"
        "[python-gallery-methods.md](python-gallery-methods.md).",
        (
            "measure_components",
            "grow_cells",
            "offset_contours",
            "anisotropic_volume",
            "mosaic",
            "periodic_texture",
            "batch_of_masks",
        ),
    ),
    "python-gallery-shapes.md": (
        "Shapes measured in Python",
        " What the calls do is in [shapes.md](shapes.md),\n[medial-axis.md](medial-axis.md), [skeletons.md](skeletons.md) "
        "and [pores.md](pores.md).",
        ("thickness_of_pores", "vessels", "few_balls", "mercury", "pore_network"),
    ),
    "python-gallery-surfaces.md": (
        "Surfaces made in Python",
        " What the calls do is in [surfaces.md](surfaces.md)\nand [rays.md](rays.md).",
        ("hollow_gear", "closing_undercuts"),
    ),
    "python-gallery-objects.md": (
        "Objects separated, compared and completed in Python",
        " What the calls do is in [objects.md](objects.md),\n[metrics.md](metrics.md), [fill.md](fill.md) and "
        "[effects.md](effects.md).",
        (
            "touching_coins",
            "one_hierarchy",
            "packed_spheres",
            "segmentation_errors",
            "drawn_slices",
            "texture_padding",
        ),
    ),
    "python-gallery-paths.md": (
        "Paths planned in Python",
        " What the calls do is in [paths.md](paths.md).",
        ("moving_obstacles", "roads_between_obstacles", "tube_through_vessels"),
    ),
    "python-gallery-methods.md": (
        "The published methods, drawn in Python",
        "",
        ("link_propagation", "errors_of_methods"),
    ),
}
ORDER = [name for _, _, names in PAGES.values() for name in names]


def section(path):
    """Title, caption, picture and code: the docstring's first line, its rest, what the script saves, what follows."""
    text = path.read_text(encoding="utf-8")
    module = ast.parse(text)
    title, _, caption = ast.get_docstring(module).partition("\n\n")
    code = "".join(text.splitlines(keepends=True)[module.body[0].end_lineno :]).lstrip("\n")
    picture = path.stem.replace("_", "-") + ".png"
    return f"## {title}\n\n![{title}](images/{picture})\n\n{caption}\n\n```python copy\n{code}```\n"


def missing_of(path):
    """The first module that an example imports and that is not installed, or None."""
    parts = ast.parse(path.read_text(encoding="utf-8")).body
    names = [each.name for part in parts if isinstance(part, ast.Import) for each in part.names]
    return next((name for name in names if importlib.util.find_spec(name.partition(".")[0]) is None), None)


def pages():
    """{path: text}"""
    stray = {path.stem for path in EXAMPLES.glob("*.py")} - {*ORDER, "picture"}
    if stray:
        raise SystemExit(f"python_gallery.py: {', '.join(sorted(stray))} of docs/examples is on no page")
    return {
        ROOT / "docs" / page: f"# {title}\n\n{DRAWN.format(more)}"
        + "\n".join(section(EXAMPLES / f"{name}.py") for name in names)
        for page, (title, more, names) in PAGES.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        for path, text in pages().items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                raise SystemExit(f"{path.relative_to(ROOT)} is not what docs/examples make; run ./dev docs")
        return
    for name in ORDER:
        if missing := missing_of(EXAMPLES / f"{name}.py"):
            print(
                f"python_gallery.py: {name} needs {missing}, which is not installed; its picture stays", file=sys.stderr
            )
            continue
        command = [sys.executable, str(EXAMPLES / f"{name}.py"), str(ROOT / "docs" / "images")]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
