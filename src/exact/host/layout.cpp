#include "exact/host/layout.hpp"

#include <algorithm>
#include <cmath>

#include "base/lines.hpp"
#include "exact/host/rows.hpp"
#include "exact/host/sites.hpp"
#include "exact/host/terms.hpp"

namespace nearfield::exact {
namespace {

/// Cells of short axes that a tile searches together.
constexpr std::int64_t most_together = 128;
/// Number of cells in planes whose rows are solved before their lines: enough for many threads.
constexpr std::int64_t cells_together = std::int64_t{1} << 23;
/// Integers up to this one are exact doubles.
constexpr double most_whole = 9007199254740992.0;

/// Steps along every axis whose cost must fit before a call tries numbers that may be too small; ends of runs of labels
/// are near. 192x256x256, spacing (2.5, 0.7, 0.7), processor time of a signed mask and of labels: 123 and 48 ms with 16
/// bits first, 91 and 71 ms without.
constexpr double steps_of_masks = 12, steps_of_labels = 4, steps_of_more = 32;
/// A last axis of few cells leaves half of a tile empty, so earlier axes join until a row has least_row cells; longer
/// axes gain nothing.
constexpr std::int64_t least_axis = 16, least_row = 32, most_cells = 32;

/// Returns the first of the axes that form a row: the last axis if that is long enough alone.
int row_axis_of(const plan& p) {
    int axis = p.rank - 1;
    std::int64_t length = p.size[static_cast<std::size_t>(axis)];
    if (p.weighted || length >= least_axis) return axis;
    while (length < least_row && axis > p.first_axis && p.size[static_cast<std::size_t>(axis - 1)] <= most_cells)
        length *= p.size[static_cast<std::size_t>(--axis)];
    return axis;
}

bool fits(const plan& p, double steps, double end) {
    return std::all_of(p.weight.begin() + p.first_axis, p.weight.begin() + p.rank,
                       [&](double weight) { return weight * steps * steps < end; });
}

}  // namespace

bool packs(const plan& p, double largest) { return std::ldexp(largest + 1, p.keys.total()) < most_whole; }

std::int64_t window_of(const plan& p, int axis) {
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t window = p.borders[i] == border::periodic ? p.size[i] / 2 : p.size[i] - 1;
    if (!std::isfinite(p.limit) || p.weighted) return window;
    // One more than the limit allows, to cover rounding here.
    const double rows = std::sqrt(p.limit / p.weight[i]), reach = p.half_cell ? (rows + 1) / 2 : rows;
    return reach + 1 < static_cast<double>(window) ? static_cast<std::int64_t>(reach) + 1 : window;
}

host_numbers numbers_of(const plan& p) {
    const bool whole = p.numbers != tier::float64;
    if (p.sites_wanted || p.weighted) {
        if (!whole) return host_numbers::wide_real;
        if (!p.weighted && packs(p, p.largest)) return host_numbers::packed;
        // Rounding moves values of packed numbers by at most one, less than what a step along a line changes.
        const bool tried = !p.weighted && p.largest < most_whole / 2 &&
                           fits(p, steps_of_more, std::ldexp(most_whole, -p.keys.total()));
        return tried ? host_numbers::packed_wide : host_numbers::wide_whole;
    }
    if (!whole) return host_numbers::real;
    if (p.numbers == tier::int32)
        return fits(p, p.by == classes::values ? steps_of_labels : steps_of_masks, number<std::uint16_t>::infinite)
                   ? host_numbers::narrow
                   : host_numbers::int32;
    if (p.largest >= most_whole) return host_numbers::wide_whole;
    return fits(p, steps_of_more, number<std::int32_t>::infinite) ? host_numbers::int32_real : host_numbers::real;
}

std::int64_t lead_of(const plan& p, const arrays<host>& a) {
    constexpr std::int64_t least_length = 512, line = 64, cell = sizeof(float);
    const std::int64_t length = p.size[static_cast<std::size_t>(p.rank - 1)];
    if (p.sites_wanted || p.weighted || a.out.distance.data == nullptr || a.out.distance.type != dtype::float32 ||
        length < least_length || length % number<std::uint16_t>::columns != 0)
        return 0;
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.out.distance.data) % line) / cell;
}

pass_layout::pass_layout(const plan& p, std::int64_t columns, std::int64_t element_bytes, std::int64_t first_columns)
    : lead(first_columns), columns_(columns), element_bytes_(element_bytes) {
    const auto size = [&](int axis) { return p.size[static_cast<std::size_t>(axis)]; };
    row_axis = row_axis_of(p), aside = p.weighted || row_axis < p.rank - 1;
    length = cells_between(p.size.data(), row_axis, p.rank), tiles = (lead + length + columns - 1) / columns;
    for (int axis = row_axis - 1; axis >= p.first_axis; --axis) {
        line_pass s;
        s.first = s.last = axis, s.rows = size(axis);
        while (s.first > p.first_axis && s.rows * size(s.first - 1) <= most_together) s.rows *= size(--s.first);
        axis = s.first;
        s.before = cells_between(p.size.data(), 0, s.first);
        s.after = cells_between(p.size.data(), s.last + 1, row_axis);
        passes.push_back(s);
    }
    // If the rows contain all axes, the pass has nothing to search.
    if (passes.empty()) passes.push_back({row_axis, row_axis - 1, cells_between(p.size.data(), 0, row_axis), 1, 1});
    const line_pass& s = passes.front();
    sites_of_rows = !aside && numbers_of(p) >= host_numbers::packed;
    steps_of_rows = !aside && !sites_of_rows;
    const std::int64_t bytes_of_steps = element_bytes == 8 && length > most_short_row ? 4 : 2;
    bytes_of_rows = sites_of_rows ? sizeof(std::int32_t) : steps_of_rows ? bytes_of_steps : element_bytes;
    const std::int64_t tiles_of_line = steps_of_rows ? 64 / (columns * bytes_of_steps) : 1;
    columns_of_rows = tiles_of_line * columns, tiles_of_rows = (tiles + tiles_of_line - 1) / tiles_of_line;
    together = std::min(s.before, (cells_together + plane_elements() - 1) / plane_elements());
}

std::int64_t pass_layout::field_elements(int k) const {
    if (k == 0 && passes.size() <= 2) return elements_of_rows(together * plane_of_rows());
    return passes.front().before * plane_elements();
}

std::int64_t pass_layout::workspace_bytes(const plan& p, int threads, bool sited) const {
    const std::int64_t bits = field_elements(1) / 8 + row_slack;
    std::int64_t all = 0, rows = 0;
    for (int k = 0; k < (passes.size() > 1 ? 2 : 1); ++k) all += field_elements(k) * element_bytes_;
    if (p.by != classes::none) all += bits * (p.rank - 1 - p.first_axis) + (p.is_signed() ? bits : 0);
    for (const line_pass& s : passes) rows = std::max(rows, s.rows);
    if (p.weighted) all += 8 * p.cells;
    if (aside) rows = std::max(rows, tiles * columns_), all += 10 * rows * columns_ * threads;
    for (int axis = p.first_axis; axis < p.rank; ++axis)
        all += axis_terms<double>::entries(p.size[static_cast<std::size_t>(axis)]) *
               std::min<std::int64_t>(element_bytes_, 8);
    const bool first = p.by != classes::none || p.any(border::closed);
    const std::int64_t of_thread = rows * columns_ * (element_bytes_ * (first ? 2 : 1) + (sited ? 24 : 4)) +
                                   std::max(rows, tiles) * columns_ * element_bytes_ +
                                   row_scratch::bytes(length, sited) + 4 * (length + row_slack);
    return all + of_thread * threads;
}

}  // namespace nearfield::exact
