#include "exact/host/layout.hpp"

#include <cmath>

#include "base/lines.hpp"
#include "exact/host/rows.hpp"
#include "exact/host/short_rows.hpp"
#include "exact/host/terms.hpp"

namespace nearfield::exact {
namespace {

/// Cells of short axes that a tile searches together.
constexpr std::int64_t most_together = 128;
/// Number of cells in planes that are solved along all their axes before the next ones, if a plane exceeds one thread's
/// cache: enough for many threads.
constexpr std::int64_t cells_together = std::int64_t{1} << 23;
/// A plane of at most this size is solved along two axes before the next one.
constexpr std::int64_t plane_bytes = 3 << 19;
/// Planes per thread, so that threads end at the same time.
constexpr std::int64_t planes_a_thread = 4;
/// Integers up to this one are exact doubles.
constexpr double most_whole = 9007199254740992.0;

/// True if a trial with 16 bits makes sense: four steps along every axis fit.
bool suits_16_bits(const plan& p) {
    for (int axis = p.first_axis; axis < p.rank; ++axis)
        if (p.weight[static_cast<std::size_t>(axis)] * 16 >= number<std::uint16_t>::infinite) return false;
    return true;
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
        if (whole && !p.weighted && packs(p, p.largest)) return host_numbers::packed;
        return whole ? host_numbers::wide_whole : host_numbers::wide_real;
    }
    if (!whole) return host_numbers::real;
    if (p.numbers == tier::int64) return p.largest < most_whole ? host_numbers::real : host_numbers::wide_whole;
    return suits_16_bits(p) ? host_numbers::narrow : host_numbers::int32;
}

pass_layout::pass_layout(const plan& p, int threads, std::int64_t columns, std::int64_t element_bytes)
    : columns_(columns), element_bytes_(element_bytes) {
    const auto size = [&](int axis) { return p.size[static_cast<std::size_t>(axis)]; };
    row_axis = row_axis_of(p);
    length = cells_between(p.size.data(), row_axis, p.rank), tiles = (length + columns - 1) / columns;
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
    planes = s.before >= planes_a_thread * threads && plane_elements() * element_bytes <= plane_bytes;
    together = planes ? s.before : std::min(s.before, (cells_together + plane_elements() - 1) / plane_elements());
}

std::int64_t pass_layout::field_elements(int k) const {
    return (k == 0 && passes.size() <= 2 ? together : passes.front().before) * plane_elements();
}
bool pass_layout::needs_field(int k) const { return k == 0 ? !planes || passes.size() > 2 : passes.size() > 1; }

std::int64_t pass_layout::workspace_bytes(const plan& p, int threads, bool sited) const {
    const std::int64_t bits = field_elements(1) / 8 + row_slack;
    std::int64_t all = 0, rows = 0;
    for (int k = 0; k < 2; ++k) all += needs_field(k) ? field_elements(k) * element_bytes_ : 0;
    if (p.by != classes::none) all += bits * (p.rank - 1 - p.first_axis) + (p.is_signed() ? bits : 0);
    for (const line_pass& s : passes) rows = std::max(rows, s.rows);
    if (row_axis < p.rank - 1) all += short_rows<double>::bytes(p, row_axis) + 64 * length * threads;
    if (p.weighted) all += 8 * p.cells, rows = std::max(rows, length);
    for (int axis = p.first_axis; axis < p.rank; ++axis)
        all += axis_terms<double>::entries(p.size[static_cast<std::size_t>(axis)]) *
               std::min<std::int64_t>(element_bytes_, 8);
    const bool first = p.by != classes::none || p.any(border::closed);
    const std::int64_t of_thread = rows * columns_ * (element_bytes_ * (first ? 3 : 2) + (sited ? 24 : 4)) +
                                   row_scratch::bytes(length, sited) + 4 * (length + row_slack) +
                                   (planes ? plane_elements() * element_bytes_ : 0);
    return all + of_thread * threads;
}

}  // namespace nearfield::exact
