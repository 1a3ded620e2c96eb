// The device backend of the exact engine.
#pragma once

#include <span>

#include "exact/plan.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::exact {

/// Starts solving a checked problem that has cells, ordered on the stream. Throws unsupported in a build without CUDA.
void run(const device& on, const plan& p, const arrays<device>& a);

/// Starts solving many, alike but for their sizes; plans without cells are skipped.
void run(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs);

/// What run() would do: numbers, workspace, passes. Needs no GPU.
call_plan describe(const device& on, const plan& p, const arrays<device>& a);
call_plan describe(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs);

}  // namespace nearfield::exact
