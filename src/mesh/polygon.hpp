// Splits the polygons of files into triangles.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "nearfield/mesh.hpp"

namespace nearfield::meshes {

/// Takes one polygon after the other. A polygon without a corner that bends inwards becomes a fan around its first
/// corner; others lose ears, one by one, until three corners or no ears are left.
class polygon {
public:
    explicit polygon(mesh& to) : to_(to) {}
    void start() { corners_.clear(); }
    void corner(std::int64_t vertex) { corners_.push_back(static_cast<std::int32_t>(vertex)); }
    void finish();

private:
    using place = std::array<double, 2>;

    void project();
    [[nodiscard]] bool bends_inwards() const;
    [[nodiscard]] bool is_ear(std::size_t k) const;
    void cut_ears();
    [[nodiscard]] std::size_t before(std::size_t k) const { return (k == 0 ? corners_.size() : k) - 1; }
    [[nodiscard]] std::size_t behind(std::size_t k) const { return k + 1 == corners_.size() ? 0 : k + 1; }

    mesh& to_;
    std::vector<std::int32_t> corners_;
    std::vector<place> at_;  ///< corners without the axis closest to the normal; counter-clockwise
};

}  // namespace nearfield::meshes
