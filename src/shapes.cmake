# The rooms of shapes: what is made of distances.
target_sources(nearfield PRIVATE
  centroidal/entry.cpp centroidal/host.cpp centroidal/linde_buzo_gray.cpp centroidal/samples.cpp centroidal/stipple.cpp effects/canvas.cpp effects/entry.cpp effects/host.cpp fill/entry.cpp fill/host.cpp fill/slices.cpp
  medial_axis/entry.cpp medial_axis/host.cpp medial_axis/host_masks.cpp
  metrics/areas.cpp metrics/entry.cpp metrics/host.cpp metrics/host_points.cpp
  morphology/entry.cpp morphology/host.cpp
  geodesic/entry.cpp geodesic/host.cpp
  natural_neighbor/entry.cpp natural_neighbor/host.cpp
  pores/entry.cpp pores/regions.cpp pores/text.cpp sdf/entry.cpp sdf/host.cpp
  skeleton/entry.cpp skeleton/graph.cpp skeleton/graph_text.cpp skeleton/host.cpp skeleton/host_state.cpp
  split/entry.cpp
  thickness/entry.cpp thickness/host.cpp thickness/host_tiles.cpp
  watershed/entry.cpp watershed/host_cells.cpp watershed/host_flood.cpp watershed/host_graph.cpp
  watershed/host_hierarchy.cpp watershed/host_rows.cpp)
if(NEARFIELD_HAS_CUDA)
  target_sources(nearfield PRIVATE centroidal/cuda.cu effects/cuda.cu fill/cuda.cu medial_axis/cuda.cu metrics/cuda.cu metrics/cuda_points.cu morphology/cuda.cu natural_neighbor/cuda.cu sdf/cuda.cu skeleton/cuda.cu thickness/cuda.cu watershed/cuda.cu)
else()
  target_sources(nearfield PRIVATE centroidal/no_cuda.cpp effects/no_cuda.cpp fill/no_cuda.cpp medial_axis/no_cuda.cpp metrics/no_cuda.cpp morphology/no_cuda.cpp natural_neighbor/no_cuda.cpp sdf/no_cuda.cpp skeleton/no_cuda.cpp thickness/no_cuda.cpp watershed/no_cuda.cpp)
endif()
