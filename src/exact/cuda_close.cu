#include "exact/cuda_close.hpp"

#include "exact/cuda_close_bits.cuh"
#include "exact/cuda_close_points.cuh"

namespace nearfield::exact {
namespace {

/// A block a tile.
template <class Index>
__global__ void __launch_bounds__(close_threads, close_blocks)
    search_close_sites(const close_call<Index> c, const bits_places places) {
    union memory {
        close_bits_memory bits;
        close_points_memory points;
    };
    __shared__ memory m;
    cuda::wait_for_kernel_before();
    const close_tile at(c);
    const by_bits way = search_close_bits(c, at, places, m.bits);
    const bool finished = way == by_bits::finished || (way == by_bits::open && search_close_points(c, at, m.points));
    if (threadIdx.x == 0) c.left[blockIdx.x] = finished ? 0 : 1;
}

template <class Index>
void launch_close(const device& on, const close_images& of, const std::uint8_t* image, bool zero_is_site, Index* index,
                  std::uint8_t* left) {
    close_call<Index> c;
    c.data = image, c.zero_is_site = zero_is_site;
    c.length = of.length, c.rows = of.rows, c.tiles_x = of.tiles_x, c.tiles_y = of.tiles_y;
    c.lines = of.images * of.rows;
    c.out = index, c.left = left;
    cuda::launch_overlapped(on, search_close_sites<Index>, of.tiles(), dim3(close_threads), 0, c, places_of_bits);
}

}  // namespace

void search_close(const device& on, const close_images& of, const std::uint8_t* image, bool zero_is_site,
                  std::int32_t* index, std::uint8_t* left) {
    launch_close(on, of, image, zero_is_site, index, left);
}
void search_close(const device& on, const close_images& of, const std::uint8_t* image, bool zero_is_site,
                  std::int64_t* index, std::uint8_t* left) {
    launch_close(on, of, image, zero_is_site, index, left);
}

}  // namespace nearfield::exact
