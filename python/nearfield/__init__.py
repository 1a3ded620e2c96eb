"""Exact Euclidean distance fields, nearest-site (Voronoi) fields and connected components of images and volumes.

Arrays of NumPy, CuPy, PyTorch and JAX go in; arrays of the same kind on the same device come out. The CPU and NVIDIA
GPUs give the same bits.

>>> import nearfield as nf
>>> nf.distance_transform([[1, 1, 1], [1, 0, 1]])
array([[1.4142135, 1.       , 1.4142135],
       [1.       , 0.       , 1.       ]], dtype=float32)
"""

from nearfield import _kernels  # noqa: F401  before _core, which links what it opens

# isort: split
from nearfield import _core, compat, effects, methods, metrics, ndimage
from nearfield._basins import (
    Basins,
    Extinctions,
    Extrema,
    basins,
    h_maxima,
    h_minima,
    peaks,
    regional_maxima,
    watershed_hierarchy,
)
from nearfield._camera import Camera
from nearfield._centroidal import CentroidalVoronoi, Stipples, centroidal_voronoi, stipple
from nearfield._component_table import Component, ComponentTable
from nearfield._components import (
    Components,
    LabelLists,
    component_statistics,
    components,
    label_lists,
    relabel,
    remove_small,
)
from nearfield._contacts import Contacts, contacts
from nearfield._distance import distance_transform
from nearfield._errors import Cancelled
from nearfield._esdf import Esdf, esdf, inflate_costmap
from nearfield._fill import fill_nearest
from nearfield._geodesic import geodesic, travel_cost
from nearfield._granulometry import Granulometry, balls, granulometry, porosimetry
from nearfield._holes import fill_holes
from nearfield._info import Device, Info, devices, info, release_device_memory
from nearfield._label import label, link_bit
from nearfield._map import OccupancyMap, read_map, write_map
from nearfield._medial_axis import medial_axis, reconstruct
from nearfield._mesh import Mesh, OffsetMesh
from nearfield._methods import Comparison, Stage, compare
from nearfield._morphology import closing, dilation, erosion, opening
from nearfield._natural_neighbor import natural_neighbor
from nearfield._path import Path, Roadmap, nav2_clearance_costs, plan_path, roadmap
from nearfield._plan import Pass, Plan, plan
from nearfield._pores import PoreNetwork, pore_network
from nearfield._propagation import PropagationReport, label_by_propagation
from nearfield._rays import RayHits, SurfaceHits, raycast, sphere_trace
from nearfield._render import render
from nearfield._sdf import sdf
from nearfield._shape_measures import ShapeTable, shape_measures
from nearfield._skeleton import skeletonize
from nearfield._skeleton_graph import SkeletonGraph, skeleton_graph
from nearfield._slices import interpolate_slices
from nearfield._split import split, threshold_otsu
from nearfield._surfaces import VoxelGrid, isosurface, mesh_distance, offset, voxelize
from nearfield._thickness import local_thickness
from nearfield._voronoi import expand_labels, voronoi
from nearfield._watershed import flood, reconstruct_gray, watershed

__version__: str = _core.version


def load_ipython_extension(shell: object) -> None:
    """After ``%load_ext nearfield``, a notebook shows arrays of NumPy with a picture, their shape and their type."""
    from nearfield import _notebook

    _notebook.load(shell)


__all__ = [
    "Basins",
    "Camera",
    "Cancelled",
    "CentroidalVoronoi",
    "Comparison",
    "Component",
    "ComponentTable",
    "Components",
    "Contacts",
    "Device",
    "Esdf",
    "Extinctions",
    "Extrema",
    "Granulometry",
    "Info",
    "LabelLists",
    "Mesh",
    "OccupancyMap",
    "OffsetMesh",
    "Pass",
    "Path",
    "Plan",
    "PoreNetwork",
    "PropagationReport",
    "RayHits",
    "Roadmap",
    "ShapeTable",
    "SkeletonGraph",
    "Stage",
    "Stipples",
    "SurfaceHits",
    "VoxelGrid",
    "__version__",
    "balls",
    "basins",
    "centroidal_voronoi",
    "closing",
    "compare",
    "compat",
    "component_statistics",
    "components",
    "contacts",
    "devices",
    "dilation",
    "distance_transform",
    "effects",
    "erosion",
    "esdf",
    "expand_labels",
    "fill_holes",
    "fill_nearest",
    "flood",
    "geodesic",
    "granulometry",
    "h_maxima",
    "h_minima",
    "inflate_costmap",
    "info",
    "interpolate_slices",
    "isosurface",
    "label",
    "label_by_propagation",
    "label_lists",
    "link_bit",
    "local_thickness",
    "medial_axis",
    "mesh_distance",
    "methods",
    "metrics",
    "natural_neighbor",
    "nav2_clearance_costs",
    "ndimage",
    "offset",
    "opening",
    "peaks",
    "plan",
    "plan_path",
    "pore_network",
    "porosimetry",
    "raycast",
    "read_map",
    "reconstruct",
    "reconstruct_gray",
    "regional_maxima",
    "relabel",
    "release_device_memory",
    "remove_small",
    "render",
    "roadmap",
    "sdf",
    "shape_measures",
    "skeleton_graph",
    "skeletonize",
    "sphere_trace",
    "split",
    "stipple",
    "threshold_otsu",
    "travel_cost",
    "voronoi",
    "voxelize",
    "watershed",
    "watershed_hierarchy",
    "write_map",
]
