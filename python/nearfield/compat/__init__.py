"""Other packages' functions under their own names and signatures, and this package's calls on other libraries' images.

A module is imported when it is first used, and only then the library whose images it takes::

    import nearfield.compat
    away = nearfield.compat.sitk.distance_transform(image)
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = ("cc3d", "edt", "itk", "nibabel", "sitk", "skimage", "xarray")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"nearfield.compat has no {name!r}; it has {', '.join(_MODULES)}")


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
