// Colours whose visible differences match the differences of the values they stand for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace nearfield::cli {

struct rgb {
    std::uint8_t red = 0, green = 0, blue = 0;
    friend bool operator==(const rgb&, const rgb&) = default;
};

/// Lightness 0..1 and two opponent axes; Euclidean distance approximates the perceived difference.
/// Ottosson, "A perceptual color space for image processing", 2020.
struct oklab {
    double lightness = 0, a = 0, b = 0;
};

[[nodiscard]] oklab to_oklab(const rgb& colour);
/// Converts to sRGB. Lowers chroma until a screen can show the colour; keeps lightness and hue.
[[nodiscard]] rgb to_rgb(const oklab& colour);
/// A colour by lightness, chroma and hue, which is in turns.
[[nodiscard]] oklab from_hue(double lightness, double chroma, double hue);
[[nodiscard]] double difference(const oklab& x, const oklab& y);
[[nodiscard]] rgb mix(const rgb& below, const rgb& above, double coverage);

/// The colour for a share in [0, 1] of a range: from dark violet over blue and green to pale yellow. Lightness rises
/// throughout, in equal steps of OKLab.
[[nodiscard]] rgb ramp(double share);

/// The colour for a signed share in [-1, 1]: from dark blue over nearly white at 0 to dark red. Both halves have the
/// same lightness.
[[nodiscard]] rgb diverging(double share);

/// Colours for `count` things such that neighbours differ clearly. Takes hues a golden ratio apart, and for each thing
/// in turn the candidate that is farthest from its coloured neighbours. `pairs` join different things.
[[nodiscard]] std::vector<oklab> spread_colours(std::size_t count, std::vector<std::array<std::int64_t, 2>> pairs);

}  // namespace nearfield::cli
