// The medial axis of a shape, and the reconstruction of a shape from balls.
#pragma once

#include <cstdint>

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Selects the definition of the axis.
enum class axis_method : std::uint8_t {
    /// The integer medial axis of Hesselink and Roerdink: a local test of the nearest sites of neighbouring cells.
    integer,
    /// Ball centres: cells whose ball no neighbour's ball is known to contain. The balls cover the shape exactly.
    balls,
    /// Balls of `balls` that own a cell of the shape in the power diagram of them all: they still cover the shape.
    reduced,
};

/// Condition on the pairs of neighbours that count for axis_method::integer. f(p) and f(q) are the nearest sites of the
/// neighbours p and q, e = f(p) - f(q), and g = `gamma`:
enum class pruning : std::uint8_t {
    constant,     ///< |e| > g: a length. g <= 1 keeps all that the definition has
    linear,       ///< |e| > g |(p - f(p)) + (q - f(q))|: g is the tangent of half an angle
    square_root,  ///< |e|^2 > g |(p - f(p)) + (q - f(q))| + 2 (p - q).e + C, C half the squared diagonal of a cell
    angle,        ///< the angle between f(p) and f(q), seen from the middle of p and q, is at least g degrees
};

struct medial_axis_options {
    nearfield::spacing spacing{};                     ///< as in distance_options
    nearfield::sites sites = nearfield::sites::zero;  ///< cells outside of the shape
    borders border{};                                 ///< as in distance_options
    int batch_axes = 0;                               ///< leading axes that number images, each with its own axis
    axis_method method = axis_method::integer;
    pruning prune = pruning::constant;  ///< for axis_method::integer; the other methods ignore it
    double gamma = 1;                   ///< in units of the spacing (constant), without a unit, or in degrees (angle)
};

/// The outputs of one call. `axis` is required. All have the image's shape and any strides, but may overlap neither the
/// image nor each other.
template <class Place>
struct medial_axis_fields {
    any_output<Place> axis{};      ///< bool or uint8: 1 on the axis, else 0
    any_output<Place> distance{};  ///< distance of every cell, as in `fields`: on the axis the radius
    any_output<Place> squared{};   ///< its square, as in `fields`
    any_output<Place> index{};     ///< nearest site of every cell, as in `fields`
    /// int64, or int32 if that suffices, for axis_method::integer: on the axis f(q) of the neighbour q that puts the
    /// cell there and has the largest |e| (ties: axis by axis, the neighbour before the cell first). -1 off the axis,
    /// and if that site lies beyond a closed border.
    any_output<Place> second{};
};

/// Computes the medial axis of the shape that consists of the cells that are not sites.
///
/// Integer medial axis: p and q are face neighbours, at least one of them in the shape. Unless |e| is at most one step
/// along an axis, or `prune` drops the pair, p is on the axis if e.(f(p) + f(q) - p - q) >= 0, and q if it is <= 0;
/// cells outside of the shape never are. f is the nearest site by the tie rule of distance_transform. The axis may be
/// two cells thick and need not be connected: it is for measurement, not for tracing.
///
/// Ball centres: a cell c with squared distance r2 is dropped if a neighbour c + v (8 in 2-D, 26 in 3-D) has a squared
/// distance R2 > r2 - 1 + |v|^2 + 2 floor(sqrt((r2 - 1) |v|^2)). Then every lattice point within r2 of c is within R2
/// of c + v. Radii grow along a chain of such neighbours, so it ends at a ball that is kept: the union of the balls
/// that are kept is the shape. Every ball that no other one contains is kept, and so are some others.
///
/// With sites::other_labels every label is a shape: the answer is that of a loop over labels. Along a
/// periodic axis f(p) is the copy nearest to p, the lower one of two. Along a closed axis the first cell
/// beyond either end is a site and a neighbour; of several equally near ones that with the smallest
/// coordinates is the nearest, if it is nearer than every site of the grid. Without any site the axis is
/// empty.
///
///   on      host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image   1 to 3 axes besides those of a batch, any element type (labels: integers), any strides; not changed
///   out     receives the results
///
/// Integral spacing, and spacings that are multiples of one length: all tests are exact, in integers; gamma^2 of
/// `linear` and `square_root` and cos^2 of an angle are rounded to a multiple of 2^-24, and square_root measures in the
/// common length. Other spacings: in double, axis_method::integer only. Equal bits on host and device.
///
/// Time O(cells) after distance_transform, `reduced` after power_diagram too. Workspace besides theirs, bytes a cell: 4
/// for the nearest sites (8 from 2^31 cells of an image on), unless out.index is given; on the host instead some 2, or
/// 10 with short lines, for masks in unit spacing with open borders, no pruning and no site 8192 cells away; `balls` 4
/// or 8 for squared distances, unless out.squared serves; `reduced` 5 or 9 more.
///
/// Throws nearfield::error before any work is started: as distance_transform; more than 3 axes; largest squared
/// distances of 2^46 units and more with a pruning other than `constant`, and with `balls` and `reduced` of 2^53, or of
/// 2^60 over the squared diagonal of a cell.
///
/// Hesselink, Roerdink, "Euclidean skeletons of digital image and volume data in linear time by the integer medial axis
/// transform", IEEE TPAMI 30(12), 2008; Coeurjolly, Montanvert, "Optimal separable algorithms to compute the reverse
/// Euclidean distance transformation and discrete medial axis in arbitrary dimension", IEEE TPAMI 29(3), 2007.
void medial_axis(const host& on, const any_input<host>& image, const medial_axis_fields<host>& out,
                 const medial_axis_options& options = {});
void medial_axis(const device& on, const any_input<device>& image, const medial_axis_fields<device>& out,
                 const medial_axis_options& options = {});

struct reconstruct_options {
    nearfield::spacing spacing{};  ///< that of the squared radii
    borders border{};              ///< balls continue at the other end of a periodic axis, and end at others
    int batch_axes = 0;
};

/// Computes the union of balls: every cell p with |p - c|^2 < squared(c) for a cell c of the axis gets the axis' value
/// at the c with the smallest |p - c|^2 - squared(c) (ties as in power_diagram), every other cell 0. So a mask gives a
/// mask, and labels at the centres give labels.
///
///   axis     bool or integers of 1 to 8 bytes: balls are at cells that are not zero
///   squared  shape of `axis`: integers of 1 to 8 bytes, float32 or float64; read on the axis only
///   out      shape and element type of `axis`; may overlap neither input
///
/// The axes of axis_method::balls and axis_method::reduced give the shape back exactly, if spacings are multiples of
/// one length. Cost and errors as power_diagram; workspace 8 bytes a cell more, 16 if radii are not integers.
void reconstruct(const host& on, const any_input<host>& axis, const any_input<host>& squared,
                 const any_output<host>& out, const reconstruct_options& options = {});
void reconstruct(const device& on, const any_input<device>& axis, const any_input<device>& squared,
                 const any_output<device>& out, const reconstruct_options& options = {});

}  // namespace nearfield
