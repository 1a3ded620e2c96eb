#include "exact/host_plane.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "exact/host/layout.hpp"

namespace nearfield::exact {
namespace {

/// Outputs of more bytes do not stay in the caches anyway: writing past them avoids reading every line first (4096^2,
/// 50 % sites: 11.3 ms instead of 13.7).
constexpr std::int64_t past_caches_bytes = std::int64_t{1} << 23;
/// Number of tiles that start with wide numbers after one that needed them: they save a failed try of narrow numbers.
constexpr std::int64_t straight_tiles = 15;
/// Largest window that is searched outward without pivots, and its share of an axis: near the ends outward searches
/// take longer. 192x256x256, 0.01 % sites: 27 ms instead of 50.
constexpr std::int64_t most_outward = 128, outward_share = 4;
/// Least steps outward before pivots: 24 take 1.3 times as long for smooth masks in 512^2 and 400x5x6000.
constexpr std::int64_t least_outward = 48;
/// If at most this many columns for each cell of a line have a site, each relaxes a plane's lines separately, instead
/// of whole lines to each other. 192x256x256 with 134 sites takes 40 ms instead of 49, 20x600x700 with 84 sites 17
/// instead of 20; with 840 sites it would take 53 instead of 33.
constexpr double few_a_cell = 2.0 / 3;
/// Lines of a tile, and lines of a volume that are searched together: few lanes of the last tile are idle.
constexpr std::int64_t tile_lines = plane_layout::lines_of_tile, lines_together = 128, numbers_together = 1 << 17;
int bits_of(std::int64_t size) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size - 1))); }

}  // namespace

plane_layout::plane_layout(const plan& p) {
    const auto first = static_cast<std::size_t>(p.first_axis), last = static_cast<std::size_t>(p.rank - 1);
    middle = last - first == 2;
    lines = middle ? p.size[first + 1] : 1, length = p.size[last];
    const std::int64_t most = middle ? std::clamp(numbers_together / pitch(), tile_lines, lines_together) : tile_lines;
    rows = std::min(p.size[first], std::max<std::int64_t>(1, most / lines));
}

template <bool Sites>
plane_terms<Sites>::plane_terms(const plan& p) {
    const plane_layout at(p);
    const int first_axis = p.first_axis, last_axis = p.rank - 1;
    const auto m = p.as_metric<std::int64_t>();
    first.weight = static_cast<std::uint16_t>(m.weight[first_axis]);
    first.most = 0;
    while (m.term(first_axis, std::int64_t{first.most} + 1) < no_site16) ++first.most;
    if (Sites) line_bits = bits_of(at.lines), cell_bits = bits_of(at.length);
    packed = {1 << p.keys.shift[first_axis], at.middle ? 1 << p.keys.shift[first_axis + 1] : 0,
              1 << p.keys.shift[last_axis]};
    linear = {static_cast<std::int32_t>(at.lines * at.length), static_cast<std::int32_t>(at.length), 1};

    const std::int64_t held = std::int64_t{unknown<narrow> >> line_bits} << cell_bits;
    trusted = static_cast<narrow>(std::min<std::int64_t>(held, unknown<narrow>));
    unresolved = plan::bound<std::int64_t>(p.limit) >= trusted >> cell_bits;
    const auto make = [&]<class N>(std::optional<axis_terms<N>>& to, int axis, int bits) {
        to.emplace(std::ldexp(m.weight[axis], bits), false, m.size[axis], window_of(p, axis));
    };
    if (at.middle) make(wide_middle_, first_axis + 1, line_bits);
    make(narrow_last_, last_axis, cell_bits), make(wide_last_, last_axis, cell_bits);
    length_ = at.length;
    const auto mirror = [&]<class N>(host_scratch<N>& to, const axis_terms<N>& terms) {
        to = host_scratch<N>(2 * length_);
        for (std::int64_t k = 1 - length_; k < length_; ++k) to.get()[length_ + k] = terms.get()[std::abs(k)];
    };
    mirror(narrow_both_, *narrow_last_), mirror(wide_both_, *wide_last_);
}

template <bool Sites>
std::int64_t plane_terms<Sites>::bytes(const plan& p) {
    const plane_layout at(p);
    return (axis_terms<wide>::entries(at.lines) + axis_terms<wide>::entries(at.length) + 2 * at.length) *
           static_cast<std::int64_t>(sizeof(narrow) + sizeof(wide));
}

template <bool Sites>
std::int64_t plane_terms<Sites>::lines_within(narrow number) const {
    const wide value = static_cast<wide>(static_cast<wide>(number >> cell_bits) << line_bits);
    std::int64_t lines = std::min(middle().window(), middle().steps_within(value));
    while (lines > 0 && middle().get()[lines] > value) --lines;
    return lines;
}

std::int64_t few_columns::most(const plane_layout& at) {
    const double most = at.middle ? few_a_cell * static_cast<double>(at.length) : 0;
    return std::max<std::int64_t>(few_cells<std::int32_t>::most, static_cast<std::int64_t>(most));
}

template <bool Sites>
plane_search<Sites>::plane_search(const plan& p, const terms& t, const writer& to)
    : terms_(t),
      writer_(to),
      at_(p),
      negative_side_(p.negative_side),
      past_caches_(!p.negative_side && p.cells * (Sites ? 8 : 4) >= past_caches_bytes) {
    if (at_.middle) {
        const auto axis = static_cast<std::size_t>(p.first_axis + 1);
        middle_.emplace(std::ldexp(p.weight[axis], t.line_bits), false, at_.lines, 1);
    }
    if (!Sites) return;
    const auto make = [&](host_scratch<std::int32_t>& field, std::int64_t lines) {
        field = host_scratch<std::int32_t>(lines * (at_.length + 1));
        for (std::int64_t y = 0; y < lines; ++y) field.get()[y * (at_.length + 1) + at_.length] = -1;
    };
    make(site_, at_.all_lines());
    if (at_.middle) make(column_, at_.lines_of_tile);
}

template <bool Sites>
std::int64_t plane_search<Sites>::bytes(const plan& p) {
    const plane_layout at(p);
    return (at.numbers() + at.tile_numbers()) * static_cast<std::int64_t>(sizeof(narrow) + sizeof(wide)) +
           (at.middle ? axis_terms<narrow>::entries(at.lines) * 4 : 0) + few_columns::most(at) * 8 +
           (Sites ? (at.all_lines() + (at.middle ? at.lines_of_tile : 0)) * (at.length + 1) * 4 : 0);
}

template <bool Sites>
void plane_search<Sites>::solve(const std::uint16_t* steps, const std::int16_t* toward, std::int64_t image,
                                std::int64_t row, std::int64_t rows) {
    constexpr std::int64_t tile = number<narrow>::columns, wide_tile = number<wide>::columns;
    row_ = row, lines_ = rows * at_.lines, narrow_.ready = wide_.ready = false;
    // From plane to plane distances change by a cell at most.
    window_ = std::exchange(needed_, 0) + 1;
    if constexpr (Sites) number_columns(toward, row);
    if (std::exchange(few_.image, image) != image) find_few(steps);
    const std::int64_t cell = image + row * at_.lines * at_.length;
    const auto write_lines = [&](const auto& b, std::int64_t from, std::int64_t end) {
        for (std::int64_t y = from; y < std::min(end, lines_); ++y)
            write(y, b.tile.get() + (y - from) * at_.pitch(), cell + y * at_.length);
    };
    if (few_.all && few_.count <= few_cells<narrow>::most) {
        plane_ways_taken.by_cells += lines_;
        for (std::int64_t y = 0; y < lines_; ++y)
            if (solve_by_few(steps, y, narrow_)) write(y, narrow_.tile.get(), cell + y * at_.length);
            else solve_by_few(steps, y, wide_), write(y, wide_.tile.get(), cell + y * at_.length);
        return;
    }
    if (few_.all) plane_ways_taken.by_columns += lines_;
    for (std::int64_t y = 0; y < lines_; y += tile) {
        // Narrow numbers would replace the columns' sites, which wide ones share.
        if (straight_ > 0 || wide_.ready) {
            straight_ = std::max<std::int64_t>(straight_ - 1, 0);
        } else if (search_narrow(steps, y)) {
            write_lines(narrow_, y, y + tile);
            ++plane_ways_taken.narrow;
            continue;
        } else {
            straight_ = straight_tiles;
        }
        ++plane_ways_taken.wide;
        for (std::int64_t part = y; part < std::min(y + tile, lines_); part += wide_tile) {
            search_cells(steps, part, wide_);
            write_lines(wide_, part, part + wide_tile);
        }
    }
}

template <bool Sites>
void plane_search<Sites>::number_columns(const std::int16_t* toward, std::int64_t row) {
    const cell_number& number = slab_ != nullptr                  ? terms_.words
                                : writer_.only_index() != nullptr ? terms_.linear
                                                                  : terms_.packed;
    for (std::int64_t y = 0; y < lines_; ++y) {
        const std::int64_t start = (row + y / at_.lines) * number.row + y % at_.lines * number.line;
        loops_.number_sites(toward + y * at_.length, at_.length, static_cast<std::int32_t>(start), number,
                            site_.get() + y * (at_.length + 1));
    }
}

/// Searches `columns` lines of a tile.
template <bool Sites>
template <class N>
void plane_search<Sites>::search(const axis_terms<N>& along, std::int64_t rows, std::int64_t columns, N* value,
                                 N* best) {
    constexpr std::int64_t beside = plane_layout::margin * number<N>::columns;
    std::fill_n(value - beside, beside, number<N>::infinite);
    std::fill_n(value + rows * number<N>::columns, beside, number<N>::infinite);
    line_tile<N> t;
    t.rows = rows, t.columns = columns, t.margin = plane_layout::margin, t.terms = &along, t.lists = &lists_,
    t.saturates = sizeof(N) == sizeof(narrow);
    if (along.window() <= std::min(most_outward, rows / outward_share)) t.outward = std::max(t.outward, along.window());
    t.far = few_.all, t.outward = std::max(t.outward, least_outward);
    t.value = value, t.best = best;
    if constexpr (sizeof(N) < 8)
        if (rows <= few_rows) return loops_of_runs().relax(value, rows, number<N>::columns, along.get(), nullptr, best);
    line_solver()(t);
}

/// Searches all lines along the middle axis, with cells in the lanes, in place.
template <bool Sites>
template <class N>
void plane_search<Sites>::search_columns(const axis_terms<N>& along, line_buffers<N>& b) {
    constexpr std::int64_t columns = number<N>::columns;
    constexpr std::int64_t size = sizeof(N), row_bytes = columns * size;
    const std::int64_t pitch = at_.pitch(), rows = at_.lines;
    N *const tile = b.tile.get() + at_.margin * columns, *const best = tile + (rows + at_.margin) * columns;
    for (std::int64_t line = 0; line < lines_; line += rows)
        for (std::int64_t x = 0; x < at_.length; x += columns) {
            N* const cells = b.plane.get() + line * pitch + x;
            copy_rows_out(cells, row_bytes, pitch * size, rows, tile, row_bytes, false);
            search(along, rows, std::min(columns, at_.length - x), tile, best);
            copy_rows_out(best, row_bytes, row_bytes, rows, cells, pitch * size, false);
        }
}

/// Computes the numbers of all lines and solves them along the middle axis. The last cell fills tiles.
template <bool Sites>
template <class N>
void plane_search<Sites>::prepare(const std::uint16_t* steps, line_buffers<N>& b) {
    const std::int64_t length = at_.length, pitch = at_.pitch();
    low_bits low{at_.middle ? terms_.line_bits : terms_.cell_bits, 0, Sites && !at_.middle ? 1 : 0};
    for (std::int64_t y = 0; y < lines_; ++y) {
        N* const row = b.plane.get() + y * pitch;
        if (Sites && at_.middle) low.first = static_cast<std::int32_t>(y % at_.lines);
        loops<N>().numbers_of(steps + y * length, length, terms_.first, low, row);
        std::fill(row + length, row + (length + tile_lines - 1) / tile_lines * tile_lines, row[length - 1]);
    }
    if (at_.middle) {
        if constexpr (sizeof(N) == sizeof(narrow)) {
            middle_->limit_window(window_);
            search_columns(*middle_, b);
        } else {
            search_columns(terms_.middle(), b);
        }
    }
    b.ready = true;
}

template <bool Sites>
void plane_search<Sites>::find_few(const std::uint16_t* steps) {
    const std::int64_t most = few_columns::most(at_);
    if (few_.list.get() == nullptr) few_.list = host_scratch<few_columns::column>(most);
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

/// Sets `best`, a line's number in a column along the first axis, to that of the column `from` if that is less; the
/// site follows. The columns are the same in all planes of an image: squares below 2^30 mean axes shorter than
/// 2^15, so steps always identify them. They come in the order of their lines, so that of equal ones the first stays.
template <bool Sites>
template <class N>
void plane_search<Sites>::few_number(const std::uint16_t* steps, std::int64_t line, const few_columns::column& from,
                                     N& best) {
    const auto [at, cell] = from;
    const std::int64_t y = line % at_.lines, start = line - y, size = at_.length + 1;
    const std::int64_t cells = steps[(start + at) * at_.length + cell];
    const std::int64_t beside = at_.middle ? terms_.middle().get()[std::abs(at - y)] >> terms_.line_bits : 0;
    const std::int64_t value = std::int64_t{terms_.first.weight} * (cells * cells) + beside;
    if (value >= unknown<N> >> terms_.cell_bits) return;
    const N own = static_cast<N>((value << terms_.cell_bits) + (Sites ? cell : 0));
    if (!(own < best)) return;
    best = own;
    if (Sites && at_.middle) column_of(line)[cell] = site_.get()[(start + at) * size + cell];
}

/// Solves a line to which few columns have a site. Returns false if the numbers are too narrow for a result.
template <bool Sites>
template <class N>
bool plane_search<Sites>::solve_by_few(const std::uint16_t* steps, std::int64_t line, line_buffers<N>& b) {
    allocate(b);
    few_cells<N> few;
    for (std::int64_t k = 0; k < few_.count; ++k) {
        const auto& from = few_.list.get()[k];
        const auto i = std::find(few.cell, few.cell + few.count, from.cell) - few.cell;
        if (i == few.count) few.cell[few.count] = from.cell, few.number[few.count++] = number<N>::infinite;
        few_number(steps, line, from, few.number[i]);
    }
    loops<N>().relax_by_cells(few, terms_.template both_ways<N>(), at_.length, b.tile.get());
    if constexpr (sizeof(N) == sizeof(narrow))
        return !terms_.unresolved || largest(b.tile.get(), at_.length) < terms_.trusted;
    else return true;
}

/// Solves the lines of a tile along the middle axis, with lines in the lanes.
template <bool Sites>
template <class N>
void plane_search<Sites>::relax_by_few(const std::uint16_t* steps, std::int64_t line, N* tile) {
    constexpr std::int64_t columns = number<N>::columns;
    std::fill_n(tile, at_.length * columns, number<N>::infinite);
    for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t k = 0; k < few_.count; ++k) {
            const auto& from = few_.list.get()[k];
            few_number(steps, std::min(line + c, lines_ - 1), from, tile[from.cell * columns + c]);
        }
}

/// Searches the lines of a tile from `line` on along the last axis, with lines in the lanes; the tile then holds
/// the lines. Returns the largest result.
template <bool Sites>
template <class N>
N plane_search<Sites>::search_cells(const std::uint16_t* steps, std::int64_t line, line_buffers<N>& b) {
    constexpr std::int64_t columns = number<N>::columns;
    const std::int64_t length = at_.length, pitch = at_.pitch();
    allocate(b);
    if (!few_.all && !b.ready) prepare(steps, b);
    N *const lines = b.plane.get() + line * pitch, *const tile = b.tile.get() + at_.margin * columns;
    if constexpr (Sites)
        for (std::int64_t y = line; at_.middle && !few_.all && y < std::min(line + columns, lines_); ++y) {
            std::int32_t* const column = column_of(y);
            loops<N>().take_lines(b.plane.get() + y * pitch, length, terms_.line_bits, terms_.cell_bits,
                                  static_cast<std::int32_t>(length + 1), column);
            const std::int32_t* const site = site_.get() + y / at_.lines * at_.lines * (length + 1);
            for (std::int64_t x = 0; x < length; ++x) column[x] = site[column[x]];
        }
    for (std::int64_t y = lines_; !few_.all && y < line + columns; ++y)
        std::copy_n(b.plane.get() + (lines_ - 1) * pitch, pitch, b.plane.get() + y * pitch);
    if (few_.all) relax_by_few(steps, line, tile);
    else loops<N>().transpose(lines, columns, length, pitch, tile, columns);
    const std::int64_t used = std::min(columns, lines_ - line);
    search(terms_.template last<N>(), length, used, tile, lines);
    loops<N>().transpose(lines, length, columns, columns, b.tile.get(), pitch);
    N most{};
    if constexpr (sizeof(N) == sizeof(narrow)) {
        if (used == columns) return largest(lines, length * columns);
        for (std::int64_t y = 0; y < used; ++y) most = std::max(most, largest(b.tile.get() + y * pitch, length));
    }
    return most;
}

/// Searches as many lines to either side as the planes before needed, then as many as the largest result shows.
/// Returns false if the numbers are too narrow for a result.
template <bool Sites>
bool plane_search<Sites>::search_narrow(const std::uint16_t* steps, std::int64_t line) {
    for (;;) {
        const narrow top = search_cells(steps, line, narrow_);
        const bool lost = top >= terms_.trusted;
        if (!at_.middle || few_.all) return !lost || !terms_.unresolved;
        const std::int64_t needed = lost ? std::min(terms_.middle().window(), 4 * window_) : terms_.lines_within(top);
        needed_ = std::max(needed_, needed);
        if (needed <= window_) return !lost || !terms_.unresolved;
        window_ = needed, narrow_.ready = false;
    }
}

template <bool Sites>
template <class N>
void plane_search<Sites>::write(std::int64_t line, const N* best, std::int64_t first) {
    if constexpr (!Sites && sizeof(N) == 4) return writer_.write(first, at_.length, best, nullptr);
    if constexpr (Sites) {
        if (slab_ != nullptr) give_ways(line, best);
        if (slab_ != nullptr && writer_.only_index() != nullptr) return;
        if (const target* to = writer_.only_index()) {
            if (to->type == dtype::int64)
                return write_index(line, best, reinterpret_cast<std::int64_t*>(to->data) + first);
            return write_index(line, best, reinterpret_cast<std::int32_t*>(to->data) + first);
        }
    }
    if constexpr (sizeof(N) == 2)
        if (float* to = writer_.only_distances()) return write_roots(best, to + first);
    in_batches([&](std::int64_t from, std::int64_t n) {
        std::int32_t value[batch], key[batch];
        loops<N>().values_of(best + from, n, terms_.cell_bits, value);
        if constexpr (Sites) take_sites(sites_of(line), best + from, n, key);
        writer_.write(first + from, n, value, Sites ? key : nullptr);
    });
}

template <bool Sites>
void plane_search<Sites>::write_roots(const std::uint16_t* squared, float* to) const {
    const auto roots = loops_.roots;
    if (!negative_side_) return roots(squared, at_.length, past_caches_, to);
    in_batches([&](std::int64_t from, std::int64_t n) {
        float root[batch];
        roots(squared + from, n, false, root);
        put_negative(root, n, to + from);
    });
}

template <bool Sites>
template <class N, class T>
void plane_search<Sites>::write_index(std::int64_t line, const N* best, T* to) const {
    in_batches([&](std::int64_t from, std::int64_t n) {
        T index[batch];
        take_sites(sites_of(line), best + from, n, index);
        if (!negative_side_) return leave(index, n, to + from);
        for (std::int64_t i = 0; i < n; ++i)
            to[from + i] = best[from + i] >> terms_.cell_bits == 0 ? to[from + i] : index[i];
    });
}

template class plane_terms<false>;
template class plane_terms<true>;
template class plane_search<false>;
template class plane_search<true>;

}  // namespace nearfield::exact
