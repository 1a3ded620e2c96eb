// Marks: a bit per cell, set at a site of a line or at a change of the class from one cell to the next; and for every
// word of bits the nearest marks outside it. With them a cell finds the nearest site, or the nearest cell of another
// class, on either side of its line without a search. These kernels do not depend on the numbers of a problem.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "exact/gpu/ground/items.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact {

enum class mark : std::uint8_t {
    zero,          ///< cells of value zero
    nonzero,       ///< all other cells
    changes,       ///< cells that differ from the one before
    zero_changes,  ///< cells that are zero after one that is not, or the reverse
};

/// Returns the marks from which the searches of a problem start.
inline mark mark_for(const plan& p) {
    if (p.by == classes::none) return p.rule == sites::zero ? mark::zero : mark::nonzero;
    return p.by == classes::zero ? mark::zero_changes : mark::changes;
}

constexpr int mark_bits = 32;
/// Distance to a mark that does not exist.
constexpr std::uint32_t no_mark = UINT32_MAX;

/// The image as contiguous elements.
struct elements {
    const std::byte* data = nullptr;
    int bytes = 1;
    bool floating = false;
};

/// Lines of `rows` cells, `inner` apart. Word w of column c is number w * columns + c, except that along the last axis
/// (inner = 1) it is c * words + w.
struct marked {
    std::int64_t rows = 1, inner = 1, columns = 1, words = 1;
    std::int64_t stretch = 1;  ///< words of a part whose last and first marks are noted, see stretch_for
    bool periodic = false;
    std::uint32_t* bits = nullptr;
    std::uint32_t* to_before = nullptr;  ///< cells from the word's first cell back to the last mark before it
    std::uint32_t* to_after = nullptr;   ///< cells from the word's first cell on to the first mark after the word
    std::uint32_t* zeros = nullptr;      ///< cells of value zero, along the last axis only; null if not wanted
    std::int32_t* lasts = nullptr;       ///< scratch of most_summaries()
    /// Unresolved strips of 32 columns each, in bytes for 256 rows; columns without any are not marked. Null: all are.
    const std::uint8_t* left = nullptr;

    /// False if a column needs no marks.
    [[nodiscard]] __device__ bool wants(std::int64_t column) const {
        if (left == nullptr) return true;
        const std::int64_t bytes = (rows + 255) / 256;
        const std::uint8_t* const of = left + column / 32 * bytes;
        for (std::int64_t i = 0; i < bytes; ++i)
            if (of[i] != 0) return true;
        return false;
    }
    [[nodiscard]] NF_HD std::int64_t stretches() const { return (words + stretch - 1) / stretch; }
};

constexpr std::int64_t least_stretch = 32;
/// Returns the words of a stretch: a word looks at those of its own, then at the notes of about as many stretches.
inline std::int64_t stretch_for(std::int64_t words) {
    return std::max(least_stretch, static_cast<std::int64_t>(std::sqrt(static_cast<double>(words))));
}
/// Elements of scratch for lines with this number of words in all: two notes of each stretch, if lines have several.
constexpr std::int64_t most_summaries(std::int64_t words) { return words > least_stretch ? words / 8 : 0; }

/// Cells to the nearest marks on either side of cell i of a word. Sites: the cell's own mark counts for both sides.
/// Changes: a mark stands on the first cell that differs, so the cell before it is the one on the left.
struct gaps {
    std::uint32_t left, right;

    __device__ gaps(std::uint32_t bits, std::uint32_t to_before, std::uint32_t to_after, int i, bool changes) {
        const std::uint32_t upto = bits << (31 - i), beyond = changes ? (i < 31 ? bits >> (i + 1) : 0) : bits >> i;
        const auto extra = static_cast<std::uint32_t>(changes);
        left = upto                   ? static_cast<std::uint32_t>(__clz(static_cast<int>(upto))) + extra
               : to_before == no_mark ? no_mark
                                      : to_before + static_cast<std::uint32_t>(i) + extra;
        right = beyond                ? static_cast<std::uint32_t>(__ffs(static_cast<int>(beyond))) - 1 + extra
                : to_after == no_mark ? no_mark
                                      : to_after - static_cast<std::uint32_t>(i);
    }
    __device__ bool none() const { return left == no_mark && right == no_mark; }
    __device__ std::uint32_t nearest() const { return min(left, right); }
    /// Returns the position of that mark for cell x of a line of `rows`: the smaller coordinate of two equally near.
    __device__ std::int64_t where(std::int64_t x, std::int64_t rows) const {
        std::int64_t l = x - left, r = x + right;
        if (l < 0) l += rows;
        if (r >= rows) r -= rows;
        return left < right ? l : right < left ? r : min(l, r);
    }
};

/// Fills bits, to_before and to_after and, where wanted, zeros. Columns without unresolved strips may be left out.
void mark_lines(const device& on, const elements& image, mark what, const marked& to);

/// Copies the images, padded by repeating their last cells; `only_zeros` reduces each element to a byte, 0 for
/// zero.
void gather_images(const device& on, const items& from, const grid_shape& grid, std::int64_t cells,
                   const elements& type, bool only_zeros, std::byte* to);

/// Copies bytes into device memory through the parameters of kernels, so that nothing needs to outlive the call and a
/// graph keeps its own copy. Meant for a few kilobytes: 3.5 KB a launch.
void send_bytes(const device& on, const void* from, std::int64_t bytes, std::byte* to);

}  // namespace nearfield::exact
