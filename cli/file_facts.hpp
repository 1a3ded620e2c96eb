// Describes a file: shape, axes, spacing, and a summary of its values.
#pragma once

#include <cstdint>
#include <string>

#include "cli/arguments.hpp"
#include "io/io.hpp"

namespace nearfield::cli {

/// Summary of an array's values; for a colour image, of all samples.
struct value_facts {
    std::int64_t cells = 0, nonzero = 0, not_finite = 0;
    std::int64_t different = 0;     ///< number of different finite values, at most `most_counted`
    double least = 0, largest = 0;  ///< of the finite values; 0 if there is none

    static constexpr std::int64_t most_counted = 65537;
};

[[nodiscard]] value_facts facts_of(const io::array& image);

/// True if values that are not zero change from cell to cell, as those of masks and labels do not.
[[nodiscard]] bool looks_gray(const io::array& image);

/// Notes an input that is taken as a mask without --threshold but looks like a gray image, because its values change
/// from cell to cell: "PATH looks like a gray image: TAKEN; --threshold 107 ...".
void note_gray(const arguments& args, const std::string& path, const io::array& image,
               const std::string& taken = "every cell that is not zero is foreground");

/// Lines below the file's name, each indented by two blanks: shape, type, spacing, values, and what to do with them.
[[nodiscard]] std::string text_of_file(const io::array& image, const value_facts& facts);

}  // namespace nearfield::cli
