"""The library's calls for programs that `jax.export` saved: import this where they are loaded.

Programs that `jax.jit` makes need no import.
"""

from nearfield._jax_calls import platforms as _platforms

_platforms()
