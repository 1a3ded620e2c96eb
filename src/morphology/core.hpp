// What the morphology of masks and labels needs beside distances: bytes for marks, and a choice by them.
#pragma once

#include <cstdint>
#include <functional>

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

/// Lends memory of so many bytes to `use`; on a device in stream order.
void with_bytes(const host& on, std::int64_t bytes, const std::function<void(void*)>& use);
void with_bytes(const device& on, std::int64_t bytes, const std::function<void(void*)>& use);

}  // namespace nearfield::morphology
