// Calls of local_thickness(), union_of_balls() and porosimetry() for every backend, and the sets of cases that all of
// them run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exact/cases.hpp"
#include "exact/guarded.hpp"
#include "nearfield/thickness.hpp"
#include "oracle/balls.hpp"

namespace nearfield::test {

/// A spacing, and its integers in a common unit; unit2 is 0 if it is computed in doubles.
struct counted_spacing {
    std::vector<double> spacing, counts;
    double unit2 = 1;
};

struct thickness_call {
    shape_t shape;
    int batch_axes = 0;
    counted_spacing cells;
    std::vector<oracle::edge> border;  ///< one for each axis that is no batch axis
    bool multilabel = false;
    bool radii_given = false;
    std::vector<std::uint8_t> inlets;  ///< one for each cell; empty: balls are everywhere
    std::vector<double> sizes;
    int threads = 1;
    std::vector<std::int64_t> value;
    guarded image;
    std::optional<guarded> thickness, squared;

    [[nodiscard]] thickness_options options() const;
    template <class Place>
    void run(const Place& on, const void* image_memory, const void* inlet_memory,
             const thickness_fields<Place>& out) const {
        const auto from = image.view_of<Place>(image_memory);
        const thickness_options how = options();
        if (radii_given) return union_of_balls(on, from, out, how);
        if (inlets.empty()) return local_thickness(on, from, out, how);
        porosimetry(on, from, any_input<Place>::contiguous(inlet_memory, dtype::uint8, shape), out,
                    {how.spacing, how.border, how.sizes});
    }
    template <class Place>
    [[nodiscard]] thickness_fields<Place> fields_in(void* thickness_memory, void* squared_memory) const {
        thickness_fields<Place> out;
        if (thickness) out.thickness = thickness->view_of<Place>(thickness_memory);
        if (squared) out.squared = squared->view_of<Place>(squared_memory);
        return out;
    }
};

/// An image of these values, contiguous, with both outputs.
thickness_call plain_call(const shape_t& shape, const std::vector<std::int64_t>& value);
/// Draws shape, values, layouts, types and options from a number.
thickness_call random_call(std::uint64_t k);

using thickness_engine = std::function<void(thickness_call&)>;
void thickness_on_host(thickness_call& c);

/// Returns "" or the error in the engine's result: a wrong value, or a changed guard byte.
std::string check_thickness(const thickness_engine& engine, thickness_call c);

/// Runs random cases, every `every`-th one.
void walk_thickness(const thickness_engine& engine, std::uint64_t cases, std::uint64_t every);
/// Compares T2 of two engines byte by byte; returns "" or the difference.
std::string differ(const thickness_engine& a, const thickness_engine& b, const thickness_call& c);

/// Cells above the median of a smooth random field: shapes with large balls. Sides are in C order.
std::vector<std::int64_t> soft_shapes(const shape_t& shape, int radius, double fill, std::uint64_t seed);
/// A plate with bumps on both sides.
std::vector<std::int64_t> rough_plate(std::int64_t depth, std::int64_t side, std::int64_t thick);

}  // namespace nearfield::test
