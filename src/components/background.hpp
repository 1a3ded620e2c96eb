// Finds the bits of an image's background value and the number of images in a batch.
#pragma once

#include <bit>

#include "components/core.hpp"

namespace nearfield::components {

/// Calls body(bits) with the value of dropped cells: the background, or zero if the criterion names none.
template <class Body>
void with_bits_of(dtype image, const label_options& options, const Body& body) {
    const scalar value = options.criterion == criterion::nonzero ? scalar(0) : options.background;
    const auto bits =
        value.is_real()
            ? static_cast<std::uint64_t>(static_cast<std::int64_t>(image >= dtype::float16 ? 0.0 : value.real()))
            : value.bits();
    if (image == dtype::float32) return body(std::bit_cast<std::uint32_t>(static_cast<float>(value.real())));
    if (image == dtype::float64) return body(std::bit_cast<std::uint64_t>(value.real()));
    switch (size_of(image)) {
        case 1: return body(static_cast<std::uint8_t>(bits));
        case 2: return body(static_cast<std::uint16_t>(bits));
        case 4: return body(static_cast<std::uint32_t>(bits));
        default: return body(bits);
    }
}

/// Number of images in the batch; 1 if the number of axes is wrong, an error that label() reports.
template <class Place>
std::int64_t images_of(const any_input<Place>& image, const label_options& options) {
    std::int64_t images = 1;
    for (int axis = 0; axis < options.batch_axes && axis < image.rank; ++axis)
        images *= image.shape[static_cast<std::size_t>(axis)];
    return images < 0 ? 1 : images;
}

}  // namespace nearfield::components
