// Calls on shapes and objects, with arrays of the host or of a device: the planned memory and the memory they take.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "nearfield/nearfield.hpp"

namespace nearfield::test {

/// Addresses of a call's arrays, which are cubes: a mask of uint8, heights of int32, a few markers of uint8, and three
/// outputs with 8 bytes for each cell.
struct plan_arrays {
    std::int64_t side;
    const void *mask, *height, *marker;
    void* out[3];
};

template <class Place>
struct planned_call {
    std::string name;
    std::function<void(const Place&)> run;
};

/// Few large objects and basins, so that memory which depends on values is small; most cells are foreground.
struct plan_images {
    std::vector<std::uint8_t> mask, marker;
    std::vector<std::int32_t> height;

    explicit plan_images(std::int64_t side) {
        const auto wave = [](std::int64_t i) { return std::cos(0.112 * static_cast<double>(i)); };
        for (std::int64_t z = 0; z < side; ++z)
            for (std::int64_t y = 0; y < side; ++y)
                for (std::int64_t x = 0; x < side; ++x) {
                    const double sum = wave(z) + wave(y) + wave(x);
                    mask.push_back(sum > 1.6 ? 0 : 1), marker.push_back((x + y + z) % 97 == 96 && y == z ? 1 : 0);
                    height.push_back(static_cast<std::int32_t>(1e6 * sum) + static_cast<std::int32_t>(x));
                }
    }
};

/// Views of a call's arrays.
template <class Place>
struct plan_views {
    plan_arrays at;

    [[nodiscard]] std::vector<std::int64_t> shape() const { return {at.side, at.side, at.side}; }
    [[nodiscard]] any_input<Place> in() const { return any_input<Place>::contiguous(at.mask, dtype::uint8, shape()); }
    [[nodiscard]] any_input<Place> height() const {
        return any_input<Place>::contiguous(at.height, dtype::int32, shape());
    }
    [[nodiscard]] any_input<Place> marker() const {
        return any_input<Place>::contiguous(at.marker, dtype::uint8, shape());
    }
    [[nodiscard]] any_output<Place> out(dtype type, std::size_t k = 0) const {
        return any_output<Place>::contiguous(at.out[k], type, shape());
    }
};

template <class Place>
void add_shapes(std::vector<planned_call<Place>>& all, const plan_views<Place>& a) {
    const auto add = [&](const char* name, std::function<void(const Place&)> run) {
        all.push_back({name, std::move(run)});
    };
    const morphology_options labels{.labels = true}, mask{};
    const auto bits = a.out(dtype::uint8);
    add("erosion", [=](const Place& on) { erosion(on, a.in(), 3, bits, mask); });
    add("erosion of labels", [=](const Place& on) { erosion(on, a.in(), 3, bits, labels); });
    add("dilation", [=](const Place& on) { dilation(on, a.in(), 3, bits, mask); });
    add("opening", [=](const Place& on) { opening(on, a.in(), 3, bits, mask); });
    add("opening of labels", [=](const Place& on) { opening(on, a.in(), 3, bits, labels); });
    add("closing of labels", [=](const Place& on) { closing(on, a.in(), 3, bits, labels); });
    const thickness_options uneven{.spacing = {2, 1, 1}}, even{};
    add("local_thickness", [=](const Place& on) { local_thickness(on, a.in(), {a.out(dtype::float32), {}}, even); });
    add("local_thickness, general",
        [=](const Place& on) { local_thickness(on, a.in(), {{}, a.out(dtype::float64)}, uneven); });
    add("natural_neighbor", [=](const Place& on) { natural_neighbor(on, a.in(), a.in(), a.out(dtype::float32)); });
    for (const auto& [name, how] : {std::pair{"medial_axis", axis_method::integer},
                                    {"medial_axis of balls", axis_method::balls},
                                    {"medial_axis, reduced", axis_method::reduced}}) {
        const medial_axis_options options{.method = how};
        add(name, [=](const Place& on) { medial_axis(on, a.in(), {.axis = bits}, options); });
    }
    add("skeletonize", [=](const Place& on) { skeletonize(on, a.in(), bits); });
}

template <class Place>
void add_objects(std::vector<planned_call<Place>>& all, const plan_views<Place>& a) {
    const auto add = [&](const char* name, std::function<void(const Place&)> run) {
        all.push_back({name, std::move(run)});
    };
    const auto labels = a.out(dtype::int32);
    const split_options by_peaks{}, by_parts{.method = split_method::geodesic, .h = 25};
    add("watershed", [=](const Place& on) { watershed(on, a.height(), {.label = labels}); });
    add("watershed from markers", [=](const Place& on) {
        watershed(on, a.height(), {.label = a.out(dtype::uint8), .passes = a.out(dtype::int32, 1)}, {}, a.marker(),
                  a.in());
    });
    add("peaks", [=](const Place& on) { static_cast<void>(peaks(on, a.height())); });
    add("reconstruct_gray",
        [=](const Place& on) { reconstruct_gray(on, a.height(), a.height(), a.out(dtype::int32)); });
    add("split", [=](const Place& on) { split(on, a.in(), labels, by_peaks); });
    add("split, geodesic", [=](const Place& on) { split(on, a.in(), labels, by_parts); });
    add("label", [=](const Place& on) { label(on, a.in(), {.label = labels}); });
    add("geodesic", [=](const Place& on) { geodesic(on, a.in(), a.marker(), {.cost = labels}); });
    add("geodesic with prices", [=](const Place& on) {
        geodesic(on, a.in(), a.marker(), {.cost = labels, .label = a.out(dtype::uint8, 1)}, {}, a.in());
    });
    add("compare_surfaces", [=](const Place& on) { static_cast<void>(compare_surfaces(on, a.in(), a.marker())); });
    add("fill_nearest", [=](const Place& on) { fill_nearest(on, a.in(), a.in(), a.out(dtype::uint8)); });
    add("interpolate_slices", [=](const Place& on) {
        const std::int64_t drawn[] = {0, a.at.side - 1};
        std::vector<slice_position> all_slices;
        for (std::int64_t k = 0; k < a.at.side; ++k) all_slices.push_back({k, 1});
        interpolate_slices(on, a.in(), 0, all_slices, a.out(dtype::uint8), {.drawn = drawn});
    });
    if constexpr (std::is_same_v<Place, host>)
        add("network_of_pores", [=](const host& on) { static_cast<void>(network_of_pores(on, a.in())); });
}

template <class Place>
void add_paths(std::vector<planned_call<Place>>& all, const plan_views<Place>& a) {
    const auto add = [&](const char* name, std::function<void(const Place&)> run) {
        all.push_back({name, std::move(run)});
    };
    for (const auto& [name, how] : {std::pair{"plan_path", path_objective::shortest},
                                    {"plan_path, safe", path_objective::safe},
                                    {"plan_path, widest", path_objective::widest}}) {
        const path_options options{.objective = how};  // no path joins these cells, so that components are counted
        add(name, [=](const Place& on) {
            const std::int64_t start[] = {0, 0, 0}, goal[] = {a.at.side / 2 + 9, 0, 0};
            static_cast<void>(plan_path(on, a.in(), start, goal, options));
        });
    }
    // On a device a roadmap takes memory of both.
    if constexpr (std::is_same_v<Place, host>) add("roadmap", [=](const host& on) { const roadmap made(on, a.in()); });
}

/// Calls that have a plan on the host.
inline void add_pictures(std::vector<planned_call<host>>& all, const plan_views<host>& a) {
    static const std::vector<double> rays(300, 1);
    static const std::vector<std::int32_t> sites{1, 2, 3, 9, 8, 7};
    const auto add = [&](const char* name, std::function<void(const host&)> run) {
        all.push_back({name, std::move(run)});
    };
    const std::int64_t rows[] = {100, 3}, pairs[] = {2, 3}, pixels[] = {60, 80, 3};
    const auto ends = any_input<host>::contiguous(rays.data(), dtype::float64, rows);
    const auto entry = any_output<host>::contiguous(a.at.out[1], dtype::float64, std::span(rows, 1));
    add("raycast", [=](const host& on) { raycast(on, a.in(), ends, ends, {.entry = entry}); });
    const auto picture = any_output<host>::contiguous(a.at.out[0], dtype::uint8, pixels);
    const camera all_in_sight = camera_for(a.shape().data(), 3);
    add("render", [=](const host& on) { render(on, a.in(), picture, {.camera = all_in_sight}); });
    add("sdf", [=](const host& on) { sdf(on, a.in(), a.out(dtype::float32), {.batch_axes = 1}); });
    const auto starts = any_input<host>::contiguous(sites.data(), dtype::int32, pairs);
    const auto moved = any_output<host>::contiguous(a.at.out[1], dtype::int32, pairs);
    add("centroidal_voronoi", [=](const host& on) {
        centroidal_voronoi(on, a.in(), starts, {moved, {}, {}, a.out(dtype::int32)}, {.rounds = 2});
    });
    add("stipple",
        [=](const host& on) { static_cast<void>(stipple(on, a.in(), {.points = 40, .rounds = 2, .supersample = 1})); });
}

template <class Place>
std::vector<planned_call<Place>> planned_calls(const plan_arrays& at) {
    std::vector<planned_call<Place>> all;
    add_shapes<Place>(all, {at});
    add_objects<Place>(all, {at});
    add_paths<Place>(all, {at});
    if constexpr (std::is_same_v<Place, host>) add_pictures(all, {at});
    return all;
}

/// Addresses without memory behind them.
inline plan_arrays made_up(std::int64_t side) {
    const auto address = [](std::uintptr_t n) { return reinterpret_cast<void*>(n << 44); };
    return {side, address(1), address(2), address(3), {address(4), address(5), address(6)}};
}

}  // namespace nearfield::test
