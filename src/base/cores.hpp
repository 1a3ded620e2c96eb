// Processors: how many this process may use.
#pragma once

namespace nearfield {

/// Processors that the calling thread may run on, at most as many as its control groups' quota pays for; at least 1.
int usable_cores();

}  // namespace nearfield
