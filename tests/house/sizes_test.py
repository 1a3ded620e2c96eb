"""The checks of lengths have been seen to fail, and the weight of a small tree is known."""

import io
import sys
import unittest
from contextlib import redirect_stdout

import lengths
import tree
from small_tree import TreeTest

sys.path.insert(0, str(tree.ROOT / "tools"))
import weight


class LengthsTest(TreeTest):
    def test_limit(self) -> None:
        self.write("src/a.cpp", "int a;\n" * 400)
        self.assertEqual(lengths.complaints(self.root), [])
        self.write("src/a.cpp", "int a;\n" * 401)
        self.assertEqual(len(lengths.complaints(self.root)), 1)

    def test_reason(self) -> None:
        self.write("src/a.cpp", "// over 400 lines because the table is one thing\n" + "int a;\n" * 500)
        self.assertEqual(lengths.complaints(self.root), [])

    def test_script_without_suffix(self) -> None:
        self.write("dev", "true\n" * 401)
        self.assertEqual(len(lengths.complaints(self.root)), 1)

    def test_columns(self) -> None:
        self.write("cli/a.cpp", "// " + "a" * 117 + "\n")
        self.write("tools/a.py", "# " + "a" * 200 + "\n")  # outside of the checked folders
        self.assertEqual(lengths.complaints(self.root), [])
        self.write("cli/a.cpp", "int a;\n// " + "ä" * 118 + "\n")
        self.assertEqual(lengths.complaints(self.root), ["cli/a.cpp:2: 121 columns; 120 at most"])

    def test_number_that_may_only_fall(self) -> None:
        self.write("src/exact/a.cpp", ("// " + "a" * 118 + "\n") * 3)
        with redirect_stdout(io.StringIO()):
            self.assertEqual(lengths.complaints(self.root, 0, 4), [])
            self.assertEqual(lengths.complaints(self.root, 0, 3), [])
            self.assertEqual(len(lengths.complaints(self.root, 0, 2)), 4)


class FunctionsTest(TreeTest):
    def complain(self, path: str, text: str) -> list[str]:
        self.write(path, text)
        return lengths.complaints(self.root)

    def test_limit(self) -> None:
        for head in (
            "int f(int a) {",
            "template <class T>\n__global__ void __launch_bounds__(32)\n    f(T a) {",
            "TEST(A, B) {",
            "namespace n {\nclass c {\npublic:\n    c(int a) : a_{a}, b_{a} {",
            "struct s {\n    bool operator()(int a) const noexcept {",
            "#if A\nint g() { return 1; }\n#else\nint g() {\n#endif\nint f() {",
            'const char* brace = "{";  // {\nint f() { return 1\'000; }\nint g() {',
        ):
            end = "};\n" * head.count("struct") + "};}\n" * head.count("class c")
            code = head + "\n" + "    a();\n" * 40 + "}\n" + end
            self.assertEqual(self.complain("src/a.cpp", code), [], head)
            found = self.complain("src/a.cpp", code.replace("    a();\n", "    a();\n    b();\n", 1))
            self.assertEqual(len(found), 1, head)
            self.assertIn("41 lines", found[0])

    def test_tables_and_classes(self) -> None:
        self.assertEqual(self.complain("src/a.cpp", "const int a[] = {\n" + "    f(1),\n" * 50 + "};\n"), [])
        self.assertEqual(self.complain("src/a.cpp", "enum class a : int {\n" + "    b,\n" * 50 + "};\n"), [])
        self.assertEqual(self.complain("src/a.cpp", "struct a {\n" + "    int f() { return 1; }\n" * 50 + "};\n"), [])

    def test_reason(self) -> None:
        body = "\n" + "    a();\n" * 41 + "}\n"
        for head in (
            "/// Does it. Over 40 lines\n/// because it is one.\ntemplate <class T>\nvoid f() {",
            "void f() {\n    // over 40 lines because it is one",
        ):
            self.assertEqual(self.complain("src/a.cpp", head + body), [], head)
        self.assertEqual(len(self.complain("src/a.cpp", "// over 40 lines because\n\nvoid f() {" + body)), 1)

    def test_python(self) -> None:
        words = '    """Does it.\n' + "    a\n" * 50 + '    """\n'
        self.assertEqual(self.complain("python/a.py", "def f():\n" + words + "    a()\n" * 40), [])
        self.assertEqual(len(self.complain("python/a.py", "def f():\n" + words + "    a()\n" * 41)), 1)
        reason = "# over 40 lines because it is one\n@b\n"
        self.assertEqual(self.complain("python/a.py", reason + "def f():\n" + "    a()\n" * 41), [])

    def test_braces_that_do_not_match(self) -> None:
        for text in ("int f() {\n", "}\n", "namespace a {\n"):
            self.assertEqual(len(self.complain("src/a.cpp", text)), 1, text)


class WeightTest(TreeTest):
    def test_rooms(self) -> None:
        self.write("src/exact/cuda_rows.cuh", "__global__ void f();\n// __global__ in words\n")
        self.write("src/exact/gpu/lines/lines.cuh", "__global__ void g();\n" + "// " + "a" * 118 + "\n")
        self.write("src/exact/host/rows.cpp", "int a;\n")
        self.write("src/exact/host.hpp", "int a;\n")
        self.write("src/exact/core.hpp", "int a;\n")
        self.write("src/label/gpu/number.cuh", "int a;\n")
        self.write("python/build/a.py", "a = 1\n")
        self.assertEqual(
            weight.weights(self.root),
            {
                "src/exact, device": [2, 4, 2, 1],
                "src/exact, host": [2, 2, 0, 0],
                "src/exact, common": [1, 1, 0, 0],
                "src/label": [1, 1, 0, 0],
            },
        )

    def test_budget(self) -> None:
        self.assertEqual(weight.over_budget("src/exact, device", [50, 8000, 34, 0]), "within its budget")
        self.assertEqual(
            weight.over_budget("src/exact, device", [51, 9500, 34, 0]), "over budget by 1 files, 1,500 lines"
        )
        self.assertEqual(weight.over_budget("src/label", [1000, 1000, 1000, 0]), "")

    def test_pages(self) -> None:
        self.write("docs/a.md", "a\n" * 301)
        self.write("docs/b.md", "a\n" * 300)
        self.write("docs/notebook/c.md", "a\n" * 999)
        self.assertEqual(weight.long_pages(self.root), ["docs/a.md: 301"])


if __name__ == "__main__":
    sys.exit(unittest.main())
