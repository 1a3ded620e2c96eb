// Morphology of masks and labels needs this besides distances: a selection of cells by marks.
#pragma once

#include <cstdint>

#include "nearfield/grid.hpp"

namespace nearfield::morphology {

/// The cells that a selection keeps.
enum class kept : std::uint8_t { marked, unmarked };

/// Writes the elements of `from` at kept cells, and zero at the others. `marks` are bytes. If `from` is not wanted, it
/// writes ones. `out` may be the same array as `marks` or `from`.
void choose(const host& on, const any_input<host>& marks, kept which, const any_input<host>& from,
            const any_output<host>& out);
void choose(const device& on, const any_input<device>& marks, kept which, const any_input<device>& from,
            const any_output<device>& out);

}  // namespace nearfield::morphology
