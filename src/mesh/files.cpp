// Chooses a file's format by its suffix; writes meshes.
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/call.hpp"
#include "base/check.hpp"
#include "mesh/core.hpp"
#include "mesh/text.hpp"

namespace nearfield {
namespace meshes {
namespace {

static_assert(std::endian::native == std::endian::little, "binary files are written as they lie in memory");

constexpr std::string_view suffixes[] = {".stl", ".obj", ".ply", ".off"};

template <class T>
void put(std::string& to, T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    to.append(raw, sizeof value);
}
/// Appends the shortest decimal that reads back as the same value, and one more character.
void put_text(std::string& to, double value, char behind) {
    char digits[32];
    const auto made = std::to_chars(digits, digits + sizeof digits, value);
    to.append(digits, made.ptr).push_back(behind);
}
void put_point(std::string& to, const std::array<double, 3>& at) {
    put_text(to, at[0], ' '), put_text(to, at[1], ' '), put_text(to, at[2], '\n');
}
void put_faces(std::string& to, const mesh& m, std::string_view before, std::int32_t first) {
    for (const auto& face : m.faces)
        to.append(before)
            .append(std::to_string(face[0] + first))
            .append(" ")
            .append(std::to_string(face[1] + first))
            .append(" ")
            .append(std::to_string(face[2] + first))
            .append("\n");
}

std::array<double, 3> unit_normal(const std::array<double, 3>& a, const std::array<double, 3>& b,
                                  const std::array<double, 3>& c) {
    double u[3], w[3];
    for (std::size_t k = 0; k < 3; ++k) u[k] = b[k] - a[k], w[k] = c[k] - a[k];
    const std::array<double, 3> n = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
    const double length = std::sqrt((n[0] * n[0] + n[1] * n[1]) + n[2] * n[2]);
    if (!(length > 0) || !std::isfinite(length)) return {0, 0, 0};
    return {n[0] / length, n[1] / length, n[2] / length};
}

/// Refuses meshes so far from 0 that float32 makes corners of more than a hundredth of the faces one.
void check_rounding(const mesh& m) {
    std::size_t lost = 0;
    const auto rounded = [](double x) { return static_cast<float>(x); };
    const auto joins = [&](std::int32_t v, std::int32_t w) {
        const auto &a = m.vertices[static_cast<std::size_t>(v)], &b = m.vertices[static_cast<std::size_t>(w)];
        return a != b && std::ranges::equal(a, b, {}, rounded, rounded);
    };
    for (const auto& [a, b, c] : m.faces) lost += joins(a, b) || joins(b, c) || joins(c, a) ? 1 : 0;
    if (lost * 100 > m.faces.size())
        fail(fmt::format(
            "float32, as STL has it, makes lines of {} of the mesh's {} faces; write PLY or OBJ, or move the mesh "
            "nearer to 0",
            lost, m.faces.size()));
}

std::string stl(const mesh& m, bool text) {
    if (!text) check_rounding(m);
    std::string made = text ? "solid nearfield\n" : std::string(80, ' ');
    if (!text) put(made, static_cast<std::uint32_t>(m.faces.size())), made.reserve(84 + 50 * m.faces.size());
    for (const auto& face : m.faces) {
        const auto& [a, b, c] = face;
        const auto corner = [&](std::int32_t v) -> const auto& { return m.vertices[static_cast<std::size_t>(v)]; };
        const auto normal = unit_normal(corner(a), corner(b), corner(c));
        if (text) {
            put_point(made.append("facet normal "), normal);
            made.append("outer loop\n");
            for (const std::int32_t v : face) put_point(made.append("vertex "), corner(v));
            made.append("endloop\nendfacet\n");
            continue;
        }
        for (const double x : normal) put(made, static_cast<float>(x));
        for (const std::int32_t v : face)
            for (const double x : corner(v)) {
                if (!std::isfinite(static_cast<float>(x)))
                    fail("mesh has coordinates beyond float32; write PLY or OBJ");
                put(made, static_cast<float>(x));
            }
        put(made, std::uint16_t{0});
    }
    return text ? made.append("endsolid nearfield\n") : made;
}

std::array<std::uint8_t, 3> colour_of(double value, const vertex_values& among) {
    constexpr double stops[3][3] = {{49, 90, 160}, {240, 236, 210}, {190, 40, 40}};
    const double place = 2 * std::clamp((value - among.low) / (among.high - among.low), 0.0, 1.0);
    const std::size_t first = place < 1 ? 0 : 1;
    std::array<std::uint8_t, 3> made{};
    for (std::size_t k = 0; k < 3; ++k)
        made[k] = static_cast<std::uint8_t>(
            std::lround(std::lerp(stops[first][k], stops[first + 1][k], place - static_cast<double>(first))));
    return made;
}

void check_values(const mesh& m, const vertex_values& also) {
    if (also.values.size() != m.vertices.size())
        fail(fmt::format("{} has {} values; give one for each of the {} vertices", also.name, also.values.size(),
                         m.vertices.size()));
    if (also.name.empty() || also.name.find_first_of(" \t\r\n") != std::string::npos)
        fail(fmt::format("the values of vertices are named '{}'; give a name without blanks", also.name));
    if (!(also.low < also.high) ||
        !std::all_of(also.values.begin(), also.values.end(), [](double x) { return std::isfinite(x); }))
        fail(fmt::format("{} has values that are not finite, or an empty range; give finite numbers", also.name));
}

/// Appends the vertices of a PLY file, each with its values.
void put_vertices(std::string& to, const mesh& m, bool text, const vertex_values* also) {
    for (std::size_t i = 0; i < m.vertices.size(); ++i) {
        if (text) put_point(to, m.vertices[i]);
        else
            for (const double x : m.vertices[i]) put(to, x);
        if (also == nullptr) continue;
        const auto [red, green, blue] = colour_of(also->values[i], *also);
        if (text) {
            to.back() = ' ', put_text(to, also->values[i], ' ');
            to += fmt::format("{} {} {}\n", red, green, blue);
        } else put(to, also->values[i]), put(to, red), put(to, green), put(to, blue);
    }
}

std::string ply(const mesh& m, bool text, const vertex_values* also) {
    std::string made =
        fmt::format("ply\nformat {} 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n",
                    text ? "ascii" : "binary_little_endian", m.vertices.size());
    if (also != nullptr)
        made += fmt::format("property double {}\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n",
                            also->name);
    made += fmt::format("element face {}\nproperty list uchar int vertex_indices\nend_header\n", m.faces.size());
    made.reserve(made.size() + 35 * m.vertices.size() + 13 * m.faces.size());
    put_vertices(made, m, text, also);
    if (text) {
        put_faces(made, m, "3 ", 0);
        return made;
    }
    for (const auto& face : m.faces) {
        made.push_back(3);
        for (const std::int32_t v : face) put(made, v);
    }
    return made;
}

std::string obj_or_off(const mesh& m, bool obj) {
    std::string made = obj ? "" : fmt::format("OFF\n{} {} 0\n", m.vertices.size(), m.faces.size());
    for (const auto& at : m.vertices) put_point(obj ? made.append("v ") : made, at);
    put_faces(made, m, obj ? "f " : "3 ", obj ? 1 : 0);
    return made;
}

}  // namespace
}  // namespace meshes

mesh_format mesh_format_of(const std::filesystem::path& path) {
    std::string suffix = path.extension().string();
    for (char& c : suffix) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    for (std::size_t i = 0; i < std::size(meshes::suffixes); ++i)
        if (suffix == meshes::suffixes[i]) return static_cast<mesh_format>(i);
    meshes::bad_mesh(path.string(), "the suffix does not say which format; use one of .stl .obj .ply .off");
}

mesh read_mesh(std::span<const std::byte> bytes, mesh_format as, const std::string& name) {
    return in_call([&] {
        const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (all.size() > std::size_t{1} << 36) meshes::bad_mesh(name, "is larger than 64 GiB");
        mesh made = as == mesh_format::stl   ? meshes::read_stl(all, name)
                    : as == mesh_format::obj ? meshes::read_obj(all, name)
                    : as == mesh_format::ply ? meshes::read_ply(all, name)
                                             : meshes::read_off(all, name);
        if (std::max(made.vertices.size(), made.faces.size()) >= std::size_t{1} << 31)
            meshes::bad_mesh(name, "has 2^31 vertices or faces, or more");
        return made;
    });
}

mesh read_mesh(const std::filesystem::path& path) {
    return in_call([&] {
        const mesh_format as = mesh_format_of(path);
        std::error_code failed;
        const std::uintmax_t size = std::filesystem::file_size(path, failed);
        std::ifstream file(path, std::ios::binary);
        std::string bytes(failed || !file ? 0 : static_cast<std::size_t>(size), '\0');
        if (failed || !file || !file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
            meshes::bad_mesh(path.string(), failed ? "cannot be read: " + failed.message() : "cannot be read");
        return read_mesh(std::as_bytes(std::span(bytes)), as, path.string());
    });
}

std::string mesh_bytes(const mesh& of, mesh_format as, bool text, const vertex_values* also) {
    return in_call([&] {
        meshes::check_mesh("mesh", of);
        if (also != nullptr) meshes::check_values(of, *also);
        if (as == mesh_format::stl) return meshes::stl(of, text);
        if (as == mesh_format::ply) return meshes::ply(of, text, also);
        return meshes::obj_or_off(of, as == mesh_format::obj);
    });
}

void write_mesh(const std::filesystem::path& path, const mesh& of, bool text, const vertex_values* also) {
    const std::string bytes = mesh_bytes(of, mesh_format_of(path), text, also);
    std::ofstream file(path, std::ios::binary);
    if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
        meshes::bad_mesh(path.string(), "cannot be written");
}

}  // namespace nearfield
