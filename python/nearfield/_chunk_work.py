"""What a call out of core keeps beside its target: a journal of what is done, and the fields between two passes."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from nearfield._chunk_files import Raw, boxes, create, read_into, reopen, write_all
from nearfield._chunk_threads import in_parallel
from nearfield._chunk_zarr import Chunked
from nearfield._request import said

_FILES = 16  # that hold the fields between two passes, at most
_PIECE = 1 << 18  # cells
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def bytes_of(memory: Any) -> int:
    """Parses 4GB, 500MB, 2GiB or a number. None gives what this process has and half of what is free."""
    if memory is None:
        return used_now() + free_now() // 2
    found = re.fullmatch(r"([0-9.]+) *([kmgt]?)(i?)b?", str(memory).strip().lower())
    try:
        assert found is not None
        unit = _UNITS[found[2]] if not found[3] else 1 << 10 * " kmgt".index(found[2] or " ")
        return int(float(found[1]) * unit)
    except (AssertionError, ValueError):
        raise ValueError(f"memory is {said(memory)}; give a number of bytes, or 4GB, 500MB, 2GiB") from None


def used_now() -> int:
    """Returns the bytes of memory that this process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def free_now() -> int:
    """Returns the bytes that are free, or hold files that can be read again, within the limit of a container."""
    known = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    free = int(known["MemAvailable"].split()[0]) * 1024
    group = Path("/sys/fs/cgroup")
    if (group / "memory.max").exists() and (most := (group / "memory.max").read_text().strip()).isdigit():
        free = min(free, int(most) - int((group / "memory.current").read_text()))
    return max(free, 0)


class Work:
    """Files of one call. What is noted as done is not done again by a later call with the same arguments.

    The folder ``TARGET.unfinished`` holds the journal, a line for each thing that is done, and what is kept between
    passes; outputs grow as ``TARGET.part.SUFFIX`` beside their targets, and take their names when all are finished.
    """

    def __init__(self, targets: dict[str, Path], about: dict[str, Any], resume: bool) -> None:
        self.targets = targets
        first = next(iter(targets.values()))
        self.folder = first.with_name(first.name + ".unfinished")
        self.digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
        self.folder.mkdir(exist_ok=True)
        self._journal = open(self.folder / "journal", "a+")  # noqa: SIM115
        self._lock(first)
        entries = self._entries()
        if entries and not resume:
            self._journal.truncate(0)
            entries = []
        if entries and entries[0] != self.digest:
            self._journal.close()
            raise ValueError(
                f"{self.folder} is left of an unfinished call with other arguments, or of another source; repeat that "
                "call, or give resume=False to begin anew"
            )
        self.done = set(entries[1:])
        if not entries:
            self.note(self.digest)

    def _lock(self, first: Path) -> None:
        try:
            fcntl.flock(self._journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._journal.close()
            raise ValueError(f"another call is writing {first}; wait for it, or give another target") from None

    def _entries(self) -> list[str]:
        """Returns whole lines. A last one without an end was cut, and what it notes is done again."""
        self._journal.seek(0)
        text = self._journal.read()
        whole = text[: text.rfind("\n") + 1]
        self._journal.truncate(len(whole))
        return whole.split()

    def note(self, what: str) -> None:
        self._journal.write(what + "\n")
        self._journal.flush()
        self.done.add(what)

    @property
    def begun(self) -> bool:
        """True if a part is done."""
        return not all(re.match("[0-9a-f]{64}|layout:|made:|bits:", entry) for entry in self.done)

    def free(self) -> int:
        """Returns the bytes that are free on the disk of the folder."""
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize

    def raw(self) -> set[str]:
        """Names of the raw targets on that disk."""
        disk = self.folder.stat().st_dev
        return {n for n, path in self.targets.items() if path.suffix != ".zarr" and path.parent.stat().st_dev == disk}

    def output(
        self, name: str, shape: Sequence[int], dtype: Any, chunks: Any, spacing: Any, tags: Sequence[Any]
    ) -> Raw | Chunked:
        part = self._part(name)
        if f"made:{name}" in self.done:
            return reopen(part) if part.exists() else reopen(self.targets[name])
        if part.is_dir():
            shutil.rmtree(part)
        made = create(part, shape, dtype, chunks, spacing, tags)
        self.note(f"made:{name}")
        return made

    def _part(self, name: str) -> Path:
        target = self.targets[name]
        return target.with_name(f"{target.stem}.part{target.suffix}")

    def finish(self) -> None:
        """Gives outputs their names, and then removes the journal."""
        for name, target in self.targets.items():
            part, old = self._part(name), self.folder / f"old-{name}"
            if not part.exists():
                continue
            if target.is_dir() and not old.exists():
                os.replace(target, old)
            os.replace(part, target)
        self._journal.close()
        shutil.rmtree(self.folder)

    def abandon(self) -> None:
        """Forgets what is done, because it is of no use to a later call."""
        self.done.clear()

    def close(self) -> None:
        """Leaves what is done; if nothing is, removes all traces."""
        self._journal.close()
        if self.folder.exists() and not self.begun:
            shutil.rmtree(self.folder)
            for part in map(self._part, self.targets):
                if part.is_dir():
                    shutil.rmtree(part)
                else:
                    part.unlink(missing_ok=True)


@contextmanager
def full_disk_told(folder: Path, wanted: int) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OSError(
            problem.errno,
            f"no space is left for what this call writes, {wanted / 1e9:.1f} GB at most: free some, and call again "
            "with the same arguments; what is done is kept",
            str(folder),
        ) from None


class Between:
    """Partial fields of all cells in files without gaps, written in slabs of planes and read in pencils.

    A slab's boxes follow each other, and in each box its fields, so that a pencil reads one piece of each slab. Several
    files each have a range of boxes, because a system lets only one thread write a file at a time, and so that they
    are given back one by one. Small squares use half of their space; flags at the end of a file tell which.
    """

    def __init__(
        self,
        path: Path,
        shape: Sequence[int],
        types: dict[str, Any],
        planes: int,
        box: Sequence[int],
        threads: int | None = None,
    ) -> None:
        self.shape, self.types, self.step, self._threads = tuple(shape), types, planes, threads
        self.cell = sum(kind.itemsize for kind in types.values())
        self.boxes = list(boxes(self.shape[1:], box))
        sizes = [math.prod(s.stop - s.start for s in one) for one in self.boxes]
        self._before = [0, *np.cumsum(sizes).tolist()]
        names = [path.with_name(f"{path.name}-{k}") for k in range(min(_FILES, len(self.boxes)))]
        self._files = [os.open(name, os.O_RDWR | os.O_CREAT, 0o666) for name in names]

    @property
    def bytes(self) -> int:
        return int(math.prod(self.shape) * self.cell)

    @property
    def least(self) -> int:
        """Bytes of the fields if all squares are small."""
        halved = sum(2 for kind in self.types.values() if kind == np.uint32)
        return int(math.prod(self.shape) * (self.cell - halved))

    def _file(self, box: int) -> int:
        return self._files[box * len(self._files) // len(self.boxes)]

    def _boxes_of(self, file: int) -> range:
        count, files = len(self.boxes), len(self._files)
        return range(-(-file * count // files), -(-(file + 1) * count // files))

    def _place(self, first: int, planes: int, box: int) -> int:
        return int(self.cell * (first * self._before[-1] + planes * self._before[box]))

    def _flags(self, first: int, box: int) -> int:
        """Returns where the flags of a slab's box are."""
        return self.bytes + (first // self.step * len(self.boxes) + box) * len(self.types)

    def write(self, first: int, fields: Sequence[Any]) -> None:
        """Writes the fields of a slab, in the order of `types`."""

        def of_file(file: int) -> None:
            for number in self._boxes_of(file):
                self._write_box(first, fields, number)

        in_parallel(of_file, range(len(self._files)), self._threads_for(fields[0].size))

    def _write_box(self, first: int, fields: Sequence[Any], number: int) -> None:
        file, at, flags = self._file(number), self._place(first, len(fields[0]), number), []
        for field in fields:
            block = field[(slice(None), *self.boxes[number])]
            flags.append(_write_half(file, block, at))
            if not flags[-1]:
                for part in _pieces(block):
                    at = write_all(file, part, at)
            else:
                at += block.nbytes
        write_all(file, np.array(flags), self._flags(first, number))

    def read(self, number: int) -> dict[str, Any]:
        """Reads the fields of pencil `number`."""
        size = tuple(s.stop - s.start for s in self.boxes[number])
        made = {name: np.empty((self.shape[0], *size), kind) for name, kind in self.types.items()}
        file = self._file(number)

        def of_slab(first: int) -> None:
            planes = min(self.step, self.shape[0] - first)
            at = self._place(first, planes, number)
            flags = os.pread(file, len(made), self._flags(first, number))
            for field, half in zip(made.values(), flags, strict=True):
                block = field[first : first + planes]
                (_read_half if half else read_into)(file, block, at)
                at += block.nbytes

        in_parallel(of_slab, range(0, self.shape[0], self.step), self._threads_for(self.shape[0] * math.prod(size)))
        return made

    def _threads_for(self, cells: int) -> int | None:
        return self._threads if cells > _PIECE else 1

    def drop(self, done: Callable[[int], bool]) -> None:
        """Gives back the space of pencils that are done."""
        for k, file in enumerate(self._files):
            if all(map(done, self._boxes_of(k))):
                os.ftruncate(file, 0)

    def close(self) -> None:
        for file in self._files:
            os.close(file)


def _write_half(file: int, block: Any, at: int) -> bool:
    """Writes squares below 2^16 - 1 as uint16, one more each, 0 for no site. Returns False if one is larger."""
    if block.dtype != np.uint32:
        return False
    for part in _pieces(block):
        more = part + np.uint32(1)
        if more.max(initial=0) >= 1 << 16:
            return False
        at = write_all(file, more.astype(np.uint16), at)
    return True


def _read_half(file: int, block: Any, at: int) -> None:
    for part in _pieces(block):
        more = np.empty(part.shape, np.uint16)
        read_into(file, more, at)
        np.subtract(more, np.uint32(1), out=part)
        at += more.nbytes


def _pieces(block: Any) -> Iterator[Any]:
    """Yields parts in C order that are so small that temporary arrays stay in the cache."""
    row = math.prod(block.shape[1:])
    if row > _PIECE and block.ndim > 1:
        for one in block:
            yield from _pieces(one)
        return
    step = max(1, _PIECE // max(1, row))
    for k in range(0, len(block), step):
        yield block[k : k + step]
