// Which files distance and voronoi are asked to make.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace nearfield::cli {

/// What a file holds: distances (or squared ones, or powers), nearest sites, their labels, or the trust mask.
enum class content { values, nearest, label, trusted };

/// A file to make.
struct slot {
    content what;
    bool drawn;          ///< a picture of it, not the array
    std::string option;  ///< that named it, for messages: "--labels"
    std::string path;    ///< "-" is stdout
};

struct outputs {
    std::vector<slot> slots;
    bool folders = false;  ///< the paths name folders, in which every input gets files of its own name
    bool stdout_carries_data = false;

    [[nodiscard]] bool any(content what) const;
    [[nodiscard]] bool any(content what, bool drawn) const;
    /// The slots of one input, with the paths of its own files.
    [[nodiscard]] std::vector<slot> of(const std::string& input) const;
};

/// Checks everything that the words alone can get wrong, and that files could be written where they are wanted (unless
/// --plan, which writes none). Throws invalid_argument or io.
[[nodiscard]] outputs outputs_of(const arguments& args);

/// Makes the folders of a call with several inputs.
void make_folders(const outputs& wanted);

}  // namespace nearfield::cli
