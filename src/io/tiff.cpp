// TIFF by libtiff, reading: pages become the leading axis, or several axes if the description says so.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "io/formats.hpp"
#include "io/geotiff.hpp"
#include "io/tiff_description.hpp"
#include "io/tiff_handle.hpp"

namespace nearfield::io {

namespace {

struct page {
    std::uint32_t width = 0, height = 0;
    std::uint16_t bits = 1, samples = 1, sample_format = SAMPLEFORMAT_UINT, photometric = PHOTOMETRIC_MINISBLACK;
    std::uint16_t planar = PLANARCONFIG_CONTIG, compression = COMPRESSION_NONE;
    bool tiled = false;
    std::uint32_t tile_width = 0, tile_height = 0;  ///< size of a tile, or width and rows of a strip

    [[nodiscard]] bool same_array_as(const page& o) const {
        return width == o.width && height == o.height && bits == o.bits && samples == o.samples &&
               sample_format == o.sample_format;
    }
    [[nodiscard]] std::string text() const {
        return fmt::format("{} x {} pixels of {} samples of {} bits (format {})", width, height, samples, bits,
                           sample_format);
    }
};

std::uint16_t field16(TIFF* tiff, std::uint32_t tag, std::uint16_t otherwise) {
    std::uint16_t value = 0;
    return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : otherwise;
}
std::uint32_t field32(TIFF* tiff, std::uint32_t tag, std::uint32_t otherwise) {
    std::uint32_t value = 0;
    return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : otherwise;
}

page read_page(const tiff_handle& handle) {
    TIFF* tiff = handle.get();
    page p;
    p.width = field32(tiff, TIFFTAG_IMAGEWIDTH, 0);
    p.height = field32(tiff, TIFFTAG_IMAGELENGTH, 0);
    p.bits = field16(tiff, TIFFTAG_BITSPERSAMPLE, 1);
    p.samples = field16(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    p.sample_format = field16(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    p.photometric = field16(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    p.planar = field16(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    p.compression = field16(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    if (p.compression == COMPRESSION_JPEG && p.photometric == PHOTOMETRIC_YCBCR) {
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        p.photometric = PHOTOMETRIC_RGB;
    }
    p.tiled = TIFFIsTiled(tiff) != 0;
    p.tile_width = p.tiled ? field32(tiff, TIFFTAG_TILEWIDTH, 0) : p.width;
    p.tile_height = p.tiled ? field32(tiff, TIFFTAG_TILELENGTH, 0)
                            : std::min(field32(tiff, TIFFTAG_ROWSPERSTRIP, p.height), p.height);
    if (p.width == 0 || p.height == 0 || p.tile_width == 0 || p.tile_height == 0)
        throw bad_file(handle.name(), "bad TIFF: a page, strip or tile has no pixels");
    return p;
}

dtype type_of(const page& p, const std::string& name) {
    const bool whole = p.sample_format == SAMPLEFORMAT_UINT || p.sample_format == SAMPLEFORMAT_VOID;
    switch (p.bits) {
        case 1:
            if (whole) return dtype::boolean;
            break;
        case 2:
        case 4:
            if (whole) return dtype::uint8;
            break;
        case 8:
        case 16:
        case 32:
        case 64: {
            if (p.sample_format == SAMPLEFORMAT_IEEEFP && p.bits > 8)
                return p.bits == 16 ? dtype::float16 : p.bits == 32 ? dtype::float32 : dtype::float64;
            const int log2_size = p.bits == 8 ? 0 : p.bits == 16 ? 1 : p.bits == 32 ? 2 : 3;
            if (whole || p.sample_format == SAMPLEFORMAT_INT)
                return static_cast<dtype>(1 + 2 * log2_size + (whole ? 1 : 0));
            break;
        }
        default: break;
    }
    throw bad_file(
        name,
        fmt::format("TIFF samples of {} bits and format {} are not supported; expected 1, 2, 4, 8, 16, 32 or 64 bits "
                    "as integers, or 16, 32 or 64 as floating point",
                    p.bits, p.sample_format));
}

void check_samples(const page& p, const std::string& name) {
    const bool gray = p.photometric == PHOTOMETRIC_MINISBLACK || p.photometric == PHOTOMETRIC_MINISWHITE ||
                      p.photometric == PHOTOMETRIC_PALETTE || p.photometric == PHOTOMETRIC_MASK;
    const bool rgb = p.photometric == PHOTOMETRIC_RGB;
    if ((gray && p.samples == 1) || (rgb && (p.samples == 3 || p.samples == 4))) return;
    throw bad_file(
        name,
        fmt::format("TIFF with {} samples a pixel and photometric {} is not supported; expected gray (1 sample), RGB "
                    "or RGBA; convert it with another tool",
                    p.samples, p.photometric));
}

/// Bound of the bytes that one compressed byte can become. LZW codes name strings of up to 4096 bytes, CCITT codes
/// whole blank rows with one bit, and the others have runs nearly as long.
std::int64_t expansion(std::uint16_t compression) {
    switch (compression) {
        case COMPRESSION_NONE: return 1;
        case COMPRESSION_PACKBITS: return 64;
        case COMPRESSION_LZW: return 4096;
        case COMPRESSION_ADOBE_DEFLATE:
        case COMPRESSION_DEFLATE: return deflate_ratio;
        case COMPRESSION_JPEG: return 1024;
        default: return std::int64_t{1} << 18;
    }
}

/// Bound of the array bytes that a file of this size can hold.
std::int64_t most_bytes(const page& p, std::int64_t file_size) {
    const std::int64_t unpacked = p.bits < 8 ? 8 / p.bits : 1;
    return std::min(file_size, std::int64_t{1} << 40) * expansion(p.compression) * unpacked;
}

/// One strip or tile, and its position on the page.
struct chunk {
    std::uint32_t x = 0, y = 0, width = 0, height = 0;  ///< pixels on the page
    std::uint16_t plane = 0;
    std::int64_t row_bytes = 0;  ///< as decoded
};

/// Copies a decoded chunk to its position, one value per element and samples interleaved.
void place(const page& p, const chunk& c, const std::byte* from, std::byte* to) {
    const std::int64_t size = std::max(p.bits / 8, 1);
    const bool together = p.planar == PLANARCONFIG_CONTIG || p.samples == 1;
    const std::int64_t pixel = p.samples * size;
    for (std::uint32_t y = 0; y < c.height; ++y, from += c.row_bytes) {
        std::byte* row = to + (static_cast<std::int64_t>(c.y + y) * p.width + c.x) * pixel;
        if (p.bits >= 8 && together) {
            std::memcpy(row, from, static_cast<std::size_t>(c.width * pixel));
            continue;
        }
        const std::int64_t count = together ? std::int64_t{c.width} * p.samples : c.width;
        const std::int64_t step = together ? size : pixel;
        if (!together) row += c.plane * size;
        for (std::int64_t i = 0; i < count; ++i) {
            if (p.bits >= 8) {
                std::memcpy(row + i * step, from + i * size, static_cast<std::size_t>(size));
            } else {
                const auto bit = i * p.bits;
                const int shift = 8 - p.bits - static_cast<int>(bit % 8);
                row[i * step] = (from[bit / 8] >> shift) & static_cast<std::byte>((1 << p.bits) - 1);
            }
        }
    }
}

void decode(const tiff_handle& handle, const page& p, std::uint32_t index, std::byte* to, std::int64_t bytes) {
    const auto n = p.tiled ? TIFFReadEncodedTile(handle.get(), index, to, bytes)
                           : TIFFReadEncodedStrip(handle.get(), index, to, bytes);
    handle.check(n == bytes, fmt::format("decoding {} {}", p.tiled ? "tile" : "strip", index));
}

void read_pixels(const tiff_handle& handle, const page& p, const source& from, const read_limits& limits,
                 std::byte* to) {
    TIFF* tiff = handle.get();
    const std::uint16_t planes = p.planar == PLANARCONFIG_SEPARATE ? p.samples : std::uint16_t{1};
    const auto across = static_cast<std::uint32_t>((std::uint64_t{p.width} + p.tile_width - 1) / p.tile_width);
    const auto down = static_cast<std::uint32_t>((std::uint64_t{p.height} + p.tile_height - 1) / p.tile_height);
    const std::uint64_t chunks = std::uint64_t{across} * down * planes;
    if (chunks != (p.tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff)))
        throw bad_file(handle.name(), "bad TIFF: the number of strips or tiles does not fit the size of the page");
    const auto chunk_bytes = p.tiled ? TIFFTileSize64(tiff) : TIFFStripSize64(tiff);
    const auto row_bytes = static_cast<std::int64_t>(p.tiled ? TIFFTileRowSize64(tiff) : TIFFScanlineSize64(tiff));
    const auto least_row = (std::uint64_t{p.tile_width} * p.bits * (planes == 1 ? p.samples : 1u) + 7) / 8;
    handle.check(chunk_bytes > 0 && chunk_bytes < std::uint64_t{1} << 62 &&
                     row_bytes >= static_cast<std::int64_t>(least_row) &&
                     static_cast<std::uint64_t>(row_bytes) * p.tile_height <= chunk_bytes,
                 "sizing strips or tiles");
    const bool direct = !p.tiled && p.bits >= 8 && planes == 1;
    array scratch;
    if (!direct)
        scratch = claimed_array(handle.name(), dtype::uint8, {static_cast<std::int64_t>(chunk_bytes)}, limits,
                                std::max<std::int64_t>(most_bytes(p, from.size()), 4096));
    std::uint32_t index = 0;
    for (std::uint16_t plane = 0; plane < planes; ++plane)
        for (std::uint32_t j = 0; j < down; ++j)
            for (std::uint32_t i = 0; i < across; ++i, ++index) {
                chunk c{.x = i * p.tile_width, .y = j * p.tile_height, .plane = plane, .row_bytes = row_bytes};
                c.width = std::min(p.tile_width, p.width - c.x);
                c.height = std::min(p.tile_height, p.height - c.y);
                const std::int64_t bytes = row_bytes * (p.tiled ? p.tile_height : c.height);
                std::byte* at = direct ? to + c.y * row_bytes : scratch.data.get();
                decode(handle, p, index, at, bytes);
                if (!direct) place(p, c, at, to);
            }
}

/// Inverts values if the file counts from white to black, so that white is the largest value in every array.
void invert(array& values, const page& p) {
    if (p.sample_format != SAMPLEFORMAT_UINT) return;
    const auto flip = static_cast<std::byte>(p.bits < 8 ? (1 << p.bits) - 1 : 0xff);
    std::for_each(values.data.get(), values.data.get() + values.bytes(), [flip](std::byte& b) { b ^= flip; });
}

/// Returns the description of the current page; empty if it has none.
std::string_view description_of(TIFF* tiff) {
    const char* text = nullptr;
    const bool there = TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) == 1 && text != nullptr;
    return there ? std::string_view(text) : std::string_view{};
}

/// Returns per_pixel / resolution as the shortest decimal of up to 6 digits that gives the same resolution in single
/// precision (libtiff keeps no more), else the exact quotient.
double length(double per_pixel, float resolution) {
    const double exact = per_pixel / static_cast<double>(resolution);
    for (int digits = 1; digits <= 6; ++digits) {
        const std::string text = fmt::format("{:.{}e}", exact, digits - 1);
        double candidate = 0;
        std::from_chars(text.data(), text.data() + text.size(), candidate);
        if (std::abs(candidate - exact) <= exact * std::numeric_limits<float>::epsilon()) return candidate;
    }
    return exact;
}

/// Returns cell height and width by the resolution tags, or nothing if they do not say.
std::optional<std::pair<double, double>> resolution(TIFF* tiff, double per_pixel) {
    float x = 0, y = 0;
    if (TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x) != 1 || TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y) != 1)
        return std::nullopt;
    if (!(x > 0 && y > 0 && std::isfinite(x) && std::isfinite(y))) return std::nullopt;
    const double dy = length(per_pixel, y), dx = length(per_pixel, x);
    return std::isfinite(dx) && std::isfinite(dy) && dx > 0 && dy > 0 ? std::optional(std::pair{dy, dx}) : std::nullopt;
}

void set_spacing(TIFF* tiff, const tiff_description& said, array& values) {
    using writer = tiff_description::writer;
    const bool volume = std::ranges::find(said.kinds, axis_kind::space) != said.kinds.end();
    const bool told = std::ranges::find(said.kinds, axis_kind::unknown) == said.kinds.end();
    if (!told || (volume && said.z == 0)) return;  // the distance between pages is not known
    double dy = said.y, dx = said.x;
    if (const cell_lengths cell = lengths_of(values.place); !volume && !cell.unit.empty() && cell.x > 0) {
        dy = cell.y, dx = cell.x, values.unit = cell.unit;
    } else if (said.by == writer::ome) {
        if (dy == 0 || dx == 0) return;
        values.unit = said.unit;
    } else {
        const std::uint16_t unit = field16(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
        const bool own_unit = said.by == writer::imagej || unit == RESUNIT_NONE;
        const auto found = resolution(tiff, own_unit ? 1.0 : unit == RESUNIT_CENTIMETER ? 10.0 : 25.4);
        if (!found && said.z == (volume ? 1 : said.z)) return;
        std::tie(dy, dx) = found.value_or(std::pair{1.0, 1.0});
        values.unit = own_unit ? said.unit : "mm";
        if (values.unit.empty() && dy == 1 && dx == 1 && (!volume || said.z == 1)) return;
    }
    for (const axis_kind kind : said.kinds) values.spacing.push_back(kind == axis_kind::space ? said.z : 1);
    values.spacing.insert(values.spacing.end(), {dy, dx});
}

/// Reads ImageJ's stacks of more than 4 GB: one page, followed by the pixels of all pages, uncompressed.
void read_imagej_stack(const tiff_handle& handle, const source& from, array& values) {
    const auto offset = static_cast<std::int64_t>(TIFFGetStrileOffset(handle.get(), 0));
    plain_stream pixels(from, offset);
    pixels.exact(values.data.get(), static_cast<std::size_t>(values.bytes()), "the stack");
    if (TIFFIsByteSwapped(handle.get())) swap_bytes(values.data.get(), values.cells(), size_of(values.type));
}

/// Lists the offsets of the array's pages: the first one and those like it. Skips reduced copies, refuses others.
/// It lists offsets, because libtiff finds a page by number only by walking there from the first one.
std::vector<std::uint64_t> list_pages(const tiff_handle& handle, const page& first) {
    TIFF* tiff = handle.get();
    std::vector<std::uint64_t> pages{TIFFCurrentDirOffset(tiff)};
    std::uint32_t directory = 0;
    while (TIFFLastDirectory(tiff) == 0) {
        const bool more = TIFFReadDirectory(tiff) == 1;
        handle.check(more, fmt::format("reading page {}", directory + 1));
        ++directory;
        if ((field32(tiff, TIFFTAG_SUBFILETYPE, 0) & FILETYPE_REDUCEDIMAGE) != 0) continue;
        const page p = read_page(handle);
        if (!p.same_array_as(first))
            throw bad_file(handle.name(),
                           fmt::format("page {} has {}, but the first page has {}; save pages of one kind to a file of "
                                       "their own",
                                       directory, p.text(), first.text()));
        pages.push_back(TIFFCurrentDirOffset(tiff));
    }
    if (directory > 0) handle.check(TIFFSetSubDirectory(tiff, pages[0]) == 1, "reading page 0");
    return pages;
}

std::vector<std::int64_t> shape_of(const page& p, std::vector<std::int64_t> shape) {
    shape.insert(shape.end(), {p.height, p.width});
    if (p.samples > 1) shape.push_back(p.samples);
    return shape;
}

}  // namespace

array read_tiff(const source& from, const read_limits& limits) {
    // libtiff's own buffers hold one strip or tile, which is decoded from a part of the file.
    const tiff_handle handle(from, std::max(limits.max_bytes, std::int64_t{1} << 20));
    const page first = read_page(handle);
    check_samples(first, handle.name());
    const dtype type = type_of(first, handle.name());
    const std::string text(description_of(handle.get()));
    const std::int64_t images = imagej_images(text);
    const auto pages = list_pages(handle, first);
    const bool one_block = pages.size() == 1 && images > 1 && first.compression == COMPRESSION_NONE && !first.tiled &&
                           first.bits >= 8 && first.planar == PLANARCONFIG_CONTIG;
    const std::int64_t count = one_block ? images : static_cast<std::int64_t>(pages.size());
    const tiff_description said = describe_pages(text, count, {first.height, first.width, first.samples});
    array values =
        claimed_array(handle.name(), type, shape_of(first, said.sizes), limits, most_bytes(first, from.size()));
    values.color = first.samples > 1;
    values.place = read_place(handle.get());
    set_spacing(handle.get(), said, values);
    std::vector<axis_kind> axes = said.kinds;
    axes.resize(static_cast<std::size_t>(values.grid_rank()), axis_kind::space);
    if (one_block) {
        read_imagej_stack(handle, from, values);
        return with_axes(std::move(values), std::move(axes));
    }
    const std::int64_t page_bytes = values.bytes() / count;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        if (i > 0) handle.check(TIFFSetSubDirectory(handle.get(), pages[i]) == 1, fmt::format("reading page {}", i));
        const page p = read_page(handle);
        check_samples(p, handle.name());
        read_pixels(handle, p, from, limits, values.data.get() + static_cast<std::int64_t>(i) * page_bytes);
    }
    if (first.photometric == PHOTOMETRIC_MINISWHITE) invert(values, first);
    return with_axes(std::move(values), std::move(axes));
}

}  // namespace nearfield::io
