// The engine of rows and lines on the CPU: squared distances of any form without sites.
//
// Rows (rows.hpp) turn the last axis of the image into costs; lines (lines.hpp) solve one further axis at a time; the
// epilogue writes the fields of a tile while it is in the first-level cache. Numbers are 16 bits, whose sums saturate,
// and int32 for the tiles in which a result does; double for real spacing and for integers below 2^53. Labels, signs
// and closed borders are first values of a line, not limits of its search. Values lie between the passes in the order
// in which the next pass reads them: a tile's rows one after the other.
//
// Declines: sites, power diagrams, one axis, rows shorter than half a tile, integers beyond 2^53, and doubles that
// plan::rows_ordered excludes. Bytes: a value a cell (two fields with more than two axes searched one by one), a bit a
// cell and axis of labels and signs, and a few tiles a thread. Saito, Toriwaki, "New algorithms for Euclidean distance
// transformation of an n-dimensional digitized picture", 1994; van den Boomgaard et al., "The morphological structure
// of images", 1992 (parabolic structuring functions).
#pragma once

#include <cstdint>
#include <vector>

#include "exact/plan.hpp"

namespace nearfield::exact {

/// Whether solve_values() takes the call.
bool suits_values(const plan& p);
void solve_values(const host& on, const plan& p, const arrays<host>& a);

/// A pass along axes [first, last] of a problem, in tiles of neighbouring cells of the last axis. Short axes go
/// together.
struct value_pass {
    int first = 0, last = 0;
    std::int64_t before = 1, rows = 1,
                 after = 1;  ///< cells of the axes before it, its own, and of those after it but the last
};

/// How a call is cut up.
struct value_layout {
    value_layout(const plan& p, int threads, std::int64_t columns, std::int64_t element_bytes);
    std::int64_t length = 1, tiles = 1;  ///< cells of a row, and tiles
    std::vector<value_pass> passes;
    std::int64_t together = 1;  ///< planes of the first pass whose rows come before their lines
    bool planes =
        false;  ///< the first pass takes a plane at a time, rows and lines, which stays in the second-level cache

    [[nodiscard]] std::int64_t plane_elements() const { return passes.front().rows * tiles * columns_; }
    [[nodiscard]] std::int64_t field_elements(int k) const;
    [[nodiscard]] bool needs_field(int k) const;
    /// Of a copy of the classes whose rows do not lie together.
    [[nodiscard]] static std::int64_t class_bytes(const plan& p, const any_input<host>& image);
    [[nodiscard]] std::int64_t workspace_bytes(const plan& p, int threads) const;

private:
    std::int64_t columns_, element_bytes_;
};

}  // namespace nearfield::exact
