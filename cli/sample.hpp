// Test inputs, made by integer arithmetic and a generator of our own, so that a seed gives the same bits everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/io.hpp"

namespace nearfield::cli {

enum class sample_kind { blobs, cells, labels, maze, vessels, random, one, circle, checkerboard, cube };

struct sample_info {
    sample_kind kind;
    const char* name;
    const char* about;
};
[[nodiscard]] std::span<const sample_info> sample_kinds();
[[nodiscard]] std::vector<std::string> sample_names();
/// Finds a kind by name. Throws invalid_argument with the names of all kinds.
[[nodiscard]] sample_kind sample_kind_of(std::string_view name);

struct sample_options {
    std::vector<std::int64_t> shape{512, 512};  ///< 1 to 8 axes; maze and vessels: 2 or 3; blobs, cells, labels: 1 to 3
    std::uint64_t seed = 1;
    double density = 0;      ///< share of nonzero cells for random, blobs and labels, in (0, 1]; 0: the kind's default
    std::int64_t scale = 0;  ///< size of a feature in cells; 0: the kind's default
    bool invert = false;     ///< true to exchange 0 and 255
};

/// Makes a uint8 array in which the kind's sites or shapes are 255, others 0; for labels a uint16 array. Throws
/// invalid_argument for a shape, density or scale that the kind does not support.
[[nodiscard]] io::array make_sample(sample_kind kind, const sample_options& options);

}  // namespace nearfield::cli
