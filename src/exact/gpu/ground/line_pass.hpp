// One further axis of any problem: what a pass reads and writes. See lines.cuh.
#pragma once

#include <cstdint>

#include "exact/core.hpp"
#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/ground/marks.hpp"

namespace nearfield::exact::gpu {

/// What a last pass writes from registers: contiguous fields of the usual types. All others are made from the keys of
/// the last pass by the finishing kernel. Passed to kernels by value.
template <class V>
struct written_fields {
    outputs out;
    V limit = last_value<V>();         ///< larger values mean no site
    unsigned closed = 0;               ///< a bit an axis whose ends are closed
    V closed_beside = no_site<V>();    ///< value of the nearest closed end of axes of one cell
    void* label = nullptr;             ///< elements of the image at the sites
    const std::byte* image = nullptr;  ///< of labels and signs
    int image_bytes = 1;
    bool floating = false;
    int zero_sign = 1, other_sign = 1;  ///< of distances of cells that are zero, and of the others

    [[nodiscard]] NF_HD bool has_ends() const { return closed != 0 || closed_beside < no_site<V>(); }
    [[nodiscard]] NF_HD bool is_signed() const { return zero_sign != other_sign; }
};

/// Which cells compete for a cell.
enum class rule : std::uint8_t {
    plain,   ///< sites are sites for all cells
    labels,  ///< so are the first cells beyond each end of the cell's run, which are sites themselves
    powers,  ///< sites start from a value of their own
};

/// How the keys of a pass are stored: packed sites with the coordinates of the axes that are done.
enum class keys : std::uint8_t {
    narrow,  ///< int16: one axis is done, of at most 32767 cells
    word,    ///< int32: two axes are done, of three
    wide,    ///< int64: any number of axes is done
    value,   ///< int32: no site but its value, of any number of axes
};

/// A pass along `axis`. Lines have `rows` cells, `inner` apart; neighbouring columns are neighbours in memory wherever
/// `inner` allows. Passed to kernels by value.
template <class V>
struct line_pass {
    metric<V> m;
    int axis = 0;
    int rows = 1;
    std::int64_t inner = 1, columns = 1;
    V weight = 1;
    V done_weight
        [max_rank]{};  ///< of the axes that are done, the last axis first: operands of the kernels' instructions
    int done_size[max_rank]{};
    float inverse = 1;    ///< of the weight, rounded up
    float nearly = 1;     ///< the weight, rounded down
    bool ordered = true;  ///< winners of rows bound those of the rows between them, see plan::rows_ordered
    bool periodic = false;
    V limit = no_site<V>();  ///< larger values mean no site
    const void* from = nullptr;
    void* to = nullptr;                ///< keys of the next pass, or of the epilogue; null where fields are written
    bool values = false;               ///< values go there instead of keys
    marked ends;                       ///< of runs of a label
    const V* before = nullptr;         ///< of power diagrams: what each cell's site costs so far, its weight taken off
    V* after = nullptr;                ///< the same of the next pass; null where fields are written
    const V* extremes = nullptr;       ///< least first value, and the largest magnitude
    double largest = 0;                ///< bound of the terms of a power diagram
    bool rounds = false;               ///< its values are rounded, so that whether winners are ordered depends on them
    const std::byte* image = nullptr;  ///< of labels, contiguous, whose classes decide ties in rounded numbers
    int image_bytes = 1;
    bool floating = false, by_zero = false;
    written_fields<V> out;
    std::uint32_t* solved = nullptr;  ///< windows by rung, where a trace counts them

    /// Strips that the search of near windows leaves: a bit each, for windows of 256 rows; null: all.
    std::uint8_t* left = nullptr;
    // Lines that are longer than a block stages.
    std::int32_t* pivots = nullptr;  ///< winners of pivot rows, pivot_rows(rows) * 32 for each 32 columns
    float* least = nullptr;          ///< least values of groups of rows
    std::int32_t* far = nullptr;     ///< of each 32 columns: whether pivots are found by halving
};

/// What decides which kernels serve a pass.
struct line_form {
    rule by = rule::plain;
    keys stored = keys::wide;
    bool bent = false;    ///< distances are not plain: some axis is periodic, or distances end at faces
    bool last = false;    ///< fields are written
    bool values = false;  ///< no site is asked for
};

/// Workspace of a pass over long lines, in elements.
struct line_needs {
    std::int64_t pivots = 0, least = 0, far = 0, left = 0;
};
line_needs needs_of(keys stored, std::int64_t rows, std::int64_t columns);

/// Whether a pass begins with near windows: of sites (lines/near.cuh), or of values alone (lines/values.cuh).
bool searches_near(const line_form& how, const line_pass<std::int32_t>& g);

/// Solves a pass.
void solve(const device& on, const line_form& how, const line_pass<std::int32_t>& g);
void solve(const device& on, const line_form& how, const line_pass<std::int64_t>& g);
void solve(const device& on, const line_form& how, const line_pass<double>& g);

}  // namespace nearfield::exact::gpu
