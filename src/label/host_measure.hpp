// Tables of components from the labels of runs.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "label/host_bits.hpp"

namespace nearfield::labelling {

/// Rows [first, last) that one thread measures, whole images or part of one, and the first label that begins in them (of the
/// first image; `none_begins` where none does).
struct measured_band {
    std::int64_t first, last;
    std::int64_t first_label;
};
inline constexpr std::int64_t none_begins = std::int64_t{1} << 62;

/// `label` holds a label for each run, 0 for none; `found` the number of components of each image.
void measure_runs(workers& crew, const problem& p, const bit_rows& bits, const std::uint32_t* label,
                  const std::vector<measured_band>& bands, const std::vector<std::int64_t>& found,
                  const component_tables<host>& tables);

}  // namespace nearfield::labelling
