"""The program end to end: examples, pipes, exit statuses, messages, JSON, terminals, Ctrl-C. Standard library only."""

import array
import json
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

from program_case import PROGRAM, Case, npy, parse_npy

VERBS = ["distance", "voronoi", "label", "info", "sample", "convert", "bench", "demo", "help", "completion", "man"]


class Examples(Case):
    def test_every_example_runs_as_it_stands(self):
        for verb in VERBS:
            text = self.run_program("help", verb).stdout.decode()
            lines = text.split("example:\n")[1].rstrip("\n").split("\n")
            environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
            (self.folder / "bin").mkdir(exist_ok=True)
            link = self.folder / "bin" / "nearfield"
            if not link.exists():
                link.symlink_to(PROGRAM)
            with tempfile.TemporaryDirectory() as empty:
                script = "set -e\n" + "\n".join(lines)
                done = subprocess.run(
                    ["bash", "-c", script], cwd=empty, env=environment, capture_output=True, timeout=300
                )
                self.assertEqual(done.returncode, 0, (verb, done.stderr))

    def test_help_in_all_its_ways(self):
        for verb in VERBS:
            expected = self.run_program("help", verb).stdout
            self.assertEqual(self.run_program(verb, "--help").stdout, expected)
            self.assertEqual(self.run_program(verb, "-h").stdout, expected)
        self.assertEqual(self.run_program("--help").stdout, self.run_program("help").stdout)
        self.assertRegex(self.run_program("--version").stdout, rb"\Anearfield \d+\.\d+\.\d+\n\Z")

    def test_completions_are_valid_where_the_shell_is_here(self):
        for shell, check in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            script = self.folder / f"script.{shell}"
            script.write_bytes(self.run_program("completion", shell).stdout)
            try:
                done = subprocess.run([*check, script], capture_output=True)
            except FileNotFoundError:
                continue
            self.assertEqual((done.returncode, done.stderr), (0, b""), shell)

    def test_bash_completes(self):
        script = self.folder / "script.bash"
        script.write_bytes(self.run_program("completion", "bash").stdout)

        def completed(*words):
            listed = " ".join(f"'{word}'" for word in words)
            command = f"source {script}; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _nearfield; "
            command += "printf '%s\\n' \"${COMPREPLY[@]}\""
            return subprocess.run(["bash", "-c", command], capture_output=True, text=True).stdout.split()

        self.assertEqual(completed("nearfield", "vor"), ["voronoi"])
        self.assertEqual(completed("nearfield", "distance", "--devi"), ["--device"])
        self.assertEqual(completed("nearfield", "distance", "--device", "c"), ["cpu", "cuda"])
        self.assertEqual(completed("nearfield", "sample", "ve"), ["vessels"])
        self.assertEqual(completed("nearfield", "help", "inf"), ["info"])

    def test_man_page_is_roff(self):
        page = self.run_program("man").stdout
        self.assertTrue(page.startswith(b".TH NEARFIELD 1"))
        try:
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True)
        except FileNotFoundError:
            return
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class Pipes(Case):
    IMAGE = [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]

    def test_npy_through_the_program(self):
        shape, descr, values = parse_npy(
            self.run_program("distance", "-", "-o", "-", stdin=npy((3, 4), self.IMAGE)).stdout
        )
        self.assertEqual((shape, descr), ((3, 4), "<f4"))
        expected = [(r - 1) ** 2 + c**2 for r in range(3) for c in range(4)]
        self.assertEqual(values, array.array("f", [x**0.5 for x in expected]).tolist())
        shape, descr, values = parse_npy(
            self.run_program("distance", "-", "-o", "-", "--squared", stdin=npy((3, 4), self.IMAGE)).stdout
        )
        self.assertEqual((descr, values), ("<u4", expected))

    def test_spacing_sites_and_types(self):
        words = ["distance", "-", "-o", "-", "--dtype", "float64", "--sites", "nonzero", "--spacing", "2,0.5"]
        shape, descr, values = parse_npy(self.run_program(*words, stdin=npy((2, 3), [0, 0, 0, 0, 0, 7])).stdout)
        self.assertEqual(descr, "<f8")
        self.assertEqual(values, [(4 * (1 - r) + 0.25 * (2 - c) ** 2) ** 0.5 for r in range(2) for c in range(3)])

    def test_nearest_sites(self):
        seeds = npy((1, 5), [3, 0, 0, 0, 9])
        shape, descr, values = parse_npy(self.run_program("voronoi", "-", "-o", "-", stdin=seeds).stdout)
        self.assertEqual((shape, descr, values), ((1, 5), "<i8", [0, 0, 0, 4, 4]))
        shape, descr, values = parse_npy(
            self.run_program("voronoi", "-", "-o", "-", "--coordinates", stdin=seeds).stdout
        )
        self.assertEqual((shape, descr, values), ((2, 1, 5), "<i4", [0, 0, 0, 0, 0, 0, 0, 0, 4, 4]))
        words = [
            "distance",
            "-",
            "--sites",
            "nonzero",
            "-o",
            "d.npy",
            "--indices",
            "i.npy",
            "--coordinates",
            "--picture",
            "p.png",
        ]
        self.run_program(*words, stdin=seeds)
        self.assertEqual(parse_npy((self.folder / "i.npy").read_bytes())[2], values)
        self.assertEqual(parse_npy((self.folder / "d.npy").read_bytes())[2], [0, 1, 2, 1, 0])
        self.assertTrue((self.folder / "p.png").read_bytes().startswith(b"\x89PNG"))

    def test_threads_do_not_change_bits(self):
        self.run_program("sample", "blobs", "-o", "b.npy", "--size", "37x41x43", "-q")
        answers = {self.run_program("distance", "b.npy", "-o", "-", "--threads", n).stdout for n in "127"}
        self.assertEqual(len(answers), 1)

    def test_no_site_and_empty(self):
        done = self.run_program("distance", "-", "-o", "-", stdin=npy((2,), [1, 1]))
        self.assertEqual(parse_npy(done.stdout)[2], [float("inf")] * 2)
        self.assertIn(b"note: no cell is zero", done.stderr)
        done = self.run_program("distance", "-", "-o", "-", "--squared", "-q", stdin=npy((2,), [1, 1]))
        self.assertEqual((parse_npy(done.stdout)[2], done.stderr), ([2**32 - 1] * 2, b""))
        self.assertEqual(
            parse_npy(self.run_program("voronoi", "-", "-o", "-", stdin=npy((2,), [0, 0])).stdout)[2], [-1, -1]
        )
        self.assertEqual(
            parse_npy(self.run_program("distance", "-", "-o", "-", stdin=npy((0, 3), [])).stdout), ((0, 3), "<f4", [])
        )

    def test_formats_by_suffix_and_threshold(self):
        self.run_program("sample", "circle", "-o", "c.png", "--size", "30x40")
        for suffix in ("tif", "nrrd", "nii", "nii.gz", "npy", "pgm"):
            self.run_program("convert", "c.png", "-o", f"c.{suffix}")
            self.run_program("distance", f"c.{suffix}", "--spacing", "1", "-o", f"{suffix}.npy")
        answers = {(self.folder / f"{suffix}.npy").read_bytes() for suffix in ("tif", "npy", "pgm")}
        self.assertEqual(len(answers), 1)
        ramp = npy((1, 4), [0, 100, 101, 255])
        self.assertEqual(
            parse_npy(self.run_program("convert", "-", "-o", "-", "--threshold", "100", stdin=ramp).stdout)[2],
            [0, 0, 255, 255],
        )

    def test_colour_goes_by_luminance_or_channel(self):
        (self.folder / "c.ppm").write_bytes(b"P6\n3 1\n255\n" + bytes([0, 0, 0, 0, 0, 9, 9, 0, 0]))
        self.assertEqual(parse_npy(self.run_program("distance", "c.ppm", "-o", "-").stdout)[2], [0, 1, 2])
        self.assertEqual(
            parse_npy(self.run_program("distance", "c.ppm", "-o", "-", "--channel", "blue").stdout)[2], [0, 1, 0]
        )
        self.assertIn("alpha", self.refusal("distance", "c.ppm", "-o", "-", "--channel", "alpha"))


class Refusals(Case):
    def test_usage(self):
        done = subprocess.run([PROGRAM], capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"usage: nearfield VERB", done.stderr)
        self.assertEqual(
            self.refusal("distance", "x.npy", "--squred"),
            "nearfield: distance: there is no option --squred; did you mean --squared?; see `nearfield help distance`",
        )
        for words in (
            ["nothing"],
            ["distance"],
            ["distance", "a.npy", "b.npy"],
            ["help", "nothing"],
            ["completion", "csh"],
            ["distance", "a.npy"],
            ["distance", "-", "-o", "-", "--indices", "-"],
            ["sample", "blob", "-o", "x.npy"],
            ["sample", "random", "-o", "x.npy", "--size", "5y5"],
            ["sample", "random", "-o", "x.npy", "--density", "2"],
            ["bench", "--fields", "all"],
            ["bench", "--repeat", "0"],
            ["demo"],
            [""],
            ["distance", "a.npy", "--coordinates", "-o", "d.npy"],
            ["distance", "a.npy", "-o", "d.png", "--picture", "p.png"],
        ):
            self.refusal(*words)

    def test_spacing(self):
        volume = npy((4, 5, 6), [1] * 120)
        self.assertEqual(
            self.refusal("distance", "-", "-o", "x.npy", "--spacing", "5,0.4", stdin=volume),
            "nearfield: distance: spacing has 2 values for a 3-D array (shape 4x5x6); give one per axis in array "
            "order, e.g. --spacing 5,0.4,0.4",
        )
        for bad in ("0", "-1", "nan", "1,2,inf", "a", "1,,1", "1,1,1,1"):
            self.refusal("distance", "-", "-o", "x.npy", f"--spacing={bad}", stdin=volume)

    def test_slices_and_isolines_before_any_work(self):
        volume = npy((4, 5, 6), [1] * 120)
        for words in (
            ["--slice", "3:0"],
            ["--slice", "0:4"],
            ["--slice", "0"],
            ["--isolines", "0"],
            ["--isolines", "a,b"],
        ):
            self.refusal("distance", "-", "-o", "x.npy", "--picture", "p.png", *words, stdin=volume)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_files(self):
        self.refusal("distance", "missing.npy", "-o", "x.npy", status=3)
        self.refusal("distance", "-", "-o", "x.npy", status=3, stdin=b"not an array")
        self.refusal("distance", "-", "-o", "x.npy", status=3, stdin=npy((5,), [1] * 5)[:-1])
        self.refusal("distance", "-", "-o", "x.npy", status=3, stdin=npy((1 << 40, 1 << 10), []))
        self.refusal("distance", "-", "-o", "x.what", status=3, stdin=npy((5,), [1] * 5))
        self.refusal("distance", "-", "-o", "none/x.npy", status=3, stdin=npy((5,), [1] * 5))
        self.refusal("demo", "-o", "/dev/null/pictures", status=3)
        self.refusal("sample", "one", "-o", "/proc/x.npy", status=3)
        for suffix in ("png", "tif", "nii", "nrrd", "pgm"):
            (self.folder / f"empty.{suffix}").write_bytes(b"")
            self.refusal("distance", f"empty.{suffix}", "-o", "x.npy", status=3)
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [PROGRAM, "distance", "-", "-o", "-"], input=npy((5,), [1] * 5), stdout=full, stderr=subprocess.PIPE
            )
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_unwritable_folder(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        closed = self.folder / "closed"
        closed.mkdir(mode=0o500)
        self.assertIn("closed", self.refusal("sample", "one", "-o", "closed/x.npy", status=3))

    def test_memory(self):
        self.refusal("sample", "random", "-o", "x.npy", "--size", "4000000000000x4000000", status=2)
        self.refusal("sample", "random", "-o", "x.npy", "--size", "400000000000x4000", status=4)

    @unittest.skipIf(
        "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ, "sanitizers take the address space themselves"
    )
    def test_memory_of_all_outputs_together(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))

        self.run_program("sample", "one", "-o", "x.npy", "--size", "4000x4000")
        self.run_program("distance", "x.npy", "-o", "d.npy", "-j", "64", preexec_fn=limited)
        words = ("distance", "x.npy", "-o", "e.npy", "--indices", "i.npy")
        said = self.refusal(*words, status=4, preexec_fn=limited)
        self.assertRegex(said, r"out of memory: the call with its outputs needs 18\d\.\d MiB, free are \d")
        self.assertFalse((self.folder / "e.npy").exists())

    def test_info_of_files(self):
        (self.folder / "gray.npy").write_bytes(npy((2, 3), bytes([0, 7, 7, 9, 0, 1])))
        (self.folder / "mask.npy").write_bytes(npy((2, 2), bytes([0, 255, 255, 0])))
        text = self.run_program("info", "gray.npy", "mask.npy").stdout.decode()
        for line in (
            "gray.npy\n  shape      2 x 3  (y x)",
            "values     0 to 9, 4 different; 66.7 % are nonzero",
            "--threshold",
            "a mask: 0 is background",
        ):
            self.assertIn(line, text)
        file = json.loads(self.run_program("info", "gray.npy", "--json").stdout)["files"][0]
        self.assertEqual((file["shape"], file["nonzero"], file["different_values"]), ([2, 3], 4, 4))
        self.refusal("info", "mask.npy", "none.npy", status=3)

    def test_device(self):
        said = json.loads(self.run_program("info", "--json").stdout)
        if not said["cuda"]["devices"]:
            self.assertIn("--device cpu", self.refusal("bench", "--size", "8x8", "--device", "cuda", status=5))
        self.refusal("bench", "--size", "8x8", "--device", "cuda:x", status=2)
        self.refusal("bench", "--size", "8x8", "--device", "cuda:99", status=5)
        self.refusal("bench", "--size", "8x8", "--threads", "-1", status=2)


class Reports(Case):
    def test_json_to_stdout_or_stderr(self):
        image = npy((3, 4), Pipes.IMAGE)
        done = self.run_program("distance", "-", "--json", stdin=image)
        said = json.loads(done.stdout)
        self.assertEqual(done.stderr, b"")
        self.assertEqual((said["verb"], said["input"]["shape"]), ("distance", [3, 4]))
        self.assertAlmostEqual(said["largest_distance"], 10**0.5, 6)
        done = self.run_program("distance", "-", "-o", "-", "--json", stdin=image)
        self.assertEqual(json.loads(done.stderr)["outputs"][0]["path"], "-")
        self.assertEqual(parse_npy(done.stdout)[0], (3, 4))
        for words in (["voronoi", "-", "-o", "v.png"], ["convert", "-", "-o", "c.npy"], ["bench", "-"]):
            self.assertEqual(json.loads(self.run_program(*words, "--json", stdin=image).stdout)["verb"], words[0])
        self.assertEqual(
            json.loads(self.run_program("sample", "one", "-o", "s.npy", "--json").stdout)["output"]["shape"], [512, 512]
        )
        self.assertGreater(
            json.loads(self.run_program("bench", "--size", "64x64", "--json").stdout)["run"]["mcells_per_s"], 0
        )
        self.assertEqual(len(json.loads(self.run_program("demo", "-o", "d", "--json").stdout)["pictures"]), 8)

    def test_quiet_is_quiet(self):
        done = self.run_program("sample", "one", "-o", "s.npy", "-q")
        self.assertEqual(done.stdout + done.stderr, b"")
        done = self.run_program("distance", "s.npy", "-o", "d.npy", "-q")
        self.assertEqual(done.stdout + done.stderr, b"")

    def test_pictures_are_whole_pngs(self):
        self.run_program("demo", "-o", "d")
        pictures = sorted((self.folder / "d").iterdir())
        self.assertEqual(len(pictures), 8)
        for path in pictures:
            data, at, pixels = path.read_bytes(), 8, b""
            while at < len(data):
                (length,) = struct.unpack(">I", data[at : at + 4])
                if data[at + 4 : at + 8] == b"IDAT":
                    pixels += data[at + 8 : at + 8 + length]
                at += 12 + length
            width, height = struct.unpack(">II", data[16:24])
            self.assertEqual(len(zlib.decompress(pixels)), height * (3 * width + 1))


LARGE = ["bench", "--size", "192x192x192", "--repeat", "1000"]


class Terminals(Case):
    def open_terminal(self):
        try:
            return pty.openpty()
        except OSError as problem:
            self.skipTest(f"this machine gives no terminal: {problem}")

    def start_on_terminal(self, *words):
        master, slave = self.open_terminal()
        process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        self.addCleanup(os.close, master)
        self.addCleanup(process.stdout.close)
        return process, master

    def read_until(self, master, pattern, seconds=60):
        seen, end = b"", time.monotonic() + seconds
        while time.monotonic() < end and not re.search(pattern, seen):
            try:
                seen += os.read(master, 4096)
            except OSError:
                break
        return seen

    def test_a_bar_on_a_terminal_and_a_clean_end(self):
        process, master = self.start_on_terminal(*LARGE)
        seen = self.read_until(master, rb"bench \[[#.]{40}\]")
        self.assertRegex(seen, rb"bench \[[#.]{40}\] +\d+%")
        process.send_signal(signal.SIGINT)
        rest = self.read_until(master, rb"cancelled")
        self.assertEqual(process.wait(60), 130)
        self.assertIn(b"nearfield: bench: cancelled", rest)

    def test_no_bar_elsewhere(self):
        process = subprocess.Popen([PROGRAM, *LARGE], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, problems = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, problems), (130, b"", b"nearfield: bench: cancelled\n"))

    def test_stdout_on_a_terminal_gets_no_binary(self):
        master, slave = self.open_terminal()
        done = subprocess.run([PROGRAM, "sample", "one", "-o", "-"], stdout=slave, stderr=subprocess.PIPE)
        os.close(slave)
        os.close(master)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"stdout is a terminal", done.stderr)


if __name__ == "__main__":
    unittest.main()
