// Brushfire on the host: the serial reference of the literature, and its naive parallel form.
#include <algorithm>
#include <queue>
#include <vector>

#include "base/parallel.hpp"
#include "brushfire/core.hpp"
#include "methods/room.hpp"

namespace nearfield::methods {
namespace {

constexpr std::int64_t cells_a_task = 1 << 14, pops_a_task = 1 << 14;

// ---- by a priority queue -------------------------------------------------------------------------------------------

/// A cell that was offered a site; nearest first, of equally near ones the site that wins ties, then the earlier cell.
template <class V, class Key>
struct entry {
    V distance2;
    Key site;
    std::int32_t cell;

    friend bool operator>(const entry& a, const entry& b) {
        if (a.distance2 != b.distance2) return a.distance2 > b.distance2;
        return a.site != b.site ? a.site > b.site : a.cell > b.cell;
    }
};

template <class V, class Key>
class front {
public:
    front(const host& on, const grid& g, Key* site) : g_(g), m_(metric_of<V>(g)), site_(site), crew_(on, g.cells()) {
        in_order(crew_, g.cells(), 1, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t cell = first; cell < last; ++cell)
                if (site[cell] >= 0) queue_.push({V{}, site[cell], static_cast<std::int32_t>(cell)});
        });
    }

    /// Returns how many cells were taken from the queue.
    std::int64_t burn() {
        std::int64_t taken = 0;
        while (!queue_.empty())
            crew_.for_each(1, 1, pops_a_task, [&](std::int64_t, std::int64_t, int) {
                for (std::int64_t k = 0; k < pops_a_task && !queue_.empty(); ++k, ++taken) {
                    const entry<V, Key> nearest = queue_.top();
                    queue_.pop();
                    // One that was offered a better site since is in the queue again.
                    if (site_[nearest.cell] == nearest.site) spread(nearest);
                }
            });
        return taken;
    }

private:
    void spread(const entry<V, Key>& from) {
        const std::int64_t nx = g_.size[2], ny = g_.size[1], row = from.cell / nx;
        each_neighbour(g_.size, static_cast<std::int32_t>(row / ny), static_cast<std::int32_t>(row % ny),
                       static_cast<std::int32_t>(from.cell % nx), [&](std::int32_t z, std::int32_t y, std::int32_t x) {
                           Key& held = site_[(z * ny + y) * nx + x];
                           const V d = m_.between(from.site, z, y, x);
                           if (held >= 0 && !nearer(d, from.site, m_.between(held, z, y, x), held)) return;
                           held = from.site;
                           queue_.push({d, held, static_cast<std::int32_t>((z * ny + y) * nx + x)});
                       });
    }

    const grid& g_;
    const metric<V> m_;
    Key* site_;
    workers crew_;
    std::priority_queue<entry<V, Key>, std::vector<entry<V, Key>>, std::greater<>> queue_;
};

// ---- all cells at once ---------------------------------------------------------------------------------------------

template <class V, class Key>
bool step(workers& crew, const grid& g, const metric<V>& m, const Key* from, Key* to) {
    std::atomic<bool> changed{false};
    const std::int64_t nx = g.size[2], ny = g.size[1];
    crew.for_each(g.size[0] * ny, std::max<std::int64_t>(1, cells_a_task / nx), nx,
                  [&](std::int64_t first, std::int64_t last, int) {
                      bool mine = false;
                      for (std::int64_t cell = first * nx; cell < last * nx; ++cell) {
                          const auto z = static_cast<std::int32_t>(cell / nx / ny),
                                     y = static_cast<std::int32_t>(cell / nx % ny),
                                     x = static_cast<std::int32_t>(cell % nx);
                          Key best = from[cell];
                          V d = best < 0 ? no_site<V>() : m.between(best, z, y, x);
                          each_neighbour(g.size, z, y, x, [&](std::int32_t oz, std::int32_t oy, std::int32_t ox) {
                              const Key offered = from[(oz * ny + oy) * nx + ox];
                              if (offered < 0 || offered == best) return;
                              const V other = m.between(offered, z, y, x);
                              if (nearer(other, offered, d, best)) d = other, best = offered;
                          });
                          to[cell] = best;
                          mine = mine || best != from[cell];
                      }
                      if (mine) changed.store(true, std::memory_order_relaxed);
                  });
    return changed.load();
}

}  // namespace

void solve(const host& on, const grid& g, const brushfire& how, buffers& site, stages& report) {
    with_types(g, [&]<class V, class Key>(const metric<V>& m, Key) {
        const std::int64_t bytes = g.cells() * g.key_bytes();
        if (!how.parallel) {
            const std::int64_t taken = front<V, Key>(on, g, site.in<Key>()).burn();
            report.done("queue", 1, 2 * taken * g.key_bytes());
            return;
        }
        // Sites come at most as many rounds as the grid is long; half of it stands for the work in reports of progress.
        workers crew(on, *std::max_element(g.size, g.size + 3) / 2 * g.cells());
        std::int64_t rounds = 0;
        for (bool changed = true; changed; ++rounds) {
            changed = step(crew, g, m, site.in<Key>(), site.out<Key>());
            site.exchange();
        }
        report.done("rounds", rounds, 2 * rounds * bytes);
    });
}

}  // namespace nearfield::methods
