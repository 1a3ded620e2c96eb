"""Files that the program writes: none is lost, none is left behind, whatever ends the program.

Standard library only.
"""

import json
import os
import resource
import select
import signal
import stat
import subprocess
import time
import unittest

from program_case import PROGRAM, Case, npy, parse_npy

IMAGE = npy((3, 4), [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1])


class Files(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "a.npy").write_bytes(IMAGE)

    def start(self, *words, **more):
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, **more)
        self.addCleanup(process.kill)
        return process

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())


class LostFiles(Files):
    def test_two_outputs_that_are_one_file(self):
        (self.folder / "sub").mkdir()
        (self.folder / "old.npy").write_bytes(b"old")
        os.link(self.folder / "old.npy", self.folder / "hard.npy")
        os.symlink("old.npy", self.folder / "soft.npy")
        os.symlink("new.npy", self.folder / "dangling.npy")
        os.symlink("sub", self.folder / "other")
        before = self.names()
        for words in (
            ["distance", "a.npy", "-o", "x.npy", "--indices", "x.npy"],
            ["distance", "a.npy", "-o", "x.npy", "--indices", "./x.npy"],
            ["distance", "a.npy", "-o", "x.npy", "--trust", "sub/../x.npy"],
            ["distance", "a.npy", "-o", "x.npy", "--labels", str(self.folder / "x.npy")],
            ["distance", "a.npy", "-o", "old.npy", "--indices", "hard.npy"],
            ["distance", "a.npy", "-o", "old.npy", "--indices", "soft.npy"],
            ["distance", "a.npy", "-o", "new.npy", "--indices", "dangling.npy"],
            ["distance", "a.npy", "-o", "sub/x.npy", "--indices", "other/x.npy"],
            ["distance", "a.npy", "--trust", "x.png", "--picture", "x.png"],
            ["voronoi", "a.npy", "--labels", "x.npy", "--distances", "x.npy"],
            ["voronoi", "a.npy", "-o", "x.npy", "--weights", "a.npy", "--power", "x.npy"],
            ["distance", "a.npy", "-o", "out/", "--picture", "p/", "--indices", "./out"],
        ):
            self.assertIn("are one file", self.refusal(*words), words)
            self.assertEqual(self.names(), before)
        os.symlink("x.csv", self.folder / "x.npy")
        self.assertIn("are one file", self.refusal("label", "a.npy", "-o", "x.npy", "--stats", "x.csv"))
        (self.folder / "x.npy").unlink()
        self.assertIn(
            "are one file", self.refusal("compare", "--chart", "x.svg", "--pictures", ".", "--methods", "exact exact")
        )
        with open(self.folder / "d.npy", "wb") as stdout:
            done = subprocess.run(
                [PROGRAM, "distance", "a.npy", "-o", "-", "--indices", "d.npy"],
                stdout=stdout,
                stderr=subprocess.PIPE,
                cwd=self.folder,
            )
        self.assertIn(b"are one file", done.stderr)
        os.symlink("/dev/null", self.folder / "null.npy")
        self.run_program("distance", "a.npy", "-o", "null.npy", "--indices", "null.npy")

    def test_an_output_that_is_an_input(self):
        (self.folder / "sub").mkdir()
        os.symlink("a.npy", self.folder / "link.npy")
        (self.folder / "image-distance.png").write_bytes(b"")
        for words in (
            ["distance", "a.npy", "-o", "a.npy"],
            ["distance", "a.npy", "-o", "."],
            ["distance", "link.npy", "-o", "sub/../a.npy"],
            ["distance", "a.npy", "-o", "link.npy"],
            ["convert", "a.npy", "-o", "a.npy"],
            ["label", "a.npy", "-o", "a.npy"],
            ["label", "a.npy", "--intensity", "link.npy", "-o", "link.npy"],
            ["voronoi", "a.npy", "--weights", "a.npy", "-o", "a.npy"],
            ["demo", "--image", "image-distance.png", "-o", "."],
        ):
            self.assertIn("--overwrite", self.refusal(*words), words)
        self.assertEqual((self.folder / "a.npy").read_bytes(), IMAGE)
        with open(self.folder / "a.npy", "rb") as stdin:
            done = subprocess.run(
                [PROGRAM, "distance", "-", "-o", "a.npy"], stdin=stdin, stderr=subprocess.PIPE, cwd=self.folder
            )
        self.assertEqual((done.returncode, (self.folder / "a.npy").read_bytes()), (2, IMAGE))
        self.run_program("distance", "a.npy", "-o", "a.npy", "--overwrite")
        self.assertEqual(parse_npy((self.folder / "a.npy").read_bytes())[1], "<f4")
        self.run_program("convert", "link.npy", "-o", "a.npy", "--overwrite")

    def test_a_folder_to_read_is_named(self):
        (self.folder / "sub").mkdir()
        for words in (
            ["distance", "sub", "-o", "results"],
            ["label", "sub"],
            ["distance", "sub", "a.npy", "-o", "out"],
        ):
            self.assertIn("sub is a folder", self.refusal(*words, status=3))
        self.assertEqual(self.names(), ["a.npy", "sub"])


class BeforeTheWork(Files):
    """What can be refused is refused before a file is made."""

    def test_formats_sizes_and_numbers(self):
        (self.folder / "volume.npy").write_bytes(npy((4, 5, 6), [0] + [1] * 119))
        (self.folder / "deep.npy").write_bytes(npy((1,) * 9, [1]))
        before = self.names()
        for part, words in (
            ("formats that can", ["distance", "volume.npy", "-o", "d.npy", "--indices", "z.pgm"]),
            ("formats that can", ["sample", "random", "-o", "x.png", "--size", "4x5x6"]),
            ("--threshold is nan", ["distance", "a.npy", "-o", "d.npy", "--threshold", "nan"]),
            ("--threshold is inf", ["convert", "a.npy", "-o", "d.npy", "--threshold", "inf"]),
            ("--picture-size is 0", ["distance", "a.npy", "--picture", "d.png", "--picture-size", "0"]),
            ("--slice 0:2 leaves a line", ["distance", "a.npy", "--picture", "d.png", "--slice", "0:2"]),
            ("--channel is red", ["distance", "a.npy", "-o", "d.npy", "--channel", "red"]),
            ("--channel is alpha", ["convert", "a.npy", "-o", "d.npy", "--channel", "alpha"]),
            ("more than 1000", ["distance", "a.npy", "-o", "d.png", "--isolines", ",".join(["1"] * 1001)]),
            ("9 axes; give an array of 1 to 8 axes", ["distance", "deep.npy", "-o", "d.npy"]),
        ):
            self.assertIn(part, self.refusal(*words))
            self.assertEqual(self.names(), before, words)
        self.refusal("demo", "--volume", "missing.nii", "-o", ".", status=3)
        self.assertEqual(self.names(), before)
        self.run_program("distance", "a.npy", "--picture", "d.png", "--channel", "luminance")
        self.assertIn(
            "--dtype float32",
            self.refusal("distance", "a.npy", "-o", "x.npy", "--dtype", "float16", "--spacing", "1e6"),
        )
        self.assertNotIn(".nhdr", self.refusal("distance", "a.npy", "-o", "x.xyz", status=3))

    def test_memory_of_the_fields_before_the_sample(self):
        with open("/proc/meminfo") as info:
            kib = next(line.split()[1] for line in info if line.startswith("MemAvailable"))
        cells = int(kib) * 1024 // 2  # a sample of one byte a cell fits memory, indices do not
        process = self.start("bench", "--size", f"1000x{cells // 1000}", "--fields", "index", stderr=subprocess.PIPE)
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        self.assertEqual((os.waitstatus_to_exitcode(status), b" GiB, free are " in said), (4, True), said)
        self.assertLess(used.ru_maxrss, min(int(kib) // 4, 1 << 20))  # KiB: no sample was made


class Words(Files):
    def test_an_error_under_json_is_json(self):
        for words, status, verb in (
            (["distance", "missing.npy", "-o", "x.npy", "--json"], 3, "distance"),
            (["label", "a.npy", "--json", "--squred"], 2, "label"),
            (["bench", "--json", "--size", "5y5"], 2, "bench"),
        ):
            done = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True)
            said = json.loads(done.stdout)
            self.assertEqual((done.returncode, said["error"]["status"], said["verb"]), (status, status, verb))
            self.assertEqual(done.stderr.decode(), f"nearfield: {verb}: {said['error']['message']}\n")
        done = subprocess.run([PROGRAM, "distence", "a.npy", "--json"], cwd=self.folder, capture_output=True)
        self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["status"]), (2, 2))
        done = subprocess.run(
            [PROGRAM, "distance", "missing.npy", "-o", "-", "--json"], cwd=self.folder, capture_output=True
        )
        self.assertEqual((done.stdout, json.loads(done.stderr)["error"]["status"]), (b"", 3))

    def test_a_report_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [PROGRAM, "distance", "a.npy", "-o", "-", "--json"],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=full,
            )
        self.assertEqual(done.returncode, 3)

    def test_names_that_begin_with_a_dash(self):
        (self.folder / "-dash.npy").write_bytes(IMAGE)
        self.run_program("distance", "-o", "d.npy", "--", "-dash.npy")
        self.run_program("label", "-o", "l.npy", "--", "-dash.npy")
        self.assertIn("--nonsense", self.refusal("distance", "a.npy", "-o", "d.npy", "--nonsense"))
        # The message stays readable text.
        self.assertIn("-none.npy", self.refusal("distance", "-o", "d.npy", "--", "-none.npy", status=3))


class Replaced(Files):
    def mode(self, name):
        return stat.S_IMODE((self.folder / name).stat().st_mode)

    def test_mode_and_owner_stay(self):
        for name, mode in (("d.npy", 0o600), ("d.tif", 0o640), ("d.nii.gz", 0o664), ("d.png", 0o755)):
            (self.folder / name).write_bytes(b"old")
            (self.folder / name).chmod(mode)
            if os.geteuid() == 0:
                os.chown(self.folder / name, 1234, 2345)
            self.run_program("distance", "a.npy", "-o", name)
            self.assertEqual(self.mode(name), mode, name)
            self.assertNotEqual((self.folder / name).read_bytes(), b"old")
            if os.geteuid() == 0:
                made = (self.folder / name).stat()
                self.assertEqual((made.st_uid, made.st_gid), (1234, 2345))
        self.run_program("distance", "a.npy", "-o", "new.npy", umask=0o027)
        self.assertEqual(self.mode("new.npy"), 0o640)

    def test_what_may_not_be_written_is_not_replaced(self):
        (self.folder / "d.npy").write_bytes(b"old")
        (self.folder / "d.npy").chmod(0o444)
        self.folder.chmod(0o777)
        for path in (self.folder, self.folder / "a.npy"):
            os.chmod(path, 0o777)
        ours = {} if os.geteuid() != 0 else {"user": 65534, "group": 65534}
        try:
            for words in (["-o", "d.npy"], ["-o", "x.npy", "--indices", "d.npy"]):
                self.assertIn("d.npy: may not be written", self.refusal("distance", "a.npy", *words, status=3, **ours))
        except PermissionError:
            self.skipTest("another user may not run the program here")
        self.assertEqual(((self.folder / "d.npy").read_bytes(), self.names()), (b"old", ["a.npy", "d.npy"]))

    def test_stored_before_and_after_the_rename(self):
        try:
            words = ["strace", "-f", "-y", "-e", "trace=fsync,rename", "-o", "trace", PROGRAM]
            done = subprocess.run(
                [*words, "distance", "a.npy", "-o", "d.npy"], cwd=self.folder, capture_output=True, timeout=60
            )
        except FileNotFoundError:
            self.skipTest("no strace here")
        if done.returncode != 0:
            self.skipTest(f"strace may not run here: {done.stderr}")
        calls = [line.split()[1] for line in (self.folder / "trace").read_text().splitlines() if "(" in line]
        self.assertEqual([call.split("(")[0] for call in calls], ["fsync", "rename", "fsync"])
        self.assertIn(".tmp", calls[0])
        self.assertIn(str(self.folder), calls[2])


class Pipes(Files):
    def test_a_fifo_has_one_reader(self):
        os.mkfifo(self.folder / "p.npy")
        process = self.start("sample", "one", "-o", "p.npy", "--size", "100x70", "-q")
        with open(self.folder / "p.npy", "rb") as pipe:
            self.assertEqual(parse_npy(pipe.read())[0], (100, 70))
        self.assertEqual(process.wait(60), 0)
        # The reader closes the pipe early: EPIPE, as with `| head`.
        process = self.start("sample", "one", "-o", "p.npy", "--size", "1000x1000")
        with open(self.folder / "p.npy", "rb", buffering=0) as pipe:
            pipe.read(10)
        self.assertEqual(process.wait(60), -signal.SIGPIPE)
        os.rename(self.folder / "p.npy", self.folder / "p.tif")
        self.assertIn("a pipe cannot", self.refusal("distance", "a.npy", "-o", "p.tif"))

    def test_the_name_of_stdout(self):
        expected = self.run_program("distance", "a.npy", "-o", "-").stdout
        os.symlink("/dev/stdout", self.folder / "x.npy")
        for words in (["-o", "/dev/stdout"], ["-o", "x.npy", "--json"], ["--output=/dev/stdout", "--json"]):
            done = self.run_program("distance", "a.npy", *words)
            self.assertEqual(done.stdout, expected)
        self.assertEqual(json.loads(done.stderr)["verb"], "distance")


SLOW = ["distance", "large.npy", "-o", "old.nii.gz"]


class Signals(Files):
    def start_writing(self, *words, **more):
        """The program, stopped in the midst of writing, and its unfinished file.

        One that was through before it stopped, because this machine is busy, is started again.
        """
        if not (self.folder / "large.npy").exists():
            self.run_program("sample", "random", "-o", "large.npy", "--size", "160x320x320", "-q")
            self.run_program(*SLOW)
            self.whole = (self.folder / "old.nii.gz").stat().st_size
        for _ in range(100):
            (self.folder / "old.nii.gz").write_bytes(b"old")
            process = self.start(*SLOW, *words, stdout=subprocess.PIPE, **{"stderr": subprocess.PIPE, **more})
            unfinished = None
            while unfinished is None and process.poll() is None:
                unfinished = next((name for name in self.names() if name.endswith(".tmp")), None)
                time.sleep(0.001)
            if unfinished is not None:
                process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                if (self.folder / unfinished).exists():
                    file = os.open(self.folder / unfinished, os.O_RDONLY)
                    self.addCleanup(os.close, file)
                    return process, file
            process.kill()
            process.communicate()
        self.fail("the program was never stopped while it wrote")

    def end_by(self, process, number, unfinished):
        """The signal waits for the program when it goes on, and is heard before the file is whole and renamed."""
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        said = process.communicate()
        after = os.fstat(unfinished)
        self.assertEqual(after.st_nlink, 0)
        self.assertLess(after.st_size, self.whole)
        return said

    def listens(self, process, number):
        """Whether the program catches this signal already."""
        with open(f"/proc/{process.pid}/status") as status:
            caught = next(line.split()[1] for line in status if line.startswith("SigCgt"))
        return int(caught, 16) >> (number - 1) & 1 == 1

    def test_a_signal_while_a_file_is_written_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGQUIT, signal.SIGUSR1):
            process, unfinished = self.start_writing()
            said = self.end_by(process, number, unfinished)
            self.assertEqual((process.returncode, said), (128 + number, (b"", b"nearfield: distance: cancelled\n")))
            self.assertEqual((self.folder / "old.nii.gz").read_bytes(), b"old")
            self.assertEqual(self.names(), ["a.npy", "large.npy", "old.nii.gz"])

    def test_a_signal_under_json(self):
        process, unfinished = self.start_writing("--json")
        out, problems = self.end_by(process, signal.SIGTERM, unfinished)
        self.assertEqual(json.loads(out)["error"], {"status": 143, "message": "cancelled"})
        self.assertEqual(problems, b"nearfield: distance: cancelled\n")

    def test_the_second_signal_ends_a_program_that_cannot_speak(self):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            while True:
                os.write(writing, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writing, True)
        process, unfinished = self.start_writing(stderr=writing)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        while any(name.endswith(".tmp") for name in self.names()):
            time.sleep(0.002)
        self.assertEqual(os.fstat(unfinished).st_nlink, 0)  # the first signal ended it before renaming
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        self.assertEqual(self.names(), ["a.npy", "large.npy", "old.nii.gz"])
        os.close(reading)
        os.close(writing)

    def test_a_signal_while_a_pipe_is_read_or_written(self):
        reading, writing = os.pipe()
        os.mkfifo(self.folder / "fifo.npy")
        os.write(writing, IMAGE[:4])
        for words, stdin in (
            (["distance", "-", "-o", "x.npy"], reading),
            (["distance", "a.npy", "-o", "fifo.npy"], None),
        ):
            process = self.start(*words, stdin=stdin, stderr=subprocess.PIPE)
            while not self.listens(process, signal.SIGINT) or (stdin and select.select([reading], [], [], 0)[0]):
                time.sleep(0.002)  # until the program listens and has read the pipe
            time.sleep(0.1)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            process.communicate()
            self.assertEqual(process.returncode, 130)
        os.close(reading)
        os.close(writing)
        self.assertEqual(self.names(), ["a.npy", "fifo.npy"])

    def test_ignored_signals_stay_ignored(self):
        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        words = ["bench", "--size", "128x128x128", "--repeat", "50"]
        process = self.start(*words, stdout=subprocess.DEVNULL, preexec_fn=ignore)
        while not self.listens(process, signal.SIGTERM):
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(), 0)

    def test_a_file_beyond_the_limit_is_an_error(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

        self.assertIn(
            "File too large",
            self.refusal("sample", "one", "-o", "x.npy", "--size", "1000x1000", status=3, preexec_fn=limit),
        )
        self.assertEqual(self.names(), ["a.npy"])


if __name__ == "__main__":
    unittest.main()
