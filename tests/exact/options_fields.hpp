// All fields of one host call on contiguous arrays, for tests that compare one call with another.
#pragma once

#include <string>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/voronoi.hpp"

namespace nearfield::test {

template <class T>
struct all_fields {
    std::vector<double> squared, distance;
    std::vector<std::int64_t> index;
    std::vector<std::int32_t> coordinates;
    std::vector<T> label;
    std::vector<std::uint8_t> trusted;

    /// Arrays for an image of this shape, and the views that fill them.
    all_fields(const shape_t& shape, int batch_axes) : shape_(shape) {
        const auto cells = static_cast<std::size_t>(cells_of(shape));
        squared.assign(cells, -5), distance.assign(cells, -5), index.assign(cells, -5), label.assign(cells, T{5});
        trusted.assign(cells, 5);
        axes_ = static_cast<std::int64_t>(shape.size()) - batch_axes;
        coordinates.assign(cells * static_cast<std::size_t>(axes_), -5);
    }
    fields<host> views() {
        shape_t with_axes = shape_;
        with_axes.insert(with_axes.begin(), axes_);
        fields<host> out;
        out.squared = any_output<host>::contiguous(squared.data(), dtype::float64, shape_);
        out.distance = any_output<host>::contiguous(distance.data(), dtype::float64, shape_);
        out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape_);
        out.coordinates = any_output<host>::contiguous(coordinates.data(), dtype::int32, with_axes);
        out.label = any_output<host>::contiguous(label.data(), dtype_of<T>(), shape_);
        out.trusted = any_output<host>::contiguous(trusted.data(), dtype::uint8, shape_);
        return out;
    }

    /// Returns "" or the name of the first field that differs.
    [[nodiscard]] std::string differs(const all_fields& other) const {
        if (squared != other.squared) return "squared";
        if (distance != other.distance) return "distance";
        if (index != other.index) return "index";
        if (coordinates != other.coordinates) return "coordinates";
        if (label != other.label) return "label";
        return trusted != other.trusted ? "trusted" : "";
    }
    /// The fields of image k, taken from those of one call for all images.
    [[nodiscard]] all_fields image(std::size_t k, const shape_t& inner) const {
        all_fields one(inner, 0);
        const std::size_t n = one.squared.size(), first = k * n;
        const auto cut = [&](const auto& from, auto& to) {
            for (std::size_t i = 0; i < n; ++i) to[i] = from[first + i];
        };
        cut(squared, one.squared), cut(distance, one.distance), cut(index, one.index), cut(label, one.label);
        cut(trusted, one.trusted);
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(axes_); ++axis) {
            for (std::size_t i = 0; i < n; ++i)
                one.coordinates[axis * n + i] = coordinates[axis * squared.size() + first + i];
        }
        return one;
    }

private:
    shape_t shape_;
    std::int64_t axes_ = 0;
};

template <class T>
any_input<host> input_of(const std::vector<T>& image, const shape_t& shape) {
    return any_input<host>::contiguous(image.data(), dtype_of<T>(), shape);
}

template <class T>
all_fields<T> transform(const std::vector<T>& image, const shape_t& shape, const distance_options& options = {},
                        int threads = 2) {
    all_fields<T> all(shape, options.batch_axes);
    host on;
    on.threads = threads;
    distance_transform(on, input_of(image, shape), all.views(), options);
    return all;
}

/// Random labels 1 .. `labels`, with a share of zeros.
template <class T>
std::vector<T> random_labels(const shape_t& shape, std::uint64_t labels, double zeros, std::uint64_t seed) {
    std::vector<T> image;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const std::uint64_t bits = mix(mix(seed) + static_cast<std::uint64_t>(i));
        const bool zero = static_cast<double>(bits >> 11) * 0x1p-53 < zeros;
        image.push_back(zero ? T{0} : static_cast<T>(1 + bits % 8191 % labels));
    }
    return image;
}

struct named_options {
    const char* name;
    distance_options options;
};

/// One of each kind of options, for tests that hold for all of them. Borders and spacing are single values or none.
inline const std::vector<named_options>& some_options() {
    static const std::vector<named_options> list = {
        {"none", {}},
        {"nonzero", {.sites = sites::nonzero}},
        {"labels", {.sites = sites::other_labels}},
        {"signed", {.sign = sign::inside_negative}},
        {"signed labels to faces", {.sites = sites::other_labels, .sign = sign::outside_negative, .half_cell = true}},
        {"closed", {.border = border::closed}},
        {"closed signed labels",
         {.sites = sites::other_labels, .sign = sign::inside_negative, .border = border::closed}},
        {"periodic", {.border = border::periodic}},
        {"periodic labels", {.sites = sites::other_labels, .border = border::periodic}},
        {"limit", {.max_distance = 3}},
        {"limit, labels, closed", {.sites = sites::other_labels, .border = border::closed, .max_distance = 2.5}},
        {"seeds, limit 0", {.sites = sites::nonzero, .max_distance = 0}},
        {"spacing of a third", {.spacing = 1.0 / 3, .sign = sign::inside_negative, .max_distance = 1.5}},
        {"large whole spacing", {.spacing = 100000.0, .half_cell = true, .border = border::periodic}},
    };
    return list;
}

}  // namespace nearfield::test
