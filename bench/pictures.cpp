#include "pictures.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "io/io.hpp"

namespace nearfield::bench {
namespace {

using image_t = std::vector<std::uint8_t>;
/// Slice, row, column; an image has one slice.
using cell_t = std::array<std::int64_t, 3>;

constexpr picture_kind kinds[] = {
    {"one", "the cell in the middle"},
    {"corner", "the first cell"},
    {"corners", "the first and the last cell"},
    {"border", "all cells of the border"},
    {"circle", "a circle or sphere, one cell thick"},
    {"ties", "all cells at one distance from the middle, the distance that most have"},
    {"diagonal", "the diagonal"},
    {"checkerboard", "every other cell"},
    {"balls", "200 balls"},
    {"shells", "the surfaces of 200 balls, one cell thick"},
    {"blobs", "all but 200 larger balls that overlap"},
    {"atlas", "the background of a brain atlas, scaled to the size (of its middle plane)"},
};

cell_t three_axes(const shape_t& shape) {
    const std::size_t rank = shape.size();
    if (rank < 2 || rank > 3) throw error(error_code::invalid_argument, "pictures have 2 or 3 axes");
    return {rank == 3 ? shape[0] : 1, shape[rank - 2], shape[rank - 1]};
}

/// work(slice, row, the row's cells) for all rows, on every core.
template <class Work>
image_t by_rows(const cell_t& size, std::uint8_t value, Work&& work) {
    image_t image(static_cast<std::size_t>(size[0] * size[1] * size[2]), value);
    spread(size[0] * size[1], [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
            work(row / size[1], row % size[1], image.data() + row * size[2]);
    });
    return image;
}

/// Sites where is_site(slice, row, column) says so.
template <class Rule>
image_t by_cells(const cell_t& size, Rule&& is_site) {
    return by_rows(size, 1, [&](std::int64_t z, std::int64_t y, std::uint8_t* row) {
        for (std::int64_t x = 0; x < size[2]; ++x) row[x] = is_site(z, y, x) ? 0 : 1;
    });
}

std::int64_t floor_root(std::int64_t n) {
    auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    while (root * root > n) --root;
    while ((root + 1) * (root + 1) <= n) ++root;
    return root;
}

struct ball {
    cell_t centre;
    std::int64_t radius;
};

/// 200 balls, the same ones in peers_common.py. Radii from side / `least` to side / `most`.
std::vector<ball> balls(const cell_t& size, std::int64_t least, std::int64_t most) {
    const std::int64_t side = *std::max_element(size.begin(), size.end());
    std::vector<ball> all;
    for (std::uint64_t b = 0; b < 200; ++b) {
        ball one{};
        for (std::size_t axis = 0; axis < 3; ++axis)
            one.centre[axis] = static_cast<std::int64_t>(mix(4 * b + axis) % static_cast<std::uint64_t>(size[axis]));
        one.radius = side / least + static_cast<std::int64_t>(
                                        mix(4 * b + 3) % static_cast<std::uint64_t>(side / most - side / least + 1));
        all.push_back(one);
    }
    return all;
}

/// `inside` in the balls, its opposite elsewhere; with `hollow` only the cells farther than radius - 1 are inside.
image_t paint_balls(const cell_t& size, const std::vector<ball>& all, std::uint8_t inside, bool hollow) {
    return by_rows(size, 1 - inside, [&](std::int64_t z, std::int64_t y, std::uint8_t* row) {
        for (const ball& b : all) {
            const std::int64_t dz = z - b.centre[0], dy = y - b.centre[1], x = b.centre[2];
            const std::int64_t left = b.radius * b.radius - dz * dz - dy * dy;
            if (left < 0) continue;
            const std::int64_t half = floor_root(left);
            const std::int64_t within = (b.radius - 1) * (b.radius - 1) - dz * dz - dy * dy;
            const std::int64_t hole = hollow && within >= 0 ? floor_root(within) : -1;
            for (std::int64_t at = std::max<std::int64_t>(x - half, 0); at <= std::min(x + half, size[2] - 1); ++at) {
                if (std::abs(at - x) > hole) row[at] = inside;
            }
        }
    });
}

std::int64_t distance2(const cell_t& size, std::int64_t z, std::int64_t y, std::int64_t x) {
    const std::int64_t dz = z - size[0] / 2, dy = y - size[1] / 2, dx = x - size[2] / 2;
    return dz * dz + dy * dy + dx * dx;
}

std::int64_t shortest_side(const cell_t& size) {
    return size[0] == 1 ? std::min(size[1], size[2]) : std::min({size[0], size[1], size[2]});
}

/// Of the squared distances whose sphere fits inside, the one with the most cells (counted in one octant).
std::int64_t commonest_distance2(const cell_t& size) {
    const std::int64_t reach = (shortest_side(size) - 1) / 2;
    std::vector<std::int32_t> count(static_cast<std::size_t>(reach * reach + 1));
    for (std::int64_t z = 0; z <= (size[0] == 1 ? 0 : reach); ++z) {
        for (std::int64_t y = 0; z * z + y * y <= reach * reach; ++y) {
            for (std::int64_t x = 0; z * z + y * y + x * x <= reach * reach; ++x)
                ++count[static_cast<std::size_t>(z * z + y * y + x * x)];
        }
    }
    return std::max_element(count.begin(), count.end()) - count.begin();
}

image_t paint_circle(const cell_t& size) {
    const std::int64_t radius = 7 * shortest_side(size) / 16;
    return by_cells(size, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
        const std::int64_t d2 = distance2(size, z, y, x);
        return d2 >= radius * radius && d2 < (radius + 1) * (radius + 1);
    });
}

image_t paint_border(const cell_t& size) {
    const auto end = [](std::int64_t at, std::int64_t n) { return n > 1 && (at == 0 || at == n - 1); };
    return by_cells(size, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
        return end(z, size[0]) || end(y, size[1]) || end(x, size[2]);
    });
}

image_t paint_diagonal(const cell_t& size) {
    return by_cells(size, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
        return y * size[2] / size[1] == x && (size[0] == 1 || z * size[2] / size[0] == x);
    });
}

/// The file's nearest cells; of a volume's middle slice where an image is wanted.
image_t paint_atlas(const cell_t& size, const image_t& atlas, const shape_t& from) {
    return by_rows(size, 1, [&](std::int64_t z, std::int64_t y, std::uint8_t* row) {
        const std::int64_t slice = size[0] == 1 ? from[0] / 2 : z * from[0] / size[0];
        const std::uint8_t* source = atlas.data() + (slice * from[1] + y * from[1] / size[1]) * from[2];
        for (std::int64_t x = 0; x < size[2]; ++x) row[x] = source[x * from[2] / size[2]];
    });
}

}  // namespace

std::span<const picture_kind> picture_kinds() { return kinds; }

double share_of_sites(const image_t& image) {
    const auto zeros = std::count(image.begin(), image.end(), std::uint8_t{0});
    return static_cast<double>(zeros) / static_cast<double>(image.size());
}

image_t read_mask(const std::string& path, shape_t& shape) {
    const io::array file = io::read(path);
    const auto size = static_cast<std::size_t>(size_of(file.type));
    image_t image(static_cast<std::size_t>(file.cells()));
    for (std::size_t i = 0; i < image.size(); ++i) {
        const std::byte* cell = file.data.get() + i * size;
        image[i] = std::any_of(cell, cell + size, [](std::byte b) { return b != std::byte{0}; }) ? 1 : 0;
    }
    shape = file.shape;
    return image;
}

painter::painter(const std::string& atlas) {
    if (atlas.empty()) return;
    atlas_ = read_mask(atlas, atlas_shape_);
    if (atlas_shape_.size() != 3 || atlas_.empty())
        throw error(error_code::invalid_argument, fmt::format("{} is no volume; --atlas wants one of 3 axes", atlas));
}

image_t painter::paint(const std::string& name, const shape_t& shape) const {
    const cell_t size = three_axes(shape);
    const bool flat = size[0] == 1;
    const auto only = [&](auto&& rule) {
        image_t image(static_cast<std::size_t>(cells_of(shape)), 1);
        rule(image);
        return image;
    };
    if (name == "one")
        return only([&](image_t& i) {
            i[static_cast<std::size_t>((size[0] / 2 * size[1] + size[1] / 2) * size[2] + size[2] / 2)] = 0;
        });
    if (name == "corner") return only([](image_t& i) { i.front() = 0; });
    if (name == "corners") return only([](image_t& i) { i.front() = i.back() = 0; });
    if (name == "border") return paint_border(size);
    if (name == "circle") return paint_circle(size);
    if (name == "ties")
        return by_cells(size, [&, best = commonest_distance2(size)](std::int64_t z, std::int64_t y, std::int64_t x) {
            return distance2(size, z, y, x) == best;
        });
    if (name == "diagonal") return paint_diagonal(size);
    if (name == "checkerboard")
        return by_cells(size, [](std::int64_t z, std::int64_t y, std::int64_t x) { return (z + y + x) % 2 == 0; });
    if (name == "balls" || name == "shells")
        return paint_balls(size, flat ? balls(size, 128, 32) : balls(size, 64, 16), 0, name == "shells");
    if (name == "blobs") return paint_balls(size, flat ? balls(size, 64, 24) : balls(size, 24, 8), 1, false);
    if (name == "atlas" && knows(name)) return paint_atlas(size, atlas_, atlas_shape_);
    throw error(error_code::invalid_argument,
                fmt::format("there is no picture '{}'{}", name, name == "atlas" ? "; give its file with --atlas" : ""));
}

}  // namespace nearfield::bench
