// Where labels go.
#pragma once

#include "label/cuda_forest.cuh"

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

}  // namespace nearfield::labelling
