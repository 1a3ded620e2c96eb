// The host backend of the exact engine.
#pragma once

#include <span>

#include "exact/plan.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::exact {

/// Solves a checked problem that has cells.
void run(const host& on, const plan& p, const arrays<host>& a);

/// The same for a problem that needs no second look: not for `classes::zero` (host_sides.hpp).
void run_engine(const host& on, const plan& p, const arrays<host>& a);

/// Solves many, alike but for their sizes; plans without cells are skipped.
void run(const host& on, std::span<const plan> plans, std::span<const job<host>> jobs);

/// What run() would do: numbers, workspace, passes.
call_plan describe(const host& on, const plan& p, const arrays<host>& a);
call_plan describe(const host& on, std::span<const plan> plans, std::span<const job<host>> jobs);

/// The threads asked for, or as many as have that workspace in what is free. Throws out_of_memory, before any work is
/// done, where one has not; says what would fit.
int threads_that_fit(const host& on, const plan& p, const arrays<host>& a);

}  // namespace nearfield::exact
