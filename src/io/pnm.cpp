// PBM, PGM and PPM, plain (P1 to P3) and raw (P4 to P6): netpbm.sourceforge.net/doc/pbm.html and related pages.
//
// Samples keep their values, whatever maximum the header names. In PBM 1 is black; here, as in Pillow,
// a bitmap is true where it is white, so that black is zero in every picture format.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "io/formats.hpp"

namespace nearfield::io {

namespace {

class reader {
public:
    explicit reader(const source& from) : from_(from) {}

    [[nodiscard]] std::int64_t position() const { return base_ + static_cast<std::int64_t>(at_); }
    /// Returns the next byte, or -1 at the end.
    int get() {
        if (at_ == filled_) {
            base_ += static_cast<std::int64_t>(filled_);
            filled_ = from_.read(base_, buffer_.data(), buffer_.size());
            at_ = 0;
            if (filled_ == 0) return -1;
        }
        return static_cast<int>(buffer_[at_++]);
    }
    /// Returns the next byte that is neither white space nor part of a comment, or -1.
    int get_after_space() {
        for (;;) {
            int c = get();
            if (c == '#')
                while (c != '\n' && c != '\r' && c != -1) c = get();
            if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f') return c;
        }
    }
    /// Reads a decimal number and the one byte after it.
    std::int64_t number(std::string_view what) {
        int c = get_after_space();
        if (c < '0' || c > '9') fail(what, c);
        std::int64_t value = 0;
        for (; c >= '0' && c <= '9'; c = get()) {
            value = value * 10 + (c - '0');
            if (value > (std::int64_t{1} << 40))
                throw bad_file(from_.name(), fmt::format("{} is absurdly large", what));
        }
        if (c == '#')
            while (c != '\n' && c != '\r' && c != -1) c = get();
        const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == -1;
        if (!space) fail(what, c);
        return value;
    }
    [[noreturn]] void fail(std::string_view what, int c) const {
        if (c == -1) throw bad_file(from_.name(), fmt::format("ends inside {}; the file is truncated", what));
        throw bad_file(from_.name(), fmt::format("byte {} is not part of a number where {} should stand", c, what));
    }

private:
    const source& from_;
    std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{1} << 16);
    std::int64_t base_ = 0;
    std::size_t at_ = 0, filled_ = 0;
};

struct pnm_header {
    int kind;  ///< the digit after P
    std::int64_t width, height, maximum = 1;
    [[nodiscard]] bool bitmap() const { return kind == 1 || kind == 4; }
    [[nodiscard]] bool color() const { return kind == 3 || kind == 6; }
    [[nodiscard]] dtype type() const {
        return bitmap() ? dtype::boolean : maximum < 256 ? dtype::uint8 : dtype::uint16;
    }
    [[nodiscard]] std::vector<std::int64_t> shape() const {
        return color() ? std::vector<std::int64_t>{height, width, 3} : std::vector<std::int64_t>{height, width};
    }
};

pnm_header read_header(reader& in, const source& from) {
    const bool is_pnm = in.get() == 'P';
    const int digit = in.get();
    if (!is_pnm || digit < '1' || digit > '6')
        throw bad_file(from.name(), "is not a PBM, PGM or PPM file: it does not start with P1 to P6");
    pnm_header header{.kind = digit - '0', .width = in.number("the width"), .height = in.number("the height")};
    if (!header.bitmap()) header.maximum = in.number("the maximum");
    if (header.width < 1 || header.height < 1 || header.maximum < 1 || header.maximum > 65535)
        throw bad_file(from.name(),
                       fmt::format("says width {}, height {}, maximum {}; expected sizes of 1 or more and a maximum of "
                                   "1 to 65535",
                                   header.width, header.height, header.maximum));
    return header;
}

/// Returns the largest number of array bytes that a raster of this many bytes can fill.
std::int64_t most_bytes(const pnm_header& header, std::int64_t raster) {
    switch (header.kind) {
        case 1: return raster;
        case 2:
        case 3: return (raster + 1) / 2 * size_of(header.type());  // a digit and a space each
        case 4: return std::min(raster, std::int64_t{1} << 58) * 8;
        default: return raster;
    }
}

void store(array& values, std::int64_t i, std::int64_t sample) {
    if (values.type == dtype::uint16) {
        const auto wide = static_cast<std::uint16_t>(sample);
        std::memcpy(values.data.get() + 2 * i, &wide, 2);
    } else {
        values.data[static_cast<std::size_t>(i)] = static_cast<std::byte>(sample);
    }
}

void read_plain(reader& in, const pnm_header& header, array& values, const std::string& name) {
    for (std::int64_t i = 0, n = values.cells(); i < n; ++i) {
        if (header.bitmap()) {
            const int c = in.get_after_space();
            if (c != '0' && c != '1') in.fail("the raster", c);
            store(values, i, c == '0');
        } else {
            const std::int64_t sample = in.number("the raster");
            if (sample > header.maximum)
                throw bad_file(name, fmt::format("sample {} is {}, more than the maximum {} of the header", i, sample,
                                                 header.maximum));
            store(values, i, sample);
        }
    }
}

void read_bitmap(plain_stream& in, const pnm_header& header, array& values) {
    std::vector<std::uint8_t> row(static_cast<std::size_t>((header.width + 7) / 8));
    std::byte* to = values.data.get();
    for (std::int64_t y = 0; y < header.height; ++y) {
        in.exact(row.data(), row.size(), "the raster");
        for (std::int64_t x = 0; x < header.width; ++x)
            *to++ = std::byte{((row[static_cast<std::size_t>(x / 8)] >> (7 - x % 8)) & 1) == 0};
    }
}

template <class T>
void check_maximum(const array& values, std::int64_t maximum, const std::string& name) {
    const auto* at = reinterpret_cast<const T*>(values.data.get());
    const T* top = std::max_element(at, at + values.cells());
    if (*top > maximum)
        throw bad_file(name, fmt::format("a sample is {}, more than the maximum {} of the header", *top, maximum));
}

void read_raw(plain_stream& in, const pnm_header& header, array& values) {
    in.exact(values.data.get(), static_cast<std::size_t>(values.bytes()), "the raster");
    if (values.type == dtype::uint8) {
        check_maximum<std::uint8_t>(values, header.maximum, in.name());
    } else {
        if constexpr (std::endian::native == std::endian::little) swap_bytes(values.data.get(), values.cells(), 2);
        check_maximum<std::uint16_t>(values, header.maximum, in.name());
    }
}

}  // namespace

array read_pnm(const source& from, const read_limits& limits) {
    reader in(from);
    const pnm_header header = read_header(in, from);
    const std::int64_t size = from.known_size().value_or(std::int64_t{1} << 58);
    const std::int64_t raster = std::max<std::int64_t>(size - in.position(), 0);
    if (header.kind == 4 && header.width < (std::int64_t{1} << 40) && header.height > raster / ((header.width + 7) / 8))
        throw bad_file(from.name(),
                       fmt::format("claims {} x {} pixels but holds {} bytes of them; the file is truncated",
                                   header.width, header.height, raster));
    array values = claimed_array(from.name(), header.type(), header.shape(), limits, most_bytes(header, raster));
    values.color = header.color();
    if (header.kind <= 3) {
        read_plain(in, header, values, from.name());
    } else {
        plain_stream rows(from, in.position());
        header.bitmap() ? read_bitmap(rows, header, values) : read_raw(rows, header, values);
    }
    return values;
}

std::string refuse_pnm(const outline& o) {
    if (o.grid_rank() != 2) return "it holds two axes";
    if (o.empty()) return "it cannot be empty";
    if (o.color && o.shape.back() != 3) return "it has no alpha";
    if (o.suffix == ".pbm") return o.type == dtype::boolean && !o.color ? "" : "a bitmap holds bool only";
    if (o.suffix == ".pgm" && o.color) return "it holds gray only, .ppm holds RGB";
    if (o.suffix == ".ppm" && !o.color) return "it holds RGB only, .pgm holds gray";
    if (o.type == dtype::uint8 || o.type == dtype::uint16 || (o.type == dtype::boolean && !o.color)) return {};
    return "it holds bool, uint8 and uint16";
}

namespace {

void write_bitmap(output& to, const array& values) {
    const std::int64_t height = values.shape[0], width = values.shape[1];
    std::vector<std::uint8_t> row(static_cast<std::size_t>((width + 7) / 8));
    const std::byte* from = values.data.get();
    for (std::int64_t y = 0; y < height; ++y) {
        std::ranges::fill(row, std::uint8_t{0});
        for (std::int64_t x = 0; x < width; ++x)
            if (*from++ == std::byte{0})
                row[static_cast<std::size_t>(x / 8)] |= static_cast<std::uint8_t>(0x80 >> (x % 8));
        to.write(row.data(), row.size());
    }
}

}  // namespace

void write_pnm(output& to, const array& values, std::string_view suffix) {
    const bool bitmap = values.type == dtype::boolean && suffix != ".pgm";
    const int maximum = values.type == dtype::boolean ? 1 : values.type == dtype::uint8 ? 255 : 65535;
    to.write(fmt::format("P{}\n{} {}\n", bitmap ? 4 : values.color ? 6 : 5, values.shape[1], values.shape[0]));
    if (bitmap) return write_bitmap(to, values);
    to.write(fmt::format("{}\n", maximum));
    if (size_of(values.type) == 1 || std::endian::native == std::endian::big)
        return to.write(values.data.get(), static_cast<std::size_t>(values.bytes()));
    const std::int64_t row_samples = values.cells() / values.shape[0];
    std::vector<std::uint16_t> row(static_cast<std::size_t>(row_samples));
    for (std::int64_t y = 0; y < values.shape[0]; ++y) {
        std::memcpy(row.data(), values.data.get() + y * row_samples * 2, row.size() * 2);
        swap_bytes(row.data(), row_samples, 2);
        to.write(row.data(), row.size() * 2);
    }
}

}  // namespace nearfield::io
