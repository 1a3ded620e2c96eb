// Expected results of the published methods that are not exact, by their definitions, cell by cell. Shares no line with
// src/ and includes none of the library's headers.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/oracle.hpp"

namespace oracle {

/// Jump flooding: in every round each cell keeps the `kept` nearest of the sites held before by the cells whose
/// coordinates differ from its own by 0 or by the round's step.
std::vector<std::int64_t> jump_flood(const problem& p, const std::vector<std::int64_t>& steps, std::size_t kept = 1);

/// Powers of two below the longest side, in descending order.
std::vector<std::int64_t> halving_steps(const std::vector<std::int64_t>& shape);

/// Rounds of jump flooding with step 1 until nothing changes, which is the naive parallel flood.
std::vector<std::int64_t> naive_flood(const problem& p);

/// Turns a site for every cell into an answer, with the squared distances to these sites.
answer of_sites(const problem& p, const std::vector<std::int64_t>& index);

/// A step that changes coordinates by `by`, and its price.
struct priced_step {
    std::vector<std::int64_t> by;
    std::int64_t price;
};
/// Price of the cheapest path of such steps from every cell to a site, and the site that wins ties; -1, -1 if there is
/// none. Works cell by cell until nothing changes.
struct priced {
    std::int64_t price, site;
};
std::vector<priced> cheapest(const problem& p, const std::vector<priced_step>& steps);

}  // namespace oracle
