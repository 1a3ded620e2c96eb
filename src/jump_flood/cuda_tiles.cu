// A round of jump flooding by tiles: a thread finds the sites of several cells that lie a step apart along each axis, so that
// a word is read, unpacked and turned into terms once for all of them. For one site a cell in 32 bits.
#include "jump_flood/tiles.hpp"

#include <algorithm>

#include "jump_flood/cuda_rules.cuh"

namespace nearfield::methods {
namespace tiles {
namespace {

constexpr int threads = 128;

/// A thread's tile. `Cells` along the last axis: a step apart; or, where `Together`, neighbours, read and written by 16 bytes,
/// with a step of `Reach` cells. `Rows` along the middle axis of a volume, a step apart. Along the axis before, the thread walks.
template <bool IsVolume, int CellsOf, int RowsOf, int ReachOf, bool IsTogether>
struct tile {
    static constexpr bool volume = IsVolume, together = IsTogether;
    static constexpr int cells = CellsOf, rows = RowsOf, reach = ReachOf;
    static constexpr int words = cells + 2 * reach, word_rows = volume ? rows + 2 : 1;
};

/// A round. Axis 0 of a volume, axis 1 of an image is walked along: `along`; a volume has `across` besides.
struct plan {
    std::int32_t nx, along, across;
    std::int64_t along_stride;
    std::int32_t step;
    std::int32_t log_apart, apart;  ///< a thread's cells lie so far apart along the last axis
    std::uint32_t packed_apart;
    std::int32_t walk;                           ///< cells along a thread's walk
    std::int32_t along_classes, across_classes;  ///< coordinates that are equal modulo the step
    std::int32_t walks, groups;                  ///< of a class: walks along, groups of rows across
    std::int32_t x_threads, x_blocks;
    std::int32_t along_shift, across_shift, x_shift;  ///< of a packed site
    dim3 block;
    packed in_one;
    separate in_two;
};

/// A thread's place: its first cell, and where along a row its words lie. Where a cell has no neighbour it asks itself instead.
template <class Tile>
struct place {
    std::int32_t x, across, along;
    std::int32_t word[Tile::words];

    __device__ void look_along_the_row(const plan& p) {
#pragma unroll
        for (int w = 0; w < Tile::words; ++w) {
            std::int32_t at = x + (w - Tile::reach) * p.apart;
            at = at < 0 ? at + p.step : at >= p.nx ? at - p.step : at;
            word[w] = min(at, p.nx - 1);
            stay(word[w]);
        }
    }

    /// Has the compiler keep a number instead of finding it again in each turn of a loop.
    static __device__ void stay(std::int32_t& number) { asm("" : "+r"(number)); }
};

template <class Tile>
__device__ place<Tile> own_place(const plan& p) {
    auto block = static_cast<std::uint32_t>(blockIdx.x);
    const auto take = [&block](std::int32_t of) {
        const std::uint32_t rest = block / static_cast<std::uint32_t>(of),
                            mine = block - rest * static_cast<std::uint32_t>(of);
        block = rest;
        return static_cast<std::int32_t>(mine);
    };
    place<Tile> at;
    const std::int32_t t =
        take(p.x_blocks) * static_cast<std::int32_t>(blockDim.x) + static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t row_class = take(p.across_classes), group = take(p.groups), plane_class = take(p.along_classes);
    at.x = (t >> p.log_apart) * (Tile::cells << p.log_apart) + (t & ((1 << p.log_apart) - 1));
    const std::int32_t row =
        (group * static_cast<std::int32_t>(blockDim.y) + static_cast<std::int32_t>(threadIdx.y)) * Tile::rows;
    at.across = row_class + p.step * row;
    at.along = plane_class + p.step * p.walk * static_cast<std::int32_t>(block);
    if (t >= p.x_threads) at.x = p.nx;
    return at;
}

/// What a thread reads of one row.
template <class Tile>
struct words {
    Key of[Tile::words];

    __device__ void read(const place<Tile>& at, const Key* row) {
        if constexpr (Tile::together) {
            const int4* const here = reinterpret_cast<const int4*>(row + at.x);
            if constexpr (Tile::reach == 4) put4(0, *reinterpret_cast<const int4*>(row + at.word[0]));
            if constexpr (Tile::reach == 2) put2(0, *reinterpret_cast<const int2*>(row + at.word[0]));
            if constexpr (Tile::reach == 1) of[0] = row[at.word[0]];
#pragma unroll
            for (int k = 0; k < Tile::cells / 4; ++k) put4(Tile::reach + 4 * k, here[k]);
            constexpr int last = Tile::reach + Tile::cells;
            if constexpr (Tile::reach == 4) put4(last, *reinterpret_cast<const int4*>(row + at.word[last]));
            if constexpr (Tile::reach == 2) put2(last, *reinterpret_cast<const int2*>(row + at.word[last]));
            if constexpr (Tile::reach == 1) of[last] = row[at.word[last]];
        } else {
#pragma unroll
            for (int w = 0; w < Tile::words; ++w) of[w] = row[at.word[w]];
        }
    }

private:
    __device__ void put4(int k, int4 v) { of[k] = v.x, of[k + 1] = v.y, of[k + 2] = v.z, of[k + 3] = v.w; }
    __device__ void put2(int k, int2 v) { of[k] = v.x, of[k + 1] = v.y; }
};

/// A thread's walk by one of the rules.
template <class Tile, class Rule>
class walker {
    using kept = typename Rule::kept;
    static constexpr int along_axis = Tile::volume ? 0 : 1;

public:
    __device__ walker(const plan& p, const Rule& rule, const place<Tile>& at, const Key* from, Key* to)
        : p_(p), rule_(rule), at_(at) {
#pragma unroll
        for (int w = 0; w < Tile::words; ++w) {
            x_origin_[w] = rule_.origin(at_.x + (w - Tile::reach) * p_.apart);
            place<Tile>::stay(x_origin_[w]);
        }
#pragma unroll
        for (int row = 0; row < Tile::rows; ++row)
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell)
#pragma unroll
                for (int k = 0; k < 3; ++k) best_[k][row][cell] = Rule::nothing();
        plane_ = p_.step * p_.along_stride, row_ = static_cast<std::int64_t>(p_.step) * p_.nx;
        const std::int64_t first = at_.along * p_.along_stride + static_cast<std::int64_t>(at_.across) * p_.nx;
        from_ = from + first - plane_, to_ = to + first;
        cells_ = min(Tile::cells, (p_.nx - 1 - at_.x) / p_.apart + 1);
        place<Tile>::stay(cells_);
        first_cell_ = (static_cast<std::uint32_t>(at_.x) << p_.x_shift) - rule_.centre;
    }

    /// False where the rule leaves a cell undecided. The next row is read while one is offered.
    __device__ bool run() {
        words<Tile> now, next;
        typename Rule::doubt doubt{};
        const std::int32_t end = min(p_.along, at_.along + p_.walk * p_.step);
        std::int32_t along = at_.along - p_.step;
        read(next, along, 0);
#pragma unroll(Tile::volume ? 1 : Rule::unrolled)
        for (; along < end + p_.step; along += p_.step) {
#pragma unroll
            for (int r = 0; r < Tile::word_rows; ++r) {
                now = next;
                if (r + 1 < Tile::word_rows) {
                    read(next, along, r + 1);
                } else {
                    from_ += plane_;
                    if (along < end) read(next, along + p_.step, 0);
                }
                if (row_is_there(along, r)) offer_row(now, r, rule_.origin(along));
            }
            if (along > at_.along) write(along - p_.step, doubt);
            move_on();
        }
        return rule_.decided(doubt);
    }

private:
    __device__ bool row_is_there(std::int32_t along, int r) const {
        if (static_cast<std::uint32_t>(along) >= static_cast<std::uint32_t>(p_.along)) return false;
        if constexpr (!Tile::volume) return true;
        return static_cast<std::uint32_t>(at_.across + (r - 1) * p_.step) < static_cast<std::uint32_t>(p_.across);
    }
    __device__ void read(words<Tile>& to, std::int32_t along, int r) const {
        if (row_is_there(along, r)) to.read(at_, Tile::volume ? from_ + (r - 1) * row_ : from_);
    }

    /// Offers what a row's words hold to the cells of the tile, in the plane before, in the same one and in the one after it.
    __device__ void offer_row(const words<Tile>& row, int r, std::int32_t along_origin) {
        const std::int32_t across_origin = rule_.origin(at_.across + (r - 1) * p_.step);
#pragma unroll
        for (int w = 0; w < Tile::words; ++w) {
            const Key key = row.of[w];
            if (!Rule::counts(key)) continue;
            const terms x = rule_.template terms_of<2, Tile::volume>(key, x_origin_[w]);
            const terms along = rule_.template terms_of<along_axis, Tile::volume>(key, along_origin);
            terms across{};
            if constexpr (Tile::volume) across = rule_.template terms_of<1, true>(key, across_origin);
#pragma unroll
            for (int cell = max(0, w - 2 * Tile::reach); cell <= min(w, Tile::cells - 1); ++cell) {
                if ((w - cell) % Tile::reach != 0) continue;
#pragma unroll
                for (int t = Tile::volume ? max(0, r - 2) : 0; t <= (Tile::volume ? min(r, Tile::rows - 1) : 0); ++t) {
                    std::uint32_t sum = x.at[(w - cell) / Tile::reach];
                    if constexpr (Tile::volume) sum += across.at[r - t];
                    Rule::offer(best_[2][t][cell], sum, along.at[0], key);
                    Rule::offer(best_[1][t][cell], sum, along.at[1], key);
                    Rule::offer(best_[0][t][cell], sum, along.at[2], key);
                }
            }
        }
    }

    /// Writes what is kept for the cells that all rows they ask have been offered to.
    __device__ void write(std::int32_t along, typename Rule::doubt& doubt) {
        Key* to = to_;
        to_ += plane_;
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t, to += row_) {
            const std::int32_t across = at_.across + t * p_.step;
            if (Tile::volume && across >= p_.across) break;
            const std::uint32_t first = first_cell_ + (static_cast<std::uint32_t>(along) << p_.along_shift) +
                                        (Tile::volume ? static_cast<std::uint32_t>(across) << p_.across_shift : 0);
            Key site[Tile::cells];
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell) {
                site[cell] = rule_.template site_of<Tile::volume>(
                    best_[0][t][cell], first + static_cast<std::uint32_t>(cell) * p_.packed_apart);
                Rule::look_at(best_[0][t][cell], doubt);
            }
            put(to, site);
        }
    }
    __device__ void put(Key* row, const Key (&site)[Tile::cells]) const {
        if constexpr (Tile::together) {
            int4* const to = reinterpret_cast<int4*>(row + at_.x);
#pragma unroll
            for (int k = 0; k < Tile::cells / 4; ++k)
                to[k] = {site[4 * k], site[4 * k + 1], site[4 * k + 2], site[4 * k + 3]};
        } else {
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell)
                if (cell < cells_) row[at_.word[cell + 1]] = site[cell];
        }
    }
    __device__ void move_on() {
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t)
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell)
                best_[0][t][cell] = best_[1][t][cell], best_[1][t][cell] = best_[2][t][cell],
                best_[2][t][cell] = Rule::nothing();
    }

    const plan& p_;
    const Rule& rule_;
    const place<Tile>& at_;
    const Key* from_;
    Key* to_;
    std::int64_t plane_, row_;
    std::int32_t cells_;        ///< of a row that there are
    std::uint32_t first_cell_;  ///< its part of a packed site that is the last axis's
    std::int32_t x_origin_[Tile::words];
    kept best_[3][Tile::rows][Tile::cells];
};

/// Each thread finds the sites of its tile: by one number a cell, and where that leaves one undecided, by two. Neighbouring
/// threads own neighbouring cells of a row up to a step, then the next tile, so that what a warp reads or writes at once lies
/// in four lines of the cache.
template <class Tile>
__global__ void __launch_bounds__(threads) flood(const __grid_constant__ plan p, const Key* from, Key* to) {
    place<Tile> at = own_place<Tile>(p);
    if (at.x >= p.nx || at.across >= p.across || at.along >= p.along) return;
    at.look_along_the_row(p);
    if (p.in_one.usable && walker<Tile, packed>(p, p.in_one, at, from, to).run()) return;
    walker<Tile, separate>(p, p.in_two, at, from, to).run();
}

std::int32_t ceiling(std::int64_t a, std::int64_t b) { return static_cast<std::int32_t>((a + b - 1) / b); }

/// Long walks read fewer planes twice; short ones give a small grid threads enough. Not measured yet.
std::int32_t walk_of(std::int64_t cells, int cells_a_plane, std::int32_t planes) {
    constexpr std::int64_t enough = 1 << 17;
    std::int32_t walk = 16;
    while (walk > 4 && cells / (cells_a_plane * walk) < enough) walk /= 2;
    return std::min(walk, planes);
}

template <class Tile>
plan plan_of(const grid& g, std::int64_t step, std::int64_t unit) {
    plan p{};
    p.step = static_cast<std::int32_t>(step);
    p.nx = static_cast<std::int32_t>(g.size[2]);
    p.along = static_cast<std::int32_t>(g.size[Tile::volume ? 0 : 1]);
    p.across = Tile::volume ? static_cast<std::int32_t>(g.size[1]) : 1;
    p.along_stride = Tile::volume ? g.size[1] * g.size[2] : g.size[2];
    p.apart = Tile::together ? 1 : p.step;
    p.log_apart = std::countr_zero(static_cast<unsigned>(p.apart));
    p.along_shift = g.keys.shift[Tile::volume ? 0 : 1], p.across_shift = g.keys.shift[1], p.x_shift = g.keys.shift[2];
    p.packed_apart = static_cast<std::uint32_t>(p.apart) << p.x_shift;
    p.along_classes = std::min(p.step, p.along), p.across_classes = std::min(p.step, p.across);
    p.walk = walk_of(g.cells(), Tile::cells * Tile::rows, ceiling(p.along, step));
    p.walks = ceiling(ceiling(p.along, step), p.walk);
    const std::int32_t whole = p.nx / (Tile::cells * p.apart), rest = p.nx % (Tile::cells * p.apart);
    p.x_threads = whole * p.apart + std::min(rest, p.apart);
    const std::int32_t rows = ceiling(ceiling(p.across, step), Tile::rows);
    p.block.y = std::bit_floor(static_cast<unsigned>(std::min(rows, 4)));
    p.block.x =
        std::min<unsigned>(threads / p.block.y, static_cast<unsigned>(ceiling(p.x_threads, cuda::warp) * cuda::warp));
    p.groups = ceiling(rows, p.block.y);
    p.x_blocks = ceiling(p.x_threads, p.block.x);
    p.in_one = packed_of(g, step, unit, Tile::volume);
    p.in_two = separate_of(g, step);
    return p;
}

template <class Tile>
void run(const device& on, const grid& g, std::int64_t step, std::int64_t unit, const Key* from, Key* to) {
    const plan p = plan_of<Tile>(g, step, unit);
    const std::int64_t blocks =
        static_cast<std::int64_t>(p.x_blocks) * p.across_classes * p.groups * p.along_classes * p.walks;
    cuda::launch(on, flood<Tile>, blocks, p.block, 0, p, from, to);
}

}  // namespace
}  // namespace tiles

void tiled_round(const device& on, const grid& g, std::int64_t step, std::int64_t unit, const std::int32_t* from,
                 std::int32_t* to) {
    using namespace tiles;
    const auto by = [&]<class Tile>(Tile) { run<Tile>(on, g, step, unit, from, to); };
    if (g.size[0] > 1) {
        if (g.size[2] % 4 != 0 || step > 2) return by(tile<true, 4, 2, 1, false>{});
        return step == 1 ? by(tile<true, 4, 2, 1, true>{}) : by(tile<true, 4, 2, 2, true>{});
    }
    if (g.size[2] % 8 != 0 || step > 4)
        return g.size[2] > 4 * step ? by(tile<false, 8, 1, 1, false>{}) : by(tile<false, 2, 1, 1, false>{});
    if (step == 1) by(tile<false, 8, 1, 1, true>{});
    else if (step == 2) by(tile<false, 8, 1, 2, true>{});
    else by(tile<false, 8, 1, 4, true>{});
}

}  // namespace nearfield::methods
