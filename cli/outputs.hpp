// The files that distance and voronoi are asked to write.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace nearfield::cli {

/// Content of a file: distances (or squares, or powers), nearest sites, their labels, or the trust mask.
enum class content { values, nearest, label, trusted };

/// A file to write.
struct slot {
    content what;
    bool drawn;          ///< true for a picture, false for the array
    std::string option;  ///< the option that names it, for messages: "--labels"
    std::string path;    ///< "-" is stdout
};

struct outputs {
    std::vector<slot> slots;
    bool folders = false;  ///< true if paths name folders, in which each input's files have its name
    bool stdout_carries_data = false;

    [[nodiscard]] bool any(content what) const;
    [[nodiscard]] bool any(content what, bool drawn) const;
    /// The slots of one input, with the paths of its files.
    [[nodiscard]] std::vector<slot> of(const std::string& input) const;
};

/// Checks everything that depends on the words alone, and that files can be written (unless --plan, which writes none).
/// Throws invalid_argument or io.
[[nodiscard]] outputs outputs_of(const arguments& args);

/// Makes the output folders of a call with several inputs.
void make_folders(const outputs& wanted);

}  // namespace nearfield::cli
