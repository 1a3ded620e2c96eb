// Jump flooding in volumes whose words hold the offset from a cell to its site. A neighbour's word then needs only one
// sum for each axis, and the result of a round is the input of the next one as it stands.
#pragma once

#include "jump_flood/cuda_plan.cuh"
#include "jump_flood/tiles.hpp"

namespace nearfield::methods::tiles {

/// A cell's word between rounds, 32 bits:
///
///   d, then x, y and z of `Bits` bits each    below `sure`: d is the squared distance to the cell's site, in steps
///                                             of the round that wrote the word; x, y and z are the
///                                             site's offset along each axis in these steps, plus half
///                                             of a field's range
///   far + site                                a packed site that is farther than that
///   any other word                            no site
///
/// Equal distances compare as packed sites do. A round with half the step reads a word as 4 d and twice the offsets.
/// The cell i, j and k steps away from it, each -1, 0 or 1, sees values that are linear in i, j and k:
///
///   d + i (2 x + i) + j (2 y + j) + k (2 z + k),   x + i, y + j, z + k
///
/// Words of `cut` or more are read as a site that is farther than any cell can resolve.
template <int Bits>
struct word_layout {
    static constexpr int bits = Bits;
    static constexpr std::uint32_t half = 1 << (bits - 1), low = (1 << bits) - 1;
    static constexpr std::uint32_t whole = 1 << 3 * bits;  ///< a squared distance of 1
    static constexpr NF_HD std::uint32_t unit(int axis) { return 1u << axis * bits; }
    static constexpr std::uint32_t centre = half * (1 + (1 << bits) + (1 << 2 * bits));
    /// (2 sqrt(nearest_cut) + sqrt(3))^2 is below the limit of the field, so that no candidate overflows; a number
    /// below (2 sqrt(nearest_cut) - sqrt(3))^2 is exact.
    static constexpr std::uint32_t nearest_cut = bits == 7 ? 473 : 1000, nearest_sure = bits == 7 ? 1744 : 3500;
    static constexpr std::uint32_t nothing =
        4 * nearest_cut * whole + centre;  ///< the word of a cell that has received no site
};
/// wide_word holds sites of up to 41 steps. class_word holds all sites of a class of 32 cells along each axis, as none
/// is farther than 31 cells along one.
using wide_word = word_layout<7>;
using class_word = word_layout<6>;
static_assert(3 * 31 * 31 < class_word::nearest_sure && 3 * 15 * 15 < class_word::nearest_cut);

/// Constants with which a round reads and writes words.
struct offsets {
    std::uint32_t mask[3], fields;         ///< masks of the fields of words that are read
    std::uint32_t sure = 0, far = 0;       ///< limits of words that are written
    std::uint32_t sure_read = 0, cut = 0;  ///< limits of words that are read
    std::int32_t bits_read = 0;
    // Terms of a word as its own cell sees it, and what a cell a step away adds. They are variables, so that the
    // multiplication pipe computes with them.
    std::uint32_t one = 1, distance, begin, both = 0u - 2, own[3];
    std::uint32_t linear[3], minus_linear[3], after[3], before[3];
    const Key* nothing = nullptr;                 ///< a row of cells without a site; the caller owns it
    bool all_near = false;                        ///< true if no site can be as far as `sure`
    std::uint32_t site_unit[3], site_centre = 0;  ///< terms of a packed site
};

inline int bits_of_sites(const grid& g) {
    int bits = 0;
    for (int axis = 0; axis < 3; ++axis) bits += std::bit_width(g.keys.mask[axis]);
    return bits;
}
/// Limit of packed sites, so that the word of a cell which has received no site is not taken for a far site.
inline constexpr int most_site_bits = 28;
static_assert(wide_word::nothing < 0u - 1 - (1u << most_site_bits));
inline std::uint32_t first_far(const grid& g) { return 0u - 1 - (1u << bits_of_sites(g)); }

template <class In, class Out>
offsets offsets_between(const grid& g, std::int64_t step) {
    offsets r;
    std::int64_t farthest2 = 0;
    r.fields = In::whole - 1, r.distance = 4 * Out::whole / In::whole, r.begin = Out::centre;
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t widest = (g.size[axis] - 1) / step;
        farthest2 += widest * widest;
        // The offset of a field that is not doubled yet.
        const std::uint32_t twice = 4 * Out::whole * In::half;
        r.mask[axis] = In::low * In::unit(axis);
        r.own[axis] = 2 * Out::unit(axis) / In::unit(axis) - r.distance, r.begin -= 2 * In::half * Out::unit(axis);
        r.linear[axis] = 4 * Out::whole / In::unit(axis), r.minus_linear[axis] = 0u - r.linear[axis];
        r.after[axis] = Out::whole + Out::unit(axis) - twice, r.before[axis] = Out::whole - Out::unit(axis) + twice;
        r.site_unit[axis] = 1u << g.keys.shift[axis];
        r.site_centre += Out::half * r.site_unit[axis];
    }
    const auto sure = [&](std::uint32_t whole, std::uint32_t nearest) {
        return std::min(nearest, first_far(g) / whole) * whole;
    };
    r.cut = Out::nearest_cut * In::whole + In::centre;
    r.far = first_far(g), r.sure = sure(Out::whole, Out::nearest_sure);
    r.bits_read = In::bits, r.sure_read = sure(In::whole, In::nearest_sure);
    r.all_near = static_cast<std::uint64_t>(farthest2) * Out::whole < r.sure;
    return r;
}

/// Layouts of a round that follows `after_classes` rounds after those by classes; 2 means two or more, or no classes.
inline offsets offsets_of(const grid& g, std::int64_t step, std::int64_t after_classes = 2) {
    if (after_classes == 0) return offsets_between<class_word, class_word>(g, step);
    if (after_classes == 1) return offsets_between<class_word, wide_word>(g, step);
    return offsets_between<wide_word, wide_word>(g, step);
}

/// The packed site that a word of the last round, which has step 1, names at a cell.
__device__ inline Key site_of(const plan& p, const offsets& o, std::uint32_t word, std::int32_t x, std::int32_t across,
                              std::int32_t along) {
    const std::uint32_t cell = (static_cast<std::uint32_t>(x) << p.x_shift) +
                               (static_cast<std::uint32_t>(across) << p.across_shift) +
                               (static_cast<std::uint32_t>(along) << p.along_shift) - o.site_centre;
    const std::uint32_t site = (word >> 2 * wide_word::bits & wide_word::low) * o.site_unit[2] +
                               (word >> wide_word::bits & wide_word::low) * o.site_unit[1] +
                               (word & wide_word::low) * o.site_unit[0] + cell;
    return word < o.sure ? static_cast<Key>(site) : none<Key>;
}

/// A word that a tile's cells receive: its value at the cell that holds it, and the term that a step along each axis
/// adds. `Other`: the word that is read has another layout than those that are written.
template <bool First, bool Other = false>
struct word_heard {
    std::uint32_t here, x_after, x_before, y_after, y_before, z_after, z_before;

    word_heard() = default;
    __device__ word_heard(const offsets& o, std::uint32_t word) {
        const std::uint32_t w = First ? wide_word::centre : min(word, o.cut);
        const std::uint32_t x = w & o.mask[2], y = w & o.mask[1], z = w & o.mask[0];
        if constexpr (First) here = static_cast<Key>(word) < 0 ? wide_word::nothing : w;
        else if constexpr (Other) here = x * o.own[2] + (y * o.own[1] + (z * o.own[0] + (w * o.distance + o.begin)));
        else here = (w & o.fields) * o.both + (w * o.distance + o.begin);
        x_after = x * o.linear[2] + o.after[2], x_before = x * o.minus_linear[2] + o.before[2];
        y_after = y * o.linear[1] + o.after[1], y_before = y * o.minus_linear[1] + o.before[1];
        z_after = z * o.linear[0] + o.after[0], z_before = z * o.minus_linear[0] + o.before[0];
    }
};

/// Number of planes of a walk that are resolved together.
inline constexpr int stretch = 4;

/// Position of a round in its series. `first`: it reads packed sites, of cells that hold their own site or none.
/// `last`: it writes packed sites.
enum class turn { first, between, last };

/// A thread's walk in one round. Lists the stretches with a cell that may have a farther site. Missing rows and planes
/// are `Skipped` by branches, or else read from a row without sites. Without branches no register is copied from plane
/// to plane, which wins if most threads have all their rows. `Other`: words that are read have another layout than
/// those that are written.
template <class Tile, turn Turn, bool Skipped, bool Other>
class offsets_walker {
public:
    __device__ offsets_walker(const plan& p, const offsets& o, const place<Tile>& at, const Key* from, Key* to,
                              open_stretches left)
        : p_(p), o_(o), at_(at), left_(left), end_(min(p.along, at.along + p.walk * p.step)) {
#pragma unroll
        for (int row = 0; row < Tile::rows; ++row)
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell)
#pragma unroll
                for (int k = 0; k < 3; ++k) best_[k][row][cell] = ~0u;
        plane_ = p_.step * p_.along_stride, row_ = static_cast<std::int64_t>(p_.step) * p_.nx;
        const std::int64_t first = at_.along * p_.along_stride + static_cast<std::int64_t>(at_.across) * p_.nx;
        from_ = from + first - plane_, to_ = to + first;
        cell_ = static_cast<std::uint32_t>(first + at_.x);
        above_ = at_.across >= p_.step, rows_ = min(Tile::rows + 1, (p_.across - 1 - at_.across) / p_.step + 1);
        place<Tile>::stay(above_), place<Tile>::stay(rows_);
        if constexpr (Tile::lies == form::fours) cells_ = at_.x + p_.step < p_.nx ? 8 : 4;
        else cells_ = min(Tile::cells, (p_.nx - 1 - at_.x) / p_.step + 1);
        place<Tile>::stay(cells_);
        before_ = at_.x >= p_.step;
        place<Tile>::stay(before_);
#pragma unroll
        for (int k = 0; k < joints; ++k) {
            const int w = Tile::lies == form::spread ? k + 2 : Tile::lies == form::joined ? Tile::cells : 4 * (k + 1);
            after_[k] = at_.x + (Tile::lies == form::joined ? w : (w / Tile::reach - 1) * p_.step) < p_.nx;
            place<Tile>::stay(after_[k]);
        }
    }

    /// Walks over all planes; reads the next row while it offers one.
    __device__ void run() {
        std::int32_t along = at_.along - p_.step;
        read(next_, along, 0);
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
    using heard_word = word_heard<Turn == turn::first, Other>;
    static constexpr int joints = Tile::lies == form::spread ? Tile::cells : Tile::lies == form::joined ? 1 : 2;

    template <bool After, bool Same, bool Before>
    __device__ void plane(std::int32_t along) {
#pragma unroll
        for (int r = 0; r < Tile::word_rows; ++r) {
            const words<Tile> now = next_;
            if (r + 1 < Tile::word_rows) {
                read(next_, along, r + 1);
            } else if (!(Before && !Same)) {
                from_ += plane_;
                read(next_, along + p_.step, 0);
            }
            if (!Skipped || row_is_there(along, r)) offer_row<After, Same, Before>(now, r);
        }
    }

    __device__ bool row_is_there(std::int32_t along, int r) const {
        if (static_cast<std::uint32_t>(along) >= static_cast<std::uint32_t>(p_.along)) return false;
        if constexpr (Skipped)
            return static_cast<std::uint32_t>(at_.across + (r - 1) * p_.step) < static_cast<std::uint32_t>(p_.across);
        return r == 0 ? above_ != 0 : r <= rows_;
    }
    __device__ void read(words<Tile>& to, std::int32_t along, int r) const {
        const Key* const row = from_ + (r - 1) * row_;
        if constexpr (Skipped) {
            if (row_is_there(along, r)) to.read(p_, at_, row);
        } else {
            to.read(p_, at_, row_is_there(along, r) ? row : o_.nothing);
        }
    }

    /// 1 if word w exists. If not, the cell's own word was read in its place, and is offered as such.
    __device__ std::uint32_t is_before(int w) const {
        return w < Tile::reach ? static_cast<std::uint32_t>(before_) : o_.one;
    }
    __device__ std::uint32_t is_after(int w) const {
        if constexpr (Tile::lies == form::spread) return static_cast<std::uint32_t>(after_[w - 2]);
        if constexpr (Tile::lies == form::fours) return static_cast<std::uint32_t>(after_[w / 4 - 2]);
        return w < Tile::cells + Tile::reach ? o_.one : static_cast<std::uint32_t>(after_[0]);
    }
    /// The word as seen by a cell of its own column.
    __device__ std::uint32_t in_column(const heard_word& h, int w, int cell) const {
        if (w == cell) return h.x_before * is_before(w) + h.here;
        if (w == cell + 2 * Tile::reach) return h.x_after * is_after(w) + h.here;
        return h.here;
    }
    __device__ std::uint32_t in_row(const heard_word& h, std::uint32_t column, int r, int t) const {
        return r == t ? h.y_before * o_.one + column : r == t + 2 ? h.y_after * o_.one + column : column;
    }

    /// Offers a row's words to the tile's cells in the plane before, in its own plane and in the plane after it. Takes
    /// two words at a time, since one instruction finds the smallest of three numbers.
    template <bool After, bool Same, bool Before>
    __device__ void offer_row(const words<Tile>& row, int r) {
#pragma unroll
        for (int q = 0; q < Tile::words / 2; ++q) {
            const int v = q / Tile::reach * 2 * Tile::reach + q % Tile::reach, w = v + Tile::reach;
            const heard_word one(o_, static_cast<std::uint32_t>(row.of[v])),
                other(o_, static_cast<std::uint32_t>(row.of[w]));
#pragma unroll
            for (int cell = max(0, v - 2 * Tile::reach); cell <= min(w, Tile::cells - 1); ++cell) {
                if ((w - cell) % Tile::reach != 0) continue;
                const bool by_one = cell <= v, by_other = w <= cell + 2 * Tile::reach;
                const std::uint32_t first = by_one ? in_column(one, v, cell) : 0,
                                    second = by_other ? in_column(other, w, cell) : 0;
#pragma unroll
                for (int t = max(0, r - 2); t <= min(r, Tile::rows - 1); ++t) {
                    const std::uint32_t a = by_one ? in_row(one, first, r, t) : 0,
                                        b = by_other ? in_row(other, second, r, t) : 0;
                    if (by_one) {
                        if (After) best_[2][t][cell] = __viaddmin_u32(a, one.z_before, best_[2][t][cell]);
                        if (Before) best_[0][t][cell] = __viaddmin_u32(a, one.z_after, best_[0][t][cell]);
                    }
                    if (by_other) {
                        if (After) best_[2][t][cell] = __viaddmin_u32(b, other.z_before, best_[2][t][cell]);
                        if (Before) best_[0][t][cell] = __viaddmin_u32(b, other.z_after, best_[0][t][cell]);
                    }
                    if (!Same) continue;
                    if (by_one && by_other) best_[1][t][cell] = __vimin3_u32(best_[1][t][cell], a, b);
                    else best_[1][t][cell] = min(best_[1][t][cell], by_one ? a : b);
                }
            }
        }
    }

    /// Writes the results of the cells that have received the words of all their rows.
    __device__ void write(std::int32_t along) {
        Key* to = to_;
        to_ += plane_;
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t, to += row_) {
            if (t >= rows_) break;
            Key word[Tile::cells];
#pragma unroll
            for (int c = 0; c < Tile::cells; ++c) {
                const std::uint32_t best = best_[0][t][c];
                if (Tile::lies == form::joined || c < cells_) worst_ = max(worst_, best);
                word[c] = Turn == turn::last ? site_of(p_, o_, best, at_.x + c, at_.across + t, along)
                                             : static_cast<Key>(best);
            }
            put(to, word);
        }
        if (++written_ < stretch && along + p_.step < end_) return;
        if (worst_ >= o_.sure && !o_.all_near) left_.first[atomicAdd(left_.count, 1u)] = cell_;
        cell_ += static_cast<std::uint32_t>(written_ * plane_);
        worst_ = 0, written_ = 0;
    }
    __device__ void put(Key* row, const Key (&word)[Tile::cells]) const {
        if constexpr (Tile::lies == form::spread) {
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell)
                if (cell < cells_) *p_.at(row, at_.word[cell + 1]) = word[cell];
        } else {
#pragma unroll
            for (int cell = 0; cell < Tile::cells; cell += 4)
                if (Tile::lies == form::joined || cell < cells_)
                    *reinterpret_cast<int4*>(p_.at(row, at_.word[cell + Tile::reach])) = {
                        word[cell], word[cell + 1], word[cell + 2], word[cell + 3]};
        }
    }
    __device__ void move_on() {
#pragma unroll
        for (int t = 0; t < Tile::rows; ++t)
#pragma unroll
            for (int cell = 0; cell < Tile::cells; ++cell)
                best_[0][t][cell] = best_[1][t][cell], best_[1][t][cell] = best_[2][t][cell], best_[2][t][cell] = ~0u;
    }

    const plan& p_;
    const offsets& o_;
    const place<Tile>& at_;
    const open_stretches left_;
    const std::int32_t end_;
    const Key* from_;
    Key* to_;
    std::int64_t plane_, row_;
    std::int32_t cells_;        ///< cells of the tile's row that exist
    std::uint32_t cell_;        ///< number of the tile's first cell where the current stretch begins
    std::uint32_t worst_ = 0;   ///< largest word of the stretch
    std::int32_t written_ = 0;  ///< planes of the stretch that are written
    std::int32_t above_;        ///< 1 if there is a row before the tile's first one, else 0
    std::int32_t rows_;         ///< rows that exist, including one beyond the tile
    std::int32_t before_;       ///< 1 if there are words before the tile's first ones, else 0
    std::int32_t after_[joints];
    words<Tile> next_;
    std::uint32_t best_[3][Tile::rows][Tile::cells];
};

/// Compares distance and site as two numbers, like `separate`, but reads and writes words of offsets.
struct separate_offsets : separate {
    offsets o;
    std::int32_t step, log_step;
    bool last;

    static constexpr bool from_offsets = true;

    /// The packed site that a word names at a cell; `none` if the word holds no site.
    __device__ Key site_in(std::uint32_t word, std::int32_t z, std::int32_t y, std::int32_t x) const {
        if (word >= o.sure_read) return word >= o.far && word != ~0u ? static_cast<Key>(word - o.far) : none<Key>;
        const auto away = [&](int axis) {
            return (static_cast<std::int32_t>((word & o.mask[axis]) >> axis * o.bits_read) - (1 << (o.bits_read - 1))) *
                   2 * step;
        };
        return m.keys.pack<Key>(z + away(0), y + away(1), x + away(2));
    }
    __device__ Key word_of(Key site, std::int32_t z, std::int32_t y, std::int32_t x) const {
        if (last || site < 0) return site;
        const std::int32_t dz = (m.keys.coordinate(site, 0) - z) >> log_step,
                           dy = (m.keys.coordinate(site, 1) - y) >> log_step,
                           dx = (m.keys.coordinate(site, 2) - x) >> log_step;
        const auto d = static_cast<std::uint32_t>(dx * dx + dy * dy + dz * dz);
        using written = wide_word;
        if (d >= o.sure / written::whole) return static_cast<Key>(o.far + static_cast<std::uint32_t>(site));
        return static_cast<Key>(d * written::whole + dx * written::unit(2) + dy * written::unit(1) +
                                dz * written::unit(0) + written::centre);
    }
};

}  // namespace nearfield::methods::tiles
