// Propagation by sweeps by its definition, cell by cell. Shares no line with src/ and includes none of the library's
// headers.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/oracle.hpp"

namespace oracle {

/// Sweeps along every axis in both directions, first axis first. Each cell of a line keeps the nearest of its own site
/// and those of the cells in the line before whose other coordinates differ by at most one. `independent`: every sweep
/// starts from the sites, and the nearest result is taken. Returns indices of sites, -1 without one.
std::vector<std::int64_t> plane_sweep(const problem& p, bool independent);

/// Cells that are no sites and whose nearest site none of their neighbours, including diagonal ones, has.
std::vector<std::int64_t> exclaves(const problem& p);

}  // namespace oracle
