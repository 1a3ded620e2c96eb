"""A user's program: `mypy --strict` finds nothing in it (test_package.py), and it runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

import nearfield as nf
from nearfield import effects, metrics, ndimage


@dataclass
class Grain:
    cells: int
    center: tuple[float, ...]
    thickness: float


def foreground(shape: tuple[int, ...], seed: int) -> NDArray[np.bool_]:
    random = np.random.default_rng(seed)
    mask: NDArray[np.bool_] = nf.dilation(random.random(shape) < 0.01, 3)
    return mask


def grains_of(mask: NDArray[np.bool_], spacing: ArrayLike = 1.0) -> list[Grain]:
    away = nf.distance_transform(mask, spacing=spacing, border="closed")
    made = nf.components(mask, connectivity=2, min_size=5, spacing=spacing, intensity=away)
    return [
        Grain(each.size, tuple(float(at) for at in each.centroid), 2 * float(away[made.labels == each.label].max()))
        for each in made.table
    ]


def nearest_values(seeds: NDArray[np.int32], reach: float | None = None) -> NDArray[np.int32]:
    away, (rows, columns) = nf.distance_transform(seeds, sites="nonzero", return_indices=True, max_distance=reach)
    values: NDArray[np.int32] = seeds[rows, columns]
    values[~np.isfinite(away)] = 0
    assert np.array_equal(values, nf.expand_labels(seeds, reach))
    return values


def tell(share: float) -> bool:
    return share <= 1.0


def main() -> None:
    mask = foreground((90, 120), seed=1)
    labels, count = nf.label(mask, connectivity=8, return_num=True, progress=tell)
    grown, _ = nf.voronoi(labels, return_labels=True, spacing=[2, 1])
    grains = grains_of(mask, spacing=np.array([2.0, 1.0]))
    values = nearest_values(np.where(mask, labels, 0).astype(np.int32), reach=None)
    signed = nf.distance_transform(mask, signed="inside", squared=True, dtype=np.float64, threads=2)
    plan = nf.plan(mask, return_indices=True)
    plan = nf.plan(nf.opening, mask, 3) if plan.threads else plan
    scores = metrics.surface(mask, np.roll(mask, 1, axis=0), spacing=(2, 1))
    shown = effects.outline(nf.sdf(mask), 2)
    distances, indices = ndimage.distance_transform_edt(mask, sampling=(2, 1), return_indices=True)
    print(count, len(grains), grown.ndim, values.max(), signed.min(), plan.workspace_bytes, scores, indices.shape)
    print(max(grains, key=lambda grain: grain.cells).center, distances.mean(), type(shown).__name__)


if __name__ == "__main__":
    main()
