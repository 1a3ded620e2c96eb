// STL, binary and ASCII: three corners per face; equal corners become one vertex.
#include <bit>
#include <cstring>

#include "mesh/text.hpp"

namespace nearfield::meshes {
namespace {

/// Numbers points in the order of their first use, by open addressing in a table at most half full.
class welder {
public:
    explicit welder(mesh& to) : to_(to) {}

    std::int32_t number(std::array<double, 3> at) {
        for (double& x : at) x += 0.0;  // -0 becomes 0
        if (2 * to_.vertices.size() >= slot_.size()) grow();
        std::size_t place = place_of(at);
        for (; slot_[place] >= 0; place = (place + 1) & (slot_.size() - 1))
            if (to_.vertices[static_cast<std::size_t>(slot_[place])] == at) return slot_[place];
        slot_[place] = static_cast<std::int32_t>(to_.vertices.size());
        to_.vertices.push_back(at);
        return slot_[place];
    }

private:
    [[nodiscard]] std::size_t place_of(const std::array<double, 3>& at) const {
        std::uint64_t hash = 0;
        for (const double x : at) {
            hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 32;
        }
        return static_cast<std::size_t>(hash) & (slot_.size() - 1);
    }
    void grow() {
        slot_.assign(std::max<std::size_t>(1024, 4 * slot_.size()), -1);
        for (std::size_t v = 0; v < to_.vertices.size(); ++v) {
            std::size_t place = place_of(to_.vertices[v]);
            while (slot_[place] >= 0) place = (place + 1) & (slot_.size() - 1);
            slot_[place] = static_cast<std::int32_t>(v);
        }
    }

    mesh& to_;
    std::vector<std::int32_t> slot_;
};

constexpr std::size_t header_bytes = 84, face_bytes = 50;

std::size_t claimed_bytes(std::string_view bytes) {
    std::uint32_t count = 0;
    if (bytes.size() < header_bytes) return header_bytes;
    std::memcpy(&count, bytes.data() + 80, 4);
    return header_bytes + std::size_t{count} * face_bytes;
}

mesh read_binary(std::string_view bytes, const std::string& name) {
    const std::size_t claimed = claimed_bytes(bytes);
    if (bytes.size() < claimed)
        bad_mesh(name,
                 fmt::format("is truncated, or no STL file: binary STL with this header takes {} bytes; it has {}",
                             claimed, bytes.size()));
    if (claimed == header_bytes && bytes.size() >= header_bytes + face_bytes)
        bad_mesh(name,
                 fmt::format("says that it has no faces, and has {} bytes; its header was not completed, or it is "
                             "no STL file",
                             bytes.size()));
    mesh made;
    welder corners(made);
    made.faces.resize((claimed - header_bytes) / face_bytes);
    for (std::size_t i = 0; i < made.faces.size(); ++i) {
        float at[9];
        std::memcpy(at, bytes.data() + header_bytes + i * face_bytes + 12, sizeof at);
        for (std::size_t k = 0; k < 3; ++k) {
            const std::array<double, 3> corner = {at[3 * k], at[3 * k + 1], at[3 * k + 2]};
            for (const double x : corner)
                if (!std::isfinite(x)) bad_mesh(name, fmt::format("face {} has a coordinate that is not finite", i));
            made.faces[i][k] = corners.number(corner);
        }
    }
    return made;
}

bool same_word(std::string_view a, std::string_view lower) {
    return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
               return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) == y;
           });
}

mesh read_ascii(std::string_view bytes, const std::string& name) {
    mesh made;
    welder corners(made);
    text from(bytes, name);
    std::array<std::int32_t, 3> face{};
    std::size_t corner = 0;
    bool ended = false;
    for (; !from.ended(); from.next_line()) {
        const std::string_view first = from.word();
        if (same_word(first, "facet") && corner != 0) from.fail("a facet begins before three vertices of the last one");
        if (!first.empty()) ended = same_word(first, "endsolid") || same_word(first, "end");
        if (!same_word(first, "vertex")) continue;
        std::array<double, 3> at{};
        for (double& x : at) x = from.coordinate(from.word());
        face[corner++] = corners.number(at);
        if (corner == 3) made.faces.push_back(face), corner = 0;
    }
    if (corner != 0) from.fail("a facet of three vertices");
    if (!ended) bad_mesh(name, "has no end of a solid behind its last facet; the file is truncated, or no STL file");
    return made;
}

}  // namespace

mesh read_stl(std::string_view bytes, const std::string& name) {
    std::string_view start = bytes.starts_with("\xef\xbb\xbf") ? bytes.substr(3) : bytes;
    start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
    // Some programs start binary files with "solid", too.
    const bool text = same_word(start.substr(0, 5), "solid") &&
                      (bytes.size() < header_bytes || bytes.size() != claimed_bytes(bytes)) &&
                      bytes.substr(0, 1024).find('\0') == std::string_view::npos;
    return text ? read_ascii(bytes, name) : read_binary(bytes, name);
}

}  // namespace nearfield::meshes
