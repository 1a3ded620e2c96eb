// Label lists on the host: counts, then entries. The image is cut into a few parts of consecutive cells. Each counts
// its entries of every label, so that it knows where they go and every list comes out in raster order.
#include <fmt/format.h>

#include <utility>

#include "base/check.hpp"
#include "base/scratch.hpp"
#include "components/engine.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {
namespace {

/// Distributes consecutive pieces over a few parts.
struct parts {
    pieces all;
    std::int64_t count;

    /// One part a thread, but no more than keep the counts at one int64 a cell or less.
    parts(const array3& labels, std::int64_t rows, int threads)
        : all(labels), count(std::clamp<std::int64_t>(labels.cells() / std::max<std::int64_t>(1, rows), 1, threads)) {}
    [[nodiscard]] std::int64_t first(std::int64_t part) const {
        // The unit is pieces. The product fits: there are fewer than 2^40 pieces and far fewer parts.
        return all.count() * part / count;
    }
};

/// Calls body(row, first cell, cells) for the runs of a part; lists of cells may get a run in several pieces.
template <class T, class Body>
void for_each_entry(workers& team, const array3& labels, const parts& p, std::int64_t part, std::int64_t rows,
                    list_of what, const Body& body) {
    const std::int64_t end = p.first(part + 1);
    for (std::int64_t k = p.first(part), next = k; k < end; k = next) {
        next = std::min(k + p.all.block(), end);
        for (std::int64_t i = k; i < next; ++i) {
            const piece here = p.all[i];
            const line<T> cells = line_of<T>(labels, here.line);
            const auto found = [&](T value, std::int64_t first, std::int64_t last) {
                const std::int64_t row = row_of(value, rows);
                if (row >= 0) body(row, here.line * labels.side[2] + first, last - first);
            };
            if (what == list_of::runs) for_each_whole_run(cells, here, labels.side[2], found);
            else for_each_run(cells, here, found);
        }
        team.go_on(next - k);
    }
}

/// Counts the entries of every part: [part * rows + row].
template <class T>
host_scratch<std::int64_t> count_parts(workers& team, const array3& labels, const parts& p, std::int64_t rows,
                                       list_of what) {
    host_scratch<std::int64_t> counts(p.count * rows);
    team.for_each(p.count, 1, 0, [&](std::int64_t part, std::int64_t, int) {
        std::int64_t* const mine = counts.get() + part * rows;
        in_steps(team, rows, [&](std::int64_t first, std::int64_t last) { std::fill(mine + first, mine + last, 0); });
        for_each_entry<T>(team, labels, p, part, rows, what, [&](std::int64_t row, std::int64_t, std::int64_t cells) {
            mine[row] += what == list_of::cells ? cells : 1;
        });
    });
    return counts;
}

struct entries_to {
    void* data;
    std::int64_t step, inner, count;
};

/// Writes the entries for which there is room: all of them, unless the labels changed after they were counted.
template <class Index>
void put(const entries_to& to, std::int64_t at, std::int64_t cell, std::int64_t cells, list_of what) {
    if (at < 0 || at >= to.count) return;
    Index* const data = static_cast<Index*>(to.data) + at * to.step;
    if (what == list_of::runs) {
        data[0] = static_cast<Index>(cell), data[to.inner] = static_cast<Index>(cells);
        return;
    }
    cells = std::min(cells, to.count - at);
    for (std::int64_t i = 0; i < cells; ++i) data[i * to.step] = static_cast<Index>(cell + i);
}

[[noreturn]] void fail_offsets() {
    fail("offsets are not those of these labels; give what label_list_offsets made of them, for the same kind of list");
}

/// Replaces each part's counts by the place of its first entry of each row.
void turn_into_places(workers& team, std::int64_t* counts, const parts& p, std::int64_t rows,
                      const any_input<host>& offsets) {
    const auto* const at = static_cast<const std::int64_t*>(offsets.data);
    const std::int64_t step = offsets.stride[0];
    constexpr std::int64_t rows_at_once = 4096;
    team.for_each(rows, rows_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t row = first; row < last; ++row) {
            std::int64_t place = at[row * step];
            for (std::int64_t part = 0; part < p.count; ++part)
                place += std::exchange(counts[part * rows + row], place);
            if (place != at[(row + 1) * step]) fail_offsets();
        }
    });
}

}  // namespace

void count_lists(const host& on, const any_input<host>& labels, const any_output<host>& offsets, list_of what) {
    const array3 a = array3_of(labels);
    const std::int64_t rows = offsets.shape[0] - 1, step = offsets.stride[0];
    auto* const to = static_cast<std::int64_t*>(offsets.data);
    const parts p(a, rows, thread_count(on));
    workers team(on, p.all.count());
    const auto counts = with_integer(labels.type, [&]<class T>(T) { return count_parts<T>(team, a, p, rows, what); });
    std::int64_t sum = 0;
    in_steps(team, rows, [&](std::int64_t row, std::int64_t last) {
        for (; row < last; ++row) {
            to[row * step] = sum;
            for (std::int64_t part = 0; part < p.count; ++part) sum += counts.get()[part * rows + row];
        }
    });
    to[rows * step] = sum;
}

void fill_lists(const host& on, const any_input<host>& labels, const any_input<host>& offsets,
                const any_output<host>& entries, list_of what) {
    const array3 a = array3_of(labels);
    const std::int64_t rows = offsets.shape[0] - 1;
    const auto* const at = static_cast<const std::int64_t*>(offsets.data);
    if (at[0] != 0) fail_offsets();
    if (const std::int64_t all = at[rows * offsets.stride[0]]; entries.shape[0] < all)
        fail(fmt::format("entries has room for {} entries; offsets end at {}", entries.shape[0], all));
    const parts p(a, rows, thread_count(on));
    workers team(on, 2 * p.all.count());
    const entries_to to{entries.data, entries.stride[0], entries.stride[1], entries.shape[0]};
    with_integer(labels.type, [&]<class T>(T) {
        const auto places = count_parts<T>(team, a, p, rows, what);
        turn_into_places(team, places.get(), p, rows, offsets);
        team.for_each(p.count, 1, 0, [&](std::int64_t part, std::int64_t, int) {
            std::int64_t* const mine = places.get() + part * rows;
            for_each_entry<T>(team, a, p, part, rows, what,
                              [&](std::int64_t row, std::int64_t cell, std::int64_t cells) {
                                  if (entries.type == dtype::int32) put<std::int32_t>(to, mine[row], cell, cells, what);
                                  else put<std::int64_t>(to, mine[row], cell, cells, what);
                                  mine[row] += what == list_of::cells ? cells : 1;
                              });
        });
    });
}

}  // namespace nearfield::components
