// Filters act on labels of runs, between numbering and writing.
#pragma once

#include "label/host/number.hpp"

namespace nearfield::labelling {

/// Gives the labels anew, 0 to runs of components that are dropped, and to the bands what comes before them; `found`
/// holds the number of components of each image.
void filter_labels(workers& crew, const problem& p, const bit_rows& bits, std::uint32_t* label,
                   std::vector<band>& bands, std::vector<std::int64_t>& found);

}  // namespace nearfield::labelling
