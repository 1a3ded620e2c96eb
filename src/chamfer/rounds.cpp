// The method `chamfer` on the host. Raster passes run in the room's own engine if steps only reach adjacent cells.
// Iterated rounds gather in all cells at once until nothing changes.
#include <algorithm>
#include <atomic>
#include <vector>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "chamfer/steps.hpp"
#include "methods/room.hpp"
#include "nearfield/chamfer.hpp"

namespace nearfield::methods {
namespace {

constexpr std::int64_t cells_a_task = 1 << 14;

/// Converts cell numbers to coordinates, and finds the cheapest offer to a cell.
struct neighbourhood {
    const grid& g;
    step_list steps;

    [[nodiscard]] state cheapest(const state* held, std::int64_t cell) const {
        const std::int64_t nx = g.size[2], ny = g.size[1], x = cell % nx, y = cell / nx % ny, z = cell / nx / ny;
        state best = held[cell];
        for (int k = 0; k < steps.count; ++k) {
            const step& to = steps.at[k];
            const std::int64_t oz = z + to.z, oy = y + to.y, ox = x + to.x;
            if (oz < 0 || oz >= g.size[0] || oy < 0 || oy >= ny || ox < 0 || ox >= nx) continue;
            best = std::min(best, held[(oz * ny + oy) * nx + ox] + state_of(to.price, 0));
        }
        return best;
    }
};

/// Alternates forward and backward passes until one changes nothing; returns the number of passes.
std::int64_t raster(workers& crew, const neighbourhood& round, state* held) {
    const std::int64_t cells = round.g.cells();
    std::int64_t passes = 0;
    // The first two passes always run, because each sees only offers from its own side.
    for (bool changed = true; changed || passes < 2; ++passes) {
        changed = false;
        for (std::int64_t start = 0; start < cells; start += cells_a_task)
            crew.for_each(1, 1, std::min(cells_a_task, cells - start), [&](std::int64_t, std::int64_t, int) {
                for (std::int64_t k = start; k < std::min(cells, start + cells_a_task); ++k) {
                    const std::int64_t cell = passes % 2 == 0 ? k : cells - 1 - k;
                    const state best = round.cheapest(held, cell);
                    changed = changed || best != held[cell];
                    held[cell] = best;
                }
            });
    }
    return passes;
}

/// Updates all cells at once until nothing changes; leaves the result in `held`.
std::int64_t gather(workers& crew, const neighbourhood& round, state*& held, state*& next) {
    std::int64_t rounds = 0;
    for (bool changed = true; changed; ++rounds) {
        std::atomic<bool> any{false};
        crew.for_each(round.g.cells(), cells_a_task, 1, [&](std::int64_t first, std::int64_t last, int) {
            bool mine = false;
            for (std::int64_t cell = first; cell < last; ++cell) {
                next[cell] = round.cheapest(held, cell);
                mine = mine || next[cell] != held[cell];
            }
            if (mine) any.store(true, std::memory_order_relaxed);
        });
        std::swap(held, next);
        changed = any.load();
    }
    return rounds;
}

template <class Key>
void by_states(const host& on, const grid& g, const chamfer_method& how, Key* site, std::int32_t* price,
               stages& report) {
    const std::int64_t cells = g.cells();
    const host_scratch<state> memory(how.iterated ? 2 * cells : cells);
    state *held = memory.get(), *next = memory.get() + (how.iterated ? cells : 0);
    // The total for progress is a guess: three passes, or as many rounds as half the longest side.
    workers crew(on, cells * (how.iterated ? *std::max_element(g.size, g.size + 3) / 2 : 3));
    in_pieces(crew, cells, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t cell = first; cell < last; ++cell) {
            const std::int64_t row = cell / g.size[2];
            held[cell] = site[cell] < 0
                             ? unreached
                             : state_of(0, number_of(g.size, row / g.size[1], row % g.size[1], cell % g.size[2]));
        }
    });
    const neighbourhood round{g, steps_of(how, g.rank)};
    const std::int64_t rounds = how.iterated ? gather(crew, round, held, next) : raster(crew, round, held);
    in_pieces(crew, cells, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t cell = first; cell < last; ++cell) {
            const bool reached = held[cell] < unreached;
            site[cell] = reached ? key_of<Key>(g.keys, g.size, static_cast<std::uint32_t>(held[cell])) : none<Key>;
            price[cell] = reached ? static_cast<std::int32_t>(held[cell] >> 32) : -1;
        }
    });
    report.done(how.iterated ? "rounds" : "passes", rounds,
                rounds * cells * 2 * static_cast<std::int64_t>(sizeof(state)));
}

/// Runs the engine on a copy of the image, 1 byte a cell. The spare array of sites receives its indices.
template <class Key>
void by_engine(const host& on, const grid& g, const chamfer_method& how, buffers& site, std::int32_t* price,
               stages& report) {
    const std::int64_t cells = g.cells();
    Key* const keys = site.in<Key>();
    auto* const index = static_cast<std::int32_t*>(site.spare);
    const host_scratch<std::uint8_t> image(cells);
    workers crew(on, 1);
    in_pieces(crew, cells, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t cell = first; cell < last; ++cell) image.get()[cell] = keys[cell] >= 0 ? 1 : 0;
    });
    const weight_list by_changes = weights_of(how);
    std::vector<std::int32_t> weights = step_weights(g.rank, {});
    for (std::size_t step = 0; step < weights.size(); ++step) {
        std::size_t changed = 0, rest = step;
        for (int axis = 0; axis < g.rank; ++axis, rest /= 3) changed += rest % 3 != 1;
        if (changed > 0 && changed <= by_changes.count) weights[step] = by_changes.at[changed - 1];
    }
    const std::vector<std::int64_t> shape(g.size + 3 - g.rank, g.size + 3);
    chamfer_fields<host> out;
    out.distance = any_output<host>::contiguous(price, dtype::int32, shape);
    out.index = any_output<host>::contiguous(index, dtype::int32, shape);
    chamfer_transform(on, any_input<host>::contiguous(image.get(), dtype::uint8, shape), out,
                      {.weights = weights, .sites = sites::nonzero});
    // The engine has reported progress up to 1.
    const host after{on.threads, on.progress ? [&](double) { return on.progress(1); } : decltype(on.progress){}};
    workers unpacking(after, 1);
    in_pieces(unpacking, cells, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t cell = first; cell < last; ++cell) {
            const std::int64_t at = index[cell], row = at / g.size[2];
            keys[cell] = at < 0 ? none<Key> : g.keys.pack<Key>(row / g.size[1], row % g.size[1], at % g.size[2]);
            if (at < 0) price[cell] = -1;
        }
    });
    report.done("passes", 2, 4 * cells * static_cast<std::int64_t>(sizeof(state)));
}

}  // namespace

void solve(const host& on, const grid& g, const chamfer_method& how, buffers& site, std::int32_t* price,
           stages& report) {
    with_types(g, [&]<class V, class Key>(const metric<V>&, Key) {
        if (how.iterated || has_knights(how, g.rank)) by_states(on, g, how, site.in<Key>(), price, report);
        else by_engine<Key>(on, g, how, site, price, report);
    });
}

}  // namespace nearfield::methods
