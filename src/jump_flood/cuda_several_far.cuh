// Places a tile in its image, and does its rounds with distance and site as two numbers, for tiles with a site that is
// too far for one number.
#pragma once

#include "jump_flood/cuda_several.cuh"

namespace nearfield::methods::several {

struct image {
    std::int32_t nx, ny, x_shift;
    std::uint32_t y_mask;

    __device__ Key site(std::int32_t x, std::int32_t y) const { return x << x_shift | y; }
    __device__ std::int32_t x_of(Key site) const { return site >> x_shift; }
    __device__ std::int32_t y_of(Key site) const {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(site) & y_mask);
    }
};

/// A tile's place in the image. `around` yields the tile and the existing cells that are at most so far from it.
template <class Tiling>
struct tile_place {
    std::int32_t x, y;  ///< image coordinates of the array's first word

    __device__ area around(const image& of, std::int32_t cells) const {
        const std::int32_t first = Tiling::halo - cells;
        return {max(first + x, 0) - x, min(Tiling::halo + Tiling::wide + cells, of.nx - x), max(first + y, 0) - y,
                min(Tiling::halo + Tiling::high + cells, of.ny - y)};
    }
    /// Calls body(x, y, word) for all cells of a tile's array, or with `Own` for those of the tile.
    template <bool Own, class Body>
    __device__ void each(const Body& body) const {
        constexpr int first = Own ? Tiling::halo : 0, end = Own ? first + Tiling::wide : Tiling::pitch,
                      rows_end = Own ? first + Tiling::high : Tiling::rows;
        const auto warp = static_cast<int>(threadIdx.x) / cuda::warp, lane = static_cast<int>(threadIdx.x) % cuda::warp;
#pragma unroll 2
        for (int v = first + warp; v < rows_end; v += Tiling::warps)
#pragma unroll
            for (int u = first + lane; u < end; u += cuda::warp) body(x + u, y + v, v * Tiling::pitch + u);
    }
};

/// A round of a tile with distance and site as two numbers, for sites too far for one. Words are packed sites. A thread
/// owns the same cells as with one number.
template <int Step, class Tiling, int Beyond = Step - 1 + Tiling::more>
class far_round {
    static constexpr int cells = Tiling::cells_of(Step), rows = Tiling::rows_of(Step);
    static constexpr std::int32_t nowhere = 1 << 29;  ///< farther than any site

public:
    static __device__ void run(const image& of, arrays& in, const tile_place<Tiling>& at) {
        const area own = at.around(of, Beyond);
        const std::int32_t wide = (own.x_end - own.x_first + Step * cells - 1) / (Step * cells),
                           high = (own.y_end - own.y_first + Step * rows - 1) / (Step * rows),
                           tiles = Step * wide * Step * high;
        for (auto t = static_cast<std::int32_t>(threadIdx.x); t < tiles; t += Tiling::threads) {
            const std::int32_t line = t / Step / wide,
                               x = own.x_first + t % Step + Step * cells * (t / Step - line * wide),
                               y = own.y_first + line % Step + Step * rows * (line / Step);
            if (x < own.x_end && y < own.y_end) far_round(of, in, at, own, x, y).walk();
        }
        in.swap();
        __syncthreads();
    }

private:
    __device__ far_round(const image& of, const arrays& in, const tile_place<Tiling>& at, const area& own,
                         std::int32_t x, std::int32_t y)
        : of_(of),
          in_(in),
          x_(at.x + x),
          y_(at.y + y),
          cells_(min(cells, (own.x_end - 1 - x) / Step + 1)),
          rows_(min(rows, (own.y_end - 1 - y) / Step + 1)),
          first_(y * in.pitch + x) {}

    __device__ void walk() {
        std::uint32_t now[cells + 2], next[cells + 2];
        read(next, 0);
#pragma unroll
        for (int row = 0; row < rows + 2; ++row) {
#pragma unroll
            for (int c = 0; c < cells + 2; ++c) now[c] = next[c];
            if (row <= rows) read(next, row + 1);
            offer(now, row);
            if (row < 2 || row - 2 >= rows_) continue;
            std::uint32_t* const to = in_.next + first_ + (row - 2) * Step * in_.pitch;
#pragma unroll
            for (int c = 0; c < cells; ++c)
                if (c < cells_) to[c * Step] = static_cast<std::uint32_t>(best_[(row + 2) % 3][c].site);
        }
    }
    __device__ void read(std::uint32_t (&to)[cells + 2], int row) const {
        const std::uint32_t* line = in_.now + first_ + (row - 1) * Step * in_.pitch;
        if (row > 1) line = row - 1 <= rows_ ? line : in_.empty + Step;
#pragma unroll
        for (int c = 0; c < cells + 2; ++c) to[c] = line[(c - 1) * Step];
    }
    /// Offers sites to the cells of the row after, of the same row and of the row before.
    __device__ void offer(const std::uint32_t (&heard)[cells + 2], int row) {
        if (row < rows)
#pragma unroll
            for (int c = 0; c < cells; ++c) best_[(row + 1) % 3][c] = {};
#pragma unroll
        for (int c = 0; c < cells + 2; ++c) {
            const auto site = static_cast<Key>(heard[c]);
            const std::int32_t dx = of_.x_of(site) - x_, dy = of_.y_of(site) - y_ - (row - 1) * Step,
                               sum = site < 0 ? nowhere : dx * dx + dy * dy, after = Step * Step - 2 * Step * dy,
                               before = Step * Step + 2 * Step * dy;
#pragma unroll
            for (int cell = max(0, c - 2); cell <= min(c, cells - 1); ++cell) {
                const std::int32_t same = dx * (-2 * cell * Step) + sum + cell * Step * cell * Step;
                if (row < rows) best_[(row + 1) % 3][cell].offer(same + after, site);
                if (row > 0 && row <= rows) best_[row % 3][cell].offer(same, site);
                if (row > 1) best_[(row + 2) % 3][cell].offer(same + before, site);
            }
        }
    }

    const image& of_;
    const arrays& in_;
    const std::int32_t x_, y_;  ///< image coordinates of the thread's first cell
    const std::int32_t cells_, rows_, first_;
    nearest<std::int32_t, Key> best_[3][cells];
};

}  // namespace nearfield::methods::several
