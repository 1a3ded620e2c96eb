#include "mesh/polygon.hpp"

#include <algorithm>
#include <cmath>

namespace nearfield::meshes {
namespace {

/// Larger ones become fans: ears of n corners take a time of n^3 at worst.
constexpr std::size_t most_corners = 1024;

/// Twice the area of a triangle; positive if it is counter-clockwise.
double turn(const std::array<double, 2>& a, const std::array<double, 2>& b, const std::array<double, 2>& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

}  // namespace

void polygon::finish() {
    if (corners_.size() > 3 && corners_.size() <= most_corners) {
        project();
        if (bends_inwards()) cut_ears();
    }
    for (std::size_t k = 2; k < corners_.size(); ++k) to_.faces.push_back({corners_[0], corners_[k - 1], corners_[k]});
}

void polygon::project() {
    const auto vertex = [&](std::size_t k) { return to_.vertices[static_cast<std::size_t>(corners_[k])]; };
    const auto origin = vertex(0);
    std::array<double, 3> normal{};
    for (std::size_t k = 0; k < corners_.size(); ++k) {
        const auto a = vertex(k), b = vertex(behind(k));
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
            normal[axis] += (a[u] - origin[u]) * (b[v] - origin[v]) - (a[v] - origin[v]) * (b[u] - origin[u]);
        }
    }
    std::size_t axis = 0;
    for (std::size_t k = 1; k < 3; ++k)
        if (std::abs(normal[k]) > std::abs(normal[axis])) axis = k;
    std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    if (normal[axis] < 0) std::swap(u, v);
    at_.clear();
    for (std::size_t k = 0; k < corners_.size(); ++k) at_.push_back({vertex(k)[u], vertex(k)[v]});
}

bool polygon::bends_inwards() const {
    for (std::size_t k = 0; k < corners_.size(); ++k)
        if (turn(at_[before(k)], at_[k], at_[behind(k)]) < 0) return true;
    return false;
}

/// True if the triangle of corner k and its neighbours turns with the polygon and has no other corner. Corners at the
/// same place as one of the three do not count: a bridge to a hole has its ends twice.
bool polygon::is_ear(std::size_t k) const {
    const place &a = at_[before(k)], &b = at_[k], &c = at_[behind(k)];
    return turn(a, b, c) > 0 && std::none_of(at_.begin(), at_.end(), [&](const place& p) {
               return p != a && p != b && p != c && turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0;
           });
}

void polygon::cut_ears() {
    for (std::size_t k = 0, tried = 0; corners_.size() > 3 && tried < corners_.size();
         k = k < corners_.size() ? k : 0) {
        if (!is_ear(k)) {
            ++k, ++tried;
            continue;
        }
        to_.faces.push_back({corners_[before(k)], corners_[k], corners_[behind(k)]});
        corners_.erase(corners_.begin() + static_cast<std::ptrdiff_t>(k));
        at_.erase(at_.begin() + static_cast<std::ptrdiff_t>(k));
        tried = 0;
    }
}

}  // namespace nearfield::meshes
