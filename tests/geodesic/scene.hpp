// Occupancy grids for the tests of distance fields, and random changes of them.
#pragma once

#include "exact/fills.hpp"
#include "nearfield/esdf.hpp"

namespace nearfield::test {

struct field_of {
    std::vector<float> distance, gradient;
    std::vector<std::int32_t> site;
    friend bool operator==(const field_of&, const field_of&) = default;
};

struct scene {
    shape_t shape;
    std::vector<std::uint8_t> occupancy;
    std::vector<double> spacing;
    esdf_options options;

    explicit scene(std::uint64_t seed) {
        std::uint64_t state = seed << 20;
        const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
        const auto axes = 1 + draw(4);
        constexpr std::uint64_t longest[] = {60, 25, 12, 6};
        for (std::uint64_t k = 0; k < axes; ++k)
            shape.push_back(1 + static_cast<std::int64_t>(draw(longest[axes - 1])));
        const auto share = draw(60);
        for (std::int64_t i = 0; i < cells_of(shape); ++i) occupancy.push_back(draw(100) < share ? 1 : 0);
        constexpr double lengths[] = {1, 0.5, 3};
        for (std::uint64_t k = 0; k < axes; ++k) spacing.push_back(lengths[draw(3)]);
        if (draw(2) == 0) options.spacing = {spacing.data(), spacing.size()};
        else spacing.assign(axes, 1);
        options.negative_inside = draw(2) == 0;
        if (draw(3) > 0) options.max_distance = static_cast<double>(draw(12)) / 2;
    }
    /// Shape of the arrays of sites and gradients.
    [[nodiscard]] shape_t vectors() const {
        shape_t more(1, static_cast<std::int64_t>(shape.size()));
        for (const std::int64_t n : shape) more.push_back(n);
        return more;
    }
    [[nodiscard]] esdf_fields<host> to(field_of& f) const {
        const shape_t more = vectors();
        const auto cells = occupancy.size(), all = cells * shape.size();
        f.distance.resize(cells), f.gradient.resize(all), f.site.resize(all);
        esdf_fields<host> out;
        out.distance = any_output<host>::contiguous(f.distance.data(), dtype::float32, shape);
        out.site = any_output<host>::contiguous(f.site.data(), dtype::int32, more);
        out.gradient = any_output<host>::contiguous(f.gradient.data(), dtype::float32, more);
        return out;
    }
    [[nodiscard]] any_input<host> in() const {
        return any_input<host>::contiguous(occupancy.data(), dtype::uint8, shape);
    }
    [[nodiscard]] field_of solved(int threads) const {
        field_of f;
        esdf(host{threads, {}}, in(), to(f), options);
        return f;
    }
    /// Changes cells within a random box, and returns its corners.
    void change(std::uint64_t seed, shape_t& first, shape_t& end);
};

inline void scene::change(std::uint64_t seed, shape_t& first, shape_t& end) {
    std::uint64_t state = seed << 30;
    for (const std::int64_t size : shape) {
        const auto n = static_cast<std::uint64_t>(size);
        first.push_back(static_cast<std::int64_t>(mix(state++) % (n + 1)));
        end.push_back(first.back() + static_cast<std::int64_t>(mix(state++) % 4));
        end.back() = std::min(end.back(), size);
    }
    for (std::size_t i = 0; i < occupancy.size(); ++i) {
        bool inside = true;
        std::int64_t rest = static_cast<std::int64_t>(i);
        for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k])
            inside = inside && rest % shape[k] >= first[k] && rest % shape[k] < end[k];
        if (inside) occupancy[i] = static_cast<std::uint8_t>(mix(state++) % 2);
    }
}

}  // namespace nearfield::test
