#include "raycast/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "scale.hpp"

namespace nearfield::test {
namespace {

__extension__ using wide_int = __int128;
constexpr double none = std::numeric_limits<double>::infinity();

/// One ray as the header defines it: origin in 65536ths of a cell, direction with 2^26 as its largest component.
struct walker {
    std::vector<std::int64_t> origin, direction, cell;
    double longest = 0;

    walker(const double* o, const double* d, std::size_t axes) {
        for (std::size_t k = 0; k < axes; ++k) longest = std::max(longest, std::fabs(d[k]));
        for (std::size_t k = 0; k < axes; ++k) {
            origin.push_back(std::llrint(o[k] * 65536));
            direction.push_back(std::llrint(std::fabs(d[k]) / longest * 67108864) * (d[k] < 0 ? -1 : 1));
            cell.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(origin[k]) / 65536 + 0.5)));
        }
    }
    /// Distance from the origin to the plane by which the ray leaves the cell along an axis, in 65536ths.
    [[nodiscard]] std::int64_t way(std::size_t k) const {
        return direction[k] > 0 ? cell[k] * 65536 + 32768 - origin[k] : origin[k] - (cell[k] * 65536 - 32768);
    }
    [[nodiscard]] std::size_t next_axis() const {
        std::size_t best = direction.size();
        for (std::size_t k = direction.size(); k-- > 0;) {
            if (direction[k] == 0) continue;
            if (best == direction.size() || static_cast<wide_int>(way(k)) * std::abs(direction[best]) <
                                                static_cast<wide_int>(way(best)) * std::abs(direction[k]))
                best = k;
        }
        return best;
    }
};

}  // namespace

ray_table table_for(const ray_case& c) {
    const auto n = static_cast<std::size_t>(c.rays());
    return {std::vector<std::int32_t>(n * c.shape.size(), 7), std::vector<std::int8_t>(n, 7), std::vector<double>(n, 7),
            std::vector<std::int32_t>(n, 7)};
}

ray_table expected(const ray_case& c) {
    ray_table t = table_for(c);
    const std::size_t axes = c.shape.size();
    for (std::size_t i = 0; i < t.faces.size(); ++i) {
        std::fill_n(t.cells.begin() + static_cast<std::ptrdiff_t>(i * axes), axes, -1);
        t.faces[i] = -1, t.entry[i] = none;
        const double *o = c.origins.data() + i * axes, *d = c.directions.data() + i * axes;
        if (std::all_of(d, d + axes, [](double x) { return x == 0; }) || std::isnan(d[0])) continue;
        walker w(o, d, axes);
        std::size_t crossed = axes;
        double time = 0;
        for (bool goes_on = true; goes_on;) {
            std::int64_t index = 0;
            bool inside = true;
            for (std::size_t k = 0; k < axes; ++k) {
                inside = inside && w.cell[k] >= 0 && w.cell[k] < c.shape[k], index = index * c.shape[k] + w.cell[k];
                if (w.direction[k] >= 0 && w.cell[k] >= c.shape[k]) goes_on = false;
                if (w.direction[k] <= 0 && w.cell[k] < 0) goes_on = false;
            }
            if (inside && c.mask[static_cast<std::size_t>(index)] != 0) {
                for (std::size_t k = 0; k < axes; ++k) t.cells[i * axes + k] = static_cast<std::int32_t>(w.cell[k]);
                t.entry[i] = time;
                if (crossed < axes)
                    t.faces[i] = static_cast<std::int8_t>(2 * crossed + (w.direction[crossed] < 0 ? 1 : 0));
                break;
            }
            crossed = w.next_axis();
            const double speed = static_cast<double>(std::abs(w.direction[crossed])) / 67108864 * w.longest;
            time = static_cast<double>(w.way(crossed)) / 65536 / speed;
            w.cell[crossed] += w.direction[crossed] < 0 ? -1 : 1;
        }
    }
    return t;
}

ray_case drawn_rays(std::uint64_t seed, std::int64_t rays) {
    ray_case c;
    std::uint64_t state = seed;
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>((state = mix(state)) % n); };
    const auto real = [&] { return std::ldexp(static_cast<double>((state = mix(state)) >> 11), -53); };
    const std::size_t axes = below(4) == 0 ? 2 : 3;
    for (std::size_t k = 0; k < axes; ++k) c.shape.push_back(below(6) == 0 ? 1 : 1 + below(28));
    const double densities[] = {0, 0.0005, 0.002, 0.02, 0.2};
    c.mask = make_random(c.shape, densities[below(5)], seed);
    for (std::int64_t i = 0; i < rays; ++i) {
        const std::int64_t kind = below(4);
        for (std::size_t k = 0; k < axes; ++k) {
            const auto side = static_cast<double>(c.shape[k]);
            const double at = real() * (side + 24) - 12;
            c.origins.push_back(kind == 0 ? std::floor(at) + 0.5 : kind == 1 ? std::rint(at) : at);
            const double towards = real() * side - at;
            c.directions.push_back(kind <= 1 ? static_cast<double>(below(5) - 2) : kind == 2 ? towards : real() - 0.5);
        }
    }
    return c;
}

void check_rays(const ray_runner& run, std::int64_t rays, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t seed = first; seed < share(first, end); ++seed) {
        const ray_case c = drawn_rays(seed, rays);
        const ray_table found = run(c), wanted = expected(c);
        ASSERT_EQ(found.cells, wanted.cells) << "seed " << seed;
        ASSERT_EQ(found.faces, wanted.faces) << "seed " << seed;
        ASSERT_EQ(found.entry, wanted.entry) << "seed " << seed;
    }
}

}  // namespace nearfield::test
