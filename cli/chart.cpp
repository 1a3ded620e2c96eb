#include "cli/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace nearfield::cli {
namespace {

constexpr int panel_width = 430, height = 330, left = 62, right = 14, top = 34, bottom = 46, legend_width = 230;
// Okabe and Ito's colours, which colour-blind readers can tell apart; dashes mark the second use of a colour.
constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
    return safe;
}

/// A range of powers of ten that contains all values.
struct scale {
    int first = 0, last = 1;

    void include(double value) {
        if (!any_) first = last = static_cast<int>(std::floor(std::log10(value)));
        any_ = true;
        first = std::min(first, static_cast<int>(std::floor(std::log10(value))));
        last = std::max(last, static_cast<int>(std::ceil(std::log10(value))));
    }
    void settle() { last = std::max(last, first + 1); }
    [[nodiscard]] double share(double value) const { return (std::log10(value) - first) / (last - first); }

private:
    bool any_ = false;
};

bool drawable(const std::pair<double, double>& p) { return p.first > 0 && p.second >= 0; }

std::string power_of_ten(int exponent) {
    return exponent >= -3 && exponent <= 4 ? fmt::format("{:g}", std::pow(10.0, exponent))
                                           : fmt::format("1e{}", exponent);
}

std::string style_of(const std::vector<std::string>& names, const std::string& name) {
    const auto k = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    return fmt::format("stroke=\"{}\"{}", colours[k % std::size(colours)],
                       k >= std::size(colours) ? " stroke-dasharray=\"5 3\"" : "");
}

/// Position and scales of one chart. If some values are 0, the lowest line stands for 0 instead of a power of ten.
struct frame {
    int offset;
    scale across{}, up{};
    bool zeros = false;

    frame(const chart& c, int from) : offset(from) {
        for (const series& line : c.lines)
            for (const auto& p : line.points) {
                if (!drawable(p)) continue;
                across.include(p.first);
                if (p.second > 0) up.include(p.second);
                else zeros = true;
            }
        across.settle(), up.settle();
        if (zeros) --up.first;
    }
    [[nodiscard]] double x(double v) const { return offset + left + across.share(v) * (panel_width - left - right); }
    [[nodiscard]] double y(double v) const { return height - bottom - up.share(v) * (height - top - bottom); }
};

std::string axes_of(const chart& c, const frame& in) {
    std::string out =
        fmt::format("<text x=\"{}\" y=\"20\" font-weight=\"bold\">{}</text>\n", in.offset + left, escaped(c.title));
    for (int e = in.across.first; e <= in.across.last; ++e)
        out += fmt::format(
            "<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
            "text-anchor=\"middle\">{4}</text>\n",
            in.x(std::pow(10.0, e)), top, height - bottom, height - bottom + 16, power_of_ten(e));
    for (int e = in.up.first; e <= in.up.last; ++e) {
        const double at = in.y(std::pow(10.0, e));
        out += fmt::format(
            "<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#ddd\"/><text x=\"{3}\" y=\"{4:.1f}\" "
            "text-anchor=\"end\">{5}</text>\n",
            in.offset + left, at, in.offset + panel_width - right, in.offset + left - 6, at + 4,
            in.zeros && e == in.up.first ? "0" : power_of_ten(e));
    }
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                       in.offset + (left + panel_width) / 2, height - 10, escaped(c.across));
    out += fmt::format("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                       in.offset + 14, height / 2, escaped(c.up));
    return out;
}

std::string panel_of(const chart& c, const std::vector<std::string>& names, int offset) {
    const frame in(c, offset);
    std::string out = axes_of(c, in);
    double lifted = 0;  // raises the zeros of a line above those of the lines before it
    for (const series& line : c.lines) {
        std::string path;
        bool has_zero = false;
        for (const auto& p : line.points) {
            if (!drawable(p)) continue;
            has_zero = has_zero || p.second == 0;
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", in.x(p.first),
                                p.second > 0 ? in.y(p.second) : height - bottom - lifted);
        }
        if (has_zero) lifted += 2.5;
        if (!path.empty())
            out +=
                fmt::format("<path d=\"{}\" fill=\"none\" stroke-width=\"2\" {}/>\n", path, style_of(names, line.name));
    }
    return out;
}

}  // namespace

std::string svg_of(const std::vector<chart>& charts) {
    std::vector<std::string> names;
    for (const chart& c : charts)
        for (const series& line : c.lines)
            if (std::find(names.begin(), names.end(), line.name) == names.end()) names.push_back(line.name);
    const int wide = static_cast<int>(charts.size()) * panel_width;
    const int high = std::max(height, 40 + 20 * static_cast<int>(names.size()));
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        wide + legend_width, high);
    for (std::size_t k = 0; k < charts.size(); ++k)
        out += panel_of(charts[k], names, static_cast<int>(k) * panel_width);
    for (std::size_t k = 0; k < names.size(); ++k)
        out += fmt::format("<path d=\"M{0} {1}h24\" stroke-width=\"2\" {2}/><text x=\"{3}\" y=\"{4}\">{5}</text>\n",
                           wide + 8, 40 + 20 * k, style_of(names, names[k]), wide + 38, 44 + 20 * k, escaped(names[k]));
    return out + "</svg>\n";
}

}  // namespace nearfield::cli
