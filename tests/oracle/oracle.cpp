#include "oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace oracle {
namespace {

std::int64_t cells_of(const std::vector<std::int64_t>& shape) {
    std::int64_t product = 1;
    for (std::int64_t n : shape) product *= n;
    return product;
}

/// True if site a precedes site b by its last coordinate, then by the one before it, and so on.
bool before(std::int64_t a, std::int64_t b, const std::vector<std::int64_t>& shape) {
    for (std::size_t axis = shape.size(); axis-- > 0; a /= shape[axis], b /= shape[axis]) {
        if (a % shape[axis] != b % shape[axis]) return a % shape[axis] < b % shape[axis];
    }
    return false;
}

/// Computes w * d^2 in the arithmetic of V; d^2 is exact in both.
template <class V>
V term(V weight, std::int64_t d) {
    return weight * static_cast<V>(static_cast<std::uint64_t>(d * d));
}

template <class V>
std::vector<V> weights_of(const std::vector<double>& spacing) {
    std::vector<V> weights;
    for (double s : spacing) {
        const V length = static_cast<V>(s);
        weights.push_back(length * length);
    }
    return weights;
}

/// Spacings as integer multiples of one length, and the square of that length. Empty if the multiples are no integers,
/// or if two cells may be 2^52 apart, squared.
struct counted_spacing {
    std::vector<double> lengths;
    double unit2 = 1;
};
bool countable(const std::vector<std::int64_t>& shape, const std::vector<double>& lengths) {
    long double apart = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const auto cells = static_cast<long double>(lengths[axis]) *
                           static_cast<long double>(std::max<std::int64_t>(shape[axis] - 1, 1));
        apart += cells * cells;
    }
    return apart < 4503599627370496.0L;
}
counted_spacing counted_spacing_of(const std::vector<std::int64_t>& shape, const std::vector<double>& spacing) {
    if (std::all_of(spacing.begin(), spacing.end(), [&](double s) { return s == spacing[0]; })) {
        const std::vector<double> ones(spacing.size(), 1);
        return countable(shape, ones) ? counted_spacing{ones, spacing[0] * spacing[0]} : counted_spacing{};
    }
    if (std::all_of(spacing.begin(), spacing.end(), [](double s) { return s == std::floor(s); })) return {};
    for (int parts = 2; parts <= 1000; ++parts) {
        std::vector<double> lengths;
        std::int64_t common = 0;
        for (double s : spacing) {
            const double length = std::floor(s * parts + 0.5);
            if (length < 1 || length >= 67108864 || length / parts != s) break;
            lengths.push_back(length);
            common = std::gcd(common, static_cast<std::int64_t>(length));
        }
        if (lengths.size() < spacing.size()) continue;
        for (double& length : lengths) length /= static_cast<double>(common);
        if (!countable(shape, lengths)) return {};
        return {lengths, static_cast<double>(common * common) / (static_cast<double>(parts) * parts)};
    }
    return {};
}

template <class V>
struct solution {
    std::vector<V> value;  ///< undefined if index is -1
    std::vector<std::int64_t> index;
};

/// The sites of a problem, each with its coordinates.
struct site_list {
    std::vector<std::int64_t> index;
    std::vector<std::vector<std::int64_t>> at;

    void add(std::int64_t i, const std::vector<std::int64_t>& shape) {
        index.push_back(i);
        at.push_back(coordinates_of(i, shape));
    }
};

/// Finds the nearest of all sites to one cell.
template <class V>
void nearest(const std::vector<std::int64_t>& shape, const std::vector<V>& weights, const site_list& sites,
             std::int64_t cell, V& value, std::int64_t& index) {
    const auto here = coordinates_of(cell, shape);
    for (std::size_t s = 0; s < sites.index.size(); ++s) {
        V sum{};
        for (std::size_t axis = here.size(); axis-- > 0;)
            sum = sum + term(weights[axis], here[axis] - sites.at[s][axis]);
        const bool better = index < 0 || sum < value || (sum == value && before(sites.index[s], index, shape));
        if (better) value = sum, index = sites.index[s];
    }
}

template <class V>
solution<V> flat(const problem& p) {
    const auto weights = weights_of<V>(p.spacing);
    const auto cells = static_cast<std::size_t>(cells_of(p.shape));
    solution<V> best{std::vector<V>(cells), std::vector<std::int64_t>(cells, -1)};
    site_list sites;
    for (std::size_t i = 0; i < cells; ++i) {
        if (p.site[i]) sites.add(static_cast<std::int64_t>(i), p.shape);
    }
    for (std::size_t i = 0; i < cells; ++i) {
        nearest(p.shape, weights, sites, static_cast<std::int64_t>(i), best.value[i], best.index[i]);
    }
    return best;
}

/// Solves some cells of a grid that is too large to be solved as a whole.
template <class V>
solution<V> some(const std::vector<std::int64_t>& shape, const std::vector<double>& spacing,
                 const std::vector<std::int64_t>& site_indices, const std::vector<std::int64_t>& cells) {
    const auto weights = weights_of<V>(spacing);
    solution<V> best{std::vector<V>(cells.size()), std::vector<std::int64_t>(cells.size(), -1)};
    site_list sites;
    for (std::int64_t i : site_indices) sites.add(i, shape);
    for (std::size_t k = 0; k < cells.size(); ++k)
        nearest(shape, weights, sites, cells[k], best.value[k], best.index[k]);
    return best;
}

/// Solves one line. `old` holds the winners of the pass before; `at` yields the cell of a position.
template <class V>
class line_pass {
public:
    line_pass(const problem& p, const solution<V>& old, solution<V>& out, V weight)
        : p_(p), old_(old), out_(out), weight_(weight) {}

    void run(std::int64_t start, std::int64_t stride, std::int64_t length) {
        start_ = start, stride_ = stride;
        candidates_.clear();
        for (std::int64_t k = 0; k < length; ++k) {
            if (old_.index[at(k)] >= 0) candidates_.push_back(k);
        }
        std::size_t right = 0;  // the first candidate at or after q
        for (std::int64_t q = 0; q < length; ++q) {
            while (right < candidates_.size() && candidates_[right] < q) ++right;
            out_.index[at(q)] = -1;
            outward(at(q), q, right, length);
        }
    }

private:
    std::size_t at(std::int64_t k) const { return static_cast<std::size_t>(start_ + k * stride_); }

    /// Tries candidates from the nearest to the farthest. A candidate at distance d has a value of at least weight *
    /// d^2, also after rounding, so the search may stop there.
    void outward(std::size_t cell, std::int64_t q, std::size_t right, std::int64_t length) {
        std::size_t left = right;  // one after the next candidate before q
        while (left > 0 || right < candidates_.size()) {
            const std::int64_t below = left > 0 ? q - candidates_[left - 1] : length;
            const std::int64_t above = right < candidates_.size() ? candidates_[right] - q : length;
            const std::int64_t d = std::min(below, above);
            if (out_.index[cell] >= 0 && term(weight_, d) > out_.value[cell]) return;
            relax(cell, q, below < above ? candidates_[--left] : candidates_[right++]);
        }
    }

    void relax(std::size_t cell, std::int64_t q, std::int64_t k) {
        const V value = old_.value[at(k)] + term(weight_, q - k);
        const std::int64_t index = old_.index[at(k)];
        std::int64_t& best = out_.index[cell];
        if (best >= 0 && value > out_.value[cell]) return;
        if (best >= 0 && value == out_.value[cell] && !before(index, best, p_.shape)) return;
        out_.value[cell] = value, best = index;
    }

    const problem& p_;
    const solution<V>& old_;
    solution<V>& out_;
    V weight_;
    std::int64_t start_ = 0, stride_ = 0;
    std::vector<std::int64_t> candidates_;
};

template <class V>
solution<V> lines(const problem& p) {
    const auto weights = weights_of<V>(p.spacing);
    const std::int64_t cells = cells_of(p.shape);
    solution<V> now{std::vector<V>(static_cast<std::size_t>(cells)),
                    std::vector<std::int64_t>(static_cast<std::size_t>(cells), -1)};
    for (std::int64_t i = 0; i < cells; ++i) {
        if (p.site[static_cast<std::size_t>(i)]) now.index[static_cast<std::size_t>(i)] = i;
    }
    std::int64_t stride = 1;
    for (std::size_t axis = p.shape.size(); axis-- > 0;) {
        const std::int64_t length = p.shape[axis];
        solution<V> next = now;
        line_pass<V> pass(p, now, next, weights[axis]);
        for (std::int64_t i = 0; i < cells; ++i) {
            if (i / stride % length == 0) pass.run(i, stride, length);
        }
        now = std::move(next);
        stride *= length;
    }
    return now;
}

answer finish(width type, solution<std::uint64_t> found) {
    answer a;
    a.type = type;
    a.index = std::move(found.index);
    a.exact = std::move(found.value);
    a.squared.resize(a.exact.size());
    for (std::size_t i = 0; i < a.exact.size(); ++i) {
        if (a.index[i] < 0) a.exact[i] = no_site;
        a.squared[i] = a.index[i] < 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(a.exact[i]);
    }
    return a;
}

/// Converts counted numbers to squared distances.
solution<double> in_units(double unit2, const solution<std::uint64_t>& found) {
    solution<double> to{{}, found.index};
    for (std::uint64_t number : found.value) to.value.push_back(unit2 * static_cast<double>(number));
    return to;
}

answer finish(width type, solution<double> found) {
    answer a;
    a.type = type;
    a.index = std::move(found.index);
    a.squared = std::move(found.value);
    for (std::size_t i = 0; i < a.squared.size(); ++i) {
        if (a.index[i] < 0) a.squared[i] = std::numeric_limits<double>::infinity();
    }
    return a;
}

}  // namespace

std::vector<std::int64_t> coordinates_of(std::int64_t index, const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> c(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        c[axis] = index % shape[axis];
        index /= shape[axis];
    }
    return c;
}

width squared_width(const std::vector<std::int64_t>& shape, const std::vector<double>& spacing) {
    for (double s : spacing) {
        if (s != std::floor(s)) return width::f64;
    }
    // x87 long double has a 64-bit significand, so every sum below 2^63 is exact, and a larger one is recognised as
    // larger.
    static_assert(std::numeric_limits<long double>::digits >= 64);
    long double largest = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const long double reach = static_cast<long double>(spacing[axis]) * static_cast<long double>(shape[axis] - 1);
        largest += reach * reach;
    }
    if (largest < 4294967295.0L) return width::u32;
    return largest < 4611686018427387904.0L ? width::u64 : width::f64;
}

answer by_cells(const problem& p) {
    const width type = squared_width(p.shape, p.spacing);
    if (type != width::f64) return finish(type, flat<std::uint64_t>(p));
    const counted_spacing counted = counted_spacing_of(p.shape, p.spacing);
    if (counted.lengths.empty()) return finish(type, flat<double>(p));
    return finish(type, in_units(counted.unit2, flat<std::uint64_t>({p.shape, counted.lengths, p.site})));
}

answer at_cells(const std::vector<std::int64_t>& shape, const std::vector<double>& spacing,
                const std::vector<std::int64_t>& site_indices, const std::vector<std::int64_t>& cells) {
    const width type = squared_width(shape, spacing);
    if (type != width::f64) return finish(type, some<std::uint64_t>(shape, spacing, site_indices, cells));
    const counted_spacing counted = counted_spacing_of(shape, spacing);
    if (counted.lengths.empty()) return finish(type, some<double>(shape, spacing, site_indices, cells));
    const auto found = some<std::uint64_t>(shape, counted.lengths, site_indices, cells);
    return finish(type, in_units(counted.unit2, found));
}

answer by_lines(const problem& p) {
    const width type = squared_width(p.shape, p.spacing);
    if (type != width::f64) return finish(type, lines<std::uint64_t>(p));
    const counted_spacing counted = counted_spacing_of(p.shape, p.spacing);
    if (counted.lengths.empty()) return finish(type, lines<double>(p));
    return finish(type, in_units(counted.unit2, lines<std::uint64_t>({p.shape, counted.lengths, p.site})));
}

}  // namespace oracle
