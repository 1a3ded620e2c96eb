// GIF: w3.org/Graphics/GIF/spec-gif89a.txt. Reads the first picture of a file, in its own size.
#include <fmt/format.h>

#include "io/palette.hpp"

namespace nearfield::io {

namespace {

/// Bound of the pixels per byte of LZW code: codes have at least 3 bits, and strings at most 4096 pixels.
constexpr std::int64_t most_pixels_a_byte = 3 * 4096;

class gif_reader {
public:
    explicit gif_reader(const source& from) : from_(from) {}

    std::uint8_t byte() {
        if (at_ == filled_) {
            filled_ = from_.read(base_, buffer_.data(), buffer_.size()), at_ = 0;
            base_ += static_cast<std::int64_t>(filled_);
            if (filled_ == 0) throw bad("it ends early; the file is truncated");
        }
        return buffer_[at_++];
    }
    std::int64_t word() {
        const int low = byte();
        return low + 256 * byte();
    }
    void skip(std::int64_t count) {
        while (count-- > 0) byte();
    }
    std::vector<palette_color> table(int flags) {
        std::vector<palette_color> colors(std::size_t{2} << (flags & 7));
        for (palette_color& each : colors)
            for (std::uint8_t& sample : each) sample = byte();
        return colors;
    }
    /// Returns the next bits of the picture's data, which is stored in blocks, or -1 after its end.
    int code(int bits) {
        for (; have_ < bits; have_ += 8) {
            if (block_ == 0 && (block_ = ended_ ? 0 : byte()) == 0) {
                ended_ = true;
                return -1;
            }
            --block_, pending_ |= static_cast<std::uint32_t>(byte()) << have_;
        }
        const int taken = static_cast<int>(pending_ & ((1U << bits) - 1));
        pending_ >>= bits, have_ -= bits;
        return taken;
    }
    [[nodiscard]] error bad(std::string_view what) const {
        return bad_file(from_.name(), fmt::format("bad GIF: {}", what));
    }

private:
    const source& from_;
    std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(std::size_t{1} << 14);
    std::int64_t base_ = 0;
    std::size_t at_ = 0, filled_ = 0;
    int block_ = 0, have_ = 0;
    std::uint32_t pending_ = 0;
    bool ended_ = false;
};

/// Strings of pixels by code: each consists of a shorter string and a last pixel.
class lzw {
public:
    lzw(gif_reader& in, int bits) : in_(in), clear_(1 << bits), bits_(bits) { reset(); }

    void read(std::vector<std::uint8_t>& pixels, std::size_t count) {
        int before = -1;
        while (pixels.size() < count) {
            const int code = in_.code(width_);
            if (code < 0 || code == clear_ + 1) throw in_.bad("its picture ends early; the file is truncated");
            if (code == clear_) {
                reset(), before = -1;
                continue;
            }
            if (code > next_ || (code == next_ && before < 0)) throw in_.bad("its picture has a code that is none");
            put(code == next_ ? before : code, code == next_, pixels, count);
            if (before >= 0 && next_ < 4096) {
                prefix_[static_cast<std::size_t>(next_)] = static_cast<std::uint16_t>(before);
                last_[static_cast<std::size_t>(next_)] = first_;
                if (++next_ == 1 << width_ && width_ < 12) ++width_;
            }
            before = code;
        }
    }

private:
    void reset() { next_ = clear_ + 2, width_ = bits_ + 1; }

    /// Appends the string of a code, which is stored from its end, and its first pixel once more if `again` is set.
    void put(int code, bool again, std::vector<std::uint8_t>& pixels, std::size_t count) {
        std::size_t length = 0;
        while (code >= clear_) {
            string_[length++] = last_[static_cast<std::size_t>(code)];
            code = prefix_[static_cast<std::size_t>(code)];
        }
        string_[length++] = first_ = static_cast<std::uint8_t>(code);
        while (length > 0 && pixels.size() < count) pixels.push_back(string_[--length]);
        if (again && pixels.size() < count) pixels.push_back(first_);
    }

    gif_reader& in_;
    int clear_, bits_, next_ = 0, width_ = 0;
    std::uint8_t first_ = 0;
    std::vector<std::uint16_t> prefix_ = std::vector<std::uint16_t>(4096);
    std::vector<std::uint8_t> last_ = std::vector<std::uint8_t>(4096), string_ = std::vector<std::uint8_t>(4097);
};

/// Sorts the rows of an interlaced picture, which stores every eighth row first, then those between, and so on.
std::vector<std::uint8_t> in_order(const std::vector<std::uint8_t>& rows, std::size_t height, std::size_t width) {
    std::vector<std::uint8_t> sorted(rows.size());
    std::size_t from = 0;
    constexpr std::size_t starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    for (std::size_t pass = 0; pass < 4; ++pass)
        for (std::size_t y = starts[pass]; y < height; y += steps[pass], from += width)
            std::copy_n(rows.data() + from, width, sorted.data() + y * width);
    return sorted;
}

}  // namespace

array read_gif(const source& from, const read_limits& limits) {
    gif_reader in(from);
    std::string start;
    for (int i = 0; i < 6; ++i) start += static_cast<char>(in.byte());
    if (start != "GIF87a" && start != "GIF89a") throw in.bad("it does not start with GIF87a or GIF89a");
    in.skip(4);
    const int screen = in.byte();
    in.skip(2);
    std::vector<palette_color> colors;
    if ((screen & 0x80) != 0) colors = in.table(screen);
    for (int kind = in.byte(); kind != ','; kind = in.byte()) {
        if (kind != '!') throw in.bad("it has no picture");
        in.skip(1);
        for (int size = in.byte(); size != 0; size = in.byte()) in.skip(size);
    }
    in.skip(4);
    const std::int64_t width = in.word(), height = in.word();
    const int flags = in.byte();
    if ((flags & 0x80) != 0) colors = in.table(flags);
    const int bits = in.byte();
    if (bits < 1 || bits > 8 || width == 0 || height == 0 || colors.empty())
        throw in.bad(
            fmt::format("it claims {} x {} pixels of {} bits and {} colours", width, height, bits, colors.size()));
    // Nothing is allocated for sizes that the file cannot hold or that exceed the limits.
    static_cast<void>(
        claimed_array(from.name(), dtype::uint8, {height, width}, limits, from.size() * most_pixels_a_byte));
    std::vector<std::uint8_t> pixels;
    lzw(in, bits).read(pixels, static_cast<std::size_t>(width * height));
    if ((flags & 0x40) != 0)
        pixels = in_order(pixels, static_cast<std::size_t>(height), static_cast<std::size_t>(width));
    return with_palette(from.name(), pixels, height, width, colors, limits);
}

}  // namespace nearfield::io
