// Calls of local_thickness() and union_of_balls() for every backend, and the walks over cases that all of them take.
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

/// A spacing, and the whole numbers of a unit that it is counted in; unit2 0: in doubles.
struct counted_spacing {
    std::vector<double> spacing, counts;
    double unit2 = 1;
};

struct thickness_call {
    shape_t shape;
    int batch_axes = 0;
    counted_spacing cells;
    std::vector<oracle::edge> border;  ///< one per axis that is no batch axis
    bool multilabel = false;
    bool radii_given = false;
    std::vector<double> sizes;
    int threads = 1;
    std::vector<std::int64_t> value;
    guarded image;
    std::optional<guarded> thickness, squared;

    [[nodiscard]] thickness_options options() const;
    template <class Place>
    [[nodiscard]] thickness_fields<Place> fields_in(void* thickness_memory, void* squared_memory) const {
        thickness_fields<Place> out;
        if (thickness) out.thickness = thickness->view_of<Place>(thickness_memory);
        if (squared) out.squared = squared->view_of<Place>(squared_memory);
        return out;
    }
};

/// An image of these values, contiguous, both outputs.
thickness_call plain_call(const shape_t& shape, const std::vector<std::int64_t>& value);
/// Shape, values, layouts, types and options from a number.
thickness_call random_call(std::uint64_t k);

using thickness_engine = std::function<void(thickness_call&)>;
void thickness_on_host(thickness_call& c);

/// Empty, or what the engine's answer has wrong: a value, or a guard byte.
std::string check_thickness(const thickness_engine& engine, thickness_call c);

/// Random cases; every how-many-th.
void walk_thickness(const thickness_engine& engine, std::uint64_t cases, std::uint64_t every);
/// The call's T2 from two engines, byte by byte.
std::string differ(const thickness_engine& a, const thickness_engine& b, const thickness_call& c);

/// Values of a smooth random field above its median: shapes whose balls are large. Sides in C order.
std::vector<std::int64_t> soft_shapes(const shape_t& shape, int radius, double fill, std::uint64_t seed);
/// A plate with bumps on both faces.
std::vector<std::int64_t> rough_plate(std::int64_t depth, std::int64_t side, std::int64_t thick);

}  // namespace nearfield::test
