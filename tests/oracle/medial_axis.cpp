#include "oracle/medial_axis.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>

namespace oracle {
namespace {

using point = std::vector<std::int64_t>;

constexpr long double none = std::numeric_limits<long double>::infinity();

point coordinates(std::int64_t number, const std::vector<std::int64_t>& shape) {
    point at(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) at[axis] = number % shape[axis], number /= shape[axis];
    return at;
}
std::int64_t number_of(const point& at, const std::vector<std::int64_t>& shape) {
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) number = number * shape[axis] + at[axis];
    return number;
}

/// A site or a copy of one, as a place; `own` are its coordinates in the grid, empty for a cell beyond a border.
struct nearest {
    point at, own;
    long double squared = none;
    bool tied = false;
};

class search {
public:
    explicit search(const axis_problem& p) : p_(p) {
        std::int64_t cells = 1;
        for (const std::int64_t side : p.shape) cells *= side;
        for (std::int64_t k = 0; k < cells; ++k) places_.push_back(coordinates(k, p.shape));
    }
    [[nodiscard]] const std::vector<point>& places() const { return places_; }

    /// The place nearest to `from` that lies outside the shape of `value`.
    [[nodiscard]] nearest outside(const point& from, std::int64_t value) const {
        nearest best;
        for (const point& site : places_)
            if (!inside(site, value)) copies(from, site, best);
        const bool any = !best.at.empty();
        for (std::size_t axis = 0; axis < p_.shape.size(); ++axis) {
            if (p_.border[axis] != axis_border::closed) continue;
            for (const std::int64_t end : {std::int64_t{-1}, p_.shape[axis]}) {
                point site = from;
                site[axis] = end;
                const long double d = squared(from, site);
                if (any && !(d < best.squared) && !best.own.empty()) continue;
                if (best.at.empty() || d < best.squared ||
                    (best.own.empty() && d == best.squared && before(site, best.at)))
                    best = {site, {}, d, best.tied};
            }
        }
        return best;
    }
    [[nodiscard]] bool inside(const point& at, std::int64_t value) const {
        const std::int64_t here = p_.value[static_cast<std::size_t>(number_of(at, p_.shape))];
        return here != 0 && (!p_.labels || here == value);
    }
    [[nodiscard]] long double squared(const point& a, const point& b) const {
        long double sum = 0;
        for (std::size_t axis = 0; axis < a.size(); ++axis) sum += weighted(a[axis] - b[axis], a[axis] - b[axis], axis);
        return sum;
    }
    [[nodiscard]] long double weighted(std::int64_t a, std::int64_t b, std::size_t axis) const {
        const long double length = static_cast<long double>(p_.spacing[axis] / p_.unit);
        return length * length * static_cast<long double>(a) * static_cast<long double>(b);
    }
    static bool before(const point& a, const point& b) {
        for (std::size_t axis = a.size(); axis-- > 0;)
            if (a[axis] != b[axis]) return a[axis] < b[axis];
        return false;
    }

private:
    void copies(const point& from, const point& site, nearest& best) const {
        point copy = site;
        const auto go = [&](const auto& self, std::size_t axis) -> void {
            if (axis < copy.size()) {
                const std::int64_t turns = p_.border[axis] == axis_border::periodic ? 1 : 0;
                for (std::int64_t turn = -turns; turn <= turns; ++turn) {
                    copy[axis] = site[axis] + turn * p_.shape[axis];
                    self(self, axis + 1);
                }
                return;
            }
            const long double d = squared(from, copy);
            if (!best.at.empty() && d == best.squared) best.tied = true;
            const bool first =
                d == best.squared && (before(site, best.own) || (site == best.own && before(copy, best.at)));
            if (best.at.empty() || d < best.squared) best = {copy, site, d, false};
            else if (first) best.at = copy, best.own = site;
        };
        go(go, 0);
    }

    const axis_problem& p_;
    std::vector<point> places_;
};

/// A pair of neighbours in the shape of `value`; q may lie one step beyond a periodic end.
class pair_of_cells {
public:
    pair_of_cells(const axis_problem& p, const search& s, const point& at_p, const point& at_q, const nearest& fp,
                  const nearest& fq)
        : p_(p), s_(s), at_p_(at_p), at_q_(at_q), fp_(fp), fq_(fq) {}

    [[nodiscard]] bool counts() const {
        std::int64_t steps = 0;
        for (std::size_t axis = 0; axis < at_p_.size(); ++axis) steps += e(axis) * e(axis);
        return steps > 1 && kept();
    }
    /// Computes e.(f(p) + f(q) - p - q).
    [[nodiscard]] long double side() const {
        return sum([&](std::size_t axis) {
            return s_.weighted(e(axis), fp_.at[axis] + fq_.at[axis] - at_p_[axis] - at_q_[axis], axis);
        });
    }
    [[nodiscard]] long double apart2() const {
        return sum([&](std::size_t axis) { return s_.weighted(e(axis), e(axis), axis); });
    }

private:
    template <class Term>
    [[nodiscard]] long double sum(const Term& term) const {
        long double all = 0;
        for (std::size_t axis = 0; axis < at_p_.size(); ++axis) all += term(axis);
        return all;
    }
    [[nodiscard]] std::int64_t e(std::size_t axis) const { return fp_.at[axis] - fq_.at[axis]; }
    [[nodiscard]] long double both() const {
        return std::sqrt(sum([&](std::size_t axis) {
            const std::int64_t n = at_p_[axis] - fp_.at[axis] + at_q_[axis] - fq_.at[axis];
            return s_.weighted(n, n, axis);
        }));
    }
    [[nodiscard]] bool kept() const {
        const auto g = static_cast<long double>(p_.gamma);
        if (p_.prune == axis_pruning::constant) return std::sqrt(apart2()) * static_cast<long double>(p_.unit) > g;
        if (p_.prune == axis_pruning::linear) return std::sqrt(apart2()) > g * both();
        if (p_.prune == axis_pruning::square_root) {
            const long double c = sum([&](std::size_t axis) { return s_.weighted(1, 1, axis); }) / 2;
            const long double along =
                sum([&](std::size_t axis) { return s_.weighted(at_p_[axis] - at_q_[axis], e(axis), axis); });
            return apart2() > g * both() + 2 * along + c;
        }
        // Vectors are doubled: 2 f - (p + q).
        const auto twice = [&](const point& f, std::size_t axis) { return 2 * f[axis] - at_p_[axis] - at_q_[axis]; };
        const auto dot = [&](const point& a, const point& b) {
            return sum([&](std::size_t axis) { return s_.weighted(twice(a, axis), twice(b, axis), axis); });
        };
        const long double cosine = g == 60    ? 0.5L
                                   : g == 120 ? -0.5L
                                   : g == 90  ? 0.0L
                                              : std::cos(g * std::acos(-1.0L) / 180);
        return dot(fp_.at, fq_.at) <= cosine * std::sqrt(dot(fp_.at, fp_.at) * dot(fq_.at, fq_.at));
    }

    const axis_problem& p_;
    const search& s_;
    const point &at_p_, &at_q_;
    const nearest &fp_, &fq_;
};

}  // namespace

axis_answer medial_axis(const axis_problem& p) {
    const search s(p);
    const std::size_t cells = s.places().size();
    axis_answer answer{std::vector<std::uint8_t>(cells, 0), std::vector<std::int64_t>(cells, -1),
                       std::vector<double>(cells, 0), std::vector<std::uint8_t>(cells, 0)};
    std::vector<nearest> own(cells);
    for (std::size_t k = 0; k < cells; ++k)
        if (p.value[k] != 0) own[k] = s.outside(s.places()[k], p.value[k]);
    for (std::size_t k = 0; k < cells; ++k) {
        const point& at = s.places()[k];
        if (p.value[k] == 0) continue;
        answer.squared[k] = static_cast<double>(own[k].squared), answer.tied[k] = own[k].tied ? 1 : 0;
        if (own[k].at.empty()) continue;
        long double farthest = 0;
        for (std::size_t axis = 0; axis < at.size(); ++axis)
            for (const std::int64_t direction : {std::int64_t{-1}, std::int64_t{1}}) {
                point next = at, there = at;
                next[axis] += direction, there[axis] = next[axis];
                const bool beyond = next[axis] < 0 || next[axis] >= p.shape[axis];
                if (beyond && p.border[axis] == axis_border::open) continue;
                nearest other{next, {}, 0, false};  // a site beyond a closed border
                if (!beyond || p.border[axis] == axis_border::periodic) {
                    if (beyond) there[axis] = next[axis] < 0 ? p.shape[axis] - 1 : 0;
                    const auto k_there = static_cast<std::size_t>(number_of(there, p.shape));
                    other = s.inside(there, p.value[k]) ? own[k_there] : nearest{there, there, 0, false};
                    for (std::size_t each = 0; each < at.size(); ++each) other.at[each] += next[each] - there[each];
                }
                const pair_of_cells pair(p, s, at, next, own[k], other);
                if (!pair.counts() || pair.side() < 0) continue;
                answer.axis[k] = 1;
                if (pair.apart2() <= farthest) continue;
                farthest = pair.apart2();
                answer.second[k] = other.own.empty() ? -1 : number_of(other.own, p.shape);
            }
    }
    return answer;
}

bool ball_in_ball(const std::vector<std::int64_t>& way, const std::vector<double>& spacing, double r2, double other2) {
    std::vector<std::int64_t> reach(way.size());
    for (std::size_t axis = 0; axis < way.size(); ++axis)
        reach[axis] = static_cast<std::int64_t>(std::sqrt(r2) / spacing[axis]) + 1;
    std::vector<std::int64_t> at(way.size());
    const auto go = [&](const auto& self, std::size_t axis, double squared, double from_other) -> bool {
        if (axis == way.size()) return squared >= r2 || from_other < other2;
        const double w = spacing[axis] * spacing[axis];
        for (at[axis] = -reach[axis]; at[axis] <= reach[axis]; ++at[axis]) {
            const auto x = static_cast<double>(at[axis]), y = static_cast<double>(at[axis] - way[axis]);
            if (!self(self, axis + 1, squared + w * x * x, from_other + w * y * y)) return false;
        }
        return true;
    };
    return go(go, 0, 0, 0);
}

}  // namespace oracle
