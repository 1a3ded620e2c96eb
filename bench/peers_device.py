"""Times CuPy and NPP on the data of `bench_all exact`; image and answer stay on the device.

What is absent is named and left out.
"""

import ctypes
import ctypes.util
import glob
import importlib.util
import statistics

from peers_common import Results, arguments, shapes_of

# mix() of bench.hpp, one cell a thread.
MIX = """
unsigned long long x = (unsigned long long)i + 0x9e3779b97f4a7c15ULL;
x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
image = ((x ^ (x >> 31)) >> 32) >= limit;
"""


def timed(cp, work, runs):
    """Median milliseconds between CUDA events, after two warm-ups."""
    work(), work()
    times = []
    for _ in range(runs):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end))
    return statistics.median(times)


class Size(ctypes.Structure):
    """NppiSize."""

    _fields_ = (("width", ctypes.c_int), ("height", ctypes.c_int))


class Context(ctypes.Structure):
    """NppStreamContext of nppdefs.h."""

    _fields_ = (
        ("stream", ctypes.c_void_p),
        ("device", ctypes.c_int),
        ("multiprocessors", ctypes.c_int),
        ("threads_per_multiprocessor", ctypes.c_int),
        ("threads_per_block", ctypes.c_int),
        ("shared_per_block", ctypes.c_size_t),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("reserved", ctypes.c_int),
    )


class Npp:
    """nppiDistanceTransformPBA_8u32f_C1R_Ctx through ctypes."""

    @staticmethod
    def library():
        names = [ctypes.util.find_library("nppif"), *glob.glob("/usr/local/cuda*/**/libnppif.so*", recursive=True)]
        for name in filter(None, names):
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
        return None

    def __init__(self, cp, library):
        self._cp, self._library = cp, library
        device = cp.cuda.Device().id
        properties = cp.cuda.runtime.getDeviceProperties(device)
        limits = [
            properties[name]
            for name in (
                "multiProcessorCount",
                "maxThreadsPerMultiProcessor",
                "maxThreadsPerBlock",
                "sharedMemPerBlock",
                "major",
                "minor",
            )
        ]
        self.context = Context(0, device, *limits, 0, 0)

    def prepare(self, image):
        """A function that runs the transform, or None where NPP refuses the size."""
        height, width = image.shape
        size, bytes_needed = Size(width, height), ctypes.c_size_t()
        if self._library.nppiDistanceTransformPBAGetBufferSize(size, ctypes.byref(bytes_needed)) != 0:
            return None
        scratch = self._cp.empty(bytes_needed.value, self._cp.uint8)
        out = self._cp.empty(image.shape, self._cp.float32)
        zero, nothing = ctypes.c_ubyte(0), (None, 0)

        def run():
            status = self._library.nppiDistanceTransformPBA_8u32f_C1R_Ctx(
                *(ctypes.c_void_p(image.data.ptr), width, zero, zero),
                *(nothing + nothing + nothing),
                *(ctypes.c_void_p(out.data.ptr), 4 * width, size),
                *(ctypes.c_void_p(scratch.data.ptr), self.context),
            )
            if status != 0:
                raise RuntimeError(f"NPP status {status}")

        return run


def works_of(cp, library, image):
    """(engine, field): function that computes it."""
    from cupyx.scipy.ndimage import distance_transform_edt

    name = f"CuPy {cp.__version__}"
    works = {
        (name, "distance"): lambda: distance_transform_edt(image, float64_distances=False),
        (name, "index"): lambda: distance_transform_edt(image, return_distances=False, return_indices=True),
    }
    npp = Npp(cp, library).prepare(image) if library is not None and image.ndim == 2 else None
    if npp is not None:
        works["NPP", "distance"] = npp
    return works


def main():
    options = arguments("device", __doc__).parse_args()
    if importlib.util.find_spec("cupy") is None:
        raise SystemExit("peers_device: CuPy is not installed, no device peers are timed")
    import cupy as cp

    library = Npp.library()
    if library is None:
        print("peers_device: libnppif was not found, NPP's rows are left out")
    fill = cp.ElementwiseKernel("uint64 limit", "uint8 image", MIX, "random_sites")
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    cuda = cp.cuda.runtime.runtimeGetVersion()
    results = Results("device", name, f"CUDA {cuda // 1000}.{cuda % 1000 // 10}")
    for shape in shapes_of(options):
        for density in options.densities:
            image = cp.empty(shape, cp.uint8)
            fill(int(density * 2**32), image)
            runs = 5 if image.size > 100_000_000 else 11
            for (engine, field), work in works_of(cp, library, image).items():
                try:
                    results.add(engine, "random", shape, density, field, 0, timed(cp, work, runs), runs)
                except Exception as problem:  # one engine's failure must not hide the others
                    print(f"peers_device: {engine} on {shape}: {problem}")
            cp.get_default_memory_pool().free_all_blocks()
    results.write(options.json)


if __name__ == "__main__":
    main()
