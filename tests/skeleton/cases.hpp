// Random calls of skeletonize and its definition, which looks at every cell in every turn; and the properties that a
// skeleton must keep: components, background components and Euler number.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/skeleton.hpp"
#include "skeleton/core.hpp"

namespace nearfield::test {

/// A call: the mask in C order; a runner chooses the layout.
struct skeleton_case {
    shape_t shape;
    flags_t mask;
    flags_t anchors;  ///< empty if there are none
    std::vector<double> spacing;
    std::vector<border> ends;
    int batch_axes = 0;
    kept_cells keep = kept_cells::ends;
    bool faces = false;
    dtype bits = dtype::boolean;  ///< type of the result

    [[nodiscard]] skeleton_options options() const;
    [[nodiscard]] std::string text() const;
};

/// While an object lives, calls number cells in 64 bits.
class wide_indices {
public:
    wide_indices() : before_(std::exchange(skeleton::most_narrow, 0)) {}
    ~wide_indices() { skeleton::most_narrow = before_; }
    wide_indices(const wide_indices&) = delete;
    wide_indices& operator=(const wide_indices&) = delete;

private:
    std::int64_t before_;
};

/// Leaves a block of a device hardly any room for waiting cells while it exists.
class few_held_cells {
public:
    few_held_cells() : before_(std::exchange(skeleton::most_held, 16)) {}
    ~few_held_cells() { skeleton::most_held = before_; }
    few_held_cells(const few_held_cells&) = delete;
    few_held_cells& operator=(const few_held_cells&) = delete;

private:
    int before_;
};

/// Runs a call; returns the result in C order.
using skeleton_runner = std::function<flags_t(const skeleton_case&)>;

/// A cell's neighbourhood: 27 flags over (dz, dy, dx) in C order; with fewer axes it lies in the middle.
using surroundings = std::array<bool, 27>;
/// Components of a cell's neighbours that are `value`; with `faces`, those within the 18 that touch a face of it.
int components_round(const surroundings& cells, bool value, int rank, bool faces);

/// The result by definition.
flags_t expected(const skeleton_case& c);

/// Properties that no thinning may change, summed over images.
struct topology {
    std::int64_t components = 0, outside = 0, euler = 0;
    friend bool operator==(const topology&, const topology&) = default;
};
topology topology_of(const skeleton_case& c, const flags_t& shape);
/// Cells of `shape` that are simple and that nothing keeps. Not for isthmuses, which leave no trace.
std::int64_t left_over(const skeleton_case& c, const flags_t& shape);

/// Draws a call, the same for a seed on every machine: 1 to 4 axes of up to 12 cells.
skeleton_case drawn_case(std::uint64_t seed);
/// A larger call: a volume or an image of wavy blobs.
skeleton_case large_case(const shape_t& shape, double wave_length);

/// Checks the seeds [first, end); stops at the first wrong one.
void check_skeletons(const skeleton_runner& run, std::uint64_t first, std::uint64_t end);

}  // namespace nearfield::test
