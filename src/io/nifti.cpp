// NIfTI-1 and NIfTI-2 in one file (.nii, .nii.gz): nifti.nimh.nih.gov. The axes (x, y, z, t, ...) are reversed.
//
// This is our own parser: niftiio prints, and allocates what a header claims. Values stay as stored: scl_slope and
// scl_inter are not applied, because labels and masks must not change.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "io/formats.hpp"

namespace nearfield::io {

namespace {

constexpr std::size_t header1_bytes = 348, header2_bytes = 540;
constexpr int most_axes = 7;
/// Meaning of the file's axes: x, y, z, time, components or channels of a cell, and two that the format leaves open.
constexpr axis_kind meaning[most_axes] = {axis_kind::space,   axis_kind::space, axis_kind::space, axis_kind::time,
                                          axis_kind::channel, axis_kind::list,  axis_kind::list};

struct nifti_code {
    int code;
    dtype type;
    int samples;  ///< 3 for RGB, 4 for RGBA
};
constexpr std::array codes{
    nifti_code{2, dtype::uint8, 1},    nifti_code{4, dtype::int16, 1},     nifti_code{8, dtype::int32, 1},
    nifti_code{16, dtype::float32, 1}, nifti_code{64, dtype::float64, 1},  nifti_code{128, dtype::uint8, 3},
    nifti_code{256, dtype::int8, 1},   nifti_code{512, dtype::uint16, 1},  nifti_code{768, dtype::uint32, 1},
    nifti_code{1024, dtype::int64, 1}, nifti_code{1280, dtype::uint64, 1}, nifti_code{2304, dtype::uint8, 4}};

struct nifti_header {
    bool swapped = false;
    int datatype = 0;
    std::int64_t rank = 0;
    std::array<std::int64_t, most_axes> size{};
    std::array<double, most_axes> step{};
    double data_at = 0;  ///< a float in NIfTI-1
    int units = 0;
    std::size_t bytes = header1_bytes;
};

nifti_header parse1(const std::byte* raw, bool swapped) {
    nifti_header h{.swapped = swapped};
    h.rank = load<std::int16_t>(raw + 40, swapped);
    h.datatype = load<std::int16_t>(raw + 70, swapped);
    for (std::size_t i = 0; i < most_axes; ++i) {
        h.size[i] = load<std::int16_t>(raw + 42 + 2 * i, swapped);
        // Uses the shortest decimal: a file that says 0.7f means 0.7.
        h.step[i] = shortest_decimal(load<float>(raw + 80 + 4 * i, swapped));
    }
    h.data_at = static_cast<double>(load<float>(raw + 108, swapped));
    h.units = load<std::uint8_t>(raw + 123);
    return h;
}

nifti_header parse2(const std::byte* raw, bool swapped) {
    nifti_header h{.swapped = swapped, .bytes = header2_bytes};
    h.datatype = load<std::int16_t>(raw + 12, swapped);
    h.rank = load<std::int64_t>(raw + 16, swapped);
    for (std::size_t i = 0; i < most_axes; ++i) {
        h.size[i] = load<std::int64_t>(raw + 24 + 8 * i, swapped);
        h.step[i] = load<double>(raw + 112 + 8 * i, swapped);
    }
    h.data_at = static_cast<double>(load<std::int64_t>(raw + 168, swapped));
    h.units = load<std::int32_t>(raw + 500, swapped) & 0xff;
    return h;
}

nifti_header read_header(stream& from) {
    std::byte raw[header2_bytes];
    from.exact(raw, header1_bytes, "the NIfTI header");
    for (const bool swapped : {false, true}) {
        const auto says = load<std::int32_t>(raw, swapped);
        const std::string_view magic1(reinterpret_cast<const char*>(raw) + 344, 4),
            magic2(reinterpret_cast<const char*>(raw) + 4, 8);
        if (says == header1_bytes && magic1 == std::string_view("n+1\0", 4)) return parse1(raw, swapped);
        if (says == header2_bytes && magic2 == std::string_view("n+2\0\r\n\x1a\n", 8)) {
            from.exact(raw + header1_bytes, header2_bytes - header1_bytes, "the NIfTI-2 header");
            return parse2(raw, swapped);
        }
        if (says == header1_bytes || says == header2_bytes)
            throw bad_file(from.name(),
                           "is one half of a NIfTI or Analyze pair (.hdr, .img); save it as one .nii or .nii.gz file");
    }
    throw bad_file(from.name(), "is not a NIfTI file: its header has neither 348 nor 540 bytes");
}

const nifti_code& code_of(const nifti_header& h, const std::string& name) {
    const auto found = std::ranges::find(codes, h.datatype, &nifti_code::code);
    if (found == codes.end())
        throw bad_file(
            name,
            fmt::format("NIfTI datatype {} is not supported; expected an integer of 8 to 64 bits, float32, float64 or "
                        "RGB(A)",
                        h.datatype));
    return *found;
}

void check(const nifti_header& h, const std::string& name) {
    if (h.rank < 1 || h.rank > most_axes)
        throw bad_file(name, fmt::format("bad NIfTI: {} axes, expected 1 to 7", h.rank));
    for (std::size_t i = 0; i < static_cast<std::size_t>(h.rank); ++i)
        if (h.size[i] < 1)
            throw bad_file(name, fmt::format("bad NIfTI: axis {} has {} cells, expected 1 or more", i + 1, h.size[i]));
    const bool sane =
        h.data_at >= static_cast<double>(h.bytes) && h.data_at <= 0x1p52 && h.data_at == std::floor(h.data_at);
    if (!sane) throw bad_file(name, fmt::format("bad NIfTI: the data is said to start at byte {}", h.data_at));
}

std::string_view unit_of(int units) {
    constexpr std::string_view names[] = {"", "m", "mm", "um"};
    const int code = units & 7;
    return code <= 3 ? names[code] : "";
}

array read_values(stream& from, const read_limits& limits) {
    nifti_header h = read_header(from);
    check(h, from.name());
    const nifti_code& code = code_of(h, from.name());
    // A volume is often saved as a series of one: axes of length 1 after the third mean nothing, so they are dropped.
    // In a series of images the third axis has length 1, and is dropped, too.
    const bool series = std::any_of(h.size.begin() + std::min<std::int64_t>(h.rank, 3), h.size.begin() + h.rank,
                                    [](std::int64_t n) { return n > 1; });
    std::vector<std::int64_t> shape;
    std::vector<double> spacing;
    std::vector<axis_kind> axes;
    for (std::size_t i = 0; i < static_cast<std::size_t>(h.rank); ++i) {
        if (h.size[i] == 1 && (i > 2 || (i == 2 && series))) continue;
        shape.push_back(h.size[i]), spacing.push_back(h.step[i]), axes.push_back(meaning[i]);
    }
    std::ranges::reverse(axes);
    std::ranges::reverse(shape);
    std::ranges::reverse(spacing);
    if (code.samples > 1) shape.push_back(code.samples);
    from.skip(static_cast<std::int64_t>(h.data_at) - static_cast<std::int64_t>(h.bytes), "the header's extensions");
    array values = read_array(from, code.type, std::move(shape), limits);
    from.finish();
    if (h.swapped) swap_bytes(values.data.get(), values.cells(), size_of(values.type));
    values.color = code.samples > 1;
    values.spacing = usable_spacing(std::move(spacing));
    values.unit = values.spacing.empty() ? "" : unit_of(h.units);
    return with_axes(std::move(values), std::move(axes));
}

}  // namespace

array read_nifti(const source& from, const read_limits& limits) {
    if (from.head(2) == "\x1f\x8b") {
        gzip_stream packed(from);
        return read_values(packed, limits);
    }
    plain_stream bytes(from);
    return read_values(bytes, limits);
}

namespace {

/// Maps each of the file's axes to a grid axis (in array order), or to -1 if the file's axis has length 1. The result
/// is empty if the file has no slot for some grid axis.
std::vector<int> file_axes(int rank, std::span<const axis_kind> axes) {
    const auto leading = std::ranges::count_if(axes, [](axis_kind kind) { return kind != axis_kind::space; });
    std::vector<int> at;
    for (int a = rank; a-- > leading;) at.push_back(a);
    if (leading == 0) return rank <= most_axes ? at : std::vector<int>{};
    if (at.size() > 3) return {};
    at.resize(most_axes, -1);
    // Time and channels have fixed slots; the other axes take free ones.
    for (const bool placed : {true, false})
        for (int a = static_cast<int>(leading); a-- > 0;) {
            const axis_kind kind = axes[static_cast<std::size_t>(a)];
            const bool channel = kind == axis_kind::channel || kind == axis_kind::vector;
            if (placed != (channel || kind == axis_kind::time)) continue;
            std::size_t slot = channel ? 4 : 3;
            while (slot < at.size() && at[slot] >= 0) ++slot;
            if (slot == at.size()) return {};
            at[slot] = a;
        }
    while (at.back() < 0) at.pop_back();
    return at;
}

}  // namespace

std::string refuse_nifti(const outline& o) {
    if (std::ranges::find(o.axes, axis_kind::unknown) != o.axes.end())
        return "it would call them times, and what its pages count is not known; give --spacing for a volume";
    if (file_axes(o.grid_rank(), o.axes).empty())
        return o.axes.empty() ? "it holds at most 7 axes" : "it holds at most 3 axes of space and 4 others";
    if (o.empty()) return "it cannot be empty";
    if (o.type == dtype::float16) return "it holds integers, float32 and float64 (bool as uint8)";
    if (o.color && o.type != dtype::uint8) return "its colours are uint8";
    return {};
}

namespace {

template <class T>
void put(std::vector<std::byte>& raw, std::size_t at, T value) {
    std::memcpy(raw.data() + at, &value, sizeof(T));
}

int code_to_write(const array& values) {
    const dtype stored = values.type == dtype::boolean ? dtype::uint8 : values.type;
    const int samples = values.color ? static_cast<int>(values.shape.back()) : 1;
    return std::ranges::find_if(codes, [&](const nifti_code& c) { return c.type == stored && c.samples == samples; })
        ->code;
}

/// Returns NIfTI's code of a unit: metres, millimetres and micrometres have one.
std::uint8_t unit_code(const std::string& unit) { return unit == "m" ? 1 : unit == "mm" ? 2 : unit == "um" ? 3 : 0; }

/// Returns whether version 1 can store an image: it has 16 bits per size and single precision per length.
bool fits_version_1(std::span<const std::int64_t> size, std::span<const double> step) {
    return std::ranges::all_of(size, [](std::int64_t n) { return n <= 32767; }) &&
           std::ranges::all_of(step, [](double length) {
               const auto stored = static_cast<float>(length);
               return std::isfinite(stored) && stored > 0;
           });
}

/// Fields that both versions of the header store.
struct outline {
    int rank;
    std::int16_t code, bits;
    std::vector<std::int64_t> size;
    std::vector<double> step;
    std::uint8_t unit;
};

std::vector<std::byte> header1(const outline& of) {
    std::vector<std::byte> raw(header1_bytes + 4);
    put(raw, 0, std::int32_t{header1_bytes});
    put(raw, 38, 'r');
    put(raw, 40, static_cast<std::int16_t>(of.rank));
    put(raw, 70, of.code);
    put(raw, 72, of.bits);
    put(raw, 76, 1.0f);
    for (std::size_t i = 0; i < most_axes; ++i) {
        put(raw, 42 + 2 * i, static_cast<std::int16_t>(of.size[i]));
        put(raw, 80 + 4 * i, static_cast<float>(of.step[i]));
    }
    put(raw, 108, static_cast<float>(raw.size()));
    put(raw, 112, 1.0f);
    put(raw, 123, of.unit);
    std::memcpy(raw.data() + 344, "n+1", 4);
    return raw;
}

std::vector<std::byte> header2(const outline& of) {
    std::vector<std::byte> raw(header2_bytes + 4);
    put(raw, 0, std::int32_t{header2_bytes});
    std::memcpy(raw.data() + 4, "n+2\0\r\n\x1a\n", 8);
    put(raw, 12, of.code);
    put(raw, 14, of.bits);
    put(raw, 16, std::int64_t{of.rank});
    put(raw, 104, 1.0);
    for (std::size_t i = 0; i < most_axes; ++i) put(raw, 24 + 8 * i, of.size[i]), put(raw, 112 + 8 * i, of.step[i]);
    put(raw, 168, static_cast<std::int64_t>(raw.size()));
    put(raw, 176, 1.0);
    put(raw, 500, std::int32_t{of.unit});
    return raw;
}

/// Builds the header and the four bytes that mean "no extension".
std::vector<std::byte> header_bytes(const array& values, std::span<const int> axes) {
    const auto rank = static_cast<int>(axes.size());
    std::vector<std::int64_t> size(most_axes, 1);
    std::vector<double> step(most_axes, 1.0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i] < 0) continue;
        const auto a = static_cast<std::size_t>(axes[i]);
        size[i] = values.shape[a];
        if (!values.spacing.empty()) step[i] = values.spacing[a];
    }
    const int samples = values.color ? static_cast<int>(values.shape.back()) : 1;
    const auto bits = static_cast<std::int16_t>(8 * size_of(values.type) * samples);
    const auto code = static_cast<std::int16_t>(code_to_write(values));
    const bool small = fits_version_1(size, step);
    const outline of{rank, code, bits, std::move(size), std::move(step), unit_code(values.unit)};
    return small ? header1(of) : header2(of);
}

}  // namespace

void write_nifti(output& to, const array& values, std::string_view suffix) {
    const std::vector<int> axes = file_axes(values.grid_rank(), values.axes);
    std::vector<std::size_t> order;
    for (auto a = axes.rbegin(); a != axes.rend(); ++a)
        if (*a >= 0) order.push_back(static_cast<std::size_t>(*a));
    if (!std::ranges::is_sorted(order)) return write_nifti(to, permuted(values, order), suffix);
    const auto header = header_bytes(values, axes);
    const auto bytes = static_cast<std::size_t>(values.bytes());
    if (suffix != ".nii.gz") {
        to.write(header.data(), header.size());
        return to.write(values.data.get(), bytes);
    }
    gzip_writer packed(to);
    packed.write(header.data(), header.size());
    packed.write(values.data.get(), bytes);
    packed.finish();
}

}  // namespace nearfield::io
