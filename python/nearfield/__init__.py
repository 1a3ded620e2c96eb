"""Exact Euclidean distance fields and nearest-site (Voronoi) fields of images and volumes.

On the CPU and on NVIDIA GPUs, with the same bits from both: arrays of NumPy, CuPy, PyTorch and JAX go in, arrays of the
same kind on the same device come out.

>>> import nearfield as nf
>>> nf.distance_transform([[1, 1, 1], [1, 0, 1]])
array([[1.4142135, 1.       , 1.4142135],
       [1.       , 0.       , 1.       ]], dtype=float32)
"""

from nearfield import _core
from nearfield._distance import distance_transform
from nearfield._errors import Cancelled
from nearfield._info import Device, Info, devices, info, release_device_memory
from nearfield._plan import Pass, Plan, plan
from nearfield._voronoi import expand_labels, voronoi

__version__: str = _core.version

__all__ = [
    "Cancelled",
    "Device",
    "Info",
    "Pass",
    "Plan",
    "__version__",
    "devices",
    "distance_transform",
    "expand_labels",
    "info",
    "plan",
    "release_device_memory",
    "voronoi",
]
