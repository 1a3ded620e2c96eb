"""The calls of other libraries that stand beside the forms of forms.py."""

import sys

import numpy as np

REAL, INTEGRAL = {2: (2.5, 0.7), 3: (2.5, 0.7, 0.7)}, {2: (3, 2), 3: (40, 4, 4)}


def device_peers(mask, labels):
    """{form: (library, the same call)}"""
    from cupyx.scipy import ndimage

    def edt(**options):
        return "CuPy", lambda: ndimage.distance_transform_edt(mask, **options)

    fast, both = dict(float64_distances=False), dict(return_indices=True)
    return {
        "mask: distance": edt(**fast),
        "mask: distance, real spacing": edt(sampling=REAL[mask.ndim]),
        "mask: coordinates": edt(return_distances=False, **both),
        "mask: distance, coordinates": edt(**fast, **both),
        "mask: components, faces": ("CuPy", lambda: ndimage.label(mask)),
        "mask: components, corners": ("CuPy", lambda: ndimage.label(mask, np.ones((3,) * mask.ndim))),
    }


def host_peers(mask, labels):
    """{form: (library, the same call)}, of the libraries that are installed."""
    from scipy import ndimage

    d, found = mask.ndim, {}
    for name, options in (("", {}), (", real spacing", {"sampling": REAL[d]})):
        call = lambda o=options: ndimage.distance_transform_edt(mask, return_indices=True, **o)  # noqa: E731
        found[f"mask: distance, coordinates{name}"] = ("SciPy", call)
    try:
        import edt

        two, real = dict(parallel=2), dict(parallel=2, anisotropy=REAL[d])
        found |= {
            "mask: distance": ("edt", lambda: edt.edt(mask, **two)),
            "mask: distance, real spacing": ("edt", lambda: edt.edt(mask, **real)),
            "mask: signed": ("edt", lambda: edt.sdf(mask, **two)),
            "labels: distance": ("edt", lambda: edt.edt(labels, **two)),
            "labels: distance, real spacing": ("edt", lambda: edt.edt(labels, **real)),
            "labels: distance, closed": ("edt", lambda: edt.edt(labels, black_border=True, **two)),
        }
        import cc3d

        components = cc3d.connected_components
        found |= {
            "mask: components, corners": ("cc3d", lambda: components(mask, connectivity=26 if d == 3 else 8)),
            "labels: components": ("cc3d", lambda: components(labels, connectivity=6 if d == 3 else 4)),
            "labels: statistics": ("cc3d", lambda: cc3d.statistics(labels.view(np.uint32))),
        }
    except ImportError as missing:
        print(f"forms.py: {missing}; its forms stand without a peer", file=sys.stderr)
    return found
