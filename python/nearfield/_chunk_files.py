"""Arrays in files, read in slabs of planes and written in boxes; none is mapped, because mapped pages count as memory.

Raw cells, as NPY, NRRD without compression and BigTIFF have them, are read and written where they lie in the file; Zarr
and any other array in chunks goes through its own library.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nearfield._chunk_geotiff import Place, place_of
from nearfield._chunk_nrrd import nrrd_header, read_nrrd_header
from nearfield._chunk_threads import in_parallel
from nearfield._chunk_zarr import Chunked, zarr

_AT_ONCE = 1 << 24  # bytes that one thread reads at a time
SUFFIXES = ".zarr .npy .nrrd .nhdr .tif .tiff"


class Raw:
    """Cells in C order in a file, from byte `offset` on."""

    def __init__(self, path: Path, offset: int, dtype: Any, shape: Sequence[int]) -> None:
        self.path, self.offset, self.dtype, self.shape = path, offset, np.dtype(dtype), tuple(shape)

    @property
    def bytes(self) -> int:
        return int(math.prod(self.shape) * self.dtype.itemsize)

    def read(self, first: int, stop: int) -> Any:
        made = np.empty((stop - first, *self.shape[1:]), self.dtype)
        plane = math.prod(self.shape[1:]) * self.dtype.itemsize
        cells = made.reshape(-1)
        step = max(1, _AT_ONCE // self.dtype.itemsize)
        with open(self.path, "rb") as file:
            number, offset = file.fileno(), self.offset + first * plane

            def part(k: int) -> None:
                read_into(number, cells[k : k + step], offset + k * cells.itemsize)

            in_parallel(part, range(0, cells.size, step))
        return self._native(made)

    def _native(self, made: Any) -> Any:
        return made if self.dtype.isnative else made.byteswap(inplace=True).view(self.dtype.newbyteorder("="))

    def read_box(self, start: Sequence[int], size: Sequence[int]) -> Any:
        made = np.empty(size, self.dtype)
        with open(self.path, "rb") as file:
            for at, offset in self._pieces(start, size):
                read_into(file.fileno(), made[at], offset)
        return self._native(made)

    def write(self, start: Sequence[int], box: Any) -> None:
        box = np.ascontiguousarray(box, self.dtype)
        with open(self.path, "r+b") as file:
            for at, offset in self._pieces(start, box.shape):
                write_all(file.fileno(), box[at], offset)

    def _pieces(self, start: Sequence[int], size: Sequence[int]) -> Iterator[tuple[Any, int]]:
        """Parts of a box whose cells lie in one piece of the file, and where."""
        whole = len(self.shape)  # axes from here on are whole
        while whole > 1 and size[whole - 1] == self.shape[whole - 1]:
            whole -= 1
        for at in np.ndindex(*size[: whole - 1]):
            place = [s + k for s, k in zip(start, at)] + list(start[whole - 1 :])
            cell = int(np.ravel_multi_index(place, self.shape)) if math.prod(size) else 0
            yield at, self.offset + cell * self.dtype.itemsize

    def allocate(self) -> None:
        """Reserves the space of all cells."""
        with open(self.path, "r+b") as file:
            if self.bytes:
                os.posix_fallocate(file.fileno(), self.offset, self.bytes)


def read_into(file: int, array: Any, offset: int) -> None:
    memory: Any = memoryview(array.reshape(-1).view(np.uint8))
    while memory:
        count = os.preadv(file, [memory], offset)
        if count == 0:
            raise OSError(f"the file of {array.nbytes} bytes at {offset} ends too early")
        memory, offset = memory[count:], offset + count


def write_all(file: int, array: Any, offset: int) -> int:
    """Writes an array at `offset`, and returns where it ends."""
    memory: Any = memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))  # type: ignore[arg-type]
    while memory:
        count = os.pwrite(file, memory, offset)
        memory, offset = memory[count:], offset + count
    return offset


class Source:
    """What is read: its grid without leading axes of length 1, which OME-Zarr has for time and channels."""

    def __init__(self, given: Any) -> None:
        self.spacing: tuple[float, ...] | None = None
        self.place = Place()
        self.token: list[Any] = []
        path = Path(given) if isinstance(given, str | os.PathLike) else None
        self.path = path
        self._cells: Raw | Chunked = self._opened(path) if path else _array_given(given)
        shape = self._cells.shape
        self.lead = next((k for k, n in enumerate(shape) if n != 1), max(len(shape) - 1, 0))
        if not 1 <= len(shape) <= 8 or self._cells.dtype.kind not in "biuf":
            raise TypeError(f"source has {len(shape)} axes of {self._cells.dtype}; give 1 to 8 of real numbers")
        self.shape, self.full_shape, self.dtype = shape[self.lead :], shape, self._cells.dtype.newbyteorder("=")
        sizes = self._cells.chunks if isinstance(self._cells, Chunked) else None
        self.chunks = sizes[self.lead :] if sizes else None
        self.token += [list(shape), str(self._cells.dtype)]
        self._held: tuple[int, Any] | None = None
        self.holds = False  #: whole rows of chunks are kept between reads of fewer planes

    def _opened(self, path: Path) -> Raw | Chunked:
        if not path.exists():
            raise FileNotFoundError(f"source {path} does not exist")
        known = path / "zarr.json" if path.is_dir() else path
        known = path / ".zarray" if path.is_dir() and not known.exists() else known
        status = (known if known.exists() else path).stat()
        self.token = [str(path.resolve()), status.st_size, status.st_mtime_ns]
        if path.is_dir() or ".zarr" in path.suffixes:
            return self._opened_zarr(path)
        if path.suffix == ".npy":
            return _opened_npy(path)
        if path.suffix in (".nrrd", ".nhdr"):
            file, offset, dtype, shape, self.spacing = read_nrrd_header(path)
            return Raw(file, offset, dtype, shape)
        if path.suffix in (".tif", ".tiff"):
            cells, self.place, axes = _opened_tiff(path)
            self.spacing = self.place.spacing(axes)
            return cells
        raise ValueError(f"source {path} has a suffix that is none of {SUFFIXES}")

    def _opened_zarr(self, path: Path) -> Chunked:
        node: Any = zarr().open(str(path), mode="r")
        if hasattr(node, "shape"):
            return Chunked(node)
        scales = node.attrs.get("ome", node.attrs).get("multiscales")
        if not scales:
            raise ValueError(f"source {path} is a group of Zarr; give the path of one of its arrays")
        finest = scales[0]["datasets"][0]
        for change in finest.get("coordinateTransformations", []):
            if change.get("type") == "scale":
                self.spacing = tuple(float(s) for s in change["scale"])
        return Chunked(node[finest["path"]])

    def told(self) -> str:
        """Which lengths are taken of the file, in a line; empty where it says nothing."""
        if self.spacing is not None:
            lengths = " x ".join(f"{s:g}" for s in self.spacing)
            return f"spacing {lengths} {self.place.unit}".rstrip() + f", of {self.path}"
        unit = self.place.unit
        return f"spacing 1, because {self.path} is {unit}" if unit else ""

    def planes(self, first: int, stop: int) -> Any:
        """Cells of planes [first, stop), as an array of their own; beyond the last plane lies the first one."""
        count = self.shape[0]
        if first >= 0 and stop <= count:
            return self._planes(first, stop)
        parts = []
        while first < stop:
            begin = first % count
            parts.append(self._planes(begin, min(begin + stop - first, count)))
            first += len(parts[-1])
        return np.concatenate(parts)

    def box(self, place: Sequence[slice]) -> Any:
        """Cells of a box."""
        start, size = [s.start or 0 for s in place], [(s.stop or n) - (s.start or 0) for s, n in zip(place, self.shape)]
        cells = self._cells
        if isinstance(cells, Raw):
            return Raw(cells.path, cells.offset, cells.dtype, self.shape).read_box(start, size)
        return np.asarray(cells.array[(0,) * self.lead + tuple(place)], self.dtype)

    def _planes(self, first: int, stop: int) -> Any:
        rows = self.chunks[0] if self.chunks else 0
        if not self.holds or stop - first >= rows:
            return self._read(first, stop)
        parts = [self._row(k)[max(first - k, 0) : stop - k] for k in range(first // rows * rows, stop, rows)]
        return np.concatenate(parts)

    def _row(self, first: int) -> Any:
        if self._held is None or self._held[0] != first:
            self._held = None
            assert self.chunks
            self._held = first, self._read(first, min(first + self.chunks[0], self.shape[0]))
        return self._held[1]

    def _read(self, first: int, stop: int) -> Any:
        if self.lead == 0:
            return self._cells.read(first, stop)
        if isinstance(self._cells, Raw):
            raw = self._cells
            return Raw(raw.path, raw.offset, raw.dtype, self.shape).read(first, stop)
        return np.ascontiguousarray(self._cells.array[(0,) * self.lead + (slice(first, stop),)], self.dtype)


class Part:
    """Which cells take part: those whose value is not `none` in a source."""

    def __init__(self, source: Source, none: float = 0) -> None:
        self.source, self.none = source, none

    @classmethod
    def given(cls, where: Any, source: Source) -> Part:
        if isinstance(where, str) and where == "nodata":
            if source.path is None or source.place.none is None:
                raise ValueError("where is 'nodata', and the source names no value of cells without data; give a mask")
            return cls(Source(source.path), source.place.none)
        try:
            mask = Source(where)
        except (FileNotFoundError, TypeError, ValueError) as problem:
            raise type(problem)(str(problem).replace("source", "where", 1)) from None
        if mask.dtype not in ("bool", "uint8"):
            raise ValueError(f"where has element type {mask.dtype}; give bool or uint8")
        if mask.full_shape != source.full_shape:
            raise ValueError(f"where has shape {mask.full_shape} and the source {source.full_shape}; give the same")
        return cls(mask)

    def planes(self, first: int, stop: int) -> Any:
        return self._of(self.source.planes(first, stop))

    def box(self, place: Sequence[slice]) -> Any:
        return self._of(self.source.box(place))

    def _of(self, cells: Any) -> Any:
        with np.errstate(over="ignore"):  # of a value beyond those of the cells
            return ~np.isnan(cells) if math.isnan(self.none) else cells != self.none


def _array_given(given: Any) -> Chunked:
    if not all(hasattr(given, name) for name in ("shape", "dtype", "__getitem__")):
        raise TypeError(f"source is of type {type(given).__name__}; give a path, or an array that slices give parts of")
    return Chunked(given)


def _opened_npy(path: Path) -> Raw:
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
        if fortran and len(shape) > 1:
            raise ValueError(f"source {path} is in Fortran order; save numpy.ascontiguousarray of it")
        return Raw(path, file.tell(), dtype, shape)


def _opened_tiff(path: Path) -> tuple[Raw | Chunked, Place, str]:
    """Cells, their place, and tifffile's letters of their axes."""
    try:
        import tifffile
    except ImportError:
        raise ImportError("files of TIFF need the package tifffile: pip install tifffile") from None
    with tifffile.TiffFile(path) as file:
        series = file.series[0]
        about = place_of(series.keyframe), series.axes
        if series.dataoffset is None:  # compressed, or in tiles
            stored = zarr().open_array(tifffile.imread(path, aszarr=True, series=0, level=0), mode="r")
            return Chunked(stored), *about
        return Raw(path, series.dataoffset, np.dtype(file.byteorder + series.dtype.char), series.shape), *about


# ---- targets -------------------------------------------------------------------------------------------------------


def create(
    path: Path, shape: Sequence[int], dtype: Any, chunks: Sequence[int] | None, spacing: Any, tags: Sequence[Any] = ()
) -> Raw | Chunked:
    """A new file of cells that are not written yet, by its suffix; `tags` are for TIFF."""
    dtype = np.dtype(dtype)
    if path.suffix == ".zarr":
        sizes = tuple(min(c, max(n, 1)) for c, n in zip(chunks or chunks_for(shape), shape, strict=True))
        inside = {"name": "0"} if of_ome(path) else {}
        if inside:
            zarr().create_group(str(path), overwrite=True, attributes=_ome(path.name, len(shape), spacing))
        how: dict[str, Any] = dict(shape=tuple(shape), chunks=sizes, dtype=dtype, overwrite=True, **inside)
        return Chunked(zarr().create_array(str(path), **how))
    if path.suffix == ".npy":
        with open(path, "wb") as file:
            described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": tuple(shape)}
            np.lib.format.write_array_header_1_0(file, described)
            made = Raw(path, file.tell(), dtype, shape)
    elif path.suffix == ".nrrd":
        header = nrrd_header(dtype, shape, spacing)
        path.write_bytes(header)
        made = Raw(path, len(header), dtype, shape)
    else:
        import tifffile

        how = dict(bigtiff=True, photometric="minisblack", extratags=tags)
        mapped = tifffile.memmap(path, shape=tuple(shape), dtype=dtype, **how)
        made = Raw(path, int(mapped.offset), mapped.dtype, shape)
    return made


def of_ome(path: Path) -> bool:
    """True for files whose names end in .ome.zarr, also while they are written."""
    return path.name.replace(".part.", ".").endswith(".ome.zarr")


def _ome(name: str, axes: int, spacing: Any) -> dict[str, Any]:
    """Attributes of a group of OME-Zarr that has one level."""
    types = {"t": "time", "c": "channel"}
    scale = [1.0 if math.isnan(s) else float(s) for s in spacing or (1.0,) * axes]
    level = {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": scale}]}
    named = [{"name": letter, "type": types.get(letter, "space")} for letter in "tczyx"[5 - axes :]]
    return {"ome": {"version": "0.5", "multiscales": [{"name": name, "axes": named, "datasets": [level]}]}}


def reopen(path: Path) -> Raw | Chunked:
    """A file of `create`, of which parts are written."""
    if path.suffix == ".zarr":
        return Chunked(zarr().open_array(str(path / "0" if of_ome(path) else path), mode="r+"))
    if path.suffix == ".nrrd":
        return Raw(*read_nrrd_header(path)[:4])
    return _opened_npy(path) if path.suffix == ".npy" else _opened_tiff(path)[0]


def check_target(name: str, path: Path, dtype: Any, axes: int) -> None:
    """Throws before any work for a file that cannot be made."""
    if path.suffix not in (".zarr", ".npy", ".nrrd", ".tif", ".tiff"):
        raise ValueError(f"{name} is {path}; give a path that ends in .zarr, .npy, .nrrd or .tif")
    if of_ome(path) and not 2 <= axes <= 5:
        raise ValueError(f"{name} is {path}, and OME-Zarr has 2 to 5 axes, not {axes}; give a name without .ome")
    if path.suffix.startswith(".tif") and np.dtype(dtype).itemsize == 8 and np.dtype(dtype).kind in "iu":
        raise ValueError(f"{name} is {path}, and TIFF of {dtype} is read by few; give .zarr or .npy")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{name} is {path}, whose folder does not exist; make it first")
    if path.is_dir() and not any((path / known).exists() for known in ("zarr.json", ".zarray", ".zgroup")):
        raise ValueError(f"{name} is the folder {path}, which is no array of Zarr; give another name")


def chunks_for(shape: Sequence[int]) -> tuple[int, ...]:
    """About a million cells, as cubes."""
    axes = sum(n > 1 for n in shape) or 1
    return tuple(min(n, round(2 ** (20 / axes))) or 1 for n in shape)


def boxes(shape: Sequence[int], size: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """Boxes of at most `size` that together are all of `shape`, in C order."""
    numbers = [range(0, n, s) for n, s in zip(shape, size, strict=True)]
    for at in np.ndindex(*map(len, numbers)):
        starts = [r[k] for r, k in zip(numbers, at, strict=True)]
        yield tuple(slice(b, min(b + s, n)) for b, s, n in zip(starts, size, shape, strict=True))
