"""The call as one operation of PyTorch, for torch.compile, whose graph does not break there, and for torch.vmap."""

from __future__ import annotations

import sys
from typing import Any

from nearfield._progress import Progress
from nearfield._request import Request
from nearfield._traced import is_transformed


class _InGraph:
    """Calls the custom operation nearfield::compute, which is registered when it is first needed."""

    def compiles(self) -> bool:
        """Says whether torch.compile or torch.export trace this code; not true in code that is already compiled."""
        torch = sys.modules.get("torch")
        return torch is not None and torch.compiler.is_compiling()

    def serves(self, image: Any) -> bool:
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(image, torch.Tensor):
            return False
        return torch.compiler.is_compiling() or is_transformed(image) or torch.jit.is_tracing()

    def __call__(
        self,
        image: Any,
        request: Request,
        given: dict[str, Any],
        *,
        name: str = "image",
        weights: Any = None,
        device: str | None = None,
        threads: int | None = None,
        progress: Progress = None,
    ) -> list[Any]:
        if any(each is not None for each in given.values()) or progress:
            raise TypeError("within torch.compile and torch.vmap nearfield takes no out=, indices_out= or progress=")
        from nearfield import _torch

        return _torch.compute_in_graph(image, request, weights, device, threads)

    def label(
        self, image: Any, keywords: dict[str, Any], return_num: bool, dtype: Any, given: bool, device: Any, threads: Any
    ) -> Any:
        if return_num or given:
            raise TypeError(
                "within torch.compile and torch.vmap nearfield.label takes no out=, progress=, method= or return_num=; "
                "labels.max() is the number"
            )
        from nearfield import _torch

        return _torch.label_in_graph(image, keywords, dtype, device, threads)


in_graph = _InGraph()
