// Random images made where they are used: the largest would take longer to upload than everything measured on them.
#include "bench.hpp"
#include "random_device.hpp"

namespace nearfield::bench {
namespace {

constexpr int block_threads = 256;

/// A thread a cell; the bytes of a warp are neighbours.
__global__ void __launch_bounds__(block_threads)
    scatter_sites(std::uint8_t* image, std::int64_t cells, std::uint64_t limit) {
    const std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
    if (i < cells) image[i] = (mix(static_cast<std::uint64_t>(i)) >> 32) < limit ? 0 : 1;
}

}  // namespace

cudaError_t fill_random(void* image, std::int64_t cells, double density, cudaStream_t stream) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>((cells + block_threads - 1) / block_threads));
    config.blockDim = dim3(block_threads);
    config.stream = stream;
    return cudaLaunchKernelEx(&config, scatter_sites, static_cast<std::uint8_t*>(image), cells, random_limit(density));
}

}  // namespace nearfield::bench
