#include "exact/host_plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "exact/host_planes.hpp"
#include "exact/host_simd.hpp"

namespace nearfield::exact {
namespace {

/// Outputs of more bytes do not stay in the caches anyway: writing past them spares reading every line first.
constexpr std::int64_t past_caches_bytes = std::int64_t{1} << 23;
/// Lines that go to 32 bits at once after one that needed them: what a vain try of 16 costs is then shared by so many.
constexpr std::int64_t straight_lines = 15;
/// Lines to either side from which a tile of columns in 32 bits, halved between known winners, costs less.
constexpr std::int64_t most_window = 128;
constexpr std::int64_t first_window = 8;
/// Columns of such a tile: 256 bytes of a line.
constexpr std::int64_t tile_columns = 64;

plane_layout layout_of(const plan& p) {
    const auto first = static_cast<std::size_t>(p.first_axis), last = static_cast<std::size_t>(p.rank - 1);
    return {last - first == 2 ? p.size[first + 1] : 1, p.size[last]};
}

std::uint16_t narrow(double value) { return static_cast<std::uint16_t>(std::min(value, double{no_site16})); }

/// Terms of distances up to `most`, in 32 bits, then no_site; what a wider distance than the grid's adds never matters.
host_scratch<std::int32_t> wide_terms(const metric<std::int32_t>& m, int axis, std::int64_t most) {
    host_scratch<std::int32_t> terms(most + 2);
    for (std::int64_t d = 0; d <= most; ++d) terms.get()[d] = m.term(axis, static_cast<std::int32_t>(d));
    terms.get()[most + 1] = no_site<std::int32_t>();
    return terms;
}

}  // namespace

plane_terms::plane_terms(const plan& p) {
    const auto m = p.as_metric<std::int32_t>();
    const plane_layout at = layout_of(p);
    const int last = p.rank - 1;
    const std::int64_t rows = p.size[static_cast<std::size_t>(p.first_axis)];
    first.weight = static_cast<std::uint16_t>(m.weight[p.first_axis]);
    first.half_cell = p.half_cell;
    first.most = 0;
    while (along(m.weight[p.first_axis], reach(first.most + 1, p.half_cell)) < no_site16) ++first.most;
    first32_ = wide_terms(m, p.first_axis, rows - 1);

    limit32 = plan::bound<std::int32_t>(p.limit);
    limit16 = narrow(limit32);
    if (at.lines > 1) {
        const int middle = p.first_axis + 1;
        middle_weight_ = m.weight[middle];
        window =
            std::min<std::int64_t>(at.lines - 1, static_cast<std::int64_t>(std::sqrt(limit32 / middle_weight_)) + 1);
        middle32_ = wide_terms(m, middle, at.lines - 1);
        middle16_ = host_scratch<std::uint16_t>(at.lines + 1);
        for (std::int64_t d = 0; d <= at.lines; ++d) middle16_.get()[d] = narrow(middle32_.get()[d]);
    }
    reach_ = at.length + row_padding;
    last32_ = host_scratch<std::int32_t>(2 * reach_ + 1);
    last16_ = host_scratch<std::uint16_t>(2 * reach_ + 1);
    for (std::int64_t d = 0; d <= reach_; ++d) {
        const std::int32_t term = m.term(last, static_cast<std::int32_t>(std::min(d, at.length - 1)));
        last32_.get()[reach_ - d] = last32_.get()[reach_ + d] = term;
        last16_.get()[reach_ - d] = last16_.get()[reach_ + d] = narrow(term);
    }
    gap32_ = host_scratch<std::int32_t>(2 * reach_ + 1);
    gap16_ = host_scratch<std::uint16_t>(2 * reach_ + 1);
    block_gaps(last32(), at.length, gap32_.get() + reach_);
    block_gaps(last16(), at.length, gap16_.get() + reach_);
}

std::int64_t plane_terms::bytes(const plan& p) {
    const plane_layout at = layout_of(p);
    const std::int64_t rows = p.size[static_cast<std::size_t>(p.first_axis)];
    return (rows + 1) * 4 + (at.lines > 1 ? (at.lines + 1) * 6 : 0) + (2 * (at.length + row_padding) + 1) * 12;
}

std::int64_t plane_terms::lines_within(std::uint16_t value) const {
    return std::min(window, static_cast<std::int64_t>(std::sqrt(value / middle_weight_)) + 1);
}

plane_search::plane_search(const plan& p, const plane_terms& terms,
                           const output_writer<std::int32_t, std::int32_t>& writer, float* distances_alone)
    : p_(p),
      terms_(terms),
      writer_(writer),
      distances_alone_(distances_alone),
      past_caches_(p.cells * 4 >= past_caches_bytes),
      at_(layout_of(p)),
      window_(std::min(first_window, terms.window)),
      line_(at_.pitch() + 2 * row_padding),
      least_(at_.length + row_padding),
      best_(at_.pitch()) {
    if (at_.lines > 1) plane_ = host_scratch<std::uint16_t>(at_.lines * at_.pitch());
    std::fill_n(line_.get(), at_.pitch() + 2 * row_padding, no_site16);
}

std::int64_t plane_search::bytes(const plan& p) {
    const plane_layout at = layout_of(p);
    const std::int64_t pitch = at.pitch(), plane = at.lines > 1 ? at.lines * pitch : 0;
    const std::int64_t tile = at.lines > 1 ? at.lines * tile_columns : 0;
    return (plane + 3 * pitch + 3 * row_padding) * 6 + tile * 8;
}

void plane_search::solve(const std::uint16_t* steps, std::int64_t first) {
    wide_plane_ready_ = false;
    if (at_.lines > 1 && straight_ < at_.lines)
        for (std::int64_t y = 0; y < at_.lines; ++y)
            terms_of(steps + y * at_.length, at_.length, terms_.first, plane_.get() + y * at_.pitch());
    for (std::int64_t y = 0; y < at_.lines; ++y) {
        const std::int64_t cell = first + y * at_.length;
        if (straight_ > 0) {
            --straight_;
        } else {
            if (at_.lines == 1) terms_of(steps, at_.length, terms_.first, line_.get() + row_padding);
            if (solve_line(y)) {
                write(cell);
                continue;
            }
            straight_ = straight_lines;
        }
        solve_line_wide(steps, y);
        write_wide(cell);
    }
}

/// Looks at as many lines above and below as the line before needed. No value exceeds what that leaves, or it says how many
/// lines would be enough; false when 16 bits do not hold the answer.
bool plane_search::solve_line(std::int64_t line) {
    line_search<std::uint16_t> s;
    s.value = line_.get() + row_padding, s.term = terms_.last16(), s.limit = terms_.limit16, s.count = at_.length;
    s.gap = terms_.gap16(), s.least = least_.get(), s.best = best_.get();
    if (at_.lines == 1) return search_line(s) < no_site16 || terms_.limit16 < no_site16;
    fold_of_rows f;
    f.value = plane_.get(), f.rows = at_.lines, f.pitch = at_.pitch(), f.count = at_.length, f.row = line;
    f.term = terms_.middle16(), f.best = line_.get() + row_padding;
    for (;;) {
        f.window = window_;
        fold_rows(f);
        const std::uint16_t top = search_line(s);
        const std::int64_t needed = top == no_site16 ? std::min(terms_.window, 4 * window_) : terms_.lines_within(top);
        if (needed <= window_) {
            if (top == no_site16 && terms_.limit16 == no_site16) return false;
            window_ = std::max(needed, window_ - 1);
            return true;
        }
        if (needed > most_window && window_ > most_window / 4) return false;
        window_ = needed;
    }
}

void plane_search::make_wide_plane(const std::uint16_t* steps) {
    const std::int64_t pitch = at_.pitch();
    if (wide_plane_.get() == nullptr) {
        wide_plane_ = host_scratch<std::int32_t>(at_.lines * pitch);
        tile_value_ = host_scratch<std::int32_t>(at_.lines * tile_columns);
        tile_winner_ = host_scratch<std::int32_t>(at_.lines * tile_columns);
    }
    tile<std::int32_t, std::int32_t> t;
    const std::int64_t width = std::min(tile_columns, pitch);
    t.rows = t.queries = at_.lines, t.pitch = width, t.best_pitch = pitch, t.window = terms_.window;
    t.term = terms_.middle32(), t.value = tile_value_.get(), t.winner = tile_winner_.get();
    for (std::int64_t x = 0;;) {
        const std::int64_t columns = std::min(width, at_.length);
        for (std::int64_t y = 0; y < at_.lines; ++y) {
            std::int32_t* const row = tile_value_.get() + y * width;
            for (std::int64_t c = 0; c < columns; ++c) {
                const std::uint16_t n = steps[y * at_.length + x + c];
                row[c] = n == no_site16 ? no_site<std::int32_t>() : terms_.first32()[n];
            }
            std::fill(row + columns, row + width, row[columns - 1]);
        }
        t.best = wide_plane_.get() + x;
        search_tile(t);
        if (x + columns >= at_.length) break;
        x = std::min(x + columns, at_.length - columns);
    }
    wide_plane_ready_ = true;
}

void plane_search::solve_line_wide(const std::uint16_t* steps, std::int64_t line) {
    const std::int64_t padded = at_.pitch() + 2 * row_padding;
    if (wide_line_.get() == nullptr) {
        wide_line_ = host_scratch<std::int32_t>(padded);
        wide_least_ = host_scratch<std::int32_t>(at_.length + row_padding);
        wide_best_ = host_scratch<std::int32_t>(at_.pitch());
        std::fill_n(wide_line_.get(), padded, no_site<std::int32_t>());
    }
    std::int32_t* const value = wide_line_.get() + row_padding;
    if (at_.lines > 1) {
        if (!wide_plane_ready_) make_wide_plane(steps);
        std::memcpy(value, wide_plane_.get() + line * at_.pitch(), static_cast<std::size_t>(at_.length) * 4);
    } else {
        for (std::int64_t x = 0; x < at_.length; ++x)
            value[x] = steps[x] == no_site16 ? no_site<std::int32_t>() : terms_.first32()[steps[x]];
    }
    line_search<std::int32_t> s;
    s.value = value, s.term = terms_.last32(), s.limit = terms_.limit32, s.count = at_.length;
    s.gap = terms_.gap32(), s.least = wide_least_.get(), s.best = wide_best_.get();
    search_line(s);
}

void plane_search::write(std::int64_t first) {
    if (distances_alone_ != nullptr) return roots16(best_.get(), at_.length, past_caches_, distances_alone_ + first);
    constexpr std::int64_t batch = 512;
    std::int32_t value[batch];
    for (std::int64_t from = 0; from < at_.length; from += batch) {
        const std::int64_t n = std::min(batch, at_.length - from);
        for (std::int64_t i = 0; i < n; ++i)
            value[i] = best_.get()[from + i] == no_site16 ? no_site<std::int32_t>() : best_.get()[from + i];
        writer_.write(first + from, n, value, nullptr);
    }
}

void plane_search::write_wide(std::int64_t first) { writer_.write(first, at_.length, wide_best_.get(), nullptr); }

}  // namespace nearfield::exact
