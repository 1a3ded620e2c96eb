"""The exact engine through tests/python/abi.cpp, on NumPy arrays."""

import ctypes

import numpy as np

DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()


SITES = "zero nonzero other_labels".split()
SIGNS = "none inside_negative outside_negative".split()
BORDERS = "open closed periodic".split()
FIELDS = "distance squared index coordinates label trusted".split()


class Options(ctypes.Structure):
    _fields_ = [
        ("spacing", ctypes.c_double * 8),
        ("max_distance", ctypes.c_double),
        ("spacing_count", ctypes.c_int32),
        ("border_count", ctypes.c_int32),
        ("border", ctypes.c_int32 * 8),
        *((name, ctypes.c_int32) for name in "sites sign half_cell batch_axes threads".split()),
    ]


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int64)]

    @classmethod
    def of(cls, array):
        return cls(None, 0) if array is None else cls(array.ctypes.data, DTYPES.index(array.dtype.name))


class Engine:
    def __init__(self, library):
        self._call = ctypes.CDLL(library).nearfield_test_transform
        self._call_with_options = ctypes.CDLL(library).nearfield_test_call

    def call(
        self,
        image,
        want=("squared", "distance", "index", "coordinates", "label", "trusted"),
        *,
        spacing=(),
        sites="zero",
        sign="none",
        half_cell=False,
        border=(),
        max_distance=float("inf"),
        batch_axes=0,
        weights=None,
        squared=np.float64,
        distance=np.float64,
        threads=2,
    ):
        """A dict of the wanted fields of `image` with every option; with weights, of the power diagram."""
        types = dict(zip(FIELDS, (distance, squared, np.int64, np.int32, image.dtype, np.uint8)))
        fields = {name: np.full(image.shape, 5, types[name]) for name in want if name != "coordinates"}
        if "coordinates" in want:
            fields["coordinates"] = np.full((image.ndim - batch_axes, *image.shape), -5, np.int32)
        spacing = np.atleast_1d(np.asarray(() if spacing is None else spacing, float))
        border = [border] if isinstance(border, str) else list(border)
        options = Options(
            spacing=(ctypes.c_double * 8)(*spacing),
            max_distance=max_distance,
            spacing_count=spacing.size,
            border_count=len(border),
            border=(ctypes.c_int32 * 8)(*(BORDERS.index(b) for b in border)),
            sites=SITES.index(sites),
            sign=SIGNS.index(sign),
            half_cell=half_cell,
            batch_axes=batch_axes,
            threads=threads,
        )
        message = ctypes.create_string_buffer(1000)
        if weights is not None:
            weights = np.ascontiguousarray(weights)
        failed = self._call_with_options(
            ctypes.c_void_p(image.ctypes.data),
            DTYPES.index(image.dtype.name),
            image.ndim,
            (ctypes.c_int64 * image.ndim)(*image.shape),
            (ctypes.c_int64 * image.ndim)(*(s // image.itemsize for s in image.strides)),
            ctypes.byref(options),
            ctypes.byref(Array.of(weights)),
            (Array * len(FIELDS))(*(Array.of(fields.get(name)) for name in FIELDS)),
            message,
            ctypes.c_size_t(len(message)),
        )
        if failed:
            raise ValueError(message.value.decode())
        return fields

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
