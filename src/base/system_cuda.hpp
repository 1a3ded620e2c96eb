// The CUDA part of query_system.
#pragma once

#include "nearfield/system.hpp"

namespace nearfield {

/// Fills the fields about CUDA; never throws for a missing GPU.
void query_cuda(system_info& info);

}  // namespace nearfield
