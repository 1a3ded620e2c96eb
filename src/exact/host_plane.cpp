#include "exact/host_plane.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace nearfield::exact {
namespace {

/// Outputs of more bytes do not stay in the caches anyway: writing past them avoids reading every line first (4096^2,
/// 50 % sites: 11.3 ms instead of 13.7).
constexpr std::int64_t past_caches_bytes = std::int64_t{1} << 23;
/// Number of lines that start with wide numbers after one that needed them. They save a failed try of narrow numbers,
/// which costs about as much as four lines in wide ones.
constexpr std::int64_t straight_lines = 15;
/// Lines to either side from which a tile of columns in wide numbers, halved between known winners, takes over. With
/// 64, 128 and 240 lines 512^3 takes 443, 474 and 519 ms for blobs, 1290, 809 and 789 for shells, 1892, 1824 and 1191
/// for 134 sites.
constexpr std::int64_t most_window = 240;
/// Window of the very first line; later lines start from the window that the line before needed.
constexpr std::int64_t first_window = 8;
/// Columns of such a tile: at least 256 bytes of a line.
constexpr std::int64_t tile_columns = 64;
/// If at most one column in this number has a site, each relaxes a plane's lines separately, instead of whole
/// lines to each other. With a site in one of 2000, 650, 195, 65 columns 512^3 takes 244, 300, 539, 1124 ms instead of
/// 814, 683, 585, 417; 256^3 with one in 390 and 130 takes 36 and 47 ms instead of 56 and 41.
constexpr std::int64_t few_of_plane = 256;
/// Cells converted at a time if other fields than one are wanted.
constexpr std::int64_t batch = 512;

template <class Piece>
void in_batches(std::int64_t count, const Piece& piece) {
    for (std::int64_t from = 0; from < count; from += batch) piece(from, std::min(batch, count - from));
}

}  // namespace

plane_layout::plane_layout(const plan& p) {
    const auto first = static_cast<std::size_t>(p.first_axis), last = static_cast<std::size_t>(p.rank - 1);
    lines = last - first == 2 ? p.size[first + 1] : 1, length = p.size[last];
}

std::int64_t few_columns::most(const plane_layout& at) { return at.lines > 1 ? at.cells() / few_of_plane : 0; }

template <bool Sites>
plane_search<Sites>::plane_search(const plan& p, const terms& t, const writer& to)
    : terms_(t),
      writer_(to),
      at_(p),
      negative_side_(p.negative_side),
      past_caches_(p.cells * (Sites ? 8 : 4) >= past_caches_bytes),
      window_(std::min(first_window, t.window)) {
    prepare(narrow_);
    if (!Sites) return;
    site_ = host_scratch<std::int32_t>(at_.cells() + 1);
    if (at_.lines > 1) column_ = host_scratch<std::int32_t>(at_.length + 1);
    (at_.lines > 1 ? column_ : site_).get()[at_.length] = -1;
}

template <bool Sites>
template <class N>
void plane_search<Sites>::prepare(line_buffers<N>& b) const {
    if (b.value.get() != nullptr) return;
    if (at_.lines > 1) b.plane = host_scratch<N>(at_.lines * at_.pitch());
    b.value = host_scratch<N>(at_.pitch() + 2 * row_padding);
    b.least = host_scratch<N>(at_.length + row_padding);
    b.best = host_scratch<N>(at_.pitch());
    std::fill_n(b.value.get(), at_.pitch() + 2 * row_padding, none<N>);
}

template <bool Sites>
std::int64_t plane_search<Sites>::bytes(const plan& p) {
    const plane_layout at(p);
    const std::int64_t numbers = (at.lines > 1 ? at.lines * at.pitch() : 0) + 3 * at.pitch() + 3 * row_padding;
    const std::int64_t tile = at.lines > 1 ? 2 * at.lines * tile_columns : 0, few = few_columns::most(at),
                       sites = Sites ? at.cells() + at.length + 2 : 0;
    return numbers * static_cast<std::int64_t>(sizeof(narrow) + sizeof(wide)) +
           (tile + few) * static_cast<std::int64_t>(sizeof(wide)) + few * 10 + sites * 4;
}

template <bool Sites>
void plane_search<Sites>::solve(const std::uint16_t* steps, const std::int16_t* toward, std::int64_t image,
                                std::int64_t row) {
    wide_plane_ready_ = false;
    if constexpr (Sites) number_columns(toward, row);
    if (at_.lines > 1) number_few(steps, image);
    if (at_.lines > 1 && !few_.all && straight_ < at_.lines)
        for (std::int64_t y = 0; y < at_.lines; ++y)
            numbers_of(steps + y * at_.length, at_.length, terms_.first, terms_.low_of_line(y),
                       narrow_.plane.get() + y * at_.pitch());
    for (std::int64_t y = 0; y < at_.lines; ++y) {
        const std::int64_t cell = image + row * at_.cells() + y * at_.length;
        narrow known = 0;
        if (straight_ > 0) {
            --straight_;
        } else {
            known = at_.lines == 1 ? solve_row(steps) : few_.all ? solve_few(y) : solve_line(y);
            if (known == unknown<narrow>) {
                write(narrow_, cell);
                continue;
            }
            if (at_.lines > 1) straight_ = straight_lines;
        }
        solve_wide(steps, y, known);
        write(wide_, cell);
    }
}

template <bool Sites>
void plane_search<Sites>::number_columns(const std::int16_t* toward, std::int64_t row) {
    const cell_number& number = writer_.only_index() != nullptr ? terms_.linear : terms_.packed;
    for (std::int64_t y = 0; y < at_.lines; ++y)
        number_sites(toward + y * at_.length, at_.length, static_cast<std::int32_t>(row * number.row + y * number.line),
                     number, site_.get() + y * at_.length);
}

template <bool Sites>
template <class N>
line_search<N> plane_search<Sites>::line_of(const line_buffers<N>& b) const {
    line_search<N> s;
    s.value = b.cells(), s.term = terms_.template last<N>(), s.gap = terms_.template gap<N>();
    if constexpr (sizeof(N) == sizeof(narrow)) s.limit = terms_.narrow_limit;
    else s.limit = terms_.wide_limit;
    s.count = at_.length, s.least = b.least.get(), s.best = b.best.get();
    return s;
}

template <bool Sites>
template <class N>
void plane_search<Sites>::take_columns(line_buffers<N>& b) {
    if constexpr (Sites)
        take_lines(b.cells(), at_.length, terms_.line_bits, terms_.cell_bits, site_.get(), at_.length, column_.get());
}

/// Searches a row. Like solve_line it returns the number up to which results are right: `unknown` if all are.
template <bool Sites>
typename plane_search<Sites>::narrow plane_search<Sites>::solve_row(const std::uint16_t* steps) {
    numbers_of(steps, at_.length, terms_.first, terms_.low_of_cells(), narrow_.cells());
    const bool all = search_line(line_of(narrow_)) < unknown<narrow> || terms_.narrow_limit < unknown<narrow>;
    return static_cast<narrow>(all ? unknown<narrow> : unknown<narrow> - 1);
}

/// Searches as many lines above and below as the line before needed. The largest result shows how many would suffice.
template <bool Sites>
typename plane_search<Sites>::narrow plane_search<Sites>::solve_line(std::int64_t line) {
    fold_of_rows<narrow> f;
    f.value = narrow_.plane.get(), f.rows = at_.lines, f.pitch = at_.pitch(), f.count = at_.length, f.row = line;
    f.term = terms_.template middle<narrow>(), f.best = narrow_.cells();
    for (;;) {
        f.window = window_;
        fold_rows(f);
        take_columns(narrow_);
        const narrow top = search_line(line_of(narrow_));
        const std::int64_t needed =
            top >= terms_.trusted ? std::min(terms_.window, 4 * window_) : terms_.lines_within(top, window_);
        if (needed <= window_) {
            if (top >= terms_.trusted && terms_.narrow_limit >= terms_.trusted) return terms_.trusted - 1;
            window_ = std::max(needed, window_ - 1);
            return unknown<narrow>;
        }
        if (needed > most_window && window_ > most_window / 4) return terms_.known_within(window_);
        window_ = needed;
    }
}

template <bool Sites>
void plane_search<Sites>::find_few(const std::uint16_t* steps) {
    const std::int64_t most = few_columns::most(at_);
    if (few_.list.get() == nullptr) {
        few_.list = host_scratch<few_columns::column>(most);
        few_.steps = host_scratch<std::uint16_t>(most);
        few_number_ = host_scratch<wide>(most);
    }
    few_.count = 0, few_.all = false;
    for (std::int64_t y = 0; y < at_.lines; ++y, steps += at_.length) {
        const auto with_site = at_.length - std::count(steps, steps + at_.length, no_site16);
        if (few_.count + with_site > most) return;
        for (std::int64_t x = 0; with_site > 0 && x < at_.length; ++x)
            if (steps[x] != no_site16)
                few_.list.get()[few_.count++] = {static_cast<std::int32_t>(y), static_cast<std::int32_t>(x)};
    }
    few_.all = true;
}

/// Numbers the columns with sites, which are the same in all planes of an image: squares below 2^30 mean axes shorter
/// than 2^15, so steps always identify them.
template <bool Sites>
void plane_search<Sites>::number_few(const std::uint16_t* steps, std::int64_t image) {
    if (few_of_ != image) find_few(steps);
    few_of_ = image;
    if (!few_.all) return;
    for (std::int64_t k = 0; k < few_.count; ++k) {
        const auto [line, cell] = few_.list.get()[k];
        few_.steps.get()[k] = steps[line * at_.length + cell];
    }
    numbers_of(few_.steps.get(), few_.count, terms_.first, {terms_.line_bits, 0, 0}, few_number_.get());
}

/// Does the same as fold_rows() with all lines in the window.
template <bool Sites>
template <class N>
void plane_search<Sites>::relax_by_few(std::int64_t line, const line_buffers<N>& b) const {
    N* const best = b.cells();
    std::fill_n(best, at_.length, none<N>);
    const wide* const term = terms_.template middle<wide>();
    for (std::int64_t k = 0; k < few_.count; ++k) {
        const auto [at, cell] = few_.list.get()[k];
        const std::int64_t sum = std::int64_t{few_number_.get()[k]} + term[std::abs(at - line)] + (Sites ? at : 0);
        if (sum < best[cell]) best[cell] = static_cast<N>(sum);
    }
}

template <bool Sites>
typename plane_search<Sites>::narrow plane_search<Sites>::solve_few(std::int64_t line) {
    relax_by_few(line, narrow_);
    take_columns(narrow_);
    const bool all = std::min(search_line(line_of(narrow_)), terms_.narrow_limit) < terms_.trusted;
    return static_cast<narrow>(all ? unknown<narrow> : terms_.trusted - 1);
}

template <bool Sites>
void plane_search<Sites>::make_wide_plane(const std::uint16_t* steps) {
    const std::int64_t pitch = at_.pitch(), width = std::min(tile_columns, pitch);
    if (tile_value_.get() == nullptr) {
        tile_value_ = host_scratch<wide>(at_.lines * width);
        tile_best_ = host_scratch<wide>(at_.lines * width);
    }
    line_tile<wide> t;
    t.rows = at_.lines, t.pitch = width, t.terms = terms_.wide_lines(), t.lists = &lists_;
    for (std::int64_t x = 0;;) {
        const std::int64_t columns = std::min(width, at_.length);
        for (std::int64_t y = 0; y < at_.lines; ++y) {
            wide* const row = tile_value_.get() + y * width;
            numbers_of(steps + y * at_.length + x, columns, terms_.first, terms_.low_of_line(y), row);
            std::fill(row + columns, row + width, row[columns - 1]);
        }
        for (std::int64_t from = 0; from < width; from += number<wide>::columns) {
            t.value = tile_value_.get() + from, t.best = tile_best_.get() + from;
            solve_lines(t);
        }
        for (std::int64_t y = 0; y < at_.lines; ++y)
            std::copy_n(tile_best_.get() + y * width, columns, wide_.plane.get() + y * pitch + x);
        if (x + columns >= at_.length) break;
        x = std::min(x + columns, at_.length - columns);
    }
    wide_plane_ready_ = true;
}

template <bool Sites>
void plane_search<Sites>::solve_wide(const std::uint16_t* steps, std::int64_t line, narrow known) {
    prepare(wide_);
    if (at_.lines > 1) {
        if (few_.all) {
            relax_by_few(line, wide_);
        } else {
            if (!wide_plane_ready_) make_wide_plane(steps);
            std::copy_n(wide_.plane.get() + line * at_.pitch(), at_.length, wide_.cells());
        }
        take_columns(wide_);
    } else {
        numbers_of(steps, at_.length, terms_.first, terms_.low_of_cells(), wide_.cells());
    }
    line_search<wide> s = line_of(wide_);
    s.known = known > 0 ? narrow_.best.get() : nullptr, s.known_up_to = known;
    search_line(s);
}

template <bool Sites>
template <class N>
void plane_search<Sites>::write(const line_buffers<N>& b, std::int64_t first) {
    const N* const best = b.best.get();
    if constexpr (!Sites && sizeof(N) == 4) return writer_.write(first, at_.length, best, nullptr);
    if constexpr (Sites) {
        if (const target* to = writer_.only_index()) {
            if (to->type == dtype::int64) return write_index(best, reinterpret_cast<std::int64_t*>(to->data) + first);
            return write_index(best, reinterpret_cast<std::int32_t*>(to->data) + first);
        }
    }
    if constexpr (sizeof(N) == 2)
        if (float* to = writer_.only_distances()) return write_roots(best, to + first);
    in_batches(at_.length, [&](std::int64_t from, std::int64_t n) {
        std::int32_t value[batch], key[batch];
        values_of(best + from, n, terms_.cell_bits, value);
        if constexpr (Sites) take_cells(best + from, n, terms_.cell_bits, sites_of_line(), at_.length, false, key);
        writer_.write(first + from, n, value, Sites ? key : nullptr);
    });
}

template <bool Sites>
void plane_search<Sites>::write_roots(const std::uint16_t* squared, float* to) const {
    if (!negative_side_) return roots16(squared, at_.length, past_caches_, to);
    in_batches(at_.length, [&](std::int64_t from, std::int64_t n) {
        float root[batch];
        roots16(squared + from, n, false, root);
        put_negative(root, n, to + from);
    });
}

template <bool Sites>
template <class N, class T>
void plane_search<Sites>::write_index(const N* best, T* to) const {
    const std::int32_t* const column = sites_of_line();
    if (!negative_side_) return take_cells(best, at_.length, terms_.cell_bits, column, at_.length, past_caches_, to);
    in_batches(at_.length, [&](std::int64_t from, std::int64_t n) {
        T index[batch];
        take_cells(best + from, n, terms_.cell_bits, column, at_.length, false, index);
        for (std::int64_t i = 0; i < n; ++i)
            to[from + i] = best[from + i] >> terms_.cell_bits == 0 ? to[from + i] : index[i];
    });
}

template class plane_search<false>;
template class plane_search<true>;

}  // namespace nearfield::exact
