// Tables of components from the labels of runs.
#pragma once

#include "label/host/number.hpp"

namespace nearfield::labelling {

/// Measures components. `label` holds a label for each run, 0 for none; `bands` are measured in parallel; `found` is
/// the number of components of each image.
void measure_runs(workers& crew, const problem& p, const bit_rows& bits, const std::uint32_t* label,
                  const std::vector<band>& bands, const std::vector<std::int64_t>& found,
                  const component_tables<host>& tables);

}  // namespace nearfield::labelling
