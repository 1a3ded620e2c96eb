"""Files from strangers: what a header may reach, how much is read, what reaches the terminal. Standard library only."""

import contextlib
import gzip
import os
import struct
import subprocess
import threading
import unittest
import zlib

from program_case import PROGRAM, Case, npy, parse_npy

BYTES = "NRRD0004\ntype: uchar\ndimension: 1\nsizes: 100\nencoding: raw\n"


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, rows, depth=8):
    header = struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)
    packed = zlib.compress(rows, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


class Detached(Case):
    def setUp(self):
        super().setUp()
        self.inside = self.folder / "inside"
        (self.inside / "deeper").mkdir(parents=True)
        for path in (self.folder / "secret", self.inside / "own", self.inside / "deeper" / "own"):
            path.write_bytes(bytes(range(100)))
        (self.inside / "climbs").symlink_to("../secret")
        (self.inside / "stays").symlink_to("deeper/own")

    def header(self, name):
        (self.inside / "x.nhdr").write_bytes((BYTES + "data file: ").encode() + os.fsencode(name) + b"\n")
        return ["convert", "inside/x.nhdr", "-o", "x.npy"]

    def test_data_lies_in_the_folder_of_the_header_or_below(self):
        for name in ("own", "deeper/own", "./deeper/../own", "stays", str(self.inside / "own")):
            self.run_program(*self.header(name))
            self.assertEqual(parse_npy((self.folder / "x.npy").read_bytes())[2], list(range(100)))
        (self.folder / "x.npy").unlink()
        for name in ("../secret", str(self.folder / "secret"), "/etc/passwd", "climbs", "deeper/../../secret"):
            self.assertIn("--allow-outside", self.refusal(*self.header(name), status=3))
            self.assertFalse((self.folder / "x.npy").exists())
        for name in ("../secret", "climbs"):
            self.run_program(*self.header(name), "--allow-outside")
            (self.folder / "x.npy").unlink()
        for verb in ("distance", "voronoi", "label"):
            self.assertIn("--allow-outside", self.refusal(verb, "inside/x.nhdr", "-o", "x.npy", status=3))

    def test_data_is_an_input_that_no_output_replaces(self):
        (self.inside / "data.npy").write_bytes(bytes(range(100)))
        self.header("data.npy")
        words = ["distance", "inside/x.nhdr", "-o", "inside/data.npy"]
        self.assertIn("data file of inside/x.nhdr", self.refusal(*words))
        self.assertEqual((self.inside / "data.npy").read_bytes(), bytes(range(100)))
        self.run_program(*words, "--overwrite")

    def test_data_is_a_regular_file(self):
        os.mkfifo(self.inside / "pipe")
        for name, why in (("pipe", "regular"), ("/dev/zero", "regular"), ("deeper", "regular"), ("missing", "No such")):
            self.assertIn(why, self.refusal(*self.header(name), "--allow-outside", status=3))
        self.assertIn("NUL", self.refusal(*self.header(b"ow\0n"), status=3))

    def test_a_header_from_a_pipe_has_no_folder(self):
        header = (BYTES + "data file: inside/own\n").encode()
        for name in ("-", "/dev/stdin"):
            self.assertIn("on disk", self.refusal("convert", name, "-o", "x.npy", status=3, stdin=header))


class Amounts(Case):
    def test_no_more_is_read_than_the_header_asks_for(self):
        os.mkfifo(self.folder / "pipe")
        taken = []

        def endless(head):
            pipe = os.open(self.folder / "pipe", os.O_WRONLY)
            with contextlib.suppress(BrokenPipeError):
                count = os.write(pipe, head)
                while True:
                    count += os.write(pipe, bytes(1 << 16))
            taken.append(count)
            os.close(pipe)

        for head in (npy((100,), []), (BYTES + "\n").encode(), b"P5 10 10 255\n"):
            writer = threading.Thread(target=endless, args=(head,))
            writer.start()
            self.run_program("convert", "pipe", "-o", "x.npy")
            writer.join()
            self.assertLess(taken.pop(), 1 << 22, head)
            self.assertEqual(parse_npy((self.folder / "x.npy").read_bytes())[2], [0] * 100)
        self.assertIn("suffix", self.refusal("convert", "/dev/zero", "-o", "x.npy", status=3))

    def test_max_bytes(self):
        (self.folder / "bomb.png").write_bytes(png(20000, 20000, bytes(2501 * 20000), depth=1))
        for verb in ("convert", "distance", "label"):
            said = self.refusal(verb, "bomb.png", "-o", "x.npy", "--max-bytes", "300M", status=3)
            for word in ("381.5 MiB", "300.0 MiB", "--max-bytes"):
                self.assertIn(word, said)
        self.run_program("convert", "bomb.png", "-o", "x.npy", "--max-bytes", "400000000")
        for bad in ("-1", "1Q", "M", "", "99999999999G", "1.5G"):
            self.refusal("convert", "bomb.png", "-o", "x.npy", f"--max-bytes={bad}")

    def test_default_limit_is_a_quarter_of_free_memory(self):
        claim = npy((1 << 33, 1 << 6), [])
        with open(self.folder / "sparse.npy", "wb") as file:
            file.write(claim)
            try:
                file.truncate(len(claim) + (1 << 39))
            except OSError as problem:
                self.skipTest(f"no sparse files here: {problem}")
        said = self.refusal("convert", "sparse.npy", "-o", "x.npy", status=3)
        self.assertIn("512.0 GiB", said)
        self.assertIn("--max-bytes", said)

    def test_any_format_comes_through_stdin(self):
        picture = png(3, 1, bytes([0, 0, 7, 9]))
        for name in ("-", "/dev/stdin"):
            done = self.run_program("convert", name, "-o", "-", stdin=picture)
            self.assertEqual(parse_npy(done.stdout)[2], [0, 7, 9])
        self.assertIn("standard input", self.refusal("convert", "-", "-o", "x.npy", status=3, stdin=b"hello"))

    def test_folder_as_input(self):
        (self.folder / "images").mkdir()
        for verb in ("distance", "voronoi", "label", "convert"):
            self.assertIn("images is a folder", self.refusal(verb, "images", "-o", "x.npy", status=3))
            self.assertIn("images is a folder", self.refusal(verb, "images", "-o", "nowhere", status=3))


class Checksums(Case):
    def test_damage_behind_the_last_byte_is_found(self):
        header = (BYTES.replace("raw", "gzip") + "\n").encode()
        for length in (100, 65526, 65536, 70000):
            data = os.urandom(length)
            whole = gzip.compress(data, 0)
            for name, bad in {
                "cut": whole[:-8],
                "cut in the trailer": whole[:-3],
                "checksum": whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:],
                "length": whole[:-1] + bytes([whole[-1] ^ 1]),
                "bit": whole[:60] + bytes([whole[60] ^ 1]) + whole[61:],
                "more than asked for": gzip.compress(data + bytes(1 << 20)),
            }.items():
                sized = header.replace(b"sizes: 100", b"sizes: %d" % length)
                (self.folder / "x.nrrd").write_bytes(sized + bad)
                self.refusal("convert", "x.nrrd", "-o", "x.npy", status=3)
                (self.folder / "x.nrrd").write_bytes(sized + whole)
                self.run_program("convert", "x.nrrd", "-o", "x.npy")
                self.assertEqual((self.folder / "x.npy").read_bytes()[-length:], data, name)
        values = npy((40, 50), os.urandom(2000))
        self.run_program("convert", "-", "-o", "x.nii.gz", stdin=values)
        whole = (self.folder / "x.nii.gz").read_bytes()
        for bad in (whole[:-8], whole[:-1], whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:]):
            (self.folder / "x.nii.gz").write_bytes(bad)
            self.refusal("convert", "x.nii.gz", "-o", "y.npy", status=3)

    def test_members_are_joined_wherever_they_meet(self):
        for length in (1, 65505, 65512, 65513, 65514):
            packed = gzip.compress(bytes(length), 0) + gzip.compress(b"\7" * 9, 0)
            sized = BYTES.replace("raw", "gzip").replace("sizes: 100", f"sizes: {length + 9}") + "\n"
            (self.folder / "x.nrrd").write_bytes(sized.encode() + packed)
            self.run_program("convert", "x.nrrd", "-o", "x.npy")
            self.assertEqual((self.folder / "x.npy").read_bytes()[-10:], b"\0" + b"\7" * 9)


class Terminal(Case):
    def test_control_characters_do_not_reach_it(self):
        evil = "\x1b]0;owned\a\x1b[2J\r\x7f\x9b"
        files = {
            "type.nrrd": f"NRRD0004\ntype: {evil}\ndimension: 1\nsizes: 4\nencoding: raw\n\nabcd",
            "line.nrrd": f"NRRD0004\n{evil}\n\nabcd",
            "file.nhdr": f"NRRD0004\ntype: uchar\ndimension: 1\nsizes: 4\nencoding: raw\ndata file: {evil}\n\n",
            "unit.nrrd": f'NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 2\nspacings: 2 2\nunits: "m{evil}" "m{evil}"\n'
            "encoding: raw\n\nabcd",
            f"name{evil}.npy": "no array",
            f"good{evil}.pgm": "P5 2 2 255\nabcd",
        }
        for name, text in files.items():
            (self.folder / name).write_bytes(text.encode())
            for words in (["distance", name, "-o", "x.npy"], ["convert", name, "-o", "x.npy"], ["label", name]):
                done = subprocess.run([PROGRAM, *words], capture_output=True, cwd=self.folder, timeout=60)
                said = done.stderr.decode("utf-8")
                lines = said[:-1].split("\n") if done.returncode == 0 else [said[:-1]]
                self.assertNotRegex("".join(lines), "[\x00-\x1f\x7f-\x9f]", (name, words))
                self.assertTrue(said.endswith("\n"))
        done = self.run_program("distance", f"good{evil}.pgm", "--plan")
        self.assertNotRegex(done.stdout.decode().replace("\n", ""), "[\x00-\x1f\x7f-\x9f]")

    def test_letters_of_all_languages_do(self):
        name = "Übung-µm-図.npy"
        self.assertIn(name, self.refusal("distance", name, "-o", "x.npy", status=3))


class Channels(Case):
    def test_wide_channels_are_exact(self):
        for kind, code, values in (
            ("uint64", "Q", [2**64 - 1, 2**63 + 1, 2**53 + 1, 1, 2, 3]),
            ("int64", "q", [-(2**63), 2**63 - 1, 2**53 + 1, -1, 2, 3]),
        ):
            head = f"NRRD0004\ntype: {kind}\ndimension: 3\nsizes: 3 2 1\nkinds: RGB-color domain domain\n"
            data = struct.pack(f"<6{code}", *values)
            (self.folder / "c.nrrd").write_bytes(head.encode() + b"endian: little\nencoding: raw\n\n" + data)
            for at, channel in enumerate(("red", "green", "blue")):
                for name in (channel, str(at)):
                    done = self.run_program("convert", "c.nrrd", "-o", "-", "--channel", name)
                    self.assertEqual(parse_npy(done.stdout)[2], values[at::3])
            for words in (["--channel", "luminance"], ["--threshold", "4"]):
                self.assertIn("--channel", self.refusal("convert", "c.nrrd", "-o", "x.npy", *words))
            self.run_program("distance", "c.nrrd", "-o", "x.npy", "--channel", "green")

    def test_nonsense(self):
        (self.folder / "c.ppm").write_bytes(b"P6\n1 1\n255\nabc")
        for channel in ("3", "-1", "alpha", "rde", "1.5"):
            self.assertIn("channel", self.refusal("convert", "c.ppm", "-o", "x.npy", f"--channel={channel}"))


if __name__ == "__main__":
    unittest.main()
