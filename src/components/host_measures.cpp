// Sums behind shape_measures() on the host: bit words mark where neighbours differ, and runs count their bits.
#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "base/share.hpp"
#include "components/engine.hpp"
#include "components/host_rows.hpp"
#include "components/host_words.hpp"
#include "components/measures.hpp"

namespace nearfield::components {
namespace {

/// Upper limit of the cells of a piece, so that its workspace stays in the thread's caches.
constexpr std::int64_t piece_cells = 4096, piece_words = words_for(piece_cells);

/// A thread's workspace for one piece.
template <int Axes>
struct notes {
    std::uint64_t other[directions<Axes>][piece_words], found[euler_patterns<Axes>::count][piece_words];
    std::uint64_t after[2][piece_words];  ///< bits of cells whose next cell along x or y differs
    found_run runs[piece_cells];
};

/// Sets bit x if the cell `by` away from cell x of the piece has another value or lies outside the image.
template <class T>
void find_other(const array3& labels, const piece& p, const int (&by)[3], std::uint64_t* words) {
    const std::int64_t plane = p.line / labels.side[1] + by[0], row = p.line % labels.side[1] + by[1];
    const std::int64_t cells = p.last - p.first, count = words_for(cells);
    if (plane < 0 || plane >= labels.side[0] || row < 0 || row >= labels.side[1]) {
        std::fill_n(words, count, ~std::uint64_t{0});
        return;
    }
    const line<T> here = line_of<T>(labels, p.line), there = line_of<T>(labels, plane * labels.side[1] + row);
    const bool none_before = p.first + by[2]<0, none_after = p.last + by[2]> labels.side[2];
    const std::int64_t first = p.first + (none_before ? 1 : 0), last = p.last - (none_after ? 1 : 0);
    std::fill_n(words, count, 0);
    if (first < last)
        find_different(line<T>{here.first + first * here.step, here.step},
                       line<T>{there.first + (first + by[2]) * there.step, there.step}, last - first, words);
    std::uint64_t carry = 1;
    for (std::int64_t w = 0; none_before && w < count; ++w) {
        const std::uint64_t next = words[w] >> (word_bits - 1);
        words[w] = words[w] << 1 | carry, carry = next;
    }
    if (none_after) words[(cells - 1) / word_bits] |= std::uint64_t{1} << (cells - 1) % word_bits;
}

std::uint64_t bits_in(const std::uint64_t* words, std::int64_t first, std::int64_t end) {
    std::uint64_t sum = 0;
    for (std::int64_t w = first / word_bits; w * word_bits < end; ++w) {
        std::uint64_t word = words[w];
        if (w * word_bits < first) word &= ~std::uint64_t{0} << first % word_bits;
        if ((w + 1) * word_bits > end) word &= ~(~std::uint64_t{0} << end % word_bits);
        sum += static_cast<std::uint64_t>(std::popcount(word));
    }
    return sum;
}

/// Finds the neighbours, patterns and runs of a piece; returns the number of runs.
template <int Axes, class T>
std::int64_t look_at(const array3& labels, const piece& p, std::int64_t rows, notes<Axes>& to) {
    constexpr steps3 steps = forward_steps(Axes, Axes);
    const std::int64_t cells = p.last - p.first, words = words_for(cells);
    for (int k = 0; k < directions<Axes>; ++k) {
        const int* const by = steps.all[k].by;
        find_other<T>(labels, p, {-by[0], -by[1], -by[2]}, to.other[k]);
    }
    find_other<T>(labels, p, {0, 0, 1}, to.after[0]);
    if (Axes == 2) find_other<T>(labels, p, {0, 1, 0}, to.after[1]);
    for (std::int64_t w = 0; w < words; ++w) {
        std::uint64_t other[directions<Axes>], found[euler_patterns<Axes>::count];
        for (int k = 0; k < directions<Axes>; ++k) other[k] = to.other[k][w];
        euler_patterns<Axes>::find(other, found);
        for (int k = 0; k < euler_patterns<Axes>::count; ++k) to.found[k][w] = found[k];
    }
    std::uint64_t ends[piece_words];
    std::copy_n(to.after[0], words, ends);
    ends[words - 1] |= std::uint64_t{1} << (cells - 1) % word_bits;
    const std::int64_t count = list_runs(ends, {}, words, to.runs);
    const line<T> line = line_of<T>(labels, p.line);
    for (std::int64_t k = 0; k < count; ++k) to.runs[k].row = row_of(line[p.first + to.runs[k].first], rows);
    return count;
}

/// Counts a run's cells at the border of their label.
template <class T>
void count_border(const array3& labels, const piece& p, const found_run& run, const notes<2>& of,
                  std::uint64_t (&kinds)[border_kinds]) {
    const T* const all = static_cast<const T*>(labels.data);
    const std::int64_t y = p.line;
    for (std::int64_t w = run.first / word_bits; w * word_bits < run.end; ++w) {
        std::uint64_t word = of.other[back_x][w] | of.other[back_y][w] | of.after[0][w] | of.after[1][w];
        for (; word != 0; word &= word - 1) {
            const std::int64_t at = w * word_bits + std::countr_zero(word), x = p.first + at;
            if (at < run.first || at >= run.end) continue;
            const T value = all[y * labels.step[1] + x * labels.step[2]];
            const border_kind kind = border_kind_of([&](int dy, int dx) {
                const bool inside = y + dy >= 0 && y + dy < labels.side[1] && x + dx >= 0 && x + dx < labels.side[2];
                return inside && all[(y + dy) * labels.step[1] + (x + dx) * labels.step[2]] == value;
            });
            if (kind != no_border) ++kinds[kind];
        }
    }
}

template <int Axes, class T>
void add_runs(const array3& labels, const piece& p, std::span<const found_run> runs, const notes<Axes>& of,
              typename row_table<measure_sums<Axes>>::adder rows) {
    using patterns = euler_patterns<Axes>;
    std::int64_t at[3] = {p.line / labels.side[1], p.line % labels.side[1], 0};
    for (const found_run& run : runs) {
        if (run.row < 0) continue;
        measure_sums<Axes> sums;
        at[2] = p.first + run.first;
        sums.add_places(at + 3 - Axes, run.end - run.first);
        for (int k = 0; k < directions<Axes>; ++k) sums.other[k] = bits_in(of.other[k], run.first, run.end);
        for (int k = 0; k < patterns::count; ++k)
            (k < patterns::closed ? sums.closed : sums.open) +=
                patterns::sign(k) * static_cast<std::int64_t>(bits_in(of.found[k], run.first, run.end));
        if constexpr (Axes == 2) count_border<T>(labels, p, run, of, sums.border);
        rows.add(run.row, [&](measure_sums<Axes>& to) { to.add(sums); });
    }
}

}  // namespace

template <int Axes>
host_scratch<measure_sums<Axes>> measure_sums_of(const host& on, const any_input<host>& labels, std::int64_t rows) {
    const array3 in = array3_of(labels);
    const pieces all(in, piece_cells);
    workers team(on, all.count());
    row_table<measure_sums<Axes>> table(rows, team);
    std::vector<std::unique_ptr<notes<Axes>>> all_notes(static_cast<std::size_t>(team.threads()));
    with_integer(labels.type, [&]<class T>(T) {
        team.for_each(all.count(), all.block(), 1, [&](std::int64_t begin, std::int64_t stop, int thread) {
            std::unique_ptr<notes<Axes>>& mine = all_notes[static_cast<std::size_t>(thread)];
            if (mine == nullptr) mine = std::make_unique_for_overwrite<notes<Axes>>();
            for (std::int64_t k = begin; k < stop; ++k) {
                const auto count = static_cast<std::size_t>(look_at<Axes, T>(in, all[k], rows, *mine));
                add_runs<Axes, T>(in, all[k], {mine->runs, count}, *mine, table.of(thread));
            }
        });
    });
    table.collect();
    host_scratch<measure_sums<Axes>> sums(rows);
    for (std::int64_t row = 0; row < rows; ++row) std::construct_at(sums.get() + row, table[row]);
    return sums;
}
template host_scratch<measure_sums<2>> measure_sums_of(const host&, const any_input<host>&, std::int64_t);
template host_scratch<measure_sums<3>> measure_sums_of(const host&, const any_input<host>&, std::int64_t);

outlines outlines_of(const host& on, const any_input<host>& labels, std::int64_t rows) {
    const auto array = [](const host_scratch<std::int64_t>& memory, std::initializer_list<std::int64_t> shape) {
        return any_output<host>::contiguous(memory.get(), dtype::int64, shape);
    };
    outlines made;
    made.box = host_scratch<std::int64_t>(rows * 2 * labels.rank);
    component_tables<host> tables;
    tables.box = array(made.box, {rows, 2, labels.rank});
    measure(part_of(on, 0, 0.4), labels, tables);
    if (labels.rank != 2) return made;
    made.offset = host_scratch<std::int64_t>(rows + 1);
    count_lists(part_of(on, 0.4, 0.3), labels, array(made.offset, {rows + 1}), list_of::runs);
    const std::int64_t runs = made.offset.get()[rows];
    made.run = host_scratch<std::int64_t>(2 * runs);
    std::fill_n(made.run.get(), 2 * runs, 0);
    fill_lists(part_of(on, 0.7, 0.3), labels, array(made.offset, {rows + 1}), array(made.run, {runs, 2}),
               list_of::runs);
    return made;
}

}  // namespace nearfield::components
