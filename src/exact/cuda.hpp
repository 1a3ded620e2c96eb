// The device backend of the exact engine.
#pragma once

#include "exact/plan.hpp"

namespace nearfield::exact {

/// Starts solving a checked problem that has cells, ordered on the stream. Throws unsupported in a build without CUDA.
void run(const device& on, const plan& p, const any_input<device>& image, const fields<device>& out, sites rule);

/// Bytes of workspace that run() would allocate for it.
std::int64_t workspace_bytes(const device& on, const plan& p, const any_input<device>& image, const fields<device>& out,
                             sites rule);

}  // namespace nearfield::exact
