"""Opens the library with kernels where there is an NVIDIA driver, before the extension module asks for its library.

A package for GPUs carries two libraries with the name that the module and the command line link. The loader takes the
one that is open already. Without a driver that is none, and the loader finds the library that has the same code for the
CPU and no kernels. ``NEARFIELD_KERNELS=1`` opens the kernels without a driver, for plans of calls on a GPU.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

LIBRARY = Path(__file__).parent / "lib" / "libnearfield_cuda.so"
DRIVER = "libcuda.so.1"


def has_driver() -> bool:
    try:
        ctypes.CDLL(DRIVER)
    except OSError:
        return False
    return True


def open_library() -> bool:
    """Opens the library with kernels if the package has it and the machine a driver; returns whether it is open."""
    if not LIBRARY.is_file() or not (os.environ.get("NEARFIELD_KERNELS") or has_driver()):
        return False
    ctypes.CDLL(str(LIBRARY))
    return True


def environment(with_kernels: bool) -> dict[str, str]:
    """The environment in which the command line takes the same library: the loader finds a bare name in ``lib``."""
    if not with_kernels:
        return dict(os.environ)
    return {**os.environ, "LD_PRELOAD": ":".join(filter(None, [LIBRARY.name, os.environ.get("LD_PRELOAD")]))}


is_open = open_library()
