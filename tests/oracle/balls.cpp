#include "oracle/balls.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace oracle {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// All places of the grid, and the term that a number of cells along an axis adds to a squared distance.
class grid {
public:
    explicit grid(const ball_problem& p) : axes_(p.shape.size()), term_(axes_) {
        for (std::size_t cell = 0; cell < p.value.size(); ++cell) {
            auto rest = static_cast<std::int64_t>(cell);
            place_.resize(place_.size() + axes_);
            for (std::size_t axis = axes_; axis-- > 0; rest /= p.shape[axis])
                place_[cell * axes_ + axis] = rest % p.shape[axis];
        }
        for (std::size_t axis = 0; axis < axes_; ++axis)
            for (std::int64_t apart = 0; apart < p.shape[axis]; ++apart) {
                const bool round = p.border[axis] == edge::periodic;
                const auto d = static_cast<double>(round ? std::min(apart, p.shape[axis] - apart) : apart);
                term_[axis].push_back(p.spacing[axis] * p.spacing[axis] * (d * d));
            }
    }
    [[nodiscard]] std::int64_t place(std::size_t cell, std::size_t axis) const { return place_[cell * axes_ + axis]; }
    /// Squared distance; adds the last axis first.
    [[nodiscard]] double squared(std::size_t a, std::size_t b) const {
        double sum = 0;
        for (std::size_t axis = axes_; axis-- > 0;)
            sum = sum + term_[axis][static_cast<std::size_t>(std::abs(place(a, axis) - place(b, axis)))];
        return sum;
    }

private:
    std::size_t axes_;
    std::vector<std::int64_t> place_;
    std::vector<std::vector<double>> term_;
};

}  // namespace

std::vector<double> radii2(const ball_problem& p) {
    const grid g(p);
    std::vector<double> found(p.value.size(), 0);
    for (std::size_t c = 0; c < p.value.size(); ++c) {
        if (p.value[c] == 0) continue;
        double best = infinity;
        for (std::size_t q = 0; q < p.value.size(); ++q)
            if (p.labels ? p.value[q] != p.value[c] : p.value[q] == 0) best = std::min(best, g.squared(c, q));
        for (std::size_t axis = 0; axis < p.shape.size(); ++axis) {
            if (p.border[axis] != edge::closed) continue;
            const auto d = static_cast<double>(std::min(g.place(c, axis) + 1, p.shape[axis] - g.place(c, axis)));
            best = std::min(best, p.spacing[axis] * p.spacing[axis] * (d * d));
        }
        found[c] = best;
    }
    return found;
}

std::vector<double> covered2(const ball_problem& p, const std::vector<double>& r2) {
    const grid g(p);
    std::vector<double> found(r2.size(), 0);
    for (std::size_t c = 0; c < r2.size(); ++c) {
        if (std::isinf(r2[c])) found[c] = r2[c];
        if (!(r2[c] > 0) || std::isinf(r2[c])) continue;
        for (std::size_t q = 0; q < r2.size(); ++q)
            if (g.squared(c, q) < r2[c]) found[q] = std::max(found[q], r2[c]);
    }
    return found;
}

}  // namespace oracle
