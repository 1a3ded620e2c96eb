// The caller's arrays where they are not as the engine works: images of any strides and element type as one byte a
// cell, and fields that are solved in workspace.
#pragma once

#include <algorithm>

#include "exact/cuda_scan.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// A field of the caller that is not contiguous: solved in workspace, copied at the end.
struct staged_copy {
    std::int64_t reserved = 0;
    std::int64_t element_bytes = 4;
    std::byte* to = nullptr;
    strides stride;
};

/// The axes of the caller's image, and what squared distances are counted in.
inline void set_axes(outputs& out, const plan& p) {
    out.image_rank = p.image_rank - p.batch_axes;
    out.cells = p.cells;
    out.unit2 = p.unit2;
    out.whole_unit2 = p.whole_unit2();
    std::fill(std::begin(out.problem_axis), std::end(out.problem_axis), -1);
    std::int64_t step = 1;
    for (int axis = p.rank - 1; axis >= 0; --axis) {
        const int source = p.source_axis[static_cast<std::size_t>(axis)] - p.batch_axes;
        if (source >= 0) out.problem_axis[source] = axis;
        out.step[axis] = step;
        step *= p.size[static_cast<std::size_t>(axis)];
    }
}

inline void copy_image_to_bytes(const device& on, const plan& p, const metric<std::int32_t>& shape,
                                const any_input<device>& image, std::uint8_t* bytes) {
    strides stride;
    std::copy_n(p.image_stride.begin(), p.rank, stride.of);
    const auto copy = [&]<class Bits, bool Float>() {
        cuda::launch(on, copy_to_bytes<Bits, Float>, blocks_for(p.cells, flat_threads), dim3(flat_threads), 0,
                     static_cast<const Bits*>(image.data), shape, stride, p.cells, bytes);
    };
    switch (size_of(image.type)) {
        case 1: copy.template operator()<std::uint8_t, false>(); break;
        case 2:
            image.type == dtype::float16 ? copy.template operator()<std::uint16_t, true>()
                                         : copy.template operator()<std::uint16_t, false>();
            break;
        case 4:
            image.type == dtype::float32 ? copy.template operator()<std::uint32_t, true>()
                                         : copy.template operator()<std::uint32_t, false>();
            break;
        default:
            image.type == dtype::float64 ? copy.template operator()<std::uint64_t, true>()
                                         : copy.template operator()<std::uint64_t, false>();
    }
}

}  // namespace nearfield::exact
