// Distances to the nearest cell of another class, labels and signs, in images whose classes are wide: behind the
// tiles, for what these refuse (cuda_options_far_lines.cuh says how).
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearfield/grid.hpp"

namespace nearfield::exact {

/// 32 neighbouring cells of a row.
struct class_word {
    std::uint32_t changes;  ///< bit i: cell i is not of the class of the cell before it
    /// Cells, as uint16: from the first one back to the nearest of another class, << 16 from the last one on.
    std::uint32_t beside;
};

/// Images of two classes or more, and where their distances go.
struct far_call {
    const std::uint32_t* classes = nullptr;  ///< words of cells that are zero; or of changes along the last axis
    const std::uint32_t* along = nullptr;    ///< of changes from the row before; of zeros null
    const std::uint32_t* sites = nullptr;    ///< cells whose distance is 0; null: none
    const std::uint32_t* zeros = nullptr;    ///< of a sign: which cells are zero; null is not wanted
    bool zeros_are_minus = false;            ///< or the others
    std::int64_t images = 1, rows = 1, length = 1;
    float* distance = nullptr;
    double unit2 = 1;                    ///< of squared distances
    std::int32_t limit = 0;              ///< those that are larger are infinite
    const std::int32_t* open = nullptr;  ///< where it is 0 nothing is done; null: everything is

    // Workspace.
    class_word* lines = nullptr;      ///< word columns of images, row by row
    std::uint32_t* downs = nullptr;   ///< likewise: which cells are not of the class of the cell above
    std::int32_t* nearest = nullptr;  ///< of each cell of a post: the nearest row of another class in its column, or -1
    std::uint16_t* winners = nullptr;  ///< and the row of the nearest cell of another class
    std::int32_t* taken = nullptr;     ///< squares that warps took

    static constexpr int post_rows = 32, word_cells = 32;
    [[nodiscard]] std::int64_t bytes() const;
    void place(std::byte* memory);
};

/// Squared distances must stay below.
inline constexpr std::int32_t far_largest = 32767 * 32767;
inline constexpr std::int64_t most_far = 32768;  // rows and cells of them

void search_far(const device& on, const far_call& call);

}  // namespace nearfield::exact
