#include "mesh_distance/cases.hpp"

#include <cmath>

namespace nearfield::test {

mesh_case mesh_case_of(std::uint64_t seed) {
    mesh m;
    switch (seed % 6) {
        case 0: m = random_triangles(seed, 1 + static_cast<int>(mix(seed) % 40), 20); break;
        case 1: m = sphere_mesh({9, 9, 9}, 8, 12, 20); break;  // centred in the grid: all triangles are near
        case 2: m = torus_mesh(6, 2, 20, 12); break;
        case 3: m = box_mesh({2, 3, 4}, {9, 12, 15}); break;  // has ties at all edges
        case 4: m = random_triangles(seed, 30, 5e-3); break;
        default: m = sphere_mesh({5, 5, 5}, 3, 4, 150); break;  // slivers
    }
    if (seed % 5 == 4) append_mesh(m, m);  // every triangle occurs twice
    const mesh_grid g{{1 + static_cast<std::int64_t>(mix(seed) % 19), 18, seed % 4 == 0 ? 1 : 17},
                      {0, seed % 2 == 0 ? 0.0 : -3.3, 0},
                      {1, seed % 3 == 0 ? 1.0 : 0.7, 1}};
    mesh_distance_options o;
    if (seed % 7 == 3) o.max_distance = 2.5;
    return {m, g, o};
}

namespace {

/// A cone with its tip at (11, 11, 11), or a disc; its tip has a vertex for each face if `apart`.
mesh fan(int count, double height, bool apart, bool base) {
    mesh m{{{11, 11, 11}}, {}};
    for (int i = 0; i < count; ++i) {
        const double a = 2 * 3.14159265358979 * i / count;
        m.vertices.push_back({11 + 7.3 * std::cos(a), 11 + 7.1 * std::sin(a), 11 - height});
    }
    const int base_tip = count + 1;
    if (base) m.vertices.push_back({11, 11, 11 - height});
    for (int i = 0; i < count; ++i) {
        const int b = 1 + i, c = 1 + (i + 1) % count;
        if (apart) m.vertices.push_back({11, 11, 11});
        const int a = apart ? static_cast<int>(m.vertices.size()) - 1 : 0;
        const std::array<std::int32_t, 3> turned[] = {{a, b, c}, {c, a, b}, {b, c, a}};
        m.faces.push_back(turned[mix(static_cast<std::uint64_t>(i)) % 3]);
        if (base) m.faces.push_back({base_tip, c, b});
    }
    return m;
}

}  // namespace

std::vector<mesh_case> crowded_cases() {
    std::vector<mesh_case> all;
    const auto add = [&](const mesh& m, double origin = 0) {
        all.push_back({m, {{24, 22, 33}, {origin, origin, origin}, {1, 0.9, 1}}, {}});
    };
    for (const int count : {3, 40, 300})
        for (const double height : {9.0, 2.0, 0.0})
            for (const bool base : {false, true}) add(fan(count, height, count == 40, base && height > 0));
    add(fan(70, 9, false, true), 0.37);
    add(fan(300, 9, false, true), 4);  // of blocks of 8 cells beyond the tip, larger ones reach below it
    mesh copies, one{{{2, 3, 4}, {15, 6, 5}, {7, 17, 20}}, {{0, 1, 2}}}, dot{{{9, 9, 9}, {9, 9, 9}, {9, 9, 9}}, {}};
    for (int i = 0; i < 12; ++i) append_mesh(copies, sphere_mesh({9, 9, 9}, 8, 9, 12));
    for (int i = 0; i < 300; ++i) one.faces.push_back({0, i % 3 == 2 ? 2 : 1, i % 3 == 2 ? 1 : 2});
    for (int i = 0; i < 200; ++i) dot.faces.push_back({0, 1, 2});
    add(copies), add(one), add(dot);
    return all;
}

mesh_case sampled_case_of(std::uint64_t seed) {
    mesh_case c = mesh_case_of(seed);
    if (seed % 4 == 1) c.of = random_triangles(seed, 60, 0.02);  // scattered dust, the worst case for samples
    if (seed % 4 == 1)
        for (std::size_t i = 0; i < c.of.vertices.size(); ++i)
            for (std::size_t k = 0; k < 3; ++k) c.of.vertices[i][k] += 12 * uniform(mix(seed) + 3 * (i / 3) + k);
    c.grid = grid_around(c.of, seed % 5 == 0 ? 2.3 : 1, static_cast<std::int64_t>(seed % 3) * 6);
    if (seed % 3 == 0) {
        const double step = c.grid.pitch[2] / 3.7;
        c.grid.origin[2] += (step - c.grid.pitch[2]) / 2;
        c.grid.shape[2] = static_cast<std::int64_t>(std::ceil(static_cast<double>(c.grid.shape[2]) * 3.7));
        c.grid.pitch[2] = step;
    }
    c.options.samples = true, c.options.max_distance = seed % 7 == 3 ? 9 : INFINITY;
    return c;
}

}  // namespace nearfield::test
