// Plans paths with clearance from fields of distances and costs: steps, widths, descents, straight lines.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "geodesic/path_fields.hpp"
#include "geodesic/sight.hpp"

namespace nearfield::geodesics {

inline constexpr double per_cell = 4096;  ///< price of a step as long as a cell's shortest side
inline constexpr std::int32_t dearest = 1 << 14;

inline void check_threads(const host& on) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}

class planner {
public:
    planner(path_fields& fields, std::span<const std::int64_t> goals, const path_options& o)
        : fields_(fields), where_(fields.where()), o_(o), rank_(where_.axes), goals_(goals) {
        for (std::int64_t step = 1, axis = rank_ - 1; axis >= 0; --axis) pitch_[axis] = step, step *= where_.size[axis];
        const auto lengths = checked_spacing(o.spacing, where_.size, rank_);
        std::copy_n(lengths.begin(), rank_, length_);
        for (int axis = 0; axis < rank_; ++axis) wraps_[axis] = o.border[axis] == border::periodic;
        shortest_ = *std::min_element(length_, length_ + rank_);
        decay_ = o.clearance_decay > 0 ? o.clearance_decay : 8 * shortest_;
        rule_.blocked = largest_square(o.radius);
        set_steps(per_cell / shortest_);
        if (o.objective == path_objective::safe) set_prices();
        distance_options d;
        d.spacing = o_.spacing, d.border = o_.border, d.sites = sites::nonzero;
        fields_.measure(d);
        for (auto at = goals.begin(); at != goals.end(); at += rank_)
            if (is_free(place(&*at))) seeds_.push_back(number(&*at));
    }

    std::vector<path> plan(std::span<const std::int64_t> starts) {
        const auto rank = static_cast<std::size_t>(rank_), count = starts.size() / rank;
        std::vector<double> level(count, -1);
        if (o_.objective == path_objective::widest)
            level = fields_.widths(rule_, numbers(starts), numbers(goals_), o_.border);
        std::map<double, std::vector<std::size_t>> of_level;  // groups the paths that share a field
        for (std::size_t i = 0; i < count; ++i) of_level[level[i]].push_back(i);
        std::vector<path> made(count);
        for (const auto& [least, which] : of_level) {
            solve_for(least, starts, which);
            for (const std::size_t i : which) made[i] = walk(&starts[i * rank]);
        }
        tell_components(starts, made);
        return made;
    }

    // ---- members for other searches ---------------------------------------------------------------------------------

    [[nodiscard]] std::span<const std::int64_t> shape() const { return {where_.size, static_cast<std::size_t>(rank_)}; }
    [[nodiscard]] std::span<const double> lengths() const { return {length_, static_cast<std::size_t>(rank_)}; }
    [[nodiscard]] const cell_rule& rule() const { return rule_; }
    [[nodiscard]] double squared(std::int64_t place) const { return fields_.squared(place); }
    [[nodiscard]] bool is_free(std::int64_t place) const { return rule_.is_free(squared(place)); }
    /// Makes these cells the goals.
    void lead_to(std::vector<std::int64_t> cells) {
        seeds_ = std::move(cells);
        solve(-1);
    }
    /// Fills in cells, length and clearance of a path through these coordinates, and the cost of its steps.
    void finish(std::vector<std::int64_t> way, bool smooth, path& p) const {
        for (auto at = way.begin() + rank_; at < way.end(); at += rank_)
            p.cost += static_cast<std::uint64_t>(std::find_if(steps_.begin(), steps_.end(), [&](const auto& s) {
                                                     return leads(s, &at[-rank_], &at[0]);
                                                 })->price);
        if (smooth) way = straightened(way);
        measure(std::move(way), smooth, p);
    }
    /// Returns the place of a cell, whose coordinates may lie beyond periodic ends.
    [[nodiscard]] std::int64_t place(const std::int64_t* at) const {
        std::int64_t inside[max_rank];
        for (int axis = 0; axis < rank_; ++axis) inside[axis] = wrapped(axis, at[axis]);
        return where_.place_of(inside);
    }
    void locate(std::int64_t place, std::int64_t* at) const {
        where_.origin(place >> where_.tile_bits, at);
        for (int axis = 0; axis < rank_; ++axis)
            at[axis] += where_.within(static_cast<std::int32_t>(place & (where_.cells_a_tile() - 1)), axis);
    }
    /// Coordinates from a cell down the field of costs to a goal; across periodic ends they continue unwrapped.
    [[nodiscard]] std::vector<std::int64_t> way_from(std::int64_t place) const {
        std::vector<std::int64_t> way(static_cast<std::size_t>(rank_));
        locate(place, way.data());
        while (fields_.cost(place) > 0) place = append_next(place, way);
        return way;
    }
    /// True if all cells that the line touches are free and have at least this squared clearance.
    [[nodiscard]] bool clear(const std::int64_t* from, const std::int64_t* to, double least) const {
        return for_line(from, to, rank_, [&](const std::int64_t* at) {
            const double its = squared(place(at));
            return rule_.is_free(its) && its >= least;
        });
    }

private:
    [[nodiscard]] std::int64_t wrapped(int axis, std::int64_t x) const {
        const std::int64_t n = where_.size[axis];
        return !wraps_[axis] || (x >= 0 && x < n) ? x : (x % n + n) % n;
    }
    /// Returns a cell's number in C order.
    [[nodiscard]] std::int64_t number(const std::int64_t* at) const {
        return std::inner_product(at, at + rank_, pitch_, std::int64_t{0});
    }
    [[nodiscard]] std::vector<std::int64_t> numbers(std::span<const std::int64_t> cells) const {
        std::vector<std::int64_t> made;
        for (auto at = cells.begin(); at != cells.end(); at += rank_) made.push_back(number(&*at));
        return made;
    }
    [[nodiscard]] bool leads(const priced_step& s, const std::int64_t* from, const std::int64_t* to) const {
        int axis = 0;
        while (axis < rank_ && to[axis] - from[axis] == s.by[static_cast<std::size_t>(axis)]) ++axis;
        return axis == rank_;
    }

    void set_steps(double per_unit) {
        for (const priced_step& each : euclidean_steps(rank_, 1, o_.spacing, per_unit)) {
            if (rank_ - std::count(each.by.begin(), each.by.begin() + rank_, 0) > o_.connectivity) continue;
            steps_.push_back(each);
        }
        // Sorted by the order of ties: the last coordinate decides first.
        std::sort(steps_.begin(), steps_.end(), [&](const priced_step& a, const priced_step& b) {
            return std::lexicographical_compare(a.by.rend() - rank_, a.by.rend(), b.by.rend() - rank_, b.by.rend());
        });
    }

    /// Returns the largest squared clearance, as it is computed, of a cell within this distance of obstacles.
    [[nodiscard]] double largest_square(double distance) const {
        const double square = distance * distance;
        // Real lengths are rounded, and so are their squares: what differs by no more than that is equal.
        if (std::any_of(length_, length_ + rank_, [](double l) { return l != std::floor(l); }))
            return square * (1 + 0x1p-48);
        return std::fma(distance, distance, -square) < 0 ? std::nextafter(square, 0.0) : square;
    }

    [[nodiscard]] std::uint16_t price_of(double squared) const {
        const double away = (std::sqrt(squared) - o_.radius) / decay_;
        const double price = price_parts * (1 + o_.clearance_weight * std::exp(-std::max(0.0, away)));
        return static_cast<std::uint16_t>(std::min<double>(std::nearbyint(price), dearest));
    }
    void set_prices() {
        for (const clearance_cost& each : o_.clearance_costs)
            prices_.push_back(
                {largest_square(each.clearance), static_cast<std::uint16_t>(std::nearbyint(price_parts * each.cost))});
        if (prices_.empty()) set_falling_prices();
        rule_.priced = true, rule_.prices = prices_.data(), rule_.count = static_cast<int>(prices_.size());
    }
    /// Finds the farthest squared clearance of each price, by bisection of doubles: prices fall with the clearance.
    void set_falling_prices() {
        for (std::uint16_t price = price_of(0); price > price_parts; --price) {
            std::uint64_t near = 0, far = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
            while (far - near > 1) {
                const std::uint64_t middle = near + (far - near) / 2;
                (price_of(std::bit_cast<double>(middle)) >= price ? near : far) = middle;
            }
            prices_.push_back({std::bit_cast<double>(near), price});
        }
    }

    /// Computes costs to the goals through cells of at least this squared clearance, up to `most`.
    void solve(double least, double most = std::numeric_limits<double>::infinity()) {
        rule_.level = least;
        geodesic_options g;
        g.steps = steps_, g.border = o_.border, g.cut_corners = false, g.rule = cost_rule::both, g.max_cost = most;
        fields_.flood(rule_, seeds_, g);
    }
    /// Does the same as far as these starts need it: up to twice the cost of a straight way at the price of its ends,
    /// then up to eight times that, if this reaches few of the cells; then without a limit.
    void solve_for(double least, std::span<const std::int64_t> starts, const std::vector<std::size_t>& which) {
        constexpr std::size_t most_pairs = 1 << 16;
        if (which.size() > most_pairs / goals_.size()) return solve(least);
        std::vector<std::int64_t> ends;  // places
        double far = 0, price = 0;
        for (const std::size_t i : which) {
            const std::int64_t *const start = &starts[i * static_cast<std::size_t>(rank_)], *goal = nullptr;
            if (!is_free(place(start))) continue;
            double near = std::numeric_limits<double>::infinity();
            for (auto g = goals_.begin(); g != goals_.end(); g += rank_)
                if (const double its = straight(start, &*g); its < near && is_free(place(&*g))) near = its, goal = &*g;
            if (goal == nullptr) return solve(least);
            price = std::max(
                {price, static_cast<double>(price_at(place(start))), static_cast<double>(price_at(place(goal)))});
            far = std::max(far, near), ends.push_back(place(start));
        }
        double reach = 2 * far + 2;
        for (int tries = 0; !ends.empty() && tries < 2 && reaches_few(reach); ++tries, reach *= 8) {
            solve(least, reach * per_cell * (rule_.priced ? 2 * price : 1));
            if (std::none_of(ends.begin(), ends.end(), [&](std::int64_t e) { return fields_.cost(e) == none; })) return;
        }
        solve(least);
    }
    /// Length of the straight line between two cells, in shortest sides of a cell.
    [[nodiscard]] double straight(const std::int64_t* from, const std::int64_t* to) const {
        double square = 0;
        for (int axis = 0; axis < rank_; ++axis) {
            double cells = std::abs(static_cast<double>(to[axis] - from[axis]));
            if (wraps_[axis]) cells = std::min(cells, static_cast<double>(where_.size[axis]) - cells);
            square += cells * cells * length_[axis] * length_[axis];
        }
        return std::sqrt(square) / shortest_;
    }
    /// True if at most an eighth of the cells lie within this distance of a goal.
    [[nodiscard]] bool reaches_few(double reach) const {
        double share = static_cast<double>(seeds_.size());
        for (int axis = 0; axis < rank_; ++axis)
            share *=
                std::min(1.0, (2 * reach * shortest_ / length_[axis] + 1) / static_cast<double>(where_.size[axis]));
        return share <= 1 / 8.0;
    }

    [[nodiscard]] path walk(const std::int64_t* start) {
        path p;
        const std::int64_t cell = place(start);
        p.start_clearance = std::sqrt(squared(cell));
        if (!is_free(cell)) p.reason = path_reason::start_blocked;
        else if (seeds_.empty()) p.reason = path_reason::goals_blocked;
        else if (fields_.cost(cell) == none) p.reason = path_reason::not_connected;
        if (p.reason != path_reason::found) return p;
        p.cost = static_cast<std::uint64_t>(fields_.cost(cell));
        std::vector<std::int64_t> way = way_from(cell);
        const std::int64_t end = place(&way[way.size() - static_cast<std::size_t>(rank_)]);
        for (std::size_t g = 0; p.goal < 0; ++g)
            if (place(&goals_[g * static_cast<std::size_t>(rank_)]) == end) p.goal = static_cast<std::int64_t>(g);
        if (o_.smooth) way = straightened(way);
        measure(std::move(way), o_.smooth, p);
        return p;
    }
    /// Appends and returns the next cell downhill: of those that explain the cell's cost, the smallest by coordinates.
    std::int64_t append_next(std::int64_t here, std::vector<std::int64_t>& way) const {
        const auto at = way.size() - static_cast<std::size_t>(rank_);
        const std::int64_t cost = fields_.cost(here), price = price_at(here);
        std::int64_t best = -1;
        std::uint64_t least = 0;
        for (const priced_step& each : steps_) {
            std::int64_t there[max_rank], inside[max_rank];
            bool is = true;
            for (int axis = 0; axis < rank_ && is; ++axis) {
                const auto k = static_cast<std::size_t>(axis);
                there[axis] = way[at + k] + each.by[k], inside[axis] = wrapped(axis, there[axis]);
                is = inside[axis] >= 0 && inside[axis] < where_.size[axis];
            }
            if (!is) continue;
            const std::int64_t to = where_.place_of(inside), its = fields_.cost(to);
            const std::int64_t times = rule_.priced ? price + price_at(to) : 1;
            if (its >= cost || its + each.price * times != cost) continue;
            const std::uint64_t number = where_.number_of(inside);
            if ((best >= 0 && number >= least) || !clear(&way[at], there, rule_.level)) continue;
            way.resize(at + static_cast<std::size_t>(rank_));
            way.insert(way.end(), there, there + rank_);
            best = to, least = number;
        }
        if (best < 0) fail("the field of costs has no step to go on: report this");
        return best;
    }
    /// A cell's part of the price of a step, which is that of both its ends.
    [[nodiscard]] std::int64_t price_at(std::int64_t place) const {
        return rule_.priced ? rule_.price(squared(place)) : 0;
    }

    // ---- lines ------------------------------------------------------------------------------------------------------

    /// Straightens a path: from each cell it tries doubled, then halved hops ahead and keeps the farthest clear line.
    [[nodiscard]] std::vector<std::int64_t> straightened(const std::vector<std::int64_t>& way) const {
        const auto rank = static_cast<std::size_t>(rank_), last = way.size() / rank - 1;
        std::vector<std::int64_t> made(way.begin(), way.begin() + rank_);
        for (std::size_t i = 0; i < last;) {
            std::size_t far = i + 1, hop = 1;
            const auto reaches = [&](std::size_t j) {
                double least = o_.objective == path_objective::shortest ? rule_.level : squared(place(&way[i * rank]));
                for (std::size_t k = i + 1; k <= j && o_.objective != path_objective::shortest; ++k)
                    least = std::min(least, squared(place(&way[k * rank])));
                return clear(&way[i * rank], &way[j * rank], least);
            };
            for (; far + hop <= last && reaches(far + hop); hop *= 2) far += hop;
            for (; hop > 0; hop /= 2)
                if (far + hop <= last && reaches(far + hop)) far += hop;
            made.insert(made.end(), &way[far * rank], &way[far * rank] + rank);
            i = far;
        }
        return made;
    }
    /// Computes length and clearance of a path; if `smooth`, its clearance covers all cells that its lines touch.
    void measure(std::vector<std::int64_t> way, bool smooth, path& p) const {
        double least = squared(place(way.data()));
        p.length = 0;
        const auto see = [&](const std::int64_t* there) {
            least = std::min(least, squared(place(there)));
            return true;
        };
        const std::int64_t* const end = way.data() + way.size();
        for (const std::int64_t* at = way.data() + rank_; at < end; at += rank_) {
            double square = 0;
            for (int axis = 0; axis < rank_; ++axis) {
                const double apart = length_[axis] * static_cast<double>(at[axis] - at[axis - rank_]);
                square += apart * apart;
            }
            p.length += std::sqrt(square);
            if (smooth) for_line(at - rank_, at, rank_, see);
            else see(at);
        }
        p.cells = std::move(way), p.clearance = std::sqrt(least);
    }

    // ---- reasons why there is no path -------------------------------------------------------------------------------

    void tell_components(std::span<const std::int64_t> starts, std::vector<path>& made) {
        const auto apart = [](const path& p) { return p.reason == path_reason::not_connected; };
        if (std::none_of(made.begin(), made.end(), apart) && rehearsing() == nullptr) return;
        rehearse_step("if a start and the goals are not connected:");
        std::vector<std::int64_t> cells = numbers(starts);
        const std::vector<std::int64_t> goals = numbers(goals_);
        cells.insert(cells.end(), goals.begin(), goals.end());
        rule_.level = -1;
        cells = fields_.components(rule_, cells, o_.border);
        for (std::size_t i = 0; i < made.size(); ++i)
            if (apart(made[i]))
                made[i].start_component = cells[i],
                made[i].goal_components.assign(cells.begin() + std::ssize(made), cells.end());
    }

    path_fields& fields_;
    const tiling& where_;
    const path_options& o_;
    int rank_;
    std::span<const std::int64_t> goals_;
    std::vector<std::int64_t> seeds_;  ///< numbers of the free goals
    cell_rule rule_;
    std::vector<clearance_price> prices_;  ///< of `rule_`
    std::vector<priced_step> steps_;
    std::int64_t pitch_[max_rank]{};
    double length_[max_rank]{}, shortest_ = 1, decay_ = 1;
    bool wraps_[max_rank]{};
};

}  // namespace nearfield::geodesics
