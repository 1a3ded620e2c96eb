// The passes of a call: rows, then lines of one axis after another, then the epilogue.
#pragma once

#include <memory>
#include <optional>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "exact/host/class_bits.hpp"
#include "exact/host/epilogue.hpp"
#include "exact/host/powers.hpp"
#include "exact/host/rows_aside.hpp"

namespace nearfield::exact {

/// Cells of rows, or of tiles, that a thread takes at a time.
constexpr std::int64_t cells_a_block = 1 << 15;

template <class T, class V>
class line_engine {
    using lane = lane_of_number<T>;
    using weight_number = std::conditional_t<std::is_same_v<V, double>, double, std::int64_t>;
    using initial_values = weight_field<weight_number>;
    static constexpr std::int64_t columns = number<T>::columns, row_bytes = columns / 8;
    static constexpr bool sited = number<T>::sited, packed = sited && !number<T>::wide;

public:
    line_engine(const host& on, const plan& p, const arrays<host>& a, const initial_values* initial = nullptr)
        : p_(p),
          shape_(p, columns, sizeof(T), lead_of(p, a)),
          rows_(p, a.image, shape_),
          bits_(p, shape_, rows_, columns),
          initial_(initial),
          epilogue_(p, a, shape_, packed && initial != nullptr ? static_cast<std::int64_t>(initial->base()) : 0),
          crew_(on, p.cells * static_cast<std::int64_t>(shape_.passes.size() + 1)),
          runs_(p.by != classes::none),
          scale_(packed ? std::ldexp(1.0, p.keys.total()) : 1),
          row_cost_(scale_ * p.weight[static_cast<std::size_t>(p.rank - 1)], p.half_cell, shape_.length),
          row_sites_{shape_.length, p.borders[static_cast<std::size_t>(p.rank - 1)] == border::periodic,
                     p.keys.shift[p.rank - 1]},
          mine_(static_cast<std::size_t>(crew_.threads())) {
        for (int axis = p.first_axis; axis < p.rank; ++axis) {
            const auto i = static_cast<std::size_t>(axis);
            ordered_[i] = p.rows_ordered[i], rounds_steps_away_ = rounds_steps_away_ || !ordered_[i];
            if (p.weighted && p.numbers == tier::float64)
                ordered_[i] = rows_ordered(p.largest + initial->magnitude(), p.weight[i]);
            if (axis < shape_.row_axis || shape_.aside)
                terms_[i].emplace(scale_ * p.weight[i], p.half_cell, p.size[i], window_of(p, axis));
        }
        for (int k = 0; k < 2; ++k)
            if (k == 0 || shape_.passes.size() > 1)
                field_[static_cast<std::size_t>(k)] = host_scratch<T>(shape_.field_elements(k));
        for (std::int64_t x = 0; runs_ && sited && shape_.aside && x < shape_.length; ++x) {
            std::int64_t &site = own_sites_.emplace_back(0), rest = x;
            for (int axis = p.rank - 1; axis >= shape_.row_axis; rest /= p.size[static_cast<std::size_t>(axis--)])
                site += rest % p.size[static_cast<std::size_t>(axis)] << p.keys.shift[axis];
        }
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
            rows(first, end), tiles(0, first, end);
        }
        for (std::size_t k = 1; k < shape_.passes.size(); ++k) tiles(k, 0, shape_.passes[k].before);
    }

private:
    using buffers = thread_buffers<T>;
    [[nodiscard]] std::int64_t tiles_of(const line_pass& s) const { return s.before * s.after * shape_.tiles; }
    /// True for a tile of rows side by side, whose number is that of its first row.
    [[nodiscard]] bool of_rows(const line_pass& s) const { return s.last == p_.rank - 1; }
    [[nodiscard]] bool last(std::size_t k) const { return k + 1 == shape_.passes.size(); }
    [[nodiscard]] bool first_wanted() const { return runs_ || (!sited && p_.any(border::closed)); }
    buffers& buffers_of(int thread) {
        auto& mine = mine_[static_cast<std::size_t>(thread)];
        if (!mine) mine = std::make_unique<buffers>(shape_, first_wanted());
        return *mine;
    }

    // ---- rows -------------------------------------------------------------------------------------------------------

    /// Solves the rows of planes [first, end) of the first pass.
    void rows(std::int64_t first, std::int64_t end) {
        const line_pass& s = shape_.passes.front();
        const std::int64_t lines = (end - first) * s.rows, together = shape_.aside && lines >= columns ? columns : 1;
        const std::int64_t block = std::max(together, cells_a_block / shape_.length / together * together);
        crew_.for_each(lines, block, shape_.length, [&](std::int64_t line, std::int64_t stop, int thread) {
            const auto place = [&](std::int64_t at) {
                return (at / s.rows * shape_.tiles_of_rows * s.rows + at % s.rows) * shape_.columns_of_rows;
            };
            solve_rows(first * s.rows, line, stop, field_[0].get(), place, buffers_of(thread));
            end_copies();
        });
    }

    /// Solves rows base + [line, stop); row number r goes to cell place(r) of `field`.
    template <class Place>
    void solve_rows(std::int64_t base, std::int64_t line, std::int64_t stop, T* field, const Place& place,
                    buffers& mine) {
        const std::int64_t rows = shape_.passes.front().rows, bytes = shape_.columns_of_rows * shape_.bytes_of_rows;
        const bool past_caches = p_.cells >= least_streamed_cells;
        const auto put = [&](const void* row, std::int64_t at) {
            copy_rows_out(row, bytes, bytes, shape_.tiles_of_rows,
                          reinterpret_cast<std::byte*>(field) + place(at) * shape_.bytes_of_rows, rows * bytes,
                          past_caches);
        };
        for (; line < stop && !shape_.aside; ++line) put(solve_row(base + line, mine), line);
        for (; line < stop; line += columns) {
            const std::int64_t count = std::min(columns, stop - line);
            if (p_.weighted &&
                solve_one_by_one(base + line, count, mine, [&](std::int64_t c) { put(mine.best.get(), line + c); }))
                continue;
            T* const value =
                p_.weighted ? solve_power_rows(base + line, count, mine) : solve_short_rows(base + line, count, mine);
            T* const turned = other_of(value, mine);
            turn_rows(value, shape_.length, shape_.tiles, turned);
            for (std::int64_t c = 0; c < count; ++c) put(turned + c * shape_.tiles * columns, line + c);
        }
    }
    [[nodiscard]] static T* other_of(const T* tile, const buffers& mine) {
        return tile == mine.best.get() ? mine.other.get() : mine.best.get();
    }

    /// Solves `count` rows of short axes as the columns of a tile; returns the tile.
    T* solve_short_rows(std::int64_t line, std::int64_t count, buffers& mine) {
        const std::int64_t n = shape_.length, cells = n * columns;
        const int bytes = rows_.bytes();
        std::uint8_t* const classes = mine.tile_classes.get();
        for (std::int64_t c = 0; c < columns; ++c) {
            const void* const row = rows_.row(line + std::min(c, count - 1), mine.class_row(0, n));
            if (runs_ && c < count) bits_.put(line + c, row, mine);
            put_classes(row, bytes, n, c, columns, classes);
        }
        T* value = mine.other.get();
        zeros(classes, bytes, cells, 0, mine.flags.get(), mine.cuts.get());
        first_sites(mine.flags.get(), cells, runs_, runs_ && !p_.background, value);
        const line_pass s{shape_.row_axis, p_.rank - 1, 1, n, 1};
        for (int axis = s.last; axis >= s.first; --axis) {
            if (runs_) put_cuts(axis, mine);
            value = solve_axis(s, axis, line, value, mine);
        }
        return value;
    }
    /// Writes bits of rows side by side: the class differs from that of the cell before along an axis.
    void put_cuts(int axis, buffers& mine) const {
        const std::int64_t size = p_.size[static_cast<std::size_t>(axis)], n = shape_.length,
                           apart = cells_between(p_.size.data(), axis + 1, p_.rank);
        const auto put = [&](std::int64_t at, std::int64_t before, std::int64_t rows, std::uint8_t* to) {
            const auto row = [&](std::int64_t x) { return mine.tile_classes.get() + x * columns * rows_.bytes(); };
            differing(row(at), row(before), rows_.bytes(), rows * columns, 0, mine.flags.get(), to);
        };
        if (apart < n) put(apart, 0, n - apart, mine.cuts.get() + apart * row_bytes);
        if (p_.borders[static_cast<std::size_t>(axis)] != border::periodic) return;
        std::uint8_t* const bits = mine.class_row(3, n);
        for (std::int64_t x = 0; x < n; x += x % apart + 1 < apart ? 1 : 1 + (size - 1) * apart) {
            put(x, x + (size - 1) * apart, 1, bits);
            std::memcpy(mine.cuts.get() + x * row_bytes, bits, row_bytes);
        }
    }

    /// Returns the row's values, or its cells' nearest sites along the row, or steps to these.
    const void* solve_row(std::int64_t line, buffers& mine) {
        const std::int64_t n = shape_.length;
        T* const to = mine.best.get();
        border ends = p_.borders[static_cast<std::size_t>(p_.rank - 1)];
        if (sited && ends == border::closed) ends = border::open;  // the epilogue handles borders
        const bool periodic = ends == border::periodic;
        const void* const row = rows_.row(line, mine.class_row(0, n));
        if (runs_) bits_.put(line, row, mine);
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
            const auto put = [&](auto* steps) -> const void* {
                put_steps(mine.row, kind, n, steps + shape_.lead);
                return complete(steps);
            };
            return shape_.bytes_of_rows == 2 ? put(reinterpret_cast<std::uint16_t*>(to))
                                             : put(reinterpret_cast<std::int32_t*>(to));
        }
    }

    /// Solves rows of a power diagram as the columns of a tile; returns the tile.
    T* solve_power_rows(std::int64_t line, std::int64_t count, buffers& mine) {
        line_tile<T> t = tile_of(p_.rank - 1, shape_.length, columns, mine);
        t.value = mine.best.get(), t.best = mine.other.get();
        if constexpr (sited) {
            put_powers(*initial_, line, count, shape_.length, scale_, mine.best.get());
            add_coordinates(mine.best.get(), shape_.length, columns, p_.keys.shift[p_.rank - 1]);
            line_solver()(t);
        }
        return t.best;
    }
    /// Solves them one after the other if that costs less, each to the first buffer, and calls put(c); returns whether.
    template <class Put>
    bool solve_one_by_one(std::int64_t line, std::int64_t count, buffers& mine, const Put& put) {
        if constexpr (sited) {
            const line_tile<T> t = tile_of(p_.rank - 1, shape_.length, columns, mine);
            if (!one_by_one(t, count, *initial_)) return false;
            for (std::int64_t c = 0; c < count; ++c) {
                power_envelope<T, weight_number>(*initial_, line + c, scale_, p_.keys.shift[p_.rank - 1], t)
                    .put(mine.best.get());
                put(c);
            }
        }
        return sited;
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
        } else if (k == 0 && shape_.steps_of_rows) {
            const std::int64_t pitch = shape_.columns_of_rows, cell = column * columns;
            const std::int64_t line = at / shape_.tiles * shape_.tiles_of_rows + cell / pitch;
            const auto put = [&](const auto* steps) {
                loops_of_sites().costs(steps + line * s.rows * pitch + cell % pitch, s.rows, pitch, row_cost_, value);
            };
            if constexpr (sizeof(T) == 8)
                if (shape_.bytes_of_rows == 4) put(reinterpret_cast<const std::int32_t*>(field));
            if (shape_.bytes_of_rows == 2) put(reinterpret_cast<const std::uint16_t*>(field));
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
        const bool drops = number<T>::wide && runs_ && rounds_steps_away_, few = size <= few_rows && !drops;
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
                const std::uint8_t* const cuts = of_rows(s) ? mine.cuts.get() : bits_.cut(s, i, tile);
                r.cut = runs_ ? cuts + row * row_bytes : nullptr;
                r.first = mine.first.get() + row * columns, t.first = r.first;
                loops_of_runs().first_values(r);
            }
            if (few) continue;
            t.value = value + row * columns, t.best = best + row * columns;
            line_solver()(t);
            if constexpr (number<T>::wide)
                if (drops) drop_own_class(s, axis, tile, row, t);
        }
        if (few) relax_axis(t, s.rows, r.site_shift, value, firsts ? mine.first.get() : nullptr, best);
        return best;
    }

    /// Finds the sites of a tile's columns along the solved axes; `line`: position along those of them within the tile.
    void find_column_sites(const line_pass& s, int axis, std::int64_t tile, std::int64_t line, buffers& mine) const {
        std::int64_t site = 0, after = tile / shape_.tiles % s.after;
        for (int k = std::max(s.last, shape_.row_axis - 1); k > axis; --k) {
            const std::int64_t size = p_.size[static_cast<std::size_t>(k)];
            std::int64_t& rest = k > s.last ? after : line;
            site += rest % size << p_.keys.shift[k], rest /= size;
        }
        const std::int64_t x = tile % shape_.tiles * columns;
        for (std::int64_t c = 0; c < columns; ++c)
            mine.column_site[c] = site + (of_rows(s) ? 0 : own_site(std::min(x + c, shape_.length - 1)));
    }

    /// Returns the site of a row's cell along the row's axes.
    [[nodiscard]] std::int64_t own_site(std::int64_t x) const {
        return own_sites_.empty() ? x << p_.keys.shift[p_.rank - 1] : own_sites_[static_cast<std::size_t>(x)];
    }

    /// Removes sites of a cell's own class. If steps are lost to rounding, a site in a row of another class can seem as
    /// near as the end of the cell's run, although the site has the cell's class.
    void drop_own_class(const line_pass& s, int axis, std::int64_t tile, std::int64_t row, const line_tile<T>& t) {
        const std::int64_t place = tile / shape_.tiles, x = tile % shape_.tiles * columns;
        for (std::int64_t m = 0; m < t.rows; ++m) {
            const auto* const first = t.first + m * t.pitch;
            T* const best = t.best + m * t.pitch;
            for (std::int64_t c = 0; c < (of_rows(s) ? columns : std::min<std::int64_t>(columns, shape_.length - x));
                 ++c) {
                const auto value = [&](const T* of) { return reinterpret_cast<const lane*>(of)[c]; };
                const auto site = [&](const T* of) { return reinterpret_cast<const std::int64_t*>(of)[columns + c]; };
                if (value(best) != value(first) || site(best) == site(first)) continue;
                const std::int64_t line = row + m * (t.pitch / columns);
                const std::int64_t cell =
                    of_rows(s)
                        ? std::min(tile + c, p_.cells / shape_.length - 1) * shape_.length + line
                        : ((place / s.after * s.rows + line) * s.after + place % s.after) * shape_.length + x + c;
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
        epilogue_.put(value, skip, count, line * shape_.length + first, bits_.zero(s, tile), mine);
    }

    const plan& p_;
    const pass_layout shape_;
    const class_rows rows_;
    const class_bits bits_;
    const initial_values* const initial_;  ///< for a power diagram; else null
    const epilogue<T, V> epilogue_;
    workers crew_;
    const bool runs_;     ///< a cell's sites are cells of another class
    const double scale_;  ///< scale of a value beside its site
    const step_cost<lane> row_cost_;
    const row_of_sites row_sites_;
    std::array<std::optional<axis_terms<lane>>, max_rank> terms_;
    std::array<bool, max_rank> ordered_{};
    bool rounds_steps_away_ = false;  ///< a step along one axis may be lost in the sum with another one
    std::array<host_scratch<T>, 2> field_;
    std::vector<std::int64_t> own_sites_;  ///< the site of each cell of a row of several axes along these
    std::vector<std::unique_ptr<buffers>> mine_;
    std::optional<chosen_tiles> chosen_;  ///< the tiles to be solved; all without
    unresolved_tiles* left_ = nullptr;
};

}  // namespace nearfield::exact
