// Where label's answers go.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace nearfield::cli {

/// Where things go; empty: not wanted.
struct destinations {
    std::string labels, picture, stats;
    bool stdout_carries_data = false;

    [[nodiscard]] bool stats_as_json() const;
};

/// By the words of one input. Throws invalid_argument.
[[nodiscard]] destinations destinations_of(const arguments& args);
/// Throws where one of them cannot be written.
void check_places(const destinations& to);
/// The words for one input; of several its files lie in the folders that the outputs name.
[[nodiscard]] std::vector<arguments> words_for_each(const arguments& args);

}  // namespace nearfield::cli
