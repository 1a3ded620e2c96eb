"""The exact engine through tests/python/abi.cpp, on NumPy arrays."""

import ctypes

import numpy as np

DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()


class Engine:
    def __init__(self, library):
        self._call = ctypes.CDLL(library).nearfield_test_transform

    def transform(
        self,
        image,
        spacing=(),
        want=("squared", "distance", "index", "coordinates"),
        *,
        squared=np.float64,
        distance=np.float64,
        nonzero=False,
        threads=2,
    ):
        """A dict of the wanted fields of `image`, which may have any strides."""
        shape = image.shape
        fields = {
            "distance": np.full(shape, -5, distance),
            "squared": np.full(shape, 5, squared),
            "index": np.full(shape, -5, np.int64),
            "coordinates": np.full((image.ndim, *shape), -5, np.int32),
        }
        fields = {name: field for name, field in fields.items() if name in want}
        spacing = np.atleast_1d(np.asarray(spacing, float))
        message = ctypes.create_string_buffer(1000)

        def pointer(name):
            return ctypes.c_void_p(fields[name].ctypes.data) if name in fields else None

        failed = self._call(
            ctypes.c_void_p(image.ctypes.data),
            DTYPES.index(image.dtype.name),
            image.ndim,
            (ctypes.c_int64 * image.ndim)(*shape),
            (ctypes.c_int64 * image.ndim)(*(s // image.itemsize for s in image.strides)),
            spacing.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
            spacing.size,
            int(nonzero),
            threads,
            pointer("distance"),
            DTYPES.index(np.dtype(distance).name),
            pointer("squared"),
            DTYPES.index(np.dtype(squared).name),
            pointer("index"),
            pointer("coordinates"),
            message,
            ctypes.c_size_t(len(message)),
        )
        if failed:
            raise ValueError(message.value.decode())
        return fields
