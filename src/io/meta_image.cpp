// MetaImage, as ITK writes it: itk.org/Wiki/MetaIO/Documentation. Raw and zlib data after the header (.mha) or in one
// separate file (.mhd).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <optional>

#include "io/formats.hpp"

namespace nearfield::io {

namespace {

struct meta_type {
    std::string_view name;
    dtype type;
};
constexpr meta_type types[] = {{"MET_CHAR", dtype::int8},       {"MET_UCHAR", dtype::uint8},
                               {"MET_SHORT", dtype::int16},     {"MET_USHORT", dtype::uint16},
                               {"MET_INT", dtype::int32},       {"MET_UINT", dtype::uint32},
                               {"MET_LONG_LONG", dtype::int64}, {"MET_ULONG_LONG", dtype::uint64},
                               {"MET_FLOAT", dtype::float32},   {"MET_DOUBLE", dtype::float64}};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class meta_header {
public:
    explicit meta_header(const source& from) : name_(from.name()) {
        const std::string text = from.head(std::size_t{1} << 16);
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            const std::string_view line = std::string_view(text).substr(at, end - at);
            at = end + 1;
            const auto equals = line.find('=');
            if (equals == std::string_view::npos) {
                if (trimmed(line).empty()) continue;
                fail(fmt::format("has a line without '=': '{}'", line.substr(0, 40)));
            }
            const std::string field(trimmed(line.substr(0, equals)));
            if (!fields_.emplace(field, trimmed(line.substr(equals + 1))).second)
                fail(fmt::format("has the field '{}' twice", field));
            if (field != "ElementDataFile") continue;
            data_at_ = static_cast<std::int64_t>(at);
            return;
        }
        fail("lacks the field 'ElementDataFile'");
    }

    [[nodiscard]] std::int64_t data_at() const { return data_at_; }
    [[nodiscard]] std::string get(const std::string& field, std::optional<std::string> otherwise = {}) const {
        const auto found = fields_.find(field);
        if (found != fields_.end()) return found->second;
        if (!otherwise) fail(fmt::format("lacks the field '{}'", field));
        return *otherwise;
    }
    [[nodiscard]] bool flag(const std::string& field, const std::string& otherwise) const {
        const std::string word = get(field, otherwise);
        return word == "True" || word == "true" || word == "1";
    }
    /// Returns the numbers of a field; none if the field is missing.
    template <class T>
    [[nodiscard]] std::vector<T> numbers(const std::string& field) const {
        const std::string text = get(field, "");
        std::vector<T> found;
        const char *at = text.data(), *const end = at + text.size();
        while (at != end) {
            T value{};
            const auto [after, code] = std::from_chars(at, end, value);
            if (code != std::errc{})
                fail(fmt::format("field '{}' holds '{}', expected numbers", field, text.substr(0, 40)));
            found.push_back(value);
            for (at = after; at != end && (*at == ' ' || *at == '\t'); ++at) {
            }
        }
        return found;
    }
    [[nodiscard]] std::int64_t number(const std::string& field, std::int64_t otherwise) const {
        const auto found = numbers<std::int64_t>(field);
        return found.empty() ? otherwise : found[0];
    }
    [[noreturn]] void fail(std::string_view what) const {
        throw bad_file(name_, fmt::format("bad MetaImage: the header {}", what));
    }

private:
    std::string name_;
    std::map<std::string, std::string> fields_;
    std::int64_t data_at_ = 0;
};

dtype type_of(const meta_header& header) {
    const std::string wanted = header.get("ElementType");
    for (const auto& [name, type] : types)
        if (wanted == name || wanted == std::string(name) + "_ARRAY") return type;
    header.fail(fmt::format("names the type '{}', expected an integer of 8 to 64 bits, MET_FLOAT or MET_DOUBLE",
                            wanted.substr(0, 40)));
}

/// Returns the shape in the array's order, with components of a cell last.
std::vector<std::int64_t> shape_of(const meta_header& header, std::int64_t channels) {
    std::vector<std::int64_t> shape = header.numbers<std::int64_t>("DimSize");
    const std::int64_t axes = header.number("NDims", -1);
    if (axes < 1 || axes > max_rank || std::ssize(shape) != axes)
        header.fail(fmt::format("says {} axes and {} sizes, expected as many, 1 to {}", axes, shape.size(), max_rank));
    if (channels < 1 || channels > 65535) header.fail(fmt::format("says {} channels", channels));
    std::ranges::reverse(shape);
    if (channels > 1) shape.push_back(channels);
    return shape;
}

array read_data(const meta_header& header, const source& data, std::int64_t at, dtype type,
                std::vector<std::int64_t> shape, const read_limits& limits) {
    if (!header.flag("BinaryData", "True"))
        header.fail("says that the data is text; rewrite the file with binary data");
    if (header.flag("CompressedData", "False")) {
        gzip_stream packed(data, at);
        array values = read_array(packed, type, std::move(shape), limits);
        packed.finish();
        return values;
    }
    const std::int64_t skip = header.number("HeaderSize", 0);
    if (skip < -1 || skip > (std::int64_t{1} << 60)) header.fail(fmt::format("says HeaderSize = {}", skip));
    const auto bytes = byte_count(type, shape);
    if (skip == -1 && bytes) at = std::max(at, data.size() - *bytes);
    plain_stream raw(data, skip > 0 ? at + skip : at);
    return read_array(raw, type, std::move(shape), limits);
}

array read_here_or_beside(const meta_header& header, const source& from, dtype type, std::vector<std::int64_t> shape,
                          const read_limits& limits) {
    const std::string file = header.get("ElementDataFile");
    if (file == "LOCAL" || file == "Local" || file == "local")
        return read_data(header, from, header.data_at(), type, std::move(shape), limits);
    if (file.starts_with("LIST") || file.find('%') != std::string::npos)
        header.fail("spreads the data over several files, which is not supported; join them into one .mha");
    if (from.path().empty()) header.fail("names a data file, which only a header on disk can have");
    const source data = open_beside(from, file, limits.allow_outside);
    array values = read_data(header, data, 0, type, std::move(shape), limits);
    values.beside = identity_of(data.name(), -1);
    return values;
}

}  // namespace

array read_meta_image(const source& from, const read_limits& limits) {
    const meta_header header(from);
    const dtype type = type_of(header);
    const std::int64_t channels = header.number("ElementNumberOfChannels", 1);
    auto shape = shape_of(header, channels);
    auto spacing = header.numbers<double>(header.get("ElementSpacing", "").empty() ? "ElementSize" : "ElementSpacing");
    const auto rank = static_cast<std::size_t>(header.number("NDims", 0));
    if (!spacing.empty() && spacing.size() != rank)
        header.fail(fmt::format("has the spacing of {} axes of {}", spacing.size(), rank));
    std::ranges::reverse(spacing);
    const bool color = (channels == 3 || channels == 4) && (type == dtype::uint8 || type == dtype::uint16);
    array values = read_here_or_beside(header, from, type, std::move(shape), limits);
    const bool most_first = header.flag("BinaryDataByteOrderMSB", header.get("ElementByteOrderMSB", "False"));
    if (size_of(type) > 1 && most_first != (std::endian::native == std::endian::big))
        swap_bytes(values.data.get(), values.cells(), size_of(type));
    values.color = color;
    values.spacing = usable_spacing(std::move(spacing));
    values.unit = canonical_unit(header.get("DistanceUnits", ""));
    std::vector<axis_kind> axes(rank, axis_kind::space);
    if (!color && channels > 1) {
        axes.push_back(axis_kind::vector);
        if (!values.spacing.empty()) values.spacing.push_back(1);
    }
    std::string beside = std::move(values.beside);
    array made = with_axes(std::move(values), std::move(axes));
    made.beside = std::move(beside);
    return made;
}

}  // namespace nearfield::io
