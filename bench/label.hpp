// Images whose components are timed, and what is timed on them: one list for host and device.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "bench.hpp"
#include "nearfield/label.hpp"

namespace nearfield::bench {

/// Blocks of `grain` cells a side in raster order, foreground with a chance of `percent`: peers_label_host.py makes the
/// same.
inline std::vector<std::uint8_t> grains(const shape_t& shape, std::int64_t grain, int percent, unsigned sample = 0) {
    std::mt19937 random(1000 * static_cast<unsigned>(grain) + static_cast<unsigned>(percent) + 1000000 * sample);
    shape_t blocks(3 - shape.size(), 1), size = blocks;
    for (const std::int64_t n : shape) blocks.push_back((n + grain - 1) / grain), size.push_back(n);
    std::vector<std::uint8_t> block(static_cast<std::size_t>(cells_of(blocks)));
    for (auto& one : block) one = random() % 100 < static_cast<unsigned>(percent);
    std::vector<std::uint8_t> image(static_cast<std::size_t>(cells_of(size)));
    spread(size[0] * size[1], [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t z = row / size[1], y = row % size[1];
            const std::uint8_t* const from =
                block.data() + ((blocks[0] == 1 ? 0 : z / grain) * blocks[1] + y / grain) * blocks[2];
            for (std::int64_t x = 0; x < size[2]; ++x)
                image[static_cast<std::size_t>(row * size[2] + x)] = from[x / grain];
        }
    });
    return image;
}

/// Images that are hard for some methods: checkerboard (most components or one), comb (longest chains), spiral (a
/// winding one).
inline std::vector<std::uint8_t> hard_image(const std::string& name, const shape_t& shape) {
    std::vector<std::uint8_t> image(static_cast<std::size_t>(cells_of(shape)));
    const std::int64_t columns = shape.back(), rows = shape[shape.size() - 2];
    spread(cells_of(shape) / columns, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
            for (std::int64_t x = 0; x < columns; ++x) {
                const std::int64_t y = row % rows, z = row / rows;
                const std::int64_t ring = std::min(std::min(y, x), std::min(rows - 1 - y, columns - 1 - x));
                bool inside = (x + y + z) % 2 == 0;
                if (name == "comb") inside = x % 2 == 0 || y == rows - 1;
                if (name == "spiral")
                    inside = ring % 2 == 0 ? !(y == ring + 1 && x == ring) : y == ring && x == ring + 1;
                image[static_cast<std::size_t>(row * columns + x)] = inside;
            }
    });
    return image;
}

/// The same foreground in three values, block by block: 1, 4 and 7, of which neighbours in value differ by less than 5.
inline std::vector<std::uint8_t> in_three_values(const std::vector<std::uint8_t>& image, const shape_t& shape,
                                                 std::int64_t grain) {
    std::vector<std::uint8_t> values(image.size());
    const std::int64_t columns = shape.back(), rows = shape[shape.size() - 2], side = std::max<std::int64_t>(grain, 1);
    spread(cells_of(shape) / columns, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
            for (std::int64_t x = 0; x < columns; ++x) {
                const auto i = static_cast<std::size_t>(row * columns + x);
                const std::int64_t block = (row / rows / side * rows + row % rows / side) * columns + x / side;
                values[i] =
                    image[i] == 0 ? 0 : static_cast<std::uint8_t>(1 + 3 * (mix(static_cast<std::uint64_t>(block)) % 3));
            }
    });
    return values;
}

/// What a call is asked for besides labels, or by what criterion.
struct label_case {
    const char* name;
    nearfield::criterion criterion = nearfield::criterion::nonzero;
    int tolerance = 0;
    bool shapes = false, faces = false, values = false;
};
inline constexpr label_case label_cases[] = {
    {"labels"},
    {.name = "equal values", .criterion = criterion::equal},
    {.name = "within 5", .criterion = criterion::within, .tolerance = 5},
    {.name = "size, box, centroid", .shapes = true},
    {.name = "and border, faces", .shapes = true, .faces = true},
    {.name = "and mean, variance", .shapes = true, .values = true},
};

struct label_result {
    std::string data;  ///< "random" or a hard image's name
    shape_t shape;
    std::int64_t grain = 0;
    int percent = 0;
    int connectivity = 1;
    std::string what{};
    int threads = 0;
    double ms = 0;
    int runs = 0;
};

}  // namespace nearfield::bench
