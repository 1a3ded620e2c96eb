// Labels of images whose rows are short, by rows along a longer axis.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

/// Labels a copy of the image whose rows follow a longer axis, numbers the components in raster order of the image,
/// and writes them. Returns false and writes nothing if rows are not short, if no axis is long, or if the call has an
/// option that depends on the order of axes: batches, colours, links, custom steps, keep_largest, tables of periodic
/// images.
bool run_turned(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out);

}  // namespace nearfield::labelling
