// The host backend of the exact engine.
#pragma once

#include <span>

#include "exact/plan.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::exact {

/// Solves a checked problem that has cells.
void run(const host& on, const plan& p, const arrays<host>& a);

/// Solves a problem that one engine call suffices for: not `classes::zero` (host_sides.hpp).
void run_engine(const host& on, const plan& p, const arrays<host>& a);

/// Solves many problems that differ in size only; skips plans without cells.
void run(const host& on, std::span<const plan> plans, std::span<const job<host>> jobs);

/// Describes what run() would do: numbers, workspace, passes.
call_plan describe(const host& on, const plan& p, const arrays<host>& a);
call_plan describe(const host& on, std::span<const plan> plans, std::span<const job<host>> jobs);

/// Returns the requested number of threads, or as many as have workspace in the free memory. Throws out_of_memory,
/// before any work is done, if not one has; the message says what would fit.
int threads_that_fit(const host& on, const plan& p, const arrays<host>& a);

}  // namespace nearfield::exact
