"""The call as one operation of a graph that torch.compile traces, so that it does not break there."""

from __future__ import annotations

import sys
from typing import Any

from nearfield._progress import Progress
from nearfield._request import Request


class _InGraph:
    """Calls the custom operation nearfield::compute, which is registered when it is first needed."""

    def serves(self, image: Any) -> bool:
        torch = sys.modules.get("torch")
        return torch is not None and isinstance(image, torch.Tensor) and torch.compiler.is_compiling()

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
            raise TypeError("within torch.compile nearfield takes no out=, indices_out= or progress=")
        from nearfield import _torch

        return _torch.compute_in_graph(image, request, weights, device, threads)

    def label(
        self, image: Any, keywords: dict[str, Any], return_num: bool, dtype: Any, given: bool, device: Any, threads: Any
    ) -> Any:
        if return_num or given:
            raise TypeError(
                "within torch.compile nearfield.label takes no out=, progress= or return_num=; use labels.max()"
            )
        from nearfield import _torch

        return _torch.label_in_graph(image, keywords, dtype, device, threads)


in_graph = _InGraph()
