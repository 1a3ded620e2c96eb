"""What is no array, though NumPy would make one of it: names of files, and images of other libraries.

Those are told by the name of their type's module; none of the libraries is imported.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from nearfield._request import said

# Of an image called x: its adapter, and how to get its cells.
_LIBRARIES = {
    "SimpleITK": ("nearfield.compat.sitk", "SimpleITK.GetArrayViewFromImage({x})"),
    "itk": ("nearfield.compat.itk", "itk.array_view_from_image({x})"),
    "nibabel": ("nearfield.compat.nibabel", "numpy.asanyarray({x}.dataobj)"),
    "xarray": ("nearfield.compat.xarray", "{x}.values"),
}

# Arrays in chunks: what takes them.
_CHUNKED = {
    "dask": "it to the function of nearfield.dask",
    "zarr": "dask.array.from_zarr({x}) to that of nearfield.dask",
}


def refuse_no_array(name: str, x: Any) -> None:
    """Throws, naming what takes it, for what would lose its mask, its spacing or its meaning as an array of NumPy."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; give {name}.filled(value)")
    if isinstance(x, np.ndarray):
        return
    refuse_no_cells(name, x, taken=())


def refuse_no_cells(name: str, x: Any, taken: tuple[str, ...] = ("xarray",)) -> None:
    """Throws for names of files and images that NumPy would flatten: what functions of other packages refuse."""
    if x is None or isinstance(x, str | bytes | os.PathLike):
        raise TypeError(f"{name} is {said(x)}; give an array: nearfield reads no files")
    while isinstance(x, list | tuple) and x:
        x = x[0]
    refuse_image(name, x, taken)


def refuse_image(name: str, x: Any, taken: tuple[str, ...] = ()) -> None:
    """Throws for an image of another library, but those `taken`."""
    for base in type(x).__mro__:
        library = base.__module__.partition(".")[0]
        if library in _CHUNKED:
            way = _CHUNKED[library].format(x=name)
            raise TypeError(f"{name} is an array of {library}, in chunks: give {way}, or numpy.asarray({name})")
        if library in _LIBRARIES and library not in taken:
            adapter, cells = _LIBRARIES[library]
            raise TypeError(
                f"{name} is of type {type(x).__name__} of {library}; give it to a function of {adapter}, which knows "
                f"its spacing, or give {cells.format(x=name)} and spacing="
            )
