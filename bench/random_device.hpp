// bench.hpp's random_sites on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace nearfield::bench {

/// The same cells as random_sites(cells, density), in device memory; at most 2^39 cells, at least one.
cudaError_t fill_random(void* image, std::int64_t cells, double density, cudaStream_t stream);

}  // namespace nearfield::bench
