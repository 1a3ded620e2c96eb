// Converts trees of runs to labels, in place: each band of rows by itself, then all together.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "label/host/bits.hpp"

namespace nearfield::labelling {

/// A run whose parent lies in an earlier band: it has a number of its own band until its label is known.
struct crossing {
    std::uint32_t number, parent;
    std::int64_t label = 0;
};

/// Rows [first, last) that one thread links and numbers: whole images, or part of one.
struct band {
    std::int64_t first = 0, last = 0;
    std::int64_t labels_before = 0;  ///< components of its image that begin in earlier bands
    std::int64_t numbers = 0;        ///< number of roots and crossings
    std::vector<crossing> crossings{};
};

/// `tree` holds the parent of each run, which comes before it; a root is its own parent. The call replaces it by the
/// label: labels of an image count from 1, in the order of the roots. `found`: their number in each image.
void number_trees(workers& crew, const bit_rows& bits, std::uint32_t* tree, std::vector<band>& bands,
                  std::vector<std::int64_t>& found);

}  // namespace nearfield::labelling
