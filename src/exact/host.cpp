// The exact engine on the host, pass by pass: lines of the last axis are scanned; along every other axis, tiles of
// neighbouring lines are copied together, searched in SIMD, and copied back.
#include "exact/host.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "exact/host/values.hpp"
#include "exact/host_classes.hpp"
#include "exact/host_first_pass.hpp"
#include "exact/host_fold.hpp"
#include "exact/host_output.hpp"
#include "exact/host_planes.hpp"
#include "exact/host_sweeps.hpp"
#include "exact/host_tile.hpp"
#include "exact/host_weights.hpp"

namespace nearfield::exact {
namespace {

template <class V, class K, carry Carry>
class engine {
    static constexpr bool Keyed = Carry == carry::sites;
    static constexpr bool MayBeWeighted = sizeof(V) == 8;
    using state = carried<V, K, Carry>;
    using buffers = tile_buffers<V, K>;

public:
    engine(const host& on, const plan& p, const arrays<host>& a)
        : p_(p),
          m_(p.as_metric<V>()),
          image_(a.image),
          classes_(p, a.image),
          writer_(p, a, classes_),
          crew_(on, p.cells * (p.rank - p.first_axis + (p.weighted ? 1 : 0))),
          buffers_(static_cast<std::size_t>(crew_.threads())) {
        if constexpr (MayBeWeighted)
            if (p.weighted) weights_ = weight_field<V>(p, a, crew_);
        if (!needs_state(p)) return;
        if (const any_output<host>* lent = lends_state(p, a.out, sizeof(state))) {
            state_ = static_cast<state*>(lent->data);
        } else {
            own_state_ = host_scratch<state>(p.cells);
            state_ = own_state_.get();
        }
    }

    void solve() {
        int axis = p_.rank - 2;
        if (p_.weighted) ++axis;
        else scan_lines();
        for (int first; axis >= p_.first_axis; axis = first - 1) {
            first = first_together(p_, axis);
            if (first == axis) search_axis(axis);
            else search_together(first, axis);
        }
    }

private:
    // ---- pass 1: the last axis -------------------------------------------------------------------------------------

    void scan_lines() {
        const first_pass<V, K, Carry> scan(p_, m_, image_, classes_, writer_, crew_);
        const std::int64_t n = scan.length(), block = std::max<std::int64_t>(1, scan_cells / n);
        crew_.for_each(p_.cells / n, block, n, [&](std::int64_t first, std::int64_t last, int thread) {
            if (classes_.wanted()) classes_.read_lines(first, last);
            scan.lines(first, last, buffers_[static_cast<std::size_t>(thread)], state_);
        });
    }

    // ---- further passes: tiles of lines ---------------------------------------------------------------------------

    void search_axis(int axis) {
        const sweep s = sweep_of(p_, axis, sizeof(V));
        terms_ = terms_along(m_, axis, s.window);
        crew_.for_each(s.tiles(), 1, std::min(s.width, s.columns) * s.size,
                       [&](std::int64_t first, std::int64_t, int thread) {
                           auto& mine = buffers_[static_cast<std::size_t>(thread)];
                           mine.prepare(s, Keyed, classes_.wanted());
                           const std::int64_t column = first * s.width;
                           const std::int64_t count = std::min(s.width, s.columns - column);
                           search_columns(s, {column, count, runs_of(s, column, count)}, mine);
                       });
    }

    void search_columns(const sweep& s, const tile_place& at, buffers& mine) {
        load(s, at, mine);
        tile<V, K> t;
        t.team = &crew_;
        t.rows = s.rows(), t.pitch = t.best_pitch = s.width;
        t.first_query = s.halo, t.queries = s.size, t.window = s.window, t.term = terms_.get();
        t.rows_ordered = p_.rows_ordered[static_cast<std::size_t>(s.axis)];
        t.value = mine.value.get(), t.best = mine.best.get(), t.winner = mine.winner.get();
        if constexpr (Keyed) t.key = mine.key.get(), t.best_key = mine.best_key.get();
        if constexpr (MayBeWeighted)
            if (p_.weighted) consider_weights(t, s);
        if (s.axis == p_.first_axis) {
            search(t);
            if (classes_.wanted()) offer_other_classes(s, at, mine);
            return write_out(s, at, t);
        }
        const bool direct = at.whole(s) && !classes_.wanted() && s.inner > 1;
        if (direct) leave_in_state(t, state_ + at.runs.front().offset, s.inner);
        search(t);
        if (direct) return;
        if (classes_.wanted()) offer_other_classes(s, at, mine);
        copy_to_state(s, at, t);
    }

    /// Short axes, one after the other in tiles of the lines of all of them.
    void search_together(int first, int axis) {
        const sweep s = sweep_together(p_, first, axis, sizeof(V));
        std::array<host_scratch<V>, max_rank> terms;
        for (int k = first; k <= axis; ++k)
            terms[static_cast<std::size_t>(k)] = terms_along(m_, k, sweep_of(p_, k, sizeof(V)).window);
        const std::int64_t weight = std::min(s.width, s.columns) * s.size * (axis - first + 1);
        crew_.for_each(s.tiles(), 1, weight, [&](std::int64_t number, std::int64_t, int thread) {
            auto& mine = buffers_[static_cast<std::size_t>(thread)];
            mine.prepare(s, Keyed, false);
            const std::int64_t column = number * s.width, count = std::min(s.width, s.columns - column);
            const tile_place at{column, count, runs_of(s, column, count)};
            copy_rows(s, at, state_, [&] {
                if constexpr (Keyed) return mine.key.get();
                else return mine.value.get();
            }());
            if constexpr (Keyed) values_from_keys(s, at, mine);
            for (int k = axis; k >= first; --k)
                search_one_of(k, axis, s, terms[static_cast<std::size_t>(k)].get(), mine);
            tile<V, K> found;
            found.best = mine.value.get(), found.best_key = mine.key.get();
            if (first == p_.first_axis) write_out(s, at, found);
            else copy_to_state(s, at, found);
        });
    }

    /// A tile's rows are all cells of axes up to `axis`; those of one of them lie `apart` rows from each other.
    void search_one_of(int k, int axis, const sweep& s, const V* term, buffers& mine) const {
        const std::int64_t size = p_.size[static_cast<std::size_t>(k)],
                           apart = cells_between(p_.size.data(), k + 1, axis + 1);
        if constexpr (Keyed)
            for (std::int64_t i = 0; i < s.size; ++i)
                pack_row(k, i / apart % size, s.width, mine.key.get() + i * s.width);
        tile<V, K> t;
        t.rows = t.queries = size, t.pitch = t.best_pitch = apart * s.width;
        t.window = sweep_of(p_, k, sizeof(V)).window, t.term = term, t.winner = mine.winner.get();
        for (std::int64_t from = 0; from < s.size * s.width; from += size * t.pitch) {
            t.value = mine.value.get() + from, t.best = mine.best.get() + from;
            if constexpr (Keyed) t.key = mine.key.get() + from, t.best_key = mine.best_key.get() + from;
            search(t);
        }
        std::swap(mine.value, mine.best);
        std::swap(mine.key, mine.best_key);
    }

    static void search(const tile<V, K>& t) {
        if constexpr (!std::is_floating_point_v<V>)
            if (t.rows <= few_rows && t.rows == t.queries && !t.negative) return relax_few_rows(t);
        search_tile(t);
    }

    void consider_weights(tile<V, K>& t, const sweep& s) const {
        t.base = weights_.base(), t.negative = true;
        if constexpr (std::is_floating_point_v<V>)
            t.rows_ordered = rows_ordered(p_.largest + weights_.magnitude(), m_.weight[s.axis]);
    }

    /// A whole tile's results can go where they belong at once.
    static void leave_in_state(tile<V, K>& t, state* to, std::int64_t inner) {
        t.best_pitch = inner;
        if constexpr (Keyed) t.best_key = to, t.best = nullptr;
        else t.best = to;
    }

    void copy_to_state(const sweep& s, const tile_place& at, const tile<V, K>& t) {
        const state* from;
        if constexpr (Keyed) from = t.best_key;
        else from = t.best;
        for_each_row(s, at, s.size, [&](std::int64_t r, const run_of_columns& run) {
            std::memcpy(state_ + run.offset + r * s.inner, from + r * s.width + run.column,
                        static_cast<std::size_t>(run.count) * sizeof(state));
        });
    }

    void write_out(const sweep& s, const tile_place& at, const tile<V, K>& t) {
        for_each_row(s, at, s.size, [&](std::int64_t r, const run_of_columns& run) {
            const std::int64_t i = r * s.width + run.column;
            writer_.write(run.offset + r * s.inner, run.count, t.best + i,
                          t.best_key == nullptr ? nullptr : t.best_key + i);
        });
    }

    // ---- filling a tile -------------------------------------------------------------------------------------------

    void load(const sweep& s, const tile_place& at, buffers& mine) {
        if constexpr (MayBeWeighted)
            if (p_.weighted && s.axis == p_.rank - 1) return load_weights(s, at, mine);
        state* to;
        if constexpr (Keyed) to = mine.key.get();
        else to = mine.value.get();
        copy_rows(s, at, state_, to);
        if constexpr (Keyed) values_from_keys(s, at, mine), pack_rows(s, mine);
    }

    void load_weights(const sweep& s, const tile_place& at, buffers& mine) {
        V* const value = mine.value.get();
        copy_rows(s, at, weights_.values(), value);
        if constexpr (Keyed) {
            for (std::int64_t i = 0; i < s.rows() * s.width; ++i)
                mine.key.get()[i] = value[i] < no_site<V>() ? K{0} : no_key<K>;
            pack_rows(s, mine);
        }
    }

    void values_from_keys(const sweep& s, const tile_place& at, buffers& mine) {
        const std::int64_t* coordinate[max_rank]{};
        coordinates_of(s, at, mine, coordinate);
        for (std::int64_t i = 0; i < s.rows(); ++i) {
            V* const row = mine.value.get() + i * s.width;
            const K* const key = mine.key.get() + i * s.width;
            values_of_keys(m_, s.axis + 1, key, coordinate, at.count, row);
            if constexpr (MayBeWeighted)
                if (p_.weighted) add_weights(s, at, i, coordinate, key, row);
            std::fill(row + at.count, row + s.width, row[at.count - 1]);
        }
    }

    /// The rows' own coordinates, wrapped where they are repeated; -1 stays -1.
    void pack_rows(const sweep& s, buffers& mine) const {
        for (std::int64_t i = 0; i < s.rows(); ++i)
            pack_row(s.axis, s.source(i), s.width, mine.key.get() + i * s.width);
    }
    void pack_row(int axis, std::int64_t coordinate, std::int64_t width, K* key) const {
        const K row = m_.keys.template field<K>(axis, coordinate);
        for (std::int64_t c = 0; c < width; ++c) key[c] |= row;
    }

    /// Coordinates of the tile's columns along the axes that are done.
    void coordinates_of(const sweep& s, const tile_place& at, buffers& mine, const std::int64_t** coordinate) const {
        for (int done = s.axis + 1; done < p_.rank; ++done) {
            std::int64_t* line = mine.coordinate.get() + done * s.width;
            const std::int64_t step = cells_between(p_.size.data(), done + 1, p_.rank);
            const std::int64_t size = p_.size[static_cast<std::size_t>(done)];
            for (std::int64_t c = 0; c < at.count; ++c) line[c] = (at.column + c) / step % size;
            coordinate[done] = line;
        }
    }

    /// In a power diagram values start from the site's weight, so that sums are rounded in the order that is promised.
    void add_weights(const sweep& s, const tile_place& at, std::int64_t i, const std::int64_t* const* coordinate,
                     const K* key, V* value) const {
        for (const run_of_columns& run : at.runs)
            for (std::int64_t c = run.column; c < run.column + run.count; ++c) {
                if (key[c] == no_key<K>) continue;
                // The column's first cell, without its coordinates along the axes that are done.
                std::int64_t site = run.offset / s.inner * s.inner + s.source(i) * s.inner;
                for (int done = s.axis + 1; done < p_.rank; ++done)
                    site += m_.keys.coordinate(key[c], done) * cells_between(p_.size.data(), done + 1, p_.rank);
                V sum = weights_.values()[site];
                for (int done = p_.rank - 1; done > s.axis; --done)
                    sum +=
                        m_.template between<std::int64_t>(done, coordinate[done][c], m_.keys.coordinate(key[c], done));
                value[c] = sum;
            }
    }

    // ---- cells of other classes -----------------------------------------------------------------------------------

    /// After the search: the nearest rows of another class above and below every row.
    void offer_other_classes(const sweep& s, const tile_place& at, buffers& mine) {
        if constexpr (Keyed) column_keys(s, at, mine);
        const auto step_from = [&](std::int64_t i, std::int64_t neighbour, const std::uint32_t* next,
                                   std::uint32_t* to) {
            for (const run_of_columns& run : at.runs)
                classes_.count_steps(run.offset + s.source(i) * s.inner, run.offset + s.source(neighbour) * s.inner,
                                     run.count, next + run.column, to + run.column);
        };
        std::uint32_t* const above = mine.above.get();
        std::fill_n(above, s.width, no_row);
        for (std::int64_t i = 1; i < s.rows(); ++i) step_from(i, i - 1, above + (i - 1) * s.width, above + i * s.width);
        std::uint32_t* const below = mine.below.get();
        std::fill_n(below, s.width, no_row);
        for (std::int64_t i = s.rows() - 1; i >= s.halo; --i) {
            if (i + 1 < s.rows()) step_from(i, i + 1, below, below);
            if (i < s.halo + s.size) offer_to_row(s, at, i, mine);
        }
    }

    /// Packed coordinates of the tile's columns along the axes that are done.
    void column_keys(const sweep& s, const tile_place& at, buffers& mine) const {
        const std::int64_t* coordinate[max_rank]{};
        coordinates_of(s, at, mine, coordinate);
        for (std::int64_t c = 0; c < at.count; ++c) {
            K key = 0;
            for (int done = s.axis + 1; done < p_.rank; ++done) key = m_.keys.with(key, done, coordinate[done][c]);
            mine.column_key.get()[c] = key;
        }
    }

    void offer_to_row(const sweep& s, const tile_place& at, std::int64_t i, buffers& mine) const {
        const std::int64_t q = (i - s.halo) * s.width;
        // Keys wrap round the ends of rings, and in double equal values need a second look: one cell at a time.
        if (Keyed && (s.halo > 0 || std::is_floating_point_v<V>)) {
            for (const run_of_columns& run : at.runs)
                for (std::int64_t c = run.column; c < run.column + run.count; ++c)
                    for (const std::int64_t row :
                         {i - std::int64_t{mine.above.get()[i * s.width + c]}, i + std::int64_t{mine.below.get()[c]}})
                        if (row >= std::max<std::int64_t>(i - s.window, 0) &&
                            row <= std::min(i + s.window, s.rows() - 1))
                            offer_row(s, run, i, row, c, mine);
            return;
        }
        fold_row<V, K> f;
        f.above = mine.above.get() + i * s.width, f.below = mine.below.get();
        f.count = at.count, f.row = i, f.window = s.window;
        f.weight = m_.weight[s.axis], f.half_cell = m_.half_cell;
        f.best = mine.best.get() + q;
        if constexpr (Keyed) {
            f.column_key = mine.column_key.get(), f.key_shift = m_.keys.shift[s.axis];
            f.best_key = mine.best_key.get() + q;
        }
        offer_rows(f);
    }

    void offer_row(const sweep& s, const run_of_columns& run, std::int64_t i, std::int64_t row, std::int64_t c,
                   buffers& mine) const {
        const std::int64_t at = (i - s.halo) * s.width + c;
        V& best = mine.best.get()[at];
        const V value = terms_.get()[row < i ? i - row : row - i];
        if (value > best) return;
        if constexpr (Keyed) {
            K& best_key = mine.best_key.get()[at];
            const K key = m_.keys.with(mine.column_key.get()[c], s.axis, s.source(row));
            if (value == best && (best_key == key || (best_key < key && truly_other(s, run, i, c, best_key)))) return;
            best_key = key;
        }
        best = value;
    }

    /// Rounding can make the site of a row of another class look as near as it is allowed to be; such a site may have
    /// the cell's own class.
    bool truly_other(const sweep& s, const run_of_columns& run, std::int64_t i, std::int64_t c, K key) const {
        if constexpr (!std::is_floating_point_v<V>) return true;
        const std::int64_t first = run.offset / s.inner * s.inner;
        std::int64_t site = first + m_.keys.coordinate(key, s.axis) * s.inner;
        for (int done = s.axis + 1; done < p_.rank; ++done)
            site += m_.keys.coordinate(key, done) * cells_between(p_.size.data(), done + 1, p_.rank);
        return !classes_.same(run.offset + (c - run.column) + s.source(i) * s.inner, site);
    }

    const plan& p_;
    const metric<V> m_;
    const any_input<host>& image_;
    class_field classes_;
    output_writer<V, K> writer_;
    workers crew_;
    std::vector<buffers> buffers_;
    weight_field<std::conditional_t<sizeof(V) == 8, V, std::int64_t>> weights_;
    host_scratch<V> terms_;
    host_scratch<state> own_state_;
    state* state_ = nullptr;
};

template <class V, class K>
void solve(const host& on, const plan& p, const arrays<host>& a) {
    if (p.sites_wanted) engine<V, K, carry::sites>(on, p, a).solve();
    else engine<V, K, carry::values>(on, p, a).solve();
}

}  // namespace

void run_engine(const host& on, const plan& p, const arrays<host>& a) {
    if (suits_planes(p, thread_count(on))) return solve_planes(on, p, a);
    if (suits_values(p)) return solve_values(on, p, a);
    switch (p.numbers) {
        case tier::int32: return solve<std::int32_t, std::int32_t>(on, p, a);
        case tier::int64: return solve<std::int64_t, std::int64_t>(on, p, a);
        case tier::float64: return solve<double, std::int64_t>(on, p, a);
    }
}

}  // namespace nearfield::exact
