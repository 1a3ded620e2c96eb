#include "oracle/measures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace oracle {
namespace {

/// A cell; or a corner, edge or face, given by its middle in half cells. Images lie in plane 0.
using place3 = std::array<std::int64_t, 3>;
using cells3 = std::set<place3>;

place3 moved(const place3& p, const place3& by) { return {p[0] + by[0], p[1] + by[1], p[2] + by[2]}; }

/// Alternating sum over cells, faces, edges and corners: if closed, over all that belong to a cell, else over those for
/// which all surrounding cells are present.
std::int64_t euler_number(const cells3& cells, std::size_t axes, bool closed) {
    std::map<place3, int> parts;  // number of cells that have each part
    for (const place3& cell : cells)
        for (int k = 0; k < 27; ++k) {
            const place3 by{k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
            if (axes == 2 && by[0] != 0) continue;
            ++parts[{2 * cell[0] + by[0], 2 * cell[1] + by[1], 2 * cell[2] + by[2]}];
        }
    std::int64_t sum = 0;
    for (const auto& [part, count] : parts) {
        int odd = 0;
        for (const std::int64_t each : part) odd += each % 2 != 0 ? 1 : 0;
        // Closed: corners minus edges, plus faces, and so on; open: cells minus faces, and so on.
        if (closed) sum += (static_cast<int>(axes) - odd) % 2 == 0 ? 1 : -1;
        else if (count == 1 << odd) sum += odd % 2 == 0 ? 1 : -1;
    }
    return sum;
}

std::vector<std::int64_t> crossings_of(const cells3& cells, std::size_t axes) {
    std::vector<std::int64_t> found;
    for (int k = 14; k < 27; ++k) {
        const place3 back{1 - k / 9, 1 - k / 3 % 3, 1 - k % 3};
        if (axes == 2 && back[0] != 0) continue;
        found.push_back(std::count_if(cells.begin(), cells.end(),
                                      [&](const place3& cell) { return !cells.contains(moved(cell, back)); }));
    }
    return found;
}

void put_moments(const cells3& cells, shape_row& to) {
    const auto n = static_cast<quad>(cells.size());
    place3 low = *cells.begin(), high = low;
    quad mean[3] = {};
    for (const place3& cell : cells)
        for (std::size_t i = 0; i < 3; ++i) {
            mean[i] += static_cast<quad>(cell[i]) / n;
            low[i] = std::min(low[i], cell[i]), high[i] = std::max(high[i], cell[i]);
        }
    for (const place3& cell : cells)
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j)
                to.covariance[i][j] +=
                    (static_cast<quad>(cell[i]) - mean[i]) * (static_cast<quad>(cell[j]) - mean[j]) / n;
    double box = 1;
    for (std::size_t i = 0; i < 3; ++i) box *= static_cast<double>(high[i] - low[i] + 1);
    to.extent = static_cast<double>(cells.size()) / box;
}

/// scikit-image's perimeter with 4 neighbours: each border cell has a weight by 10 * corners + 2 * faces + 1.
double perimeter_of(const cells3& cells) {
    const place3 faces[] = {{0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}},
                 corners[] = {{0, -1, -1}, {0, -1, 1}, {0, 1, -1}, {0, 1, 1}};
    cells3 border;
    for (const place3& cell : cells)
        for (const place3& by : faces)
            if (!cells.contains(moved(cell, by))) border.insert(cell);
    double sum = 0;
    for (const place3& cell : border) {
        int number = 1;
        for (const place3& by : faces) number += border.contains(moved(cell, by)) ? 2 : 0;
        for (const place3& by : corners) number += border.contains(moved(cell, by)) ? 10 : 0;
        if (std::set{5, 7, 15, 17, 25, 27}.contains(number)) sum += 1;
        if (number == 21 || number == 33) sum += std::sqrt(2);
        if (number == 13 || number == 23) sum += (1 + std::sqrt(2)) / 2;
    }
    return sum;
}

using point = std::array<std::int64_t, 2>;

std::int64_t turn(const point& a, const point& b, const point& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Midpoints of the cells' edges, in half cells.
std::set<point> edge_middles(const std::set<point>& cells) {
    std::set<point> found;
    for (const auto& [y, x] : cells)
        found.insert({{2 * y - 1, 2 * x}, {2 * y + 1, 2 * x}, {2 * y, 2 * x - 1}, {2 * y, 2 * x + 1}});
    return found;
}

/// Gift wrapping: the corners of the convex hull, with all other points to the left.
std::vector<point> wrapped(const std::set<point>& points) {
    std::vector<point> hull{*points.begin()};
    do {
        point next = hull.back();
        for (const point& each : points) {
            const std::int64_t t = turn(hull.back(), next, each);
            const auto far = [&](const point& p) {
                return std::abs(p[0] - hull.back()[0]) + std::abs(p[1] - hull.back()[1]);
            };
            if (next == hull.back() || t < 0 || (t == 0 && far(each) > far(next))) next = each;
        }
        hull.push_back(next);
    } while (hull.back() != hull.front());
    return hull;
}

void put_hull(const cells3& cells, const std::vector<double>& lengths, shape_row& to) {
    std::set<point> own, convex;
    point low{INT64_MAX, INT64_MAX}, high{INT64_MIN, INT64_MIN};
    for (const place3& cell : cells) {
        const point p{cell[1], cell[2]};
        own.insert(p);
        for (std::size_t i = 0; i < 2; ++i) low[i] = std::min(low[i], p[i]), high[i] = std::max(high[i], p[i]);
    }
    const std::vector<point> hull = wrapped(edge_middles(own));
    for (std::int64_t y = low[0]; y <= high[0]; ++y)
        for (std::int64_t x = low[1]; x <= high[1]; ++x) {
            bool inside = true;
            for (std::size_t i = 0; i + 1 < hull.size() && inside; ++i)
                inside = turn(hull[i], hull[i + 1], {2 * y, 2 * x}) >= 0;
            if (inside) convex.insert({y, x});
        }
    to.convex_cells = static_cast<std::int64_t>(convex.size());
    const std::vector<point> ends = wrapped(edge_middles(convex));
    for (const point& a : ends)
        for (const point& b : ends)
            to.feret_diameter =
                std::max(to.feret_diameter, std::hypot(static_cast<double>(a[0] - b[0]) / 2 * lengths[0],
                                                       static_cast<double>(a[1] - b[1]) / 2 * lengths[1]));
}

}  // namespace

std::vector<shape_row> shapes_of(const label_image& image, std::int64_t rows, const std::vector<double>& lengths) {
    const std::size_t axes = image.shape.size();
    std::map<std::int64_t, cells3> labels;
    for (std::int64_t cell = 0; cell < image.cells(); ++cell) {
        const std::vector<std::int64_t> at = image.place_of(cell);
        labels[image.label[static_cast<std::size_t>(cell)]].insert(axes == 2 ? place3{0, at[0], at[1]}
                                                                             : place3{at[0], at[1], at[2]});
    }
    std::vector<shape_row> found(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row) {
        shape_row& to = found[static_cast<std::size_t>(row)];
        to.crossings.assign(axes == 3 ? 13 : 4, 0);
        const auto at = labels.find(row + 1);
        if (at == labels.end()) continue;
        const cells3& cells = at->second;
        to.cells = static_cast<std::int64_t>(cells.size());
        to.euler_number = euler_number(cells, axes, true), to.euler_number_faces = euler_number(cells, axes, false);
        to.crossings = crossings_of(cells, axes);
        put_moments(cells, to);
        if (axes == 2) to.perimeter = perimeter_of(cells) * lengths[0], put_hull(cells, lengths, to);
    }
    return found;
}

}  // namespace oracle
