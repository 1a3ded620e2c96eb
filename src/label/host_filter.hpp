// Filters act on labels of runs, between numbering and writing.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "label/host_bits.hpp"

namespace nearfield::labelling {

/// Gives the labels anew, 0 to runs of components that are dropped; `found` holds the number of components of each image.
void filter_labels(workers& crew, const problem& p, const bit_rows& bits, std::uint32_t* label,
                   std::vector<std::int64_t>& found);

}  // namespace nearfield::labelling
