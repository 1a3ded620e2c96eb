"""The checks of the house have been seen to fail: each is fed a tree that breaks its rule."""

import graphlib
import os
import subprocess
import sys
import unittest

import binaries
import device_code
import headers
import imports
import layers
import snippets
from small_tree import TreeTest

COMPILER = os.environ.get("CXX", "c++")


class DeviceCodeTest(TreeTest):
    def complains(self, code: str) -> int:
        self.write("src/exact/a.cuh", code)
        return len(device_code.complaints(self.root))

    def test_good_code(self) -> None:
        self.assertEqual(self.complains("x = min(a, b - c); y = -max(a, f(-b)); // min(-a, b)"), 0)

    def test_negated_operands(self) -> None:
        for code in ("min(a, -b)", "max(-a, b)", "max(f(a), -b)", "min(a,\n    -(b))", "max(~a, b)"):
            self.assertEqual(self.complains(code), 1, code)

    def test_half_of_vneg2(self) -> None:
        self.assertEqual(self.complains("__vneg2(x)"), 1)


class BinariesTest(TreeTest):
    def built(self, *options: str) -> list[str]:
        self.write(
            "a.cpp",
            "#include <cstdio>\n#include <cstring>\nconst char* where = __FILE__;\n"
            'int main(int n, char** a) { char b[64]; strcpy(b, a[0]); printf("%s %d %s", b, n, where); }\n',
        )
        program = self.root / "a"
        subprocess.run([COMPILER, *options, str(self.root / "a.cpp"), "-o", str(program)], check=True)
        return binaries.complaints(program, None)

    def test_hardened(self) -> None:
        hardened = (
            "-O2",
            "-fstack-protector-strong",
            "-U_FORTIFY_SOURCE",
            "-D_FORTIFY_SOURCE=3",
            "-Wl,-z,relro,-z,now",
        )
        self.assertEqual(self.built(*hardened, f"-ffile-prefix-map={self.root}/="), [])

    def test_plain(self) -> None:
        found = " ".join(
            self.built(
                "-O0", "-no-pie", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-Wl,-rpath,/build", "-Wl,-z,norelro"
            )
        )
        for word in ("position-independent", "RELRO", "stack protector", "fortified", "/build", "a.cpp"):
            self.assertIn(word, found)


class TreeOfLayers(TreeTest):
    """A small tree without a wrong include; `breaks` adds one."""

    def setUp(self) -> None:
        super().setUp()
        self.write("include/nearfield/grid.hpp", "#include <array>\n")
        self.write("include/nearfield/distance.hpp", '#include "nearfield/grid.hpp"\n')
        self.write("include/nearfield/expand.hpp", '#include "nearfield/distance.hpp"\n')
        self.write("src/base/parallel.hpp", '#include "nearfield/grid.hpp"\n')
        self.write("src/exact/core.hpp", '#include "base/parallel.hpp"\n')
        self.write("src/exact/host.hpp", '#include "exact/core.hpp"\n')
        self.write("src/exact/host.cpp", '#include "host.hpp"\n#include "nearfield/distance.hpp"\n')
        self.write("src/label/host.cpp", '#include "exact/core.hpp"\n')
        self.write("src/app/expand.cpp", '#include "nearfield/expand.hpp"\n')
        self.write("src/io/io.hpp", '#include "nearfield/grid.hpp"\n')
        self.write("cli/main.cpp", '#include "io/io.hpp"\n#include "nearfield/distance.hpp"\n')
        self.write("tests/exact/a.cpp", '#include "exact/host.hpp"\n#include "io/io.hpp"\n')
        self.write("tests/oracle/oracle.hpp", "#include <vector>\n")

    def breaks(self, path: str, include: str) -> None:
        self.write(path, f"// first line\n#include {include}\n")
        found = layers.complaints(self.root)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:2:"), found)


class LayersTest(TreeOfLayers):
    def test_good_tree(self) -> None:
        self.assertEqual(layers.complaints(self.root), [])

    def test_built_files_do_not_count(self) -> None:
        self.write("build/include/nearfield/grid.hpp", '#include "exact/core.hpp"\n')
        self.assertEqual(layers.complaints(self.root), [])

    def test_grid_includes_field(self) -> None:
        self.breaks("include/nearfield/error.hpp", '"nearfield/distance.hpp"')

    def test_contract_includes_source(self) -> None:
        self.breaks("include/nearfield/voronoi.hpp", '"base/parallel.hpp"')

    def test_field_includes_application(self) -> None:
        self.breaks("include/nearfield/voronoi.hpp", '"nearfield/expand.hpp"')

    def test_base_includes_room(self) -> None:
        self.breaks("src/base/threads.cpp", '"exact/core.hpp"')

    def test_base_includes_field(self) -> None:
        self.breaks("src/base/threads.cpp", "<nearfield/distance.hpp>")

    def test_room_includes_edge(self) -> None:
        self.breaks("src/exact/entry.cpp", '"io/io.hpp"')

    def test_room_includes_inside_of_room(self) -> None:
        self.breaks("src/label/entry.cpp", '"exact/host.hpp"')

    def test_application_includes_room(self) -> None:
        self.breaks("src/app/walk.cpp", '"exact/core.hpp"')

    def test_command_line_includes_room(self) -> None:
        self.breaks("cli/verb.cpp", '"exact/core.hpp"')

    def test_way_round_by_relative_path(self) -> None:
        self.breaks("cli/verb.cpp", '"../src/exact/core.hpp"')

    def test_only_one_folder_asks_the_system(self) -> None:
        self.write("src/os/posix.cpp", "#include <sys/stat.h>\n#include <unistd.h>\n")
        self.write("src/base/memory.cpp", '#include "os/process.hpp"\n')
        self.write("tests/base/fork.cpp", "#include <unistd.h>\n")
        self.assertEqual(layers.complaints(self.root), [])
        self.breaks("src/exact/host.cpp", "<sys/mman.h>")

    def test_room_asks_the_system(self) -> None:
        self.write("src/os/process.hpp", "#include <thread>\n")
        self.breaks("src/exact/entry.cpp", '"os/process.hpp"')

    def test_oracle_includes_source(self) -> None:
        self.breaks("tests/oracle/oracle.cpp", '"exact/core.hpp"')


class RoomsTest(TreeOfLayers):
    """Arrows between the folders of a room."""

    def setUp(self) -> None:
        super().setUp()
        self.write("src/label/core.hpp", "#pragma once\n")
        self.write("src/label/host/bits.hpp", '#include "label/core.hpp"\n')
        self.write("src/label/gpu/forest.cuh", '#include "label/core.hpp"\n#include "exact/core.hpp"\n')
        self.write("src/label/gpu/tiles/tile.cuh", '#include "label/gpu/forest.cuh"\n')
        self.write("src/label/gpu/tiles/tiles.cu", '#include "tile.cuh"\n')
        self.write("src/label/gpu/links/store.cuh", '#include "label/gpu/tiles/tile.cuh"\n')
        self.write("src/label/gpu/cells/cells.cuh", '#include "label/gpu/forest.cuh"\n')
        self.write("src/label/entry.cpp", '#include "label/host/bits.hpp"\n#include "label/gpu/forest.cuh"\n')
        self.write("src/exact/gpu/ground/numbers.cuh", '#include "exact/core.hpp"\n')
        self.write("src/exact/gpu/rows/rows.cuh", '#include "exact/gpu/ground/numbers.cuh"\n')
        self.write("src/exact/gpu/lines/lines.cuh", '#include "exact/gpu/rows/rows.cuh"\n')
        self.write("src/exact/gpu/route/route.cu", '#include "exact/gpu/lines/lines.cuh"\n')
        self.write("src/exact/host_lines.hpp", '#include "exact/host/lines.hpp"\n')
        self.write("src/exact/host/lines.hpp", '#include "exact/core.hpp"\n')

    def test_good_tree(self) -> None:
        self.assertEqual(layers.complaints(self.root), [])

    def test_arrows_lead_nowhere_round(self) -> None:
        for room, folders in layers.ROOMS.items():
            graphlib.TopologicalSorter(folders).prepare()
            self.assertLessEqual(set().union(*folders.values()), set(folders), room)

    def test_host_includes_gpu(self) -> None:
        self.breaks("src/label/host/runs.cpp", '"label/gpu/forest.cuh"')

    def test_gpu_includes_host(self) -> None:
        self.breaks("src/label/gpu/run.cu", '"label/host/bits.hpp"')

    def test_common_file_of_the_gpu_includes_a_folder(self) -> None:
        self.breaks("src/label/gpu/after.hpp", '"label/gpu/tiles/tile.cuh"')

    def test_sibling_includes_sibling(self) -> None:
        self.breaks("src/label/gpu/cells/write.cuh", '"../tiles/tile.cuh"')

    def test_arrow_points_back(self) -> None:
        self.breaks("src/label/gpu/tiles/kept.cuh", '"label/gpu/links/store.cuh"')

    def test_ground_includes_lines(self) -> None:
        self.breaks("src/exact/gpu/ground/gate.cuh", '"exact/gpu/lines/lines.cuh"')

    def test_accelerator_includes_lines(self) -> None:
        self.breaks("src/exact/gpu/sites/sites.cuh", '"exact/gpu/lines/lines.cuh"')

    def test_common_header_includes_a_folder(self) -> None:
        self.breaks("src/label/checks.hpp", '"label/host/bits.hpp"')

    def test_folder_that_no_arrow_names(self) -> None:
        self.breaks("src/exact/gpu/power/power.cuh", '"exact/gpu/lines/lines.cuh"')

    def test_folder_of_another_room(self) -> None:
        self.write("src/label/gpu/core.hpp", "#pragma once\n")
        self.breaks("src/exact/gpu/rows/label.cuh", '"label/gpu/core.hpp"')


class ImportsTest(TreeTest):
    def complain(self, **texts: str) -> list[str]:
        self.write("python/package/__init__.py", "from package import _a, sub\n")
        self.write("python/package/_a.py", "import numpy\nfrom package import _core\nfrom package._b import f\n")
        self.write("python/package/_b.py", "f = 1\n")
        self.write("python/package/sub/__init__.py", "")
        self.write("python/package/sub/c.py", "import package\n")  # which nothing imports
        for name, text in texts.items():
            self.write(f"python/package/{name}.py", text)
        return imports.complaints(self.root)

    def test_good_package(self) -> None:
        self.assertEqual(self.complain(), [])

    def test_circle(self) -> None:
        found = self.complain(_b="from package._a import f\n")
        self.assertEqual(len(found), 1)
        self.assertIn("package._a imports package._b", found[0])
        self.assertIn("package._b imports package._a", found[0])

    def test_circle_within_a_function(self) -> None:
        self.assertEqual(len(self.complain(_b="def f():\n    from package import _a\n")), 1)

    def test_circle_of_relative_imports(self) -> None:
        self.assertEqual(len(self.complain(_b="from . import _a\n")), 1)
        self.assertEqual(len(self.complain(_b="from ._a import f\n")), 1)

    def test_circle_by_way_of_the_package(self) -> None:
        self.assertEqual(len(self.complain(_b="import package\n")), 1)

    def test_no_package(self) -> None:
        self.assertEqual(len(imports.complaints(self.root)), 1)


class HeadersTest(TreeTest):
    def complain(self, **headers_by_name: str) -> list[str]:
        for name, text in headers_by_name.items():
            self.write(f"include/nearfield/{name}.hpp", text)
        return headers.complaints(COMPILER, self.root / "include")

    def test_good_header(self) -> None:
        self.assertEqual(
            self.complain(
                a="#pragma once\n#include <vector>\ninline std::vector<int> f() { return {}; }\n",
                nearfield='#pragma once\n#include "nearfield/a.hpp"\n',
            ),
            [],
        )

    def test_missing_include(self) -> None:
        self.assertIn("does not compile alone", self.complain(nearfield="#pragma once\nstd::vector<int> f();\n")[0])

    def test_warning(self) -> None:
        self.assertIn(
            "does not compile alone", self.complain(nearfield="#pragma once\ninline char f(int n) { return n; }\n")[0]
        )

    def test_no_guard(self) -> None:
        self.assertIn("does not compile alone", self.complain(nearfield="struct a {};\n")[0])

    def test_cuda(self) -> None:
        self.write("include/cuda_runtime_api.h", "#pragma once\n")
        self.assertIn(
            "more than the standard library",
            self.complain(nearfield="#pragma once\n#include <cuda_runtime_api.h>\n")[0],
        )

    def test_forgotten_in_umbrella(self) -> None:
        self.assertIn("does not include a.hpp", self.complain(a="#pragma once\n", nearfield="#pragma once\n")[0])

    def test_empty_folder(self) -> None:
        self.assertTrue(headers.complaints(COMPILER, self.root))


class SnippetsTest(TreeTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(".ci/run", "./dev test\n")

    def test_unmarked(self) -> None:
        self.write("README.md", "a\n```sh\nls\n```\n")
        self.assertIn("README.md:2", snippets.unmarked(snippets.blocks(self.root))[0])

    def test_other_languages_need_no_mark(self) -> None:
        self.write("README.md", "```text\nls\n```\n```\nx\n```\n")
        self.assertEqual(snippets.blocks(self.root), [])

    def test_command_that_ci_does_not_run(self) -> None:
        self.write("docs/a.md", "```sh ci\n./dev test   # proves it\n./dev other\n```\n")
        self.assertEqual(len(snippets.not_in_ci(self.root, snippets.blocks(self.root))), 1)

    def test_failing_command(self) -> None:
        self.write("README.md", "```sh run\nfalse | cat\n```\n```sh run\ntouch here && ls here\n```\n")
        failing, working = snippets.blocks(self.root)
        self.assertIn("exit status 1", snippets.run_shell(failing, []) or "")
        self.assertIsNone(snippets.run_shell(working, []))

    def test_programs(self) -> None:
        self.write("README.md", "```cpp run\nint main() {}\n```\n```cpp shown\nint x;\n```\n")
        self.assertEqual(snippets.extract_programs(snippets.blocks(self.root), self.root / "out"), 1)
        self.assertTrue((self.root / "out" / "readme_1.cpp").read_text().endswith("int main() {}\n"))

    def test_python(self) -> None:
        self.write("README.md", "```python run numpy\nassert 0\n```\n```python run\nopen('a', 'w').close()\n```\n")
        failing, working = snippets.blocks(self.root)
        self.assertEqual(failing.needs, ("numpy",))
        self.assertIn("AssertionError", snippets.run_python(failing, sys.executable) or "")
        self.assertIsNone(snippets.run_python(working, sys.executable))

    def test_a_copy_that_is_none(self) -> None:
        self.write("docs/examples/a.py", '"""Title"""\n\nx = 1\n')
        self.write("docs/a.md", "```python copy\nx = 1\n```\n```python copy\nx = 2\n```\n")
        self.assertEqual(len(snippets.not_copied(self.root, snippets.blocks(self.root))), 1)


if __name__ == "__main__":
    sys.exit(unittest.main())
