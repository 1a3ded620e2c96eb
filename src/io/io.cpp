// Detects a file's format, and reads and writes arrays.
#include "io/io.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>

#include "io/formats.hpp"
#include "os/files.hpp"

namespace nearfield::io {

namespace {

struct suffix_of {
    std::string_view suffix;
    format as;
    bool primary;  ///< messages suggest this suffix
};
constexpr std::string_view detached = ".nhdr";  // readable but not writable, so no message suggests it
constexpr suffix_of suffixes[] = {
    {".npy", format::npy, true},         {".nrrd", format::nrrd, true},       {detached, format::nrrd, false},
    {".nii.gz", format::nifti, true},    {".nii", format::nifti, false},      {".tif", format::tiff, true},
    {".tiff", format::tiff, false},      {".png", format::png, true},         {".pgm", format::pnm, true},
    {".pbm", format::pnm, true},         {".ppm", format::pnm, true},         {".pnm", format::pnm, false},
    {".mha", format::meta_image, false}, {".mhd", format::meta_image, false}, {".jpg", format::jpeg, false},
    {".jpeg", format::jpeg, false},      {".bmp", format::bmp, false},        {".gif", format::gif, false}};

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

const suffix_of* find_suffix(const std::filesystem::path& path) {
    const std::string name = lower(path.filename().string());
    for (const auto& s : suffixes)
        if (name.ends_with(s.suffix)) return &s;
    return nullptr;
}

const suffix_of& suffix_or_throw(const std::filesystem::path& path) {
    if (const auto* found = find_suffix(path)) return *found;
    std::vector<std::string_view> names;
    for (const auto& s : suffixes)
        if (s.suffix != detached) names.push_back(s.suffix);
    throw bad_file(path.string(),
                   fmt::format("the suffix does not say which format; use one of {}", fmt::join(names, " ")));
}

std::optional<format> format_by_content(const source& from) {
    // A pipe may hold only a small NPY array and stay open, so the first test reads no more than the signature.
    if (from.head(6) == "\x93NUMPY") return format::npy;
    const std::string head = from.head(352);
    const std::string_view h = head;
    if (h.starts_with("\x89PNG\r\n\x1a\n")) return format::png;
    if (h.starts_with("NRRD000")) return format::nrrd;
    if (h.starts_with(std::string_view("II*\0", 4)) || h.starts_with(std::string_view("MM\0*", 4)) ||
        h.starts_with(std::string_view("II+\0", 4)) || h.starts_with(std::string_view("MM\0+", 4)))
        return format::tiff;
    if (h.size() >= 348 && (h.substr(344, 3) == "n+1" || h.substr(344, 3) == "ni1")) return format::nifti;
    if (h.size() >= 8 && (h.substr(4, 3) == "n+2" || h.substr(4, 3) == "ni2")) return format::nifti;
    if (h.starts_with("\x1f\x8b")) return format::nifti;
    if (h.size() >= 3 && h[0] == 'P' && h[1] >= '1' && h[1] <= '6' &&
        (std::isspace(static_cast<unsigned char>(h[2])) || h[2] == '#'))
        return format::pnm;
    if (h.starts_with("ObjectType") || h.starts_with("NDims")) return format::meta_image;
    if (h.starts_with("\xff\xd8\xff")) return format::jpeg;
    if (h.starts_with("GIF87a") || h.starts_with("GIF89a")) return format::gif;
    if (h.starts_with("BM") && h.size() > 18 && h.substr(6, 4) == std::string_view("\0\0\0\0", 4)) return format::bmp;
    return std::nullopt;
}

array read(const source& from, format as, const read_limits& limits) {
    switch (as) {
        case format::png: return read_png(from, limits);
        case format::pnm: return read_pnm(from, limits);
        case format::tiff: return read_tiff(from, limits);
        case format::nrrd: return read_nrrd(from, limits);
        case format::nifti: return read_nifti(from, limits);
        case format::meta_image: return read_meta_image(from, limits);
        case format::jpeg: return read_jpeg(from, limits);
        case format::bmp: return read_bmp(from, limits);
        case format::gif: return read_gif(from, limits);
        case format::npy: break;
    }
    plain_stream bytes(from);
    return read_npy(bytes, limits);
}

std::string refuse(format as, const outline& o) {
    switch (as) {
        case format::png: return refuse_png(o);
        case format::pnm: return refuse_pnm(o);
        case format::tiff: return refuse_tiff(o);
        case format::nrrd: return refuse_nrrd(o);
        case format::nifti: return refuse_nifti(o);
        case format::npy: return refuse_npy(o);
        default: return "it can be read but not written";
    }
}

void check_data_and_spacing(const std::filesystem::path& path, const array& values) {
    if (!values.data && values.cells() > 0)
        throw error(error_code::invalid_argument,
                    fmt::format("{}: values has no data, expected {} bytes", path.string(), values.bytes()));
    if (!values.spacing.empty() && static_cast<int>(values.spacing.size()) != values.grid_rank())
        throw error(error_code::invalid_argument,
                    fmt::format("{}: spacing has {} values, expected {} (one per grid axis) or none", path.string(),
                                values.spacing.size(), values.grid_rank()));
    const auto last = values.axes.begin() + std::min(values.leading_axes(), static_cast<int>(values.axes.size()));
    if (!values.axes.empty() && (static_cast<int>(values.axes.size()) != values.grid_rank() ||
                                 std::find(values.axes.begin(), last, axis_kind::space) != last))
        throw error(error_code::invalid_argument,
                    fmt::format("{}: axes has {} kinds, expected {} (one per grid axis, those of space last) or none",
                                path.string(), values.axes.size(), values.grid_rank()));
}

bool is_standard_stream(const std::filesystem::path& path) { return path == "-"; }

}  // namespace

std::int64_t array::cells() const {
    std::int64_t product = 1;
    for (std::int64_t n : shape) product *= n;
    return product;
}

int array::leading_axes() const {
    return static_cast<int>(std::ranges::count_if(axes, [](axis_kind kind) { return kind != axis_kind::space; }));
}

any_input<host> array::in() const {
    if (shape.empty() || shape.size() > max_rank + 1)
        throw error(error_code::invalid_argument,
                    fmt::format("array: got {} axes, expected 1 to {}", shape.size(), max_rank + 1));
    return any_input<host>::contiguous(data.get(), type, shape);
}

any_output<host> array::out() {
    static_cast<void>(in());
    return any_output<host>::contiguous(data.get(), type, shape);
}

bool outline::empty() const { return std::ranges::find(shape, 0) != shape.end(); }

format format_of(const std::filesystem::path& path) { return suffix_or_throw(path).as; }

namespace {

array read_standard_input(const read_limits& limits, std::int64_t most) {
    const source from(os::duplicate(os::standard_input), "standard input", most);
    const auto found = format_by_content(from);
    if (!found) {
        if (from.head(1).empty()) throw bad_file(from.name(), "is empty");
        throw bad_file(
            from.name(),
            "is none of PNG, PBM, PGM, PPM, TIFF, NPY, NRRD, NIfTI, MetaImage, JPEG, BMP and GIF, by its first bytes");
    }
    if (*found != format::npy || from.known_size()) return read(from, *found, limits);
    // Reads straight into the array, because a source would keep a second copy of a pipe's bytes.
    pipe_stream bytes(os::standard_input, from.name(), from.head(6));
    return read_npy(bytes, limits);
}

}  // namespace

array read(const std::filesystem::path& path, const read_limits& limits) {
    // A file also holds a header, and data that compression may have enlarged.
    const std::int64_t most = std::min(limits.max_bytes, std::int64_t{1} << 60) / 64 * 65 + (std::int64_t{1} << 26);
    if (is_standard_stream(path)) return read_standard_input(limits, most);
    const source from(path, most);
    if (from.head(1).empty()) throw bad_file(from.name(), "is empty");
    const auto found = format_by_content(from);
    return read(from, found ? *found : format_of(path), limits);
}

array read(std::span<const std::byte> bytes, format as, const read_limits& limits) {
    return read(source(bytes, "memory"), as, limits);
}

void require_writable(const std::filesystem::path& path, dtype type, const std::vector<std::int64_t>& shape, bool color,
                      const std::vector<axis_kind>& axes) {
    const bool pipe = is_standard_stream(path);
    const suffix_of& wanted = pipe ? suffixes[0] : suffix_or_throw(path);
    if (shape.empty() || shape.size() > max_rank + 1 || !byte_count(type, shape))
        throw error(error_code::invalid_argument,
                    fmt::format("{}: got an array of shape {}, expected 1 to {} axes of 0 or more cells", path.string(),
                                shape_text(shape), max_rank + 1));
    if (color && (shape.size() < 2 || (shape.back() != 3 && shape.back() != 4)))
        throw error(error_code::invalid_argument,
                    fmt::format("{}: got a colour array of shape {}, expected 3 or 4 samples "
                                "along the last axis",
                                path.string(), shape_text(shape)));
    const auto refuse_by = [&, to_pipe = is_pipe(path)](const suffix_of& s) {
        if (to_pipe && s.as == format::tiff)
            return std::string("its beginning is written last, which a pipe cannot do");
        return refuse(s.as, {type, shape, color, s.suffix, axes});
    };
    const std::string why = refuse_by(wanted);
    if (why.empty()) return;
    std::vector<std::string_view> able;
    for (const auto& s : suffixes)
        if (s.primary && refuse_by(s).empty()) able.push_back(s.suffix);
    throw error(error_code::invalid_argument,
                fmt::format("{}: {} cannot hold {} of type {} and shape {}: {}; formats that can: {}", path.string(),
                            wanted.suffix, color ? "a colour image" : "an array", name_of(type), shape_text(shape), why,
                            fmt::join(able, ", ")));
}

void write(const std::filesystem::path& path, const array& values, const write_options& options) {
    require_writable(path, values.type, values.shape, values.color, values.axes);
    check_data_and_spacing(path, values);
    if (is_standard_stream(path)) {
        output to(os::standard_output, "standard output");
        write_npy(to, values);
        to.commit();
        return;
    }
    const suffix_of& wanted = suffix_or_throw(path);
    output to(path);
    switch (wanted.as) {
        case format::png: write_png(to, values); break;
        case format::pnm: write_pnm(to, values, wanted.suffix); break;
        case format::tiff: write_tiff(to, values, options.compression); break;
        case format::npy: write_npy(to, values); break;
        case format::nrrd: write_nrrd(to, values, options.compression); break;
        case format::nifti: write_nifti(to, values, wanted.suffix); break;
        default: break;  // refused above
    }
    to.commit();
}

}  // namespace nearfield::io
