// Wraps the exact engine in two C functions, for comparisons from Python through ctypes. For tests only.
#include <cstdio>
#include <exception>

#include "nearfield/voronoi.hpp"

namespace {

using namespace nearfield;

/// An output with `leading` axes before those of the shape: the coordinates of a field, else 0.
any_output<host> output(void* data, int type, const std::int64_t* shape, int rank, int leading) {
    any_output<host> v;
    if (data == nullptr) return v;
    std::int64_t sizes[max_rank + 1] = {leading};
    const int first = leading > 0 ? 1 : 0;
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

any_input<host> input(const void* data, int type, int rank, const std::int64_t* shape, const std::int64_t* stride) {
    any_input<host> in;
    in.data = data, in.type = static_cast<dtype>(type), in.rank = rank;
    for (int axis = 0; axis < rank && axis < max_rank; ++axis) {
        in.shape[static_cast<std::size_t>(axis)] = shape[axis];
        in.stride[static_cast<std::size_t>(axis)] = stride[axis];
    }
    return in;
}

}  // namespace

/// Outputs are contiguous; a null pointer means that an output is not wanted. Types are numbers of nearfield::dtype,
/// strides count elements. Returns 0, or 1 with the error's message.
extern "C" __attribute__((visibility("default"))) int nearfield_test_transform(
    const void* image, int image_type, int rank, const std::int64_t* shape, const std::int64_t* stride,
    const double* spacing_values, int spacing_count, int sites_are_nonzero, int threads, void* distance,
    int distance_type, void* squared, int squared_type, void* index, void* coordinates, char* message,
    std::size_t message_size) {
    try {
        const any_input<host> in = input(image, image_type, rank, shape, stride);
        fields<host> out;
        out.distance = output(distance, distance_type, shape, rank, 0);
        out.squared = output(squared, squared_type, shape, rank, 0);
        out.index = output(index, static_cast<int>(dtype::int64), shape, rank, 0);
        out.coordinates = output(coordinates, static_cast<int>(dtype::int32), shape, rank, rank);
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

/// Options as Python fills them in; enumerations are numbers.
struct nearfield_test_options {
    double spacing[max_rank];
    double max_distance;
    std::int32_t spacing_count, border_count, border[max_rank];
    std::int32_t sites, sign, half_cell, batch_axes, threads;
};

/// A contiguous array; a null pointer means that it is not wanted.
struct nearfield_test_array {
    void* data;
    std::int64_t type;
};

/// `out` holds distance, squared, index, coordinates, label and trusted. If the pointer of `weights` is not null,
/// computes a power diagram.
extern "C" __attribute__((visibility("default"))) int nearfield_test_call(
    const void* image, int image_type, int rank, const std::int64_t* shape, const std::int64_t* stride,
    const nearfield_test_options* given, const nearfield_test_array* weights, const nearfield_test_array* out,
    char* message, std::size_t message_size) {
    try {
        distance_options options;
        if (given->spacing_count > 0)
            options.spacing = spacing(given->spacing, static_cast<std::size_t>(given->spacing_count));
        border beyond[max_rank] = {};
        for (int axis = 0; axis < max_rank; ++axis) beyond[axis] = static_cast<border>(given->border[axis]);
        if (given->border_count > 0) options.border = borders(beyond, static_cast<std::size_t>(given->border_count));
        options.sites = static_cast<sites>(given->sites);
        options.sign = static_cast<sign>(given->sign);
        options.half_cell = given->half_cell != 0;
        options.max_distance = given->max_distance;
        options.batch_axes = given->batch_axes;
        fields<host> wanted;
        any_output<host>* fields_in_order[] = {&wanted.distance,    &wanted.squared, &wanted.index,
                                               &wanted.coordinates, &wanted.label,   &wanted.trusted};
        for (int k = 0; k < 6; ++k)
            *fields_in_order[k] =
                output(out[k].data, static_cast<int>(out[k].type), shape, rank, k == 3 ? rank - given->batch_axes : 0);
        host on;
        on.threads = given->threads;
        const any_input<host> in = input(image, image_type, rank, shape, stride);
        if (weights->data == nullptr) distance_transform(on, in, wanted, options);
        else
            power_diagram(on, in, output(weights->data, static_cast<int>(weights->type), shape, rank, 0), wanted,
                          options);
        return 0;
    } catch (const std::exception& e) {
        std::snprintf(message, message_size, "%s", e.what());
        return 1;
    }
}
