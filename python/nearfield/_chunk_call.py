"""One call out of core: its arguments, the memory that its parts may take, and the parts that are done."""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._call import planned
from nearfield._chunk_classes import Classes
from nearfield._chunk_device import Gpu
from nearfield._chunk_files import Part, Raw, Source, chunks_for
from nearfield._chunk_lines import coordinate
from nearfield._chunk_work import used_now
from nearfield._chunk_zarr import Chunked
from nearfield._errors import Cancelled
from nearfield._request import Request

_SPARE = 48 << 20  # bytes that are not counted; a twelfth more is freed memory that the allocator keeps
PARTS = 16  # number of parts of a grid that is read ahead
_AT_ONCE = 4  # chunks of Zarr that are read or written at a time, at least


@dataclass
class Asked:
    source: Source
    targets: dict[str, Path]
    types: dict[str, Any]
    spacing: tuple[float, ...] | None
    memory: int
    threads: int | None
    told: Callable[[float], object] | None
    squared: bool = False
    request: Request | None = None
    gpu: Gpu | None = None
    classes: Classes | None = None
    part: Part | None = None
    work: Any = None
    travels: int = 0  #: bytes of a cell that go to a GPU and back
    _handed: dict[str, list[Any]] = field(default_factory=dict)
    _twice: bool = True

    @property
    def plane(self) -> int:
        """Number of cells in a plane."""
        return int(math.prod(self.source.shape[1:]))

    @property
    def target_chunks(self) -> tuple[int, ...] | None:
        """Chunks of the targets in Zarr; None if all targets are raw files."""
        if all(path.suffix != ".zarr" for path in self.targets.values()):
            return None
        sizes = self.source.chunks or chunks_for(self.source.shape)
        return tuple(min(c, max(n, 1)) for c, n in zip(sizes, self.source.shape, strict=True))

    @property
    def fields(self) -> list[str]:
        """Names of the fields that are computed; coordinates of sites are their indices until they are written."""
        return list(dict.fromkeys("index" if name == "coordinates" else name for name in self.targets))

    @property
    def cell(self) -> int:
        """Bytes of a cell of these fields, and of coordinates along one axis."""
        return sum(int(self.types[name].itemsize) for name in self.fields) + 4 * ("coordinates" in self.targets)

    @property
    def copiers(self) -> int:
        """Number of threads that convert fields, each with temporary arrays of some MB."""
        return max(1, min(self.threads or os.cpu_count() or 1, self.memory >> 26))

    @property
    def _chunks(self) -> list[int]:
        """Bytes of a chunk of each file in Zarr."""
        read = [self.source] if self.part is None else [self.source, self.part.source]
        known = [*((each.chunks, each.dtype.itemsize) for each in read), (self.target_chunks, 8)]
        return [math.prod(sizes) * item for sizes, item in known if sizes]

    @property
    def at_once(self) -> int:
        """Number of chunks of Zarr that are read or written at a time; they take a sixteenth of much memory."""
        return max(_AT_ONCE, min(os.cpu_count() or 1, self.memory // (48 * max(sum(self._chunks), 1))))

    def room(self) -> int:
        """Returns the bytes that arrays of the call may take."""
        spare = _SPARE + self.memory // 12
        spare += 3 * self.at_once * sum(self._chunks)
        if self.classes is not None:
            spare += 40 << 20
        if self.gpu is not None:
            spare += self.gpu.pinned(max(self.plane, self.source.shape[0]), self.travels)
        return self.memory - used_now() - spare

    def workspace(self, shape: Sequence[int], request: Request) -> int:
        """Returns the bytes that the library takes besides its arrays."""
        image = _core.Array(0, self.source.dtype.name, shape)
        return int(planned(image, request, threads=self.threads or 0)["workspace_bytes"])

    def planes_within(self, cost: Callable[[int], int]) -> list[int]:
        """Decides whether whole rows of the source's chunks are kept, and how many planes a slab has.

        Arrays of a slab take cost(planes) bytes; 0 planes if no slab fits.
        """
        room, most = self.room(), max(self.source.shape[0], 1)
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if cost(middle) <= room else (low, middle - 1)
        sizes = self.source.chunks or self.target_chunks
        rows = sizes[0] if sizes else 1
        if low >= rows:
            return [0, low if low == most else low - low % rows]
        held = rows * self.plane * self.source.dtype.itemsize
        if 2 * held > room or not self.source.chunks:
            return [0, low]
        while low > 0 and cost(low) + held + low * self.plane * self.source.dtype.itemsize > room:
            low -= 1
        return [1, rows // -(-rows // low) if low else 0]  # parts of a row of chunks

    def slabs_within(self, cost: Callable[[int], int], more: Callable[[int], int], least: int = 1) -> list[int]:
        """Decides as `planes_within`, and between, as 1 or 0, whether memory also has room for reading ahead.

        If so, there are several slabs, of at least `least` planes, because nothing overlaps a single slab.
        """
        kept, step = self.planes_within(lambda count: cost(count) + more(count))
        if not step:
            return [kept, 0, self.planes_within(cost)[1]]
        rows = min((self.source.chunks or self.target_chunks or (1,))[0], step)
        few = max(least, -(-self.source.shape[0] // PARTS))
        return [kept, 1, min(step, -(-few // rows) * rows)]

    def too_little(self, needed: int, what: str) -> ValueError:
        wanted = self.memory + needed - self.room()
        return ValueError(
            f"memory is {self.memory / 1e6:.0f} MB, in which {what} does not fit; give at least {wanted / 1e6:.0f} MB"
        )

    def noted(self, name: str, choose: Callable[[], Any]) -> Any:
        """Returns what an earlier call noted in the journal, or choose(), and notes that."""
        known = [entry for entry in self.work.done if entry.startswith(f"{name}:")]
        chosen = json.loads(known[0].removeprefix(f"{name}:")) if known else choose()
        if not known:
            self.work.note(f"{name}:" + json.dumps(chosen, separators=(",", ":")))
        return chosen

    def layout(self, choose: Callable[[], list[Any]]) -> list[Any]:
        """Returns how the call is divided, as noted or by choose(): the result of `planes_within` and more."""
        chosen: list[Any] = self.noted("layout", choose)
        self.source.holds = bool(chosen[0])
        return chosen[1:]

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each target."""
        cells, axes = math.prod(self.source.full_shape), len(self.source.full_shape)
        return {n: cells * self.types[n].itemsize * (axes if n == "coordinates" else 1) for n in self.targets}

    def outputs(self, step: int | None = None, least: int = 0, beside: int = 0) -> dict[str, Raw | Chunked]:
        """Makes or reopens the files to fill; if they are filled in slabs of `step` planes, chunks are no thicker.

        The call also writes `least` to `beside` bytes, which it gives back as it writes the files. Throws if the disk
        has too little space, and reserves what raw files take unless it lacks the space for both.
        """
        full = self.source.full_shape
        raw, free = self.work.raw(), self.work.free()
        taken = sum(self.sizes[name] for name in raw)
        if free < max(least, taken) and not self.work.begun:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sizes = self.target_chunks
        if sizes and step and step < min(sizes[0], self.source.shape[0]):
            sizes = (step, *sizes[1:])
        chunks = None if sizes is None else (1,) * self.source.lead + sizes
        made = {}
        for name in self.targets:
            kind = self.types[name]
            tags = self.source.place.tags_of(name, kind)
            of: tuple[Any, ...] = (full, chunks, self.spacing)
            if name == "coordinates":
                of = tuple(a and (one, *a) for a, one in zip(of, (len(full), 1, math.nan), strict=True))
            shape, sizes_of, spacing = of
            made[name] = self.work.output(name, shape, kind, sizes_of, spacing, tags)
            if name not in raw or not beside or free >= taken + beside:
                made[name].allocate()
        return made

    def put(self, out: dict[str, Raw | Chunked], start: Sequence[int], fields: Iterable[Any]) -> None:
        """Writes boxes of all `fields`."""
        lead = (0,) * self.source.lead
        for name, cells in zip(self.fields, fields, strict=True):
            box = cells.reshape((1,) * len(lead) + cells.shape)
            if name in out:
                out[name].write((*lead, *start), box)
            if name == "index" and "coordinates" in out:
                for axis in range(box.ndim):
                    along = coordinate(cells, self.source.full_shape, axis)
                    out["coordinates"].write((axis, *lead, *start), along.reshape(1, *box.shape))

    def array(self, name: str, shape: Sequence[int], dtype: Any) -> Any:
        """Returns memory for a field that compute() of `stream` returns. An earlier part has touched its pages.

        If parts are read ahead, the part before is still being written, so that two take turns.
        """
        held = self._handed.setdefault(name, [np.empty(0, np.uint8)] * (1 + self._twice))
        held.reverse()
        count = math.prod(shape) * np.dtype(dtype).itemsize
        if held[0].nbytes < count:
            held[0] = None  # given back first
            held[0] = np.empty(count, np.uint8)
        return held[0][:count].view(dtype).reshape(shape)

    def stream(
        self,
        kind: str,
        numbers: Sequence[int],
        share: tuple[float, float],
        ahead: int,
        read: Callable[[int], Any],
        compute: Callable[[int, Any], Any],
        write: Callable[[int, Any], object],
    ) -> None:
        """Runs write(k, compute(k, read(k))) for each number k that is not done, and notes each that is written.

        With `ahead` the next one is read and the one before is written while one is computed.
        """
        left = [k for k in numbers if f"{kind}:{k}" not in self.work.done]
        self._handed, self._twice = {}, bool(ahead)
        self._tell(share, len(numbers) - len(left), len(numbers))
        with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(1) as writer:
            coming = reader.submit(read, left[0]) if ahead and left else None
            going: Future[object] | None = None
            for place, k in enumerate(left):
                came = read(k) if coming is None else coming.result()
                coming = reader.submit(read, left[place + 1]) if ahead and place + 1 < len(left) else None
                made = compute(k, came)
                del came
                if going is not None:
                    self._written(kind, left[place - 1], going)
                    self._tell(share, len(numbers) - len(left) + place, len(numbers))
                going = writer.submit(write, k, made)
                del made
                if not ahead:
                    going.result()
            if going is not None:
                self._written(kind, left[-1], going)
                self._tell(share, len(numbers), len(numbers))

    def _written(self, kind: str, number: int, going: Future[object]) -> None:
        going.result()
        self.work.note(f"{kind}:{number}")

    def _tell(self, share: tuple[float, float], done: int, all_: int) -> None:
        if self.told is not None and done and self.told(share[0] + (share[1] - share[0]) * done / all_) is False:
            raise Cancelled(f"stopped by progress; {self.work.folder} has what is done")


def few_chunks_at_once(count: int) -> Any:
    """Makes Zarr hold no more chunks than `Asked.room` counts, and not compare each with the fill value."""
    try:
        import zarr
    except ImportError:
        return nullcontext()
    return zarr.config.set({"async.concurrency": count, "array.write_empty_chunks": True})
