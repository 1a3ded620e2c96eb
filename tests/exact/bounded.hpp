// Calls in which every cell has its own bound, for host and device.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "nearfield/distance_bounds.hpp"

namespace nearfield::test {

/// A field of a call: its kind and type; coordinates have a plane for each axis.
struct bounded_field {
    int which;  ///< 0 distance, 1 squared, 2 index, 3 coordinates, 4 label
    dtype type;
};

/// Combinations of fields that one call computes.
inline const std::vector<std::vector<bounded_field>>& bounded_forms() {
    static const std::vector<std::vector<bounded_field>> forms = {
        {{0, dtype::float32}, {2, dtype::int32}, {3, dtype::int32}},
        {{0, dtype::float64}, {1, dtype::uint32}},
        {{0, dtype::boolean}},
        {{0, dtype::float16}, {4, dtype::uint8}},
        {{1, dtype::float32}, {2, dtype::int64}},
    };
    return forms;
}

struct bounded_call {
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> image;
    std::vector<float> bounds;
    distance_options options{};

    explicit bounded_call(std::vector<std::int64_t> shape_, std::uint64_t seed) : shape(std::move(shape_)) {
        std::int64_t cells = 1;
        for (const std::int64_t n : shape) cells *= n;
        for (std::int64_t i = 0; i < cells; ++i) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const std::uint64_t bits = seed >> 33;
            image.push_back(bits % 23 == 0 ? 0 : static_cast<std::uint8_t>(1 + bits % 3));
            const std::uint64_t kind = bits / 64 % 16;
            bounds.push_back(kind == 0   ? std::numeric_limits<float>::infinity()
                             : kind == 1 ? std::numeric_limits<float>::quiet_NaN()
                             : kind == 2 ? -1.0F
                             : kind < 9  ? static_cast<float>(bits / 1024 % 6)
                                         : std::sqrt(static_cast<float>(bits / 1024 % 30)));
        }
    }
    [[nodiscard]] std::size_t bytes_of(const bounded_field& f) const {
        return image.size() * static_cast<std::size_t>(size_of(f.type)) * (f.which == 3 ? shape.size() : 1);
    }
    /// Runs the call on arrays at a `Place`; out[i] receives form[i].
    template <class Place>
    void run(const Place& on, const void* image_at, const void* bounds_at, const std::vector<bounded_field>& form,
             const std::vector<void*>& out) const {
        fields<Place> wanted;
        any_output<Place>* const all[] = {&wanted.distance, &wanted.squared, &wanted.index, &wanted.coordinates,
                                          &wanted.label};
        for (std::size_t i = 0; i < form.size(); ++i) {
            std::vector<std::int64_t> whole = shape;
            if (form[i].which == 3) whole.insert(whole.begin(), static_cast<std::int64_t>(shape.size()));
            *all[form[i].which] = any_output<Place>::contiguous(out[i], form[i].type, whole);
        }
        bounded_distance_transform(on, any_input<Place>::contiguous(image_at, dtype::uint8, shape),
                                   any_input<Place>::contiguous(bounds_at, dtype::float32, shape), wanted, options);
    }
    [[nodiscard]] std::vector<std::vector<std::byte>> on_host(const std::vector<bounded_field>& form,
                                                              int threads = 2) const {
        std::vector<std::vector<std::byte>> found;
        std::vector<void*> out;
        for (const bounded_field& f : form) found.emplace_back(bytes_of(f), std::byte{0x5a});
        for (auto& each : found) out.push_back(each.data());
        run(host{threads, {}}, image.data(), bounds.data(), form, out);
        return found;
    }
};

}  // namespace nearfield::test
