"""Distances from file to file: seconds, peak memory, and the storage's own rate beside them.

python bench/scale.py --side 2048 --folder /dev/shm --memory 40GB --device cuda

Needs side^3 * (1 + 4 + bytes of --dtype) bytes in the folder, which is left empty.
"""

import argparse
import json
import os
import resource
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from nearfield import outofcore


def made(path, side, seed=1):
    """A cube of bytes of which a thousandth are sites."""
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (side,) * 3})
        file.flush()
        number, begin = file.fileno(), file.tell()

        def written(k):
            plane = np.ones(side * side, np.uint8)
            plane[np.random.default_rng([seed, k]).integers(0, plane.size, plane.size // 1000)] = 0
            os.pwrite(number, plane, begin + k * plane.size)

        with ThreadPoolExecutor() as pool:
            for _ in pool.map(written, range(side)):
                pass


def storage_seconds(folder, source, read, written):
    """Seconds that the storage takes by itself to read and write so many bytes, by a part of each."""
    part = min(4 << 30, source.stat().st_size)
    block = bytearray(16 << 20)
    begin = time.perf_counter()
    with open(source, "rb", buffering=0) as file:
        while file.tell() < part and file.readinto(block):
            pass
    to_read = time.perf_counter() - begin
    with open(folder / "rate", "wb", buffering=0) as file:
        begin = time.perf_counter()
        for _ in range(part // len(block)):
            file.write(block)
        os.fsync(file.fileno())
        to_write = time.perf_counter() - begin
    os.unlink(folder / "rate")
    return read * to_read / part + written * to_write / part


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--side", type=int, default=512)
    words.add_argument("--folder", type=Path, default=Path())
    words.add_argument("--memory", default="1GB")
    words.add_argument("--device")
    words.add_argument("--suffix", default=".npy", help="of the answer's file, such as .zarr")
    words.add_argument("--dtype", default="float32")
    words.add_argument("--signed", action="store_true")
    words.add_argument("--multilabel", action="store_true")
    words.add_argument("--check", type=int, default=0, help="planes that are compared with a window in memory")
    given = words.parse_args()
    folder = Path(tempfile.mkdtemp(dir=given.folder))
    try:
        source, target = folder / "mask.npy", folder / f"away{given.suffix}"
        made(source, given.side)
        os.sync()
        before, begin = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        how = dict(signed=given.signed, multilabel=given.multilabel, dtype=given.dtype)
        outofcore.distance_transform(source, target, memory=given.memory, device=given.device, **how)
        os.sync()
        seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF)
        cells, item = given.side**3, np.dtype(given.dtype).itemsize
        peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
        said = {
            "side": given.side,
            "memory": given.memory,
            "device": given.device,
            "seconds": round(seconds, 1),
            "processor_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
            "peak_GB": round(int(peak) * 1024 / 1e9, 2),
            "storage_alone_seconds": round(storage_seconds(folder, source, 5 * cells, (4 + item) * cells), 1),
        }
        if given.check:
            said["planes_that_differ"] = compared(source, target, given.check, how)
        print(json.dumps(said))
    finally:
        shutil.rmtree(folder)


def compared(source, target, count, how):
    """Planes in the middle, against a window of the mask that holds every nearest site."""
    import nearfield
    from nearfield._chunk_files import Source

    mask = np.load(source, mmap_mode="r")
    first = len(mask) // 2
    planes = Source(target).planes(first, first + count)
    halo = int(np.ceil(np.abs(planes).max())) + 1
    low = max(first - halo, 0)
    window = nearfield.distance_transform(np.array(mask[low : first + count + halo]), **how)
    return int((planes != window[first - low : first - low + count]).any(axis=(1, 2)).sum())


if __name__ == "__main__":
    main()
