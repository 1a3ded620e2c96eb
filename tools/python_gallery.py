"""Runs docs/examples, each a Python script that draws a picture, and writes docs/python-gallery.md, which shows them.

python_gallery.py            pictures into docs/images, and the page; needs the package and Pillow
python_gallery.py --check    fails where the page is not what would be written; runs nothing
"""

import argparse
import ast
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"
PAGE = ROOT / "docs" / "python-gallery.md"
ORDER = (
    "measure_components",
    "grow_cells",
    "offset_contours",
    "anisotropic_volume",
    "mosaic",
    "periodic_texture",
    "batch_of_masks",
    "link_propagation",
    "errors_of_methods",
)
HEAD = """# What can be made of it in Python

Each picture is made by the script below it, a file of [docs/examples](examples); what they share, colours and lines, is
[picture.py](examples/picture.py). `./dev docs` runs them and writes this page.

"""


def section(path):
    """Title, caption, picture and code: the docstring's first line, its rest, what the script saves, what follows."""
    text = path.read_text(encoding="utf-8")
    module = ast.parse(text)
    title, _, caption = ast.get_docstring(module).partition("\n\n")
    code = "".join(text.splitlines(keepends=True)[module.body[0].end_lineno :]).lstrip("\n")
    picture = path.stem.replace("_", "-") + ".png"
    return f"## {title}\n\n![{title}](images/{picture})\n\n{caption}\n\n```python copy\n{code}```\n"


def page():
    stray = {path.stem for path in EXAMPLES.glob("*.py")} - {*ORDER, "picture"}
    if stray:
        raise SystemExit(f"python_gallery.py: {', '.join(sorted(stray))} of docs/examples is not in ORDER")
    return HEAD + "\n".join(section(EXAMPLES / f"{name}.py") for name in ORDER)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
            raise SystemExit(f"{PAGE.relative_to(ROOT)} is not what docs/examples make; run ./dev docs")
        return
    for name in ORDER:
        command = [sys.executable, str(EXAMPLES / f"{name}.py"), str(ROOT / "docs" / "images")]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
