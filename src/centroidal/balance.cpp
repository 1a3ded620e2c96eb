// Balances what powers cannot: regions with too much mass give single parts to regions with too little, along cheapest
// chains of neighbours. A part's price is its power distance to the new site minus that to the old one. Only parts with
// mass move. Across ground without mass, parts are neighbours if their surroundings on this ground meet.
#include <algorithm>
#include <limits>
#include <queue>

#include "centroidal/capacity.hpp"

namespace nearfield::centroidal {
namespace {

constexpr double near_enough = 0.006;  ///< accepted error, as a share of a region's capacity
constexpr int longest_search = 200;    ///< regions per search
constexpr int most_passes = 4;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

class balancer {
public:
    explicit balancer(power_regions& r) : r_(r), border_(r.places.size()), reached_(r.places.size()) {
        link_across_gaps();
        for (std::int64_t i = 0; i < r_.p.parts(); ++i) {
            if (r_.mass_of[i] == 0) continue;
            bool ends = false;
            for_each_neighbour(static_cast<std::int32_t>(i),
                               [&](std::int32_t j) { ends = ends || label(j) != label(i); });
            if (ends) border_[static_cast<std::size_t>(label(i))].push_back(static_cast<std::int32_t>(i));
        }
    }

    void solve() {
        bool changed = true;
        for (int pass = 0; pass < most_passes && changed; ++pass) {
            changed = false;
            for (std::size_t i = 0; i < r_.places.size(); ++i)
                for (double by = r_.excess(i); std::abs(by) > near_enough; by = r_.excess(i)) {
                    if (!relieve(static_cast<std::int32_t>(i), by > 0)) break;
                    changed = true;
                }
        }
    }

private:
    /// How a search reached a region.
    struct arrival {
        std::int64_t price = never;
        std::int32_t from = -1, part = -1;
        double chain = 0;  ///< fall of the squared errors along the chain, without its last region
        bool settled = false;
    };

    [[nodiscard]] std::int32_t label(std::int64_t part) const { return r_.label[static_cast<std::size_t>(part)]; }

    template <class Use>
    void for_each_beside(std::int32_t part, const Use& use) const {
        const place at = place_of(r_.p, part);
        for (int axis = 0; axis < 3; ++axis)
            for (const int by : {-1, 1}) {
                place to = at;
                const std::int64_t n = r_.p.size[axis];
                std::int64_t u = at.at[axis] + by;
                if (u < 0 || u >= n) {
                    if (!r_.p.wraps[axis] || n == 1) continue;
                    u = u < 0 ? n - 1 : 0;
                }
                to.at[axis] = static_cast<std::int32_t>(u);
                use(part_of(r_.p, to));
            }
    }

    /// Calls use(neighbour) for the neighbours with mass of a part with mass.
    template <class Use>
    void for_each_neighbour(std::int32_t part, const Use& use) const {
        for_each_beside(part, [&](std::int32_t other) {
            if (r_.mass_of[other] > 0) use(other);
        });
        for (auto at = std::lower_bound(links_.begin(), links_.end(), link{part, -1});
             at != links_.end() && at->first == part; ++at)
            use(at->second);
    }

    /// Grows all parts with mass over the ground without mass, breadth first; parts whose grown areas meet are linked.
    void link_across_gaps() {
        const auto parts = static_cast<std::size_t>(r_.p.parts());
        std::vector<std::int32_t> around, queue;
        for (std::size_t i = 0; i < parts && around.empty(); ++i)
            if (r_.mass_of[i] == 0) around.assign(parts, -1);
        if (around.empty()) return;
        for (std::size_t i = 0; i < parts; ++i)
            if (r_.mass_of[i] > 0) around[i] = static_cast<std::int32_t>(i), queue.push_back(around[i]);
        for (std::size_t k = 0; k < queue.size(); ++k)
            for_each_beside(queue[k], [&](std::int32_t next) {
                const std::int32_t own = around[static_cast<std::size_t>(queue[k])];
                std::int32_t& there = around[static_cast<std::size_t>(next)];
                if (there < 0) there = own, queue.push_back(next);
                else if (there != own && (r_.mass_of[next] == 0 || r_.mass_of[queue[k]] == 0))
                    links_.emplace_back(own, there), links_.emplace_back(there, own);
            });
        std::sort(links_.begin(), links_.end());
        links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
    }

    /// Returns the price of moving a part from one region to another one.
    [[nodiscard]] std::int64_t price(std::int32_t part, std::int32_t from, std::int32_t to) const {
        const place at = place_of(r_.p, part);
        const auto power = [&](std::int32_t site) {
            return r_.squared(at, site) - r_.power[static_cast<std::size_t>(site)];
        };
        return std::max<std::int64_t>(0, power(to) - power(from));
    }

    /// Returns the fall of the sum of squared errors when a region's mass changes by `by`.
    [[nodiscard]] double relief(std::int32_t site, std::int64_t by) const {
        const auto i = static_cast<std::size_t>(site);
        const double now = r_.excess(i), then = now + static_cast<double>(by) / r_.capacity[i];
        return now * now - then * then;
    }

    /// Moves parts along a chain from or to a region if that lowers the sum of squared errors; false if none is found.
    bool relieve(std::int32_t site, bool gives) {
        using item = std::pair<std::int64_t, std::int32_t>;
        std::priority_queue<item, std::vector<item>, std::greater<>> queue;
        std::vector<std::int32_t> touched{site};
        at(site) = {0, -1, -1, 0, false};
        queue.emplace(0, site);
        std::int32_t end = -1;
        for (int searched = 0; !queue.empty() && end < 0 && searched < longest_search;) {
            const auto [far, here] = queue.top();
            queue.pop();
            if (at(here).settled) continue;
            at(here).settled = true, ++searched;
            if (here != site && at(here).chain + relief(here, change(here, gives)) > 1e-12) end = here;
            else
                look_around(here, gives, [&](std::int32_t to, std::int64_t price, std::int32_t part, double chain) {
                    arrival& there = at(to);
                    if (there.settled || far + price >= there.price) return;
                    if (there.price == never) touched.push_back(to);
                    there = {far + price, here, part, chain, false};
                    queue.emplace(there.price, to);
                });
        }
        const bool found = end >= 0;
        for (; found && end != site; end = at(end).from)
            give(at(end).part, gives ? at(end).from : end, gives ? end : at(end).from);
        for (const std::int32_t each : touched) at(each) = {};
        return found;
    }

    arrival& at(std::int32_t site) { return reached_[static_cast<std::size_t>(site)]; }

    /// Returns the change of a region's mass by the part through which the search reached it.
    std::int64_t change(std::int32_t site, bool gives) {
        const std::int32_t part = at(site).part;
        return part < 0 ? 0 : gives ? r_.mass_of[part] : -static_cast<std::int64_t>(r_.mass_of[part]);
    }

    /// Calls use(neighbour, price, part, relief of the chain) with the cheapest part that can move from `here` to each
    /// neighbour, or from the neighbour if `gives` is false.
    template <class Use>
    void look_around(std::int32_t here, bool gives, const Use& use) {
        best_.clear();
        for (const std::int32_t x : border_[static_cast<std::size_t>(here)]) {
            if (label(x) != here) continue;  // it moved to another region
            for_each_neighbour(x, [&](std::int32_t y) {
                const std::int32_t other = label(y), part = gives ? x : y;
                if (other == here) return;
                const std::int64_t costs = gives ? price(part, here, other) : price(part, other, here);
                const auto known =
                    std::find_if(best_.begin(), best_.end(), [&](const offer& o) { return o.site == other; });
                if (known == best_.end()) best_.push_back({other, costs, part});
                else if (std::pair(costs, part) < std::pair(known->price, known->part))
                    known->price = costs, known->part = part;
            });
        }
        for (const offer& o : best_) {
            const std::int64_t leaves = gives ? -static_cast<std::int64_t>(r_.mass_of[o.part]) : r_.mass_of[o.part];
            use(o.site, o.price, o.part, at(here).chain + relief(here, change(here, gives) + leaves));
        }
    }

    void give(std::int32_t part, std::int32_t from, std::int32_t to) {
        const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
        r_.label[static_cast<std::size_t>(part)] = to;
        r_.mass[a] -= r_.mass_of[part], r_.mass[b] += r_.mass_of[part];
        --r_.parts[a], ++r_.parts[b];
        border_[b].push_back(part);
        std::erase(border_[a], part);
        for_each_neighbour(part, [&](std::int32_t y) {
            auto& own = border_[static_cast<std::size_t>(label(y))];
            if (label(y) != to && std::find(own.begin(), own.end(), y) == own.end()) own.push_back(y);
        });
    }

    struct offer {
        std::int32_t site;
        std::int64_t price;
        std::int32_t part;
    };
    using link = std::pair<std::int32_t, std::int32_t>;

    power_regions& r_;
    std::vector<link> links_;                        ///< sorted; each pair in both orders
    std::vector<std::vector<std::int32_t>> border_;  ///< per region: its parts beside other regions
    std::vector<arrival> reached_;
    std::vector<offer> best_;
};

}  // namespace

void balance(power_regions& r) { balancer(r).solve(); }

}  // namespace nearfield::centroidal
