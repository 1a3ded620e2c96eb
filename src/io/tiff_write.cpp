// TIFF over libtiff, writing: the leading axis of three becomes pages; BigTIFF where 32-bit offsets do not reach.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "io/formats.hpp"
#include "io/tiff_handle.hpp"

namespace nearfield::io {

std::string refuse_tiff(const outline& o) {
    if (o.grid_rank() != 2 && o.grid_rank() != 3) return "it holds two axes, or pages of two axes";
    if (o.empty()) return "it cannot be empty";
    if (std::ranges::any_of(o.shape, [](std::int64_t n) { return n > std::numeric_limits<std::int32_t>::max(); }))
        return "a side is limited to 2^31 - 1";
    // Page numbers have 16 bits in most readers.
    if (o.grid_rank() == 3 && o.shape[0] > 65535) return "it holds at most 65535 pages";
    if (o.color && o.type == dtype::boolean) return "a colour bitmap does not exist in it";
    return {};
}

namespace {

struct layout {
    std::int64_t pages = 1, height = 0, width = 0, samples = 1, row_bytes = 0;
    std::uint32_t rows_per_strip = 1;
};

layout layout_of(const array& values) {
    layout l;
    const bool stack = values.grid_rank() == 3;
    l.pages = stack ? values.shape[0] : 1;
    l.height = values.shape[stack ? 1 : 0];
    l.width = values.shape[stack ? 2 : 1];
    l.samples = values.color ? values.shape.back() : 1;
    l.row_bytes = l.width * l.samples * size_of(values.type);
    // About 256 KiB a strip: deflate works well from there on, and a reader needs little at once.
    l.rows_per_strip = static_cast<std::uint32_t>(std::clamp<std::int64_t>((1 << 18) / l.row_bytes, 1, l.height));
    return l;
}

int sample_format(dtype type) {
    if (type >= dtype::float16) return SAMPLEFORMAT_IEEEFP;
    const bool is_signed = type == dtype::int8 || type == dtype::int16 || type == dtype::int32 || type == dtype::int64;
    return is_signed ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
}

void set_spacing(TIFF* tiff, const array& values, const layout& l) {
    if (values.spacing.empty()) return;
    const std::size_t last = values.spacing.size() - 1;
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 1.0 / values.spacing[last]);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 1.0 / values.spacing[last - 1]);
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
    // ImageJ's convention: the unit, and the distance between pages, which TIFF has no field for.
    std::string text = "ImageJ=1.53a\n";
    if (l.pages > 1) text += fmt::format("images={0}\nslices={0}\n", l.pages);
    // A line of its own; what does not fit on one is left out.
    const bool one_line = std::ranges::none_of(values.unit, [](unsigned char c) { return c < ' ' || c == 127; });
    if (!values.unit.empty() && one_line) text += fmt::format("unit={}\n", values.unit);
    if (last == 2) text += fmt::format("spacing={}\n", values.spacing[0]);
    TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, text.c_str());
}

void set_fields(TIFF* tiff, const array& values, const layout& l, compression wanted) {
    const int bits = values.type == dtype::boolean ? 1 : static_cast<int>(8 * size_of(values.type));
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(l.width));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(l.height));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(l.samples));
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, sample_format(values.type));
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, values.color ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, l.rows_per_strip);
    if (l.samples == 4) {
        const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    }
    const bool deflate = deflates(wanted, values.type) && TIFFIsCODECConfigured(COMPRESSION_ADOBE_DEFLATE) != 0;
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, deflate ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
}

std::vector<std::byte> pack_bits(const std::byte* from, std::int64_t rows, std::int64_t width) {
    const std::int64_t row_bytes = (width + 7) / 8;
    std::vector<std::byte> packed(static_cast<std::size_t>(rows * row_bytes));
    for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < width; ++x)
            if (*from++ != std::byte{0})
                packed[static_cast<std::size_t>(y * row_bytes + x / 8)] |= std::byte{0x80} >> (x % 8);
    return packed;
}

void write_page(const tiff_handle& handle, const array& values, const layout& l, std::int64_t number) {
    const std::byte* from = values.data.get() + number * l.height * l.row_bytes;
    std::uint32_t strip = 0;
    std::vector<std::byte> scratch;
    for (std::int64_t y = 0; y < l.height; y += l.rows_per_strip, ++strip) {
        const std::int64_t rows = std::min<std::int64_t>(l.rows_per_strip, l.height - y);
        const std::byte* at = from + y * l.row_bytes;
        // A copy in any case: libtiff may change the bytes it is given.
        if (values.type == dtype::boolean) scratch = pack_bits(at, rows, l.width);
        else scratch.assign(at, at + rows * l.row_bytes);
        const auto n =
            TIFFWriteEncodedStrip(handle.get(), strip, scratch.data(), static_cast<tmsize_t>(scratch.size()));
        handle.check(n == static_cast<tmsize_t>(scratch.size()), "writing");
    }
}

}  // namespace

void write_tiff(output& to, const array& values, compression wanted) {
    const layout l = layout_of(values);
    // 2^32 less what directories and badly compressing strips can add.
    constexpr std::int64_t classic = std::int64_t{4'000'000'000};
    tiff_handle handle(to, values.bytes() + l.pages * 4096 > classic);
    for (std::int64_t number = 0; number < l.pages; ++number) {
        set_fields(handle.get(), values, l, wanted);
        if (number == 0) set_spacing(handle.get(), values, l);
        write_page(handle, values, l, number);
        handle.check(TIFFWriteDirectory(handle.get()) == 1, "writing");
    }
    handle.close();
}

}  // namespace nearfield::io
