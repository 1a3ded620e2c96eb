"""The calls of this package on the images of other libraries, and under the names of other libraries.

A module is imported when it is first used, and only then the library it is for:

>>> import nearfield.compat
>>> image = nearfield.compat.sitk.sitk.GetImageFromArray([[1, 1], [1, 0]])  # doctest: +SKIP
>>> nearfield.compat.sitk.distance_transform(image)  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = ("edt", "itk", "nibabel", "sitk", "xarray")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"nearfield.compat has no {name!r}; it has {', '.join(_MODULES)}")


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
