#include "io/gif_write.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace nearfield::io {
namespace {

/// A pixel has 4 bits: one of 15 grays, or the index of a transparent pixel, which keeps the picture before.
constexpr int bits = 4, grays = 15;
constexpr std::uint8_t kept = 15;
constexpr int clear_code = 1 << bits, end_code = clear_code + 1, first_code = clear_code + 2, most_codes = 4096;

std::string word(int value) { return {static_cast<char>(value & 255), static_cast<char>(value >> 8)}; }

/// Writes LZW codes of pixels, in blocks of at most 255 bytes. It extends a string of pixels that has a code by the
/// next pixel, until the string has none.
class lzw_writer {
public:
    explicit lzw_writer(std::string& to) : to_(to), code_of_(std::size_t{most_codes} << bits) { clear(); }

    void write(std::span<const std::uint8_t> pixels) {
        int string = pixels[0];
        for (const std::uint8_t next : pixels.subspan(1)) {
            std::uint16_t& longer = code_of_[static_cast<std::size_t>(string) << bits | next];
            if (longer != 0) {
                string = longer;
                continue;
            }
            put(string);
            longer = static_cast<std::uint16_t>(next_);
            grow();
            if (next_ == most_codes) clear();
            string = next;
        }
        put(string);
        grow();
        put(end_code);
        if (have_ > 0) byte();
        if (!block_.empty()) flush();
        to_ += '\0';
    }

private:
    /// Readers add a code one step later, and widen codes after the last one of a width was assigned.
    void grow() {
        if (++next_ == (1 << width_) + 1 && width_ < 12) ++width_;
    }
    void clear() {
        put(clear_code);
        code_of_.assign(code_of_.size(), 0), next_ = first_code, width_ = bits + 1;
    }
    void put(int code) {
        pending_ |= static_cast<std::uint32_t>(code) << have_, have_ += width_;
        while (have_ >= 8) byte();
    }
    void byte() {
        block_ += static_cast<char>(pending_ & 255), pending_ >>= 8, have_ -= 8;
        if (block_.size() == 255) flush();
    }
    void flush() {
        to_ += static_cast<char>(block_.size());
        to_ += block_;
        block_.clear();
    }

    std::string& to_;
    std::string block_;
    std::vector<std::uint16_t> code_of_;  ///< indexed by a string's code and the next pixel; 0: none
    int next_ = first_code, width_ = bits + 1, have_ = 0;
    std::uint32_t pending_ = 0;
};

}  // namespace

gray_animation::gray_animation(const std::filesystem::path& path, int width, int height)
    : to_(path), width_(width), height_(height) {
    std::string head = "GIF89a" + word(width) + word(height) + std::string("\xf3\0\0", 3);
    for (int gray = 0; gray <= grays; ++gray)
        head += std::string(3, static_cast<char>((std::min(gray, grays - 1) * 255 + 7) / (grays - 1)));
    to_.write(head + std::string("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19));
}

void gray_animation::add(std::span<const std::uint8_t> pixels, int hundredths) {
    const bool first = shown_.empty();
    if (first) shown_.assign(pixels.size(), kept);
    int left = width_, right = -1, top = height_, bottom = -1;  // bounds of the changed pixels
    std::vector<std::uint8_t> next(pixels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const auto gray = static_cast<std::uint8_t>((pixels[i] * (grays - 1) + 127) / 255);
        next[i] = gray == shown_[i] ? kept : gray;
        if (next[i] == kept) continue;
        shown_[i] = gray;
        const int x = static_cast<int>(i) % width_, y = static_cast<int>(i) / width_;
        left = std::min(left, x), right = std::max(right, x), top = std::min(top, y), bottom = std::max(bottom, y);
    }
    if (right < 0) left = right = top = bottom = 0;
    std::vector<std::uint8_t> part;
    for (int y = top; y <= bottom; ++y)
        part.insert(part.end(), next.begin() + std::ptrdiff_t{y} * width_ + left,
                    next.begin() + std::ptrdiff_t{y} * width_ + right + 1);
    std::string made = std::string("\x21\xf9\x04\x05", 4) + word(hundredths) + static_cast<char>(kept) +
                       std::string("\0\x2c", 2) + word(left) + word(top) + word(right - left + 1) +
                       word(bottom - top + 1) + '\0' + static_cast<char>(bits);
    lzw_writer(made).write(part);
    to_.write(made);
}

void gray_animation::commit() {
    to_.write(";");
    to_.commit();
}

}  // namespace nearfield::io
