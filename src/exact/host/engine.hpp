// The passes of a call: rows, then lines of one axis after another, then the epilogue.
#pragma once

#include <memory>
#include <optional>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "exact/host/epilogue.hpp"
#include "exact/host/powers.hpp"

namespace nearfield::exact {

/// Cells of rows, or of tiles, that a thread takes at a time.
constexpr std::int64_t cells_a_block = 1 << 15;

template <class T, class V>
class line_engine {
    using lane = lane_of_number<T>;
    using initial_values = weight_field<std::conditional_t<std::is_same_v<V, double>, double, std::int64_t>>;
    static constexpr std::int64_t columns = number<T>::columns, row_bytes = columns / 8;
    static constexpr bool sited = number<T>::sited, packed = sited && !number<T>::wide;

public:
    line_engine(const host& on, const plan& p, const arrays<host>& a, const initial_values* initial = nullptr)
        : p_(p),
          shape_(p, thread_count(on), columns, sizeof(T), lead_of(p, a)),
          rows_(p, a.image, shape_),
          initial_(initial),
          epilogue_(p, a, shape_, packed && initial != nullptr ? static_cast<std::int64_t>(initial->base()) : 0),
          crew_(on, p.cells * static_cast<std::int64_t>(shape_.passes.size() + 1)),
          runs_(p.by != classes::none),
          scale_(packed ? std::ldexp(1.0, p.keys.total()) : 1),
          row_cost_(scale_ * p.weight[static_cast<std::size_t>(p.rank - 1)], p.half_cell, shape_.length),
          row_sites_{shape_.length, p.borders[static_cast<std::size_t>(p.rank - 1)] == border::periodic,
                     p.keys.shift[p.rank - 1]},
          mine_(static_cast<std::size_t>(crew_.threads())) {
        if (shape_.row_axis < p.rank - 1) short_rows_.emplace(p, shape_.row_axis, scale_);
        for (int axis = p.first_axis; axis < p.rank; ++axis) {
            const auto i = static_cast<std::size_t>(axis);
            ordered_[i] = p.rows_ordered[i], rounds_steps_away_ = rounds_steps_away_ || !ordered_[i];
            if (p.weighted && p.numbers == tier::float64)
                ordered_[i] = rows_ordered(p.largest + initial->magnitude(), p.weight[i]);
            if (axis < shape_.row_axis || p.weighted)
                terms_[i].emplace(scale_ * p.weight[i], p.half_cell, p.size[i], window_of(p, axis));
        }
        for (int k = 0; k < 2; ++k)
            if (shape_.needs_field(k)) field_[static_cast<std::size_t>(k)] = host_scratch<T>(shape_.field_elements(k));
        const std::int64_t bits = shape_.field_elements(1) / 8 + row_slack;
        for (int axis = p.first_axis; runs_ && axis < shape_.row_axis; ++axis)
            cut_[axis] = host_scratch<std::uint8_t>(bits);
        if (p.is_signed()) zero_ = host_scratch<std::uint8_t>(bits);
    }

    /// Solves the tiles in `only`, or all if it is null; adds the tiles that remain unresolved to `left`.
    void solve(const unresolved_tiles* only, std::int64_t only_columns, unresolved_tiles* left) {
        left_ = left;
        if (only != nullptr) chosen_.emplace(only->tile, shape_.tiles, only_columns / columns);
        if (left != nullptr) left->tile.assign(static_cast<std::size_t>(tiles_of(shape_.passes.back())), 0);
        crew_.for_each(rows_.copy_jobs(), 1, 0, [&](std::int64_t job, std::int64_t, int) { rows_.copy(job); });
        const std::int64_t planes = shape_.passes.front().before;
        for (std::int64_t first = 0; first < planes; first += shape_.together) {
            const std::int64_t end = std::min(planes, first + shape_.together);
            if (shape_.planes) solve_planes(first, end);
            else rows(first, end), tiles(0, first, end);
        }
        for (std::size_t k = 1; k < shape_.passes.size(); ++k) tiles(k, 0, shape_.passes[k].before);
    }

private:
    using buffers = thread_buffers<T>;
    [[nodiscard]] std::int64_t tiles_of(const line_pass& s) const { return s.before * s.after * shape_.tiles; }
    [[nodiscard]] bool last(std::size_t k) const { return k + 1 == shape_.passes.size(); }
    [[nodiscard]] bool first_wanted() const { return runs_ || (!sited && p_.any(border::closed)); }
    buffers& buffers_of(int thread) {
        auto& mine = mine_[static_cast<std::size_t>(thread)];
        if (!mine)
            mine = std::make_unique<buffers>(shape_, first_wanted(), short_rows_.has_value(),
                                             p_.weighted ? shape_.length : 1);
        return *mine;
    }

    // ---- rows -------------------------------------------------------------------------------------------------------

    /// Solves the rows of planes [first, end) of the first pass.
    void rows(std::int64_t first, std::int64_t end) {
        const line_pass& s = shape_.passes.front();
        const std::int64_t lines = (end - first) * s.rows, together = p_.weighted && lines >= columns ? columns : 1;
        const std::int64_t block = std::max(together, cells_a_block / shape_.length);
        crew_.for_each(lines, block, shape_.length, [&](std::int64_t line, std::int64_t stop, int thread) {
            const auto place = [&](std::int64_t at) {
                return (at / s.rows * shape_.tiles_of_rows * s.rows + at % s.rows) * shape_.columns_of_rows;
            };
            solve_rows(first * s.rows, line, stop, field_[0].get(), place, buffers_of(thread));
            end_copies();
        });
    }

    void solve_planes(std::int64_t first, std::int64_t end) {
        const line_pass& s = shape_.passes.front();
        crew_.for_each(end - first, 1, 2 * s.rows * shape_.length, [&](std::int64_t item, std::int64_t, int thread) {
            const std::int64_t plane = first + item;
            buffers& mine = buffers_of(thread);
            const auto place = [&](std::int64_t r) { return r * shape_.columns_of_rows; };
            solve_rows(plane * s.rows, 0, s.rows, mine.plane.get(), place, mine);
            for (std::int64_t t = 0; t < shape_.tiles; ++t)
                solve_tile(0, plane * shape_.tiles + t, mine.plane.get(), t, mine);
            end_copies();
        });
    }

    /// Solves rows base + [line, stop); row number r goes to cell place(r) of `field`.
    template <class Place>
    void solve_rows(std::int64_t base, std::int64_t line, std::int64_t stop, T* field, const Place& place,
                    buffers& mine) {
        const std::int64_t rows = shape_.passes.front().rows, bytes = shape_.columns_of_rows * shape_.bytes_of_rows;
        const bool past_caches = !shape_.planes && p_.cells >= least_streamed_cells;
        for (std::int64_t next = line; line < stop && !p_.weighted; ++line) {
            if (short_rows_ && line == next) next = solve_short_rows(base + line, base + stop, mine) - base;
            copy_rows_out(solve_row(base + line, mine), bytes, bytes, shape_.tiles_of_rows,
                          reinterpret_cast<std::byte*>(field) + place(line) * shape_.bytes_of_rows, rows * bytes,
                          past_caches);
        }
        if constexpr (sited)
            for (; line < stop; line += columns)
                solve_power_rows(base, line, std::min(line + columns, stop), field, place, mine);
    }

    /// Solves short rows from `line` on together; returns the row before which they end.
    std::int64_t solve_short_rows(std::int64_t line, std::int64_t end, buffers& mine) {
        const std::int64_t n = shape_.length, bytes = n * rows_.bytes();
        const std::int64_t count = std::min(rows_together(n), end - line);
        for (std::int64_t i = 0; i < count; ++i) {
            const void* const row = rows_.row(line + i, mine.class_row(0, n));
            if (runs_) put_bits(line + i, row, mine);
            std::memcpy(mine.short_row.classes.get() + i * bytes, row, static_cast<std::size_t>(bytes));
        }
        short_rows_->solve(count, rows_.bytes(), runs_, mine.short_row);
        mine.short_row.first = line;
        return line + count;
    }

    /// Returns the row's values, or its cells' nearest sites along the row, or steps to these.
    const void* solve_row(std::int64_t line, buffers& mine) {
        const std::int64_t n = shape_.length;
        T* const to = mine.best.get();
        if (short_rows_) return short_rows_->put(line - mine.short_row.first, mine.short_row, to, columns), to;
        border ends = p_.borders[static_cast<std::size_t>(p_.rank - 1)];
        if (sited && ends == border::closed) ends = border::open;  // the epilogue handles borders
        const bool periodic = ends == border::periodic;
        const void* const row = rows_.row(line, mine.class_row(0, n));
        if (runs_) put_bits(line, row, mine);
        if (runs_) mark_runs(row, rows_.bytes(), n, ends, mine.row);
        else mark_sites(static_cast<const std::uint8_t*>(row), n, ends == border::closed, mine.row);
        row_kind kind = steps_of_row(n, periodic, mine.row);
        if (p_.background) kind = clear_background(row, rows_.bytes(), n, kind, mine.row);
        if constexpr (sited) {
            std::uint8_t* const changed = runs_ ? mine.class_row(2, n) : nullptr;
            if (runs_) changes_of_row(row, rows_.bytes(), n, periodic, changed);
            sites_of_row(n, kind, periodic, changed, mine.row);
            return mine.row.site;
        } else {
            const auto complete = [&](auto* cell) {
                std::fill_n(cell, shape_.lead, cell[shape_.lead]);
                std::fill(cell + shape_.lead + n, cell + shape_.tiles_of_rows * shape_.columns_of_rows,
                          cell[shape_.lead + n - 1]);
                return cell;
            };
            if (shape_.steps_of_rows) {
                auto* const steps = reinterpret_cast<std::uint16_t*>(to);
                put_steps(mine.row, kind, n, steps + shape_.lead);
                return complete(steps);
            }
            put_costs(mine.row, kind, n, row_cost_, to + shape_.lead, columns);
            return complete(to);
        }
    }

    /// Solves rows of a power diagram as lines whose values are minus the weights: one after the other, or as many side
    /// by side as a tile has columns.
    template <class Place>
    void solve_power_rows(std::int64_t base, std::int64_t line, std::int64_t stop, T* field, const Place& place,
                          buffers& mine) {
        const std::int64_t n = shape_.length, pitch = shape_.passes.front().rows * columns;
        const int shift = p_.keys.shift[p_.rank - 1];
        line_tile<T> t = tile_of(p_.rank - 1, n, columns, mine);
        if (one_by_one(t, stop - line, *initial_)) {
            for (; line < stop; ++line)
                put_envelope(*initial_, base + line, scale_, shift, t, field + place(line), pitch);
            return;
        }
        put_powers(*initial_, base + line, stop - line, n, scale_, mine.best.get());
        add_coordinates(mine.best.get(), n, columns, shift);
        t.value = mine.best.get(), t.best = mine.other.get();
        line_solver()(t);
        for (int c = 0; c < stop - line; ++c) put_column(t.best, c, n, field + place(line + c), pitch);
    }
    /// Writes bits: the class differs from that of the rows before along the other axes; the class is zero.
    void put_bits(std::int64_t line, const void* row, buffers& mine) const {
        const std::int64_t n = shape_.length;
        std::uint8_t *const flags = mine.class_row(2, n), *const bits = mine.class_row(3, n);
        std::int64_t step = 1;
        for (int axis = shape_.row_axis - 1; axis >= p_.first_axis; --axis) {
            const std::int64_t size = p_.size[static_cast<std::size_t>(axis)], at = line / step % size;
            if (at > 0 || p_.borders[static_cast<std::size_t>(axis)] == border::periodic) {
                const std::int64_t before = at > 0 ? line - step : line + (size - 1) * step;
                differing(row, rows_.row(before, mine.class_row(1, n)), rows_.bytes(), n, shape_.lead, flags, bits);
                scatter(shape_.pass_of(axis), line, bits, cut_[axis].get());
            }
            step *= size;
        }
        if (zero_.get() == nullptr) return;
        zeros(row, rows_.bytes(), n, shape_.lead, flags, bits);
        scatter(shape_.passes.back(), line, bits, zero_.get());
    }
    /// Copies a row's bits to the tiles of a pass.
    void scatter(const line_pass& s, std::int64_t line, const std::uint8_t* bits, std::uint8_t* to) const {
        const std::int64_t after = line % s.after, r = line / s.after % s.rows, before = line / s.after / s.rows;
        to += ((before * s.after + after) * shape_.tiles * s.rows + r) * row_bytes;
        for (std::int64_t t = 0; t < shape_.tiles; ++t)
            std::memcpy(to + t * s.rows * row_bytes, bits + t * row_bytes, row_bytes);
    }

    // ---- lines ------------------------------------------------------------------------------------------------------

    void tiles(std::size_t k, std::int64_t first, std::int64_t end) {
        const line_pass& s = shape_.passes[k];
        const std::int64_t cells = s.rows * std::min(columns, shape_.length), base = first * s.after * shape_.tiles;
        crew_.for_each((end - first) * s.after * shape_.tiles, std::max<std::int64_t>(1, cells_a_block / cells), cells,
                       [&](std::int64_t tile, std::int64_t stop, int thread) {
                           for (; tile < stop; ++tile)
                               solve_tile(k, base + tile, field_[k % 2].get(), tile, buffers_of(thread));
                           end_copies();
                       });
    }

    /// Solves tile number `tile` of a pass: the one at place `at` of `field`.
    void solve_tile(std::size_t k, std::int64_t tile, T* field, std::int64_t at, buffers& mine) {
        const line_pass& s = shape_.passes[k];
        const std::int64_t column = tile % shape_.tiles, place = tile / shape_.tiles;
        if (chosen_ && !chosen_->has_column(column)) return;
        if (last(k)) {
            if (chosen_ && !chosen_->has(tile)) return;
            if (left_ != nullptr && left_->too_many(mine.finished))
                return (void)(left_->tile[static_cast<std::size_t>(tile)] = 1);
        }
        T* value =
            k == 0 && (shape_.sites_of_rows || shape_.steps_of_rows) ? mine.other.get() : field + at * s.rows * columns;
        if constexpr (sited) {
            if (k == 0 && shape_.sites_of_rows)
                loops_of_sites().put(reinterpret_cast<const std::int32_t*>(field) + at * s.rows * columns, s.rows,
                                     row_sites_, column * columns, row_cost_, value);
        } else if constexpr (sizeof(T) > 2) {
            if (k == 0 && shape_.steps_of_rows) {
                const std::int64_t pitch = shape_.columns_of_rows, cell = column * columns;
                const std::int64_t line = at / shape_.tiles * shape_.tiles_of_rows + cell / pitch;
                loops_of_sites().costs(
                    reinterpret_cast<const std::uint16_t*>(field) + line * s.rows * pitch + cell % pitch, s.rows, pitch,
                    row_cost_, value);
            }
        }
        for (int axis = s.last; axis >= s.first; --axis) value = solve_axis(s, axis, tile, value, mine);
        const std::int64_t before = place / s.after, after = place % s.after;
        if (last(k)) return put(s, tile, before * s.rows * s.after + after, column, value, mine);
        const line_pass& next = shape_.passes[k + 1];
        const std::int64_t base = (before / next.rows * next.after + after) * shape_.tiles + column;
        const std::int64_t step = s.after * shape_.tiles * next.rows * columns;
        copy_rows_out(value, columns * sizeof(T), columns * sizeof(T), s.rows,
                      field_[(k + 1) % 2].get() + (base * next.rows + before % next.rows) * columns, step * sizeof(T),
                      true);
    }

    /// Returns a tile of lines of `size` rows along an axis.
    line_tile<T> tile_of(int axis, std::int64_t size, std::int64_t pitch, buffers& mine) {
        const auto i = static_cast<std::size_t>(axis);
        line_tile<T> t;
        t.rows = size, t.pitch = pitch, t.periodic = p_.borders[i] == border::periodic, t.ordered = ordered_[i];
        t.saturates = sizeof(T) == 2 || (sizeof(T) == 4 && left_ != nullptr);
        if constexpr (number<T>::wide) t.floor = initial_ == nullptr ? lane{} : initial_->base();
        t.terms = &*terms_[i], t.lists = &mine.lists, t.team = &crew_;
        return t;
    }

    /// Solves the lines along one axis of a tile; returns the address of the results.
    T* solve_axis(const line_pass& s, int axis, std::int64_t tile, T* value, buffers& mine) {
        const auto i = static_cast<std::size_t>(axis);
        const std::int64_t apart = cells_between(p_.size.data(), axis + 1, s.last + 1), size = p_.size[i];
        T* const best = value == mine.best.get() ? mine.other.get() : mine.best.get();
        const bool closed = p_.borders[i] == border::closed && !sited, firsts = runs_ || closed;
        line_tile<T> t = tile_of(axis, size, apart * columns, mine);
        const bool few = !number<T>::wide && size <= few_rows;
        run_ends<T> r;
        r.rows = size, r.pitch = t.pitch, r.cut_pitch = apart * row_bytes;
        r.closed = closed, r.periodic = t.periodic, r.cost = &t.terms->cost();
        r.column_site = mine.column_site, r.site_shift = p_.keys.shift[i];
        for (std::int64_t line = 0; (!few || firsts) && line < s.rows / size; ++line) {
            const std::int64_t row = line / apart * size * apart + line % apart;
            if constexpr (sited) {
                if (!few) add_coordinates(value + row * columns, size, t.pitch, r.site_shift);
                if (runs_) find_column_sites(s, axis, tile, line % apart, mine);
            }
            if (firsts) {
                r.cut = runs_ ? cut_[i].get() + (tile * s.rows + row) * row_bytes : nullptr;
                r.first = mine.first.get() + row * columns, t.first = r.first;
                loops_of_runs().first_values(r);
            }
            if (few) continue;
            t.value = value + row * columns, t.best = best + row * columns;
            line_solver()(t);
            if constexpr (number<T>::wide)
                if (runs_ && rounds_steps_away_) drop_own_class(s, axis, tile, row, t);
        }
        if constexpr (!number<T>::wide)
            if (few) relax_axis(t, s.rows, r.site_shift, value, firsts ? mine.first.get() : nullptr, best);
        return best;
    }

    /// Finds the sites of a tile's columns along the solved axes; `line`: position along those of them within the tile.
    void find_column_sites(const line_pass& s, int axis, std::int64_t tile, std::int64_t line, buffers& mine) const {
        std::int64_t site = 0, after = tile / shape_.tiles % s.after;
        for (int k = shape_.row_axis - 1; k > axis; --k) {
            const std::int64_t size = p_.size[static_cast<std::size_t>(k)];
            std::int64_t& rest = k > s.last ? after : line;
            site += rest % size << p_.keys.shift[k], rest /= size;
        }
        const std::int64_t x = tile % shape_.tiles * columns;
        for (std::int64_t c = 0; c < columns; ++c)
            mine.column_site[c] = site + own_site(std::min(x + c, shape_.length - 1));
    }

    [[nodiscard]] std::int64_t own_site(std::int64_t x) const {
        return short_rows_ ? short_rows_->own_sites()[x] : x << p_.keys.shift[p_.rank - 1];
    }

    /// Removes sites of a cell's own class. If steps are lost to rounding, a site in a row of another class can seem as
    /// near as the end of the cell's run, although the site has the cell's class.
    void drop_own_class(const line_pass& s, int axis, std::int64_t tile, std::int64_t row, const line_tile<T>& t) {
        const std::int64_t place = tile / shape_.tiles, x = tile % shape_.tiles * columns;
        for (std::int64_t m = 0; m < t.rows; ++m) {
            const auto* const first = t.first + m * t.pitch;
            T* const best = t.best + m * t.pitch;
            for (std::int64_t c = 0; c < std::min<std::int64_t>(columns, shape_.length - x); ++c) {
                const auto value = [&](const T* of) { return reinterpret_cast<const lane*>(of)[c]; };
                const auto site = [&](const T* of) { return reinterpret_cast<const std::int64_t*>(of)[columns + c]; };
                if (value(best) != value(first) || site(best) == site(first)) continue;
                const std::int64_t line = row + m * (t.pitch / columns);
                const std::int64_t cell =
                    ((place / s.after * s.rows + line) * s.after + place % s.after) * shape_.length + x + c;
                if (rows_.same(cell, rows_.cell_of(cell, axis, site(best))))
                    copy_number(first, static_cast<int>(c), best, static_cast<int>(c));
            }
        }
    }

    void put(const line_pass& s, std::int64_t tile, std::int64_t line, std::int64_t column, const T* value,
             buffers& mine) {
        const std::int64_t skip = column == 0 ? shape_.lead : 0, first = column * columns - shape_.lead + skip,
                           count = std::min(columns - skip, shape_.length - first);
        if (left_ != nullptr) {
            left_->finish(mine.finished);
            if (!epilogue_.resolved(value)) {
                left_->count.fetch_add(1, std::memory_order_relaxed);
                left_->tile[static_cast<std::size_t>(tile)] = 1;
                return;
            }
        }
        const std::uint8_t* const zero = zero_.get() == nullptr ? nullptr : zero_.get() + tile * s.rows * row_bytes;
        epilogue_.put(value, skip, count, line * shape_.length + first, zero, mine);
    }

    const plan& p_;
    const pass_layout shape_;
    const class_rows rows_;
    const initial_values* const initial_;  ///< for a power diagram; else null
    const epilogue<T, V> epilogue_;
    workers crew_;
    const bool runs_;     ///< a cell's sites are cells of another class
    const double scale_;  ///< scale of a value beside its site
    const step_cost<lane> row_cost_;
    const row_of_sites row_sites_;
    std::optional<short_rows<T>> short_rows_;
    std::array<std::optional<axis_terms<lane>>, max_rank> terms_;
    std::array<bool, max_rank> ordered_{};
    bool rounds_steps_away_ = false;  ///< a step along one axis may be lost in the sum with another one
    std::array<host_scratch<T>, 2> field_;
    std::array<host_scratch<std::uint8_t>, max_rank> cut_;
    host_scratch<std::uint8_t> zero_;
    std::vector<std::unique_ptr<buffers>> mine_;
    std::optional<chosen_tiles> chosen_;  ///< the tiles to be solved; all without
    unresolved_tiles* left_ = nullptr;
};

}  // namespace nearfield::exact
