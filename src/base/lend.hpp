// Temporary memory on the same side as a call's arrays.
#pragma once

#include <cstdint>
#include <functional>

#include "nearfield/grid.hpp"

namespace nearfield {

/// Lends `bytes` of memory to `use`; on a device in stream order. In a build without CUDA a device is refused.
void with_bytes(const host& on, std::int64_t bytes, const std::function<void(void*)>& use);
void with_bytes(const device& on, std::int64_t bytes, const std::function<void(void*)>& use);

}  // namespace nearfield
