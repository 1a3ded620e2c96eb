// The number of processors that this process may use.
#pragma once

namespace nearfield {

/// Returns how many processors the calling thread may use, limited by its control groups' quotas; at least 1.
int usable_cores();

}  // namespace nearfield
