// Distance fields of grids some of whose cells are masked out.
#pragma once

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Selects the fields whose masked-out cells get the value of a cell without a site (distances +inf whatever the sign).
/// In all other fields these cells keep what the caller's array held.
struct cleared_fields {
    bool distance = false, squared = false, index = false, coordinates = false, label = false, trusted = false;
};

/// distance_transform among the cells whose `where` is not zero. All other cells are masked out: they are not sites and
/// get no answer, but distances pass straight through them. The contract of distance_transform holds.
///
///   where    bool, int8 or uint8, the shape of `image`, any strides, 0 if one element serves many cells
///   out      may overlap neither `image` nor `where`
///   cleared  fields in which masked-out cells are overwritten
///
/// Cost: a distance_transform of squared distances (and of indices, if out has index, coordinates or label), and two
/// passes over the cells. A sign takes two of these transforms; sites::other_labels takes two for every bit in which
/// two labels differ, and on a device waits once to learn them (an error while the stream records a graph). Workspace:
/// that of the transform, and 6 to 35 bytes a cell; 1 byte, and the time of the transform of the wanted fields, if all
/// of them are in `cleared`, without sign, labels and `out.label`. Throws nearfield::error before any work is started.
void distance_transform_where(const host& on, const any_input<host>& image, const any_input<host>& where,
                              const fields<host>& out, const distance_options& options = {},
                              const cleared_fields& cleared = {});
void distance_transform_where(const device& on, const any_input<device>& image, const any_input<device>& where,
                              const fields<device>& out, const distance_options& options = {},
                              const cleared_fields& cleared = {});

}  // namespace nearfield
