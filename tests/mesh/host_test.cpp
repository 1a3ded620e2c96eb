// Measures of meshes, and their files: round trips, what readers take, and bytes that lie.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "folder.hpp"
#include "mesh/shapes.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

constexpr mesh_format formats[] = {mesh_format::stl, mesh_format::obj, mesh_format::ply, mesh_format::off};

mesh read(const std::string& bytes, mesh_format as) { return read_mesh(std::as_bytes(std::span(bytes)), as, "x"); }

void expect_bad(const std::string& bytes, mesh_format as, const char* word) {
    try {
        static_cast<void>(read(bytes, as));
        ADD_FAILURE() << "was read: " << bytes.substr(0, 40);
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::io) << e.what();
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
}

TEST(Mesh, Measures) {
    const mesh_measures box = measure_mesh(box_mesh({1, 2, 3}, {3, 5, 7}));
    EXPECT_TRUE(box.closed);
    EXPECT_EQ(box.euler, 2);
    EXPECT_EQ(box.volume, 24);
    EXPECT_EQ(box.area, 52);
    const mesh_measures ball = measure_mesh(sphere_mesh({9, 9, 9}, 2, 100, 200));
    EXPECT_TRUE(ball.closed);
    EXPECT_EQ(ball.euler, 2);
    EXPECT_NEAR(ball.volume, 32 * std::numbers::pi / 3, 0.03);
    const mesh ring = torus_mesh(3, 1, 200, 100);
    const mesh_measures torus = measure_mesh(ring);
    EXPECT_TRUE(torus.closed);
    EXPECT_EQ(torus.euler, 0);
    EXPECT_NEAR(torus.volume, 6 * std::numbers::pi * std::numbers::pi, 0.1);
    EXPECT_NEAR(torus.area, 12 * std::numbers::pi * std::numbers::pi, 0.1);
    mesh both = ring;
    append_mesh(both, box_mesh({10, 10, 10}, {11, 11, 11}), true);
    EXPECT_TRUE(measure_mesh(both).closed);
    EXPECT_NEAR(measure_mesh(both).volume, torus.volume - 1, 1e-9);
    both.faces.pop_back();
    EXPECT_FALSE(measure_mesh(both).closed);
    EXPECT_EQ(measure_mesh(both).open_edges, 3);
    std::swap(both.faces[0][0], both.faces[0][1]);
    EXPECT_EQ(measure_mesh(both).open_edges, 6);
    EXPECT_FALSE(measure_mesh({}).closed);
    expect_refused([] { static_cast<void>(measure_mesh({{{0, 0, 0}}, {{0, 0, 1}}})); }, {"face 0", "vertex 1"});
    expect_refused([] { static_cast<void>(measure_mesh({{{0, NAN, 0}}, {}})); }, {"vertex 0", "finite"});
}

TEST(Mesh, RoundTrips) {
    const mesh from = torus_mesh(3, 1, 20, 10);
    for (const mesh_format as : formats)
        for (const bool text : {false, true}) {
            const mesh back = read(mesh_bytes(from, as, text), as);
            if (as != mesh_format::stl) {
                EXPECT_EQ(back, from);
                continue;
            }
            ASSERT_EQ(back.faces.size(), from.faces.size());
            for (std::size_t i = 0; i < from.faces.size(); ++i)
                for (std::size_t k = 0; k < 3; ++k)
                    for (std::size_t axis = 0; axis < 3; ++axis) {
                        const double was = from.vertices[static_cast<std::size_t>(from.faces[i][k])][axis],
                                     is = back.vertices[static_cast<std::size_t>(back.faces[i][k])][axis];
                        ASSERT_EQ(is, text ? was : static_cast<double>(static_cast<float>(was)));
                    }
            EXPECT_EQ(measure_mesh(back).euler, 0);
            EXPECT_TRUE(measure_mesh(back).closed);
            EXPECT_EQ(read(mesh_bytes(back, as, text), as), back);  // vertices are in order of first appearance
        }
}

TEST(Mesh, WhatReadersTake) {
    const mesh quad =
        read("# two\nv 0 0 0\nv +1 0 0 0.5\nv 1 1 0\nv 0 1 0\nvt 1 1\nvn 0 0 1\ng a\nf 1/1/1 2//1 -2 \\\n 4\nf 1 2\n",
             mesh_format::obj);
    EXPECT_EQ(quad.vertices.size(), 4U);
    EXPECT_EQ(quad.faces, (std::vector<std::array<std::int32_t, 3>>{{0, 1, 2}, {0, 2, 3}}));
    EXPECT_EQ(read("OFF\n# c\n4 1 0\n0 0 0 255 0 0\n1 0 0\n\n1 1 0\n0 1 0\n4 0 1 2 3 0.5 0.5 0.5\n", mesh_format::off),
              quad);
    EXPECT_EQ(read("COFF 4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n", mesh_format::off), quad);
    EXPECT_EQ(
        read("ply\r\nformat ascii 1.0\r\ncomment c\r\nelement note 1\r\nproperty list uchar int of\r\nelement vertex "
             "4\r\n"
             "property uchar red\r\nproperty float x\r\nproperty float y\r\nproperty float z\r\nelement face 1\r\n"
             "property list uchar uint vertex_index\r\nproperty int flag\r\nend_header\r\n2 7 7\r\n9 0 0 0\r\n9 1 0 "
             "0\r\n"
             "9 1 1 0\r\n9 0 1 0\r\n4 0 1 2 3 5\r\n",
             mesh_format::ply),
        quad);
    std::string big =
        "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty short x\nproperty short y\nproperty short z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
    for (const int c : {0, 0, 0, 1, 0, 0, 0, -2, 0}) big += {static_cast<char>(c >> 8), static_cast<char>(c)};
    big += std::string("\3\0\0\0\0\0\0\0\1\0\0\0\2", 13);
    const mesh three = read(big, mesh_format::ply);
    EXPECT_EQ(three.vertices, (std::vector<point>{{0, 0, 0}, {1, 0, 0}, {0, -2, 0}}));
    EXPECT_EQ(three.faces.size(), 1U);
    const mesh solid = read(
        "solid  a\n FACET normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 -0.0 0\n vertex 0 1e-400 5e0\n"
        " endloop\n endfacet\n endsolid a\nsolid b\nendsolid b\n",
        mesh_format::stl);
    EXPECT_EQ(solid.vertices, (std::vector<point>{{0, 0, 0}, {1, 0, 0}, {0, 0, 5}}));
    EXPECT_TRUE(read("solid\nendsolid\n", mesh_format::stl).faces.empty());
    const std::string plain = mesh_bytes(quad, mesh_format::stl, true);
    std::string loud = plain, old = plain, marked = "\xef\xbb\xbf\r\n " + plain;
    std::ranges::transform(loud, loud.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    std::ranges::replace(old, '\n', '\r');
    for (const std::string& same : {loud, old, marked}) EXPECT_EQ(read(same, mesh_format::stl), quad);
    std::string binary = mesh_bytes(quad, mesh_format::stl);
    binary.replace(0, 5, "solid");
    EXPECT_EQ(read(binary, mesh_format::stl), quad);
}

/// Areas of the triangles equal the polygon's, wherever it starts and in whichever plane it lies.
TEST(Mesh, PolygonsThatBendInwards) {
    const auto area_of = [](const std::vector<std::array<double, 2>>& at, std::size_t start, int plane) {
        std::string text, face = "f";
        for (std::size_t k = 0; k < at.size(); ++k) {
            const auto& p = at[(k + start) % at.size()];
            text += plane == 0   ? fmt::format("v {} {} 7\n", p[0], p[1])
                    : plane == 1 ? fmt::format("v 7 {} {}\n", p[1], p[0])
                                 : fmt::format("v {} {} {}\n", p[0], p[0] + 2 * p[1], p[1]);
            face += fmt::format(" {}", k + 1);
        }
        const mesh made = read(text + face + "\n", mesh_format::obj);
        EXPECT_EQ(made.faces.size(), at.size() - 2);
        EXPECT_EQ(measure_mesh(made).open_edges, static_cast<std::int64_t>(at.size()));
        return measure_mesh(made).area;
    };
    const double scale[] = {1, 1, std::sqrt(6.0)};
    const std::vector<std::array<double, 2>> bracket = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    std::vector<std::array<double, 2>> comb = {{0, 0}, {21, 0}};
    for (int tooth = 10; tooth >= 0; --tooth) {
        comb.push_back({2.0 * tooth + 1, 5}), comb.push_back({2.0 * tooth, 5});
        if (tooth > 0) comb.push_back({2.0 * tooth, 1}), comb.push_back({2.0 * tooth - 1, 1});
    }
    for (int plane = 0; plane < 3; ++plane) {
        for (std::size_t start = 0; start < bracket.size(); ++start)
            EXPECT_NEAR(area_of(bracket, start, plane), 3 * scale[plane], 1e-12);
        for (std::size_t start = 0; start < comb.size(); ++start)
            EXPECT_NEAR(area_of(comb, start, plane), (21 + 11 * 4) * scale[plane], 1e-9);
    }
    // A square with a square hole, and a bridge to it.
    const mesh frame =
        read("v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nv 1 1 0\nv 1 3 0\nv 3 3 0\nv 3 1 0\nf 1 2 3 4 1 5 6 7 8 5\n",
             mesh_format::obj);
    EXPECT_EQ(measure_mesh(frame).area, 12);
    EXPECT_EQ(measure_mesh(frame).open_edges, 8);
}

TEST(Mesh, BadFiles) {
    const std::string header = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n";
    expect_bad("", mesh_format::stl, "truncated");
    expect_bad("solid\nfacet\nvertex 0 0\n", mesh_format::stl, "line 3");
    expect_bad("solid\nfacet\nvertex 0 0 0\nfacet\n", mesh_format::stl, "line 4");
    expect_bad("solid\nvertex 0 0 nan\n", mesh_format::stl, "finite");
    const mesh one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
    std::string cut = mesh_bytes(one, mesh_format::stl, true);
    cut.resize(cut.find("endsolid"));
    expect_bad(cut, mesh_format::stl, "end of a solid");
    std::string zero = mesh_bytes(one, mesh_format::stl);
    zero[80] = 0;
    expect_bad(zero, mesh_format::stl, "no faces");
    expect_bad("v 0 0 0\nf 1 2 3\n", mesh_format::obj, "vertex 2");
    expect_bad("v 0 0 1e999\n", mesh_format::obj, "coordinate");
    expect_bad("hello", mesh_format::obj, "no vertices");
    expect_bad("OFF BINARY\n", mesh_format::off, "binary");
    expect_bad("OFF\n99 0 0\n", mesh_format::off, "room");
    expect_bad("OFF\n1 1 0\n0 0 0\n3 0 0 7\n", mesh_format::off, "vertex 7");
    expect_bad("ply\n", mesh_format::ply, "header");
    expect_bad(header + "end_header\n0 0\n", mesh_format::ply, "x, y and z");
    expect_bad(header + "property float z\nelement face 1\nproperty list float int vertex_index\n", mesh_format::ply,
               "integer");
    expect_bad("ply\nformat ascii 1.0\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n",
               mesh_format::ply, "strips");
    EXPECT_THROW(static_cast<void>(mesh_format_of("part.step")), error);
    EXPECT_EQ(mesh_format_of("a/PART.STL"), mesh_format::stl);
    EXPECT_THROW(static_cast<void>(read_mesh("/nowhere/x.stl")), error);
    expect_refused([] { static_cast<void>(mesh_bytes({{{1e300, 0, 0}}, {{0, 0, 0}}}, mesh_format::stl)); },
                   {"float32"});
    const mesh far = box_mesh({1e9, 0, 0}, {1e9 + 4, 3, 3});
    expect_refused([&] { static_cast<void>(mesh_bytes(far, mesh_format::stl)); }, {"float32", "12 faces", "PLY"});
    EXPECT_NO_THROW(static_cast<void>(mesh_bytes(far, mesh_format::stl, true)));
    EXPECT_NO_THROW(static_cast<void>(mesh_bytes(box_mesh({1e6, 0, 0}, {1e6 + 4, 3, 3}), mesh_format::stl)));
}

/// Every prefix, and bytes changed at random: a mesh or an error of the file.
TEST(Mesh, ValuesOfVertices) {
    const mesh one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
    const double values[] = {0.5, 2, 9};
    const vertex_values also{"thickness", values, 1, 3};
    const std::string text = mesh_bytes(one, mesh_format::ply, true, &also);
    EXPECT_NE(text.find("property double z\nproperty double thickness\nproperty uchar red\n"), std::string::npos);
    EXPECT_NE(text.find("\n0 0 0 0.5 49 90 160\n1 0 0 2 240 236 210\n0 1 0 9 190 40 40\n3 0 1 2\n"), std::string::npos);
    for (const bool ascii : {false, true}) {
        EXPECT_EQ(read(mesh_bytes(one, mesh_format::ply, ascii, &also), mesh_format::ply), one);
        EXPECT_EQ(mesh_bytes(one, mesh_format::off, ascii, &also), mesh_bytes(one, mesh_format::off, ascii));
    }
    const std::string binary = mesh_bytes(one, mesh_format::ply, false, &also);
    double second = 0;  // the property of vertex 1
    std::memcpy(&second, binary.data() + binary.find("end_header\n") + 11 + 35 + 24, 8);
    EXPECT_EQ(second, 2);
    const auto refused = [&](const vertex_values& bad, const char* word) {
        expect_refused([&] { static_cast<void>(mesh_bytes(one, mesh_format::ply, false, &bad)); }, {word});
    };
    const double not_finite[] = {1, 2, INFINITY};
    refused({"few", std::span(values).first(2), 0, 1}, "few has 2 values");
    refused({"a b", values, 0, 1}, "'a b'");
    refused({"empty", values, 1, 1}, "range");
    refused({"endless", not_finite, 0, 1}, "finite");
}

TEST(Mesh, HostileBytes) {
    const mesh from = torus_mesh(3, 1, 4, 3);
    for (const mesh_format as : formats)
        for (const bool text : {false, true}) {
            const std::string bytes = mesh_bytes(from, as, text);
            const auto attempt = [&](const std::string& tried) {
                try {
                    static_cast<void>(measure_mesh(read(tried, as)));
                } catch (const error& e) {
                    ASSERT_EQ(e.code(), error_code::io) << e.what();
                }
            };
            for (std::size_t n = 0; n < bytes.size(); ++n) attempt(bytes.substr(0, n));
            for (std::uint64_t seed = 0; seed < share(0, 2000); ++seed) {
                std::string changed = bytes;
                for (std::uint64_t k = 0; k < 1 + seed % 3; ++k)
                    changed[mix(seed * 8 + k) % changed.size()] = static_cast<char>(mix(seed * 8 + k + 4));
                attempt(changed);
            }
        }
}

TEST(Mesh, Files) {
    const folder temporary;
    const mesh from = box_mesh({0, 0, 0}, {1, 2, 3});
    for (const char* suffix : {".stl", ".obj", ".ply", ".off"}) {
        const auto path = temporary / (std::string("box") + suffix);
        write_mesh(path, from);
        EXPECT_EQ(measure_mesh(read_mesh(path)).volume, 6);
    }
    EXPECT_THROW(write_mesh("/nowhere/x.stl", from), error);
}

}  // namespace
}  // namespace nearfield::test
