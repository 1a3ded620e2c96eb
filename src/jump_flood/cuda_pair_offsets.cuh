// Jump flooding in volumes with two sites a cell, whose words hold offsets to the sites: laid out as for one site in
// cuda_offsets.cuh, compared as in cuda_pair_rules.cuh.
#pragma once

#include "jump_flood/cuda_offsets.cuh"
#include "jump_flood/cuda_pair_walk.cuh"

namespace nearfield::methods::tiles {

/// A thread's walk in one round. Lists the stretches with a cell that may have a farther site.
template <class Tile, turn Turn>
class pair_offsets_walker {
    static_assert(Tile::lies == form::spread);
    static constexpr int held = Turn == turn::first ? 1 : 2;  ///< words that are read of a cell
    using heard_word = word_heard<Turn == turn::first>;

public:
    __device__ pair_offsets_walker(const plan& p, const offsets& o, const factors& by, const place<Tile>& at,
                                   const both<const Key>& from, const both<Key>& to, open_stretches left)
        : p_(p), o_(o), by_(by), at_(at), left_(left), end_(min(p.along, at.along + p.walk * p.step)) {
#pragma unroll
        for (int k = 0; k < 3; ++k) forget(k);
        plane_ = p_.step * p_.along_stride, row_ = static_cast<std::int64_t>(p_.step) * p_.nx;
        const std::int64_t first = at_.along * p_.along_stride + static_cast<std::int64_t>(at_.across) * p_.nx;
        from_ = from.first + first - plane_, to_ = to.first + first;
        from_second_ = from.second - from.first, to_second_ = to.second - to.first;
        above_ = at_.across >= p_.step, rows_ = min(Tile::rows + 1, (p_.across - 1 - at_.across) / p_.step + 1);
        cell_ = static_cast<std::uint32_t>(first + at_.x);
        cells_ = min(Tile::cells, (p_.nx - 1 - at_.x) / p_.step + 1);
        before_ = at_.x >= p_.step;
#pragma unroll
        for (int k = 0; k < Tile::cells; ++k) {
            after_[k] = at_.x + (k + 1) * p_.step < p_.nx;
            place<Tile>::stay(after_[k]);
        }
        place<Tile>::stay(above_), place<Tile>::stay(rows_), place<Tile>::stay(cells_), place<Tile>::stay(before_);
    }

    /// Walks over all planes; reads the next row while it offers one.
    __device__ void run() {
        std::int32_t along = at_.along - p_.step;
        read(along, 0);
        plane<true, false, false>(along);
        move_on();
        along += p_.step;
#pragma unroll 1
        for (; along < end_; along += p_.step) {
            plane<true, true, true>(along);
            if (along > at_.along) write(along - p_.step);
            move_on();
        }
        plane<false, false, true>(along);
        write(along - p_.step);
    }

private:
    struct kept {
        std::uint32_t first, second;
    };

    template <bool After, bool Same, bool Before>
    __device__ void plane(std::int32_t along) {
#pragma unroll
        for (int r = 0; r < Tile::word_rows; ++r) {
            words<Tile> now[held];
#pragma unroll
            for (int s = 0; s < held; ++s) now[s] = next_[s];
            if (r + 1 < Tile::word_rows) {
                read(along, r + 1);
            } else if (!(Before && !Same)) {
                from_ += plane_;
                read(along + p_.step, 0);
            }
            if (row_is_there(along, r)) offer_row<After, Same, Before>(now, r);
        }
    }
    __device__ bool row_is_there(std::int32_t along, int r) const {
        if (static_cast<std::uint32_t>(along) >= static_cast<std::uint32_t>(p_.along)) return false;
        return r == 0 ? above_ != 0 : r <= rows_;
    }
    __device__ void read(std::int32_t along, int r) {
        if (!row_is_there(along, r)) return;
        const Key* const row = from_ + (r - 1) * row_;
        next_[0].read(p_, at_, row);
        if constexpr (held == 2) next_[1].read(p_, at_, row + from_second_);
    }

    /// 1 if word w exists. If not, the cell's own word was read in its place, and is offered as such.
    __device__ std::uint32_t is_before(int w) const { return w < 1 ? static_cast<std::uint32_t>(before_) : o_.one; }
    __device__ std::uint32_t is_after(int w) const { return static_cast<std::uint32_t>(after_[w - 2]); }

    /// The words that a cell receives from a row: three words of one or two sites.
    struct asked {
        heard_word of[3 * held];
    };
    __device__ void hear(asked& here, int slot, const words<Tile> (&row)[held], int w) const {
#pragma unroll
        for (int s = 0; s < held; ++s)
            here.of[held * slot + s] = heard_word(o_, static_cast<std::uint32_t>(row[s].of[w]));
    }

    /// Offers a row's words to the tile's cells. Cells that share words are adjacent.
    template <bool After, bool Same, bool Before>
    __device__ void offer_row(const words<Tile> (&row)[held], int r) {
        constexpr int all = 3 * held;
        asked here;
        hear(here, 0, row, 0), hear(here, 1, row, 1);
#pragma unroll
        for (int cell = 0; cell < Tile::cells; ++cell) {
            hear(here, (cell + 2) % 3, row, cell + 2);
            std::uint32_t in_column[all];
#pragma unroll
            for (int k = 0; k < all; ++k) {
                const heard_word& h = here.of[k];
                const int place_of = (k / held - cell % 3 + 3) % 3;
                in_column[k] = place_of == 0   ? h.x_before * is_before(cell) + h.here
                               : place_of == 2 ? h.x_after * is_after(cell + 2) + h.here
                                               : h.here;
            }
#pragma unroll
            for (int t = max(0, r - 2); t <= min(r, Tile::rows - 1); ++t) {
                std::uint32_t sums[all], x[all];
#pragma unroll
                for (int k = 0; k < all; ++k)
                    sums[k] = r == t       ? by_.sum(here.of[k].y_before, in_column[k])
                              : r == t + 2 ? by_.sum(here.of[k].y_after, in_column[k])
                                           : in_column[k];
                if (Same) offer(best_[1][t][cell], sums);
                if (After) {
#pragma unroll
                    for (int k = 0; k < all; ++k) x[k] = by_.sum(here.of[k].z_before, sums[k]);
                    offer(best_[2][t][cell], x);
                }
                if (Before) {
#pragma unroll
                    for (int k = 0; k < all; ++k) x[k] = by_.sum(here.of[k].z_after, sums[k]);
                    offer(best_[0][t][cell], x);
                }
            }
        }
    }
    /// Offers numbers to a cell. The second site is the smallest number above the first: x - first - 1 as an unsigned
    /// number is largest if x is the first itself.
    template <int Count>
    __device__ void offer(kept& best, const std::uint32_t (&x)[Count]) const {
        std::uint32_t first = __vimin3_u32(best.first, x[0], x[1]);
        if constexpr (Count == 6) first = __vimin3_u32(first, __vimin3_u32(x[2], x[3], x[4]), x[5]);
        else first = min(first, x[2]);
        const std::uint32_t less = by_.complement(first);
        std::uint32_t above = __viaddmin_u32(best.first, less, by_.sum(best.second, less));
#pragma unroll
        for (int k = 0; k < Count; ++k) above = __viaddmin_u32(x[k], less, above);
        best = {first, by_.difference(above, less)};
    }

    __device__ void write(std::int32_t along) {
        Key* to = to_;
        to_ += plane_;
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t, to += row_) {
            if (t >= rows_) break;
            Key first[Tile::cells], second[Tile::cells];
#pragma unroll
            for (int c = 0; c < Tile::cells; ++c) {
                const kept best = best_[0][t][c];
                if (c < cells_) worst_ = max(worst_, best.second);
                first[c] = Turn == turn::last ? site_of(p_, o_, best.first, at_.x + c, at_.across + t, along)
                                              : static_cast<Key>(best.first);
                second[c] = Turn == turn::last ? site_of(p_, o_, best.second, at_.x + c, at_.across + t, along)
                                               : static_cast<Key>(best.second);
            }
            put(to, first), put(to + to_second_, second);
        }
        if (++written_ < stretch && along + p_.step < end_) return;
        if (worst_ >= o_.sure && !o_.all_near) left_.first[atomicAdd(left_.count, 1u)] = cell_;
        cell_ += static_cast<std::uint32_t>(written_ * plane_);
        worst_ = 0, written_ = 0;
    }
    __device__ void put(Key* row, const Key (&word)[Tile::cells]) const {
#pragma unroll
        for (int cell = 0; cell < Tile::cells; ++cell)
            if (cell < cells_) *p_.at(row, at_.word[cell + 1]) = word[cell];
    }
    __device__ void forget(int k) {
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t)
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell) best_[k][t][cell] = {~0u, ~0u};
    }
    __device__ void move_on() {
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t)
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell)
                best_[0][t][cell] = best_[1][t][cell], best_[1][t][cell] = best_[2][t][cell];
        forget(2);
    }

    const plan& p_;
    const offsets& o_;
    const factors& by_;
    const place<Tile>& at_;
    const open_stretches left_;
    const std::int32_t end_;
    const Key* from_;
    Key* to_;
    std::int64_t from_second_, to_second_, plane_, row_;
    std::int32_t cells_, above_, rows_, before_;  ///< as in offsets_walker
    std::uint32_t cell_, worst_ = 0;
    std::int32_t written_ = 0;
    std::int32_t after_[Tile::cells];
    words<Tile> next_[held];
    kept best_[3][Tile::rows][Tile::cells];
};

/// Compares distance and site of pairs as two numbers, but reads and writes words of offsets.
struct separate_offset_pairs : separate_pairs {
    const separate_offsets& words;
    static constexpr bool from_offsets = true;
};

}  // namespace nearfield::methods::tiles
