// The exact engine on the host, pass by pass: lines of the last axis are scanned; along every other axis, tiles of
// neighbouring lines are copied together, searched in SIMD, and copied back.
#include "exact/host.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "exact/host_output.hpp"
#include "exact/host_scan.hpp"
#include "exact/host_simd.hpp"
#include "exact/sites.hpp"

namespace nearfield::exact {
namespace {

// Tiles stay within a core's second-level cache, and a tile's rows span a few cache lines so that address translation and
// prefetching are paid once for several lines.
constexpr std::int64_t tile_bytes = 128 * 1024;
constexpr std::int64_t tile_row_bytes = 256;
// Cells a thread takes at a time when it scans lines.
constexpr std::int64_t scan_cells = 1 << 16;

/// A thread's workspace.
template <class V, class K>
struct tile_buffers {
    host_scratch<V> value, best, winner;
    host_scratch<K> key, best_key;
    host_scratch<std::int64_t> coordinate;
    host_scratch<std::uint8_t> site;
    host_scratch<std::int32_t> nearest, steps;
    std::int64_t rows = 0, width = 0;  ///< that the tile buffers were made for
};

/// Neighbouring columns of a tile that are neighbours in memory as well.
struct run_of_columns {
    std::int64_t column, offset, count;
};

/// What a cell holds between passes: its squared distance so far, its packed site, or (grids of two axes in wide numbers,
/// to halve the memory) only its steps to the nearest site of its line, -1 for none.
enum class carry { values, sites, steps };

template <class V, class K, carry Carry>
class engine {
    static constexpr bool Keyed = Carry == carry::sites;
    using state = std::conditional_t<Keyed, K, std::conditional_t<Carry == carry::steps, std::int32_t, V>>;

public:
    engine(const host& on, const plan& p, const any_input<host>& image, const fields<host>& out, sites rule)
        : p_(p),
          m_(p.as_metric<V>()),
          image_(image),
          rule_(rule),
          writer_(p, out),
          crew_(on, p.cells * p.rank),
          buffers_(static_cast<std::size_t>(crew_.threads())) {
        state_ = reinterpret_cast<state*>(writer_.borrow(sizeof(state)));
        if (state_ == nullptr && p.rank > 1) {
            own_state_ = host_scratch<state>(p.cells);
            state_ = own_state_.get();
        }
    }

    void solve() {
        scan_lines();
        for (int axis = p_.rank - 2; axis >= p_.first_axis; --axis) search_axis(axis);
    }

private:
    // ---- pass 1: the last axis -------------------------------------------------------------------------------------

    void scan_lines() {
        const std::int64_t n = p_.size[static_cast<std::size_t>(p_.rank - 1)];
        const std::int64_t lines = p_.cells / n;
        const std::int64_t block = std::max<std::int64_t>(1, scan_cells / n);
        crew_.for_each(lines, block, n, [&](std::int64_t first, std::int64_t last, int thread) {
            auto& mine = buffers_[static_cast<std::size_t>(thread)];
            if (mine.site.get() == nullptr) {
                mine.site = host_scratch<std::uint8_t>(n + line_padding);
                mine.nearest = host_scratch<std::int32_t>(n + line_padding);
                // Cells past the end are no sites.
                std::fill_n(mine.site.get() + n, line_padding, std::uint8_t{0});
            }
            for (std::int64_t line = first; line < last; ++line) scan_line(line, n, mine);
        });
    }

    void scan_line(std::int64_t line, std::int64_t n, tile_buffers<V, K>& mine) {
        const auto last = static_cast<std::size_t>(p_.rank - 1);
        const std::int64_t offset =
            p_.rank == 1 ? 0 : offset_of(line, p_.size.data(), p_.image_stride.data(), p_.rank - 1);
        read_sites(static_cast<const std::byte*>(image_.data) + offset * size_of(image_.type), image_.type,
                   p_.image_stride[last], n, rule_, mine.site.get());
        nearest_in_line(mine.site.get(), n, mine.nearest.get());
        if (p_.rank == 1) return finish_line(n, mine);
        state* const to = state_ + line * n;
        if constexpr (Keyed) keys_of_line(mine.nearest.get(), n, m_.keys.shift[last], to);
        else if constexpr (Carry == carry::values) values_of_line(mine.nearest.get(), n, m_.weight[last], to);
        else steps_of_line(mine.nearest.get(), n, to);
    }

    static void steps_of_line(const std::int32_t* nearest, std::int64_t n, std::int32_t* to) {
        for (std::int64_t x = 0; x < n; ++x)
            to[x] = nearest[x] < 0 ? -1 : static_cast<std::int32_t>(std::abs(x - nearest[x]));
    }

    /// A grid of one axis is done after one pass.
    void finish_line(std::int64_t n, const tile_buffers<V, K>& mine) {
        const host_scratch<V> value(n);
        const host_scratch<K> key(n);
        values_of_line(mine.nearest.get(), n, m_.weight[0], value.get());
        keys_of_line(mine.nearest.get(), n, m_.keys.shift[0], key.get());
        writer_.write(0, n, value.get(), key.get());
    }

    // ---- further passes: tiles of lines ------------------------------------------------------------------------------

    void search_axis(int axis) {
        const std::int64_t rows = p_.size[static_cast<std::size_t>(axis)];
        const std::int64_t inner = cells_between(p_.size.data(), axis + 1, p_.rank);
        const std::int64_t columns = cells_between(p_.size.data(), 0, axis) * inner;
        const std::int64_t least = tile_align / static_cast<std::int64_t>(sizeof(V));
        std::int64_t width = tile_row_bytes / static_cast<std::int64_t>(sizeof(V));
        while (width > least && (width * rows * static_cast<std::int64_t>(sizeof(V)) > tile_bytes || width > columns))
            width /= 2;
        const std::int64_t tiles = (columns + width - 1) / width;
        crew_.for_each(tiles, 1, std::min(width, columns) * rows, [&](std::int64_t first, std::int64_t, int thread) {
            auto& mine = buffers_[static_cast<std::size_t>(thread)];
            prepare(mine, rows, width);
            const std::int64_t column = first * width;
            search_columns(axis, rows, inner, column, std::min(width, columns - column), width, mine);
        });
    }

    static void prepare(tile_buffers<V, K>& mine, std::int64_t rows, std::int64_t width) {
        if (mine.rows == rows && mine.width == width) return;
        mine.rows = rows, mine.width = width;
        const std::int64_t cells = rows * width;
        mine.value = host_scratch<V>(cells);
        mine.best = host_scratch<V>(cells);
        mine.winner = host_scratch<V>(cells);
        if constexpr (Carry == carry::steps) mine.steps = host_scratch<std::int32_t>(cells);
        if constexpr (Keyed) {
            mine.key = host_scratch<K>(cells);
            mine.best_key = host_scratch<K>(cells);
            mine.coordinate = host_scratch<std::int64_t>(max_rank * width);
        }
    }

    void search_columns(int axis, std::int64_t rows, std::int64_t inner, std::int64_t column, std::int64_t count,
                        std::int64_t pitch, tile_buffers<V, K>& mine) {
        const auto runs = runs_of(column, count, rows, inner);
        load(axis, runs, rows, inner, column, count, pitch, mine);
        tile<V, K> t;
        t.rows = rows, t.pitch = t.best_pitch = pitch, t.weight = m_.weight[axis];
        t.rows_ordered = p_.rows_ordered[static_cast<std::size_t>(axis)];
        t.value = mine.value.get(), t.best = mine.best.get(), t.winner = mine.winner.get();
        if constexpr (Keyed)
            t.key = mine.key.get(), t.best_key = mine.best_key.get(), t.key_shift = m_.keys.shift[axis];
        if (axis == 0) {
            search_tile(t);
            return write_out(t, column, count, inner);
        }
        if constexpr (Carry != carry::steps) {
            const bool direct = runs.size() == 1 && count == pitch;
            if (direct) leave_in_state(t, state_ + runs.front().offset, inner);
            search_tile(t);
            if (!direct) copy_to_state(t, runs, inner);
        }
    }

    /// A whole tile's results can go where they belong at once.
    static void leave_in_state(tile<V, K>& t, state* to, std::int64_t inner) {
        t.best_pitch = inner;
        if constexpr (Keyed) t.best_key = to, t.best = nullptr;
        else t.best = to;
    }

    void copy_to_state(const tile<V, K>& t, const std::vector<run_of_columns>& runs, std::int64_t inner) {
        const state* from;
        if constexpr (Keyed) from = t.best_key;
        else from = t.best;
        for (std::int64_t r = 0; r < t.rows; ++r)
            for (const auto& run : runs)
                std::memcpy(state_ + run.offset + r * inner, from + r * t.pitch + run.column,
                            static_cast<std::size_t>(run.count) * sizeof(state));
    }

    void write_out(const tile<V, K>& t, std::int64_t column, std::int64_t count, std::int64_t inner) {
        for (std::int64_t r = 0; r < t.rows; ++r)
            writer_.write(r * inner + column, count, t.best + r * t.pitch,
                          t.best_key == nullptr ? nullptr : t.best_key + r * t.pitch);
    }

    static std::vector<run_of_columns> runs_of(std::int64_t column, std::int64_t count, std::int64_t rows,
                                               std::int64_t inner) {
        std::vector<run_of_columns> runs;
        for (std::int64_t at = column; at < column + count;) {
            const std::int64_t outer = at / inner, within = at - outer * inner;
            const std::int64_t length = std::min(inner - within, column + count - at);
            runs.push_back({at - column, outer * rows * inner + within, length});
            at += length;
        }
        return runs;
    }

    void load(int axis, const std::vector<run_of_columns>& runs, std::int64_t rows, std::int64_t inner,
              std::int64_t column, std::int64_t count, std::int64_t pitch, tile_buffers<V, K>& mine) {
        state* to;
        if constexpr (Carry == carry::sites) to = mine.key.get();
        else if constexpr (Carry == carry::values) to = mine.value.get();
        else to = mine.steps.get();
        for (std::int64_t r = 0; r < rows; ++r) {
            for (const auto& run : runs)
                std::memcpy(to + r * pitch + run.column, state_ + run.offset + r * inner,
                            static_cast<std::size_t>(run.count) * sizeof(state));
            // Lines beyond the image's are searched like all others: one that behaves like its neighbours costs least.
            std::fill(to + r * pitch + count, to + (r + 1) * pitch, to[r * pitch + count - 1]);
        }
        if constexpr (Keyed) values_from_keys(axis, rows, column, count, pitch, mine);
        if constexpr (Carry == carry::steps)
            for (std::int64_t i = 0; i < rows * pitch; ++i)
                mine.value.get()[i] = to[i] < 0 ? no_site<V>() : along(m_.weight[axis + 1], std::int64_t{to[i]});
    }

    void values_from_keys(int axis, std::int64_t rows, std::int64_t column, std::int64_t count, std::int64_t pitch,
                          tile_buffers<V, K>& mine) {
        const std::int64_t* at[max_rank]{};
        for (int done = axis + 1; done < p_.rank; ++done) {
            std::int64_t* line = mine.coordinate.get() + done * pitch;
            const std::int64_t step = cells_between(p_.size.data(), done + 1, p_.rank);
            const std::int64_t size = p_.size[static_cast<std::size_t>(done)];
            for (std::int64_t c = 0; c < count; ++c) line[c] = (column + c) / step % size;
            at[done] = line;
        }
        for (std::int64_t r = 0; r < rows; ++r) {
            V* const row = mine.value.get() + r * pitch;
            values_of_keys(m_, axis + 1, mine.key.get() + r * pitch, at, count, row);
            std::fill(row + count, row + pitch, row[count - 1]);
        }
    }

    const plan& p_;
    const metric<V> m_;
    const any_input<host>& image_;
    const sites rule_;
    output_writer writer_;
    workers crew_;
    std::vector<tile_buffers<V, K>> buffers_;
    host_scratch<state> own_state_;
    state* state_ = nullptr;
};

template <class V, class K>
void solve(const host& on, const plan& p, const any_input<host>& image, const fields<host>& out, sites rule) {
    if (p.sites_wanted) return engine<V, K, carry::sites>(on, p, image, out, rule).solve();
    if constexpr (sizeof(V) > sizeof(std::int32_t))
        if (p.rank == 2) return engine<V, K, carry::steps>(on, p, image, out, rule).solve();
    engine<V, K, carry::values>(on, p, image, out, rule).solve();
}

}  // namespace

void run(const host& on, const plan& p, const arrays<host>& a) {
    switch (p.numbers) {
        case tier::int32: return solve<std::int32_t, std::int32_t>(on, p, a.image, a.out, p.rule);
        case tier::int64: return solve<std::int64_t, std::int64_t>(on, p, a.image, a.out, p.rule);
        case tier::float64: return solve<double, std::int64_t>(on, p, a.image, a.out, p.rule);
    }
}

}  // namespace nearfield::exact
