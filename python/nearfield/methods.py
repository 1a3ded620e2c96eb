"""Published methods with typed options, for `method=` and `compare`, which also take them as text.

>>> import nearfield as nf
>>> str(nf.methods.JumpFlood(order="doubling", after=1))
'jump-flood:order=doubling,after=1'
>>> nf.voronoi([7, 0, 0, 0, 9], method=nf.methods.Banding(m1=2), return_indices="linear")
array([0, 0, 0, 4, 4])
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from nearfield import _core
from nearfield._request import flag_of, said

__all__ = ["Banding", "Brushfire", "Chamfer", "Exact", "JumpFlood", "Method", "PlaneSweep"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """Base of all methods. Its text is what the command line's ``--method`` takes."""

    _name: ClassVar[str]

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, self._checked(each.name, getattr(self, each.name), each.default))
        _core.method_text(str(self))  # raises for unknown words; the call checks ranges of numbers

    def __str__(self) -> str:
        given = [(each.name, getattr(self, each.name)) for each in fields(self)]
        words = [f"{name}={_written(value)}" for name, value in given if value != getattr(type(self), name)]
        return f"{self._name}:{','.join(words)}" if words else self._name

    def _checked(self, option: str, value: Any, default: Any) -> Any:
        """Returns the value in the kind of the default."""
        name = f"{option} of {type(self).__name__}"
        if isinstance(default, bool):
            return flag_of(name, value)
        if isinstance(default, str):
            if not isinstance(value, str) or not value.isalpha():
                raise TypeError(f"{name} is {said(value)}; give a word such as {default!r}")
            return value
        if isinstance(default, tuple):
            if isinstance(value, str) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
                raise TypeError(f"{name} is {said(value)}; give a sequence of integers, such as (3, 4, 5)")
            return tuple(_integer(name, each) for each in value)
        return _integer(name, value)


def _integer(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name} is {said(value)}; give an integer")
    if abs(number) >= 2**63:
        raise ValueError(f"{name} is {said(value)}; give an integer below 2**63")
    return number


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, kw_only=True)
class Exact(Method):
    """The library's own engine; exact."""

    _name: ClassVar[str] = "exact"


@dataclass(frozen=True, kw_only=True)
class Banding(Method):
    """Parallel banding; exact. 0 takes the measured best for the size."""

    _name: ClassVar[str] = "banding"
    #: Number of bands of phase 1, of phase 2, and of rows coloured together in phase 3.
    m1: int = 0
    m2: int = 0
    m3: int = 0


@dataclass(frozen=True, kw_only=True)
class JumpFlood(Method):
    """Jump flooding and its variants; nearly exact."""

    _name: ClassVar[str] = "jump-flood"
    order: Literal["halving", "doubling"] = "halving"
    #: Number of rounds of step 1 before (1+JFA), and of steps 2, 1 and so on after (JFA+1, JFA+2).
    before: int = 0
    after: int = 0
    #: 2 keeps the two nearest sites (JFA2).
    sites: int = 1
    #: 2 repeats the whole series from its own result (JFA squared).
    runs: int = 1
    #: Cells without a site ask on behalf of a site drawn from a table; `seed` starts the draws.
    randomised: bool = False
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class PlaneSweep(Method):
    """Sweeps along every axis, forward and backward; nearly exact."""

    _name: ClassVar[str] = "plane-sweep"
    #: All sweeps start from the sites; their results are merged at the end.
    independent: bool = False
    #: How a GPU proceeds from line to line.
    launch: Literal["automatic", "cooperative", "banded", "shuffled"] = "automatic"


@dataclass(frozen=True, kw_only=True)
class Brushfire(Method):
    """Flood filling by a priority queue, or in parallel over all cells until nothing changes; nearly exact."""

    _name: ClassVar[str] = "brushfire"
    parallel: bool = False


@dataclass(frozen=True, kw_only=True)
class Chamfer(Method):
    """Cheapest paths of weighted steps; the distance is their price in units of the first weight."""

    _name: ClassVar[str] = "chamfer"
    #: Prices by number of coordinates changed; in 2-D a third one is the knight's move. () takes 3, 4, 5, one an axis.
    weights: tuple[int, ...] = ()
    iterated: bool = False


def text_of(method: str | Method, name: str = "method") -> str:
    """Normalised text of a method. Raises for an unknown one."""
    if not isinstance(method, str | Method):
        raise TypeError(
            f"{name} is {said(method)}; give a name such as 'jump-flood:after=1', or one of nearfield.methods, such as "
            "JumpFlood(after=1)"
        )
    if "\0" in str(method):
        raise ValueError(f"{name} is {said(method)}; give a name such as 'jump-flood:after=1'")
    text: str = _core.method_text(str(method))
    return text
