#include "cli/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace nearfield::cli {
namespace {

std::string hex(const rgb& c) { return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue); }

}  // namespace

std::string svg_of(const drawing& d) {
    std::string text;
    const auto to = std::back_inserter(text);
    fmt::format_to(to,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:inkscape=\"http://www.inkscape.org/namespaces/"
                   "inkscape\" width=\"{:g}mm\" height=\"{:.6g}mm\" viewBox=\"0 0 {:g} {:g}\">\n",
                   d.millimetres, d.millimetres * d.height / d.width, d.width, d.height);
    // Plotters draw every shape, so white paper gets none.
    if (d.paper != rgb{255, 255, 255})
        fmt::format_to(to, "<rect width=\"{:g}\" height=\"{:g}\" fill=\"{}\"/>\n", d.width, d.height, hex(d.paper));
    for (const facet& each : d.facets) {
        fmt::format_to(to, "<path fill=\"{0}\" stroke=\"{0}\" stroke-width=\".3\" d=\"M", hex(each.colour));
        for (const point2& p : each.corners) fmt::format_to(to, "{:.2f} {:.2f} ", p[0], p[1]);
        text.back() = 'Z', text += "\"/>\n";
    }
    for (const ink_layer& layer : d.layers) {
        fmt::format_to(to, "<g id=\"{0}\" inkscape:groupmode=\"layer\" inkscape:label=\"{0}\" fill=\"{1}\"{2}>\n",
                       layer.name, hex(layer.colour), d.layers.size() > 1 ? " style=\"mix-blend-mode:multiply\"" : "");
        for (const dot& each : layer.dots)
            fmt::format_to(to, "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.3f}\"/>\n", each.at[0], each.at[1],
                           each.diameter / 2);
        text += "</g>\n";
    }
    if (!d.line.empty()) {
        fmt::format_to(to, "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{:.3f}\" stroke-linejoin=\"round\" d=\"M",
                       hex(d.line_colour), d.line_width);
        for (const point2& p : d.line) fmt::format_to(to, "{:.2f} {:.2f} ", p[0], p[1]);
        text.back() = 'Z', text += "\"/>\n";
    }
    return text + "</svg>\n";
}

// ---- PDF ------------------------------------------------------------------------------------------------------------

namespace {

std::string three(const rgb& c) {
    return fmt::format("{:.4g} {:.4g} {:.4g}", c.red / 255.0, c.green / 255.0, c.blue / 255.0);
}

void path(std::string& text, const std::vector<point2>& corners) {
    for (std::size_t i = 0; i < corners.size(); ++i)
        fmt::format_to(std::back_inserter(text), "{:.2f} {:.2f} {}\n", corners[i][0], corners[i][1],
                       i == 0 ? 'm' : 'l');
}

std::string content_of(const drawing& d, double points_a_cell) {
    std::string text;
    const auto to = std::back_inserter(text);
    fmt::format_to(to, "{0:.6f} 0 0 {1:.6f} 0 {2:.4f} cm\n1 J 1 j\n", points_a_cell, -points_a_cell,
                   points_a_cell * d.height);
    if (d.paper != rgb{255, 255, 255})
        fmt::format_to(to, "{} rg 0 0 {:g} {:g} re f\n", three(d.paper), d.width, d.height);
    for (const facet& each : d.facets) {
        fmt::format_to(to, "{0} rg {0} RG 0.3 w\n", three(each.colour));
        path(text, each.corners), text += "b\n";
    }
    if (d.layers.size() > 1) text += "/Multiply gs\n";
    for (const ink_layer& layer : d.layers) {
        const auto& [c, m, y, k] = layer.cmyk;
        if (d.layers.size() > 1) fmt::format_to(to, "{:g} {:g} {:g} {:g} K\n", c, m, y, k);
        else fmt::format_to(to, "{} RG\n", three(layer.colour));
        for (const dot& each : layer.dots)  // draws a line of length 0 with round ends
            fmt::format_to(to, "{0:.3f} w {1:.2f} {2:.2f} m {1:.2f} {2:.2f} l S\n", each.diameter, each.at[0],
                           each.at[1]);
    }
    if (!d.line.empty()) {
        fmt::format_to(to, "{} RG {:.3f} w\n", three(d.line_colour), d.line_width);
        path(text, d.line), text += "s\n";
    }
    return text;
}

}  // namespace

std::string pdf_of(const drawing& d) {
    const double points = d.millimetres * 72 / 25.4;
    const std::string content = content_of(d, points / d.width);
    const std::string objects[] = {
        "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        fmt::format(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.4f} {:.4f}] /Contents 4 0 R /Resources << /ExtGState "
            "<< /Multiply << /BM /Multiply >> >> >> >>",
            points, points * d.height / d.width),
        fmt::format("<< /Length {} >>\nstream\n{}endstream", content.size(), content)};
    std::string text = "%PDF-1.4\n", table = "0000000000 65535 f \n";
    for (std::size_t i = 0; i < std::size(objects); ++i) {
        table += fmt::format("{:010} 00000 n \n", text.size());
        text += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
    }
    const std::size_t at = text.size();
    return text + fmt::format("xref\n0 5\n{}trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n", table, at);
}

// ---- pixels ---------------------------------------------------------------------------------------------------------

namespace {

constexpr int places = 4;  ///< samples of a pixel along each axis; the pixel is their mean

/// Colours of all samples.
class canvas {
public:
    canvas(int width, int height, const rgb& paper, double places_a_cell)
        : scale_(places_a_cell), all_(sheet_of(width, height)) {
        std::fill(all_.pixels.begin(), all_.pixels.end(), paper);
    }

    /// Calls paint(place) for samples within `radius` of the segment from a to b.
    template <class Paint>
    void stroke(const point2& a, const point2& b, double radius, const Paint& paint) {
        const double dx = b[0] - a[0], dy = b[1] - a[1], length2 = dx * dx + dy * dy;
        const auto within = [&](double x, double y) {
            const double px = x - a[0], py = y - a[1];
            const double t = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0;
            return (px - t * dx) * (px - t * dx) + (py - t * dy) * (py - t * dy) <= radius * radius;
        };
        fill({std::min(a[0], b[0]) - radius, std::min(a[1], b[1]) - radius},
             {std::max(a[0], b[0]) + radius, std::max(a[1], b[1]) + radius}, within, paint);
    }
    template <class Paint>
    void polygon(const std::vector<point2>& corners, const Paint& paint) {
        point2 low = corners.front(), high = low;
        for (const point2& p : corners)
            for (std::size_t k = 0; k < 2; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
        const auto within = [&](double x, double y) {
            for (std::size_t i = 0; i < corners.size(); ++i) {
                const point2 &a = corners[i], &b = corners[(i + 1) % corners.size()];
                if ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) < -1e-9) return false;
            }
            return true;
        };
        fill(low, high, within, paint);
    }
    [[nodiscard]] std::size_t places_in_all() const { return all_.pixels.size(); }
    [[nodiscard]] std::size_t number_of(const rgb& place) const {
        return static_cast<std::size_t>(&place - all_.pixels.data());
    }
    [[nodiscard]] picture shrunk() const;

private:
    static picture sheet_of(int width, int height) {
        picture made;
        made.width = width * places, made.height = height * places;
        made.pixels.resize(static_cast<std::size_t>(made.width) * static_cast<std::size_t>(made.height));
        return made;
    }
    template <class Within, class Paint>
    void fill(const point2& low, const point2& high, const Within& within, const Paint& paint) {
        const auto first = [&](double at) { return std::max(0, static_cast<int>(std::floor(at * scale_))); };
        const auto last = [&](double at, int end) {
            return std::min(end, static_cast<int>(std::ceil(at * scale_)) + 1);
        };
        for (int y = first(low[1]); y < last(high[1], all_.height); ++y)
            for (int x = first(low[0]); x < last(high[0], all_.width); ++x)
                if (within((x + 0.5) / scale_, (y + 0.5) / scale_)) paint(all_.at(x, y));
    }

    double scale_;
    picture all_;
};

picture canvas::shrunk() const {
    picture small;
    small.width = all_.width / places, small.height = all_.height / places;
    small.pixels.reserve(all_.pixels.size() / (places * places));
    for (int y = 0; y < small.height; ++y)
        for (int x = 0; x < small.width; ++x) {
            int sum[3] = {places * places / 2, places * places / 2, places * places / 2};
            for (int k = 0; k < places * places; ++k) {
                const rgb& c = all_.pixels[static_cast<std::size_t>(y * places + k / places) *
                                               static_cast<std::size_t>(all_.width) +
                                           static_cast<std::size_t>(x * places + k % places)];
                sum[0] += c.red, sum[1] += c.green, sum[2] += c.blue;
            }
            const auto mean = [](int s) { return static_cast<std::uint8_t>(s / (places * places)); };
            small.pixels.push_back({mean(sum[0]), mean(sum[1]), mean(sum[2])});
        }
    return small;
}

std::uint8_t through(std::uint8_t below, std::uint8_t above) {
    return static_cast<std::uint8_t>((below * above + 127) / 255);
}

}  // namespace

picture pixels_of(const drawing& d, int longest) {
    const double scale = longest / std::max(d.width, d.height);
    const auto along = [&](double cells) { return std::max(1, static_cast<int>(std::lround(cells * scale))); };
    canvas on(along(d.width), along(d.height), d.paper, scale * places);
    for (const facet& each : d.facets)
        if (!each.corners.empty()) on.polygon(each.corners, [&](rgb& at) { at = each.colour; });
    const bool several = d.layers.size() > 1;
    for (const ink_layer& layer : d.layers) {
        const rgb ink = layer.colour;
        std::vector<bool> inked(on.places_in_all());  // overlapping dots of one ink are no darker
        for (const dot& each : layer.dots)
            on.stroke(each.at, each.at, each.diameter / 2, [&](rgb& at) {
                const std::size_t place = on.number_of(at);
                if (several && !inked[place])
                    at = {through(at.red, ink.red), through(at.green, ink.green), through(at.blue, ink.blue)};
                if (!several) at = ink;
                inked[place] = true;
            });
    }
    for (std::size_t i = 0; i < d.line.size(); ++i)
        on.stroke(d.line[i], d.line[(i + 1) % d.line.size()], d.line_width / 2, [&](rgb& at) { at = d.line_colour; });
    return on.shrunk();
}

}  // namespace nearfield::cli
