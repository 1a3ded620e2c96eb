// GIF that moves: pictures of 15 grays, one after another, each as what changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "io/bytes.hpp"

namespace nearfield::io {

/// A file that appears whole, at commit(), or not at all. It repeats for ever.
class gray_animation {
public:
    /// Sides of 1 to 65535 pixels. Throws error(io).
    gray_animation(const std::filesystem::path& path, int width, int height);

    /// Adds a picture, row by row, that is shown for so many hundredths of a second; grays are rounded to i 255 / 14.
    void add(std::span<const std::uint8_t> pixels, int hundredths);
    void commit();

private:
    output to_;
    int width_, height_;
    std::vector<std::uint8_t> shown_;  ///< numbers of grays; empty before the first picture
};

}  // namespace nearfield::io
