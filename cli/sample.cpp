// Makes samples: the table of kinds, and the simple ones.
#include "cli/sample.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "cli/generator.hpp"
#include "cli/sample_shapes.hpp"
#include "cli/slabs.hpp"

namespace nearfield::cli {
namespace {

constexpr sample_info kinds[] = {
    {sample_kind::blobs, "blobs", "smooth random shapes that cover --density of the cells"},
    {sample_kind::cells, "cells", "polygonal cells with thin walls of 0 between them"},
    {sample_kind::labels, "labels", "touching regions, uint16, each with a value of its own, with gaps of 0"},
    {sample_kind::maze, "maze", "a perfect maze with corridors of 255, in 2-D or 3-D"},
    {sample_kind::vessels, "vessels", "branching tubes, in 2-D or 3-D"},
    {sample_kind::random, "random", "every cell is 255 with probability --density"},
    {sample_kind::one, "one", "a single cell of 255 at a random place"},
    {sample_kind::circle, "circle", "a disc or ball in the middle"},
    {sample_kind::checkerboard, "checkerboard", "squares of --scale cells"},
    {sample_kind::cube, "cube", "a solid cube in a frame of --scale cells of 0, by default one"},
};

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

void fill_random(std::uint8_t* cells, std::int64_t count, std::uint64_t seed, double density) {
    const auto limit = static_cast<std::uint64_t>(density * 0x1p53);
    for_slabs(count, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            cells[i] = (scramble(seed, static_cast<std::uint64_t>(i)) >> 11) < limit ? 255 : 0;
    });
}

using coordinates = std::array<std::int64_t, max_rank>;

/// Calls row(first cell of the row, coordinates of that cell) for every row of the last axis.
template <class Row>
void for_rows(const std::vector<std::int64_t>& shape, std::int64_t count, const Row& row) {
    const std::int64_t length = shape.back();
    coordinates at{};
    for (std::int64_t first = 0; first < count; first += length) {
        row(first, at);
        for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
            if (++at[axis] < shape[axis]) break;
            at[axis] = 0;
        }
    }
}

void fill_circle(std::uint8_t* cells, const std::vector<std::int64_t>& shape, std::int64_t count,
                 std::int64_t diameter) {
    // Coordinates count half cells, so that the middle of an even side is exact.
    const auto half_offset = [&](std::size_t axis, std::int64_t at) { return 2 * at + 1 - shape[axis]; };
    for_rows(shape, count, [&](std::int64_t first, const coordinates& at) {
        std::int64_t across = 0;
        for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis)
            across += half_offset(axis, at[axis]) * half_offset(axis, at[axis]);
        for (std::int64_t i = 0; i < shape.back(); ++i) {
            const std::int64_t along = half_offset(shape.size() - 1, i);
            cells[first + i] = across + along * along <= diameter * diameter ? 255 : 0;
        }
    });
}

void fill_checkerboard(std::uint8_t* cells, const std::vector<std::int64_t>& shape, std::int64_t count,
                       std::int64_t side) {
    for_rows(shape, count, [&](std::int64_t first, const coordinates& at) {
        std::int64_t parity = 0;
        for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) parity += at[axis] / side;
        for (std::int64_t i = 0; i < shape.back(); ++i) cells[first + i] = (parity + i / side) % 2 != 0 ? 255 : 0;
    });
}

void fill_cube(std::uint8_t* cells, const std::vector<std::int64_t>& shape, std::int64_t count, std::int64_t frame) {
    const auto inside = [&](std::size_t axis, std::int64_t at) { return at >= frame && at < shape[axis] - frame; };
    for_rows(shape, count, [&](std::int64_t first, const coordinates& at) {
        bool all = true;
        for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) all = all && inside(axis, at[axis]);
        for (std::int64_t i = 0; i < shape.back(); ++i) cells[first + i] = all && inside(shape.size() - 1, i) ? 255 : 0;
    });
}

std::int64_t default_scale(sample_kind kind, std::int64_t shortest) {
    const auto share = [&](std::int64_t parts, std::int64_t least) { return std::max(least, shortest / parts); };
    switch (kind) {
        case sample_kind::blobs: return share(16, 4);
        case sample_kind::cells:
        case sample_kind::labels: return share(12, 6);
        case sample_kind::maze: return share(48, 2);
        case sample_kind::vessels: return share(24, 3);
        case sample_kind::circle: return share(2, 1);
        case sample_kind::cube: return 1;
        default: return share(8, 1);
    }
}

void check(const sample_options& options, std::string_view kind, std::size_t least_axes, std::size_t most_axes) {
    const std::size_t axes = options.shape.size();
    if (axes < least_axes || axes > most_axes)
        refuse(fmt::format("size has {} axes ({}); {} takes {} to {}, e.g. --size {}", axes,
                           fmt::join(options.shape, "x"), kind, least_axes, most_axes,
                           least_axes > 1 || axes < 3 ? "256x256" : "64x64x64"));
    for (std::int64_t n : options.shape)
        if (n < 0) refuse(fmt::format("size is {}; no axis can be negative", fmt::join(options.shape, "x")));
    if (!(options.density >= 0 && options.density <= 1))
        refuse(fmt::format("density is {}; give the share of nonzero cells, above 0 and at most 1", options.density));
    // A larger scale would make squares of fixed-point coordinates exceed 64 bits.
    if (options.scale < 0 || options.scale > 1'000'000)
        refuse(fmt::format("scale is {}; give a number of cells, 1 to 1000000", options.scale));
}

canvas canvas_for(const sample_options& options, std::uint8_t* cells) {
    const std::size_t axes = options.shape.size();
    canvas on{cells, {1, 1, 1}, static_cast<int>(axes)};
    std::copy(options.shape.begin(), options.shape.end(), on.size.end() - static_cast<std::ptrdiff_t>(axes));
    return on;
}

io::array make_labels(const sample_options& options) {
    if (options.invert) refuse("--invert swaps 0 and 255; labels have other values, so leave it out");
    io::array made = io::make_array(dtype::uint16, options.shape);
    if (made.cells() == 0) return made;
    const canvas on = canvas_for(options, nullptr);
    draw_labels(on, reinterpret_cast<std::uint16_t*>(made.data.get()), options.seed,
                options.scale > 0 ? options.scale : default_scale(sample_kind::labels, on.shortest()),
                options.density > 0 ? options.density : 0.8);
    return made;
}

void draw(sample_kind kind, const sample_options& options, std::uint8_t* cells) {
    const canvas on = canvas_for(options, cells);
    const std::int64_t scale = options.scale > 0 ? options.scale : default_scale(kind, on.shortest());
    switch (kind) {
        case sample_kind::blobs:
            return draw_blobs(on, options.seed, scale, options.density > 0 ? options.density : 0.4);
        case sample_kind::cells: return draw_cells(on, options.seed, scale);
        case sample_kind::maze: return draw_maze(on, options.seed, scale);
        default: return draw_vessels(on, options.seed, scale);
    }
}

void fill_plain(sample_kind kind, const sample_options& options, std::uint8_t* cells, std::int64_t count) {
    const std::int64_t shortest = *std::min_element(options.shape.begin(), options.shape.end());
    const std::int64_t scale = options.scale > 0 ? options.scale : default_scale(kind, shortest);
    if (kind == sample_kind::random)
        fill_random(cells, count, options.seed, options.density > 0 ? options.density : 0.01);
    if (kind == sample_kind::one) cells[scramble(options.seed) % static_cast<std::uint64_t>(count)] = 255;
    if (kind == sample_kind::circle) fill_circle(cells, options.shape, count, scale);
    if (kind == sample_kind::cube) fill_cube(cells, options.shape, count, scale);
    if (kind == sample_kind::checkerboard) fill_checkerboard(cells, options.shape, count, scale);
}

}  // namespace

std::int64_t canvas::shortest() const {
    std::int64_t least = size[2];
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (used(axis)) least = std::min(least, size[axis]);
    return least;
}

std::span<const sample_info> sample_kinds() { return kinds; }

std::vector<std::string> sample_names() {
    std::vector<std::string> names;
    for (const sample_info& each : kinds) names.emplace_back(each.name);
    return names;
}

sample_kind sample_kind_of(std::string_view name) {
    for (const sample_info& each : kinds)
        if (name == each.name) return each.kind;
    refuse(fmt::format("kind is '{}'; expected one of {}", name, fmt::join(sample_names(), ", ")));
}

io::array make_sample(sample_kind kind, const sample_options& options) {
    const bool plain = kind == sample_kind::random || kind == sample_kind::one || kind == sample_kind::circle ||
                       kind == sample_kind::checkerboard || kind == sample_kind::cube;
    const bool branching = kind == sample_kind::maze || kind == sample_kind::vessels;
    check(options, kinds[static_cast<std::size_t>(kind)].name, branching ? 2 : 1, plain ? max_rank : 3);
    if (kind == sample_kind::labels) return make_labels(options);
    io::array made = io::make_array(dtype::uint8, options.shape);
    const std::int64_t count = made.cells();
    if (count == 0) return made;
    auto* cells = reinterpret_cast<std::uint8_t*>(made.data.get());
    std::memset(cells, 0, static_cast<std::size_t>(count));
    if (plain) fill_plain(kind, options, cells, count);
    else draw(kind, options, cells);
    if (options.invert)
        for (std::int64_t i = 0; i < count; ++i) cells[i] = static_cast<std::uint8_t>(255 - cells[i]);
    return made;
}

}  // namespace nearfield::cli
