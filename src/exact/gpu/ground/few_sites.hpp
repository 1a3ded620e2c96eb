// The list of a grid's sites, for the rung for few sites (lines/few.cu).
#pragma once

#include <cstdint>

namespace nearfield::exact::gpu {

constexpr int few_axes = 3;  // the last axis, the one between (one cell of images), and the first: the rows

/// A site of a grid of images. `V`: number type of values.
template <class V>
struct few_site {
    V first;  ///< 0, or minus its weight
    int at[few_axes];
    int image;
};

/// A list of sites in device memory, in any order.
template <class V>
struct few_sites {
    std::int32_t* count = nullptr;  ///< number of sites, which may exceed `most`
    std::int32_t* many = nullptr;   ///< see line_pass::many
    few_site<V>* sites = nullptr;   ///< null: no list is wanted
    int most = 0;                   ///< sites for which there is room
};

}  // namespace nearfield::exact::gpu
