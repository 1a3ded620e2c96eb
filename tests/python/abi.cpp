// The exact engine behind one C function, for comparisons driven from Python through ctypes. Only for tests.
#include <cstdio>
#include <exception>

#include "nearfield/distance.hpp"

namespace {

using namespace nearfield;

any_output<host> output(void* data, int type, const std::int64_t* shape, int rank, bool coordinates) {
    any_output<host> v;
    if (data == nullptr) return v;
    std::int64_t sizes[max_rank + 1] = {rank};
    const int first = coordinates ? 1 : 0;
    for (int axis = 0; axis < rank; ++axis) sizes[first + axis] = shape[axis];
    v.data = data, v.type = static_cast<dtype>(type), v.rank = rank + first;
    std::int64_t step = 1;
    for (int axis = v.rank - 1; axis >= 0; --axis) {
        v.shape[static_cast<std::size_t>(axis)] = sizes[axis];
        v.stride[static_cast<std::size_t>(axis)] = step;
        step *= sizes[axis];
    }
    return v;
}

}  // namespace

/// Outputs are contiguous; a null pointer means not wanted. Types are the numbers of nearfield::dtype, strides count
/// elements. Returns 0, or 1 with the error's message.
extern "C" __attribute__((visibility("default"))) int nearfield_test_transform(
    const void* image, int image_type, int rank, const std::int64_t* shape, const std::int64_t* stride,
    const double* spacing_values, int spacing_count, int sites_are_nonzero, int threads, void* distance,
    int distance_type, void* squared, int squared_type, void* index, void* coordinates, char* message,
    std::size_t message_size) {
    try {
        any_input<host> in;
        in.data = image, in.type = static_cast<dtype>(image_type), in.rank = rank;
        for (int axis = 0; axis < rank && axis < max_rank; ++axis) {
            in.shape[static_cast<std::size_t>(axis)] = shape[axis];
            in.stride[static_cast<std::size_t>(axis)] = stride[axis];
        }
        fields<host> out;
        out.distance = output(distance, distance_type, shape, rank, false);
        out.squared = output(squared, squared_type, shape, rank, false);
        out.index = output(index, static_cast<int>(dtype::int64), shape, rank, false);
        out.coordinates = output(coordinates, static_cast<int>(dtype::int32), shape, rank, true);
        distance_options options;
        if (spacing_count > 0) options.spacing = spacing(spacing_values, static_cast<std::size_t>(spacing_count));
        options.sites = sites_are_nonzero != 0 ? sites::nonzero : sites::zero;
        host on;
        on.threads = threads;
        distance_transform(on, in, out, options);
        return 0;
    } catch (const std::exception& e) {
        std::snprintf(message, message_size, "%s", e.what());
        return 1;
    }
}
