// TIFF by libtiff, writing: the axes before the last two become pages; BigTIFF if 32-bit offsets are too small.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "io/formats.hpp"
#include "io/geotiff.hpp"
#include "io/tiff_handle.hpp"

namespace nearfield::io {

namespace {

/// ImageJ's order of pages, slowest first.
constexpr axis_kind page_order[] = {axis_kind::time, axis_kind::space, axis_kind::channel};
constexpr const char* page_names[] = {"frames", "slices", "channels"};

/// Returns which axes before the last two are frames, slices and channels; -1: none. Returns nothing if other axes
/// exist, or two of one kind.
std::optional<std::array<int, 3>> page_axes(int grid_rank, std::span<const axis_kind> axes) {
    std::array<int, 3> found{-1, -1, -1};
    for (int a = 0; a + 2 < grid_rank; ++a) {
        const axis_kind kind = axes.empty() ? axis_kind::space : axes[static_cast<std::size_t>(a)];
        const auto at = std::ranges::find(page_order, kind) - std::begin(page_order);
        if (at == std::ssize(page_order) || found[static_cast<std::size_t>(at)] >= 0) return std::nullopt;
        found[static_cast<std::size_t>(at)] = a;
    }
    const bool plane = axes.empty() || (grid_rank >= 2 && axes[axes.size() - 2] == axis_kind::space);
    return plane ? std::optional(found) : std::nullopt;
}

}  // namespace

std::string refuse_tiff(const outline& o) {
    const int rank = o.grid_rank();
    // Pages of any other meaning are written, too, but their meaning is lost.
    if (rank != 2 && rank != 3 && !(rank > 3 && page_axes(rank, o.axes)))
        return "it holds two axes, or pages of two axes: slices, frames and channels";
    if (o.empty()) return "it cannot be empty";
    if (std::ranges::any_of(o.shape, [](std::int64_t n) { return n > std::numeric_limits<std::int32_t>::max(); }))
        return "a side is limited to 2^31 - 1";
    // Most readers have 16-bit page numbers.
    std::int64_t pages = 1;
    for (int a = 0; a + 2 < rank; ++a)
        pages = std::min<std::int64_t>(pages, 65536) * o.shape[static_cast<std::size_t>(a)];
    if (pages > 65535) return "it holds at most 65535 pages";
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
    const auto leading = static_cast<std::size_t>(values.grid_rank() - 2);
    for (std::size_t a = 0; a < leading; ++a) l.pages *= values.shape[a];
    l.height = values.shape[leading];
    l.width = values.shape[leading + 1];
    l.samples = values.color ? values.shape.back() : 1;
    l.row_bytes = l.width * l.samples * size_of(values.type);
    // About 256 KiB per strip: larger strips do not deflate better, and a reader needs little memory at once.
    l.rows_per_strip = static_cast<std::uint32_t>(std::clamp<std::int64_t>((1 << 18) / l.row_bytes, 1, l.height));
    return l;
}

int sample_format(dtype type) {
    if (type >= dtype::float16) return SAMPLEFORMAT_IEEEFP;
    const bool is_signed = type == dtype::int8 || type == dtype::int16 || type == dtype::int32 || type == dtype::int64;
    return is_signed ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
}

void set_spacing(TIFF* tiff, const array& values, const layout& l) {
    const auto axes = page_axes(values.grid_rank(), values.axes);
    if (!axes || (values.spacing.empty() && l.pages == 1)) return;
    if (!values.spacing.empty()) {
        const std::size_t last = values.spacing.size() - 1;
        TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 1.0 / values.spacing[last]);
        TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 1.0 / values.spacing[last - 1]);
        TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
    }
    // ImageJ's convention stores the meaning of pages, the unit, and the distance of slices, which no TIFF field holds.
    std::string text = "ImageJ=1.53a\n";
    if (l.pages > 1) text += fmt::format("images={}\n", l.pages);
    for (std::size_t i = 0; i < axes->size(); ++i)
        if ((*axes)[i] >= 0 && l.pages > 1)
            text += fmt::format("{}={}\n", page_names[i], values.shape[static_cast<std::size_t>((*axes)[i])]);
    if (values.axes.size() > 3) text += "hyperstack=true\n";
    // The unit is one line; a unit that does not fit on one line is left out.
    const bool one_line = std::ranges::none_of(values.unit, [](unsigned char c) { return c < ' ' || c == 127; });
    if (!values.spacing.empty() && !values.unit.empty() && one_line) text += fmt::format("unit={}\n", values.unit);
    if (!values.spacing.empty() && (*axes)[1] >= 0)
        text += fmt::format("spacing={}\n", values.spacing[static_cast<std::size_t>((*axes)[1])]);
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
        // It always copies: libtiff may change the bytes that it is given.
        if (values.type == dtype::boolean) scratch = pack_bits(at, rows, l.width);
        else scratch.assign(at, at + rows * l.row_bytes);
        const auto n =
            TIFFWriteEncodedStrip(handle.get(), strip, scratch.data(), static_cast<tmsize_t>(scratch.size()));
        handle.check(n == static_cast<tmsize_t>(scratch.size()), "writing");
    }
}

void write_pages(output& to, const array& values, compression wanted) {
    const layout l = layout_of(values);
    // 2^32 minus the most that directories and badly compressed strips can add.
    constexpr std::int64_t classic = std::int64_t{4'000'000'000};
    tiff_handle handle(to, values.bytes() + l.pages * 4096 > classic);
    for (std::int64_t number = 0; number < l.pages; ++number) {
        set_fields(handle.get(), values, l, wanted);
        if (number == 0) set_spacing(handle.get(), values, l), write_place(handle.get(), values.place);
        write_page(handle, values, l, number);
        handle.check(TIFFWriteDirectory(handle.get()) == 1, "writing");
    }
    handle.close();
}

}  // namespace

void write_tiff(output& to, const array& values, compression wanted) {
    std::vector<std::size_t> order;
    for (const int a : page_axes(values.grid_rank(), values.axes).value_or(std::array<int, 3>{}))
        if (a >= 0 && values.grid_rank() > 3) order.push_back(static_cast<std::size_t>(a));
    if (!std::ranges::is_sorted(order)) {
        for (std::size_t a = order.size(); std::ssize(order) < values.grid_rank(); ++a) order.push_back(a);
        return write_pages(to, permuted(values, order), wanted);
    }
    write_pages(to, values, wanted);
}

}  // namespace nearfield::io
