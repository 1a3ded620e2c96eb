// Random calls of skeletonize against its definition, which looks at every cell in every turn, and what has to stay of
// a shape: components, background components and Euler number.
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

/// A call: the mask in C order, wherever a runner puts it.
struct skeleton_case {
    shape_t shape;
    flags_t mask;
    flags_t anchors;  ///< empty: none
    std::vector<double> spacing;
    std::vector<border> ends;
    int batch_axes = 0;
    kept_cells keep = kept_cells::ends;
    bool faces = false;
    dtype bits = dtype::boolean;  ///< of the answer

    [[nodiscard]] skeleton_options options() const;
    [[nodiscard]] std::string text() const;
};

/// While one lives, calls number cells in 64 bits.
class wide_indices {
public:
    wide_indices() : before_(std::exchange(skeleton::most_narrow, 0)) {}
    ~wide_indices() { skeleton::most_narrow = before_; }
    wide_indices(const wide_indices&) = delete;
    wide_indices& operator=(const wide_indices&) = delete;

private:
    std::int64_t before_;
};

/// The answer of a call in C order.
using skeleton_runner = std::function<flags_t(const skeleton_case&)>;

/// The cells round one, as 27 flags over (dz, dy, dx) in C order; those of fewer axes lie in the middle.
using surroundings = std::array<bool, 27>;
/// Components of the neighbours of a cell that are `value`: with faces, those within the 18 that touch a face of it.
int components_round(const surroundings& cells, bool value, int rank, bool faces);

/// By definition.
flags_t expected(const skeleton_case& c);

/// What no thinning may change, summed over images.
struct topology {
    std::int64_t components = 0, outside = 0, euler = 0;
    friend bool operator==(const topology&, const topology&) = default;
};
topology topology_of(const skeleton_case& c, const flags_t& shape);
/// Cells of `shape` that are simple and that nothing keeps. Not with isthmuses, of which no trace is left.
std::int64_t left_over(const skeleton_case& c, const flags_t& shape);

/// The same call for the same seed on every machine: 1 to 4 axes of up to 12 cells.
skeleton_case drawn_case(std::uint64_t seed);
/// A larger one: a volume or an image of wavy blobs.
skeleton_case large_case(const shape_t& shape, double wave_length);

/// Seeds [first, end); stops at the first one that is wrong.
void check_skeletons(const skeleton_runner& run, std::uint64_t first, std::uint64_t end);

}  // namespace nearfield::test
