// Images that are not random: what all benchmarks mean by their names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench.hpp"

namespace nearfield::bench {

struct picture_kind {
    const char* name;
    const char* sites;  ///< which cells they are
};

/// Every name that `painter` knows; "random" is none of them.
std::span<const picture_kind> picture_kinds();

/// Share of the cells that are zero, that is, sites.
double share_of_sites(const std::vector<std::uint8_t>& image);

/// Makes images by name. peers_common.py makes "balls", "blobs" and "atlas" alike, cell for cell.
class painter {
public:
    /// `atlas` is a volume whose cells that are not zero are the foreground of the picture "atlas"; empty: there is
    /// none.
    explicit painter(const std::string& atlas = {});

    /// False for "atlas" where no file was given.
    [[nodiscard]] bool knows(const std::string& name) const { return name != "atlas" || !atlas_.empty(); }
    /// Sites are 0, all else is 1; 2 or 3 axes. Throws nearfield::error for a name that is not in the list.
    [[nodiscard]] std::vector<std::uint8_t> paint(const std::string& name, const shape_t& shape) const;

private:
    std::vector<std::uint8_t> atlas_;
    shape_t atlas_shape_;
};

/// A file's cells as 0 and 1, whatever its type, and their shape.
std::vector<std::uint8_t> read_mask(const std::string& path, shape_t& shape);

}  // namespace nearfield::bench
