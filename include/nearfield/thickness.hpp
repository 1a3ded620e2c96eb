// Local thickness: for every cell the largest ball in the foreground that covers it.
#pragma once

#include <span>

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct thickness_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    borders border{};              ///< what lies beyond the ends of each axis, as for distance_transform
    /// Every value other than 0 is a separate shape: a ball ends at the nearest cell of another value. Integers only.
    bool multilabel = false;
    int batch_axes = 0;  ///< leading axes that number images, each solved by itself
    /// Diameters in units of `spacing`, positive, ascending; the caller's memory, read during the call. The diameter of
    /// each ball is rounded down to one of them; balls smaller than the first are omitted. Empty: every ball keeps its
    /// own diameter.
    std::span<const double> sizes{};
};

/// The outputs of one call; at least one is required. Both have the image's shape, any strides, and overlap nothing.
template <class Place>
struct thickness_fields {
    /// float32 or float64, units of `spacing`: the diameter 2 sqrt(T2); one of `sizes` if these are given.
    any_output<Place> thickness{};
    /// uint32, uint64 or float64, squared units of `spacing`: T2, the squared radius; see squared_distance_type.
    any_output<Place> squared{};
};

/// Computes the local thickness of the cells of `image` that are not zero (NaN is not zero).
///
/// D2(c) is the squared distance of cell c to the nearest cell that is zero, by distance_transform, which also defines
/// spacing and borders. The open ball of c is B(c) = { p : |p - c|^2 < D2(c) }. Then
///
///   T2(p) = max { D2(c) : p in B(c) },    thickness(p) = 2 sqrt(T2(p)),
///
/// and 0 for cells that are zero. The result is exact: every ball counts, without a skeleton and without rounded radii.
/// Equal bits on host and device, whatever the number of threads. The thickness is the square root in double, doubled,
/// and rounded once to the output's type. Without any zero cell there is no largest ball: the thickness is +inf and T2
/// the type's maximum.
///
/// With `sizes` the squared radius of a ball becomes the smallest squared distance r2 on this grid for which
/// 2 sqrt(r2), as a double, is at least the size: the ball holds the cells nearer to c than size / 2. T2 is that r2,
/// the thickness is the size itself. Cells in no ball get 0.
///
///   on      host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image   1 to 8 axes, of which 1 to 3 are no batch axes, of any sizes; any element type, any strides; not changed
///   out     receives the results
///
/// Time: a few operations a cell for most shapes, O(radius^2) in plates with rough faces. Calls with D2 below 2^29
/// units take the fast way, on a device if spacing is equal and no axis periodic; others take about ten times longer.
/// Spacings without a common measure (such as 1 and sqrt(2)) are solved in double, by the same definition, with squared
/// distances rounded as distance_transform rounds them.
///
/// Workspace: that of distance_transform; 4 bytes a cell for D2, 8 if it may reach 2^29 or is not an integer; the same
/// again for T2 unless an output of that width can serve; on a device 1 byte a cell more in the fast way.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, options; no memory; no GPU.
///
/// Hildebrand, Rueegsegger, "A new method for the model-independent assessment of thickness in three-dimensional
/// images", Journal of Microscopy 185(1), 1997.
void local_thickness(const host& on, const any_input<host>& image, const thickness_fields<host>& out,
                     const thickness_options& options = {});
void local_thickness(const device& on, const any_input<device>& image, const thickness_fields<device>& out,
                     const thickness_options& options = {});

/// Computes the same for balls that the caller gives: `squared_radii` holds the squared radius of the ball of each
/// cell, in squared units of `spacing`; 0 and negative values are no ball. T2(p) is the largest squared radius of all
/// balls that hold p. Spacing must be integral, `multilabel` false.
///
///   squared_radii  uint8, uint16, int16, int32, uint32, int64 or uint64; values beyond 2^57 count as 2^57
///
/// Throws as local_thickness does.
void union_of_balls(const host& on, const any_input<host>& squared_radii, const thickness_fields<host>& out,
                    const thickness_options& options = {});
void union_of_balls(const device& on, const any_input<device>& squared_radii, const thickness_fields<device>& out,
                    const thickness_options& options = {});

struct porosimetry_options {
    nearfield::spacing spacing{};  ///< these three as in thickness_options
    borders border{};
    std::span<const double> sizes{};
    int connectivity = 1;  ///< cells between which the centre of a ball moves: see watershed_options
};

/// Computes for every cell the largest ball that enters through the inlets and covers it.
///
/// D2 is as in local_thickness. A centre moves between neighbouring cells, and its ball fits wherever D2 is at least
/// its squared radius. W(c) is the largest squared radius of a ball that can go from an inlet to c: the largest value,
/// over all ways, of the least D2 on the way. Then T2(p) = max { W(c) : |p - c|^2 < W(c) }, 0 if no ball covers p.
///
///   mask    as the image of local_thickness, without batch axes; watershed() limits axes and cells
///   inlets  shape of mask, any integer type: the inlets are the cells that are not 0
///   out     as for local_thickness
///
/// Workspace: that of local_thickness, and during the search for ways that of watershed() for an image of D2.
/// Throws as local_thickness and watershed do, before any work is done.
void porosimetry(const host& on, const any_input<host>& mask, const any_input<host>& inlets,
                 const thickness_fields<host>& out, const porosimetry_options& options = {});
void porosimetry(const device& on, const any_input<device>& mask, const any_input<device>& inlets,
                 const thickness_fields<device>& out, const porosimetry_options& options = {});

}  // namespace nearfield
