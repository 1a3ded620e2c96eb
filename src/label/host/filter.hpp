// Filters on labels of runs, between numbering and writing.
#pragma once

#include "label/host/number.hpp"

namespace nearfield::labelling {

/// Renumbers the labels, with 0 for runs of dropped components, and updates the counts before each band; `found` holds
/// the number of components of each image.
void filter_labels(workers& crew, const problem& p, const bit_rows& bits, std::uint32_t* label,
                   std::vector<band>& bands, std::vector<std::int64_t>& found);

}  // namespace nearfield::labelling
