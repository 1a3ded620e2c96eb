#include "io/tiff_description.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "io/bytes.hpp"

namespace nearfield::io {

namespace {

template <class T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto code = std::from_chars(text.data(), text.data() + text.size(), value).ec;
    return code == std::errc{} ? std::optional(value) : std::nullopt;
}

double length(std::string_view text) {
    const double value = std::abs(number<double>(text).value_or(0));
    return value > 0 && std::isfinite(value) ? value : 0;
}

axis_kind kind_of(char letter) {
    return letter == 'Z'   ? axis_kind::space
           : letter == 'T' ? axis_kind::time
           : letter == 'C' ? axis_kind::channel
                           : axis_kind::unknown;
}

void add_axis(tiff_description& to, char letter, std::int64_t size) {
    if (size == 1) return;
    to.kinds.push_back(kind_of(letter));
    to.sizes.push_back(size);
}

/// Returns the values of lines "key=value" by key.
std::map<std::string_view, std::string_view> lines_of(std::string_view text) {
    std::map<std::string_view, std::string_view> found;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (const auto at = line.find('='); at != std::string_view::npos)
            found.emplace(line.substr(0, at), line.substr(at + 1));
    }
    return found;
}

bool is_imagej(std::string_view text) { return text.starts_with("ImageJ="); }

/// Reads ImageJ's description: pages run through channels first, then slices, then frames.
void read_imagej(std::string_view text, std::int64_t pages, tiff_description& to) {
    const auto said = lines_of(text);
    const auto find = [&](std::string_view key) {
        const auto at = said.find(key);
        return at == said.end() ? std::string_view{} : at->second;
    };
    const auto count = [&](std::string_view key) { return number<std::int64_t>(find(key)).value_or(1); };
    to.by = tiff_description::writer::imagej;
    // Versions before hyperstacks wrote only "images" for a volume.
    const bool plain = find("frames").empty() && find("channels").empty() && find("slices").empty();
    add_axis(to, 'T', count("frames"));
    add_axis(to, 'Z', plain ? pages : count("slices"));
    add_axis(to, 'C', count("channels"));
    to.z = length(find("spacing"));
    if (to.z == 0) to.z = 1;
    to.unit = canonical_unit(find("unit"));
}

/// Reads tifffile's {"shape": [3, 24, 512, 512], "axes": "TZYX"}; the axes are often left out.
void read_tifffile(std::string_view text, const tiff_page_shape& page, tiff_description& to) {
    const auto after = [&](std::string_view key, char open, char close) -> std::string_view {
        const auto at = text.find(key);
        const auto begin = at == std::string_view::npos ? at : text.find(open, at + key.size());
        const auto end = begin == std::string_view::npos ? begin : text.find(close, begin + 1);
        return end == std::string_view::npos ? std::string_view{} : text.substr(begin + 1, end - begin - 1);
    };
    std::vector<std::int64_t> shape;
    for (std::string_view rest = after("\"shape\"", '[', ']'); !rest.empty();) {
        std::string_view word = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(word.size() + 1, rest.size()));
        while (word.starts_with(' ')) word.remove_prefix(1);
        shape.push_back(number<std::int64_t>(word).value_or(-1));
    }
    std::string_view letters = after("\"axes\"", '"', '"');
    std::vector<std::int64_t> together{page.height, page.width}, apart = together;
    if (page.samples > 1) together.push_back(page.samples), apart.insert(apart.begin(), page.samples);
    const std::size_t own = together.size();
    if (shape.size() < own) return;
    const bool fits = std::ranges::equal(std::span(shape).last(own), together) ||
                      std::ranges::equal(std::span(shape).last(own), apart);
    if (!fits) return;
    to.by = tiff_description::writer::tifffile;
    const std::string_view tail = own == 2 ? "YX" : shape.back() == page.samples ? "YXS" : "SYX";
    if (letters.size() != shape.size() || !letters.ends_with(tail)) letters = {};
    for (std::size_t i = 0; i + own < shape.size(); ++i) add_axis(to, letters.empty() ? '?' : letters[i], shape[i]);
}

/// Returns the text between "<NAME " and ">" of the next tag after `from`, with any prefix; empty if there is none.
std::string_view tag(std::string_view text, std::string_view name, std::size_t& from) {
    for (; (from = text.find(name, from)) != std::string_view::npos; from += name.size()) {
        const std::size_t end = from + name.size();
        const bool begins = from > 0 && (text[from - 1] == '<' || text[from - 1] == ':');
        if (!begins || end >= text.size() || std::string_view(" \t\r\n/>").find(text[end]) == std::string_view::npos)
            continue;
        const std::string_view inside = text.substr(end, text.find('>', end) - end);
        from = end;
        return inside.empty() ? " " : inside;
    }
    return {};
}

std::string_view attribute(std::string_view tag, std::string_view name) {
    for (std::size_t at = 0; (at = tag.find(name, at)) != std::string_view::npos; at += name.size()) {
        const std::size_t equals = at + name.size();
        const bool begins = at > 0 && std::string_view(" \t\r\n").find(tag[at - 1]) != std::string_view::npos;
        if (!begins || equals + 1 >= tag.size() || tag[equals] != '=') continue;
        const char quote = tag[equals + 1];
        const std::size_t end = quote == '"' || quote == '\'' ? tag.find(quote, equals + 2) : std::string_view::npos;
        if (end != std::string_view::npos) return tag.substr(equals + 2, end - equals - 2);
    }
    return {};
}

void read_ome(std::string_view text, const tiff_page_shape& page, tiff_description& to) {
    std::size_t at = 0;
    const std::string_view pixels = tag(text, "Pixels", at);
    const std::string_view order = attribute(pixels, "DimensionOrder");
    std::string sorted(order);
    std::ranges::sort(sorted);
    if (sorted != "CTXYZ" || !order.starts_with("XY")) return;
    to.by = tiff_description::writer::ome;
    std::map<char, std::int64_t> sizes, steps;
    std::int64_t step = 1;
    for (const char letter : order.substr(2)) {
        sizes[letter] = number<std::int64_t>(attribute(pixels, std::string("Size") + letter)).value_or(-1);
        if (letter == 'C' && page.samples > 1) sizes[letter] /= page.samples;
        steps[letter] = step;
        const bool overflows = __builtin_mul_overflow(step, sizes[letter], &step);
        if (overflows || sizes[letter] < 1 || step > std::int64_t{1} << 31) return;
    }
    // If planes do not lie where the order says, the description is dropped.
    for (std::size_t next = at;;) {
        const std::string_view planes = tag(text, "TiffData", next);
        if (planes.empty()) break;
        const auto value = [&](std::string_view name) {
            return std::clamp<std::int64_t>(number<std::int64_t>(attribute(planes, name)).value_or(0), 0, 1 << 30);
        };
        const std::int64_t expected =
            value("FirstZ") * steps['Z'] + value("FirstC") * steps['C'] + value("FirstT") * steps['T'];
        if (value("IFD") != expected) return;
    }
    for (std::size_t i = 5; i-- > 2;) add_axis(to, order[i], sizes[order[i]]);
    const auto unit = [&](const char* name) {
        const std::string_view said = attribute(pixels, name);
        return said.empty() ? std::string("um") : canonical_unit(said);
    };
    to.unit = unit("PhysicalSizeXUnit");
    to.x = length(attribute(pixels, "PhysicalSizeX"));
    if (to.unit == unit("PhysicalSizeYUnit")) to.y = length(attribute(pixels, "PhysicalSizeY"));
    if (to.unit == unit("PhysicalSizeZUnit")) to.z = length(attribute(pixels, "PhysicalSizeZ"));
}

}  // namespace

std::int64_t imagej_images(std::string_view text) {
    if (!is_imagej(text)) return 1;
    const auto said = lines_of(text);
    const auto at = said.find("images");
    return at == said.end() ? 1 : number<std::int64_t>(at->second).value_or(1);
}

tiff_description describe_pages(std::string_view text, std::int64_t pages, const tiff_page_shape& page) {
    tiff_description found;
    if (is_imagej(text)) read_imagej(text, pages, found);
    else if (text.starts_with('{')) read_tifffile(text, page, found);
    else if (text.find("openmicroscopy.org/") != std::string_view::npos) read_ome(text, page, found);
    if (found.unit == "pixel" || found.unit == "pixels") found.unit.clear();
    std::int64_t told = 1;
    bool fits = true;
    for (const std::int64_t n : found.sizes) fits = fits && n > 0 && !__builtin_mul_overflow(told, n, &told);
    if (fits && told == pages && found.sizes.size() + 3 <= max_rank + 1) return found;
    found.kinds.clear(), found.sizes.clear();
    add_axis(found, '?', pages);
    return found;
}

}  // namespace nearfield::io
