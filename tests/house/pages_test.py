"""pages.py: what it complains of, and what not."""

import unittest

import pages
from small_tree import TreeTest


class PagesTest(TreeTest):
    def complains(self, text: str, path: str = "docs/a.md") -> int:
        self.write("docs/images/a.svg", "<svg/>")
        self.write("docs/b.md", "# One's own, once\n\n```sh shown\n# no heading\n```\n")
        self.write(path, text)
        return len(pages.complaints(self.root))

    def test_good_page(self) -> None:
        self.assertEqual(
            self.complains("# A\n\n| a | `|` |\n|---|---|\n\n[b](b.md#ones-own-once) ![](images/a.svg) [w](https://w)"),
            0,
        )

    def test_long_page(self) -> None:
        self.assertEqual(self.complains("a\n" * 301), 1)
        self.assertEqual(self.complains("a\n" * 301, "docs/tables/c.md"), 1)  # the earlier one only
        self.assertEqual(self.complains("a\n" * 300), 0)

    def test_wide_table(self) -> None:
        self.assertEqual(self.complains("|" + " a |" * 8 + "\n"), 1)
        self.assertEqual(self.complains("|" + " a |" * 7 + "\n"), 0)
        self.assertEqual(self.complains("|" + " a |" * 8 + "\n", "docs/notebook/c.md"), 0)

    def test_dead_links(self) -> None:
        for link in ("c.md", "b.md#no-heading", "#nowhere", "images/b.svg"):
            self.assertEqual(self.complains(f"[a]({link})\n"), 1, link)
        self.assertEqual(self.complains("`[a](c.md)`\n"), 0)


if __name__ == "__main__":
    unittest.main()
