"""Refuses values that are no arrays though NumPy would convert them: names of files, images of other libraries.

They are recognised by the module of their type; none of the libraries is imported.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from nearfield._request import said

# For an image called x: its adapter, and the way to get its cells.
_LIBRARIES = {
    "SimpleITK": ("nearfield.compat.sitk", "SimpleITK.GetArrayViewFromImage({x})"),
    "itk": ("nearfield.compat.itk", "itk.array_view_from_image({x})"),
    "nibabel": ("nearfield.compat.nibabel", "numpy.asanyarray({x}.dataobj)"),
    "xarray": ("nearfield.compat.xarray", "{x}.values"),
}

# For arrays in chunks: the functions that take them.
_CHUNKED = {
    "dask": "it to the function of nearfield.dask",
    "zarr": "dask.array.from_zarr({x}) to that of nearfield.dask",
}


def refuse_no_array(name: str, x: Any) -> None:
    """Raises for values that would lose their mask, spacing or meaning as an array of NumPy, and names an adapter."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; give {name}.filled(value)")
    if isinstance(x, np.ndarray):
        return
    refuse_no_cells(name, x, taken=())


def refuse_no_cells(name: str, x: Any, taken: tuple[str, ...] = ("xarray",)) -> None:
    """Raises for names of files and for images that NumPy would flatten, which other packages' functions refuse too."""
    if x is None or isinstance(x, str | bytes | os.PathLike):
        raise TypeError(f"{name} is {said(x)}; give an array: nearfield reads no files")
    while isinstance(x, list | tuple) and x:
        x = x[0]
    refuse_image(name, x, taken)


def refuse_image(name: str, x: Any, taken: tuple[str, ...] = ()) -> None:
    """Raises for an image of another library, except those in `taken`."""
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
