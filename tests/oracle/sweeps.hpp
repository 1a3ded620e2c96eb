// Propagation by sweeps, by its definition, cell by cell. Shares no line with src/ and includes none of the library's
// headers.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/oracle.hpp"

namespace oracle {

/// Along every axis forth and back, first axis first: each cell of a line keeps the nearest of its own site and those
/// of the cells of the line before whose other coordinates differ by one at most. `independent`: every sweep starts
/// from the sites, and the nearest of what they found is the answer. Indices of sites, -1 without one.
std::vector<std::int64_t> plane_sweep(const problem& p, bool independent);

/// Cells whose nearest site is that of none of their neighbours, corners included, and that are no sites.
std::vector<std::int64_t> exclaves(const problem& p);

}  // namespace oracle
