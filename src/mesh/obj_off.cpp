// Readers of OBJ and OFF.
#include "mesh/polygon.hpp"
#include "mesh/text.hpp"

namespace nearfield::meshes {
namespace {

/// Reads the vertex of an OBJ face's corner, before the first slash: counted from 1, or from -1 backwards.
std::int64_t obj_corner(const text& from, std::string_view word, std::size_t vertices) {
    const std::int64_t index = from.integer(word.substr(0, word.find('/')), "the number of a vertex");
    const auto count = static_cast<std::int64_t>(vertices);
    if (index == 0 || index > count || index < -count)
        from.fail(fmt::format("a face names vertex {}; {} have come, numbered from 1", index, count));
    return index > 0 ? index - 1 : count + index;
}

/// Returns the next word of a line, up to a comment.
std::string_view off_word(text& from) {
    const std::string_view found = from.word();
    return found.starts_with('#') ? std::string_view{} : found;
}
/// Returns the first word of the next line that has one, or an empty word at the end.
std::string_view off_line(text& from) {
    while (!from.ended()) {
        const std::string_view found = off_word(from);
        if (!found.empty()) return found;
        from.next_line();
    }
    return {};
}

}  // namespace

mesh read_obj(std::string_view bytes, const std::string& name) {
    mesh made;
    polygon face(made);
    text from(bytes, name);
    for (; !from.ended(); from.next_line()) {
        const std::string_view kind = from.word();
        if (kind == "v") {
            std::array<double, 3> at{};
            for (double& x : at) x = from.coordinate(from.word());
            made.vertices.push_back(at);
        } else if (kind == "f") {
            face.start();
            for (std::string_view word = from.word(); !word.empty() && word[0] != '#'; word = from.word())
                face.corner(obj_corner(from, word, made.vertices.size()));
            face.finish();
        }
    }
    if (made.vertices.empty()) bad_mesh(name, "has no vertices; is it an OBJ file?");
    return made;
}

mesh read_off(std::string_view bytes, const std::string& name) {
    mesh made;
    polygon face(made);
    text from(bytes, name);
    std::string_view word = off_line(from);
    if (word.size() < 3 || word.size() > 6 || !word.ends_with("OFF") || word.find_first_of("4n") != word.npos)
        bad_mesh(name, "is no OFF file of three dimensions: it does not start with OFF, COFF, NOFF, CNOFF or STOFF");
    word = off_word(from);
    if (word == "BINARY") bad_mesh(name, "is a binary OFF file; write it as text, or as PLY");
    if (word.empty()) from.next_line(), word = off_line(from);
    std::int64_t count[2] = {from.integer(word, "the number of vertices"),
                             from.integer(from.word(), "the number of faces")};
    const auto least = static_cast<std::int64_t>(bytes.size());  // at least one line each
    if (count[0] < 0 || count[1] < 0 || count[0] > least || count[1] > least)
        bad_mesh(name, fmt::format("claims {} vertices and {} faces, more than it has room for; the file is truncated",
                                   count[0], count[1]));
    for (; count[0] > 0; --count[0]) {
        from.next_line();
        word = off_line(from);
        std::array<double, 3> at{};
        for (double& x : at) x = from.coordinate(word), word = from.word();
        made.vertices.push_back(at);
    }
    for (; count[1] > 0; --count[1]) {
        from.next_line();
        face.start();
        std::int64_t corners = from.integer(off_line(from), "the number of corners of a face");
        for (; corners > 0; --corners) {
            const std::int64_t vertex = from.integer(from.word(), "the number of a vertex");
            check_corner(vertex, made.vertices.size(), name, made.faces.size());
            face.corner(vertex);
        }
        face.finish();
    }
    return made;
}

}  // namespace nearfield::meshes
