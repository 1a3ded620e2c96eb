// NRRD: teem.sourceforge.net/nrrd/format.html. Raw and gzip data, in the header's file or in one of its own.
//
// This is our own parser: it must survive files from any source, and the header is small.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "io/formats.hpp"

namespace nearfield::io {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct nrrd_type {
    std::string_view names;  ///< the format's names for it, between bars, the preferred one first
    dtype type;
};
constexpr nrrd_type types[] = {
    {"|int8|signed char|int8_t|", dtype::int8},
    {"|uint8|uchar|unsigned char|uint8_t|", dtype::uint8},
    {"|int16|short|short int|signed short|signed short int|int16_t|", dtype::int16},
    {"|uint16|ushort|unsigned short|unsigned short int|uint16_t|", dtype::uint16},
    {"|int32|int|signed int|int32_t|", dtype::int32},
    {"|uint32|uint|unsigned int|uint32_t|", dtype::uint32},
    {"|int64|longlong|long long|long long int|signed long long|signed long long int|int64_t|", dtype::int64},
    {"|uint64|ulonglong|unsigned long long|unsigned long long int|uint64_t|", dtype::uint64},
    {"|float|", dtype::float32},
    {"|double|", dtype::float64}};

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r";
    const auto first = text.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::string lower(std::string_view text) {
    std::string made(text);
    std::ranges::transform(made, made.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return made;
}

/// Splits text at white space; a vector "(1, 0, 0)" and a string in quotes count as one word.
std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
        const char close = text[0] == '(' ? ')' : text[0] == '"' ? '"' : ' ';
        auto end = close == ' ' ? text.find_first_of(" \t") : text.find(close, 1);
        if (end == std::string_view::npos) end = text.size();
        else if (close != ' ') ++end;
        found.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return found;
}

class nrrd_header {
public:
    explicit nrrd_header(const source& from) : name_(from.name()) {
        const std::string text = from.head(std::size_t{1} << 20);
        if (!text.starts_with("NRRD000")) throw bad_file(name_, "is not an NRRD file: it does not start with NRRD000");
        std::size_t at = 0;
        for (int number = 0; at < text.size(); ++number) {
            const std::size_t end = text.find('\n', at);
            if (end == std::string::npos && text.size() == (std::size_t{1} << 20)) fail("has no end within 1 MiB");
            const std::string_view line = trimmed(std::string_view(text).substr(at, std::min(end, text.size()) - at));
            at = end == std::string::npos ? text.size() : end + 1;
            if (number == 0 || line.starts_with('#')) continue;
            if (line.empty()) break;
            add(line);
        }
        data_at_ = static_cast<std::int64_t>(at);
    }

    [[nodiscard]] std::int64_t data_at() const { return data_at_; }
    [[nodiscard]] std::optional<std::string> find(std::string_view field) const {
        const auto found = fields_.find(std::string(field));
        return found == fields_.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] std::string get(std::string_view field) const {
        if (auto found = find(field)) return *found;
        fail(fmt::format("lacks the field '{}'", field));
    }
    template <class T>
    [[nodiscard]] T number(std::string_view word, std::string_view field) const {
        T value{};
        const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (code != std::errc{} || end != word.data() + word.size())
            fail(fmt::format("field '{}' holds '{}' where a number should stand", field, word.substr(0, 40)));
        return value;
    }
    /// Returns the words of a field that has one word per axis.
    [[nodiscard]] std::vector<std::string_view> per_axis(const std::string& text, std::size_t rank,
                                                         std::string_view field) const {
        auto found = words(text);
        if (found.size() != rank) fail(fmt::format("field '{}' has {} values for {} axes", field, found.size(), rank));
        return found;
    }
    [[noreturn]] void fail(std::string_view what) const {
        throw bad_file(name_, fmt::format("bad NRRD: the header {}", what));
    }

private:
    void add(std::string_view line) {
        if (line.find(":=") != std::string_view::npos && line.find(":=") <= line.find(": "))
            return;  // an application's own key
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) fail(fmt::format("has a line without a colon: '{}'", line.substr(0, 40)));
        std::string field = lower(line.substr(0, colon));
        std::erase(field, ' ');
        if (field == "centerings") field = "centers";
        if (!fields_.emplace(field, trimmed(line.substr(colon + 1))).second)
            fail(fmt::format("has the field '{}' twice", field));
    }

    std::string name_;
    std::map<std::string, std::string> fields_;
    std::int64_t data_at_ = 0;
};

dtype type_of(const nrrd_header& header) {
    const std::string wanted = lower(header.get("type"));
    for (const auto& [names, type] : types)
        if (!wanted.empty() && names.find(fmt::format("|{}|", wanted)) != std::string_view::npos) return type;
    header.fail(
        fmt::format("names the type '{}', expected an integer of 8 to 64 bits, float or double", wanted.substr(0, 40)));
}

/// Returns the sizes in the file's order, fastest axis first.
std::vector<std::int64_t> sizes_of(const nrrd_header& header) {
    const auto rank = header.number<std::int64_t>(header.get("dimension"), "dimension");
    if (rank < 1 || rank > max_rank + 1) header.fail(fmt::format("says {} axes, expected 1 to {}", rank, max_rank + 1));
    const std::string text = header.get("sizes");
    std::vector<std::int64_t> sizes;
    for (const auto word : header.per_axis(text, static_cast<std::size_t>(rank), "sizes"))
        sizes.push_back(header.number<std::int64_t>(word, "sizes"));
    return sizes;
}

double direction_length(const nrrd_header& header, std::string_view vector) {
    if (!vector.starts_with('(') || !vector.ends_with(')')) return unknown;  // "none"
    std::string inner(vector.substr(1, vector.size() - 2));
    std::ranges::replace(inner, ',', ' ');
    double sum = 0;
    for (const auto word : words(inner)) {
        const auto part = header.number<double>(word, "space directions");
        sum += part * part;
    }
    return std::sqrt(sum);
}

/// Returns true for a vector like "(0, 0, 0, 2)", which has only a time component.
bool runs_in_time(const nrrd_header& header, std::string_view vector) {
    std::string inner(vector.substr(1, vector.size() - 2));
    std::ranges::replace(inner, ',', ' ');
    const auto parts = words(inner);
    for (std::size_t i = 0; i < parts.size(); ++i)
        if ((header.number<double>(parts[i], "space directions") != 0) != (i + 1 == parts.size())) return false;
    return parts.size() == 4;
}

/// Returns the spacing, fastest axis first; NaN for axes that have none.
std::vector<double> spacing_of(const nrrd_header& header, std::size_t rank) {
    std::vector<double> spacing;
    if (const auto text = header.find("spacings"))
        for (const auto word : header.per_axis(*text, rank, "spacings"))
            spacing.push_back(lower(word) == "nan" ? unknown : header.number<double>(word, "spacings"));
    else if (const auto directions = header.find("spacedirections"))
        for (const auto word : header.per_axis(*directions, rank, "space directions"))
            spacing.push_back(direction_length(header, word));
    return spacing;
}

/// Returns the meaning of a word in `kinds`; nothing if the word leaves it open.
std::optional<axis_kind> kind_of(std::string_view word) {
    if (word == "domain" || word == "space" || word == "stub") return axis_kind::space;
    if (word == "time") return axis_kind::time;
    if (word == "list") return axis_kind::list;
    if (word == "none" || word == "???") return std::nullopt;
    return axis_kind::vector;  // the format's other kinds are interpretations of a cell's components
}

/// Returns the meaning of the axes, fastest first. An axis without a kind is spatial if no axis has a kind, or if
/// it has a direction.
std::vector<axis_kind> kinds_of(const nrrd_header& header, const std::vector<std::int64_t>& sizes) {
    std::vector<std::optional<axis_kind>> said(sizes.size());
    if (const auto text = header.find("kinds")) {
        const auto found = header.per_axis(*text, sizes.size(), "kinds");
        std::ranges::transform(found, said.begin(), [](std::string_view word) { return kind_of(lower(word)); });
    }
    const auto directions = header.find("spacedirections");
    const bool silent = !directions && std::ranges::none_of(said, [](const auto& kind) { return kind.has_value(); });
    // In "right-anterior-superior-time", "RAST" and similar spaces the last component of vectors is time.
    const std::string space = lower(header.find("space").value_or(""));
    const bool timed = space.ends_with("-time") || space == "rast" || space == "last" || space == "lpst";
    std::vector<axis_kind> kinds;
    for (std::size_t a = 0; a < sizes.size(); ++a) {
        const bool directed = directions && header.per_axis(*directions, sizes.size(), "space directions")[a][0] == '(';
        axis_kind kind = said[a].value_or(silent || directed ? axis_kind::space : axis_kind::unknown);
        if (timed && directed && kind == axis_kind::space &&
            runs_in_time(header, header.per_axis(*directions, sizes.size(), "space directions")[a]))
            kind = axis_kind::time;
        // A single component is a plain value, whatever the file calls it.
        if (sizes[a] == 1 && (kind == axis_kind::vector || kind == axis_kind::unknown)) kind = axis_kind::list;
        kinds.push_back(kind);
    }
    return kinds;
}

std::string unit_of(const nrrd_header& header) {
    for (const std::string_view field : {"spaceunits", "units"})
        if (const auto text = header.find(field))
            for (const auto word : words(*text))
                if (word.size() > 2 && word.front() == '"' && word.back() == '"')
                    return canonical_unit(word.substr(1, word.size() - 2));
    return {};
}

bool is_color(const nrrd_header& header, const std::vector<std::int64_t>& sizes) {
    const auto text = header.find("kinds");
    if (!text || sizes.size() < 2) return false;
    const std::string kind = lower(header.per_axis(*text, sizes.size(), "kinds").front());
    return (sizes[0] == 3 && (kind == "rgb-color" || kind == "3-color")) ||
           (sizes[0] == 4 && (kind == "rgba-color" || kind == "4-color"));
}

std::int64_t skip_lines(const nrrd_header& header, const source& data, std::int64_t at) {
    const auto text = header.find("lineskip");
    const std::int64_t lines = text ? header.number<std::int64_t>(*text, "line skip") : 0;
    if (lines < 0) header.fail("has a negative line skip");
    std::vector<char> buffer(std::size_t{1} << 16);
    for (std::int64_t left = lines; left > 0;) {
        const std::size_t n = data.read(at, buffer.data(), buffer.size());
        if (n == 0) header.fail(fmt::format("skips {} lines, but the data has fewer", lines));
        for (std::size_t i = 0; i < n && left > 0; ++i, ++at) left -= buffer[i] == '\n';
    }
    return at;
}

array read_data(const nrrd_header& header, const source& data, std::int64_t at, dtype type,
                std::vector<std::int64_t> shape, const read_limits& limits) {
    at = skip_lines(header, data, at);
    const auto text = header.find("byteskip");
    const std::int64_t skip = text ? header.number<std::int64_t>(*text, "byte skip") : 0;
    const std::string encoding = lower(header.get("encoding"));
    if (encoding == "raw") {
        if (skip < -1) header.fail(fmt::format("has the byte skip {}, expected -1 or more", skip));
        const auto bytes = byte_count(type, shape);
        if (skip == -1 && bytes) at = std::max(at, data.size() - *bytes);
        plain_stream raw(data, skip < 0 ? at : at + std::min(skip, std::int64_t{1} << 61));
        return read_array(raw, type, std::move(shape), limits);
    }
    if (encoding != "gzip" && encoding != "gz")
        header.fail(fmt::format("names the encoding '{}', expected raw or gzip; rewrite the file with one of them",
                                encoding.substr(0, 40)));
    if (skip < 0) header.fail(fmt::format("has the byte skip {} with gzip, expected 0 or more", skip));
    gzip_stream packed(data, at);
    packed.skip(skip, "the skipped bytes");
    array values = read_array(packed, type, std::move(shape), limits);
    packed.finish();
    return values;
}

array read_attached_or_not(const nrrd_header& header, const source& from, dtype type, std::vector<std::int64_t> shape,
                           const read_limits& limits) {
    const auto file = header.find("datafile");
    if (!file) return read_data(header, from, header.data_at(), type, std::move(shape), limits);
    if (file->starts_with("LIST") || file->find('%') != std::string::npos)
        header.fail("spreads the data over several files, which is not supported; join them into one .nrrd");
    if (from.path().empty()) header.fail("names a data file, which only a header on disk can have");
    const source data = open_beside(from, *file, limits.allow_outside);
    array values = read_data(header, data, 0, type, std::move(shape), limits);
    values.beside = identity_of(data.name(), -1);
    return values;
}

}  // namespace

array read_nrrd(const source& from, const read_limits& limits) {
    const nrrd_header header(from);
    const dtype type = type_of(header);
    auto shape = sizes_of(header);
    auto spacing = spacing_of(header, shape.size());
    const bool color = is_color(header, shape);
    auto axes = kinds_of(header, shape);
    const std::string unit = unit_of(header);
    const std::string endian = lower(header.find("endian").value_or(""));
    if (size_of(type) > 1 && endian != "little" && endian != "big")
        header.fail("does not say whether its endian is little or big");
    if (color && !spacing.empty()) spacing.erase(spacing.begin());
    if (color) axes.erase(axes.begin());
    std::ranges::reverse(axes);
    std::ranges::reverse(shape);
    std::ranges::reverse(spacing);
    array values = read_attached_or_not(header, from, type, std::move(shape), limits);
    if (size_of(type) > 1 && (endian == "little") != (std::endian::native == std::endian::little))
        swap_bytes(values.data.get(), values.cells(), size_of(type));
    values.color = color;
    values.spacing = usable_spacing(std::move(spacing));
    values.unit = unit;
    std::string beside = std::move(values.beside);
    array made = with_axes(std::move(values), std::move(axes));
    made.beside = std::move(beside);
    return made;
}

std::string refuse_nrrd(const outline& o) {
    if (o.suffix == ".nhdr") return "a detached header can be read but not written";
    if (o.empty()) return "it cannot be empty";
    if (o.type == dtype::float16) return "it holds integers, float and double (bool as uint8)";
    return {};
}

namespace {

/// Returns the format's name of a kind. It has none for channels, so they are written as a list.
const char* kind_name(axis_kind kind) {
    constexpr const char* names[] = {"domain", "time", "list", "list", "vector", "none"};
    return names[static_cast<int>(kind)];
}

/// Returns whether a unit can be quoted: it is free text in other formats, but may not end its field or its line here.
bool can_be_quoted(std::string_view unit) {
    return !unit.empty() &&
           std::ranges::none_of(unit, [](unsigned char c) { return c < ' ' || c == 127 || c == '"' || c == '\\'; });
}

std::string header_text(const array& values, bool gzip) {
    const dtype stored = values.type == dtype::boolean ? dtype::uint8 : values.type;
    const std::string_view names = std::ranges::find(types, stored, &nrrd_type::type)->names;
    std::vector<std::int64_t> sizes(values.shape.rbegin(), values.shape.rend());
    std::vector<std::string> kinds(sizes.size(), "domain"), spacings, units;
    if (values.color) kinds[0] = sizes[0] == 3 ? "RGB-color" : "RGBA-color";
    const auto grid = static_cast<std::size_t>(values.grid_rank());
    for (std::size_t a = 0; a < grid; ++a) {
        const axis_kind kind = values.axes.empty() ? axis_kind::space : values.axes[grid - 1 - a];
        const bool length = kind == axis_kind::space || kind == axis_kind::time;
        kinds[a + (values.color ? 1 : 0)] = kind_name(kind);
        if (values.spacing.empty()) continue;
        spacings.push_back(length ? fmt::format("{}", values.spacing[grid - 1 - a]) : "nan");
        units.push_back(fmt::format("\"{}\"", kind == axis_kind::space ? values.unit : ""));
    }
    if (values.color) spacings.insert(spacings.begin(), "nan"), units.insert(units.begin(), "\"\"");
    std::string text =
        fmt::format("NRRD0004\n# http://teem.sourceforge.net/nrrd/format.html\ntype: {}\ndimension: {}\nsizes: {}\n",
                    names.substr(1, names.find('|', 1) - 1), sizes.size(), fmt::join(sizes, " "));
    if (!values.spacing.empty()) text += fmt::format("spacings: {}\n", fmt::join(spacings, " "));
    text += fmt::format("kinds: {}\n", fmt::join(kinds, " "));
    if (!values.spacing.empty() && can_be_quoted(values.unit))
        text += fmt::format("units: {}\n", fmt::join(units, " "));
    if (size_of(stored) > 1)
        text += fmt::format("endian: {}\n", std::endian::native == std::endian::little ? "little" : "big");
    return text + fmt::format("encoding: {}\n\n", gzip ? "gzip" : "raw");
}

}  // namespace

void write_nrrd(output& to, const array& values, compression wanted) {
    const bool gzip = deflates(wanted, values.type);
    to.write(header_text(values, gzip));
    if (!gzip) return to.write(values.data.get(), static_cast<std::size_t>(values.bytes()));
    gzip_writer packed(to);
    packed.write(values.data.get(), static_cast<std::size_t>(values.bytes()));
    packed.finish();
}

}  // namespace nearfield::io
