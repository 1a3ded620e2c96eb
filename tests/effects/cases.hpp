// Random calls of effects::layer and effects::pad.
#pragma once

#include <vector>

#include "exact/fills.hpp"
#include "nearfield/effects.hpp"

namespace nearfield::test {

struct layer_case {
    shape_t shape;
    std::vector<float> field;  ///< a signed field, or tones for halftone
    effects::effect what;
    borders ends;
};
/// Draws all effects in turn, with open and periodic ends, sides from 1 up, and sometimes fields of infinities.
layer_case drawn_layer_case(std::uint64_t seed);
std::vector<float> on_host(const layer_case& c, int threads = 1);

struct pad_case {
    shape_t shape;  ///< rows, columns, 4
    std::vector<std::uint8_t> image;
    effects::pad_options options;
};
pad_case drawn_pad_case(std::uint64_t seed);
std::vector<std::uint8_t> on_host(const pad_case& c, int threads = 1);

}  // namespace nearfield::test
