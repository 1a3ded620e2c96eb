"""Regions of given masses, by a power diagram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield import _core
from nearfield._arrays import NUMPY
from nearfield._dispatch import workplace_of
from nearfield._methods import _on_host
from nearfield._request import said

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Capacities:
    """Report on how well regions have the given masses."""

    #: float64, (n,): target masses, which sum to the density's sum.
    wanted: Array
    #: Largest difference of a mass from its target, as a share of the target.
    error: float
    #: True if that error is at most 1 %.
    converged: bool
    #: int64, (n,): weights of the sites in the power diagram, in squared parts of cells.
    powers: Array
    #: Lower bound: no division of the density by these capacities has a smaller energy.
    bound: float


def shares_of(capacities: Any, sites: int) -> Array:
    if capacities is True:
        return np.ones(sites)
    given = None if isinstance(capacities, bool) else _on_host(workplace_of("capacities", capacities).array)
    if given is None or given.dtype.kind not in "iuf" or given.shape != (sites,):
        raise ValueError(f"capacities is {said(capacities)}; give True, or {sites} numbers, one a site")
    shares = np.ascontiguousarray(given, "float64")
    with np.errstate(over="ignore"):
        total = shares.sum()
    if total == np.inf:
        raise ValueError("capacities have an infinite sum; give finite numbers with a finite sum: their ratios count")
    return shares


def with_capacities(
    density: Array, sites: Array, shares: Array, options: Any, rounds: int, relax: float, parts: int, *where: Any
) -> tuple[Array, Array, Array, Array, Capacities]:
    """Returns sites, masses, energies as pairs and labels; and the report on the masses."""
    moved, mass, powers, energy, labels, bound, error, converged = _core.capacity_voronoi(
        NUMPY.describe("density", density, False),
        NUMPY.describe("sites", np.ascontiguousarray(sites), False),
        NUMPY.describe("capacities", shares, False),
        *(options, rounds, relax, parts),
        *where,
    )
    weights = np.frombuffer(mass, "int64")
    wanted = shares / shares.sum() * (weights.sum() / float(parts) ** sites.shape[1])
    return (
        np.frombuffer(moved, "int32").reshape(sites.shape),
        weights,
        np.frombuffer(energy, "uint64").reshape(-1, 2),
        np.frombuffer(labels, "int32").reshape(density.shape).copy(),
        Capacities(wanted, error, converged, np.frombuffer(powers, "int64").copy(), bound),
    )


def diameters(ink: Array, axes: int) -> Array:
    """Diameters of dots with that ink, which are lines, discs or balls."""
    made: Array = ink if axes == 1 else 2 * np.sqrt(ink / np.pi) if axes == 2 else np.cbrt(6 * ink / np.pi)
    return made


def counted(name: str, x: Array, of_light: bool) -> Array:
    """Values as uint16: light from 0 to 1, or densities scaled so that the largest is 65535."""
    if x.dtype.kind not in "biuf":
        raise TypeError(f"{name} has element type {x.dtype}; give bool, integers or floats")
    if of_light and x.dtype.kind != "f":
        raise TypeError(f"{name} has element type {x.dtype}; give bool, uint8, uint16, or floats from 0 to 1")
    values = x.astype("float64")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"{name} has values that are negative, NaN or infinite; give numbers from 0 on")
    largest = 1.0 if of_light else float(values.max(initial=0))
    if of_light and (values > 1).any():
        raise ValueError(f"{name} has values above 1; give floats from 0, black, to 1, white, or uint8")
    if not of_light and x.dtype.kind in "iu" and largest <= 65535:
        return values.astype("uint16")
    if 0 < largest < 1e-300:  # 65535 divided by it may be infinite
        values, largest = values / largest, 1.0
    return np.rint(values * (65535 / largest if largest > 0 else 0)).astype("uint16")
