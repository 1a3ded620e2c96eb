// The engine of rows and lines on the CPU, for any form of a call.
//
// Rows (rows.hpp) turn the last axis of the image into costs, and into sites if they are wanted (sites.hpp); lines
// (lines.hpp) solve one further axis at a time; the epilogue writes the fields of a tile while it is in the first-level
// cache. Between passes, values lie in the order in which the next pass reads them: a tile's rows one after the other.
// Labels, signs and closed borders are first values of a line, not limits of its search; a power diagram is the same
// search from minus the weights. layout.hpp selects the number types.
//
// Declines nothing. Bytes: a number per cell (two fields if more than two axes are searched one by one), a bit per cell
// and axis of labels and signs, 8 per cell of a power diagram, and a few tiles per thread. Saito, Toriwaki, "New
// algorithms for Euclidean distance transformation of an n-dimensional digitized picture", 1994; van den Boomgaard et
// al., "The morphological structure of images", 1992 (parabolic structuring functions).
#pragma once

#include "exact/plan.hpp"

namespace nearfield::exact {

void solve_by_lines(const host& on, const plan& p, const arrays<host>& a);

}  // namespace nearfield::exact
