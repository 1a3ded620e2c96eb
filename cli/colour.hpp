// Colours that look as far apart as their numbers say.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace nearfield::cli {

struct rgb {
    std::uint8_t red = 0, green = 0, blue = 0;
    friend bool operator==(const rgb&, const rgb&) = default;
};

/// Lightness 0..1 and two opponent axes; Euclidean distance is about perceived difference.
/// Ottosson, "A perceptual color space for image processing", 2020.
struct oklab {
    double lightness = 0, a = 0, b = 0;
};

[[nodiscard]] oklab to_oklab(const rgb& colour);
/// Outside what a screen can show, chroma is lowered until it fits; lightness and hue stay.
[[nodiscard]] rgb to_rgb(const oklab& colour);
/// Hue in turns.
[[nodiscard]] oklab from_hue(double lightness, double chroma, double hue);
[[nodiscard]] double difference(const oklab& x, const oklab& y);
[[nodiscard]] rgb mix(const rgb& below, const rgb& above, double coverage);

/// The colour of a share in [0, 1] of the range: from dark violet over blue and green to pale yellow, lightness rising
/// throughout, equal steps in OKLab.
[[nodiscard]] rgb ramp(double share);

/// For values of two signs: share in [-1, 1], from dark blue over nearly white at 0 to dark red, both halves alike in
/// lightness.
[[nodiscard]] rgb diverging(double share);

/// A colour for each of `count` things such that neighbours differ clearly: hues a golden ratio apart, then for each
/// thing in turn the candidate that is farthest from its coloured neighbours. `pairs` are of different things.
[[nodiscard]] std::vector<oklab> spread_colours(std::size_t count, std::vector<std::array<std::int64_t, 2>> pairs);

}  // namespace nearfield::cli
