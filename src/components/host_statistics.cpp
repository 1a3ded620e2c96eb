// component_statistics() on the host: runs add up in closed form, their values in a loop; rows are finished at the end.
#include <memory>
#include <span>
#include <utility>

#include "components/engine.hpp"
#include "components/host_rows.hpp"
#include "components/host_words.hpp"
#include "label/statistics_rows.hpp"
#include "label/statistics_values.hpp"

namespace nearfield::components {
namespace {

using statistics::columns;
using statistics::fixed_scale;
using statistics::value_range;
using statistics::value_sums;

/// Selects what one pass over the image computes.
struct look {
    bool shapes = false, ranges = false, sums = false;
};

/// Upper limit of the cells of a piece, so that its workspace stays in the thread's caches.
constexpr std::int64_t piece_cells = 4096;

struct measuring {
    array3 labels, values;
    int rows_along = 2;                ///< the caller's axis that has changed places with the last one
    std::int64_t piece = piece_cells;  ///< most cells of a piece
    columns to;
    int axes = 0;
    std::int64_t rows = 0;
    row_table<shape_row> shape;
    row_table<value_range> range;
    row_table<value_sums> sums;
};

/// Lets short rows, which cost as much as rows of `short_row` cells, change places with those along the last long axis.
/// Sums do not depend on the order of cells.
void choose_rows(measuring& m) {
    constexpr std::int64_t short_row = 16, long_row = 64;
    if (m.labels.side[2] >= short_row) return;
    while (m.rows_along > 3 - m.axes && m.labels.side[m.rows_along] < long_row) --m.rows_along;
    if (m.labels.side[m.rows_along] < long_row) {
        m.rows_along = 2;
        return;
    }
    for (array3* each : {&m.labels, &m.values}) {
        std::swap(each->side[2], each->side[m.rows_along]);
        std::swap(each->step[2], each->step[m.rows_along]);
    }
    constexpr std::int64_t cached = 1 << 15;  // cells in all pieces that lie side by side
    m.piece = std::clamp(cached / std::max<std::int64_t>(1, m.labels.lines()), long_row, piece_cells);
}

/// A thread's workspace for one piece.
struct notes {
    std::uint64_t ends[words_for(piece_cells)], beside[4][words_for(piece_cells)];
    found_run runs[piece_cells];
};

/// Sets the bits of cells that show a face towards the lines beside theirs.
template <class T>
beside_words faces_beside(const measuring& m, const piece& p, const line<T>& cells, notes& to) {
    const std::int64_t at[2] = {p.line / m.labels.side[1], p.line % m.labels.side[1]}, count = p.last - p.first;
    beside_words found;
    for (int axis = 3 - m.axes; axis < 2; ++axis)
        for (const std::int64_t by : {-1, 1}) {
            std::uint64_t* const words = to.beside[found.count];
            found.of[found.count++] = words;
            if (at[axis] + by < 0 || at[axis] + by >= m.labels.side[axis])
                std::fill_n(words, words_for(count), ~std::uint64_t{0});
            else find_different(cells, {cells.first + by * m.labels.step[axis], cells.step}, count, words);
        }
    return found;
}

/// Lists the runs of a piece, with cells counted from the piece's first; returns how many there are. A run whose value
/// has no row gets row -1.
template <class T>
std::int64_t find_runs(const measuring& m, const piece& p, bool with_faces, notes& to) {
    const line<T> all = line_of<T>(m.labels, p.line), cells{all.first + p.first * all.step, all.step};
    const std::int64_t last = p.last - p.first - 1;
    to.ends[last / word_bits] = 0;
    find_different(cells, {cells.first + cells.step, cells.step}, last, to.ends);
    to.ends[last / word_bits] |= std::uint64_t{1} << last % word_bits;
    const beside_words beside = with_faces ? faces_beside(m, p, cells, to) : beside_words{};
    const std::int64_t count = list_runs(to.ends, beside, words_for(last + 1), to.runs);
    // A run that the end of the piece cuts off shows no face there.
    if (p.first > 0 && cells[-1] == cells[0]) --to.runs[0].faces;
    if (p.last < m.labels.side[2] && cells[last + 1] == cells[last]) --to.runs[count - 1].faces;
    for (std::int64_t k = 0; k < count; ++k) to.runs[k].row = row_of(cells[to.runs[k].first], m.rows);
    return count;
}

template <int Axes>
void add_shapes(measuring& m, const piece& p, std::span<const found_run> runs, int thread) {
    constexpr std::size_t ahead = 8;  // prefetch distance, in runs
    std::int64_t at[3] = {p.line / m.labels.side[1], p.line % m.labels.side[1], 0};
    auto rows = m.shape.of(thread);
    for (std::size_t k = 0; k < runs.size(); ++k) {
        if (k + ahead < runs.size() && runs[k + ahead].row >= 0) rows.expect(runs[k + ahead].row);
        const found_run& run = runs[k];
        if (run.row < 0) continue;
        at[2] = p.first + run.first;
        rows.add(run.row, [&](shape_row& sums) {
            sums.shape.add_run(at + 3 - Axes, run.end - run.first, m.labels.side + 3 - Axes, Axes, 0);
            sums.faces += run.faces;
        });
    }
}

template <class V>
void add_values_of(measuring& m, const piece& p, std::span<const found_run> runs, const look& what, int thread) {
    const line<V> at = line_of<V>(m.values, p.line);
    const statistics::value_line<V> values{at.first + p.first * at.step, at.step};
    auto ranges = m.range.of(thread);
    auto all_sums = m.sums.of(thread);
    for (const auto& [row, first, end, faces] : runs) {
        if (row < 0) continue;
        if (what.ranges)
            ranges.add(row, [&](value_range& range) { range.add(statistics::range_of(values, first, end)); });
        if (!what.sums) continue;
        fixed_scale scale;
        if constexpr (std::is_floating_point_v<V>)
            scale = fixed_scale::of(statistics::exponent_of<V>(std::as_const(m.range)[row]));
        all_sums.add(row, [&](value_sums& sums) {
            if (m.to.want_squares()) statistics::add_values<V, true>(values, first, end, scale, sums);
            else statistics::add_values<V, false>(values, first, end, scale, sums);
        });
    }
}

template <class V>
void finish(const measuring& m, std::int64_t row) {
    if (m.range.rows() > 0) statistics::put_range<V>(m.to, row, m.range[row]);
    if (m.sums.rows() == 0) return;
    const value_range range = m.range.rows() > 0 ? m.range[row] : value_range{};
    statistics::put_sums<V>(m.to, row, m.shape[row].shape.size, range, m.sums[row]);
}

void finish_shape(const measuring& m, std::int64_t row) {
    statistics::shape_sums<3> shape = m.shape[row].shape;
    const std::int64_t* const side = m.labels.side + 3 - m.axes;
    for (int axis = 0; axis < m.axes && shape.size != 0; ++axis)
        shape.border = shape.border || shape.first[axis] == 0 || shape.end[axis] == side[axis];
    for (std::int64_t* each : {shape.first, shape.end}) std::swap(each[m.axes - 1], each[m.rows_along - 3 + m.axes]);
    std::swap(shape.sum[m.axes - 1], shape.sum[m.rows_along - 3 + m.axes]);
    statistics::put_shape(m.to, row, shape, m.axes);
    if (m.to.faces.has(row)) m.to.faces.put(row, static_cast<std::int64_t>(m.shape[row].faces));
}

void look_through(measuring& m, workers& team, const any_input<host>& labels, const any_input<host>& values,
                  const look& what) {
    const auto find = with_integer(labels.type, []<class T>(T) { return &find_runs<T>; });
    const auto add_shape = m.axes == 3 ? &add_shapes<3> : m.axes == 2 ? &add_shapes<2> : &add_shapes<1>;
    auto add = &add_values_of<std::uint8_t>;
    if (what.ranges || what.sums) with_number(values.type, [&]<class V>(V) { add = &add_values_of<V>; });
    const pieces all(m.labels, m.piece);
    std::vector<std::unique_ptr<notes>> all_notes(static_cast<std::size_t>(team.threads()));
    team.for_each(all.count(), all.block(), 1, [&](std::int64_t begin, std::int64_t stop, int thread) {
        std::unique_ptr<notes>& mine = all_notes[static_cast<std::size_t>(thread)];
        if (mine == nullptr) mine = std::make_unique_for_overwrite<notes>();
        for (std::int64_t k = begin; k < stop; ++k) {
            const piece p = all.across(k);
            const std::int64_t count = find(m, p, what.shapes && m.to.faces.wanted(), *mine);
            const std::span<const found_run> runs(mine->runs, static_cast<std::size_t>(count));
            if (what.shapes) add_shape(m, p, runs, thread);
            if (what.ranges || what.sums) add(m, p, runs, what, thread);
        }
    });
    m.shape.collect(), m.range.collect(), m.sums.collect();
}

}  // namespace

void measure(const host& on, const any_input<host>& labels, const component_tables<host>& tables) {
    measuring m;
    m.labels = array3_of(labels), m.values = array3_of(tables.intensity);
    m.to = columns::of(tables), m.axes = labels.rank, m.rows = m.to.rows();
    if (m.rows == 0) return;
    choose_rows(m);
    const bool floating = tables.intensity.wanted() && tables.intensity.type >= dtype::float16;
    const bool sums = m.to.want_sums(), ranges = m.to.want_range() || (sums && floating), twice = sums && floating;
    workers team(on, pieces(m.labels, m.piece).count() * (twice ? 2 : 1));
    m.shape = row_table<shape_row>(m.rows, team);
    if (ranges) m.range = row_table<value_range>(m.rows, team);
    if (sums) m.sums = row_table<value_sums>(m.rows, team);
    look_through(m, team, labels, tables.intensity, {true, ranges, sums && !twice});
    if (twice) look_through(m, team, labels, tables.intensity, {false, false, true});
    constexpr std::int64_t rows_at_once = 1024;
    team.for_each(m.rows, rows_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t row = first; row < last; ++row) {
            finish_shape(m, row);
            if (ranges || sums) with_number(tables.intensity.type, [&]<class V>(V) { finish<V>(m, row); });
        }
    });
}

}  // namespace nearfield::components
