// Newton's method for the masses of power regions: the derivative of masses by powers is a Laplacian of their graph.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "centroidal/capacity.hpp"

namespace nearfield::centroidal {
namespace {

/// Calls use(part, next part along the axis) for all pairs of adjacent parts.
template <class Use>
void for_each_face(const problem& p, const Use& use) {
    const std::int64_t stride[] = {p.size[1] * p.size[2], p.size[2], 1};
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t n = p.size[axis], by = stride[axis], block = by * n;
        if (n == 1) continue;
        for (std::int64_t first = 0; first < p.parts(); first += block) {
            for (std::int64_t i = first; i < first + block - by; ++i) use(i, i + by);
            if (p.wraps[axis])
                for (std::int64_t i = first; i < first + by; ++i) use(i + block - by, i);
        }
    }
}

/// A symmetric, positive semidefinite matrix whose rows sum to zero.
struct laplacian {
    struct entry {
        std::int32_t column;
        double value;
    };
    std::vector<std::int64_t> begin;
    std::vector<entry> off;
    std::vector<double> diagonal;

    /// Computes to = this times x; returns x . to.
    double times(const std::vector<double>& x, std::vector<double>& to) const {
        double dot = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            double sum = diagonal[i] * x[i];
            for (std::int64_t k = begin[i]; k < begin[i + 1]; ++k) {
                const entry& e = off[static_cast<std::size_t>(k)];
                sum -= e.value * x[static_cast<std::size_t>(e.column)];
            }
            to[i] = sum, dot += sum * x[i];
        }
        return dot;
    }
};

/// Derivative of mass by power: raising it by 1 moves a border's faces by 1 / (2 weight |difference of the sites|).
double answer_of(const power_regions& r, std::size_t site, const shared_border& to, double richer, double blend) {
    double apart = 0;
    for (int axis = 0; axis < 3; ++axis)
        apart += static_cast<double>(
            r.p.weight[axis] *
            std::abs(step(r.p, axis, r.places[site].at[axis], r.places[static_cast<std::size_t>(to.other)].at[axis])));
    const double density = (static_cast<double>(to.density) / 2 + richer * static_cast<double>(to.faces)) / (1 + blend);
    return density / (2 * apart);
}

laplacian laplacian_of(const power_regions& r, double blend, double floor) {
    const shared_borders borders = borders_of(r);
    const std::size_t n = r.places.size();
    const double mean = std::accumulate(r.capacity.begin(), r.capacity.end(), 0.) / static_cast<double>(r.p.parts()),
                 richer = (blend + floor) * mean;
    laplacian made;
    made.begin.assign(n + 1, 0), made.diagonal.assign(n, 0), made.off.resize(2 * borders.all.size());
    for (std::size_t i = 0; i < n; ++i) {
        made.begin[i + 1] += borders.begin[i + 1] - borders.begin[i];
        for (std::int64_t k = borders.begin[i]; k < borders.begin[i + 1]; ++k)
            ++made.begin[static_cast<std::size_t>(borders.all[static_cast<std::size_t>(k)].other) + 1];
    }
    std::partial_sum(made.begin.begin(), made.begin.end(), made.begin.begin());
    std::vector<std::int64_t> next(made.begin.begin(), made.begin.end() - 1);
    for (std::size_t i = 0; i < n; ++i)
        for (std::int64_t k = borders.begin[i]; k < borders.begin[i + 1]; ++k) {
            const shared_border& to = borders.all[static_cast<std::size_t>(k)];
            const auto j = static_cast<std::size_t>(to.other);
            const double value = answer_of(r, i, to, richer, blend);
            made.off[static_cast<std::size_t>(next[i]++)] = {to.other, value};
            made.off[static_cast<std::size_t>(next[j]++)] = {static_cast<std::int32_t>(i), value};
            made.diagonal[i] += value, made.diagonal[j] += value;
        }
    for (double& each : made.diagonal)
        if (!(each > 0)) each = 1;  // a region without parts
    return made;
}

void subtract_mean(std::vector<double>& x) {
    const double mean = std::accumulate(x.begin(), x.end(), 0.) / static_cast<double>(x.size());
    for (double& each : x) each -= mean;
}

}  // namespace

shared_borders borders_of(const power_regions& r) {
    const std::size_t n = r.places.size();
    shared_borders made;
    made.begin.assign(n + 1, 0);
    const auto pairs = [&](const auto& use) {
        for_each_face(r.p, [&](std::int64_t i, std::int64_t j) {
            const std::int32_t a = r.label[static_cast<std::size_t>(i)], b = r.label[static_cast<std::size_t>(j)];
            if (a != b) use(static_cast<std::size_t>(std::min(a, b)), std::max(a, b), r.mass_of[i] + r.mass_of[j]);
        });
    };
    pairs([&](std::size_t a, std::int32_t, int) { ++made.begin[a + 1]; });
    std::partial_sum(made.begin.begin(), made.begin.end(), made.begin.begin());
    std::vector<std::int64_t> next(made.begin.begin(), made.begin.end() - 1);
    std::vector<shared_border> seen(static_cast<std::size_t>(made.begin.back()));
    pairs([&](std::size_t a, std::int32_t b, int density) {
        seen[static_cast<std::size_t>(next[a]++)] = {b, 1, density};
    });
    for (std::size_t a = 0; a < n; ++a) {
        const auto first = seen.begin() + made.begin[a], last = seen.begin() + made.begin[a + 1];
        std::sort(first, last, [](const shared_border& x, const shared_border& y) { return x.other < y.other; });
        made.begin[a] = std::ssize(made.all);
        for (auto each = first; each != last; ++each) {
            if (each == first || made.all.back().other != each->other) made.all.push_back({each->other, 0, 0});
            made.all.back().faces += each->faces, made.all.back().density += each->density;
        }
    }
    made.begin[n] = std::ssize(made.all);
    return made;
}

std::vector<double> newton_step(const power_regions& r, double blend, double floor,
                                const std::vector<double>& missing) {
    const laplacian of = laplacian_of(r, blend, floor);
    const std::size_t n = missing.size();
    std::vector<double> x(n, 0.), rest = missing, by(n), way(n), image(n);
    subtract_mean(rest);
    const auto near = [&] {  // divides the residual by the diagonal; returns their dot product
        double dot = 0;
        for (std::size_t i = 0; i < n; ++i) by[i] = rest[i] / of.diagonal[i], dot += by[i] * rest[i];
        return dot;
    };
    double left = near();
    const double enough = 1e-8 * left;
    way = by;
    for (int i = 0; i < 2000 && left > enough; ++i) {
        const double length = of.times(way, image);
        if (!(length > 0)) break;
        const double far = left / length, before = left;
        for (std::size_t k = 0; k < n; ++k) x[k] += far * way[k], rest[k] -= far * image[k];
        left = near();
        for (std::size_t k = 0; k < n; ++k) way[k] = by[k] + left / before * way[k];
    }
    subtract_mean(x);
    return x;
}

}  // namespace nearfield::centroidal
