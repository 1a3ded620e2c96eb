// The device backend of the exact engine.
#pragma once

#include <span>

#include "exact/plan.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::exact {

/// Starts solving a checked problem that has cells, ordered on the stream. Throws unsupported in a build without CUDA.
void run(const device& on, const plan& p, const arrays<device>& a);

/// Starts solving many problems that differ in size only; skips plans without cells.
void run(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs);

/// Describes what run() would do: numbers, workspace, passes. Needs no GPU.
call_plan describe(const device& on, const plan& p, const arrays<device>& a);
call_plan describe(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs);

}  // namespace nearfield::exact
