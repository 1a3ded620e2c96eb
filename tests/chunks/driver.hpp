// A driver for tests: computes a grid chunk by chunk on either place, and expects what one call on the host computes.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "nearfield/chunks.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/label.hpp"

namespace nearfield::test {

using lengths = std::vector<std::int64_t>;

inline std::int64_t cells_of(const lengths& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Calls body(position) for each position of a grid, in C order.
template <class Body>
void for_each_position(const lengths& shape, const Body& body) {
    lengths at(shape.size());
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        std::int64_t rest = i;
        for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k]) at[k] = rest % shape[k];
        body(at);
    }
}

/// Returns the linear index of a cell, which may lie beyond the ends of the grid, as if it were periodic.
inline std::size_t index_of(const lengths& at, const lengths& shape) {
    std::int64_t made = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) made = made * shape[k] + (at[k] % shape[k] + shape[k]) % shape[k];
    return static_cast<std::size_t>(made);
}

inline lengths sum_of(lengths a, const lengths& b) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
    return a;
}

/// Copies a box of `shape` cells from `start` on.
template <class T>
std::vector<T> box_of(const std::vector<T>& grid, const lengths& all, const lengths& start, const lengths& shape) {
    std::vector<T> made;
    for_each_position(shape, [&](const lengths& at) { made.push_back(grid[index_of(sum_of(at, start), all)]); });
    return made;
}

/// A grid of random cells, cut into chunks.
struct chunked_grid {
    lengths shape, most;  ///< most: sides of a chunk
    std::vector<std::uint8_t> image;
    std::vector<std::uint8_t> periodic;
    spacing cell;
    double limit;
    label_options how;

    [[nodiscard]] lengths chunks() const {
        lengths made;
        for (std::size_t k = 0; k < shape.size(); ++k) made.push_back((shape[k] + most[k] - 1) / most[k]);
        return made;
    }
    [[nodiscard]] chunk_place place(const lengths& at) const {
        chunk_place made{{}, {}, shape};
        for (std::size_t k = 0; k < shape.size(); ++k) {
            made.start.push_back(at[k] * most[k]);
            made.size.push_back(std::min(most[k], shape[k] - made.start[k]));
        }
        return made;
    }
};

inline chunked_grid drawn_grid(std::uint64_t seed, int most_axes) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
    chunked_grid made;
    const auto axes = static_cast<std::size_t>(1 + below(static_cast<std::uint64_t>(most_axes)));
    double lengths_of_cells[max_rank];
    for (std::size_t k = 0; k < axes; ++k) {
        made.shape.push_back(1 + below(axes > 2 ? 9 : 23));
        made.most.push_back(1 + below(6));
        made.periodic.push_back(random() % 3 == 0);
        lengths_of_cells[k] = std::array{1.0, 2.0, 0.7182818}[random() % 3];
    }
    made.cell = spacing(lengths_of_cells, axes);
    made.limit = std::array{1.0, 2.5, 4.0}[random() % 3];
    const std::uint64_t density = std::array{0U, 30U, 300U, 500U, 900U, 1000U}[random() % 6];
    for (std::int64_t i = 0; i < cells_of(made.shape); ++i)
        made.image.push_back(random() % 1000 < density ? static_cast<std::uint8_t>(1 + random() % 2) : 0);
    made.how.connectivity = static_cast<int>(1 + below(axes));
    made.how.criterion = random() % 2 == 0 ? criterion::nonzero : criterion::equal;
    made.how.has_background = random() % 2 == 0;
    return made;
}

/// steps.faces(window, shape, place, how) labels a window and returns its faces; steps.numbers(window, shape, how,
/// numbers) returns its labels, renumbered.
template <class Steps>
void expect_components_of_the_whole(const Steps& steps, const chunked_grid& g) {
    label_options whole = g.how;
    border ends[max_rank];
    for (std::size_t k = 0; k < g.shape.size(); ++k) ends[k] = g.periodic[k] != 0 ? border::periodic : border::open;
    whole.border = borders(ends, g.shape.size());
    std::vector<std::int64_t> wanted(g.image.size());
    std::int64_t count = 0;
    label_fields<host> out;
    out.label = any_output<host>::contiguous(wanted.data(), dtype::int64, g.shape);
    out.count = any_output<host>::contiguous(&count, dtype::int64, lengths{1});
    label(host{1, {}}, any_input<host>::contiguous(g.image.data(), dtype::uint8, g.shape), out, whole);

    std::vector<chunk_faces> faces;
    std::vector<lengths> windows;
    for_each_position(g.chunks(), [&](const lengths& at) {
        const chunk_place place = g.place(at);
        lengths window = place.size;
        for (std::size_t k = 0; k < window.size(); ++k)
            window[k] += place.start[k] + place.size[k] < g.shape[k] || g.periodic[k] != 0 ? 1 : 0;
        windows.push_back(window);
        faces.push_back(steps.faces(box_of(g.image, g.shape, place.start, window), window, place, g.how));
    });
    const merged_chunks merged = merge(faces, g.chunks());
    EXPECT_EQ(merged.count, count);
    std::size_t number = 0;
    for_each_position(g.chunks(), [&](const lengths& at) {
        const chunk_place place = g.place(at);
        const lengths& window = windows[number];
        const std::vector<std::int64_t> made =
            steps.numbers(box_of(g.image, g.shape, place.start, window), window, g.how, merged.numbers[number]);
        EXPECT_EQ(made, box_of(wanted, g.shape, place.start, window));
        ++number;
    });
}

/// steps.window(window, shape, options, start, size) returns the squares and indices of a window's box, and whether
/// they are certified. Returns how many chunks were.
template <class Steps>
int expect_windows_of_the_whole(const Steps& steps, const chunked_grid& g) {
    distance_options options;
    options.spacing = g.cell;
    std::vector<double> squared(g.image.size());
    std::vector<std::int64_t> index(g.image.size());
    fields<host> out;
    out.squared = any_output<host>::contiguous(squared.data(), dtype::float64, g.shape);
    out.index = any_output<host>::contiguous(index.data(), dtype::int64, g.shape);
    distance_transform(host{1, {}}, any_input<host>::contiguous(g.image.data(), dtype::uint8, g.shape), out, options);
    options.max_distance = g.limit;
    int certified = 0;
    for_each_position(g.chunks(), [&](const lengths& at) {
        const chunk_place place = g.place(at);
        lengths low = window_halo(g.limit, g.cell, static_cast<int>(g.shape.size())), start = place.start, window;
        for (std::size_t k = 0; k < low.size(); ++k) {
            const std::int64_t end = std::min(place.start[k] + place.size[k] + low[k], g.shape[k]);
            low[k] = std::min(low[k], place.start[k]);
            start[k] -= low[k];
            window.push_back(end - start[k]);
        }
        auto [made, sites, holds] =
            steps.window(box_of(g.image, g.shape, start, window), window, options, low, place.size);
        for (std::int64_t& site : sites) {
            if (site < 0) continue;
            lengths cell(window.size());
            for (std::size_t k = window.size(); k-- > 0; site /= window[k]) cell[k] = site % window[k] + start[k];
            site = static_cast<std::int64_t>(index_of(cell, g.shape));
        }
        const std::vector<double> wanted = box_of(squared, g.shape, place.start, place.size);
        const bool near =
            std::all_of(wanted.begin(), wanted.end(), [&](double d2) { return std::sqrt(d2) <= g.limit; });
        EXPECT_EQ(holds, near);
        if (!holds) return;
        ++certified;
        EXPECT_EQ(made, wanted);
        EXPECT_EQ(sites, box_of(index, g.shape, place.start, place.size));
    });
    return certified;
}

/// Returns the view of a box of an array.
template <class Element, class Place>
any_view<Element, Place> part_of(any_view<Element, Place> all, const lengths& start, const lengths& size) {
    std::int64_t begin = 0;
    for (std::size_t k = 0; k < size.size(); ++k) begin += start[k] * all.stride[k], all.shape[k] = size[k];
    using byte = std::conditional_t<std::is_const_v<Element>, const std::byte, std::byte>;
    all.data = static_cast<byte*>(all.data) + begin * size_of(all.type);
    return all;
}

}  // namespace nearfield::test
