// One plane of the host's dense engine: from steps along the first axis to results.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "base/scratch.hpp"
#include "exact/host/lines.hpp"
#include "exact/host_output.hpp"
#include "exact/host_rows.hpp"
#include "exact/host_sites.hpp"
#include "exact/host_steps.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// Lines of a plane and their cells. A 2-D image is a plane of one line for each of its rows.
struct plane_layout {
    explicit plane_layout(const plan& p);
    std::int64_t lines = 1, length = 1;

    [[nodiscard]] std::int64_t cells() const { return lines * length; }
    /// Returns the pitch of a plane's lines in scratch: each starts at a cache line, an odd number of lines apart. The
    /// cells above and below one then do not compete for the same few sets of the first-level cache, as with sides that
    /// are powers of two (16x2048^2, 0.1 % sites: 280 ms instead of 366).
    [[nodiscard]] std::int64_t pitch() const { return ((length + 31) / 32 | 1) * 32; }
};

/// Terms of distances along the axes, in the numbers of host_rows.hpp. Computed once for a call.
template <bool Sites>
class plane_terms {
public:
    using narrow = std::conditional_t<Sites, std::int32_t, std::uint16_t>;
    using wide = std::conditional_t<Sites, std::int64_t, std::int32_t>;

    explicit plane_terms(const plan& p);
    static std::int64_t bytes(const plan& p);

    step_term first;
    int line_bits = 0, cell_bits = 0;  ///< low bits of numbers, for the winning line and the winning cell
    std::int64_t window = 0;           ///< lines to either side that may matter
    narrow narrow_limit;
    wide wide_limit;
    narrow trusted;  ///< from this number on a result may have lost its winner: lines' numbers hold smaller values
    cell_number packed, linear;  ///< numbers of sites

    template <class N>
    [[nodiscard]] const N* middle() const {
        if constexpr (sizeof(N) == sizeof(narrow)) return narrow_middle_.get();
        else return wide_middle_.get();
    }
    /// Returns the terms of the search along the middle axis in wide numbers.
    [[nodiscard]] const axis_terms<wide>* wide_lines() const { return &*wide_lines_; }
    /// Returns the terms of cells to either side: from -(length + row_padding) to length + row_padding.
    template <class N>
    [[nodiscard]] const N* last() const {
        if constexpr (sizeof(N) == sizeof(narrow)) return narrow_last_.get() + reach_;
        else return wide_last_.get() + reach_;
    }
    template <class N>
    [[nodiscard]] const N* gap() const {  ///< block_gaps()
        if constexpr (sizeof(N) == sizeof(narrow)) return narrow_gap_.get() + reach_;
        else return wide_gap_.get() + reach_;
    }
    /// Return the low bits of the numbers of a line's cells, for the searches along the middle and the last axis.
    [[nodiscard]] low_bits low_of_line(std::int64_t line) const {
        return {line_bits, Sites ? static_cast<std::int32_t>(line) : 0, 0};
    }
    [[nodiscard]] low_bits low_of_cells() const { return {cell_bits, 0, Sites ? 1 : 0}; }
    /// Returns the lines to either side beyond which everything is farther than the value of `number`, a result along
    /// the last axis.
    [[nodiscard]] std::int64_t lines_within(narrow number, std::int64_t guess) const;
    /// Returns the number up to which results are right if that many lines were searched.
    [[nodiscard]] narrow known_within(std::int64_t lines) const;

private:
    void make_middle(const metric<std::int64_t>& m, int axis);
    void make_last(const metric<std::int64_t>& m, int axis);

    host_scratch<narrow> narrow_middle_, narrow_last_, narrow_gap_;
    host_scratch<wide> wide_middle_, wide_last_, wide_gap_;
    std::optional<axis_terms<wide>> wide_lines_;
    std::int64_t reach_ = 0;
};

/// The columns along the first axis that have a site, in a volume with few of them. Each relaxes every line
/// separately.
struct few_columns {
    struct column {
        std::int32_t line, cell;
    };
    static std::int64_t most(const plane_layout& at);
    std::int64_t count = 0;
    bool all = false;  ///< true if they are listed; else there are many
    host_scratch<column> list;
    host_scratch<std::uint16_t> steps;  ///< steps of these columns in the current plane
};

/// A thread's search of planes.
template <bool Sites>
class plane_search {
    using terms = plane_terms<Sites>;
    using narrow = typename terms::narrow;
    using wide = typename terms::wide;
    using writer = output_writer<std::int32_t, std::int32_t>;

public:
    plane_search(const plan& p, const terms& t, const writer& to);
    static std::int64_t bytes(const plan& p);

    /// Searches plane `row` of an image whose first cell is cell `image` of the grid, and writes its results. `steps`
    /// and `toward` are those along the first axis, contiguous; `toward` only with sites.
    void solve(const std::uint16_t* steps, const std::int16_t* toward, std::int64_t image, std::int64_t row);

private:
    template <class N>
    struct line_buffers {
        host_scratch<N> plane, value, least, best;
        [[nodiscard]] N* cells() const { return value.get() + row_padding; }
    };

    template <class N>
    void prepare(line_buffers<N>& b) const;
    template <class N>
    [[nodiscard]] line_search<N> line_of(const line_buffers<N>& b) const;
    void find_few(const std::uint16_t* steps);
    void number_few(const std::uint16_t* steps, std::int64_t image);
    template <class N>
    void relax_by_few(std::int64_t line, const line_buffers<N>& b) const;
    template <class N>
    void take_columns(line_buffers<N>& b);
    void number_columns(const std::int16_t* toward, std::int64_t row);
    narrow solve_row(const std::uint16_t* steps);
    narrow solve_line(std::int64_t line);
    narrow solve_few(std::int64_t line);
    void solve_wide(const std::uint16_t* steps, std::int64_t line, narrow known);
    void make_wide_plane(const std::uint16_t* steps);
    template <class N>
    void write(const line_buffers<N>& b, std::int64_t first);
    /// Returns for a line's cells the site along the axes before the last; then -1, for none.
    [[nodiscard]] const std::int32_t* sites_of_line() const { return at_.lines > 1 ? column_.get() : site_.get(); }
    void write_roots(const std::uint16_t* squared, float* to) const;
    template <class N, class T>
    void write_index(const N* best, T* to) const;

    const terms& terms_;
    const writer& writer_;
    const plane_layout at_;
    const bool negative_side_, past_caches_;
    std::int64_t window_;        ///< lines to either side that the last line needed
    std::int64_t straight_ = 0;  ///< number of lines still to search in wide numbers without trying narrow ones
    bool wide_plane_ready_ = false;
    line_buffers<narrow> narrow_;
    line_buffers<wide> wide_;
    host_scratch<wide> tile_value_, tile_best_;
    line_lists lists_;
    few_columns few_;
    std::int64_t few_of_ = -1;  ///< the image whose columns these are
    host_scratch<wide> few_number_;
    host_scratch<std::int32_t> site_;  ///< for the plane's cells: the site along the first axis
    host_scratch<std::int32_t>
        column_;  ///< for a line's cells: the site along the axes before the last; then -1, for none
};

}  // namespace nearfield::exact
