// Where labels go.
#pragma once

#include "label/gpu/forest.cuh"

namespace nearfield::labelling {

template <class Label>
struct label_target {
    Label* data;
    strides at;
};

/// Stored at once, by 16 bytes where they are as many.
template <class Label>
struct alignas(4 * sizeof(Label) < 16 ? 4 * sizeof(Label) : 16) four_labels {
    Label value[4];
};

/// Stores what nobody here reads again, so that it does not take the place of what is read in the cache (an H200,
/// 4096^2, noise of 10 %: 0.078 to 0.075 ms for a call).
template <class Label>
__device__ void store_once(Label* to, const four_labels<Label>& four) {
    if constexpr (sizeof(four) == sizeof(uint4)) {
        __stcs(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4&>(four));
    } else {
        *reinterpret_cast<four_labels<Label>*>(to) = four;
    }
}

}  // namespace nearfield::labelling
