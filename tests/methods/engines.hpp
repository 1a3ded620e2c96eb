// Runs methods in the exact engine's tests: any layout, any fields, guard bytes, and results compared for
// equality.
#pragma once

#include <utility>
#include <vector>

#include "exact/call.hpp"
#include "nearfield/methods.hpp"
#include "oracle/methods.hpp"

namespace nearfield::test {

/// Runs a method on the host.
engine method_engine(method by, int threads);

/// Grids of 1 to 3 axes with at most 70 cells each, so that definitions can be evaluated cell by cell.
const std::vector<shape_case>& method_shapes();
/// Spacings, both integral and not.
const std::vector<spacing_case>& method_spacings();

/// The oracles' problem, without its result.
solved unsolved(const shape_t& shape, const flags_t& sites, const spacing_case& cell);

/// Runs a method in several variants and expects the sites `index`; `again` varies places other than the host.
void expect_sites(const method& by, solved s, const std::vector<std::int64_t>& index, std::uint64_t k);

/// The sites that a method finds on the host with two threads.
std::vector<std::int64_t> sites_of(const method& by, const shape_t& shape, const flags_t& sites,
                                   const std::vector<double>& spacing = {});
/// The errors of these sites against the exact ones.
method_errors errors_of(const std::vector<std::int64_t>& index, const shape_t& shape, const flags_t& sites);

}  // namespace nearfield::test
