// A thread's walk along its tile if cells hold two sites each. It reads the same words in the same order as with one
// site (cuda_walk.cuh); cuda_pair_rules.cuh compares the sites.
#pragma once

#include "jump_flood/cuda_pair_rules.cuh"
#include "jump_flood/cuda_walk.cuh"
#include "jump_flood/tiles.hpp"

namespace nearfield::methods::tiles {

/// A thread's walk that compares sites by `Rule`.
template <class Tile, class Rule>
class pair_walker {
    using kept = typename Rule::kept;
    static constexpr int along_axis = Tile::volume ? 0 : 1;

public:
    /// `walk`: number of cells along the axis that is walked.
    __device__ pair_walker(const plan& p, const Rule& rule, const place<Tile>& at, std::int32_t walk,
                           const both<const Key>& from, const both<Key>& to)
        : p_(p), rule_(rule), at_(at), end_(min(p.along, at.along + walk * p.step)) {
        x_origin_ = rule_.one.template origin<2>(at_.x), y_origin_ = rule_.one.template origin<1>(at_.across);
#pragma unroll
        for (int k = 0; k < 3; ++k) forget(k);
        plane_ = p_.step * p_.along_stride, row_ = static_cast<std::int64_t>(p_.step) * p_.nx;
        const std::int64_t first = at_.along * p_.along_stride + static_cast<std::int64_t>(at_.across) * p_.nx;
        from_ = from.first + first - plane_, to_ = to.first + first;
        from_second_ = from.second - from.first, to_second_ = to.second - to.first;
        if constexpr (Tile::lies == form::fours) cells_ = at_.x + p_.step < p_.nx ? 8 : 4;
        else cells_ = min(Tile::cells, (p_.nx - 1 - at_.x) / p_.step + 1);
        place<Tile>::stay(cells_);
        first_cell_ = (static_cast<std::uint32_t>(at_.x) << p_.x_shift) +
                      (Tile::volume ? static_cast<std::uint32_t>(at_.across) << p_.across_shift : 0) - rule_.one.centre;
    }

    /// Walks over all planes. False if a cell is left without two sites, or with one that is not near. Reads the next
    /// row while it offers one.
    __device__ bool run() {
        words<Tile> now[2], next[2];
        typename Rule::doubt doubt{};
        std::int32_t along = at_.along - p_.step;
        read(next, along, 0);
#pragma unroll 1
        for (; along < end_ + p_.step; along += p_.step) {
#pragma unroll
            for (int r = 0; r < Tile::word_rows; ++r) {
                now[0] = next[0], now[1] = next[1];
                if (r + 1 < Tile::word_rows) {
                    read(next, along, r + 1);
                } else {
                    from_ += plane_;
                    if (along < end_) read(next, along + p_.step, 0);
                }
                if (row_is_there(along, r)) offer_row(now, r, rule_.one.template origin<along_axis>(along));
            }
            if (along > at_.along) write(along - p_.step, doubt);
            move_on();
        }
        return rule_.one.near(doubt);
    }

private:
    __device__ bool row_is_there(std::int32_t along, int r) const {
        if (static_cast<std::uint32_t>(along) >= static_cast<std::uint32_t>(p_.along)) return false;
        if constexpr (!Tile::volume) return true;
        return static_cast<std::uint32_t>(at_.across + (r - 1) * p_.step) < static_cast<std::uint32_t>(p_.across);
    }
    __device__ void read(words<Tile> (&to)[2], std::int32_t along, int r) const {
        if (!row_is_there(along, r)) return;
        const Key* const row = Tile::volume ? from_ + (r - 1) * row_ : from_;
        to[0].read(p_, at_, row), to[1].read(p_, at_, row + from_second_);
        if constexpr (requires { Rule::from_offsets; })
#pragma unroll
            for (int s = 0; s < 2; ++s)
#pragma unroll
                for (int w = 0; w < Tile::words; ++w)
                    to[s].of[w] = rule_.words.site_in(static_cast<std::uint32_t>(to[s].of[w]), along,
                                                      at_.across + (r - 1) * p_.step, at_.x_of(w));
    }

    /// The words that a cell receives from a row: three words of two sites each.
    struct asked {
        heard of[6];
        Key key[6];
    };
    __device__ void hear(asked& here, int slot, const words<Tile> (&row)[2], int w, std::int32_t along_origin) const {
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            const Key key = here.key[2 * slot + s] = row[s].of[w];
            here.of[2 * slot + s] = rule_.one.template hear<Tile::volume>(key, x_origin_, y_origin_, along_origin);
        }
    }

    /// Offers a row's words to the tile's cells in the plane before, in its own plane and in the plane after it. Cells
    /// that share words are adjacent.
    __device__ void offer_row(const words<Tile> (&row)[2], int r, std::int32_t along_origin) {
#pragma unroll
        for (int begin = 0; begin < Tile::reach; ++begin) {
            asked here;
            hear(here, 0, row, begin, along_origin), hear(here, 1, row, begin + Tile::reach, along_origin);
#pragma unroll
            for (int cell = begin; cell < Tile::cells; cell += Tile::reach) {
                hear(here, (cell / Tile::reach + 2) % 3, row, cell + 2 * Tile::reach, along_origin);
                std::uint32_t in_column[6];
#pragma unroll
                for (int k = 0; k < 6; ++k)
                    in_column[k] = cell == 0 ? here.of[k].sum : here.of[k].x * rule_.one.cells_x[cell] + here.of[k].sum;
#pragma unroll
                for (int t = Tile::volume ? max(0, r - 2) : 0; t <= (Tile::volume ? min(r, Tile::rows - 1) : 0); ++t)
                    offer_cell(here, in_column, t, cell);
            }
        }
    }
    __device__ void offer_cell(const asked& here, const std::uint32_t (&in_column)[6], int t, int cell) {
        std::uint32_t sums[6];
#pragma unroll
        for (int k = 0; k < 6; ++k) sums[k] = t == 0 ? in_column[k] : here.of[k].y * rule_.one.rows_y[t] + in_column[k];
        rule_.template offer<-1>(best_[2][t][cell], sums, here.of, here.key);
        rule_.template offer<0>(best_[1][t][cell], sums, here.of, here.key);
        rule_.template offer<1>(best_[0][t][cell], sums, here.of, here.key);
    }

    /// Writes the results of the cells that have received the words of all their rows.
    __device__ void write(std::int32_t along, typename Rule::doubt& doubt) {
        Key* to = to_;
        to_ += plane_;
        const std::uint32_t first = first_cell_ + (static_cast<std::uint32_t>(along) << p_.along_shift);
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t, to += row_) {
            if (Tile::volume && at_.across + t * p_.step >= p_.across) break;
            Key site[2][Tile::cells];
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell) {
                const auto best = rule_.with_own(best_[0][t][cell], t * Tile::cells + cell);
                std::uint32_t begin = first;
                if constexpr (Tile::lies != form::spread && requires { rule_.one.rest; }) begin += rule_.one.rest[cell];
                rule_.template sites_of<Tile::volume>(best, begin, site[0][cell], site[1][cell]);
                if constexpr (requires { Rule::from_offsets; })
#pragma unroll
                    for (int s = 0; s < 2; ++s)
                        site[s][cell] =
                            rule_.words.word_of(site[s][cell], along, at_.across + t * p_.step,
                                                at_.x + static_cast<std::int32_t>(Tile::away(cell, p_.step)));
                Rule::look_at(best, doubt);
            }
            put(to, site[0]), put(to + to_second_, site[1]);
        }
    }
    __device__ void put(Key* row, const Key (&site)[Tile::cells]) const {
        if constexpr (Tile::lies == form::spread) {
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell)
                if (cell < cells_) *p_.at(row, at_.word[cell + 1]) = site[cell];
        } else {
#pragma unroll
            for (int cell = 0; cell < Tile::cells; cell += 4)
                if (Tile::lies == form::joined || cell < cells_)
                    *reinterpret_cast<int4*>(p_.at(row, at_.word[cell + Tile::reach])) = {
                        site[cell], site[cell + 1], site[cell + 2], site[cell + 3]};
        }
    }
    __device__ void forget(int k) {
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t)
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell) best_[k][t][cell] = Rule::nothing();
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
    const Rule rule_;
    const place<Tile>& at_;
    const std::int32_t end_;
    const Key* from_;
    Key* to_;
    std::int64_t from_second_, to_second_;  ///< offset from the array of first sites to that of second sites
    std::int64_t plane_, row_;
    std::int32_t cells_;        ///< cells of the tile's row that exist
    std::uint32_t first_cell_;  ///< packed first cell without the walked axis, minus the fields' value for offset 0
    std::int32_t x_origin_, y_origin_;
    kept best_[3][Tile::rows][Tile::cells];
};

}  // namespace nearfield::methods::tiles
