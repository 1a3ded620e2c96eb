// What the morphology of masks and labels needs beside distances: bytes for marks, and a choice by them.
#pragma once

#include <cstdint>

#include "nearfield/grid.hpp"

namespace nearfield::morphology {

/// Which cells a choice keeps.
enum class kept : std::uint8_t { marked, unmarked };

/// Writes the elements of `from` at the cells that are kept, and zero at the others. `marks` are bytes; where `from` is
/// not wanted, ones are written. `out` may be `marks` or `from`.
void choose(const host& on, const any_input<host>& marks, kept which, const any_input<host>& from,
            const any_output<host>& out);
void choose(const device& on, const any_input<device>& marks, kept which, const any_input<device>& from,
            const any_output<device>& out);

}  // namespace nearfield::morphology
