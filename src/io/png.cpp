// PNG by libpng.
//
// libpng reports errors by longjmp, so no object with a destructor lives between setjmp and libpng: each step runs
// inside guarded(), whose callable may hold only references and plain values.
#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "io/formats.hpp"

namespace nearfield::io {

namespace {

struct transfer {
    const source* from = nullptr;
    output* to = nullptr;
    std::int64_t at = 0;
    std::string message;
    std::exception_ptr failure;
};

void on_error(png_structp png, png_const_charp message) {
    static_cast<transfer*>(png_get_error_ptr(png))->message = message;
    png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void pull(png_structp png, png_bytep to, std::size_t count) {
    auto* io = static_cast<transfer*>(png_get_io_ptr(png));
    bool whole = false;
    try {
        const std::size_t n = io->from->read(io->at, to, count);
        io->at += static_cast<std::int64_t>(n);
        whole = n == count;
    } catch (...) {
        io->failure = std::current_exception();
    }
    if (!whole) png_error(png, "the file is truncated");
}

void push(png_structp png, png_bytep from, std::size_t count) {
    auto* io = static_cast<transfer*>(png_get_io_ptr(png));
    try {
        io->to->write(from, count);
        return;
    } catch (...) {
        io->failure = std::current_exception();
    }
    png_error(png, "writing failed");
}
void no_flush(png_structp) {}

/// Runs `step` and turns libpng's longjmp into an exception.
template <class Step>
void guarded(png_structp png, const transfer& io, std::string_view name, const Step& step) {
    if (setjmp(png_jmpbuf(png)) == 0) {
        step();
        return;
    }
    if (io.failure) std::rethrow_exception(io.failure);
    throw bad_file(name, fmt::format("bad PNG: {}", io.message));
}

struct png_reader {
    explicit png_reader(const source& from) : name(from.name()) {
        io.from = &from;
        png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &io, on_error, on_warning);
        info = png ? png_create_info_struct(png) : nullptr;
        if (!info) {
            png_destroy_read_struct(&png, nullptr, nullptr);
            throw error(error_code::out_of_memory, fmt::format("{}: libpng could not start", name));
        }
    }
    ~png_reader() { png_destroy_read_struct(&png, &info, nullptr); }
    png_reader(const png_reader&) = delete;
    png_reader& operator=(const png_reader&) = delete;

    transfer io;
    const std::string& name;
    png_structp png = nullptr;
    png_infop info = nullptr;
};

struct png_header {
    png_uint_32 width = 0, height = 0;
    int depth = 0, color_type = 0;
    std::size_t row_bytes = 0;  ///< as stored
    bool gray_palette = false, has_alpha_palette = false;
    png_uint_32 x_per_metre = 0, y_per_metre = 0;
    int unit = PNG_RESOLUTION_UNKNOWN;
};

void read_header(png_reader& r, png_header& h) {
    guarded(r.png, r.io, r.name, [&] {
        png_set_read_fn(r.png, &r.io, pull);
        png_set_user_limits(r.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        png_set_chunk_malloc_max(r.png, 1 << 20);
        // These chunks tell nothing about values or spacing, and some unpack to much data.
        static const png_byte skipped[] = "iCCP\0zTXt\0iTXt\0tEXt\0sPLT\0eXIf\0hIST";
        png_set_keep_unknown_chunks(r.png, PNG_HANDLE_CHUNK_NEVER, skipped, static_cast<int>(sizeof skipped / 5));
        png_read_info(r.png, r.info);
        png_get_IHDR(r.png, r.info, &h.width, &h.height, &h.depth, &h.color_type, nullptr, nullptr, nullptr);
        h.row_bytes = png_get_rowbytes(r.png, r.info);
        png_get_pHYs(r.png, r.info, &h.x_per_metre, &h.y_per_metre, &h.unit);
        png_colorp palette = nullptr;
        int entries = 0;
        if (h.color_type == PNG_COLOR_TYPE_PALETTE && png_get_PLTE(r.png, r.info, &palette, &entries) != 0)
            h.gray_palette = std::all_of(palette, palette + entries,
                                         [](const png_color& c) { return c.red == c.green && c.green == c.blue; });
        h.has_alpha_palette =
            h.color_type == PNG_COLOR_TYPE_PALETTE && png_get_valid(r.png, r.info, PNG_INFO_tRNS) != 0;
    });
}

/// Asks libpng for samples of 8 or 16 bits in native byte order: gray, RGB or RGBA.
void set_transforms(png_reader& r, const png_header& h) {
    guarded(r.png, r.io, r.name, [&] {
        if (h.color_type == PNG_COLOR_TYPE_PALETTE) {
            png_set_palette_to_rgb(r.png);
            if (h.has_alpha_palette) png_set_tRNS_to_alpha(r.png);
        }
        if (h.color_type == PNG_COLOR_TYPE_GRAY && h.depth == 1) png_set_packing(r.png);
        if (h.color_type == PNG_COLOR_TYPE_GRAY && (h.depth == 2 || h.depth == 4))
            png_set_expand_gray_1_2_4_to_8(r.png);
        if (h.color_type == PNG_COLOR_TYPE_GRAY_ALPHA) png_set_gray_to_rgb(r.png);
        if constexpr (std::endian::native == std::endian::little)
            if (h.depth == 16) png_set_swap(r.png);
    });
}

int samples(const png_header& h) {
    switch (h.color_type) {
        case PNG_COLOR_TYPE_GRAY: return 1;
        case PNG_COLOR_TYPE_PALETTE: return h.has_alpha_palette ? 4 : 3;
        case PNG_COLOR_TYPE_RGB: return 3;
        default: return 4;
    }
}

void read_rows(png_reader& r, const png_header& h, std::byte* to, std::size_t row_bytes) {
    guarded(r.png, r.io, r.name, [&] {
        const int passes = png_set_interlace_handling(r.png);
        png_read_update_info(r.png, r.info);
        if (png_get_rowbytes(r.png, r.info) != row_bytes) png_error(r.png, "rows have an unexpected length");
        for (int pass = 0; pass < passes; ++pass)
            for (png_uint_32 y = 0; y < h.height; ++y)
                png_read_row(r.png, reinterpret_cast<png_bytep>(to + y * row_bytes), nullptr);
        png_read_end(r.png, nullptr);
    });
}

/// Converts RGB with three equal samples to gray, in place.
void keep_first_of_three(array& values) {
    const std::int64_t n = values.shape[0] * values.shape[1];
    for (std::int64_t i = 0; i < n; ++i)
        values.data[static_cast<std::size_t>(i)] = values.data[static_cast<std::size_t>(3 * i)];
    values.shape.pop_back();
    values.color = false;
}

void set_spacing(array& values, const png_header& h) {
    if (h.x_per_metre == 0 || h.y_per_metre == 0) return;
    if (h.unit == PNG_RESOLUTION_METER) {
        values.spacing = {1000.0 / h.y_per_metre, 1000.0 / h.x_per_metre};
        values.unit = "mm";
    } else if (h.x_per_metre != h.y_per_metre) {
        // The file has no unit: it tells only the shape of a pixel, so its width is 1.
        values.spacing = {static_cast<double>(h.x_per_metre) / h.y_per_metre, 1.0};
    }
}

}  // namespace

array read_png(const source& from, const read_limits& limits) {
    png_reader r(from);
    png_header h;
    read_header(r, h);
    set_transforms(r, h);
    const int count = samples(h);
    const bool boolean = h.color_type == PNG_COLOR_TYPE_GRAY && h.depth == 1;
    const dtype type = boolean ? dtype::boolean : h.depth == 16 ? dtype::uint16 : dtype::uint8;
    std::vector<std::int64_t> shape{h.height, h.width};
    if (count > 1) shape.push_back(count);
    // Before set_transforms() widens samples, each row takes row_bytes and a filter byte; all of it was deflated.
    const std::int64_t size = from.known_size().value_or(std::int64_t{1} << 50);
    if (h.height > size * deflate_ratio / static_cast<std::int64_t>(h.row_bytes + 1))
        throw bad_file(from.name(),
                       fmt::format("claims {} x {} pixels but holds {} bytes; the file is truncated or damaged",
                                   h.width, h.height, size));
    array values = claimed_array(from.name(), type, std::move(shape), limits, std::nullopt);
    values.color = count > 1;
    read_rows(r, h, values.data.get(), static_cast<std::size_t>(values.bytes() / h.height));
    if (h.gray_palette && count == 3) keep_first_of_three(values);
    set_spacing(values, h);
    return values;
}

std::string refuse_png(const outline& o) {
    if (o.grid_rank() != 2) return "it holds two axes";
    if (o.empty()) return "it cannot be empty";
    if (std::ranges::any_of(o.shape, [](std::int64_t n) { return n > PNG_UINT_31_MAX; }))
        return "a side is limited to 2^31 - 1";
    if (o.type == dtype::uint8 || o.type == dtype::uint16 || (o.type == dtype::boolean && !o.color)) return {};
    return "it holds bool, uint8 and uint16";
}

namespace {

struct png_writer {
    explicit png_writer(output& to) : name(to.name()) {
        io.to = &to;
        png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &io, on_error, on_warning);
        info = png ? png_create_info_struct(png) : nullptr;
        if (!info) {
            png_destroy_write_struct(&png, nullptr);
            throw error(error_code::out_of_memory, fmt::format("{}: libpng could not start", name));
        }
    }
    ~png_writer() { png_destroy_write_struct(&png, &info); }
    png_writer(const png_writer&) = delete;
    png_writer& operator=(const png_writer&) = delete;

    transfer io;
    const std::string& name;
    png_structp png = nullptr;
    png_infop info = nullptr;
};

/// Returns pixels per metre for pHYs, or 0 if the chunk cannot hold the value.
png_uint_32 per_metre(double spacing, double metres) {
    const double rounded = std::round(1.0 / (spacing * metres));
    return rounded >= 1 && rounded <= PNG_UINT_31_MAX ? static_cast<png_uint_32>(rounded) : 0;
}

void write_header(png_writer& w, const array& values) {
    const int color_type = !values.color          ? PNG_COLOR_TYPE_GRAY
                           : values.shape[2] == 3 ? PNG_COLOR_TYPE_RGB
                                                  : PNG_COLOR_TYPE_RGB_ALPHA;
    const int depth = values.type == dtype::boolean ? 1 : values.type == dtype::uint16 ? 16 : 8;
    const auto metres = metres_of(values.unit);
    png_uint_32 x = 0, y = 0;
    if (metres && values.spacing.size() == 2)
        y = per_metre(values.spacing[0], *metres), x = per_metre(values.spacing[1], *metres);
    guarded(w.png, w.io, w.name, [&] {
        png_set_write_fn(w.png, &w.io, push, no_flush);
        png_set_user_limits(w.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        png_set_compression_level(w.png, 6);
        png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(values.shape[1]),
                     static_cast<png_uint_32>(values.shape[0]), depth, color_type, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        if (x > 0 && y > 0) png_set_pHYs(w.png, w.info, x, y, PNG_RESOLUTION_METER);
        png_write_info(w.png, w.info);
        if (depth == 1) png_set_packing(w.png);
        if constexpr (std::endian::native == std::endian::little)
            if (depth == 16) png_set_swap(w.png);
    });
}

}  // namespace

void write_png(output& to, const array& values) {
    png_writer w(to);
    write_header(w, values);
    const std::int64_t height = values.shape[0], row_bytes = values.bytes() / height;
    const std::byte* rows = values.data.get();
    guarded(w.png, w.io, w.name, [&] {
        for (std::int64_t y = 0; y < height; ++y)
            png_write_row(w.png, reinterpret_cast<png_const_bytep>(rows + y * row_bytes));
        png_write_end(w.png, w.info);
    });
}

}  // namespace nearfield::io
