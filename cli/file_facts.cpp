#include "cli/file_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "cli/load.hpp"
#include "cli/report.hpp"
#include "cli/values.hpp"
#include "io/bytes.hpp"

namespace nearfield::cli {
namespace {

std::string text_of_shape(const io::array& image) {
    constexpr const char *kinds[] = {"", "times", "channels", "images", "components", "unknown"},
                         *space[] = {"x", "y", "z"};
    std::string sizes, names;
    const auto rank = static_cast<std::size_t>(image.grid_rank());
    for (std::size_t axis = 0; axis < rank; ++axis) {
        const auto kind = static_cast<std::size_t>(axis < image.axes.size() ? image.axes[axis] : io::axis_kind::space);
        const std::size_t left = rank - 1 - axis;
        sizes += (axis == 0 ? "" : " x ") + std::to_string(image.shape[axis]);
        names += std::string(axis == 0 ? "" : " ") + (kind != 0 ? kinds[kind] : left < 3 ? space[left] : "w");
    }
    if (image.color) names += image.shape.back() == 4 ? ", RGBA" : ", RGB";
    return rank == 0 ? "a single value" : fmt::format("{}  ({})", sizes, names);
}

std::string text_of_spacing(const io::array& image) {
    if (image.spacing.empty()) return "the file does not say; taken as 1";
    std::string text;
    for (std::size_t axis = 0; axis < image.spacing.size(); ++axis)
        text += fmt::format("{}{:.6g}", axis == 0 ? "" : " x ", image.spacing[axis]);
    return text + (image.unit.empty() ? "" : " " + image.unit);
}

/// Says what the values may mean, and which option reads them so.
std::string text_of_use(const io::array& image, const value_facts& facts) {
    if (facts.different < 2) return facts.nonzero == 0 ? "all cells are background" : "all cells have one value";
    if (image.color) return "a colour image; --channel takes one value a cell";
    if (facts.different == 2 && facts.least == 0) return "a mask: 0 is background";
    const std::string cut = fmt::format("{:.6g}", otsu_threshold(image));
    if (is_floating(image.type))
        return fmt::format("a gray image or a field; --threshold {} (Otsu's) makes it a mask", cut);
    return fmt::format("a gray image, or labels; --threshold {} (Otsu's) makes a gray one a mask", cut);
}

}  // namespace

bool looks_gray(const io::array& image) {
    constexpr std::int64_t enough = 1 << 20, least = 64;
    return with_elements(image.data.get(), image.type, [&](const auto* cells) {
        std::int64_t pairs = 0, changes = 0;
        for (std::int64_t i = 1, n = std::min(image.cells(), enough); i < n; ++i) {
            const auto before = static_cast<double>(cells[i - 1]), value = static_cast<double>(cells[i]);
            if (before == 0 || value == 0 || !std::isfinite(before) || !std::isfinite(value)) continue;
            ++pairs, changes += value != before ? 1 : 0;
        }
        return pairs >= least && 4 * changes > pairs;
    });
}

void note_gray(const arguments& args, const std::string& path, const io::array& image, const std::string& taken) {
    if (!args.threshold.empty() || image.color || !looks_gray(image)) return;
    note(args, fmt::format("{} looks like a gray image: {}; --threshold {:.6g} (Otsu's) makes a mask of it",
                           io::printable(path), taken, otsu_threshold(image)));
}

value_facts facts_of(const io::array& image) {
    value_facts facts;
    facts.cells = image.cells();
    std::unordered_set<double> seen;
    bool any = false;
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        double before = NAN;
        for (std::int64_t i = 0; i < facts.cells; ++i) {
            const auto value = static_cast<double>(cells[i]);
            if (value != 0) ++facts.nonzero;
            if (!std::isfinite(value)) {
                ++facts.not_finite;
                continue;
            }
            if (value == before) continue;
            before = value;
            if (!any) facts.least = facts.largest = value, any = true;
            facts.least = std::min(facts.least, value), facts.largest = std::max(facts.largest, value);
            if (std::ssize(seen) < value_facts::most_counted) seen.insert(value);
        }
    });
    facts.different = std::ssize(seen);
    return facts;
}

std::string text_of_file(const io::array& image, const value_facts& facts) {
    std::string text = fmt::format("  shape      {}\n  type       {}, {}\n  spacing    {}\n", text_of_shape(image),
                                   name_of(image.type), text_of_bytes(image.bytes()), text_of_spacing(image));
    if (image.place.known()) text += fmt::format("  place      {}\n", io::text_of(image.place));
    if (!image.place.no_data.empty())
        text +=
            fmt::format("  no data    {}; --where nodata leaves these cells out\n", io::printable(image.place.no_data));
    if (facts.different == 0)
        return text + (facts.cells == 0 ? "  values     none\n" : "  values     none is finite\n");
    const bool many = facts.different == value_facts::most_counted;
    text += fmt::format("  values     {:.9g} to {:.9g}, {}{} different; {:.3g} % are nonzero\n", facts.least,
                        facts.largest, many ? "more than " : "", many ? facts.different - 1 : facts.different,
                        100 * static_cast<double>(facts.nonzero) / static_cast<double>(facts.cells));
    if (facts.not_finite > 0) text += fmt::format("  not finite {} of them\n", facts.not_finite);
    return text + "  use        " + text_of_use(image, facts) + "\n";
}

}  // namespace nearfield::cli
