#include "exact/cuda_options_far.hpp"

#include <algorithm>

#include "base/lines.hpp"
#include "exact/cuda_options_far_squares.cuh"
#include "exact/cuda_options_far_winners.cuh"

namespace nearfield::exact {
namespace {

// As many as the largest GPUs have.
constexpr std::int64_t multiprocessors = 132;

/// Where parts of the workspace lie, in the order of far_call.
struct far_places {
    std::int64_t at[5], bytes = 0;

    explicit far_places(const far_shape& c) {
        const std::int64_t words = c.images * c.columns * c.rows, posts = c.images * c.posts;
        const std::int64_t sizes[] = {8 * words, 4 * words, 4 * posts * c.length, 2 * posts * c.length, 4};
        for (int i = 0; i < 5; ++i) at[i] = bytes, bytes += (sizes[i] + 255) / 256 * 256;
    }
};

}  // namespace

std::int64_t far_call::bytes() const { return far_places(far_shape(*this)).bytes; }

void far_call::place(std::byte* memory) {
    const far_places places{far_shape(*this)};
    lines = reinterpret_cast<class_word*>(memory + places.at[0]);
    downs = reinterpret_cast<std::uint32_t*>(memory + places.at[1]);
    nearest = reinterpret_cast<std::int32_t*>(memory + places.at[2]);
    winners = reinterpret_cast<std::uint16_t*>(memory + places.at[3]);
    taken = reinterpret_cast<std::int32_t*>(memory + places.at[4]);
}

void search_far(const device& on, const far_call& call) {
    const far_shape c(call);
    const std::int64_t groups = c.images * blocks_for(c.rows, cuda::warp);
    launch_gated_few(on, c.open, 2 * multiprocessors, pack_far_lines, groups, dim3(far_threads), far_stretch_bytes(c),
                     c);
    const std::int64_t chunks = blocks_for(c.posts - 1, chunk_posts);
    launch_gated_few(on, c.open, multiprocessors, find_far_nearest, c.images * c.columns, dim3(far_threads),
                     static_cast<std::size_t>(2 * chunks * cuda::warp) * sizeof(std::int32_t), c);
    launch_gated_few(on, c.open, 2 * multiprocessors, find_far_winners, c.images * c.posts, dim3(far_threads),
                     far_winner_bytes(c), c);
    const std::int64_t squares = c.images * (c.posts - 1) * c.columns;
    launch_gated_few(on, c.open, between_blocks * multiprocessors, finish_far_squares,
                     std::min(blocks_for(squares, between_warps), between_blocks * multiprocessors),
                     dim3(between_threads), 0, c);
}

}  // namespace nearfield::exact
