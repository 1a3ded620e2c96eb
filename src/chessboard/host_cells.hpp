// Rows of the image and of the output, for both ways of the host.
#pragma once

#include "base/lines.hpp"
#include "chessboard/core.hpp"

namespace nearfield::chessboard {

/// Reads a row of the image: 1 where a cell is a site, else 0.
inline void read_sites(const problem& p, std::int64_t row, std::uint8_t* site) {
    const std::int64_t n = p.size[p.rank - 1], step = p.image_step[p.rank - 1];
    with_bits(p.image_type, [&]<class Bits>(Bits, Bits counts) {
        const Bits* from = static_cast<const Bits*>(p.image) + offset_of(row * n, p.size, p.image_step, p.rank);
        const auto one = [counts, flip = p.nonzero](Bits bits) { return ((bits & counts) == 0) != flip ? 1 : 0; };
        if (step == 1)
            for (std::int64_t x = 0; x < n; ++x) site[x] = static_cast<std::uint8_t>(one(from[x]));
        else
            for (std::int64_t x = 0; x < n; ++x) site[x] = static_cast<std::uint8_t>(one(from[x * step]));
    });
}

/// Writes a row of distances to the output. `loop` does so for contiguous rows of four bytes a cell.
template <class T, class Loop>
void write_distances(const problem& p, std::int64_t row, const T* from, const Loop& loop) {
    const std::int64_t n = p.size[p.rank - 1], step = p.out_step[p.rank - 1];
    const auto limit = static_cast<std::uint32_t>(p.limit);
    with_output(p.out_type, [&]<class Out>(Out, std::uint32_t most) {
        Out* to = static_cast<Out*>(p.out) + offset_of(row * n, p.size, p.out_step, p.rank);
        if (step == 1 && sizeof(Out) == 4) return loop(from, n, limit, most, reinterpret_cast<std::uint32_t*>(to));
        for (std::int64_t x = 0; x < n; ++x) to[x * step] = static_cast<Out>(written(from[x], limit, most));
    });
}

}  // namespace nearfield::chessboard
