// Propagation by sweeps on the host: line after line, with a line's cells shared out over threads.
#include <algorithm>
#include <string>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "methods/room.hpp"
#include "plane_sweep/core.hpp"

namespace nearfield::sweeps {
namespace {

/// Cells of a line from which a thread pays off, and the side of a tile for the exchange of axes.
constexpr std::int64_t worth_a_thread = 2048, tile = 32;

template <class V, class Key, bool Planes>
class swept {
public:
    swept(workers& team, const metric<V>& m, const methods::grid& g)
        : team_(team), m_(m), size_(g.size), cells_(g.cells()) {}

    /// Each sweep starts from the result of those before it.
    void in_sequence(methods::buffers& site, methods::stages& report) {
        Key* const now = site.template in<Key>();
        Key* const spare = site.template out<Key>();
        for (int axis = 0; axis < 3; ++axis) {
            if (size_[axis] == 1) continue;
            if (axis == 2) exchange(now, spare, size_[1], size_[2], report);
            for (const bool back : {false, true}) run(axis == 2 ? spare : now, axis, back, report);
            if (axis == 2) exchange(spare, now, size_[2], size_[1], report);
        }
    }

    /// Each sweep starts from the sites alone; then the nearest of their results is selected.
    void independent(methods::buffers& site, methods::stages& report) {
        Key* const answer = site.template out<Key>();
        const host_scratch<Key> one(cells_), turned(size_[2] > 1 ? cells_ : 0);
        const auto start_from = [&](const Key* sites) { copy(sites, one.get()); };
        copy(site.template in<Key>(), answer);
        for (int axis = 0; axis < 3; ++axis) {
            if (size_[axis] == 1) continue;
            if (axis == 2) exchange(site.template in<Key>(), turned.get(), size_[1], size_[2], report);
            for (const bool back : {false, true}) {
                start_from(axis == 2 ? turned.get() : site.template in<Key>());
                run(one.get(), axis, back, report);
                if (axis == 2 && back) exchange_and_merge(one.get(), answer, report);
                else if (axis == 2) exchange_and_merge(one.get(), answer, report);
                else merge(one.get(), answer, report);
            }
        }
        site.exchange();
    }

private:
    void run(Key* cells, int axis, bool back, methods::stages& report) {
        const sweep s = sweep_along(size_, axis, back);
        const std::int64_t in_row = std::clamp<std::int64_t>(worth_a_thread / s.columns, 1, s.rows);
        const std::int64_t blocks = (s.columns + worth_a_thread - 1) / worth_a_thread;
        const auto part = [&](std::int32_t line, std::int64_t first, std::int64_t last) {
            for (std::int64_t item = first; item < last; ++item) {
                const auto begin = static_cast<std::int32_t>(item % blocks * worth_a_thread);
                step(cells, s, line, static_cast<std::int32_t>(item / blocks), begin,
                     static_cast<std::int32_t>(std::min<std::int64_t>(begin + worth_a_thread, s.columns)));
            }
        };
        if (s.line_cells() > worth_a_thread) {
            for (std::int32_t line = 1; line < s.positions; ++line)
                team_.for_each(s.rows * blocks, in_row, 1,
                               [&](std::int64_t first, std::int64_t last, int) { part(line, first, last); });
        } else {
            // Handing a short line to threads costs more than it saves.
            methods::in_order(team_, s.positions - 1, s.line_cells(), [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t line = first + 1; line <= last; ++line)
                    part(static_cast<std::int32_t>(line), 0, s.rows * blocks);
            });
        }
        static constexpr const char* names[3][2] = {
            {"first axis", "first axis, back"}, {"middle axis", "middle axis, back"}, {"last axis", "last axis, back"}};
        report.done(names[axis][back ? 1 : 0], s.positions, 2 * static_cast<std::int64_t>(sizeof(Key)) * cells_);
    }

    /// Sweeps cells [begin, end) of a row of a line.
    void step(Key* cells, const sweep& s, std::int32_t line, std::int32_t row, std::int32_t begin,
              std::int32_t end) const {
        const std::int32_t position = s.position(line), before = s.position(line - 1);
        const std::int32_t low = Planes ? std::max(row - 1, 0) : row,
                           high = Planes ? std::min(row + 1, s.rows - 1) : row;
        for (std::int32_t column = begin; column < end; ++column) {
            Key& own = cells[s.cell(position, row, column)];
            nearest<V, Key, Planes> best(m_, s.at(position, row, column), own);
            const std::int32_t left = std::max(column - 1, 0), right = std::min(column + 1, s.columns - 1);
            for (std::int32_t r = low; r <= high; ++r)
                for (std::int32_t c = left; c <= right; ++c) best.ask(cells[s.cell(before, r, c)]);
            own = best.site();
        }
    }

    template <class Body>
    void for_slab_tiles(std::int64_t rows, std::int64_t columns, const Body& body) {
        const std::int64_t across = (columns + tile - 1) / tile, down = (rows + tile - 1) / tile;
        team_.for_each(size_[0] * down, 1, 0, [&](std::int64_t item, std::int64_t, int) {
            const std::int64_t first = item / down * rows * columns, row = item % down * tile;
            for (std::int64_t t = 0; t < across; ++t)
                for (std::int64_t y = row; y < std::min(row + tile, rows); ++y)
                    for (std::int64_t x = t * tile; x < std::min((t + 1) * tile, columns); ++x)
                        body(first + y * columns + x, first + x * rows + y);
        });
    }

    void exchange(const Key* from, Key* to, std::int64_t rows, std::int64_t columns, methods::stages& report) {
        for_slab_tiles(rows, columns, [&](std::int64_t in, std::int64_t out) { to[out] = from[in]; });
        report.done("exchange axes", 1, 2 * static_cast<std::int64_t>(sizeof(Key)) * cells_);
    }

    void copy(const Key* from, Key* to) {
        team_.for_each(cells_, worth_a_thread * 8, 0, [&](std::int64_t first, std::int64_t last, int) {
            std::copy(from + first, from + last, to + first);
        });
    }

    [[nodiscard]] place place_of(std::int64_t cell) const {
        return {static_cast<std::int32_t>(cell / (size_[1] * size_[2])),
                static_cast<std::int32_t>(cell / size_[2] % size_[1]), static_cast<std::int32_t>(cell % size_[2])};
    }
    void merge_cell(Key found, std::int64_t cell, Key* answer) const {
        nearest<V, Key, Planes> best(m_, place_of(cell), answer[cell]);
        best.ask(found);
        answer[cell] = best.site();
    }
    void merge(const Key* found, Key* answer, methods::stages& report) {
        team_.for_each(cells_, worth_a_thread, 0, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t cell = first; cell < last; ++cell) merge_cell(found[cell], cell, answer);
        });
        report.done("merge", 1, 3 * static_cast<std::int64_t>(sizeof(Key)) * cells_);
    }
    void exchange_and_merge(const Key* found, Key* answer, methods::stages& report) {
        for_slab_tiles(size_[2], size_[1],
                       [&](std::int64_t in, std::int64_t out) { merge_cell(found[in], out, answer); });
        report.done("merge", 1, 3 * static_cast<std::int64_t>(sizeof(Key)) * cells_);
    }

    workers& team_;
    metric<V> m_;
    const std::int64_t* size_;
    std::int64_t cells_;
};

/// Number of blocks that all sweeps hand out, for the progress callback.
std::int64_t items(const methods::grid& g) {
    std::int64_t sum = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const sweep s = sweep_along(g.size, axis, false);
        if (s.line_cells() > worth_a_thread)
            sum += std::int64_t{2} * (s.positions - 1) * s.rows * ((s.columns + worth_a_thread - 1) / worth_a_thread);
    }
    return sum;
}

}  // namespace
}  // namespace nearfield::sweeps

namespace nearfield::methods {

void solve(const host& on, const grid& g, const plane_sweep& how, buffers& site, stages& report) {
    workers team(on, sweeps::items(g));
    with_types(g, [&]<class V, class Key>(const metric<V>& m, Key) {
        const auto go = [&](auto engine) {
            if (how.independent) engine.independent(site, report);
            else engine.in_sequence(site, report);
        };
        if (g.size[0] > 1) go(sweeps::swept<V, Key, true>(team, m, g));
        else go(sweeps::swept<V, Key, false>(team, m, g));
    });
}

}  // namespace nearfield::methods
