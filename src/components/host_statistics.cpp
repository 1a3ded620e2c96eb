// component_statistics() on the host: runs in closed form, their values in a loop, rows finished at the end.
#include <utility>

#include "components/engine.hpp"
#include "components/host_rows.hpp"
#include "components/host_runs.hpp"
#include "label/statistics_rows.hpp"
#include "label/statistics_values.hpp"

namespace nearfield::components {
namespace {

using statistics::columns;
using statistics::fixed_scale;
using statistics::value_range;
using statistics::value_sums;

/// What one look at the image is for.
struct look {
    bool shapes = false, ranges = false, sums = false;
};

/// A run of a row that is measured.
struct found_run {
    std::int64_t row, first, end;
    std::uint64_t faces;
};

struct measuring {
    array3 labels, values;
    columns to;
    int axes = 0;
    std::int64_t rows = 0;
    row_table<shape_row> shape;
    row_table<range_row> range;
    row_table<sums_row> sums;
};

/// Faces that a run shows: at its two ends, and towards the lines beside it along the other axes.
template <class T>
std::uint64_t faces_of(const array3& a, int axes, std::int64_t number, std::int64_t first, std::int64_t end) {
    const line<T> here = line_of<T>(a, number);
    const T value = here[first];
    std::uint64_t faces = (first == 0 || here[first - 1] != value) + (end == a.side[2] || here[end] != value);
    const std::int64_t at[2] = {number / a.side[1], number % a.side[1]};
    for (int axis = 3 - axes; axis < 2; ++axis)
        for (const std::int64_t by : {-1, 1}) {
            if (at[axis] + by < 0 || at[axis] + by >= a.side[axis]) {
                faces += static_cast<std::uint64_t>(end - first);
                continue;
            }
            const line<T> beside{here.first + by * a.step[axis], here.step};
            std::uint64_t others = 0;
            for (std::int64_t x = first; x < end; ++x) others += beside[x] != value ? 1 : 0;
            faces += others;
        }
    return faces;
}

template <class T>
void find_runs(const measuring& m, const piece& p, bool with_faces, std::vector<found_run>& runs) {
    runs.clear();
    for_each_run(line_of<T>(m.labels, p.line), p, [&](T value, std::int64_t first, std::int64_t end) {
        const std::int64_t row = row_of(value, m.rows);
        if (row >= 0)
            runs.push_back({row, first, end, with_faces ? faces_of<T>(m.labels, m.axes, p.line, first, end) : 0});
    });
}

void add_shapes(measuring& m, const piece& p, const std::vector<found_run>& runs, int thread) {
    std::int64_t at[3] = {p.line / m.labels.side[1], p.line % m.labels.side[1], 0};
    const int before = 3 - m.axes;
    for (const found_run& run : runs) {
        at[2] = run.first;
        shape_row& sums = m.shape.at(run.row, thread);
        sums.shape.add_run(at + before, run.end - run.first, m.labels.side + before, m.axes, ~0u);
        sums.faces += run.faces;
    }
}

template <class V>
void add_values_of(measuring& m, const piece& p, const std::vector<found_run>& runs, const look& what, int thread) {
    const line<V> at = line_of<V>(m.values, p.line);
    const statistics::value_line<V> values{at.first, at.step};
    for (const auto& [row, first, end, faces] : runs) {
        if (what.ranges) m.range.at(row, thread).range.add(statistics::range_of(values, first, end));
        if (!what.sums) continue;
        fixed_scale scale;
        if constexpr (std::is_floating_point_v<V>)
            scale = fixed_scale::of(statistics::exponent_of<V>(std::as_const(m.range)[row].range));
        value_sums& sums = m.sums.at(row, thread).sums;
        if (m.to.want_squares()) statistics::add_values<V, true>(values, first, end, scale, sums);
        else statistics::add_values<V, false>(values, first, end, scale, sums);
    }
}

template <class V>
void finish(const measuring& m, std::int64_t row) {
    if (m.range.rows() > 0) statistics::put_range<V>(m.to, row, m.range[row].range);
    if (m.sums.rows() == 0) return;
    const value_range range = m.range.rows() > 0 ? m.range[row].range : value_range{};
    statistics::put_sums<V>(m.to, row, m.shape[row].shape.size, range, m.sums[row].sums);
}

/// body(V{}) with the intensity's type; a bool is the byte it is.
template <class Body>
void with_value(dtype type, const Body& body) {
    if (type == dtype::float32) body(float{});
    else if (type == dtype::float64) body(double{});
    else with_integer(type, body);
}

void look_through(measuring& m, workers& team, const any_input<host>& labels, const any_input<host>& values,
                  const look& what) {
    const auto find = with_integer(labels.type, []<class T>(T) { return &find_runs<T>; });
    auto add = &add_values_of<std::uint8_t>;
    if (what.ranges || what.sums) with_value(values.type, [&]<class V>(V) { add = &add_values_of<V>; });
    const pieces all(m.labels);
    std::vector<std::vector<found_run>> runs(static_cast<std::size_t>(team.threads()));
    team.for_each(all.count(), all.block(), 1, [&](std::int64_t begin, std::int64_t stop, int thread) {
        std::vector<found_run>& mine = runs[static_cast<std::size_t>(thread)];
        for (std::int64_t k = begin; k < stop; ++k) {
            const piece p = all[k];
            find(m, p, what.shapes && m.to.faces.wanted(), mine);
            if (what.shapes) add_shapes(m, p, mine, thread);
            if (what.ranges || what.sums) add(m, p, mine, what, thread);
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
    const bool floating = tables.intensity.wanted() && tables.intensity.type >= dtype::float16;
    const bool sums = m.to.want_sums(), ranges = m.to.want_range() || (sums && floating), twice = sums && floating;
    workers team(on, pieces(m.labels).count() * (twice ? 2 : 1));
    m.shape = row_table<shape_row>(m.rows, team);
    if (ranges) m.range = row_table<range_row>(m.rows, team);
    if (sums) m.sums = row_table<sums_row>(m.rows, team);
    look_through(m, team, labels, tables.intensity, {true, ranges, sums && !twice});
    if (twice) look_through(m, team, labels, tables.intensity, {false, false, true});
    constexpr std::int64_t rows_at_once = 1024;
    team.for_each(m.rows, rows_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t row = first; row < last; ++row) {
            statistics::put_shape(m.to, row, m.shape[row].shape, m.axes);
            if (m.to.faces.has(row)) m.to.faces.put(row, static_cast<std::int64_t>(m.shape[row].faces));
            if (ranges || sums) with_value(tables.intensity.type, [&]<class V>(V) { finish<V>(m, row); });
        }
    });
}

}  // namespace nearfield::components
