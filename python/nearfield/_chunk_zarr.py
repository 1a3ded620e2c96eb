"""Arrays in chunks, read in slabs of planes and written in boxes: Zarr, and any other that slices give parts of."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nearfield._chunk_threads import in_parallel


def zarr() -> Any:
    try:
        import zarr as library
    except ImportError:
        raise ImportError("files of Zarr need the package zarr: pip install zarr") from None
    return library


class Chunked:
    """An array of Zarr, or of anything else that gives slabs by slices."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape, self.dtype = tuple(int(n) for n in array.shape), np.dtype(array.dtype)
        sizes = getattr(array, "chunks", None)
        self.chunks = tuple(sizes) if sizes and all(isinstance(n, int) for n in sizes) else None

    def read(self, first: int, stop: int) -> Any:
        if not self._by_chunks:
            made = np.ascontiguousarray(self.array[first:stop])
            return made if made.dtype.isnative else made.astype(made.dtype.newbyteorder("="))
        made = np.empty((stop - first, *self.shape[1:]), self.dtype.newbyteorder("="))
        start = (first, *(0,) * (made.ndim - 1))

        def part(place: Any, at: Any) -> None:
            made[at] = self.array[place]

        self._each_chunk(start, made.shape, part)
        return made

    def write(self, start: Sequence[int], box: Any) -> None:
        if not self._by_chunks:
            self.array[tuple(slice(s, s + n) for s, n in zip(start, box.shape, strict=True))] = box
            return

        def part(place: Any, at: Any) -> None:
            self.array[place] = np.ascontiguousarray(box[at])

        self._each_chunk(start, box.shape, part)

    @property
    def _by_chunks(self) -> bool:
        """True for Zarr, which copies the cells of all chunks by one thread."""
        return self.chunks is not None and type(self.array).__module__.partition(".")[0] == "zarr"

    def _each_chunk(self, start: Sequence[int], size: Sequence[int], function: Callable[[Any, Any], object]) -> None:
        """Runs function(place in the array, place in the box) for the part of a box in each chunk, by threads."""
        assert self.chunks is not None
        ends = [
            sorted({s, s + n, *range(s - s % c + c, s + n, c)})
            for s, n, c in zip(start, size, self.chunks, strict=True)
        ]
        parts = list(itertools.product(*([slice(a, b) for a, b in itertools.pairwise(each)] for each in ends)))

        def of_chunk(k: int) -> None:
            inside = zip(parts[k], start, strict=True)
            function(parts[k], tuple(slice(p.start - s, p.stop - s) for p, s in inside))

        in_parallel(of_chunk, range(len(parts)), zarr().config.get("async.concurrency"))

    def allocate(self) -> None:
        """What chunks take once they are compressed is not known."""
