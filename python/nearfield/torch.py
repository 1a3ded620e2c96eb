"""The operators nearfield::compute and nearfield::label, for programs of `torch.export`: import this to load them.

Programs that `torch.compile` makes need no import.
"""

from nearfield import _torch as _torch
