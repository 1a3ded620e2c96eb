// The data that passes read and write: marks along lines, the list of few sites, and one further axis of any problem.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "exact/core.hpp"
#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/ground/items.cuh"
#include "exact/plan.hpp"

// Marks: a bit per cell, set at a site of a line or at a change of the class from one cell to the next; and for every
// word of bits the nearest marks outside it. With them a cell finds the nearest site, or the nearest cell of another
// class, on either side of its line without a search. These kernels do not depend on the numbers of a problem.

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
    const std::int32_t* unsolved = nullptr;  ///< 0 on the device: no column needs marks; null: it looks at `left`

    /// True if no column needs marks.
    [[nodiscard]] __device__ bool is_solved() const { return unsolved != nullptr && *unsolved == 0; }
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

// The rung for few sites, which compares every cell with all sites that can win near it (lines/few.cu), and its list.

namespace nearfield::exact::gpu {

constexpr int few_axes = 3;  // the last axis, the one between (one cell of images), and the first: the rows

/// A site of a grid of images. `V`: number type of values.
template <class V>
struct few_site {
    V first;  ///< 0, or minus its weight
    int at[few_axes];
    int image;
};

/// A list of sites in device memory, in any order.
template <class V>
struct few_sites {
    std::int32_t* count = nullptr;  ///< number of sites, which may exceed `most`
    std::int32_t* many = nullptr;   ///< see line_pass::many
    few_site<V>* sites = nullptr;   ///< null: no list is wanted
    int most = 0;                   ///< sites for which there is room
};

constexpr std::int64_t few_box_cells = 4096;  // cells of a block

/// True if the rung is tried, for a call whose fields are contiguous. The device decides whether sites are few.
bool tries_few(const plan& p);
/// True if it is tried for a call in unit spacing without options. Values fit 32 bits if only the keys of sites do not.
bool tries_few_plainly(const plan& p);
/// True if it is tried before words, which serve distances or indices alone.
bool tries_few_alone(const plan& p);

/// Returns the number of its counters. The second one is what line_pass::many describes.
std::int64_t few_counters(const plan& p);
/// Returns the bytes of its lists, which nothing needs afterwards.
std::int64_t few_bytes(const plan& p);

/// Returns the list of sites for kernels that read the image anyway; the counters must have been cleared.
template <class V>
few_sites<V> few_list(const plan& p, std::int32_t* counters, std::byte* memory);

/// Clears the counters and lists the sites, for all other calls.
template <class V>
void list_few(const option_call& call, const elements& image, std::int32_t* counters, std::byte* memory);

// One further axis of any problem: inputs and outputs of a pass. See lines.cuh.

/// Outputs that a last pass writes from registers: contiguous fields of the usual types. The finishing kernel makes all
/// others from the keys of the last pass. Passed to kernels by value.
template <class V>
struct written_fields {
    outputs out;
    V limit = last_value<V>();         ///< larger values mean no site
    unsigned closed = 0;               ///< a bit per axis whose ends are closed
    V closed_beside = no_site<V>();    ///< value of the nearest closed end of axes of one cell
    std::uint8_t* trusted = nullptr;   ///< whether no site beyond an open end could be nearer
    unsigned open = 0;                 ///< a bit per axis whose ends are open
    V open_beside = no_site<V>();      ///< value of the nearest open end of axes of one cell
    bool limited = false;              ///< cells without a site are trusted if all ends lie beyond the limit
    void* label = nullptr;             ///< elements of the image at the sites
    const std::byte* image = nullptr;  ///< image of labels and signs
    int image_bytes = 1;
    bool floating = false;
    int zero_sign = 1, other_sign = 1;  ///< signs of distances of cells that are zero, and of the others
    /// Receives 1 if a cell has no site within the limit, for numbers of 32 bits; null: such a cell has none.
    std::int32_t* beyond = nullptr;

    [[nodiscard]] NF_HD bool has_ends() const { return closed != 0 || closed_beside < no_site<V>(); }
    [[nodiscard]] NF_HD bool is_signed() const { return zero_sign != other_sign; }
};

/// Writes the fields if sites are few.
template <class V>
void compare_few(const option_call& call, const written_fields<V>& to, std::int32_t* counters, std::byte* memory);

/// Rule for the cells that compete for a cell.
enum class rule : std::uint8_t {
    plain,   ///< sites compete for all cells
    labels,  ///< the first cells beyond each end of the cell's run compete too, as sites at their own cost
    powers,  ///< sites have a first value of their own
};

/// Storage of the keys of a pass: packed sites with the coordinates of the axes that are done.
enum class keys : std::uint8_t {
    narrow,  ///< int16: one axis is done, of at most 32767 cells
    row,     ///< int32: one axis is done, of any length
    word,    ///< int32: two axes are done, of three
    wide,    ///< int64: any number of axes is done; of int32 numbers with the value above the packed site
    value,   ///< int32: the value without the site, for any number of axes
};

/// Bits of the cells in which runs begin along the axis of a pass, in rows of the last axis.
struct run_begins {
    const std::uint8_t* bits = nullptr;
    std::int64_t pitch = 0, step = 0;  ///< bytes of a row of the last axis, and from a row of the pass to the next
};

/// True if the comparison of all sites has solved the call; `many` is line_pass::many.
__device__ inline bool are_few(const std::int32_t* many) { return many != nullptr && *many == 0; }

/// True if a key is the coordinate along the last axis, the only one that is done.
constexpr bool is_position(keys stored) { return stored == keys::narrow || stored == keys::row; }

/// A pass along `axis`. Lines have `rows` cells, `inner` apart; neighbouring columns are adjacent in memory wherever
/// `inner` allows it. Passed to kernels by value.
template <class V>
struct line_pass {
    metric<V> m;
    int axis = 0;
    int rows = 1;
    std::int64_t inner = 1, columns = 1;
    V weight = 1;
    V done_weight
        [max_rank]{};  ///< weights of the axes that are done, last axis first: operands of the kernels' instructions
    int done_size[max_rank]{};
    float inverse = 1;    ///< inverse of the weight, rounded up
    float nearly = 1;     ///< the weight, rounded down
    bool ordered = true;  ///< winners of rows bound those of the rows between them, see plan::rows_ordered
    bool periodic = false;
    V limit = no_site<V>();  ///< larger values mean no site
    const void* from = nullptr;
    void* to = nullptr;                ///< keys for the next pass or the epilogue; null if fields are written
    bool values = false;               ///< `to` receives values instead of keys
    marked ends;                       ///< ends of the runs of a label, which the pass marks before it needs them
    run_begins begins;                 ///< where these runs begin, for windows of values; null: there are none
    const V* before = nullptr;         ///< power diagrams: cost of each cell's site so far, minus its weight
    V* after = nullptr;                ///< the same for the next pass; null if fields are written
    const V* extremes = nullptr;       ///< least first value, and the largest magnitude
    double largest = 0;                ///< bound of the terms of a power diagram
    bool rounds = false;               ///< values are rounded, so that they decide whether winners are ordered
    const std::byte* image = nullptr;  ///< contiguous labels, whose classes decide ties in rounded numbers
    int image_bytes = 1;
    bool floating = false, by_zero = false;
    written_fields<V> out;
    std::uint32_t* solved = nullptr;  ///< windows by rung, if a trace counts them
    /// 0 on the device: few sites have been compared with every cell (few.cu), or a search in 32 bits has served every
    /// cell, and nothing is left; null: neither was tried.
    const std::int32_t* many = nullptr;
    bool again = false;  ///< the pass runs in double, after one in 32 bits
    // Bent columns of 32 bits take more steps as so many, which cost less than no site; for other numbers unused.
    int most_steps = 0, done_most_steps[max_rank]{};  ///< along the axis, and along those that are done

    /// Strips that the near search leaves unresolved: a bit each, for windows of 256 rows; null: all.
    std::uint8_t* left = nullptr;
    /// 0 on the device: `left` has no strips, so what follows the windows returns at once; null: it looks at each.
    std::int32_t* unsolved = nullptr;
    // Workspace for lines that are longer than a block stages.
    std::int32_t* pivots = nullptr;  ///< winners of pivot rows, pivot_rows(rows) * 32 for each 32 columns
    float* least = nullptr;          ///< least values of groups of rows
    std::int32_t* far = nullptr;     ///< for each 32 columns: whether pivots are found by halving
};

/// True if near windows have left no strips of a pass.
template <class V>
__device__ bool is_solved(const line_pass<V>& g) {
    return g.left != nullptr && g.unsolved != nullptr && *g.unsolved == 0;
}

/// Properties that select the kernels of a pass.
struct line_form {
    rule by = rule::plain;
    keys stored = keys::wide;
    bool bent = false;    ///< some axis is periodic, or distances end at faces
    bool clamps = false;  ///< costs may exceed 32 bits: strips take the kernels for bent distances, which clamp steps
    bool only_windows = false;   ///< strips are left to a pass in double
    bool after_windows = false;  ///< windows in 32 bits have been searched, and ends of runs are marked
    bool last = false;           ///< the pass writes fields
    bool whole = true;           ///< near values are whole numbers of 32 bits, so that windows may be searched
    bool values = false;         ///< sites are not wanted
};

/// Workspace of a pass over long lines, in elements.
struct line_needs {
    std::int64_t pivots = 0, least = 0, far = 0, left = 0;
};
line_needs needs_of(keys stored, std::int64_t rows, std::int64_t columns);

/// True if a pass begins with near windows: of sites (lines/near.cuh), or of values alone (lines/values.cuh).
bool searches_near(const line_form& how, const line_pass<std::int32_t>& g);
bool searches_near(const line_form& how, const line_pass<double>& g);

/// Solves a pass. Returns whether near windows were searched.
bool solve(const device& on, const line_form& how, const line_pass<std::int32_t>& g);
bool solve(const device& on, const line_form& how, const line_pass<std::int64_t>& g);
bool solve(const device& on, const line_form& how, const line_pass<double>& g);

}  // namespace nearfield::exact::gpu
