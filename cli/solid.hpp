// A volume as a lit solid, in the free corner of a sheet of three planes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cli/picture.hpp"

namespace nearfield::cli {

/// A solid as it is seen, pixel by pixel.
struct solid {
    int left = 0, top = 0, width = 0, height = 0;  ///< its place; no width: the sheet has no room, or no volume
    std::vector<rgb> light;                        ///< the solid in white
    std::vector<std::int64_t> cell;                ///< the cell that a pixel shows; -1: none

    /// Paints it in the colours that its pixels with a cell get.
    void put(picture& image, const std::function<rgb(std::size_t)>& colour_of) const;
};

/// Renders the cells of a volume that are finite and not 0, from above a corner. Blocks of cells are taken as one, if
/// that is needed for a grid of at most 2^24 cells; one is solid if a cell of it is. `beside`: pixels of the corner
/// that stay free at the left.
[[nodiscard]] solid see_solid(const sheet& on, const io::array& values, int beside = 0);

}  // namespace nearfield::cli
