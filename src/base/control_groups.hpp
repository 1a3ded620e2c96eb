// The control groups that this process is in: where their limits stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nearfield {

/// A group's folder, and which of the two interfaces its files have.
struct control_group {
    std::string folder;
    bool unified;  ///< version 2
};

/// The groups that limit `controller` ("memory", "cpu") for this process, each with those above it as far up as they
/// are mounted. `root` stands before every path; tests have trees of their own. Groups of a namespace that cannot be
/// seen are left out.
std::vector<control_group> control_groups(const std::string& controller, const std::string& root = {});

/// The number that a file begins with; nothing where it cannot be read or says "max".
std::optional<std::int64_t> number_in(const std::string& file);

/// The number after `key` in a file of lines "key number".
std::optional<std::int64_t> number_in(const std::string& file, const std::string& key);

}  // namespace nearfield
