// The caller's fields, as the last pass writes them from registers: contiguous ones of the usual types. All others are
// made from the keys of the last pass by the finishing kernel.
#pragma once

#include "exact/cuda_common.cuh"

namespace nearfield::exact::gpu {

/// What a last pass writes. Passed to kernels by value.
template <class V>
struct written_fields {
    outputs out;
    V limit = last_value<V>();         ///< larger values mean no site
    unsigned closed = 0;               ///< a bit an axis whose ends are closed
    V closed_beside = no_site<V>();    ///< value of the nearest closed end of axes of one cell
    void* label = nullptr;             ///< elements of the image at the sites
    const std::byte* image = nullptr;  ///< of labels and signs
    int image_bytes = 1;
    bool floating = false;
    int zero_sign = 1, other_sign = 1;  ///< of distances of cells that are zero, and of the others

    [[nodiscard]] NF_HD bool has_ends() const { return closed != 0 || closed_beside < no_site<V>(); }
    [[nodiscard]] NF_HD bool is_signed() const { return zero_sign != other_sign; }
};

}  // namespace nearfield::exact::gpu
