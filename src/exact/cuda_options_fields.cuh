// The caller's arrays as kernels want them: contiguous fields for a last pass that puts them itself, and the arrays of
// a power diagram.
#pragma once

#include <algorithm>

#include "base/lines.hpp"
#include "exact/cuda_options.hpp"
#include "exact/gpu/rows/first_values.cuh"

namespace nearfield::exact {

inline bool has_contiguous_fields(const plan& p, const item& to) {
    for (const target* field : {&to.distance, &to.squared, &to.index, &to.coordinates})
        if (field->data != nullptr && !is_contiguous(p.size.data(), field->step, p.rank)) return false;
    return to.coordinates.data == nullptr || to.planes == 1 || to.plane == p.cells;
}

inline outputs contiguous_fields(const plan& p, const item& to, const fields<device>& types) {
    outputs o;
    const auto pointer = [](const target& field, dtype is, dtype wanted) {
        return is == wanted ? field.data : nullptr;
    };
    const dtype distance = types.distance.type, squared = types.squared.type;
    o.distance32 = reinterpret_cast<float*>(pointer(to.distance, distance, dtype::float32));
    o.distance64 = reinterpret_cast<double*>(pointer(to.distance, distance, dtype::float64));
    o.within = reinterpret_cast<std::uint8_t*>(pointer(to.distance, distance, dtype::boolean));
    o.squared32 = reinterpret_cast<std::uint32_t*>(pointer(to.squared, squared, dtype::uint32));
    o.squared64 = reinterpret_cast<std::uint64_t*>(pointer(to.squared, squared, dtype::uint64));
    o.squared_float = reinterpret_cast<double*>(pointer(to.squared, squared, dtype::float64));
    const dtype index = types.index.type;
    o.index = reinterpret_cast<std::int64_t*>(pointer(to.index, index, dtype::int64));
    o.index32 = reinterpret_cast<std::int32_t*>(pointer(to.index, index, dtype::int32));
    o.coordinates = reinterpret_cast<std::int32_t*>(to.coordinates.data);
    o.image_rank = to.planes;
    std::copy_n(to.plane_axis, to.planes, o.problem_axis);
    for (int axis = 0; axis < p.rank; ++axis) o.step[axis] = cells_between(p.size.data(), axis + 1, p.rank);
    o.cells = p.cells;
    o.unit2 = p.unit2;
    o.unit = static_cast<float>(p.unit());
    o.whole_unit2 = p.whole_unit2();
    return o;
}

inline weighted_sites weighted_arrays(const option_call& call) {
    weighted_sites a{};
    a.image = static_cast<const std::byte*>(call.image.data);
    a.weights = static_cast<const std::byte*>(call.weights->data);
    a.image_bytes = static_cast<int>(size_of(call.image.type));
    a.floating = call.image.type >= dtype::float16;
    a.weight_type = call.weights->type;
    for (int axis = 0; axis < call.p.rank; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        a.image_step.of[axis] = call.p.image_stride[i];
        a.weight_step.of[axis] = call.weights->stride[static_cast<std::size_t>(call.p.source_axis[i])];
    }
    return a;
}

}  // namespace nearfield::exact
