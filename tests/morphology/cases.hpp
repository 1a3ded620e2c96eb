// Random calls of the four operations, compared with their definitions: each cell against every cell.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/morphology.hpp"

namespace nearfield::test {

enum class operation { erosion, dilation, opening, closing };
inline constexpr operation operations[] = {operation::erosion, operation::dilation, operation::opening,
                                           operation::closing};

/// A call: values of the image in C order; a runner chooses the layout.
struct morphology_case {
    shape_t shape;
    std::vector<std::uint64_t> value;
    std::vector<double> spacing;
    std::vector<border> ends;
    double radius = 1;
    dtype type = dtype::uint8;    ///< type of the image
    dtype bits = dtype::boolean;  ///< type of the result for masks
    int batch_axes = 0;
    bool labels = false;

    [[nodiscard]] morphology_options options() const;
    [[nodiscard]] std::string text(operation what) const;
};

/// Runs a call; returns the result in C order.
using morphology_runner = std::function<std::vector<std::uint64_t>(operation, const morphology_case&)>;

/// The result by definition.
std::vector<std::uint64_t> expected(operation what, const morphology_case& c);

/// Draws a call, the same for a seed on every machine: 1 to 4 axes of up to 9 cells.
morphology_case drawn_case(std::uint64_t seed);

/// Checks the seeds [first, end); stops at the first wrong one.
void check_morphology(const morphology_runner& run, std::uint64_t first, std::uint64_t end);

/// Calls one of the four operations.
template <class Place>
void run_on(operation what, const Place& on, const any_input<Place>& image, double radius, const any_output<Place>& out,
            const morphology_options& options) {
    switch (what) {
        case operation::erosion: return erosion(on, image, radius, out, options);
        case operation::dilation: return dilation(on, image, radius, out, options);
        case operation::opening: return opening(on, image, radius, out, options);
        case operation::closing: return closing(on, image, radius, out, options);
    }
}

/// Converts values to the bytes of a C-order array, and back.
std::vector<std::byte> packed(const std::vector<std::uint64_t>& value, dtype type);
std::vector<std::uint64_t> unpacked(const std::vector<std::byte>& bytes, dtype type);

}  // namespace nearfield::test
