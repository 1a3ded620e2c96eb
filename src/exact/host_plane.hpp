// One plane of the host's dense engine: from steps along the first axis to results.
#pragma once

#include <cstdint>

#include "base/scratch.hpp"
#include "exact/host_output.hpp"
#include "exact/host_rows.hpp"
#include "exact/host_steps.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// Lines of a plane and their cells; where they lie in a thread's scratch. A 2-D image is a plane of one line for each of its
/// rows.
struct plane_layout {
    std::int64_t lines = 1, length = 1;

    /// Rows of scratch start a cache line each, an odd number of them apart: the lines above and below a cell then do not
    /// compete for the same few places of the first-level cache, as they do with sides that are powers of two.
    [[nodiscard]] std::int64_t pitch() const { return ((length + 31) / 32 | 1) * 32; }
};

/// What distances along the three axes add, in 16 bits (no_site16: too much) and in 32. Made once for a call.
class plane_terms {
public:
    explicit plane_terms(const plan& p);

    step_term first;
    std::int64_t window = 0;  ///< lines to either side that may matter
    std::uint16_t limit16 = no_site16;
    std::int32_t limit32;
    [[nodiscard]] const std::int32_t* first32() const { return first32_.get(); }  ///< of steps; no_site beyond the axis
    [[nodiscard]] const std::uint16_t* middle16() const { return middle16_.get(); }
    [[nodiscard]] const std::int32_t* middle32() const { return middle32_.get(); }
    /// Of cells to either side: from -(length + row_padding) to length + row_padding.
    [[nodiscard]] const std::uint16_t* last16() const { return last16_.get() + reach_; }
    [[nodiscard]] const std::int32_t* last32() const { return last32_.get() + reach_; }
    [[nodiscard]] const std::uint16_t* gap16() const { return gap16_.get() + reach_; }  ///< block_gaps()
    [[nodiscard]] const std::int32_t* gap32() const { return gap32_.get() + reach_; }
    /// Lines to either side within which everything of at most `value` lies.
    [[nodiscard]] std::int64_t lines_within(std::uint16_t value) const;

    static std::int64_t bytes(const plan& p);

private:
    host_scratch<std::int32_t> first32_, middle32_, last32_, gap32_;
    host_scratch<std::uint16_t> middle16_, last16_, gap16_;
    std::int64_t reach_ = 0;
    double middle_weight_ = 1;
};

/// A thread's search of planes.
class plane_search {
public:
    plane_search(const plan& p, const plane_terms& terms, const output_writer<std::int32_t, std::int32_t>& writer,
                 float* distances_alone);

    /// Searches the plane whose first cell is cell `first` of the grid, and writes its results. `steps` is contiguous.
    void solve(const std::uint16_t* steps, std::int64_t first);
    static std::int64_t bytes(const plan& p);

private:
    bool solve_line(std::int64_t line);
    void solve_line_wide(const std::uint16_t* steps, std::int64_t line);
    void make_wide_plane(const std::uint16_t* steps);
    void write(std::int64_t first);
    void write_wide(std::int64_t first);

    const plan& p_;
    const plane_terms& terms_;
    const output_writer<std::int32_t, std::int32_t>& writer_;
    float* const distances_alone_;
    const bool past_caches_;
    const plane_layout at_;
    std::int64_t window_;        ///< lines to either side that the last line needed
    std::int64_t straight_ = 0;  ///< lines that are searched in 32 bits without trying 16
    bool wide_plane_ready_ = false;
    host_scratch<std::uint16_t> plane_, line_, least_, best_;
    host_scratch<std::int32_t> wide_plane_, wide_line_, wide_least_, wide_best_;
    host_scratch<std::int32_t> tile_value_, tile_winner_;
};

}  // namespace nearfield::exact
