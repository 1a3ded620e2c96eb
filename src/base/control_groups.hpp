// Finds the control groups of this process, and reads their limits.
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

/// Returns the groups that limit `controller` ("memory", "cpu") for this process, each with the groups above it as far
/// as they are mounted. Tests put `root` before every path to use trees of their own. Groups that this process's
/// namespace hides are left out.
std::vector<control_group> control_groups(const std::string& controller, const std::string& root = {});

/// Returns the number at the start of a file; nothing if the file cannot be read or says "max".
std::optional<std::int64_t> number_in(const std::string& file);

/// Returns the number after `key` in a file of lines "key number".
std::optional<std::int64_t> number_in(const std::string& file, const std::string& key);

}  // namespace nearfield
