// The formats, one source file each. A reader gets a source that it must not trust. refuse() says in one sentence why
// the format cannot hold such an array, or returns an empty text. A writer is called only if refuse() returned none.
#pragma once

#include <string>

#include "io/bytes.hpp"

namespace nearfield::io {

/// An array without its data, and the lower-case suffix of the file to write.
struct outline {
    dtype type;
    std::span<const std::int64_t> shape;
    bool color;
    std::string_view suffix;
    std::span<const axis_kind> axes;

    [[nodiscard]] int rank() const { return static_cast<int>(shape.size()); }
    [[nodiscard]] int grid_rank() const { return rank() - (color ? 1 : 0); }
    [[nodiscard]] bool empty() const;  ///< some axis has length 0
};

array read_png(const source& from, const read_limits& limits);
std::string refuse_png(const outline& o);
void write_png(output& to, const array& values);

array read_pnm(const source& from, const read_limits& limits);
std::string refuse_pnm(const outline& o);
void write_pnm(output& to, const array& values, std::string_view suffix);

array read_tiff(const source& from, const read_limits& limits);
std::string refuse_tiff(const outline& o);
void write_tiff(output& to, const array& values, compression wanted);

array read_npy(stream& from, const read_limits& limits);
std::string refuse_npy(const outline& o);
void write_npy(output& to, const array& values);

array read_nrrd(const source& from, const read_limits& limits);
std::string refuse_nrrd(const outline& o);
void write_nrrd(output& to, const array& values, compression wanted);

array read_nifti(const source& from, const read_limits& limits);
std::string refuse_nifti(const outline& o);
void write_nifti(output& to, const array& values, std::string_view suffix);

array read_meta_image(const source& from, const read_limits& limits);
array read_jpeg(const source& from, const read_limits& limits);
array read_bmp(const source& from, const read_limits& limits);
array read_gif(const source& from, const read_limits& limits);

/// Resolves compression::automatic for a type.
bool deflates(compression wanted, dtype type);

}  // namespace nearfield::io
