// Animated GIF of 15 grays. Each picture stores only the rectangle that changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "io/bytes.hpp"

namespace nearfield::io {

/// A file that appears complete at commit(), or not at all. The animation repeats for ever.
class gray_animation {
public:
    /// Sides have 1 to 65535 pixels. Throws error(io).
    gray_animation(const std::filesystem::path& path, int width, int height);

    /// Adds a picture, row by row, shown for `hundredths` of a second; grays are rounded to multiples of 255 / 14.
    void add(std::span<const std::uint8_t> pixels, int hundredths);
    void commit();

private:
    output to_;
    int width_, height_;
    std::vector<std::uint8_t> shown_;  ///< indices of grays; empty before the first picture
};

}  // namespace nearfield::io
