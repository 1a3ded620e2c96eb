"""From file to file in one process: what a call takes while it runs, and what interrupts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from unittest import mock

import numpy as np
import pytest

import nearfield as nf
from nearfield import _chunk_call, _chunk_fields, _chunk_files, outofcore
from test_outofcore import same, volume

# Of this program alone: what getrusage says begins with the memory of the process that started it.
MEASURED = """
import sys
import nearfield.outofcore as o
name, source, target, memory, more = sys.argv[1:]
getattr(o, name)(source, target, memory=memory, **eval(more))
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024)
"""


@pytest.mark.parametrize(
    "name, more",
    [
        ("distance_transform", "{}"),
        ("distance_transform", "dict(multilabel=True, where='part.npy')"),
        ("voronoi", "{}"),
        ("voronoi", "dict(coordinates='at' + target[target.rindex('.') :])"),
        ("voronoi", "dict(coordinates='at' + target[target.rindex('.') :], max_distance=3)"),
        ("label", "{}"),
    ],
)
@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
def test_memory_is_kept(tmp_path, name, more, suffix):
    pytest.importorskip("zarr")
    image = np.random.default_rng(5).random((320, 300, 300), np.float32) < 0.01
    np.save(tmp_path / "a.npy", image.astype(np.uint8))
    np.save(tmp_path / "part.npy", np.random.default_rng(6).random(image.shape, np.float32) < 0.8)
    said = subprocess.run(
        [sys.executable, "-c", MEASURED, name, tmp_path / "a.npy", tmp_path / f"b{suffix}", "300MB", more],
        capture_output=True,
        cwd=tmp_path,
        text=True,
        check=True,
    )
    assert int(said.stdout) < 300e6, f"{int(said.stdout) / 1e6:.0f} MB"


KILLED = """
import os, signal, sys
from nearfield import _chunk_work, outofcore
notes = 0
note = _chunk_work.Work.note
def counted(self, what):
    global notes
    if what.partition(":")[0] in ("slab", "pencil", "faces", "labels"):
        notes += 1
        if notes == int(sys.argv[4]):   # done, and not noted
            os.kill(os.getpid(), signal.SIGKILL)
    note(self, what)
_chunk_work.Work.note = counted
from unittest import mock
from nearfield import _chunk_call
room = int(sys.argv[5])
with mock.patch.object(_chunk_call.Asked, "room", lambda self: room):
    getattr(outofcore, sys.argv[1])(sys.argv[2], sys.argv[3], **eval(sys.argv[6]))
print(notes)
"""


@pytest.mark.parametrize(
    "name, more", [("distance_transform", {}), ("distance_transform", {"multilabel": True}), ("label", {})]
)
@pytest.mark.parametrize("suffix", ["npy", "zarr"])
def test_killed_and_gone_on_with(tmp_path, name, more, suffix):
    pytest.importorskip("zarr")
    image = volume((60, 70, 80), 0.2)
    if more:
        part, more = image < np.indices(image.shape)[0], {**more, "where": str(tmp_path / "part.npy")}
        np.save(tmp_path / "part.npy", part)
    source, target = tmp_path / "a.npy", tmp_path / f"b.{suffix}"
    np.save(source, image)

    def run(kill_at):
        call = [sys.executable, "-c", KILLED, name, source, target, str(kill_at), "900000", repr(more)]
        return subprocess.run(call, capture_output=True, text=True)

    whole = run(10**9)
    assert whole.returncode == 0, whole.stderr
    tasks = int(whole.stdout)
    assert tasks >= 8
    killed = run(tasks * 2 // 3)
    assert killed.returncode == -signal.SIGKILL
    folder = tmp_path / f"{target.name}.unfinished"
    with open(folder / "journal", "a") as journal:
        journal.write("pencil:0")  # a line that was cut
    again = run(10**9)
    assert again.returncode == 0, again.stderr
    assert int(again.stdout) == tasks - (tasks * 2 // 3 - 1), "what was finished is not done again"
    made = np.load(target) if suffix == "npy" else pytest.importorskip("zarr").open_array(str(target))[:]
    more = {**more, "where": part} if more else {}
    wanted = nf.distance_transform(image, **more) if name == "distance_transform" else nf.label(image, dtype="int32")
    np.testing.assert_array_equal(made, wanted)
    assert not folder.exists()


def test_interrupted_by_progress(tmp_path):
    np.save(tmp_path / "a.npy", volume())
    told = []

    def stop(share):
        told.append(share)
        return len(told) < 3

    with mock.patch.object(_chunk_call.Asked, "room", lambda self: 200000):
        with pytest.raises(nf.Cancelled):
            outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "b.npy", progress=stop)
        with pytest.raises(ValueError, match="resume=False"):
            outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "b.npy", squared=True)
        outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "b.npy", squared=True, resume=False)
    same(tmp_path / "b.npy", nf.distance_transform(volume(), squared=True))
    assert told == sorted(told)


def test_the_next_slab_is_read_while_one_is_computed(tmp_path):
    image, target = volume((40, 37, 50)), tmp_path / "b.npy"
    np.save(tmp_path / "a.npy", image)
    read, planes, begun = _chunk_files.Source.planes, _chunk_fields.planes, {}

    def event(first):
        return begun.setdefault(first, threading.Event())

    def told(self, first, stop):
        event(first).set()
        return read(self, first, stop)

    def waiting(of, slab, first, *args, **how):
        assert first + len(slab) == len(image) or event(first + len(slab)).wait(60)
        return planes(of, slab, first, *args, **how)

    with (
        mock.patch.object(_chunk_files.Source, "planes", told),
        mock.patch.object(_chunk_fields, "planes", waiting),
        mock.patch.object(_chunk_call.Asked, "room", lambda self: 200_000),
    ):
        outofcore.distance_transform(tmp_path / "a.npy", target)
    assert len(begun) > 2
    same(target, nf.distance_transform(image))


@pytest.mark.parametrize("share, reserved", [(0.9, None), (1.1, False), (2.1, True)])
def test_a_small_disk(tmp_path, share, reserved):
    """The field between the passes is given back as the target grows, so that the disk need not hold both."""
    image = volume((60, 280, 320), 0.01)
    np.save(tmp_path / "a.npy", image)
    target, left, wanted = tmp_path / "b.npy", [], 4 * image.size
    put, allocate = _chunk_call.Asked.put, _chunk_files.Raw.allocate
    free = os.statvfs_result((1, 1, *(int(share * wanted),) * 3, 0, 0, 0, 0, 0))

    def told(*given):
        files = (tmp_path / "b.npy.unfinished").glob("between-*")
        left.append(sum(file.stat().st_blocks * 512 for file in files))
        put(*given)

    with (
        mock.patch.object(os, "statvfs", return_value=free),
        mock.patch.object(_chunk_call.Asked, "room", lambda self: 15_000_000),
        mock.patch.object(_chunk_call.Asked, "put", told),
        mock.patch.object(_chunk_files.Raw, "allocate", autospec=True, side_effect=allocate) as reserve,
    ):
        if reserved is None:
            with pytest.raises(OSError, match="no space is left"):
                outofcore.distance_transform(tmp_path / "a.npy", target)
            assert [file.name for file in tmp_path.iterdir()] == ["a.npy"]
            return
        outofcore.distance_transform(tmp_path / "a.npy", target)
    same(target, nf.distance_transform(image))
    assert reserve.called == reserved
    assert 0.4 * wanted < left[0] < 0.9 * wanted, "small squares take half"
    assert left[-1] < 0.2 * wanted and left == sorted(left, reverse=True)


def test_a_full_disk_loses_nothing(tmp_path):
    """It is noticed before anything is computed, because the space is taken first."""
    image = volume((60, 70, 80), 0.01)
    np.save(tmp_path / "a.npy", image)
    np.save(tmp_path / "b.npy", np.arange(3))
    full = mock.patch.object(os, "posix_fallocate", side_effect=OSError(28, "No space left on device"))
    with full, pytest.raises(OSError, match="what is done is kept"):
        outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "b.npy")
    assert np.load(tmp_path / "b.npy").tolist() == [0, 1, 2]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npy", "b.npy"]
    outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "b.npy")
    same(tmp_path / "b.npy", nf.distance_transform(image))


def test_a_disk_that_fills_up_on_the_way(tmp_path):
    zarr = pytest.importorskip("zarr")
    image = volume((60, 70, 80), 0.01)
    np.save(tmp_path / "a.npy", image)
    written = []

    def write(self, start, box):
        written.append(tuple(start))
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        self.array[tuple(slice(s, s + n) for s, n in zip(start, box.shape, strict=True))] = box

    small = mock.patch.object(_chunk_call.Asked, "room", lambda self: 900000)
    with small, mock.patch.object(_chunk_files.Chunked, "write", write):
        with pytest.raises(OSError, match="free some, and call again"):
            outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "b.zarr")
        outofcore.distance_transform(tmp_path / "a.npy", tmp_path / "b.zarr")
    assert len(written) == len(set(written)) + 1, "only what failed is written again"
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path / "b.zarr"))[:], nf.distance_transform(image))
