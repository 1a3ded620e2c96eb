"""Calls where memory or threads are short: an error or fewer threads, never the kernel's killer.

Standard library only.
"""

import contextlib
import os
import resource
import subprocess
import unittest
from pathlib import Path

from program_case import PROGRAM, Case

MIB = 1 << 20
SANITIZER = os.environ.get("NEARFIELD_SANITIZE")
SIDES = "200x400x400"  # 31 MiB, and 122 MiB for labels or distances


def own_group(controller):
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(",") if controller else names == "":
            return path.lstrip("/")
    return None


def new_group():
    """A group that may be limited, and the name of its limit; None where this process can make none."""
    for root, controller, limit in (
        ("/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes"),
        ("/sys/fs/cgroup", "", "memory.max"),
    ):
        own = own_group(controller)
        for parent in () if own is None else (Path(root, own), Path(root)):
            folder = parent / f"nearfield-test-{os.getpid()}"
            with contextlib.suppress(OSError):
                folder.mkdir()
                if (folder / limit).exists() and os.access(folder / limit, os.W_OK):
                    return folder, limit
                folder.rmdir()
    return None


@unittest.skipIf(SANITIZER, "sanitizers take memory themselves")
class Memory(Case):
    def setUp(self):
        super().setUp()
        made = new_group() if os.path.exists("/proc/self/cgroup") else None
        if made is None:
            self.skipTest("no control group for memory can be made here")
        self.group, self.limit = made
        self.addCleanup(self.group.rmdir)
        self.run_program("sample", "random", "-o", "w.npy", "--size", SIDES, "--density", "0.3")

    def run_within(self, mebibytes, *words):
        (self.group / self.limit).write_text(str(mebibytes * MIB))

        def enter():
            (self.group / "cgroup.procs").write_text(str(os.getpid()))

        return subprocess.run(
            [PROGRAM, *words, "--overwrite", "--max-bytes", "1G"],
            capture_output=True,
            cwd=self.folder,
            timeout=300,
            preexec_fn=enter,
        )

    def test_is_asked_for_with_the_outputs(self):
        for words, limits in (
            (["label", "w.npy", "-o", "o.npy"], (160, 200, 240)),
            (["label", "w.npy", "-o", "o.npy", "--stats", "s.csv"], (180, 260, 360, 460)),
            (["label", "w.npy", "-o", "o.npy", "--method", "propagation"], (180, 240)),
            (["distance", "w.npy", "-o", "o.npy", "--method", "jump-flood"], (180, 240, 280)),
        ):
            refused = 0
            for limit in limits:
                done = self.run_within(limit, *words)
                self.assertIn(done.returncode, (0, 4), (words, limit, done.stderr))
                if done.returncode == 4:
                    refused += 1
                    self.assertRegex(done.stderr, rb"needs [\d.]+ [MG]iB, free are [\d.]+ [MG]iB", (words, limit))
            self.assertGreater(refused, 0, words)
            if "--method" not in words:
                self.assertEqual(self.run_within(2048, *words).returncode, 0, words)


@unittest.skipIf(SANITIZER, "sanitizers start threads themselves")
class Threads(Case):
    def test_one_thread_does_where_no_other_starts(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

        words = ["sample", "blobs", "-o", "-", "--size", "300x400", "-q"]
        expected = self.run_program(*words).stdout
        nobody = {"user": 65534, "cwd": "/"} if os.geteuid() == 0 else {}  # root has no limit
        try:
            done = subprocess.run([PROGRAM, *words], capture_output=True, preexec_fn=limit, **nobody)
        except PermissionError:
            self.skipTest("another user may not run this program")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, expected)


if __name__ == "__main__":
    unittest.main()
