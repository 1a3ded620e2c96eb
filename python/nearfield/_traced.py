"""What stands for an array or a number while JAX or PyTorch trace a function, and has no values."""

from __future__ import annotations

import sys
from typing import Any


def is_traced(x: Any) -> bool:
    """Stands for arrays or numbers within `jax.jit`, `jax.vmap` or `jax.grad`: has shape and type, but no values."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(x, jax.core.Tracer)


def is_transformed(x: Any) -> bool:
    """Stands for tensors within `torch.vmap` or `torch.func.grad`: has no memory of its own."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return False
    functorch = getattr(torch._C, "_functorch", None)
    return functorch is not None and bool(functorch.is_functorch_wrapped_tensor(x))


def refuse_traced(name: str, x: Any) -> None:
    if is_traced(x):
        by, outside = "JAX", "jax.jit, jax.vmap and jax.grad"
    elif is_transformed(x):
        by, outside = "torch.func", "torch.vmap and torch.func.grad"
    else:
        return
    raise TypeError(f"{name} is traced by {by}, and this call needs its values; call it outside of {outside}")
