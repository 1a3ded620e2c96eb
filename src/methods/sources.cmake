# The published methods: their common call, and one room for each.
target_sources(nearfield PRIVATE
  banding/host.cpp
  brushfire/host.cpp
  chamfer/rounds.cpp
  chamfer/steps.cpp
  jump_flood/host.cpp
  methods/compare.cpp
  methods/entry.cpp
  methods/host.cpp
  methods/text.cpp
  plane_sweep/host.cpp)
if(NEARFIELD_HAS_CUDA)
  target_sources(nearfield PRIVATE
    banding/cuda.cu
    brushfire/cuda.cu
    chamfer/cuda.cu
    jump_flood/cuda.cu
    jump_flood/cuda_classes.cu
    jump_flood/cuda_offsets.cu
    jump_flood/cuda_pair_offsets.cu
    jump_flood/cuda_pairs.cu
    jump_flood/cuda_rounds.cu
    jump_flood/cuda_several.cu
    jump_flood/cuda_tiles.cu
    methods/cuda.cu
    plane_sweep/cuda.cu)
else()
  target_sources(nearfield PRIVATE methods/no_cuda.cpp)
endif()
