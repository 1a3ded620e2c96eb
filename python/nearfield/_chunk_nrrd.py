"""Headers of NRRD whose cells are raw, so that they can be read where they lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_TYPES = {
    "int8": "int8 signed_char int8_t",
    "uint8": "uint8 uchar unsigned_char uint8_t",
    "int16": "int16 short short_int signed_short int16_t",
    "uint16": "uint16 ushort unsigned_short uint16_t",
    "int32": "int32 int signed_int int32_t",
    "uint32": "uint32 uint unsigned_int uint32_t",
    "int64": "int64 longlong long_long long_long_int int64_t",
    "uint64": "uint64 ulonglong unsigned_long_long uint64_t",
    "float32": "float",
    "float64": "double",
}
_NAMES = {name: kind for kind, names in _TYPES.items() for name in names.split()}


def read_nrrd_header(path: Path) -> tuple[Path, int, Any, tuple[int, ...], tuple[float, ...] | None]:
    """The file that has the cells, from where on, their type, shape in array order, and spacing."""
    fields: dict[str, str] = {}
    with open(path, "rb") as file:
        if not file.readline().startswith(b"NRRD"):
            raise ValueError(f"source {path} is no file of NRRD")
        while line := file.readline().decode("latin-1").rstrip("\r\n"):
            name, colon, value = line.partition(": ")
            if colon and not line.startswith("#"):
                fields[name.strip().lower()] = value.strip()
        offset = file.tell()
    if fields.get("encoding") != "raw":
        raise ValueError(f"source {path} is compressed; convert it to Zarr, or to NRRD of raw cells")
    kind = _NAMES.get(fields.get("type", "").replace(" ", "_"))
    if kind is None:
        raise ValueError(f"source {path} has cells of type {fields.get('type')}, which are no numbers")
    other = fields.get("data file", fields.get("datafile"))
    if other and (Path(other).is_absolute() or ".." in Path(other).parts or " " in other or other == "LIST"):
        raise ValueError(f"source {path} names the data file {other}; give one file in the same folder")
    skip = int(fields.get("byte skip", fields.get("byteskip", "0")))
    if skip < 0 or int(fields.get("line skip", fields.get("lineskip", "0"))) != 0:
        raise ValueError(f"source {path} skips lines, or bytes from the end; save it anew")
    dtype = np.dtype(kind).newbyteorder(">" if fields.get("endian") == "big" else "<")
    shape = tuple(int(n) for n in reversed(fields["sizes"].split()))
    return path.parent / other if other else path, skip + (0 if other else offset), dtype, shape, _spacing(fields)


def _spacing(fields: dict[str, str]) -> tuple[float, ...] | None:
    """None where an axis has none."""
    if "spacings" in fields:
        lengths = [float(s) for s in fields["spacings"].split()]
    else:
        vectors = fields.get("space directions", "none").replace("none", "(nan)").strip("() ").split(")")
        lengths = [math.hypot(*map(float, v.strip(" (").split(","))) for v in vectors]
    return tuple(reversed(lengths)) if all(length > 0 for length in lengths) else None


def nrrd_header(dtype: Any, shape: Sequence[int], spacing: Sequence[float] | None) -> bytes:
    names = {"float32": "float", "float64": "double", "bool": "uint8"}
    lines = [
        "NRRD0004",
        f"type: {names.get(dtype.name, dtype.name)}",
        f"dimension: {len(shape)}",
        f"sizes: {' '.join(str(n) for n in reversed(shape))}",
        "encoding: raw",
        "endian: little",
    ]
    if spacing is not None:
        lines.append(f"spacings: {' '.join(repr(float(s)) for s in reversed(spacing))}")
    return ("\n".join(lines) + "\n\n").encode()
