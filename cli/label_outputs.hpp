// The files that receive label's results.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace nearfield::cli {

/// Paths of the outputs; an empty path means that the output is not wanted.
struct destinations {
    std::string labels, picture, stats;
    bool stdout_carries_data = false;

    [[nodiscard]] bool stats_as_json() const;
};

/// The destinations of a call with one input. Throws invalid_argument.
[[nodiscard]] destinations destinations_of(const arguments& args);
/// Throws if one of the destinations cannot be written.
void check_places(const destinations& to);
/// Splits a call into one for each input; the outputs of several inputs go into the folders that the options name.
[[nodiscard]] std::vector<arguments> words_for_each(const arguments& args);

}  // namespace nearfield::cli
