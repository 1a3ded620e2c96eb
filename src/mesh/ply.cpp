// PLY, ASCII or binary of either byte order: a header lists elements and their properties; the data has this order.
#include <algorithm>
#include <cstring>

#include "mesh/polygon.hpp"
#include "mesh/text.hpp"

namespace nearfield::meshes {
namespace {

enum class number : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, float32, float64 };
constexpr std::size_t bytes_of[] = {1, 1, 2, 2, 4, 4, 4, 8};

struct property {
    number count{}, value{};
    bool list = false;
    int use = -1;  ///< of a vertex: index of the coordinate; of a face: 0 for its corners; -1: skipped
};
struct element {
    std::string name;
    std::int64_t count = 0;
    std::vector<property> properties;
};

number number_named(std::string_view word, const text& from) {
    constexpr std::string_view names[][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                             {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                             {"float", "float32"}, {"double", "float64"}};
    for (std::size_t i = 0; i < std::size(names); ++i)
        if (word == names[i][0] || word == names[i][1]) return static_cast<number>(i);
    from.fail("the type of a property should stand here");
}

enum class layout : std::uint8_t { ascii, little, big };

class reader {
public:
    reader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name), text_(bytes, name) {}

    mesh read() {
        read_header();
        at_ = text_.position();
        bool faces = false;
        for (const element& each : elements_) {
            if (each.name == "tristrips") bad_mesh(name_, "holds triangle strips; write it with faces");
            faces = faces || each.name == "face";
            read_element(each);
        }
        return std::move(made_);
    }

private:
    void read_header() {
        if (text_.word() != "ply") bad_mesh(name_, "is no PLY file: it does not start with ply");
        bool said = false;
        for (text_.next_line();; text_.next_line()) {
            if (text_.ended()) text_.fail("the header has no end");
            const std::string_view first = text_.word();
            if (first == "format") read_format(), said = true;
            else if (first == "element") {
                const std::string_view name = text_.word();
                elements_.push_back({std::string(name), text_.integer(text_.word(), "the number of elements"), {}});
                if (elements_.back().count < 0) text_.fail("the number of elements is negative");
            } else if (first == "property") read_property();
            else if (first == "end_header") break;
            else if (first != "comment" && first != "obj_info" && !first.empty()) text_.fail("is no line of a header");
        }
        text_.next_line();
        if (!said) bad_mesh(name_, "its header does not say which format");
    }
    void read_format() {
        const std::string_view word = text_.word();
        if (word == "ascii") layout_ = layout::ascii;
        else if (word == "binary_little_endian") layout_ = layout::little;
        else if (word == "binary_big_endian") layout_ = layout::big;
        else text_.fail("the format should be ascii, binary_little_endian or binary_big_endian");
    }
    void read_property() {
        if (elements_.empty()) text_.fail("a property stands before the first element");
        element& of = elements_.back();
        property made;
        std::string_view type = text_.word();
        made.list = type == "list";
        if (made.list) {
            made.count = number_named(text_.word(), text_), type = text_.word();
            if (made.count >= number::float32) text_.fail("the length of a list is an integer");
        }
        made.value = number_named(type, text_);
        const std::string_view name = text_.word();
        if (of.name == "vertex" && !made.list && name.size() == 1 && name[0] >= 'x' && name[0] <= 'z')
            made.use = name[0] - 'x';
        if (of.name == "face" && made.list && (name == "vertex_indices" || name == "vertex_index")) made.use = 0;
        of.properties.push_back(made);
    }

    void read_element(const element& of) {
        const bool vertices = of.name == "vertex", faces = of.name == "face";
        int uses = 0;
        std::int64_t least = 0;  // least bytes of one element
        for (const property& each : of.properties) {
            uses += each.use >= 0 ? 1 : 0;
            least += layout_ == layout::ascii
                         ? 1
                         : static_cast<std::int64_t>(bytes_of[at(each.list ? each.count : each.value)]);
        }
        if (of.count > 0 && ((vertices && uses != 3) || (faces && uses != 1)))
            bad_mesh(name_, vertices ? "its vertices have no x, y and z" : "its faces have no vertex_indices");
        if (of.properties.empty()) return;
        if (of.count > static_cast<std::int64_t>(bytes_.size()) / least)
            bad_mesh(name_,
                     fmt::format("claims {} elements, more than it has room for; the file is truncated", of.count));
        if (vertices) made_.vertices.reserve(made_.vertices.size() + static_cast<std::size_t>(of.count));
        polygon face(made_);
        for (std::int64_t i = 0; i < of.count; ++i) {
            std::array<double, 3> point{};
            for (const property& each : of.properties) {
                if (!each.list) {
                    const double value = next(each.value);
                    if (vertices && each.use >= 0) point[static_cast<std::size_t>(each.use)] = value;
                } else read_list(each, faces && each.use >= 0 ? &face : nullptr);
            }
            if (!vertices) continue;
            for (const double x : point)
                if (!std::isfinite(x)) bad_mesh(name_, fmt::format("vertex {} has a coordinate that is not finite", i));
            made_.vertices.push_back(point);
        }
    }
    void read_list(const property& of, polygon* face) {
        const double length = next(of.count);
        if (!(length >= 0)) bad_mesh(name_, "has a list of negative length");
        if (face != nullptr) face->start();
        for (double k = 0; k < length; ++k) {
            const double value = next(of.value);
            if (face == nullptr) continue;
            const bool whole = value > -1e15 && value < 1e15 && value == std::floor(value);
            const auto vertex = whole ? static_cast<std::int64_t>(value) : -1;
            check_corner(vertex, made_.vertices.size(), name_, made_.faces.size());
            face->corner(vertex);
        }
        if (face != nullptr) face->finish();
    }

    static constexpr std::size_t at(number type) { return static_cast<std::size_t>(type); }

    /// Returns the next number. Integers of 32 bits and floats fit a double.
    double next(number type) {
        if (layout_ == layout::ascii) return next_word();
        const std::size_t size = bytes_of[at(type)];
        if (bytes_.size() - at_ < size) bad_mesh(name_, "ends inside its elements; the file is truncated");
        char raw[8];
        std::memcpy(raw, bytes_.data() + at_, size);
        at_ += size;
        if (layout_ == layout::big) std::reverse(raw, raw + size);
        switch (type) {
            case number::int8: return as<std::int8_t>(raw);
            case number::uint8: return as<std::uint8_t>(raw);
            case number::int16: return as<std::int16_t>(raw);
            case number::uint16: return as<std::uint16_t>(raw);
            case number::int32: return as<std::int32_t>(raw);
            case number::uint32: return as<std::uint32_t>(raw);
            case number::float32: return as<float>(raw);
            default: return as<double>(raw);
        }
    }
    template <class T>
    static double as(const char* raw) {
        T value;
        std::memcpy(&value, raw, sizeof value);
        return static_cast<double>(value);
    }
    double next_word() {
        const std::string_view word = text_.word_anywhere();
        if (word.empty()) text_.fail("a number");
        return text_.coordinate(word);
    }

    std::string_view bytes_;
    const std::string& name_;
    text text_;
    std::size_t at_ = 0;
    layout layout_ = layout::ascii;
    std::vector<element> elements_;
    mesh made_;
};

}  // namespace

mesh read_ply(std::string_view bytes, const std::string& name) { return reader(bytes, name).read(); }

}  // namespace nearfield::meshes
