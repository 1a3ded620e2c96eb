// Distances to a mesh by a loop over all its triangles, with the library's formula for one of them.
#include <algorithm>
#include <cmath>

#include "mesh_distance/cases.hpp"
#include "mesh_distance/core.hpp"

namespace nearfield::test {

fields_of_mesh expected(const mesh& m, const mesh_grid& g, double most) {
    double largest = 0;
    for (const auto& v : m.vertices)
        for (const double x : v) largest = std::max(largest, std::abs(x));
    for (std::size_t k = 0; k < 3; ++k)
        largest = std::max({largest, std::abs(g.origin[k]) + g.pitch[k],
                            std::abs(g.origin[k] + g.pitch[k] * static_cast<double>(g.shape[k]))});
    const double scale = std::ldexp(1, -1 - std::ilogb(largest));
    std::vector<nearest_faces::triangle> all;
    for (const auto& face : m.faces) {
        double at[3][3];
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t k = 0; k < 3; ++k)
                at[c][k] = nearest_faces::snapped(m.vertices[static_cast<std::size_t>(face[c])][k] * scale);
        all.push_back(nearest_faces::triangle_of(at[0], at[1], at[2]));
    }
    fields_of_mesh out;
    double p[3];
    const auto place = [&](std::size_t k, std::int64_t i) {
        p[k] = nearest_faces::snapped((g.origin[k] + g.pitch[k] * static_cast<double>(i)) * scale);
    };
    for (std::int64_t i = 0; i < g.shape[0]; ++i)
        for (std::int64_t j = 0; j < g.shape[1]; ++j)
            for (std::int64_t k = 0; k < g.shape[2]; ++k) {
                place(0, i), place(1, j), place(2, k);
                double best = INFINITY;
                std::int32_t face = -1;
                for (std::size_t t = 0; t < all.size(); ++t)
                    if (const double f = nearest_faces::nearest_of(all[t], p[0], p[1], p[2]).squared; f < best)
                        best = f, face = static_cast<std::int32_t>(t);
                const bool far = !(std::sqrt(best) <= most * scale);
                out.distance.push_back(far ? INFINITY : std::sqrt(best) / scale),
                    out.triangle.push_back(far ? -1 : face);
            }
    return out;
}

}  // namespace nearfield::test
