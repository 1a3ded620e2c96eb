// natural_neighbor() by its definition: each cell of a tiling against each cell.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "natural_neighbor/cases.hpp"

namespace nearfield::test {
namespace {

/// One image of a case, as three axes.
struct one_image {
    std::int64_t size[3] = {1, 1, 1};
    bool wraps[3] = {};
    double length[3] = {1, 1, 1};
    std::vector<double> value;
    std::vector<std::uint8_t> known;

    [[nodiscard]] std::vector<std::int64_t> at(std::int64_t i) const {
        return {i / size[2] / size[1], i / size[2] % size[1], i % size[2]};
    }
    /// Squared distance after the second cell is moved by a vector.
    [[nodiscard]] double apart(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) const {
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const auto d = static_cast<double>(a[k] - b[k]);
            sum += length[k] * length[k] * (d * d);
        }
        return sum;
    }
    /// Calls body(copy) for every copy of a cell that can lie within `reach` of a cell of the grid.
    template <class Body>
    void for_copies(std::int64_t i, double reach, const Body& body) const {
        const std::vector<std::int64_t> c = at(i);
        const auto turns = [&](int k) {
            return wraps[k] ? static_cast<std::int64_t>(reach / length[k]) / size[k] + 1 : 0;
        };
        for (std::int64_t z = -turns(0); z <= turns(0); ++z)
            for (std::int64_t y = -turns(1); y <= turns(1); ++y)
                for (std::int64_t x = -turns(2); x <= turns(2); ++x)
                    body(std::vector<std::int64_t>{c[0] + z * size[0], c[1] + y * size[1], c[2] + x * size[2]});
    }
    [[nodiscard]] std::vector<double> solved() const;
};

std::vector<double> one_image::solved() const {
    const auto cells = static_cast<std::int64_t>(value.size());
    std::vector<double> sum(value.size()), count(value.size());
    for (std::int64_t p = 0; p < cells; ++p) {
        double nearest2 = INFINITY, given = 0;
        std::vector<std::int64_t> site;
        for (std::int64_t s = 0; s < cells; ++s) {
            if (known[static_cast<std::size_t>(s)] == 0) continue;
            double away2 = INFINITY;
            for_copies(s, 0, [&](const auto& copy) { away2 = std::min(away2, apart(at(p), copy)); });
            const auto c = at(s);
            const bool before = site.empty() || std::tuple(c[2], c[1], c[0]) < std::tuple(site[2], site[1], site[0]);
            if (away2 < nearest2 || (away2 == nearest2 && before))
                nearest2 = away2, given = value[static_cast<std::size_t>(s)], site = c;
        }
        if (site.empty()) continue;
        for (std::int64_t q = 0; q < cells; ++q)
            for_copies(q, std::sqrt(nearest2), [&](const auto& copy) {
                if (apart(at(p), copy) < nearest2 || (nearest2 == 0 && copy == at(p)))
                    sum[static_cast<std::size_t>(q)] += given, count[static_cast<std::size_t>(q)] += 1;
            });
    }
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] /= count[i];
    return sum;
}

}  // namespace

std::vector<double> expected(const natural_case& c) {
    one_image one;
    const auto axes = static_cast<int>(c.shape.size());
    for (int axis = c.batch_axes; axis < axes; ++axis) {
        const auto k = static_cast<std::size_t>(axis), own = static_cast<std::size_t>(axis - c.batch_axes);
        const int to = 3 - axes + axis;
        one.size[to] = c.shape[k];
        if (!c.ends.empty()) one.wraps[to] = c.ends[k] == border::periodic;
        if (!c.spacing.empty()) one.length[to] = c.spacing[own + static_cast<std::size_t>(c.batch_axes)];
    }
    const auto cells = static_cast<std::size_t>(one.size[0] * one.size[1] * one.size[2]);
    std::vector<double> all;
    for (std::size_t first = 0; first < c.value.size(); first += cells) {
        one.value.assign(c.value.begin() + static_cast<std::ptrdiff_t>(first),
                         c.value.begin() + static_cast<std::ptrdiff_t>(first + cells));
        one.known.clear();
        for (std::size_t i = 0; i < cells; ++i)
            one.known.push_back(std::isfinite(one.value[i]) && (c.known.empty() || c.known[first + i] != 0) ? 1 : 0);
        const std::vector<double> more = one.solved();
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

}  // namespace nearfield::test
