// BMP: learn.microsoft.com/windows/win32/gdi/bitmap-storage. 1, 4, 8, 24 and 32 bits a pixel, not compressed.
#include <fmt/format.h>

#include "io/palette.hpp"

namespace nearfield::io {

namespace {

struct bmp_header {
    std::int64_t data_at = 0, table_at = 0, colors = 0, width = 0, height = 0;
    int bits = 0, entry_bytes = 4;
    bool from_top = false;

    /// Returns the bytes of a row, which is padded to a multiple of 4.
    [[nodiscard]] std::int64_t row_bytes() const { return (width * bits + 31) / 32 * 4; }
};

bmp_header header_of(const source& from) {
    unsigned char raw[54] = {};
    const std::size_t came = from.read(0, raw, sizeof raw);
    const auto bad = [&](const std::string& what) { return bad_file(from.name(), "bad BMP: " + what); };
    if (came < 26 || raw[0] != 'B' || raw[1] != 'M') throw bad("it does not start with BM and a header");
    bmp_header h;
    h.data_at = load<std::uint32_t>(raw + 10);
    const auto size = load<std::uint32_t>(raw + 14);
    h.table_at = 14 + static_cast<std::int64_t>(size);
    std::uint32_t packed = 0;
    if (size == 12) {
        h.width = load<std::uint16_t>(raw + 18), h.height = load<std::uint16_t>(raw + 20);
        h.bits = load<std::uint16_t>(raw + 24), h.entry_bytes = 3;
    } else if (size >= 40 && size <= 1024 && came == sizeof raw) {
        h.width = load<std::int32_t>(raw + 18), h.height = load<std::int32_t>(raw + 22);
        h.bits = load<std::uint16_t>(raw + 28), packed = load<std::uint32_t>(raw + 30);
        h.colors = load<std::uint32_t>(raw + 46);
    } else {
        throw bad(fmt::format("a header of {} bytes", size));
    }
    h.from_top = h.height < 0, h.height = h.from_top ? -h.height : h.height;
    if (h.width < 1 || h.height < 1) throw bad(fmt::format("it claims {} x {} pixels", h.width, h.height));
    const bool bit_fields = packed == 3 && h.bits == 32;  // the usual masks: blue first
    if (packed != 0 && !bit_fields) throw bad("it is compressed, which is not supported; save it without");
    if (h.bits != 1 && h.bits != 4 && h.bits != 8 && h.bits != 24 && h.bits != 32)
        throw bad(fmt::format("{} bits a pixel, expected 1, 4, 8, 24 or 32", h.bits));
    if (bit_fields) {
        unsigned char masks[12] = {};
        static_cast<void>(from.read(54, masks, sizeof masks));
        if (load<std::uint32_t>(masks) != 0xff0000 || load<std::uint32_t>(masks + 4) != 0xff00 ||
            load<std::uint32_t>(masks + 8) != 0xff)
            throw bad("its samples are not bytes of blue, green, red; save it with 24 bits a pixel");
    }
    return h;
}

std::vector<palette_color> table_of(const source& from, const bmp_header& h) {
    const std::int64_t most = std::int64_t{1} << h.bits;
    std::vector<palette_color> table(static_cast<std::size_t>(h.colors < 1 ? most : std::min(h.colors, most)));
    std::vector<unsigned char> raw(table.size() * static_cast<std::size_t>(h.entry_bytes));
    plain_stream(from, h.table_at).exact(raw.data(), raw.size(), "the colours");
    for (std::size_t i = 0; i < table.size(); ++i)
        for (std::size_t sample = 0; sample < 3; ++sample)
            table[i][sample] = raw[i * static_cast<std::size_t>(h.entry_bytes) + 2 - sample];
    return table;
}

}  // namespace

array read_bmp(const source& from, const read_limits& limits) {
    const bmp_header h = header_of(from);
    const std::int64_t row_bytes = h.row_bytes(), there = from.size() - h.data_at;
    if (h.height > there / row_bytes)
        throw bad_file(from.name(),
                       fmt::format("claims {} x {} pixels but holds {} bytes of them; the file is truncated", h.width,
                                   h.height, std::max<std::int64_t>(there, 0)));
    const auto cell = [&](std::int64_t row, std::int64_t column) {
        return static_cast<std::size_t>((h.from_top ? row : h.height - 1 - row) * h.width + column);
    };
    std::vector<unsigned char> row(static_cast<std::size_t>(row_bytes));
    plain_stream rows(from, h.data_at);
    if (h.bits <= 8) {
        static_cast<void>(claimed_array(from.name(), dtype::uint8, {h.height, h.width}, limits, std::nullopt));
        std::vector<std::uint8_t> index(static_cast<std::size_t>(h.height * h.width));
        for (std::int64_t y = 0; y < h.height; ++y) {
            rows.exact(row.data(), row.size(), "the pixels");
            for (std::int64_t x = 0; x < h.width; ++x) {
                const std::int64_t bit = x * h.bits;
                const int shift = static_cast<int>(8 - h.bits - bit % 8);
                index[cell(y, x)] =
                    static_cast<std::uint8_t>(row[static_cast<std::size_t>(bit / 8)] >> shift & ((1 << h.bits) - 1));
            }
        }
        return with_palette(from.name(), index, h.height, h.width, table_of(from, h), limits);
    }
    array values = claimed_array(from.name(), dtype::uint8, {h.height, h.width, 3}, limits, std::nullopt);
    values.color = true;
    const std::size_t step = static_cast<std::size_t>(h.bits / 8);
    for (std::int64_t y = 0; y < h.height; ++y) {
        rows.exact(row.data(), row.size(), "the pixels");
        for (std::int64_t x = 0; x < h.width; ++x)
            for (std::size_t sample = 0; sample < 3; ++sample)
                values.data[3 * cell(y, x) + sample] = std::byte{row[static_cast<std::size_t>(x) * step + 2 - sample]};
    }
    return values;
}

}  // namespace nearfield::io
