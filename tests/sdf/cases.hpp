// Signed fields of random images: masks against the definition, coverage against shapes with known distances.
#pragma once

#include <functional>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/sdf.hpp"

namespace nearfield::test {

/// A call; `image` is uint8 in C order.
struct sdf_case {
    shape_t shape;
    std::vector<std::uint8_t> image;
    sdf_options options{};
    dtype out = dtype::float32;

    [[nodiscard]] shape_t out_shape() const;
};

/// Runs a call; returns the bytes of the result in C order.
using sdf_runner = std::function<std::vector<std::byte>(const sdf_case&)>;

std::vector<std::byte> on_host(const sdf_case& c, int threads = 1);
std::vector<float> floats(const std::vector<std::byte>& bytes);

/// Draws a call, the same for a seed on every machine: up to 24 pixels a side with 1 to 4 cells each, masks and
/// coverage, batches, periodic ends, all output types.
sdf_case drawn_sdf_case(std::uint64_t seed);

/// Fields of masks: the distance from a pixel's centre to every square on the other side, tiled along periodic axes.
std::vector<float> mask_by_definition(const sdf_case& c);

/// Signed distance, positive inside, at (y, x) in units of cells.
using shape_function = std::function<double(double, double)>;
shape_function disc(double y, double x, double radius);
shape_function half_plane(double y, double x, double angle);
/// A polygon with these corners in order.
shape_function polygon(std::vector<std::array<double, 2>> corners);
shape_function regular_polygon(double y, double x, double radius, int corners, double angle);

/// A shape's coverage of n * n cells, in 8 bits.
sdf_case covered(const shape_function& shape, std::int64_t n);

struct error_of {
    double rms, largest;
};
/// The error at pixels within `band` of the outline, except those near the image's ends.
error_of measured(const shape_function& shape, const sdf_case& c, const std::vector<float>& field, double band);

}  // namespace nearfield::test
