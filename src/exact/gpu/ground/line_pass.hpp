// One further axis of any problem: inputs and outputs of a pass. See lines.cuh.
#pragma once

#include <cstdint>

#include "exact/core.hpp"
#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/ground/marks.hpp"

namespace nearfield::exact::gpu {

/// Outputs that a last pass writes from registers: contiguous fields of the usual types. The finishing kernel makes all
/// others from the keys of the last pass. Passed to kernels by value.
template <class V>
struct written_fields {
    outputs out;
    V limit = last_value<V>();         ///< larger values mean no site
    unsigned closed = 0;               ///< a bit per axis whose ends are closed
    V closed_beside = no_site<V>();    ///< value of the nearest closed end of axes of one cell
    void* label = nullptr;             ///< elements of the image at the sites
    const std::byte* image = nullptr;  ///< image of labels and signs
    int image_bytes = 1;
    bool floating = false;
    int zero_sign = 1, other_sign = 1;  ///< signs of distances of cells that are zero, and of the others

    [[nodiscard]] NF_HD bool has_ends() const { return closed != 0 || closed_beside < no_site<V>(); }
    [[nodiscard]] NF_HD bool is_signed() const { return zero_sign != other_sign; }
};

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
    /// 0 on the device: few sites have been compared with every cell (few.cu), and nothing is left; null: not tried.
    const std::int32_t* many = nullptr;

    /// Strips that the near search leaves unresolved: a bit each, for windows of 256 rows; null: all.
    std::uint8_t* left = nullptr;
    // Workspace for lines that are longer than a block stages.
    std::int32_t* pivots = nullptr;  ///< winners of pivot rows, pivot_rows(rows) * 32 for each 32 columns
    float* least = nullptr;          ///< least values of groups of rows
    std::int32_t* far = nullptr;     ///< for each 32 columns: whether pivots are found by halving
};

/// Properties that select the kernels of a pass.
struct line_form {
    rule by = rule::plain;
    keys stored = keys::wide;
    bool bent = false;    ///< some axis is periodic, or distances end at faces
    bool last = false;    ///< the pass writes fields
    bool whole = true;    ///< near values are whole numbers of 32 bits, so that windows may be searched
    bool values = false;  ///< sites are not wanted
};

/// Workspace of a pass over long lines, in elements.
struct line_needs {
    std::int64_t pivots = 0, least = 0, far = 0, left = 0;
};
line_needs needs_of(keys stored, std::int64_t rows, std::int64_t columns);

/// True if a pass begins with near windows: of sites (lines/near.cuh), or of values alone (lines/values.cuh).
bool searches_near(const line_form& how, const line_pass<std::int32_t>& g);
bool searches_near(const line_form& how, const line_pass<double>& g);

/// Solves a pass.
void solve(const device& on, const line_form& how, const line_pass<std::int32_t>& g);
void solve(const device& on, const line_form& how, const line_pass<std::int64_t>& g);
void solve(const device& on, const line_form& how, const line_pass<double>& g);

}  // namespace nearfield::exact::gpu
