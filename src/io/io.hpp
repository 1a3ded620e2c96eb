// Reads and writes arrays in files; one source file per format. Internal to the command line, tests and benchmarks.
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

/// Meaning of an axis: space, images of one scene (times, channels, a list), the components of one cell, or unknown
/// because the file does not tell.
enum class axis_kind : std::uint8_t { space, time, channel, list, vector, unknown };

/// A raster's place on the earth: GeoTIFF's tags unchanged, and GDAL's text of the value that means no data.
struct geo_place {
    std::vector<double> scale, tie_points, matrix, numbers;
    std::vector<std::uint16_t> keys;
    std::string words, no_data;

    bool operator==(const geo_place&) const = default;
    [[nodiscard]] bool known() const { return !keys.empty() || !scale.empty() || !matrix.empty(); }
};
/// Describes a place: "projected, EPSG 32633, column 0 and row 0 at 500000, 4649760"; empty if the place is unknown.
[[nodiscard]] std::string text_of(const geo_place& place);

/// A contiguous array in memory, with facts from its file. Axes are in array order (last one fastest); readers
/// reverse them if a format says (x, y, z), and move axes that are not spatial to the front.
struct array {
    dtype type = dtype::uint8;
    std::vector<std::int64_t> shape;
    std::vector<axis_kind> axes;  ///< one per grid axis, or empty if all are spatial; spatial axes come last
    std::vector<double>
        spacing;         ///< one value per grid axis, or empty if the file does not say; includes steps of time
    std::string unit;    ///< of the spacing: "m", "cm", "mm", "um", "nm" or the file's own word; empty if unknown
    bool color = false;  ///< the last axis holds RGB or RGBA samples and is no grid axis
    geo_place place;     ///< set by the TIFF reader, kept by the TIFF writer
    std::string beside;  ///< identity_of() the data file that a detached header names; set by readers
    std::unique_ptr<std::byte[]> data;

    [[nodiscard]] std::int64_t cells() const;  ///< product of shape
    [[nodiscard]] std::int64_t bytes() const { return cells() * size_of(type); }
    [[nodiscard]] int grid_rank() const { return static_cast<int>(shape.size()) - (color ? 1 : 0); }
    [[nodiscard]] int leading_axes() const;    ///< number of axes that are not spatial
    [[nodiscard]] any_input<host> in() const;  ///< throws if shape has more axes than a view can hold
    [[nodiscard]] any_output<host> out();
};

/// Makes an uninitialised array. Throws out_of_memory with the bytes needed, or invalid_argument for negative or
/// overflowing sizes.
[[nodiscard]] array make_array(dtype type, std::vector<std::int64_t> shape);

/// The file formats. The last four are read but not written.
enum class format { png, pnm, tiff, npy, nrrd, nifti, meta_image, jpeg, bmp, gif };

/// Returns the format of a suffix: .png; .pgm .pbm .ppm .pnm; .tif .tiff; .npy; .nrrd .nhdr; .nii .nii.gz; .mha .mhd;
/// .jpg .jpeg; .bmp; .gif. Throws io, naming the known suffixes.
[[nodiscard]] format format_of(const std::filesystem::path& path);

/// Returns a quarter of the memory that is free now, or 2^40 if the system does not say.
[[nodiscard]] std::int64_t usual_max_bytes();

struct read_limits {
    /// Files that claim more array bytes than this are refused before memory is allocated.
    std::int64_t max_bytes = usual_max_bytes();
    /// Allows the data file of a detached header anywhere, not only in the header's folder or below it.
    bool allow_outside = false;
};

/// Reads a file's array. The format follows from its signature if it has one, else from the suffix; "-" is standard
/// input. A pipe or device is read only as far as its header asks, but a TIFF completely: its parts may have any order.
/// Throws nearfield::error(io) for a file that is missing, truncated, oversized or not what it claims.
[[nodiscard]] array read(const std::filesystem::path& path, const read_limits& limits = {});
/// Reads an array from bytes in memory; the fuzz targets call it.
[[nodiscard]] array read(std::span<const std::byte> bytes, format as, const read_limits& limits = {});

/// Deflate inside TIFF and NRRD. `automatic` deflates elements of up to 2 bytes (masks and labels shrink thirtyfold),
/// but no wider ones (fields are large, and deflate handles some 200 MB/s). PNG and .nii.gz are always compressed, the
/// other formats never.
enum class compression { automatic, none, deflate };

struct write_options {
    io::compression compression = io::compression::automatic;
};

/// Writes in the suffix's format; "-" writes NPY to standard output. Throws before it creates the file if the format
/// cannot hold the array's type, rank or colour, and names formats that can. A file appears complete or not at all.
void write(const std::filesystem::path& path, const array& values, const write_options& options = {});

/// Throws what write() would throw for an array of this type and shape, without needing its data. Call it before a
/// long computation.
void require_writable(const std::filesystem::path& path, dtype type, const std::vector<std::int64_t>& shape,
                      bool color = false, const std::vector<axis_kind>& axes = {});

/// Throws io if no file can be written there: the folder is missing, or folder or old file deny write access.
void require_place(const std::filesystem::path& path);

/// Returns equal texts for paths to one present or future file, through links and hard links; an empty text for devices
/// and sockets, which may be named twice. "-" is the stream `standard_stream`. Throws io for a folder.
[[nodiscard]] std::string identity_of(const std::filesystem::path& path, int standard_stream);

/// Removes the unfinished files of all writes. It is safe in a signal handler that ends the process.
void abandon_outputs() noexcept;

}  // namespace nearfield::io
