#include "oracle/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <type_traits>

namespace oracle {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using point = std::vector<std::int64_t>;

std::int64_t product(const point& shape, std::size_t first, std::size_t last) {
    std::int64_t n = 1;
    for (std::size_t axis = first; axis < last; ++axis) n *= shape[axis];
    return n;
}

bool whole_spacing(const option_problem& p) {
    for (std::size_t axis = static_cast<std::size_t>(p.batch_axes); axis < p.shape.size(); ++axis) {
        if (p.spacing[axis] != std::floor(p.spacing[axis])) return false;
    }
    return true;
}

// Wide enough for every sum that can occur, including those beyond open borders of any length.
__extension__ typedef __int128 integer;

/// True if integers serve: no squared distance of two cells, or its numerator in quarters, reaches 2^62.
bool in_integers(const option_problem& p) {
    if (!whole_spacing(p) || (!p.power.empty() && !p.whole_power)) return false;
    const long double apart = bound_of(p).largest * (p.half_cell ? 4 : 1);
    long double largest = apart;
    for (double w : p.power) largest = std::max(largest, apart + std::fabs(static_cast<long double>(w)));
    return largest < 4611686018427387904.0L;
}

/// True if no squared distance in these integral spacings, in quarters with half cells, reaches 2^52.
bool countable(const option_problem& p, const std::vector<double>& lengths) {
    integer apart = 0;
    for (std::size_t axis = static_cast<std::size_t>(p.batch_axes); axis < p.shape.size(); ++axis) {
        const std::int64_t n = p.shape[axis];
        const integer cells = std::max<std::int64_t>(p.border[axis] == edge::periodic ? n / 2 : n - 1, 1);
        const auto length = static_cast<integer>(lengths[axis]);
        apart += length * length * (p.half_cell ? (2 * cells - 1) * (2 * cells - 1) : cells * cells);
    }
    return p.power.empty() && apart < 4503599627370496;
}

/// Spacings as integer multiples of one length, and the square of that length; empty if they are no such
/// multiples.
struct counted_spacing {
    std::vector<double> lengths;
    double unit2 = 1;
};
counted_spacing counted_spacing_of(const option_problem& p) {
    const auto first = static_cast<std::size_t>(p.batch_axes);
    const auto begin = p.spacing.begin() + p.batch_axes;
    if (std::all_of(begin, p.spacing.end(), [&](double s) { return s == *begin; })) {
        counted_spacing same{std::vector<double>(p.spacing.size(), 1), *begin * *begin};
        return countable(p, same.lengths) ? same : counted_spacing{};
    }
    if (whole_spacing(p)) return {};
    for (int parts = 2; parts <= 1000; ++parts) {
        std::vector<double> lengths(p.spacing.size(), 1);
        std::int64_t common = 0;
        bool all = true;
        for (std::size_t axis = first; axis < p.spacing.size(); ++axis) {
            lengths[axis] = std::floor(p.spacing[axis] * parts + 0.5);
            all = all && lengths[axis] >= 1 && lengths[axis] < 67108864 && lengths[axis] / parts == p.spacing[axis];
            if (all) common = std::gcd(common, static_cast<std::int64_t>(lengths[axis]));
        }
        if (!all) continue;
        for (std::size_t axis = first; axis < p.spacing.size(); ++axis) lengths[axis] /= static_cast<double>(common);
        if (!countable(p, lengths)) return {};
        return {lengths, static_cast<double>(common * common) / (static_cast<double>(parts) * parts)};
    }
    return {};
}

enum class arithmetic : std::uint8_t { integers, counted, doubles };

arithmetic arithmetic_of(const option_problem& p) {
    if (in_integers(p)) return arithmetic::integers;
    return counted_spacing_of(p).lengths.empty() ? arithmetic::doubles : arithmetic::counted;
}

/// Distances in the arithmetic of V; integers are quarters if half cells are asked for.
template <class V>
class measure {
public:
    measure(const option_problem& p, arithmetic by) : p_(p), by_(by) {
        const counted_spacing counted = by == arithmetic::counted ? counted_spacing_of(p) : counted_spacing{};
        unit2_ = counted.unit2;
        for (double s : by == arithmetic::counted ? counted.lengths : p.spacing) {
            const V length = static_cast<V>(s);
            V weight = length * length;
            if constexpr (std::is_same_v<V, double>) weight = p.half_cell ? weight / 4 : weight;
            weight_.push_back(weight);
        }
    }
    /// True if values are integers, which are never rounded.
    [[nodiscard]] bool whole() const { return by_ == arithmetic::integers; }
    [[nodiscard]] bool rounds() const { return by_ == arithmetic::doubles; }

    [[nodiscard]] V term(std::size_t axis, std::int64_t d) const {
        const std::int64_t steps = p_.half_cell ? std::max<std::int64_t>(2 * std::abs(d) - 1, 0) : d;
        return weight_[axis] * static_cast<V>(steps * steps);
    }
    /// Number of cells between two coordinates; along a periodic axis on the shorter way.
    [[nodiscard]] std::int64_t steps(std::size_t axis, std::int64_t from, std::int64_t to) const {
        const std::int64_t d = std::abs(from - to);
        return p_.border[axis] == edge::periodic ? std::min(d, p_.shape[axis] - d) : d;
    }
    [[nodiscard]] V between(const point& here, const point& there, std::int64_t site) const {
        V sum = p_.power.empty() ? V{0} : static_cast<V>(-p_.power[static_cast<std::size_t>(site)]);
        for (std::size_t axis = here.size(); axis-- > static_cast<std::size_t>(p_.batch_axes);)
            sum = sum + term(axis, steps(axis, here[axis], there[axis]));
        return sum;
    }
    /// Finds the nearest of the first cells beyond the ends of the axes with this border; false if there is none.
    [[nodiscard]] bool beyond(edge kind, const point& here, V& value) const {
        bool any = false;
        for (std::size_t axis = static_cast<std::size_t>(p_.batch_axes); axis < here.size(); ++axis) {
            if (p_.border[axis] != kind) continue;
            const V along = term(axis, std::min(here[axis] + 1, p_.shape[axis] - here[axis]));
            if (!any || along < value) value = along;
            any = true;
        }
        return any;
    }
    [[nodiscard]] double in_double(V value) const {
        const double v = static_cast<double>(value);
        if (rounds()) return v;
        if (whole()) return p_.half_cell ? v / 4 : v;
        return (p_.half_cell ? unit2_ / 4 : unit2_) * v;
    }

private:
    const option_problem& p_;
    arithmetic by_;
    std::vector<V> weight_;
    double unit2_ = 1;  ///< squared unit of counted numbers
};

/// True if site a precedes site b: compares the last axis first.
bool before(const point& a, const point& b) {
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

template <class V>
class search {
public:
    search(const option_problem& p, arithmetic by, option_answer& a) : p_(p), a_(a), by_(p, by) {
        a.whole = by_.whole();
        image_ = product(p.shape, static_cast<std::size_t>(p.batch_axes), p.shape.size());
    }

    /// Appends the result of `cell` among `sites`, which are any cells of its image.
    void add(std::int64_t cell, const std::vector<std::int64_t>& sites, const std::vector<point>& at) {
        const point here = coordinates(cell);
        V best{};
        std::int64_t winner = -1;
        std::size_t winner_at = 0;
        bool ambiguous = false;
        for (std::size_t k = 0; k < sites.size(); ++k) {
            if (!p_.candidate(static_cast<std::size_t>(cell), static_cast<std::size_t>(sites[k]))) continue;
            const V value = by_.between(here, at[k], sites[k]);
            if (winner >= 0 && value == best)
                ambiguous = ambiguous || !same_sum(here, at[k], sites[k], at[winner_at], winner);
            if (winner < 0 || value < best) ambiguous = false;
            const bool better = winner < 0 || value < best || (value == best && before(at[k], at[winner_at]));
            if (better) best = value, winner = sites[k], winner_at = k;
        }
        V border{};
        bool found = winner >= 0;
        if (by_.beyond(edge::closed, here, border) && (!found || border < best)) {
            found = true, best = border, winner = -1, ambiguous = false;
        }
        const bool too_far = p_.power.empty() && found && std::sqrt(by_.in_double(best)) > p_.max_distance;
        if (too_far) found = ambiguous = false, winner = -1;
        store(cell, here, found, best, winner, ambiguous && by_.rounds());
        if (p_.part.empty() || p_.part[static_cast<std::size_t>(cell)] != 0) return;
        a_.squared.back() = inf, a_.source.back() = a_.index.back() = -1;
        a_.found.back() = a_.negative.back() = a_.ambiguous.back() = a_.trusted.back() = 0;
    }

    [[nodiscard]] point coordinates(std::int64_t cell) const {
        point at(p_.shape.size());
        for (std::size_t axis = at.size(); axis-- > 0; cell /= p_.shape[axis]) at[axis] = cell % p_.shape[axis];
        return at;
    }

private:
    /// True if the values of two sites are equal before any rounding, because they are sums of the same terms.
    [[nodiscard]] bool same_sum(const point& here, const point& a, std::int64_t site_a, const point& b,
                                std::int64_t site_b) const {
        if (!p_.power.empty() &&
            p_.power[static_cast<std::size_t>(site_a)] != p_.power[static_cast<std::size_t>(site_b)])
            return false;
        for (std::size_t axis = static_cast<std::size_t>(p_.batch_axes); axis < here.size(); ++axis) {
            if (by_.steps(axis, here[axis], a[axis]) != by_.steps(axis, here[axis], b[axis])) return false;
        }
        return true;
    }

    void store(std::int64_t cell, const point& here, bool found, V best, std::int64_t winner, bool ambiguous) {
        a_.units.push_back(by_.whole() ? static_cast<std::int64_t>(best) : 0);
        a_.squared.push_back(found ? by_.in_double(best) : inf);
        a_.found.push_back(found);
        const bool inside = p_.inside(static_cast<std::size_t>(cell));
        a_.negative.push_back(p_.sign != side::none && inside == (p_.sign == side::inside_negative));
        a_.source.push_back(winner);
        a_.index.push_back(winner < 0 ? -1 : winner % image_);
        a_.ambiguous.push_back(ambiguous);
        V open{};
        if (!by_.beyond(edge::open, here, open)) a_.trusted.push_back(1);
        else if (found) a_.trusted.push_back(!(open < best));
        else a_.trusted.push_back(std::sqrt(by_.in_double(open)) > p_.max_distance);
    }

    const option_problem& p_;
    option_answer& a_;
    measure<V> by_;
    std::int64_t image_ = 1;
};

template <class V>
void all_cells(const option_problem& p, option_answer& a) {
    search<V> by(p, arithmetic_of(p), a);
    const std::int64_t cells = product(p.shape, 0, p.shape.size());
    const std::int64_t image = product(p.shape, static_cast<std::size_t>(p.batch_axes), p.shape.size());
    std::vector<std::int64_t> others;
    std::vector<point> at;
    for (std::int64_t cell = 0; cell < cells; ++cell) {
        if (cell % image == 0) {
            others.clear(), at.clear();
            for (std::int64_t k = 0; k < image; ++k) others.push_back(cell + k), at.push_back(by.coordinates(cell + k));
        }
        by.add(cell, others, at);
    }
}

template <class V>
void some_cells(const option_problem& p, option_answer& a, const std::vector<std::int64_t>& cells,
                const std::vector<std::int64_t>& sites) {
    search<V> by(p, arithmetic_of(p), a);
    std::vector<point> at;
    for (std::int64_t site : sites) at.push_back(by.coordinates(site));
    for (std::int64_t cell : cells) by.add(cell, sites, at);
}

}  // namespace

bool option_problem::inside(std::size_t cell) const { return (zero[cell] != 0) == (sites == rule::nonzero); }

bool option_problem::candidate(std::size_t cell, std::size_t site) const {
    if (!part.empty() && part[site] == 0) return false;
    if (!power.empty() && !(power[site] > -inf)) return false;  // NaN too
    if (sites == rule::other_labels) {
        if (zero[cell] != 0) return sign == side::none || zero[site] == 0;
        return value[site] != value[cell];
    }
    return sign == side::none ? !inside(site) : inside(site) != inside(cell);
}

option_bound bound_of(const option_problem& p) {
    option_bound bound;
    long double nearest_closed = -1;
    for (std::size_t axis = static_cast<std::size_t>(p.batch_axes); axis < p.shape.size(); ++axis) {
        const std::int64_t n = p.shape[axis];
        const auto term = [&](std::int64_t d) {
            const long double s = static_cast<long double>(p.spacing[axis]);
            const long double steps =
                p.half_cell ? std::max(static_cast<long double>(d) - 0.5L, 0.0L) : static_cast<long double>(d);
            return s * s * steps * steps;
        };
        const std::int64_t apart = p.border[axis] == edge::periodic ? n / 2 : n - 1;
        bound.largest += term(p.border[axis] == edge::closed ? std::max<std::int64_t>(apart, 1) : apart);
        bound.reached += term(apart);
        const long double closed = term((n + 1) / 2);
        if (p.border[axis] == edge::closed && (nearest_closed < 0 || closed < nearest_closed)) nearest_closed = closed;
    }
    if (nearest_closed >= 0) bound.reached = nearest_closed;  // at the middle cell of an image without sites
    return bound;
}

option_answer solve(const option_problem& p) {
    option_answer a;
    if (arithmetic_of(p) == arithmetic::doubles) all_cells<double>(p, a);
    else all_cells<integer>(p, a);
    return a;
}

option_answer solve_some(const option_problem& p, const std::vector<std::int64_t>& cells,
                         const std::vector<std::int64_t>& sites) {
    option_answer a;
    if (arithmetic_of(p) == arithmetic::doubles) some_cells<double>(p, a, cells, sites);
    else some_cells<integer>(p, a, cells, sites);
    a.trusted.clear();
    return a;
}

double value_between(const option_problem& p, std::int64_t cell, std::int64_t site) {
    option_answer unused;
    if (!counted_spacing_of(p).lengths.empty()) {
        const search<integer> by(p, arithmetic::counted, unused);
        const measure<integer> counted(p, arithmetic::counted);
        return counted.in_double(counted.between(by.coordinates(cell), by.coordinates(site), site));
    }
    const search<double> by(p, arithmetic::doubles, unused);
    return measure<double>(p, arithmetic::doubles).between(by.coordinates(cell), by.coordinates(site), site);
}

}  // namespace oracle
