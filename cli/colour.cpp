#include "cli/colour.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nearfield::cli {
namespace {

double linear(std::uint8_t value) {
    const double v = value / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

double encoded(double v) { return v <= 0.0031308 ? v * 12.92 : 1.055 * std::pow(v, 1 / 2.4) - 0.055; }

std::array<double, 3> linear_rgb(const oklab& c) {
    const auto cube = [](double v) { return v * v * v; };
    const double l = cube(c.lightness + 0.3963377774 * c.a + 0.2158037573 * c.b);
    const double m = cube(c.lightness - 0.1055613458 * c.a - 0.0638541728 * c.b);
    const double s = cube(c.lightness - 0.0894841775 * c.a - 1.2914855480 * c.b);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool on_screen(const oklab& c) {
    constexpr double slack = 1e-4;
    const auto parts = linear_rgb(c);
    return std::all_of(parts.begin(), parts.end(), [](double v) { return v >= -slack && v <= 1 + slack; });
}

/// Makes 256 colours at equal OKLab distances along a smooth curve through a few chosen ones.
std::array<rgb, 256> make_ramp() {
    constexpr rgb through[] = {{22, 10, 54},   {50, 34, 118},  {38, 82, 160},   {22, 132, 164},
                               {50, 178, 138}, {142, 212, 98}, {228, 232, 104}, {254, 250, 200}};
    constexpr int count = std::size(through), fine = 256;
    std::vector<oklab> curve;
    for (int piece = 0; piece + 1 < count; ++piece)
        for (int step = 0; step < fine; ++step) {
            oklab p[4];
            for (int k = 0; k < 4; ++k) p[k] = to_oklab(through[std::clamp(piece + k - 1, 0, count - 1)]);
            const double t = static_cast<double>(step) / fine;
            // Interpolates by a Catmull-Rom spline.
            const auto at = [&](double oklab::*part) {
                const double a = p[0].*part, b = p[1].*part, c = p[2].*part, d = p[3].*part;
                return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
            };
            curve.push_back({at(&oklab::lightness), at(&oklab::a), at(&oklab::b)});
        }
    curve.push_back(to_oklab(through[count - 1]));
    std::vector<double> walked(curve.size(), 0);
    for (std::size_t i = 1; i < curve.size(); ++i) walked[i] = walked[i - 1] + difference(curve[i - 1], curve[i]);
    std::array<rgb, 256> table;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const double wanted = walked.back() * static_cast<double>(i) / 255;
        const auto found = std::lower_bound(walked.begin(), walked.end(), wanted) - walked.begin();
        table[i] = to_rgb(curve[std::min(curve.size() - 1, static_cast<std::size_t>(found))]);
    }
    return table;
}

/// The k-th candidate colour for a thing.
oklab candidate(std::size_t thing, int k) {
    constexpr double golden = 0.6180339887498949;
    constexpr double shades[] = {0.03, -0.06, 0.10, -0.01}, chroma[] = {0.115, 0.125, 0.075, 0.095};
    const double turns = static_cast<double>(thing) * golden + k * (golden / 2), hue = turns - std::floor(turns);
    const std::size_t shade = (thing + static_cast<std::size_t>(k)) % 4;
    // Yellow (0.3 of a turn) looks muddy when dark, blue looks pale when light.
    const double lightness = 0.75 + 0.06 * std::cos(6.283185307179586 * (hue - 0.3));
    return from_hue(lightness + shades[shade], chroma[shade], hue);
}

}  // namespace

oklab to_oklab(const rgb& colour) {
    const double r = linear(colour.red), g = linear(colour.green), b = linear(colour.blue);
    const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

rgb to_rgb(const oklab& colour) {
    oklab c = colour;
    c.lightness = std::clamp(c.lightness, 0.0, 1.0);
    for (int step = 0; step < 64 && !on_screen(c); ++step) c.a *= 0.95, c.b *= 0.95;
    const auto parts = linear_rgb(c);
    const auto byte = [](double v) {
        return static_cast<std::uint8_t>(std::lround(255 * encoded(std::clamp(v, 0.0, 1.0))));
    };
    return {byte(parts[0]), byte(parts[1]), byte(parts[2])};
}

oklab from_hue(double lightness, double chroma, double hue) {
    constexpr double turn = 6.283185307179586;
    return {lightness, chroma * std::cos(hue * turn), chroma * std::sin(hue * turn)};
}

double difference(const oklab& x, const oklab& y) {
    return std::sqrt((x.lightness - y.lightness) * (x.lightness - y.lightness) + (x.a - y.a) * (x.a - y.a) +
                     (x.b - y.b) * (x.b - y.b));
}

rgb mix(const rgb& below, const rgb& above, double coverage) {
    const auto part = [&](std::uint8_t x, std::uint8_t y) {
        return static_cast<std::uint8_t>(std::lround(x + (y - x) * coverage));
    };
    return {part(below.red, above.red), part(below.green, above.green), part(below.blue, above.blue)};
}

rgb ramp(double share) {
    static const std::array<rgb, 256> table = make_ramp();
    return table[static_cast<std::size_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)))];
}

rgb diverging(double share) {
    static const std::array<rgb, 511> table = [] {
        std::array<rgb, 511> made;
        for (int i = -255; i <= 255; ++i) {
            const double far = std::abs(i) / 255.0, hue = i < 0 ? 0.70 : 0.10;
            // Chroma rises faster than lightness falls, so that the sign of small distances shows.
            made[static_cast<std::size_t>(i + 255)] =
                to_rgb(from_hue(0.965 - 0.60 * far, 0.15 * std::sqrt(far) * (1.15 - 0.4 * far), hue));
        }
        return made;
    }();
    return table[static_cast<std::size_t>(std::lround(255 * std::clamp(share, -1.0, 1.0)) + 255)];
}

std::vector<oklab> spread_colours(std::size_t count, std::vector<std::array<std::int64_t, 2>> pairs) {
    // Pairs in both directions, sorted, so that the neighbours of each thing are consecutive.
    const std::size_t one_way = pairs.size();
    for (std::size_t i = 0; i < one_way; ++i) pairs.push_back({pairs[i][1], pairs[i][0]});
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    std::vector<oklab> colours(count);
    std::size_t run = 0;
    for (std::size_t thing = 0; thing < count; ++thing) {
        const std::size_t first = run;
        while (run < pairs.size() && static_cast<std::size_t>(pairs[run][0]) == thing) ++run;
        double best = -1;
        // A difference of 0.2 is clearly visible; beyond that, the order of the candidates spreads colours better.
        for (int k = 0; k < 16 && best < 0.2; ++k) {
            const oklab tried = candidate(thing, k);
            double nearest = std::numeric_limits<double>::max();
            for (std::size_t i = first; i < run; ++i)
                if (const auto other = static_cast<std::size_t>(pairs[i][1]); other < thing)
                    nearest = std::min(nearest, difference(tried, colours[other]));
            if (nearest > best) best = nearest, colours[thing] = tried;
        }
    }
    return colours;
}

}  // namespace nearfield::cli
