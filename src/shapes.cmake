# The rooms of shapes, pictures and paths, which build on distances: adds each room's C++ sources, and its kernels, or
# the source that replaces them in a build without CUDA.
set(rooms centroidal chessboard chunks effects fill geodesic isosurface medial_axis mesh mesh_distance metrics morphology
  natural_neighbor offset pores raycast render sdf skeleton split thickness voxelize watershed)
foreach(room IN LISTS rooms)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
  file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cu)
  if(NEARFIELD_HAS_CUDA)
    list(FILTER sources EXCLUDE REGEX no_cuda)
    list(APPEND sources ${kernels})
  endif()
  target_sources(nearfield PRIVATE ${sources})
endforeach()
