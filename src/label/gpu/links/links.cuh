// Finds connected neighbours, as words, by warps that traverse an image. A walk compares values 32 at a time
// (gpu/links/values.cuh); this file decides which links are kept, a word to a lane. The kernels of tiles read these
// words and no values. Bytes have separate kernels (gpu/links/bytes.cuh).
#pragma once

#include "label/gpu/links/rules.cuh"

namespace nearfield::labelling {

/// Partition of an image into warps: a column of words, 31 rows and the one above them, that advances from plane to
/// plane. No warp waits for another.
struct link_strips {
    static constexpr int rows = cuda::warp - 1;
    /// 16 planes are slower: 512^3 of float32 takes 0.981 instead of 0.959 ms, noise 4.10 instead of 4.03 (H200, equal
    /// values, 2026-11-23).
    static constexpr int planes = 8;
    int down, deep;

    static link_strips make(const narrow_lattice& g) {
        const auto in = [](int n, int of) { return (n + of - 1) / of; };
        return {in(g.size[1], rows), in(g.size[0], planes)};
    }
    [[nodiscard]] std::int64_t count(const narrow_lattice& g) const {
        return std::int64_t{g.images} * g.words * down * deep;
    }
};

/// A warp's strip, and the row of a lane.
struct strip_place {
    int image, word, top, above, begin, end;  ///< above: the row above the first, negative if none exists
    int lane, y, last;                        ///< last: the bit of the word's last cell

    __device__ strip_place(const narrow_lattice& g, const link_strips& strips, std::uint32_t number)
        : lane(static_cast<int>(threadIdx.x) % cuda::warp) {
        const auto take = [&](int of) {
            const std::uint32_t rest = number / static_cast<std::uint32_t>(of);
            const auto at = static_cast<int>(number - rest * static_cast<std::uint32_t>(of));
            number = rest;
            return at;
        };
        word = take(g.words), top = take(strips.down) * link_strips::rows, above = neighbour(g, 1, top, -1);
        begin = take(strips.deep) * link_strips::planes, end = min(begin + link_strips::planes, g.size[0]);
        image = static_cast<int>(number);
        y = row(lane), last = min(word_cells, g.size[2] - word * word_cells) - 1;
    }
    [[nodiscard]] __device__ int row(int of_lane) const { return of_lane == 0 ? above : top + of_lane - 1; }
    [[nodiscard]] __device__ bool holds(const narrow_lattice& g) const { return y >= 0 && y < g.size[1]; }
};

/// A lane's word of a row; `marks` describe the cells beside it.
struct strip_word {
    word set = 0, on = 0, same = 0, marks = 0;
    static constexpr word west_set = 1, east_set = 2, next = 4;

    [[nodiscard]] __device__ strip_word from_lane_before() const {
        const auto before = [](word of) { return __shfl_up_sync(cuda::every_lane, of, 1); };
        return {before(set), before(on), before(same), before(marks)};
    }
    [[nodiscard]] __device__ row_links links(int last) const {
        const word on_next = on >> 1 | (marks >> 2 & 1U) << last;
        return {set, set << 1 | (marks & west_set), set >> 1 | (marks >> 1 & 1U) << last, on, on_next, same, same >> 1};
    }
};

/// The result of a walk for a plane: a lane's word, its straight links and those of equal values among them.
struct strip_links {
    strip_word here;
    word up = 0, same_up = 0, to_front = 0, same_front = 0;
    word sides_up = 0, sides_front = 0;
    bool as_front = false;  ///< the row's cells and those beside it equal those of the plane in front
};

/// Writes the links that are kept. A warp owns words below each other, one to a lane. The first lane has the row above,
/// for which nothing is written.
/// Over 40 lines because all it carries from plane to plane stays in registers.
template <bool Deep, class Walk>
__global__ void __launch_bounds__(Walk::warps* cuda::warp, Walk::blocks)
    find_links(narrow_lattice g, typename Walk::source from, link_strips strips, int kinds, tile_order order,
               link_store out) {
    __shared__ typename Walk::stage stages[Walk::warps];
    cuda::wait_for_kernel_before();
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const strip_place at(g, strips, blockIdx.x * Walk::warps + static_cast<std::uint32_t>(warp));
    if (at.image >= g.images) return;
    const bool own = at.lane > 0 && at.holds(g);
    Walk walk(g, from, at, stages[warp]);
    strip_word front, front_above;
    word front_up = 0, same_front_up = 0;
    slanted_facts known;
    for (int z = Deep ? at.begin - 1 : 0; z < (Deep ? at.end : 1); ++z) {
        const strip_links mine = walk.look(z);
        const strip_word above = mine.here.from_lane_before();
        if (!Deep || z >= at.begin) {
            link_facts f;
            f.last = at.last, f.here = mine.here.links(at.last), f.above = above.links(at.last);
            f.up = mine.up, f.same_up = mine.same_up, f.sides_up = mine.sides_up;
            if constexpr (Deep) {
                f.front = front.links(at.last), f.front_above = front_above.links(at.last);
                f.to_front = mine.to_front, f.same_front = mine.same_front, f.sides_front = mine.sides_front;
                f.front_up = front_up, f.same_front_up = same_front_up;
                f.above_to_front = __shfl_up_sync(cuda::every_lane, mine.to_front, 1);
                f.same_above_front = __shfl_up_sync(cuda::every_lane, mine.same_front, 1);
            }
            const std::uint32_t place = own ? order.at(at.image, z, at.y, at.word) : 0;
            unsigned flags = 0;
            const word_place in_tile{tile_order::in_tile(at.y, order.rows) == 0,
                                     tile_order::in_tile(z, order.planes) == 0,
                                     tile_order::in_tile(at.word, order.words) == 0, at.y == 0};
            const kept_record record = kept_links(f, in_tile, flags);
            if (own) out.records[place] = record;
            const bool by_front = Deep && !in_tile.first_plane && z > at.begin;
            // A row that equals the plane in front is connected as there, and through that plane.
            if (!by_front || !__all_sync(cuda::every_lane, mine.as_front ? 1 : 0))
                find_slanted<Deep>(f, kinds, by_front, known, [&](auto number, word candidates) {
                    constexpr int kind = decltype(number)::value;
                    const word links = walk.template ask<kind>(z, own ? candidates : 0);
                    if (links != 0) flags |= 1U << kind, *out.of(kind, place) = links;
                    return links;
                });
            if (own) out.flags[place] = static_cast<std::uint16_t>(flags);
        }
        front = mine.here, front_above = above, front_up = mine.up, same_front_up = mine.same_up;
        known.front_west = known.west, known.front_east = known.east;
    }
}

}  // namespace nearfield::labelling
