"""What the drivers of chunks use of CuPy, in memory of the host: code that runs here mixes no arrays of NumPy in.

The library takes these arrays for CuPy's on device -1, which is the CPU. Copies to the host are done when their stream
is waited for, not before.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from unittest import mock

import numpy as np


def taken(x, made=False):
    """Arrays of this module as NumPy's; those of NumPy itself are refused, as CuPy does."""
    if isinstance(x, ndarray):
        return x.own
    if isinstance(x, list | tuple):
        return type(x)(taken(each, made) for each in x)
    if isinstance(x, np.ndarray) and x.ndim > 0 and not made:
        raise TypeError("an array of NumPy among CuPy's")
    return x


def given(x):
    if isinstance(x, np.ndarray | np.generic):
        return ndarray(np.asarray(x))
    return type(x)(map(given, x)) if isinstance(x, list | tuple) else x


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    def __init__(self, own):
        self.own = own

    def __array__(self, *_, **__):
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **more):
        results = {"out": taken(out)} if out else {}
        return given(getattr(ufunc, method)(*taken(inputs), **results, **more))

    def __array_function__(self, function, types, arguments, more):
        return given(function(*taken(arguments), **{k: taken(v) for k, v in more.items()}))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.own, name)
        return (lambda *a, **k: given(found(*taken(a), **k))) if callable(found) else given(found)

    @property
    def data(self):
        return SimpleNamespace(ptr=self.own.ctypes.data)

    def get(self):
        return self.own.copy()

    def __getitem__(self, key):
        return given(self.own[taken(key)])

    def __setitem__(self, key, value):
        self.own[taken(key)] = taken(value)

    def __len__(self):
        return len(self.own)

    def __bool__(self):
        return bool(self.own)


class Device:
    mem_info = (1 << 40, 1 << 40)

    def __init__(self, number=-1):
        self.id = number

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


ndarray.device = Device()
ndarray.__dlpack__ = None  # by which an array is known for one


def broadcast_to(x, shape):
    """Found by the module of an array's type."""
    return given(np.broadcast_to(x.own, shape))


class Stream(Device):
    def __init__(self, non_blocking):
        assert non_blocking
        self.waiting = []
        self.ptr = id(self)
        Streams[self.ptr] = self

    def synchronize(self):
        for work in self.waiting:
            work()
        self.waiting.clear()


Streams: dict[int, Stream] = {}


def copy(to, source, count, kind, stream):
    if kind == 1:
        ctypes.memmove(to, source, count)
    else:
        kept = ctypes.string_at(source, count)  # its present contents
        Streams[stream].waiting.append(lambda: ctypes.memmove(to, kept, count))


MADE = ("array", "asarray", "ascontiguousarray")
USED = """
    arange broadcast_to concatenate copyto empty empty_like full logical_not maximum minimum sqrt stack unravel_index
    where zeros
"""


@contextmanager
def stand_in():
    """`import cupy` gives what is here."""
    cupy = ModuleType("cupy")
    cupy.ndarray = ndarray
    for name in (*MADE, *USED.split()):

        def call(*arguments, name=name, **more):
            made = name in MADE
            return given(getattr(np, name)(*taken(arguments, made), **{k: taken(v) for k, v in more.items()}))

        setattr(cupy, name, call)
    cupy.cuda = SimpleNamespace(
        Device=Device,
        Stream=Stream,
        alloc_pinned_memory=bytearray,
        get_current_stream=lambda: SimpleNamespace(ptr=0),
        runtime=SimpleNamespace(getDeviceCount=lambda: 1, memcpyAsync=copy),
    )
    assert "cupy" not in sys.modules
    sys.modules["cupy"] = cupy  # alone: mock.patch.dict would also take away what is imported meanwhile
    try:
        with (
            mock.patch("nearfield._chunk_device.devices", lambda: (0,)),
            mock.patch("nearfield._chunk_device._MOST", 40),
        ):
            yield cupy
    finally:
        del sys.modules["cupy"]
