#include "exact/host/values.hpp"

#include <atomic>
#include <memory>
#include <optional>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "exact/host/value_tile.hpp"
#include "exact/host_sweeps.hpp"

namespace nearfield::exact {
namespace {

/// Cells of short axes that a tile searches together.
constexpr std::int64_t short_rows = 128;
/// Planes of this many cells together are solved along their axes before the next ones, where a plane is too large for
/// one thread's cache: enough for many threads.
constexpr std::int64_t cells_together = std::int64_t{1} << 23;
/// A plane of at most so many bytes is solved along two axes before the next one.
constexpr std::int64_t plane_bytes = 3 << 19;
/// Planes a thread, so that threads end together.
constexpr std::int64_t planes_a_thread = 4;
/// Cells of rows, or of tiles, that a thread takes at a time.
constexpr std::int64_t cells_a_block = 1 << 15;
/// Shorter rows leave more than half of a tile empty.
constexpr std::int64_t least_row = 16;
/// Progress that 16 bits make.
constexpr double share_of_16_bits = 0.75;
/// Integers up to here are doubles.
constexpr double most_whole = 9007199254740992.0;

/// Tiles that 16 bits leave, by their number in the last pass: `count` of them is known while others still come.
struct unresolved_tiles {
    std::vector<std::uint8_t> tile;
    std::atomic<std::int64_t> count{0}, done{0};
    /// 16 bits are given up where at least this many tiles, and this share of those that were looked at, are too large.
    static constexpr std::int64_t least = 16, share = 3;
    [[nodiscard]] bool too_many() const {
        const std::int64_t some = count.load(std::memory_order_relaxed);
        return some >= least && some * share >= done.load(std::memory_order_relaxed);
    }
};

template <class T, class V>
class value_engine {
    static constexpr std::int64_t columns = number<T>::columns, row_bytes = columns / 8;

public:
    value_engine(const host& on, const plan& p, const arrays<host>& a)
        : p_(p),
          shape_(p, thread_count(on), columns, sizeof(T)),
          labels_(p, a.image),
          rows_(p, a.image, labels_),
          epilogue_(p, a, labels_, shape_.passes.back()),
          crew_(on, p.cells * static_cast<std::int64_t>(shape_.passes.size() + 1)),
          runs_(p.by != classes::none),
          row_cost_(p.weight[static_cast<std::size_t>(p.rank - 1)], p.half_cell, shape_.length),
          mine_(static_cast<std::size_t>(crew_.threads())) {
        for (int axis = p.first_axis; axis < p.rank - 1; ++axis) {
            const auto i = static_cast<std::size_t>(axis);
            terms_[i].emplace(p.weight[i], p.half_cell, p.size[i], sweep_of(p, axis, sizeof(T)).window);
        }
        for (int k = 0; k < 2; ++k)
            if (shape_.needs_field(k)) field_[static_cast<std::size_t>(k)] = host_scratch<T>(shape_.field_elements(k));
        const std::int64_t bits = shape_.field_elements(1) / 8 + row_slack;
        for (int axis = p.first_axis; runs_ && axis < p.rank - 1; ++axis) cut_[axis] = host_scratch<std::uint8_t>(bits);
        if (p.is_signed()) zero_ = host_scratch<std::uint8_t>(bits);
    }

    /// Solves the tiles that `only` notes, or all where it is null; notes those that it leaves in `left`.
    void solve(const unresolved_tiles* only, std::int64_t only_columns, unresolved_tiles* left) {
        only_ = only, ratio_ = std::max<std::int64_t>(only_columns / columns, 1), left_ = left;
        if (left != nullptr) left->tile.assign(static_cast<std::size_t>(tiles_of(shape_.passes.back())), 0);
        if (only != nullptr) find_wanted();
        read_classes();
        const std::int64_t planes = shape_.passes.front().before;
        for (std::int64_t first = 0; first < planes; first += shape_.together) {
            const std::int64_t end = std::min(planes, first + shape_.together);
            if (shape_.planes) solve_planes(first, end);
            else rows(first, end), tiles(0, first, end);
        }
        for (std::size_t k = 1; k < shape_.passes.size(); ++k) tiles(k, 0, shape_.passes[k].before);
    }

private:
    using buffers = value_buffers<T>;

    [[nodiscard]] std::int64_t tiles_of(const value_pass& s) const { return s.before * s.after * shape_.tiles; }
    [[nodiscard]] bool last(std::size_t k) const { return k + 1 == shape_.passes.size(); }
    [[nodiscard]] bool first_wanted() const { return runs_ || p_.any(border::closed); }
    buffers& buffers_of(int thread) {
        auto& mine = mine_[static_cast<std::size_t>(thread)];
        if (!mine) mine = std::make_unique<buffers>(shape_, first_wanted());
        return *mine;
    }

    // ---- which tiles ------------------------------------------------------------------------------------------------

    /// Tiles of `only_` are `ratio_` of these.
    [[nodiscard]] bool wanted(std::int64_t tile) const {
        if (only_ == nullptr) return true;
        const std::int64_t place = tile / shape_.tiles, at = tile % shape_.tiles / ratio_;
        return only_->tile[static_cast<std::size_t>(place * only_tiles_ + at)] != 0;
    }
    void find_wanted() {
        only_tiles_ = (shape_.tiles + ratio_ - 1) / ratio_;
        wanted_column_.assign(static_cast<std::size_t>(only_tiles_), 0);
        for (std::size_t i = 0; i < only_->tile.size(); ++i)
            wanted_column_[i % static_cast<std::size_t>(only_tiles_)] |= only_->tile[i];
    }
    /// Of passes before the last one: all tiles of the columns that any wanted tile has.
    [[nodiscard]] bool wanted_column(std::int64_t column) const {
        return only_ == nullptr || wanted_column_[static_cast<std::size_t>(column / ratio_)] != 0;
    }

    // ---- rows -------------------------------------------------------------------------------------------------------

    /// Copies what cannot be read in place.
    void read_classes() {
        crew_.for_each(rows_.copy_jobs(), 1, 0, [&](std::int64_t job, std::int64_t, int) { rows_.copy(job); });
        if (p_.by != classes::values) return;
        crew_.for_each(p_.cells / shape_.length, std::max<std::int64_t>(1, cells_a_block / shape_.length), 0,
                       [&](std::int64_t first, std::int64_t end, int) { labels_.read_lines(first, end); });
    }

    /// Of planes [first, end) of the first pass.
    void rows(std::int64_t first, std::int64_t end) {
        const value_pass& s = shape_.passes.front();
        const std::int64_t block = std::max<std::int64_t>(1, cells_a_block / shape_.length), base = first * s.rows;
        crew_.for_each((end - first) * s.rows, block, shape_.length,
                       [&](std::int64_t line, std::int64_t stop, int thread) {
                           for (; line < stop; ++line) {
                               const std::int64_t at = line / s.rows * shape_.tiles * s.rows + line % s.rows;
                               solve_row(base + line, field_[0].get() + at * columns, buffers_of(thread));
                           }
                       });
    }

    void solve_planes(std::int64_t first, std::int64_t end) {
        const value_pass& s = shape_.passes.front();
        crew_.for_each(end - first, 1, 2 * s.rows * shape_.length, [&](std::int64_t item, std::int64_t, int thread) {
            const std::int64_t plane = first + item;
            buffers& mine = buffers_of(thread);
            for (std::int64_t r = 0; r < s.rows; ++r)
                solve_row(plane * s.rows + r, mine.plane.get() + r * columns, mine);
            for (std::int64_t t = 0; t < shape_.tiles; ++t)
                solve_tile(0, plane * shape_.tiles + t, mine.plane.get() + t * s.rows * columns, mine);
            end_copies();
        });
    }

    void solve_row(std::int64_t line, T* to, buffers& mine) const {
        const std::int64_t n = shape_.length, pitch = shape_.passes.front().rows * columns;
        const border ends = p_.borders[static_cast<std::size_t>(p_.rank - 1)];
        const void* const row = rows_.row(line, mine.class_row(0, n));
        if (runs_) mark_runs(row, rows_.bytes(), n, ends, mine.row);
        else mark_sites(static_cast<const std::uint8_t*>(row), n, ends == border::closed, mine.row);
        row_kind kind = steps_of_row(n, ends == border::periodic, mine.row);
        if (p_.background) kind = clear_background(row, rows_.bytes(), n, kind, mine.row);
        put_costs(mine.row, kind, n, row_cost_, to, pitch);
        if (runs_) put_bits(line, row, mine);
    }

    /// Where the class changes from the rows before along the other axes, and where it is zero.
    void put_bits(std::int64_t line, const void* row, buffers& mine) const {
        const std::int64_t n = shape_.length;
        std::uint8_t *const flags = mine.class_row(2, n), *const bits = mine.class_row(3, n);
        std::int64_t step = 1;
        for (int axis = p_.rank - 2; axis >= p_.first_axis; --axis) {
            const std::int64_t size = p_.size[static_cast<std::size_t>(axis)], at = line / step % size;
            if (at > 0 || p_.borders[static_cast<std::size_t>(axis)] == border::periodic) {
                const std::int64_t before = at > 0 ? line - step : line + (size - 1) * step;
                differing(row, rows_.row(before, mine.class_row(1, n)), rows_.bytes(), n, flags, bits);
                scatter(pass_of(axis), line, bits, cut_[axis].get());
            }
            step *= size;
        }
        if (zero_.get() == nullptr) return;
        zeros(row, rows_.bytes(), n, flags, bits);
        scatter(shape_.passes.back(), line, bits, zero_.get());
    }
    [[nodiscard]] const value_pass& pass_of(int axis) const {
        std::size_t k = 0;
        while (axis < shape_.passes[k].first) ++k;
        return shape_.passes[k];
    }
    /// A row's bits to the tiles of a pass.
    void scatter(const value_pass& s, std::int64_t line, const std::uint8_t* bits, std::uint8_t* to) const {
        const std::int64_t after = line % s.after, r = line / s.after % s.rows, before = line / s.after / s.rows;
        to += ((before * s.after + after) * shape_.tiles * s.rows + r) * row_bytes;
        for (std::int64_t t = 0; t < shape_.tiles; ++t)
            std::memcpy(to + t * s.rows * row_bytes, bits + t * row_bytes, row_bytes);
    }

    // ---- lines ------------------------------------------------------------------------------------------------------

    void tiles(std::size_t k, std::int64_t first, std::int64_t end) {
        const value_pass& s = shape_.passes[k];
        const std::int64_t cells = s.rows * std::min(columns, shape_.length), base = first * s.after * shape_.tiles;
        crew_.for_each((end - first) * s.after * shape_.tiles, std::max<std::int64_t>(1, cells_a_block / cells), cells,
                       [&](std::int64_t tile, std::int64_t stop, int thread) {
                           for (; tile < stop; ++tile)
                               solve_tile(k, base + tile, field_[k % 2].get() + tile * s.rows * columns,
                                          buffers_of(thread));
                           end_copies();
                       });
    }

    /// Tile number `tile` of a pass, whose values are at `value`.
    void solve_tile(std::size_t k, std::int64_t tile, const T* value, buffers& mine) {
        const value_pass& s = shape_.passes[k];
        const std::int64_t column = tile % shape_.tiles, place = tile / shape_.tiles;
        if (!wanted_column(column)) return;
        if (last(k)) {
            if (!wanted(tile)) return;
            if (left_ != nullptr && left_->too_many()) {
                left_->tile[static_cast<std::size_t>(tile)] = 1;
                return;
            }
        }
        for (int axis = s.last; axis >= s.first; --axis) value = solve_axis(s, axis, tile, value, mine);
        const std::int64_t before = place / s.after, after = place % s.after;
        if (last(k)) return put(s, tile, before * s.rows * s.after + after, column, value, mine);
        const value_pass& next = shape_.passes[k + 1];
        const std::int64_t base = (before / next.rows * next.after + after) * shape_.tiles + column;
        const std::int64_t step = s.after * shape_.tiles * next.rows * columns;
        copy_rows_out(value, columns * sizeof(T), columns * sizeof(T), s.rows,
                      field_[(k + 1) % 2].get() + (base * next.rows + before % next.rows) * columns, step * sizeof(T),
                      true);
    }

    /// Lines along one axis of a tile; returns where the results are.
    const T* solve_axis(const value_pass& s, int axis, std::int64_t tile, const T* value, buffers& mine) {
        const auto i = static_cast<std::size_t>(axis);
        const std::int64_t apart = cells_between(p_.size.data(), axis + 1, s.last + 1), size = p_.size[i];
        T* const best = value == mine.best.get() ? mine.other.get() : mine.best.get();
        const bool closed = p_.borders[i] == border::closed, periodic = p_.borders[i] == border::periodic;
        if (size <= few_rows && !runs_ && !closed && !periodic) {
            const std::int64_t block = size * apart * columns;
            for (std::int64_t at = 0; at < s.rows * columns; at += block)
                relax_lines(value + at, size, apart * columns, terms_[i]->get(), best + at);
            return best;
        }
        line_tile<T> t;
        t.rows = size, t.pitch = apart * columns, t.periodic = periodic;
        t.terms = &*terms_[i], t.lists = &mine.lists, t.team = &crew_;
        run_ends<T> r;
        r.rows = size, r.pitch = t.pitch, r.cut_pitch = apart * row_bytes;
        r.closed = closed, r.periodic = periodic, r.cost = &t.terms->cost();
        for (std::int64_t line = 0; line < s.rows / size; ++line) {
            const std::int64_t row = line / apart * size * apart + line % apart;
            if (runs_ || closed) {
                r.cut = runs_ ? cut_[axis].get() + (tile * s.rows + row) * row_bytes : nullptr;
                r.first = mine.first.get() + row * columns, t.first = r.first;
                first_values(r);
            }
            t.value = value + row * columns, t.best = best + row * columns;
            solve_lines(t);
        }
        return best;
    }

    void put(const value_pass& s, std::int64_t tile, std::int64_t line, std::int64_t column, const T* value,
             buffers& mine) {
        const std::int64_t first = column * columns, count = std::min(columns, shape_.length - first);
        const bool resolved = epilogue_.resolved(value, s.rows, count);
        if (left_ != nullptr) {
            left_->done.fetch_add(1, std::memory_order_relaxed);
            if (!resolved) {
                left_->count.fetch_add(1, std::memory_order_relaxed);
                left_->tile[static_cast<std::size_t>(tile)] = 1;
                return;
            }
        }
        const std::uint8_t* const zero = zero_.get() == nullptr ? nullptr : zero_.get() + tile * s.rows * row_bytes;
        epilogue_.put(value, count, line * shape_.length + first, zero, mine.root.get());
    }

    const plan& p_;
    const value_layout shape_;
    class_field labels_;
    class_rows rows_;
    const value_epilogue<T, V> epilogue_;
    workers crew_;
    const bool runs_;  ///< a cell's sites are cells of another class
    const step_cost<T> row_cost_;
    std::array<std::optional<axis_terms<T>>, max_rank> terms_;
    std::array<host_scratch<T>, 2> field_;
    std::array<host_scratch<std::uint8_t>, max_rank> cut_;
    host_scratch<std::uint8_t> zero_;
    std::vector<std::unique_ptr<buffers>> mine_;
    const unresolved_tiles* only_ = nullptr;
    unresolved_tiles* left_ = nullptr;
    std::int64_t ratio_ = 1, only_tiles_ = 1;
    std::vector<std::uint8_t> wanted_column_;
};

/// Whether 16 bits are worth a trial: one step along every axis fits.
bool suits_16_bits(const plan& p) {
    for (int axis = p.first_axis; axis < p.rank; ++axis)
        if (p.weight[static_cast<std::size_t>(axis)] * 16 >= number<std::uint16_t>::infinite) return false;
    return true;
}

}  // namespace

value_layout::value_layout(const plan& p, int threads, std::int64_t columns, std::int64_t element_bytes)
    : columns_(columns), element_bytes_(element_bytes) {
    const auto size = [&](int axis) { return p.size[static_cast<std::size_t>(axis)]; };
    length = size(p.rank - 1), tiles = (length + columns - 1) / columns;
    for (int axis = p.rank - 2; axis >= p.first_axis; --axis) {
        value_pass s;
        s.first = s.last = axis, s.rows = size(axis);
        while (s.first > p.first_axis && s.rows * size(s.first - 1) <= short_rows) s.rows *= size(--s.first);
        axis = s.first;
        s.before = cells_between(p.size.data(), 0, s.first);
        s.after = cells_between(p.size.data(), s.last + 1, p.rank - 1);
        passes.push_back(s);
    }
    const value_pass& s = passes.front();
    planes = s.before >= planes_a_thread * threads && plane_elements() * element_bytes <= plane_bytes;
    together = planes ? s.before : std::min(s.before, (cells_together + plane_elements() - 1) / plane_elements());
}

std::int64_t value_layout::field_elements(int k) const {
    return (k == 0 && passes.size() <= 2 ? together : passes.front().before) * plane_elements();
}
bool value_layout::needs_field(int k) const { return k == 0 ? !planes || passes.size() > 2 : passes.size() > 1; }

std::int64_t value_layout::workspace_bytes(const plan& p, int threads) const {
    const std::int64_t bits = field_elements(1) / 8 + row_slack;
    std::int64_t all = 0, rows = 0;
    for (int k = 0; k < 2; ++k) all += needs_field(k) ? field_elements(k) * element_bytes_ : 0;
    if (p.by != classes::none) all += bits * (p.rank - 1 - p.first_axis) + (p.is_signed() ? bits : 0);
    for (const value_pass& s : passes) rows = std::max(rows, s.rows);
    for (int axis = p.first_axis; axis < p.rank - 1; ++axis)
        all += axis_terms<double>::entries(p.size[static_cast<std::size_t>(axis)]) * element_bytes_;
    const bool first = p.by != classes::none || p.any(border::closed);
    const std::int64_t of_thread = rows * columns_ * (element_bytes_ * (first ? 3 : 2) + 4) +
                                   row_scratch::bytes(length) + 4 * (length + row_slack) +
                                   (planes ? plane_elements() * element_bytes_ : 0);
    return all + of_thread * threads;
}

std::int64_t value_layout::class_bytes(const plan& p, const any_input<host>& image) {
    return class_rows::copies(p, image) ? p.cells : 0;
}

bool suits_values(const plan& p) {
    const std::int64_t length = p.size[static_cast<std::size_t>(p.rank - 1)];
    if (p.sites_wanted || p.weighted || p.negative_side || p.rank - p.first_axis < 2 || length < least_row)
        return false;
    if (p.numbers == tier::int64) return p.largest < most_whole;
    return p.numbers == tier::int32 ||
           std::all_of(p.rows_ordered.begin(), p.rows_ordered.begin() + p.rank, [](bool ordered) { return ordered; });
}

void solve_values(const host& on, const plan& p, const arrays<host>& a) {
    if (p.numbers == tier::int64) return value_engine<double, std::int64_t>(on, p, a).solve(nullptr, 0, nullptr);
    if (p.numbers == tier::float64) return value_engine<double, double>(on, p, a).solve(nullptr, 0, nullptr);
    if (!suits_16_bits(p)) return value_engine<std::int32_t, std::int32_t>(on, p, a).solve(nullptr, 0, nullptr);
    unresolved_tiles left;
    const auto part = [&](double from, double share) {
        host some{on.threads, {}};
        if (on.progress) some.progress = [&on, from, share](double done) { return on.progress(from + share * done); };
        return some;
    };
    value_engine<std::uint16_t, std::int32_t>(part(0, share_of_16_bits), p, a).solve(nullptr, 0, &left);
    if (left.count > 0)
        value_engine<std::int32_t, std::int32_t>(part(share_of_16_bits, 1 - share_of_16_bits), p, a)
            .solve(&left, number<std::uint16_t>::columns, nullptr);
    else if (on.progress) (void)on.progress(1);
}

}  // namespace nearfield::exact
