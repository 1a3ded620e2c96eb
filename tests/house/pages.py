"""Pages of docs/ can be read: at most 300 lines, tables of at most seven columns, and links that lead somewhere.

Logs (docs/notebook) may be longer and wider, tables (docs/tables) longer; docs/cli.md is the command line's own help.
"""

import argparse
import re
import sys
from pathlib import Path

import tree

LINES, COLUMNS = 300, 7
FREE = {"cli.md"}
CODE = re.compile(r"^```.*?^```[ \t]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def pages(root: Path) -> list[Path]:
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def anchors(text: str) -> set[str]:
    """Of the headings, as GitHub names them."""
    heads = re.findall(
        r"^#+ +(.*?)[ \t]*$", CODE.sub(lambda m: m[0].strip("`") if "\n" not in m[0] else "", text), re.M
    )
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def too_long(root: Path, page: Path, text: str) -> list[str]:
    found, folder = [], page.parent.name
    lines = text.count("\n")
    if page.parent == root / "docs" and page.name not in FREE and lines > LINES:
        found.append(f"{page.relative_to(root)}: {lines} lines; {LINES} at most, split it where the question changes")
    for number, line in enumerate(text.splitlines(), 1):
        columns = len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", line))) - 1
        if folder != "notebook" and line.startswith("|") and columns > COLUMNS:
            found.append(f"{page.relative_to(root)}:{number}: a table of {columns} columns; {COLUMNS} at most")
            break
    return found


def dead_links(root: Path, page: Path, text: str) -> list[str]:
    found = []
    for link in LINK.findall(CODE.sub("", text)):
        path, _, anchor = link.partition("#")
        if ":" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            found.append(f"{page.relative_to(root)}: nothing is at {link}")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            found.append(f"{page.relative_to(root)}: no heading for {link}")
    return found


def complaints(root: Path) -> list[str]:
    found = []
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        found += [*too_long(root, page, text), *dead_links(root, page, text)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=tree.ROOT)
    found = complaints(parser.parse_args().root.resolve())
    print("\n".join(found) or "all pages as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
