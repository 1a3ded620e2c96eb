// Copies between host and device.
#pragma once

#include <cstdint>

#include "base/lend.hpp"

namespace nearfield::geodesics {

void send(const device& on, void* to, const void* from, std::int64_t bytes);
/// Copies bytes to the host and waits for them.
void fetch(const device& on, void* to, const void* from, std::int64_t bytes);

}  // namespace nearfield::geodesics
