"""Recognises values that stand for arrays or numbers while JAX or PyTorch trace a function."""

from __future__ import annotations

import sys
from typing import Any


def is_traced(x: Any) -> bool:
    """True for values within `jax.jit`, `jax.vmap` or `jax.grad`, which have shape and type but no content."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(x, jax.core.Tracer)


def is_transformed(x: Any) -> bool:
    """True for tensors in `torch.vmap`, `torch.func.grad`, `make_fx` or FakeTensorMode, which have no memory."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return False
    if type(x).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__ or _records(torch):
        return True
    functorch = getattr(torch._C, "_functorch", None)
    return functorch is not None and bool(functorch.is_functorch_wrapped_tensor(x))


def _records(torch: Any) -> bool:
    """Says whether every operation on tensors is recorded, or runs without values."""
    keys = getattr(torch._C, "_TorchDispatchModeKey", None)
    if keys is None or torch._C._len_torch_dispatch_stack() == 0:
        return False
    return any(torch._C._get_dispatch_mode(key) is not None for key in (keys.FAKE, keys.PROXY, keys.FUNCTIONAL))


def refuse_traced(name: str, x: Any) -> None:
    if is_traced(x):
        by, outside = "JAX", "jax.jit, jax.vmap and jax.grad"
    elif is_transformed(x):
        by, outside = "PyTorch", "torch.vmap, torch.func.grad, torch.export and make_fx"
    else:
        return
    raise TypeError(f"{name} is traced by {by}, and this call needs its values; call it outside of {outside}")
