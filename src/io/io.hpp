// Arrays to and from files; one source file per format. Internal to the command line, tests and benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/error.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::io {

/// What an axis counts: places in space, images of one place (times, channels, a list), the components of one cell, or
/// something that the file does not tell.
enum class axis_kind : std::uint8_t { space, time, channel, list, vector, unknown };

/// Where a raster lies on the earth: GeoTIFF's tags as they are, and GDAL's text of the value that stands for no data.
struct geo_place {
    std::vector<double> scale, tie_points, matrix, numbers;
    std::vector<std::uint16_t> keys;
    std::string words, no_data;

    bool operator==(const geo_place&) const = default;
    [[nodiscard]] bool known() const { return !keys.empty() || !scale.empty() || !matrix.empty(); }
};
/// "projected, EPSG 32633, column 0 and row 0 at 500000, 4649760"; empty where it is not known.
[[nodiscard]] std::string text_of(const geo_place& place);

/// A contiguous array in memory with what its file said about it. Axes are in array order (last one fastest); readers
/// reverse where a format says (x, y, z), and move axes that are not of space to the front.
struct array {
    dtype type = dtype::uint8;
    std::vector<std::int64_t> shape;
    std::vector<axis_kind> axes;  ///< one per grid axis, or empty when all are of space; those of space come last
    std::vector<double>
        spacing;         ///< one value per grid axis, or empty when the file does not say; steps of time as well
    std::string unit;    ///< of the spacing: "m", "cm", "mm", "um", "nm" or the file's own word; empty when unknown
    bool color = false;  ///< the last axis holds RGB or RGBA samples and is no grid axis
    geo_place place;     ///< readers of TIFF set it, its writer keeps it
    std::string beside;  ///< identity_of() the data file that a detached header names; readers set it
    std::unique_ptr<std::byte[]> data;

    [[nodiscard]] std::int64_t cells() const;  ///< product of shape
    [[nodiscard]] std::int64_t bytes() const { return cells() * size_of(type); }
    [[nodiscard]] int grid_rank() const { return static_cast<int>(shape.size()) - (color ? 1 : 0); }
    [[nodiscard]] int leading_axes() const;    ///< how many are not of space
    [[nodiscard]] any_input<host> in() const;  ///< throws when shape has more axes than a view can carry
    [[nodiscard]] any_output<host> out();
};

/// An uninitialised array. Throws out_of_memory with the bytes needed, invalid_argument for negative or overflowing
/// sizes.
[[nodiscard]] array make_array(dtype type, std::vector<std::int64_t> shape);

/// The last four are read but not written.
enum class format { png, pnm, tiff, npy, nrrd, nifti, meta_image, jpeg, bmp, gif };

/// By suffix: .png; .pgm .pbm .ppm .pnm; .tif .tiff; .npy; .nrrd .nhdr; .nii .nii.gz; .mha .mhd; .jpg .jpeg;
/// .bmp; .gif. Throws io naming the known suffixes.
[[nodiscard]] format format_of(const std::filesystem::path& path);

/// A quarter of the memory that is free now; 2^40 where the system does not say.
[[nodiscard]] std::int64_t usual_max_bytes();

struct read_limits {
    /// A file that claims more array bytes than this is refused before memory is allocated.
    std::int64_t max_bytes = usual_max_bytes();
    /// The data file of a detached header may lie anywhere, not only in the header's folder or below it.
    bool allow_outside = false;
};

/// The file's array. By content where the format has a signature, else by suffix; "-" is standard input. Of a pipe or
/// device no more is read than the header asks for, but all of a TIFF, whose parts may stand in any order.
/// Throws nearfield::error(io) for a file that is missing, truncated, oversized or not what it claims.
[[nodiscard]] array read(const std::filesystem::path& path, const read_limits& limits = {});
/// The same from bytes in memory; what the fuzzers call.
[[nodiscard]] array read(std::span<const std::byte> bytes, format as, const read_limits& limits = {});

/// Deflate inside TIFF and NRRD. automatic: elements of up to 2 bytes yes (masks, labels: they shrink thirtyfold),
/// wider ones no (fields: large, and deflate passes some 200 MB/s). PNG and .nii.gz are always compressed, the other
/// formats never.
enum class compression { automatic, none, deflate };

struct write_options {
    io::compression compression = io::compression::automatic;
};

/// Writes by suffix; "-" writes NPY to standard output. Throws before the file is created when the format cannot hold
/// the array's type, rank or colour, naming formats that can. A file appears whole or not at all.
void write(const std::filesystem::path& path, const array& values, const write_options& options = {});

/// Throws what write() would throw for such an array, without having its data: ask before an hour of computing, not
/// after.
void require_writable(const std::filesystem::path& path, dtype type, const std::vector<std::int64_t>& shape,
                      bool color = false, const std::vector<axis_kind>& axes = {});

/// Throws io when no file could be put there: no such folder, a folder or an old file that may not be written to.
void require_place(const std::filesystem::path& path);

/// Equal for two paths that are one file, or will be once it is written: through links, hard links and folders. Empty
/// for devices and sockets, which may be named twice. "-" is the stream `standard_stream`. Throws io for a folder.
[[nodiscard]] std::string identity_of(const std::filesystem::path& path, int standard_stream);

/// Removes the unfinished files of all writes. Safe in a signal handler that ends the process.
void abandon_outputs() noexcept;

}  // namespace nearfield::io
