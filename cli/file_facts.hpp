// What a file holds: shape, axes, spacing, and what its values look like.
#pragma once

#include <cstdint>
#include <string>

#include "io/io.hpp"

namespace nearfield::cli {

/// Values of an array; of a colour image those of all samples.
struct value_facts {
    std::int64_t cells = 0, nonzero = 0, not_finite = 0;
    std::int64_t different = 0;     ///< finite values; counted up to `most_counted`
    double least = 0, largest = 0;  ///< of the finite ones; 0 where there is none

    static constexpr std::int64_t most_counted = 65537;
};

[[nodiscard]] value_facts facts_of(const io::array& image);

/// What to say of an input that was taken as a mask though it looks like a gray image, whose values change from cell to
/// cell as those of labels do not: "... looks like a gray image: TAKEN; --threshold 107 ..."; empty for all others.
[[nodiscard]] std::string text_of_gray(const std::string& path, const io::array& image, const std::string& taken);

/// Lines under the file's name, each with two blanks before it: shape, type, spacing, values, and what to do with them.
[[nodiscard]] std::string text_of_file(const io::array& image, const value_facts& facts);

}  // namespace nearfield::cli
