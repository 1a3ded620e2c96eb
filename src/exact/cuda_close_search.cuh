// The kernel of images in which every cell has a site close by (cuda_close.cuh).
#pragma once

#include "exact/cuda_close_bits.cuh"
#include "exact/cuda_close_far.cuh"
#include "exact/cuda_close_points.cuh"

namespace nearfield::exact {
namespace {

/// A block a tile. It is finished whatever the image is, and fast where sites are close by.
template <class Out>
__global__ void __launch_bounds__(close_threads, close_blocks)
    search_close(const close_call<Out> c, const bits_places places) {
    constexpr bool sites = close_call<Out>::sites;
    union memory {
        close_bits_memory<sites> bits;
        close_points_memory points;
        close_far_memory far;
    };
    __shared__ memory m;
    cuda::wait_for_kernel_before();
    const close_tile at(c);
    if (c.many) {
        if (search_close_bits(c, at, places, m.bits)) return;
        __syncthreads();
    }
    if (!search_close_points(c, at, m.points)) search_close_far(c, at, m.far);
}

}  // namespace
}  // namespace nearfield::exact
