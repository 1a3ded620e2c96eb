// Jump flooding on the host: a round loops over rows, and for each row over the neighbouring rows that offer sites.
#include "jump_flood/core.hpp"

#include <string>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "methods/room.hpp"

namespace nearfield::methods {
namespace {

constexpr std::int64_t cells_a_task = 1 << 14;

/// The arrays of a cell's first and second site; the second is null if a cell has one site.
template <class Key>
struct site_arrays {
    Key* first = nullptr;
    Key* second = nullptr;
};

template <class V, class Key, bool Two>
class rounds {
    using kept = std::conditional_t<Two, two_nearest<V, Key>, nearest<V, Key>>;

public:
    rounds(const host& on, const grid& g, const jump_flood& how, std::int64_t count)
        : g_(g), m_(metric_of<V>(g)), how_(how), crew_(on, count * g.cells()) {}

    /// Lists all sites, from which cells without a site draw.
    void note_sites(const Key* site) {
        in_order(crew_, g_.cells(), 1, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t cell = first; cell < last; ++cell)
                if (site[cell] >= 0) table_.push_back(site[cell]);
        });
    }
    void clear(Key* site) {
        in_pieces(crew_, g_.cells(),
                  [&](std::int64_t first, std::int64_t last) { std::fill(site + first, site + last, none<Key>); });
    }

    void run(std::int64_t round, std::int64_t step, const site_arrays<Key>& from, const site_arrays<Key>& to) {
        const std::int64_t nx = g_.size[2];
        crew_.for_each(g_.size[0] * g_.size[1], std::max<std::int64_t>(1, cells_a_task / nx), nx,
                       [&](std::int64_t first, std::int64_t last, int) {
                           std::vector<kept> best(static_cast<std::size_t>(nx));
                           for (std::int64_t row = first; row < last; ++row) {
                               gather(row, step, from, best.data());
                               write(row, round, best.data(), to);
                           }
                       });
    }

private:
    void gather(std::int64_t row, std::int64_t step, const site_arrays<Key>& from, kept* best) const {
        const std::int64_t nz = g_.size[0], ny = g_.size[1], nx = g_.size[2], z = row / ny, y = row % ny;
        std::fill_n(best, nx, kept{});
        for (std::int64_t dz = -step; dz <= step; dz += step)
            for (std::int64_t dy = -step; dy <= step; dy += step) {
                if (z + dz < 0 || z + dz >= nz || y + dy < 0 || y + dy >= ny) continue;
                const std::int64_t there = ((z + dz) * ny + y + dy) * nx;
                for (std::int64_t dx = -step; dx <= step; dx += step) {
                    take(row, from.first + there, dx, best);
                    if constexpr (Two) take(row, from.second + there, dx, best);
                }
            }
    }

    void take(std::int64_t row, const Key* there, std::int64_t dx, kept* best) const {
        const std::int64_t nx = g_.size[2], first = std::max<std::int64_t>(0, -dx), last = std::min(nx, nx - dx);
        const auto z = static_cast<std::int32_t>(row / g_.size[1]), y = static_cast<std::int32_t>(row % g_.size[1]);
        for (std::int64_t x = first; x < last; ++x) {
            const Key key = there[x + dx];
            const V d = m_.between(key, z, y, static_cast<std::int32_t>(x));
            best[x].offer(key < 0 ? no_site<V>() : d, key);
        }
    }

    void write(std::int64_t row, std::int64_t round, const kept* best, const site_arrays<Key>& to) const {
        const std::int64_t nx = g_.size[2], start = row * nx;
        for (std::int64_t x = 0; x < nx; ++x) {
            if constexpr (Two) to.first[start + x] = best[x].first.site, to.second[start + x] = best[x].second.site;
            else to.first[start + x] = best[x].site;
        }
        if (table_.empty()) return;
        for (std::int64_t cell = start; cell < start + nx; ++cell)
            if (to.first[cell] < 0)
                to.first[cell] = table_[static_cast<std::size_t>(drawn(how_.seed, round, cell, std::ssize(table_)))];
    }

    const grid& g_;
    const metric<V> m_;
    const jump_flood& how_;
    workers crew_;
    std::vector<Key> table_;
};

template <class V, class Key, bool Two>
void run(const host& on, const grid& g, const jump_flood& how, buffers& site, stages& report) {
    const std::vector<std::int64_t> steps = steps_of(how, g);
    const host_scratch<Key> seconds(Two ? 2 * g.cells() : 0);
    site_arrays<Key> now{site.in<Key>(), seconds.get()};
    site_arrays<Key> next{site.out<Key>(), Two ? seconds.get() + g.cells() : nullptr};
    rounds<V, Key, Two> each(on, g, how, std::ssize(steps));
    if constexpr (Two) each.clear(now.second);
    if (how.randomised) each.note_sites(now.first);
    for (std::int64_t round = 0; round < std::ssize(steps); ++round) {
        const std::int64_t step = steps[static_cast<std::size_t>(round)];
        each.run(round, step, now, next);
        std::swap(now, next);
        site.exchange();
        report.done("step " + std::to_string(step), 1, 2 * how.sites_per_cell * g.cells() * g.key_bytes());
    }
}

}  // namespace

void solve(const host& on, const grid& g, const jump_flood& how, buffers& site, stages& report) {
    with_types(g, [&]<class V, class Key>(const metric<V>&, Key) {
        if (how.sites_per_cell == 2) run<V, Key, true>(on, g, how, site, report);
        else run<V, Key, false>(on, g, how, site, report);
    });
}

}  // namespace nearfield::methods
