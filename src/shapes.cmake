# The rooms of shapes: what is made of distances.
target_sources(nearfield PRIVATE
  fill/entry.cpp fill/host.cpp fill/slices.cpp
  medial_axis/entry.cpp medial_axis/host.cpp medial_axis/host_masks.cpp
  morphology/entry.cpp morphology/host.cpp
  natural_neighbor/entry.cpp natural_neighbor/host.cpp
  pores/entry.cpp pores/regions.cpp pores/text.cpp
  skeleton/entry.cpp skeleton/graph.cpp skeleton/graph_text.cpp skeleton/host.cpp skeleton/host_state.cpp
  thickness/entry.cpp thickness/host.cpp thickness/host_tiles.cpp
  watershed/entry.cpp watershed/host_cells.cpp watershed/host_flood.cpp watershed/host_graph.cpp)
if(NEARFIELD_HAS_CUDA)
  target_sources(nearfield PRIVATE fill/cuda.cu medial_axis/cuda.cu morphology/cuda.cu natural_neighbor/cuda.cu skeleton/cuda.cu
    thickness/cuda.cu watershed/cuda.cu)
else()
  target_sources(nearfield PRIVATE fill/no_cuda.cpp medial_axis/no_cuda.cpp morphology/no_cuda.cpp natural_neighbor/no_cuda.cpp
    skeleton/no_cuda.cpp thickness/no_cuda.cpp watershed/no_cuda.cpp)
endif()
