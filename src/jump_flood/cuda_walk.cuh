// A tile of jump flooding and a thread's walk along it: the words it reads, in which order, and the cells to which it
// offers them. cuda_rules.cuh compares the sites.
#pragma once

#include "jump_flood/cuda_rules.cuh"

namespace nearfield::methods::tiles {

/// Layout of a tile's cells along the last axis. `spread`: a step apart. `joined`: neighbours, accessed by 16 bytes,
/// for steps of 1, 2 and 4. `fours`: four neighbours and the four a step on, accessed by 16 bytes too, for longer
/// steps.
enum class form { spread, joined, fours };

/// A thread's tile: `Cells` along the last axis and `Rows` along the middle axis of a volume, a step apart. The thread
/// walks along the axis before. The cells that read a word are 0, `Reach` and twice `Reach` places before it in the
/// list of words.
template <bool IsVolume, int CellsOf, int RowsOf, int ReachOf, form FormOf>
struct tile {
    static constexpr bool volume = IsVolume;
    static constexpr int cells = CellsOf, rows = RowsOf, reach = ReachOf;
    static constexpr form lies = FormOf;
    static constexpr int words = cells + 2 * reach, word_rows = volume ? rows + 2 : 1;
    static_assert(lies != form::fours || (cells == 8 && reach == 4));
    static_assert(cells <= most_cells && cells * rows <= most_in_a_tile);

    /// Offset of a cell from the tile's first one along the last axis.
    static constexpr NF_HD std::int64_t away(int cell, std::int64_t step) {
        return lies == form::spread ? cell * step : lies == form::joined ? cell : cell % 4 + cell / 4 * step;
    }
};

/// One round. Threads walk `along` axis 0 of a volume or axis 1 of an image; a volume also has `across`, its axis 1.
struct plan {
    std::int32_t nx, along, across;
    std::uint32_t key_bytes;  ///< a variable: a multiplication finds an address in one instruction, a shift in two
    std::int64_t along_stride;
    std::int32_t step;
    std::int32_t log_side;                       ///< log2 of the number of threads whose tiles lie side by side
    std::int32_t walk;                           ///< cells along a thread's walk
    std::int32_t along_classes, across_classes;  ///< number of classes of coordinates modulo the step
    std::int32_t walks, groups;                  ///< of a class: its walks, and its tiles across
    std::int32_t x_threads, x_blocks, across_blocks;
    std::int32_t along_shift, across_shift, x_shift;  ///< shifts of a packed site's coordinates
    dim3 block;
    packed in_one;
    separate in_two;

    [[nodiscard]] NF_HD std::int64_t blocks() const {
        return static_cast<std::int64_t>(x_blocks) * across_blocks * along_classes * walks;
    }
    /// Number of threads that may own cells.
    [[nodiscard]] std::int64_t tiles() const {
        return static_cast<std::int64_t>(x_threads) * across_classes * groups * along_classes * walks;
    }
    template <class T>
    __device__ T* at(T* row, std::int32_t x) const {
        using byte = std::conditional_t<std::is_const_v<T>, const char, char>;
        return reinterpret_cast<T*>(reinterpret_cast<byte*>(row) +
                                    std::uint64_t{static_cast<std::uint32_t>(x)} * key_bytes);
    }
};

/// A thread's place: its first cell, and where its words lie along a row. A cell without a neighbour reads its own word
/// instead.
template <class Tile>
struct place {
    std::int32_t x = 0, across = 0, along = 0;
    std::int32_t word[Tile::words];
    bool before = true, after = true;  ///< for `fours`: whether the first and the last four exist

    place() = default;
    /// The place of the first row of a tile that is as wide.
    template <class Wider>
    __device__ explicit place(const place<Wider>& of)
        : x(of.x), across(of.across), along(of.along), before(of.before), after(of.after) {
#pragma unroll
        for (int w = 0; w < Tile::words; ++w) word[w] = of.word[w];
    }

    __device__ bool inside(const plan& p) const { return x < p.nx && across < p.across && along < p.along; }

    __device__ void look_along_the_row(const plan& p) {
#pragma unroll
        for (int w = 0; w < Tile::words; ++w) {
            if (Tile::lies == form::fours && w % 4 != 0) continue;  // x_of() derives it
            const int k = w - Tile::reach;
            std::int32_t at = x + (Tile::lies == form::joined   ? k
                                   : Tile::lies == form::spread ? k * p.step
                                                                : (w / 4 - 1) * p.step + w % 4);
            at = at < 0 ? at + p.step : at >= p.nx ? at - p.step : at;
            word[w] = min(at, p.nx - (Tile::lies == form::fours ? 4 : 1));
            stay(word[w]);
        }
        if constexpr (Tile::lies == form::fours) before = x >= p.step, after = x + 2 * p.step < p.nx;
    }

    /// Position along the row of a word that was read.
    __device__ std::int32_t x_of(int w) const {
        constexpr int last = Tile::reach + Tile::cells;
        if constexpr (Tile::lies == form::spread) return word[w];
        if constexpr (Tile::lies == form::fours) return word[w / 4 * 4] + w % 4;
        return w < Tile::reach ? word[0] + w : w < last ? x + w - Tile::reach : word[last] + w - last;
    }

    /// Makes the compiler keep a number in a register instead of recomputing it in each turn of a loop.
    static __device__ void stay(std::int32_t& number) { asm("" : "+r"(number)); }
};

/// The place of a block's thread.
template <class Tile>
__device__ place<Tile> place_of_thread(const plan& p, std::uint32_t block, std::uint32_t thread_x,
                                       std::uint32_t thread_y) {
    const auto take = [&block](std::int32_t of) {
        const std::uint32_t rest = block / static_cast<std::uint32_t>(of),
                            mine = block - rest * static_cast<std::uint32_t>(of);
        block = rest;
        return static_cast<std::int32_t>(mine);
    };
    constexpr int joined_cells = Tile::lies == form::fours ? 4 : 1;
    place<Tile> at;
    const std::int32_t t =
        take(p.x_blocks) * static_cast<std::int32_t>(p.block.x) + static_cast<std::int32_t>(thread_x);
    const std::int32_t a = take(p.across_blocks) * static_cast<std::int32_t>(p.block.y) +
                           static_cast<std::int32_t>(thread_y),
                       row_class = a / p.groups, plane_class = take(p.along_classes);
    at.x =
        joined_cells * ((t >> p.log_side) * (Tile::cells / joined_cells << p.log_side) + (t & ((1 << p.log_side) - 1)));
    at.across = row_class >= p.across_classes ? p.across : row_class + p.step * (a - row_class * p.groups) * Tile::rows;
    at.along = plane_class + p.step * p.walk * static_cast<std::int32_t>(block);
    if (t >= p.x_threads) at.x = p.nx;
    return at;
}

/// The words that a thread reads of one row.
template <class Tile>
struct words {
    Key of[Tile::words];

    __device__ void read(const plan& p, const place<Tile>& at, const Key* row) {
        if constexpr (Tile::lies == form::joined) {
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
        } else if constexpr (Tile::lies == form::fours) {
            if (at.before) put4(0, *reinterpret_cast<const int4*>(p.at(row, at.word[0])));
            put4(4, *reinterpret_cast<const int4*>(p.at(row, at.word[4])));
            put4(8, *reinterpret_cast<const int4*>(p.at(row, at.word[8])));
            if (at.after) put4(12, *reinterpret_cast<const int4*>(p.at(row, at.word[12])));
        } else {
#pragma unroll
            for (int w = 0; w < Tile::words; ++w) of[w] = *p.at(row, at.word[w]);
        }
    }

private:
    __device__ void put4(int k, int4 v) { of[k] = v.x, of[k + 1] = v.y, of[k + 2] = v.z, of[k + 3] = v.w; }
    __device__ void put2(int k, int2 v) { of[k] = v.x, of[k + 1] = v.y; }
};

/// A thread's walk that compares sites by `Rule`.
template <class Tile, class Rule>
class walker {
    using kept = typename Rule::kept;
    static constexpr int along_axis = Tile::volume ? 0 : 1;

public:
    /// `walk`: number of cells along the axis that is walked.
    __device__ walker(const plan& p, const Rule& rule, const place<Tile>& at, std::int32_t walk, const Key* from,
                      Key* to)
        : p_(p), rule_(rule), at_(at), end_(min(p.along, at.along + walk * p.step)) {
        x_origin_ = rule_.template origin<2>(at_.x), y_origin_ = rule_.template origin<1>(at_.across);
#pragma unroll
        for (int row = 0; row < Tile::rows; ++row)
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell)
#pragma unroll
                for (int k = 0; k < 3; ++k) best_[k][row][cell] = Rule::nothing();
        plane_ = p_.step * p_.along_stride, row_ = static_cast<std::int64_t>(p_.step) * p_.nx;
        const std::int64_t first = at_.along * p_.along_stride + static_cast<std::int64_t>(at_.across) * p_.nx;
        from_ = from + first - plane_, to_ = to + first;
        if constexpr (Tile::lies == form::fours) cells_ = at_.x + p_.step < p_.nx ? 8 : 4;
        else cells_ = min(Tile::cells, (p_.nx - 1 - at_.x) / p_.step + 1);
        place<Tile>::stay(cells_);
        first_cell_ = (static_cast<std::uint32_t>(at_.x) << p_.x_shift) +
                      (Tile::volume ? static_cast<std::uint32_t>(at_.across) << p_.across_shift : 0) - rule_.centre;
    }

    /// Walks over all planes. False if a cell is left without a site, or with one that is not near. Reads the next row
    /// while it offers one.
    __device__ bool run() {
        words<Tile> now, next;
        typename Rule::doubt doubt{};
        std::int32_t along = at_.along - p_.step;
        read(next, along, 0);
#pragma unroll 1
        for (; along < end_ + p_.step; along += p_.step) {
#pragma unroll
            for (int r = 0; r < Tile::word_rows; ++r) {
                now = next;
                if (r + 1 < Tile::word_rows) {
                    read(next, along, r + 1);
                } else {
                    from_ += plane_;
                    if (along < end_) read(next, along + p_.step, 0);
                }
                if (row_is_there(along, r)) offer_row(now, r, along);
            }
            if (along > at_.along) write(along - p_.step, doubt);
            move_on();
        }
        return rule_.near(doubt);
    }

private:
    __device__ bool row_is_there(std::int32_t along, int r) const {
        if (static_cast<std::uint32_t>(along) >= static_cast<std::uint32_t>(p_.along)) return false;
        if constexpr (!Tile::volume) return true;
        return static_cast<std::uint32_t>(at_.across + (r - 1) * p_.step) < static_cast<std::uint32_t>(p_.across);
    }
    __device__ void read(words<Tile>& to, std::int32_t along, int r) const {
        if (row_is_there(along, r)) to.read(p_, at_, Tile::volume ? from_ + (r - 1) * row_ : from_);
    }

    /// Offers a row's words to the tile's cells in the plane before, in its own plane and in the plane after
    /// it.
    __device__ void offer_row(const words<Tile>& row, int r, std::int32_t along) {
        const std::int32_t along_origin = rule_.template origin<along_axis>(along);
#pragma unroll
        for (int w = 0; w < Tile::words; ++w) {
            if (Tile::lies == form::fours && ((w < 4 && !at_.before) || (w >= 12 && !at_.after))) continue;
            Key key = row.of[w];
            if constexpr (requires { Rule::from_offsets; })
                key =
                    rule_.site_in(static_cast<std::uint32_t>(key), along, at_.across + (r - 1) * p_.step, at_.x_of(w));
            if (!Rule::counts(key)) continue;
            const heard h = rule_.template hear<Tile::volume>(key, x_origin_, y_origin_, along_origin);
#pragma unroll
            for (int cell = max(0, w - 2 * Tile::reach); cell <= min(w, Tile::cells - 1); ++cell) {
                if ((w - cell) % Tile::reach != 0) continue;
                const std::uint32_t in_column = cell == 0 ? h.sum : h.x * rule_.cells_x[cell] + h.sum;
#pragma unroll
                for (int t = Tile::volume ? max(0, r - 2) : 0; t <= (Tile::volume ? min(r, Tile::rows - 1) : 0); ++t) {
                    const std::uint32_t sum = t == 0 ? in_column : h.y * rule_.rows_y[t] + in_column;
                    Rule::offer(best_[2][t][cell], sum, h.before, key);
                    Rule::offer(best_[1][t][cell], sum, key);
                    Rule::offer(best_[0][t][cell], sum, h.after, key);
                }
            }
        }
    }

    /// Writes the results of the cells that have received the words of all their rows.
    __device__ void write(std::int32_t along, typename Rule::doubt& doubt) {
        Key* to = to_;
        to_ += plane_;
        const std::uint32_t first = first_cell_ + (static_cast<std::uint32_t>(along) << p_.along_shift);
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t, to += row_) {
            if (Tile::volume && at_.across + t * p_.step >= p_.across) break;
            Key site[Tile::cells];
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell) {
                const auto best = rule_.with_own(best_[0][t][cell], t * Tile::cells + cell);
                std::uint32_t begin = first;
                if constexpr (Tile::lies != form::spread && requires { rule_.rest; }) begin += rule_.rest[cell];
                if constexpr (requires { Rule::from_offsets; })
                    site[cell] = rule_.word_of(best.site, along, at_.across + t * p_.step,
                                               at_.x + static_cast<std::int32_t>(Tile::away(cell, p_.step)));
                else site[cell] = rule_.template site_of<Tile::volume>(best, begin);
                Rule::look_at(best, doubt);
            }
            put(to, site);
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
    const std::int32_t end_;
    const Key* from_;
    Key* to_;
    std::int64_t plane_, row_;
    std::int32_t cells_;        ///< cells of the tile's row that exist
    std::uint32_t first_cell_;  ///< packed first cell without the walked axis, minus the fields' value for offset 0
    std::int32_t x_origin_, y_origin_;
    kept best_[3][Tile::rows][Tile::cells];
};

}  // namespace nearfield::methods::tiles
