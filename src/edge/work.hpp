// One call of the library, for any of its overloads.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nearfield/distance_bounds.hpp"
#include "nearfield/distance_where.hpp"
#include "nearfield/methods.hpp"
#include "nearfield/voronoi.hpp"

namespace nearfield::edge {

/// The arguments of a call: images of one element type and rank, the fields wanted of each, and options for all.
template <class Place>
struct work {
    std::vector<job<Place>> jobs;
    any_input<Place> weights{};  ///< optional: weights of a power diagram, for the only job
    distance_options options{};
    std::optional<method> by{};       ///< optional: replaces the engine, for the only job
    method_report* report = nullptr;  ///< optional: receives the method's report
    any_input<Place> bounds{};        ///< optional: a bound for each cell of the only job
    any_input<Place> where{};         ///< optional: the cells of the only job that are computed
    cleared_fields cleared{};         ///< values that the other cells get

    [[nodiscard]] std::int64_t cells() const {
        std::int64_t sum = 0;
        for (const job<Place>& each : jobs) sum += each.image.cells();
        return sum;
    }
};

template <class Place>
void run(const Place& on, const work<Place>& what) {
    const job<Place>& first = what.jobs.front();
    if (what.by) {
        const method_report took = nearest_sites(*what.by, on, first.image, first.out, what.options);
        if (what.report != nullptr) *what.report = took;
    } else if (what.where.wanted())
        distance_transform_where(on, first.image, what.where, first.out, what.options, what.cleared);
    else if (what.bounds.wanted()) bounded_distance_transform(on, first.image, what.bounds, first.out, what.options);
    else if (what.weights.wanted()) power_diagram(on, first.image, what.weights, first.out, what.options);
    else if (what.jobs.size() == 1) distance_transform(on, first.image, first.out, what.options);
    else distance_transform(on, std::span<const job<Place>>(what.jobs), what.options);
}

}  // namespace nearfield::edge
