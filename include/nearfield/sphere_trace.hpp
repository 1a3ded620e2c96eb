// Intersections of rays with a smooth level of a distance field.
#pragma once

#include "nearfield/render.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct sphere_trace_options {
    double level = 0;              ///< value of the field on the surface
    nearfield::spacing spacing{};  ///< length of a cell along each axis; the field's distances have its unit
};

/// The outputs for `count` rays; at least one is required.
template <class Place>
struct surface_hits {
    any_output<Place> entry{};    ///< float64, shape (count): t of the hit at origin + t * direction; +inf without one
    any_output<Place> normals{};  ///< float32, shape (count, axes): unit vectors in units of `spacing`, 0 without a hit
    any_output<Place> steps{};    ///< int32, shape (count): cells examined
};

/// Finds where each ray first meets the surface of a sampled distance field, signed or not.
///
/// f is the field, interpolated linearly along each axis between the centres of cells. A ray is free while f > level;
/// its hit is the first t >= 0 in the grid, from the first cell's centre to the last one's, with f <= level. In a cell
/// f is a cubic along the ray, and bisection between its extrema finds its first root.
///
/// The step is safe. Let D be a function on the grid that changes no faster than distance, as distance fields do
/// (signed ones with `half_cell`; without it they jump by two cells at the boundary), and let
/// V and W be random corners of the cells of points p and q, drawn with the interpolation's weights. Then
/// f(p) - f(q) = E[D(V) - D(W)] <= E|V - W| <= sqrt(|p - q|^2 + var V + var W), because V has the mean p and W the mean
/// q. With h the spacing and a the share of the way from corner to corner, var V = sum of h^2 a (1 - a) over the axes,
/// and var W <= sum of h^2 / 4. So from F = f(p) - level > 0 no surface is nearer than
/// sqrt(F^2 - var V - sum of h^2 / 4); F is at least what the least of the cell's eight corners exceeds the level by.
/// If the step does not leave the cell, the call examines the cell and moves to the next.
///
///   on          host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   field       float32, 2 or 3 axes, any strides; not changed. Values that are not finite count as very large
///   origins     float64, shape (count, axes): in cells, in the order of the field's axes
///   directions  float64, shape (count, axes): of any length but 0
///   out         receives the results
///
/// A ray that starts where f <= level, or enters the grid there, hits at once. A ray with NaN, infinity or no direction
/// hits nothing. Values are double, each operation rounded once and in the same order: equal bits on host and device.
///
/// Time O(1) a step, no workspace. Throws nearfield::error before any work is started: wrong rank, shapes, types,
/// overlap, options; no GPU.
///
/// Hart, "Sphere tracing: a geometric method for the antialiased ray tracing of implicit surfaces", The Visual Computer
/// 12, 1996.
void sphere_trace(const host& on, const any_input<host>& field, const any_input<host>& origins,
                  const any_input<host>& directions, const surface_hits<host>& out,
                  const sphere_trace_options& options = {});
void sphere_trace(const device& on, const any_input<device>& field, const any_input<device>& origins,
                  const any_input<device>& directions, const surface_hits<device>& out,
                  const sphere_trace_options& options = {});

/// Does the same for the rays of a camera, one through the middle of each pixel of a picture, as render() sends them.
/// They start at the eye, and t is the distance from it in units of `spacing`.
///
///   field  float32, 3 axes, any strides
///   out    shape (height, width) of the picture; normals have a further axis of 3
void sphere_trace(const host& on, const any_input<host>& field, const camera& from, const surface_hits<host>& out,
                  const sphere_trace_options& options = {});
void sphere_trace(const device& on, const any_input<device>& field, const camera& from, const surface_hits<device>& out,
                  const sphere_trace_options& options = {});

}  // namespace nearfield
