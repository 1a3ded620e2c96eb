// Cells that tables of narrow corridors can do without, such as dead ends, taken out before the tables are made. A cell
// may go if its remaining neighbours reach each other for no more without it. The last stage finds its key from theirs.
#pragma once

#include "geodesic/cuda_contract.cuh"
#include "geodesic/cuda_relax.cuh"

namespace nearfield::geodesics {

inline constexpr int part_side = 1 << part_bits / 2;

/// Returns the place of a part's first cell.
NF_HD constexpr std::int64_t first_of_part(std::int64_t part) {
    return part >> 2 << device_tile_bits | (part >> 1 & 1) << 11 | (part & 1) << 5;
}

/// The threads of a grid whose blocks all run at once.
struct grid_threads {
    [[nodiscard]] static __device__ std::uint32_t first() { return blockIdx.x * blockDim.x + threadIdx.x; }
    [[nodiscard]] static __device__ std::uint32_t stride() { return gridDim.x * blockDim.x; }
    static __device__ void meet() {
        if (gridDim.x > 1) cooperative_groups::this_grid().sync();
        else __syncthreads();
    }
    [[nodiscard]] static __device__ std::uint32_t lane() { return threadIdx.x % cuda::warp; }
};

/// The cells that tables of parts take: a bit each, row by row of all images, 32 cells a word. `bits` has as many words
/// again for the cells with keys, and for those from which keys spread.
struct remaining_cells {
    std::uint32_t *bits = nullptr, along = 0, high = 0;  ///< along: words of a row; high: rows of an image
    std::int64_t rows = 0;                               ///< of all images
    bool wraps[2]{};                                     ///< rows; columns

    remaining_cells() = default;
    remaining_cells(const device_tiling<few_axes>& t, std::uint32_t* to)
        : bits(to),
          along(static_cast<std::uint32_t>(t.tiles_along[few_axes - 1]) * (sweep_side / part_side)),
          high(static_cast<std::uint32_t>(t.tiles_along[few_axes - 2]) * sweep_side),
          rows(t.tiles * sweep_side / t.tiles_along[few_axes - 1]),
          wraps{t.wraps[few_axes - 2], t.wraps[few_axes - 1]} {}
    [[nodiscard]] NF_HD std::int64_t words() const { return rows * along; }
    [[nodiscard]] NF_HD std::uint32_t* sources() const { return bits + 2 * words(); }
    /// Number of the word of a part's row.
    [[nodiscard]] __device__ std::int64_t word(std::int64_t part, int row) const {
        const std::int64_t tile = part >> 2, tiles = along * part_side / sweep_side, above = quotient(tile, tiles);
        return (above * sweep_side + (part >> 1 & 1) * part_side + row) * along + 2 * (tile - above * tiles) +
               (part & 1);
    }
    /// Words around the x-th one of a row; 0 outside the image.
    struct neighbours {
        unsigned cell[8];  ///< a bit for each cell: the neighbour above it, and the others clockwise
    };
    [[nodiscard]] __device__ neighbours beside(std::int64_t row, std::int64_t x) const {
        const std::int64_t in_image = row % high, first = row - in_image;
        unsigned line[3][3];
#pragma unroll
        for (int dy = 0; dy < 3; ++dy) {
            const std::int64_t y = moved(in_image, dy - 1, high, wraps[0]);
#pragma unroll
            for (int dx = 0; dx < 3; ++dx) {
                const std::int64_t at = moved(x, dx - 1, along, wraps[1]);
                line[dy][dx] = y < 0 || at < 0 ? 0 : fresh(bits + (first + y) * along + at);
            }
        }
        const auto left = [&](int dy) { return line[dy][1] << 1 | line[dy][0] >> 31; };
        const auto right = [&](int dy) { return line[dy][1] >> 1 | line[dy][2] << 31; };
        return {{line[0][1], right(0), right(1), right(2), line[2][1], left(2), left(1), left(0)}};
    }

private:
    [[nodiscard]] static __device__ std::int64_t moved(std::int64_t at, int by, std::int64_t size, bool wraps) {
        const std::int64_t to = at + by;
        if (to >= 0 && to < size) return to;
        return !wraps ? -1 : to < 0 ? size - 1 : 0;
    }
};

/// True if pieces may be those of parts, as in narrow corridors with diagonal steps.
template <class Word>
__device__ bool may_have_parts(const work<Word, few_axes>& w) {
    return end_of_stage(w) >= 0 && w.sweeps.reach > 0 && leaves_at_most(*w.queue.counts, w.middling);
}
/// True if pieces are those of parts, as in mazes: most cells are redundant, or many tiles waited. Else they are those
/// of tiles, whose tables are made sooner in a single corridor that winds.
template <class Word>
__device__ bool has_parts(const work<Word, few_axes>& w) {
    const solver_counts& c = *w.queue.counts;
    const bool many = c.sampled_before == 0 ? c.parked[0] > w.few : c.sampled_before > 1;
    return may_have_parts(w) && (many || c.remaining <= c.cells / 2);
}

/// Reads the cells of all parts, and takes out redundant ones. Cells with a key stay if they have a neighbour without
/// one: keys spread from them. Of cells beside each other only one goes at a time: those of every other row and column.
/// Cells of a part's rim get `none` as their number. All blocks run at once. Over 40 lines because all phases share the
/// grid's threads and the arrays.
template <class Word>
__global__ void __launch_bounds__(threads_of_block)
    peel(const __grid_constant__ work<Word, few_axes> w, const __grid_constant__ remaining_cells cells,
         std::uint32_t* number, std::uint32_t none, int rounds) {
    using grid = grid_threads;
    if (!may_have_parts(w)) return;
    const std::uint32_t along = cells.along, words = static_cast<std::uint32_t>(cells.words());
    std::uint32_t *const known = cells.bits + words, *const sources = cells.sources();
    const std::int64_t parts = w.where.tiles << (device_tile_bits - part_bits);
    const int lane = static_cast<int>(grid::lane());
    const auto count = [lane](std::uint32_t& all, unsigned own) {
        own = __reduce_add_sync(cuda::every_lane, own);
        if (lane == 0) atomicAdd(&all, own);
    };
    unsigned own_cells = 0;
    for (std::int64_t part = grid::first() / cuda::warp; part < parts; part += grid::stride() / cuda::warp) {
        const std::int64_t first = first_of_part(part), word = cells.word(part, lane);
#pragma unroll 8
        for (int y = 0; y < part_side; ++y) {
            const std::int64_t place = first + y * sweep_side + lane;
            const Word key = w.key[place];
            const unsigned open = __ballot_sync(cuda::every_lane, key >= w.far ? 1 : 0);
            const unsigned keyed = __ballot_sync(cuda::every_lane, key != 0 && key < w.far ? 1 : 0);
            if (y == lane) cells.bits[word] = open, known[word] = keyed;
            own_cells += lane == 0 ? static_cast<unsigned>(__popc(open | keyed)) : 0;
            if (y % (part_side - 1) == 0 || lane % (part_side - 1) == 0) number[place] = none;
        }
    }
    count(w.queue.counts->cells, own_cells), own_cells = 0;
    grid::meet();
    for (std::uint32_t i = grid::first(); i < words; i += grid::stride()) {
        unsigned beside = 0;
        if (known[i] != 0)
            for (const unsigned neighbour : cells.beside(i / along, i % along).cell) beside |= neighbour;
        sources[i] = known[i] & beside;
    }
    grid::meet();
    for (std::uint32_t i = grid::first(); i < words; i += grid::stride()) cells.bits[i] |= known[i];
    grid::meet();
    for (int turn = 0; turn < 4 * rounds; ++turn) {
        const unsigned columns = (turn & 2) == 0 ? 0x55555555 : 0xaaaaaaaa;
        for (std::uint32_t i = grid::first(); i < words / 2; i += grid::stride()) {
            const std::uint32_t row = i / along * 2 + (turn & 1), x = i % along;
            const unsigned own = fresh(cells.bits + row * along + x),
                           candidates = own & columns & ~sources[row * along + x];
            if (candidates == 0) continue;
            const unsigned gone = candidates & redundant(cells.beside(row, x).cell);
            if (gone != 0) cells.bits[row * along + x] = own & ~gone;
        }
        grid::meet();
    }
    for (std::uint32_t i = grid::first(); i < words; i += grid::stride())
        own_cells += static_cast<unsigned>(__popc(fresh(cells.bits + i)));
    count(w.queue.counts->remaining, own_cells);
}

}  // namespace nearfield::geodesics
