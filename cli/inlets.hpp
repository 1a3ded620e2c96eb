// Faces through which balls enter a shape, for porosimetry.
#pragma once

#include "cli/arguments.hpp"
#include "cli/load.hpp"

namespace nearfield::cli {

/// Cells of the faces that --inlets names are 1, others 0, as uint8. Refuses faces that the array does not have.
[[nodiscard]] io::array inlets_of(const arguments& args, const io::array& image);

}  // namespace nearfield::cli
