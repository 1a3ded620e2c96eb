// Rays and pictures of random distance fields and volumes.
#pragma once

#include <functional>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/render.hpp"
#include "nearfield/sphere_trace.hpp"

namespace nearfield::test {

inline constexpr std::int64_t picture_width = 48, picture_height = 40;

struct trace_case {
    shape_t shape;
    std::vector<float> field;
    std::vector<double> spacing, origins, directions;
    double level = 0;

    [[nodiscard]] std::int64_t rays() const { return static_cast<std::int64_t>(origins.size() / shape.size()); }
    [[nodiscard]] sphere_trace_options options() const { return {level, {spacing.data(), spacing.size()}}; }
};
struct trace_table {
    std::vector<double> entry;
    std::vector<float> normals;
    std::vector<std::int32_t> steps;
    bool operator==(const trace_table&) const = default;
};

/// Distances to random cells, some with signs, some with cells of unequal sides.
trace_case drawn_trace(std::uint64_t seed, std::int64_t rays);
/// The interpolated field at a point, computed in the simplest way.
double field_at(const trace_case& c, const std::vector<double>& point);
trace_table traced_on_host(const trace_case& c, int threads);
/// The rays of a camera's picture, row by row; for cases of 3 axes.
trace_table traced_by_camera(const trace_case& c, const camera& from, int threads);

/// A ball with a hole on a plate, as gray bytes.
std::vector<std::uint8_t> drawn_object(const shape_t& shape);
/// All kinds of pictures, with 48 x 40 pixels each.
std::vector<render_options> picture_options(const shape_t& shape);
std::vector<std::uint8_t> drawn_on_host(const std::vector<std::uint8_t>& volume, const shape_t& shape,
                                        const render_options& options, int threads);

}  // namespace nearfield::test
