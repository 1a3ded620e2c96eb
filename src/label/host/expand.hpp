// Expansion of labels of runs to labels of cells. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "label/core.hpp"

namespace nearfield::labelling {

/// Padding in front of and behind the labels of the runs, so that a vector of them may be loaded anywhere.
inline constexpr std::int64_t spare_labels = 16;

/// Expands one row: `label` is the label of its first run. `starts` null: runs start where the foreground starts.
void expand_labels(const std::uint64_t* foreground, const std::uint64_t* starts, std::int64_t cells,
                   const std::uint32_t* label, std::uint32_t* out);

/// A run of a row: cells [first, end), its component and its faces, which are found later.
struct row_run {
    std::int64_t first, end;
    std::int64_t component;
    std::uint64_t faces;
};
/// Writes the row's runs, one after the other; returns their number.
std::int64_t list_runs(const std::uint64_t* foreground, const std::uint64_t* starts, std::int64_t words, row_run* out);

}  // namespace nearfield::labelling
