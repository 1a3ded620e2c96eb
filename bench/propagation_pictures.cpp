// The images on which label propagation is timed.
#include <algorithm>
#include <cmath>

#include "io/io.hpp"
#include "nearfield/distance.hpp"
#include "propagation.hpp"

namespace nearfield::bench {
namespace {

constexpr std::int64_t cells_a_region = 1200;
constexpr std::uint64_t colours = 6;

/// The colour of the nearest of random seeds; regions of one colour that touch are one.
void paint_regions(propagation_image& image) {
    const std::int64_t cells = cells_of(image.shape);
    std::vector<std::uint32_t> seed(static_cast<std::size_t>(cells)), label(seed.size());
    for (std::int64_t k = 0; k < std::max<std::int64_t>(cells / cells_a_region, 1); ++k)
        seed[mix(static_cast<std::uint64_t>(k)) % seed.size()] = static_cast<std::uint32_t>(k + 1);
    fields<host> out;
    out.label = any_output<host>::contiguous(label.data(), dtype::uint32, image.shape);
    distance_transform(host{}, any_input<host>::contiguous(seed.data(), dtype::uint32, image.shape), out,
                       {.sites = sites::nonzero});
    image.colour = true;
    for (const std::uint32_t of : label) {
        const std::uint64_t colour = mix(of + 99) % colours;
        for (const std::uint64_t shift : {0, 8, 16}) image.values.push_back(mix(colour) >> shift & 255);
    }
}

/// Random values on a lattice of 24 cells, interpolated, in so many levels; each of 3 channels by itself, or one.
void paint_noise(propagation_image& image) {
    constexpr double lattice = 24, levels = 3;
    const auto axes = image.shape.size();
    image.colour = axes == 2;
    const std::size_t channels = image.colour ? 3 : 1;
    image.values.resize(static_cast<std::size_t>(cells_of(image.shape)) * channels);
    spread(static_cast<std::int64_t>(image.values.size()), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            std::int64_t rest = i / static_cast<std::int64_t>(channels), corner[3]{};
            double part[3]{}, sum = 0;
            for (std::size_t axis = axes; axis-- > 0; rest /= image.shape[axis]) {
                const double at = static_cast<double>(rest % image.shape[axis]) / lattice;
                corner[axis] = static_cast<std::int64_t>(at), part[axis] = at - std::floor(at);
            }
            for (std::size_t which = 0; which < std::size_t{1} << axes; ++which) {
                std::uint64_t hash = static_cast<std::uint64_t>(i) % channels;
                double share = 1;
                for (std::size_t axis = 0; axis < axes; ++axis) {
                    const std::size_t far = which >> axis & 1;
                    hash = mix(hash * 31 + static_cast<std::uint64_t>(corner[axis]) + far);
                    share *= far != 0 ? part[axis] : 1 - part[axis];
                }
                sum += share * static_cast<double>(hash >> 40) / (1 << 24);
            }
            image.values[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(1 + levels * sum);
        }
    });
}

/// A curve through all points two cells apart.
void paint_hilbert(propagation_image& image) {
    const std::int64_t side = image.shape[0], points = side / 2;
    image.values.assign(static_cast<std::size_t>(side * side), 0), image.binary = true;
    std::int64_t before_x = 0, before_y = 0;
    for (std::int64_t d = 0; d < points * points; ++d) {
        std::int64_t x = 0, y = 0, rest = d;
        for (std::int64_t s = 1; s < points; s *= 2) {
            const std::int64_t right = rest / 2 % 2, down = (rest ^ right) % 2;
            if (down == 0) {
                if (right == 1) x = s - 1 - x, y = s - 1 - y;
                std::swap(x, y);
            }
            x += s * right, y += s * down, rest /= 4;
        }
        image.values[static_cast<std::size_t>(2 * y * side + 2 * x)] = 1;
        if (d > 0) image.values[static_cast<std::size_t>((y + before_y) * side + x + before_x)] = 1;
        before_x = x, before_y = y;
    }
}

/// Arms two cells apart.
void paint_spiral(propagation_image& image) {
    const std::int64_t rows = image.shape[0], columns = image.shape[1];
    image.binary = true;
    for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < columns; ++x) {
            const std::int64_t ring = std::min(std::min(y, x), std::min(rows - 1 - y, columns - 1 - x));
            const bool on = ring % 2 == 0 ? !(y == ring + 1 && x == ring && ring + 1 < rows - 1 - ring)
                                          : y == ring && x == ring + 1;
            image.values.push_back(on ? 1 : 0);
        }
}

/// A volume of labels, stretched to the shape.
void paint_atlas(propagation_image& image, const std::string& path) {
    const io::array file = io::read(path);
    if (file.shape.size() != 3 || image.shape.size() != 3) return;
    std::vector<std::uint8_t> values;
    for (std::int64_t i = 0; i < cells_of(image.shape); ++i) {
        std::int64_t rest = i, from = 0, step = 1;
        for (std::size_t axis = 3; axis-- > 0; rest /= image.shape[axis]) {
            from += rest % image.shape[axis] * file.shape[axis] / image.shape[axis] * step;
            step *= file.shape[axis];
        }
        values.push_back(static_cast<std::uint8_t>(file.data[static_cast<std::size_t>(from * size_of(file.type))]));
    }
    image.values = std::move(values);
}

}  // namespace

label_options propagation_image::look(int connectivity) const {
    label_options o{.connectivity = connectivity, .criterion = binary ? criterion::nonzero : criterion::equal};
    o.has_background = binary || !colour, o.channels = colour;
    return o;
}

propagation_image propagation_picture(const std::string& name, const shape_t& shape, const std::string& atlas) {
    propagation_image image{name, shape, {}};
    if (name == "regions") paint_regions(image);
    else if (name == "noise") paint_noise(image);
    else if (name == "hilbert") paint_hilbert(image);
    else if (name == "spiral") paint_spiral(image);
    else if (!atlas.empty()) paint_atlas(image, atlas);
    return image;
}

}  // namespace nearfield::bench
