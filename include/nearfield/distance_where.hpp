// Distance fields of grids of which some cells take no part.
#pragma once

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Fields in which cells that take no part get what a cell without a site gets (distances +inf whatever the sign); in
/// the others they keep what the caller's array held.
struct cleared_fields {
    bool distance = false, squared = false, index = false, coordinates = false, label = false, trusted = false;
};

/// distance_transform among the cells where `where` is not zero: the others are neither sites nor answered. Distances
/// go straight through them. Everything said there holds.
///
///   where    bool, int8 or uint8, the shape of `image`, any strides, 0 where one element serves many cells
///   out      may overlap neither `image` nor `where`
///   cleared  what becomes of cells that take no part
///
/// Cost: a distance_transform of squared distances (and of indices, where out has index, coordinates or label), and two
/// passes over the cells; with a sign two of them; with sites::other_labels two for every bit in which two labels
/// differ, and on a device it waits once to know them (not while the stream records a graph: then it is an error).
/// Workspace: that of the transform, and 6 to 35 bytes a cell. Throws nearfield::error before any work is started.
void distance_transform_where(const host& on, const any_input<host>& image, const any_input<host>& where,
                              const fields<host>& out, const distance_options& options = {},
                              const cleared_fields& cleared = {});
void distance_transform_where(const device& on, const any_input<device>& image, const any_input<device>& where,
                              const fields<device>& out, const distance_options& options = {},
                              const cleared_fields& cleared = {});

}  // namespace nearfield
