// What the search tile by tile (cuda_close.hpp) leaves, for the kernels behind it.
#pragma once

#include "base/cuda.cuh"
#include "exact/cuda_close.hpp"

namespace nearfield::exact {
namespace {

/// Tiles of images, those beside each other first: a byte each, not 0 where the search before has not finished it.
struct left_tiles {
    const std::uint8_t* bytes = nullptr;  ///< null where there was no such search
    int across = 1, down = 1;             ///< tiles of an image
    int all = 0;

    /// By all threads of a block.
    [[nodiscard]] __device__ bool none(int thread, int threads) const {
        if (bytes == nullptr) return false;
        bool some = false;
        for (int i = thread; i < all; i += threads) some |= bytes[i] != 0;
        return !__syncthreads_or(some);
    }
    /// Among those of an image with cells of column x in rows [from, to); by all lanes of a warp.
    [[nodiscard]] __device__ bool none_among(std::int64_t image, int x, int from, int to) const {
        if (bytes == nullptr) return false;
        const std::uint8_t* const first = bytes + image * across * down + x / close_columns;
        bool some = false;
        for (int y = from / close_rows + static_cast<int>(threadIdx.x) % cuda::warp; y <= (to - 1) / close_rows;
             y += cuda::warp)
            some |= first[y * across] != 0;
        return !__any_sync(cuda::every_lane, some);
    }
};

}  // namespace
}  // namespace nearfield::exact
