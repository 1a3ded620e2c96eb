// Shared by host and device: the access to cells, and the comparison of two interpolated distances.
//
// An interpolated distance is the sum of two signed roots, s(X) + s(Y), where s(Z) is the root of |Z| with the sign of
// Z. Sums are compared exactly, by squaring integers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/lines.hpp"
#include "base/wide.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::fill {

// ---- cells ----------------------------------------------------------------------------------------------------------

/// A strided array, for reading and writing.
struct cells_at {
    void* data = nullptr;  ///< null stands for zeros
    dtype type = dtype::uint8;
    int rank = 1;
    std::int64_t size[max_rank], step[max_rank];

    template <class View>
    static cells_at of(const View& view) {
        cells_at made;
        made.data = const_cast<void*>(static_cast<const void*>(view.data)), made.type = view.type,
        made.rank = view.rank;
        for (int axis = 0; axis < view.rank; ++axis) {
            const auto k = static_cast<std::size_t>(axis);
            made.size[axis] = view.shape[k], made.step[axis] = view.stride[k];
        }
        return made;
    }
    NF_HD std::int64_t at(std::int64_t cell) const { return offset_of(cell, size, step, rank); }

    NF_HD std::int64_t label(std::int64_t cell) const {
        const std::int64_t i = at(cell);
        switch (type) {
            case dtype::int8: return static_cast<const std::int8_t*>(data)[i];
            case dtype::int16: return static_cast<const std::int16_t*>(data)[i];
            case dtype::uint16: return static_cast<const std::uint16_t*>(data)[i];
            case dtype::int32: return static_cast<const std::int32_t*>(data)[i];
            case dtype::uint32: return static_cast<const std::uint32_t*>(data)[i];
            case dtype::int64:
            case dtype::uint64: return static_cast<const std::int64_t*>(data)[i];
            default: return static_cast<const std::uint8_t*>(data)[i];
        }
    }
    /// Writes a label to a cell of the slice that begins at element `start`.
    NF_HD void put_label(std::int64_t start, std::int64_t cell, std::int64_t value) const {
        const std::int64_t i = start + at(cell);
        switch (size_of(type)) {
            case 1: static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(value); break;
            case 2: static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(value); break;
            case 4: static_cast<std::uint32_t*>(data)[i] = static_cast<std::uint32_t>(value); break;
            default: static_cast<std::int64_t*>(data)[i] = value;
        }
    }
};

/// Copies elements from `image` to `out`; both have a cell's channels along the last axis.
struct gathering {
    cells_at image, out;
    const void* index = nullptr;  ///< for each cell, the cell of its image to copy, or < 0; null: its own
    bool wide = false;            ///< true for int64 indices, false for int32
    std::int64_t cells = 0, image_cells = 1, channels = 1;

    NF_HD std::int64_t source_of(std::int64_t cell) const {
        if (index == nullptr) return cell;
        const std::int64_t found =
            wide ? static_cast<const std::int64_t*>(index)[cell] : static_cast<const std::int32_t*>(index)[cell];
        return found < 0 ? cell : cell - cell % image_cells + found;
    }
};
void gather(const host& on, const gathering& g);
void gather(const device& on, const gathering& g);

// ---- sums of roots --------------------------------------------------------------------------------------------------

NF_HD constexpr int sign_of(int128 x) { return x < 0 ? -1 : x > 0 ? 1 : 0; }
NF_HD constexpr uint128 magnitude(int128 x) { return static_cast<uint128>(x < 0 ? -x : x); }

/// Sign of s(u) + s(v) + s(w). Requires |u| < 2^126, and |v| and |w| < 2^122.
NF_HD constexpr int sign_of_three(int128 u, int128 v, int128 w) {
    const int first = sign_of(u), rest = sign_of(v + w);
    if (first == 0 || rest == 0 || first == rest) return first == 0 ? rest : first;
    // Compares |u| with (s(v) + s(w))^2 = |v| + |w| + 2 s(v) s(w), that is, n with s(4 v w).
    const int128 n = static_cast<int128>(magnitude(u)) - static_cast<int128>(magnitude(v) + magnitude(w));
    const int left = sign_of(n), right = sign_of(v) * sign_of(w);
    if (left != right) return left > right ? first : -first;
    const uint128 a = magnitude(v), b = magnitude(w);
    const wide four = difference(squared(a + b), squared(a > b ? a - b : b - a));  // 4 |v w|
    const wide gap = difference(squared(magnitude(n)), four);
    if (gap.is_zero()) return 0;
    const bool larger = gap.limb[3] >> 63 == 0;
    return larger == (left > 0) ? first : -first;
}

/// Sign of s(x) + s(y) - s(z) - s(w), all of which are below 2^60 in magnitude.
NF_HD constexpr int compare_roots(std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t w) {
    const int left = sign_of(x + y), right = sign_of(z + w);
    if (left != right) return left > right ? 1 : -1;
    if (left == 0) return 0;
    // The squares of both sides are |x| + |y| + s(4 x y) and |z| + |w| + s(4 z w).
    const int128 m =
        static_cast<int128>(magnitude(x) + magnitude(y)) - static_cast<int128>(magnitude(z) + magnitude(w));
    return left * sign_of_three(m * static_cast<int128>(magnitude(m)), static_cast<int128>(4) * x * y,
                                static_cast<int128>(-4) * z * w);
}
static_assert(compare_roots(9, 16, 25, 4) == 0 && compare_roots(9, 16, 25, 5) == -1);
static_assert(compare_roots(2, 8, 18, 0) == 0 && compare_roots(2, 8, 17, 0) == 1 && compare_roots(-2, 8, 2, 0) == 0);
static_assert(compare_roots(-9, -16, -50, 0) == 1 && compare_roots(-2, -3, -3, -2) == 0);
static_assert(compare_roots((1LL << 60) - 1, 2, (1LL << 60) - 2, 3) == -1);

// ---- slices ---------------------------------------------------------------------------------------------------------

inline constexpr int most_positions = 16;  ///< positions that one pass serves

/// The smallest interpolated distance that a cell of a position has found so far.
struct best_so_far {
    std::int64_t x, y;  ///< if exact, signed squares of the two terms; else x holds the bits of their sum
};

/// Offers one label to all cells of some positions between two slices.
struct offer {
    const double* squared = nullptr;  ///< signed squared distances to the label, in both slices
    best_so_far* best = nullptr;      ///< for each position, one entry for each cell
    cells_at out;                     ///< a slice of the output; `start` has each position's first element
    std::int64_t start[most_positions];
    std::int64_t lower[most_positions], upper[most_positions];   ///< q - p and p, for t = p / q
    std::int64_t shift[most_positions][3] = {}, across[3] = {};  ///< s and d
    std::int64_t size[3] = {1, 1, 1}, cells = 0, label = 0;      ///< of a slice; the offered label
    int positions = 0;
    bool exact = true, first = false, align = false;

    /// The cell of a slice that is read for `cell`: shifted by -by + more, and clamped to the slice.
    NF_HD std::int64_t moved(std::int64_t cell, const std::int64_t* by, const std::int64_t* more) const {
        std::int64_t to = 0, pitch = 1;
        for (int axis = 2; axis >= 0; --axis) {
            const std::int64_t rest = cell / size[axis];
            std::int64_t at = cell - rest * size[axis] - by[axis] + more[axis];
            at = at < 0 ? 0 : at >= size[axis] ? size[axis] - 1 : at;
            to += at * pitch, pitch *= size[axis], cell = rest;
        }
        return to;
    }
    /// factor^2 times a squared distance; a squared distance of -inf says that the label fills a slice.
    NF_HD static std::int64_t term(std::int64_t factor, double squared) {
        if (squared < -0x1p60) return -(std::int64_t{1} << 60);
        return factor * factor * static_cast<std::int64_t>(squared);
    }
    NF_HD static double root(double squared) { return squared < 0 ? -std::sqrt(-squared) : std::sqrt(squared); }

    /// Offers the label to cell number `cell` of position k.
    NF_HD void make(int k, std::int64_t cell) const {
        constexpr std::int64_t none[3] = {0, 0, 0};
        const double a = squared[align ? moved(cell, shift[k], none) : cell],
                     b = squared[cells + (align ? moved(cell, shift[k], across) : cell)];
        best_so_far& best_one = best[k * cells + cell];
        best_so_far found{};
        if (exact) found = {term(lower[k], a), term(upper[k], b)};
        else
            found.x = std::bit_cast<std::int64_t>(static_cast<double>(lower[k]) * root(a) +
                                                  static_cast<double>(upper[k]) * root(b));
        if (first) {
            best_one = align ? best_so_far{} : found;
            out.put_label(start[k], cell, align ? 0 : label);
        }
        if (!is_less(found, best_one)) return;
        best_one = found;
        out.put_label(start[k], cell, label);
    }

private:
    NF_HD bool is_less(const best_so_far& a, const best_so_far& b) const {
        if (exact) return compare_roots(a.x, a.y, b.x, b.y) < 0;
        return std::bit_cast<double>(a.x) < std::bit_cast<double>(b.x);
    }
};

/// Marks the cells with a label by 1, others by 0: first those of slice `lower`, then those of `upper`.
struct marking {
    cells_at lower, upper;
    std::int64_t label, cells;
    std::uint8_t* marks;
};

void mark(const host& on, const marking& m);
void mark(const device& on, const marking& m);
void run(const host& on, const offer& o);
void run(const device& on, const offer& o);
/// Reads the labels of a slice into host memory in C order; on a device it waits.
void read(const host& on, const cells_at& slice, std::int64_t cells, std::int64_t* to);
void read(const device& on, const cells_at& slice, std::int64_t cells, std::int64_t* to);

}  // namespace nearfield::fill
