// Plans paths with clearance from fields of distances and costs: steps, widths, descents, straight lines.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.hpp"
#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "geodesic/core.hpp"
#include "geodesic/sight.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/label.hpp"
#include "nearfield/path.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield::geodesics {

inline constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max(), cells_at_once = 1 << 14;
inline constexpr double per_cell = 4096;   ///< price of a step as long as a cell's shortest side
inline constexpr double price_parts = 16;  ///< resolution: parts of the price of a unit of length
inline constexpr std::int32_t dearest = 1 << 14;

/// Tests D2 > r * r exactly.
class beyond {
public:
    explicit beyond(double radius) : square_(radius * radius), rest_(std::fma(radius, radius, -square_)) {}
    [[nodiscard]] bool operator()(double squared) const {
        return squared > square_ || (squared == square_ && rest_ < 0);
    }

private:
    double square_, rest_;
};

/// Computes the fields from which paths are made, from the obstacles; in host memory, C order.
class path_fields {
public:
    path_fields() = default;
    path_fields(const path_fields&) = delete;
    path_fields& operator=(const path_fields&) = delete;
    virtual ~path_fields() = default;

    /// Writes squared distances to obstacles, 0 inside them.
    virtual void clearances(const distance_options& how, double* to) = 0;
    /// Writes costs from the seeds inside the mask; `prices` may be null.
    virtual void costs(const std::uint8_t* mask, const std::uint8_t* seeds, const std::uint16_t* prices,
                       const geodesic_options& how, std::int64_t* to) = 0;
};

class host_fields final : public path_fields {
public:
    host_fields(const host& on, const any_input<host>& obstacles) : on_(on), obstacles_(obstacles) {}

    void clearances(const distance_options& how, double* to) override {
        fields<host> out;
        out.squared = any_output<host>::contiguous(to, dtype::float64, shape());
        distance_transform(host{on_.threads, {}}, obstacles_, out, how);
    }
    void costs(const std::uint8_t* mask, const std::uint8_t* seeds, const std::uint16_t* prices,
               const geodesic_options& how, std::int64_t* to) override {
        geodesic_fields<host> out;
        out.cost = any_output<host>::contiguous(to, dtype::int64, shape());
        geodesic(on_, any_input<host>::contiguous(mask, dtype::uint8, shape()),
                 any_input<host>::contiguous(seeds, dtype::uint8, shape()), out, how,
                 prices == nullptr ? any_input<host>{} : any_input<host>::contiguous(prices, dtype::uint16, shape()));
    }

private:
    [[nodiscard]] std::span<const std::int64_t> shape() const {
        return {obstacles_.shape.data(), static_cast<std::size_t>(obstacles_.rank)};
    }

    const host& on_;
    const any_input<host>& obstacles_;
};

inline void check_threads(const host& on) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}

class planner {
public:
    /// `quiet` gives the number of threads for the planner's own work.
    template <class Place>
    planner(path_fields& fields, const host& quiet, const any_input<Place>& obstacles,
            std::span<const std::int64_t> goals, const path_options& o)
        : fields_(fields),
          quiet_{quiet.threads, {}},
          o_(o),
          rank_(obstacles.rank),
          shape_(obstacles.shape.begin(), obstacles.shape.begin() + rank_),
          cells_(obstacles.cells()),
          goals_(goals),
          squared_(cells_),
          open_(cells_),
          seeds_(cells_),
          cost_(cells_) {
        for (std::int64_t step = 1, axis = rank_ - 1; axis >= 0; --axis)
            pitch_[axis] = step, step *= shape_[static_cast<std::size_t>(axis)];
        const auto lengths = checked_spacing(o.spacing, obstacles.shape.data(), rank_);
        std::copy_n(lengths.begin(), rank_, length_);
        for (int axis = 0; axis < rank_; ++axis) wraps_[axis] = o.border[axis] == border::periodic;
        const double shortest = *std::min_element(length_, length_ + rank_);
        decay_ = o.clearance_decay > 0 ? o.clearance_decay : 8 * shortest;
        set_steps(per_cell / shortest);
        measure();
    }

    std::vector<path> plan(std::span<const std::int64_t> starts) {
        const auto count = static_cast<std::int64_t>(starts.size()) / rank_;
        std::vector<double> level(static_cast<std::size_t>(count), -1);
        if (o_.objective == path_objective::widest) level = widths(starts);
        std::map<double, std::vector<std::int64_t>> of_level;  // groups the paths that share a field
        for (std::int64_t i = 0; i < count; ++i) of_level[level[static_cast<std::size_t>(i)]].push_back(i);
        std::vector<path> made(static_cast<std::size_t>(count));
        for (const auto& [least, numbers] : of_level) {
            solve(least);
            for (const std::int64_t i : numbers)
                made[static_cast<std::size_t>(i)] = walk(&starts[static_cast<std::size_t>(i * rank_)]);
        }
        return made;
    }

    // ---- members for other searches ---------------------------------------------------------------------------------

    [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
    [[nodiscard]] std::span<const double> lengths() const { return {length_, static_cast<std::size_t>(rank_)}; }
    [[nodiscard]] const std::uint8_t* open() const { return open_.get(); }
    [[nodiscard]] double squared(std::int64_t cell) const { return squared_.get()[cell]; }
    /// Makes these cells the goals.
    void lead_to(std::span<const std::int64_t> cells) {
        for (const std::int64_t cell : cells) seeds_.get()[cell] = 1;
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
    [[nodiscard]] std::int64_t index(const std::int64_t* at) const {
        std::int64_t cell = 0;
        for (int axis = 0; axis < rank_; ++axis) {
            std::int64_t x = at[axis];
            if (const std::int64_t n = shape_[static_cast<std::size_t>(axis)]; wraps_[axis]) x = (x % n + n) % n;
            cell += x * pitch_[axis];
        }
        return cell;
    }
    void locate(std::int64_t cell, std::int64_t* at) const {
        for (int axis = 0; axis < rank_; ++axis) at[axis] = cell / pitch_[axis], cell %= pitch_[axis];
    }
    /// Coordinates from a cell down the field of costs to a goal; across periodic ends they continue unwrapped.
    [[nodiscard]] std::vector<std::int64_t> way_from(std::int64_t cell) const {
        std::vector<std::int64_t> way(static_cast<std::size_t>(rank_));
        locate(cell, way.data());
        while (seeds_.get()[cell] == 0) cell = append_next(cell, way);
        return way;
    }
    /// True if all cells that the line touches are free and have at least this squared clearance.
    [[nodiscard]] bool clear(const std::int64_t* from, const std::int64_t* to, double least) const {
        return for_line(from, to, rank_, [&](const std::int64_t* at) {
            const std::int64_t cell = index(at);
            return open_.get()[cell] != 0 && squared_.get()[cell] >= least;
        });
    }

private:
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

    /// Computes clearances and free cells.
    void measure() {
        distance_options d;
        d.spacing = o_.spacing, d.border = o_.border, d.sites = sites::nonzero;
        fields_.clearances(d, squared_.get());
        if (o_.objective == path_objective::safe) price_ = host_scratch<std::uint16_t>(cells_);
        const beyond free(o_.radius);
        for_cells([&](std::int64_t i) {
            open_.get()[i] = free(squared_.get()[i]) ? 1 : 0;
            seeds_.get()[i] = 0;
            if (price_.get() != nullptr) price_.get()[i] = price_of(squared_.get()[i]);
        });
        for (std::size_t g = 0; g < goals_.size(); g += static_cast<std::size_t>(rank_)) {
            const std::int64_t cell = index(&goals_[g]);
            if (open_.get()[cell] != 0) seeds_.get()[cell] = 1, any_goal_ = true;
        }
    }
    [[nodiscard]] std::uint16_t price_of(double squared) const {
        const double away = (std::sqrt(squared) - o_.radius) / decay_;
        const double price = price_parts * (1 + o_.clearance_weight * std::exp(-std::max(0.0, away)));
        return static_cast<std::uint16_t>(std::min<double>(std::nearbyint(price), dearest));
    }
    template <class Body>
    void for_cells(const Body& body) {
        workers team(quiet_, cells_);
        team.for_each(cells_, cells_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t i = first; i < last; ++i) body(i);
        });
    }

    /// Squared clearance of the widest way from each start to a goal. Only steps along axes count: a diagonal step
    /// needs the cells beside it, so it is never the wider way.
    std::vector<double> widths(std::span<const std::int64_t> starts) {
        watershed_options w;
        w.maxima = true, w.border = o_.border;
        const basins of(quiet_, any_input<host>::contiguous(squared_.get(), dtype::float64, shape_), w,
                        any_input<host>::contiguous(open_.get(), dtype::uint8, shape_));
        std::vector<double> best;
        std::vector<std::int64_t> to;
        for (std::size_t g = 0; g < goals_.size(); g += static_cast<std::size_t>(rank_))
            to.push_back(index(&goals_[g]));
        for (std::size_t s = 0; s < starts.size(); s += static_cast<std::size_t>(rank_)) {
            const std::vector<double> found = of.passes(std::vector<std::int64_t>(to.size(), index(&starts[s])), to);
            best.push_back(std::max(-1.0, *std::max_element(found.begin(), found.end())));
        }
        return best;
    }

    /// Computes costs to the goals through cells of at least this squared clearance.
    void solve(double least) {
        level_ = least;
        geodesic_options g;
        g.steps = steps_, g.border = o_.border, g.cut_corners = false, g.rule = cost_rule::both;
        const host_scratch<std::uint8_t> wide(least < 0 ? 0 : cells_);
        if (wide.get() != nullptr)
            for_cells(
                [&](std::int64_t i) { wide.get()[i] = open_.get()[i] != 0 && squared_.get()[i] >= least ? 1 : 0; });
        fields_.costs(wide.get() == nullptr ? open_.get() : wide.get(), seeds_.get(), price_.get(), g, cost_.get());
    }

    [[nodiscard]] path walk(const std::int64_t* start) {
        path p;
        std::int64_t cell = index(start);
        p.start_clearance = std::sqrt(squared_.get()[cell]);
        if (open_.get()[cell] == 0) p.reason = path_reason::start_blocked;
        else if (!any_goal_) p.reason = path_reason::goals_blocked;
        else if (cost_.get()[cell] == none) tell_components(cell, p);
        if (p.reason != path_reason::found) return p;
        p.cost = static_cast<std::uint64_t>(cost_.get()[cell]);
        std::vector<std::int64_t> way = way_from(cell);
        cell = index(&way[way.size() - static_cast<std::size_t>(rank_)]);
        for (std::size_t g = 0; p.goal < 0; ++g)
            if (index(&goals_[g * static_cast<std::size_t>(rank_)]) == cell) p.goal = static_cast<std::int64_t>(g);
        if (o_.smooth) way = straightened(way);
        measure(std::move(way), o_.smooth, p);
        return p;
    }
    /// Appends and returns the next cell downhill: of those that explain the cell's cost, the smallest by coordinates.
    std::int64_t append_next(std::int64_t cell, std::vector<std::int64_t>& way) const {
        const std::vector<std::int64_t> at(way.end() - rank_, way.end());
        std::int64_t best = -1;
        for (const priced_step& each : steps_) {
            std::int64_t there[max_rank];
            bool inside = true;
            for (int axis = 0; axis < rank_; ++axis) {
                const auto k = static_cast<std::size_t>(axis);
                there[axis] = at[k] + each.by[k];
                inside = inside && (wraps_[axis] || (there[axis] >= 0 && there[axis] < shape_[k]));
            }
            const std::int64_t to = inside ? index(there) : -1;
            if (to < 0 || cost_.get()[to] == none || (best >= 0 && !precedes(to, best))) continue;
            const std::int64_t times = price_.get() == nullptr ? 1 : price_.get()[cell] + price_.get()[to];
            if (cost_.get()[to] + each.price * times != cost_.get()[cell] || !clear(at.data(), there, level_)) continue;
            if (best >= 0) way.resize(way.size() - at.size());
            way.insert(way.end(), there, there + rank_);
            best = to;
        }
        if (best < 0) fail("the field of costs has no step to go on: report this");
        return best;
    }
    /// Compares coordinates, the last axis first.
    [[nodiscard]] bool precedes(std::int64_t a, std::int64_t b) const {
        for (std::size_t axis = shape_.size(); axis-- > 0; a /= shape_[axis], b /= shape_[axis])
            if (a % shape_[axis] != b % shape_[axis]) return a % shape_[axis] < b % shape_[axis];
        return false;
    }

    // ---- lines ------------------------------------------------------------------------------------------------------

    /// Straightens a path: from each cell it tries doubled, then halved hops ahead and keeps the farthest clear line.
    [[nodiscard]] std::vector<std::int64_t> straightened(const std::vector<std::int64_t>& way) const {
        const auto rank = static_cast<std::size_t>(rank_), last = way.size() / rank - 1;
        std::vector<std::int64_t> made(way.begin(), way.begin() + rank_);
        for (std::size_t i = 0; i < last;) {
            std::size_t far = i + 1, hop = 1;
            const auto reaches = [&](std::size_t j) {
                double least = o_.objective == path_objective::shortest ? level_ : squared(index(&way[i * rank]));
                for (std::size_t k = i + 1; k <= j && o_.objective != path_objective::shortest; ++k)
                    least = std::min(least, squared(index(&way[k * rank])));
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
        double least = squared(index(way.data()));
        p.length = 0;
        const auto see = [&](const std::int64_t* there) {
            least = std::min(least, squared(index(there)));
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

    void tell_components(std::int64_t start, path& p) {
        p.reason = path_reason::not_connected;
        if (numbers_.get() == nullptr) {
            numbers_ = host_scratch<std::int64_t>(cells_);
            label_options l;
            l.border = o_.border;
            label(quiet_, any_input<host>::contiguous(open_.get(), dtype::uint8, shape_),
                  any_output<host>::contiguous(numbers_.get(), dtype::int64, shape_), l);
        }
        p.start_component = numbers_.get()[start];
        for (std::size_t g = 0; g < goals_.size(); g += static_cast<std::size_t>(rank_))
            p.goal_components.push_back(numbers_.get()[index(&goals_[g])]);
    }

    path_fields& fields_;  ///< used by the constructor and by solve()
    host quiet_;           ///< reports no progress
    const path_options& o_;
    int rank_;
    std::vector<std::int64_t> shape_;
    std::int64_t cells_;
    std::span<const std::int64_t> goals_;
    host_scratch<double> squared_;
    host_scratch<std::uint8_t> open_, seeds_;
    host_scratch<std::int64_t> cost_, numbers_;
    host_scratch<std::uint16_t> price_;
    std::vector<priced_step> steps_;
    std::int64_t pitch_[max_rank]{};
    double length_[max_rank]{}, decay_ = 1, level_ = -1;
    bool wraps_[max_rank]{}, any_goal_ = false;
};

}  // namespace nearfield::geodesics
