// Rays through random grids, and their hits by a walk from cell to cell.
#pragma once

#include <functional>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/raycast.hpp"

namespace nearfield::test {

struct ray_table {
    std::vector<std::int32_t> cells;
    std::vector<std::int8_t> faces;
    std::vector<double> entry;
    std::vector<std::int32_t> steps;  ///< not compared
};

struct ray_case {
    shape_t shape;
    flags_t mask;
    std::vector<double> origins, directions;

    [[nodiscard]] std::int64_t rays() const { return static_cast<std::int64_t>(origins.size() / shape.size()); }
};

using ray_runner = std::function<ray_table(const ray_case&)>;

/// Draws rays that meet edges, corners and faces, that start in cells and outside, and others.
ray_case drawn_rays(std::uint64_t seed, std::int64_t rays);
ray_table expected(const ray_case& c);
/// Checks the seeds [first, end) with this many rays each; stops at the first wrong one.
void check_rays(const ray_runner& run, std::int64_t rays, std::uint64_t first, std::uint64_t end);

/// Makes the call for contiguous arrays of a place.
template <class Place, class Pointer>
void raycast_of(const Place& on, const ray_case& c, Pointer mask, Pointer origins, Pointer directions,
                const std::array<void*, 4>& out, ray_skips skips) {
    const std::int64_t n = c.rays(), axes = static_cast<std::int64_t>(c.shape.size());
    const shape_t table{n, axes}, flat{n};
    const auto in = [](Pointer data, dtype type, const shape_t& shape) {
        return any_input<Place>::contiguous(data, type, shape);
    };
    const auto to = [](void* data, dtype type, const shape_t& shape) {
        return any_output<Place>::contiguous(data, type, shape);
    };
    raycast(on, in(mask, dtype::uint8, c.shape), in(origins, dtype::float64, table),
            in(directions, dtype::float64, table),
            {to(out[0], dtype::int32, table), to(out[1], dtype::int8, flat), to(out[2], dtype::float64, flat),
             to(out[3], dtype::int32, flat)},
            {.skips = skips});
}
ray_table table_for(const ray_case& c);

}  // namespace nearfield::test
