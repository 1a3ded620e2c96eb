// What any reader takes, written in every format that holds it and read back: the same type, values and axes of space.
#include <cmath>
#include <cstring>
#include <vector>

#include "checked.hpp"

namespace {

using namespace nearfield::io;

/// Lengths of the axes, without those of length 1, which some formats drop.
std::vector<std::int64_t> long_axes(const array& values) {
    std::vector<std::int64_t> found;
    for (const std::int64_t n : values.shape)
        if (n != 1) found.push_back(n);
    return found;
}

bool may_reorder(const array& values) { return values.leading_axes() > 1; }

/// Formats without bool keep it as 0 and 1, or 0 and 255.
nearfield::dtype stored(nearfield::dtype type) {
    return type == nearfield::dtype::boolean ? nearfield::dtype::uint8 : type;
}

void compare(const array& got, const array& wanted, std::string_view suffix) {
    check(got);
    if (stored(got.type) != stored(wanted.type) || got.bytes() != wanted.bytes()) std::abort();
    // NIfTI takes a fourth axis for time, whatever it was.
    const bool nifti = suffix.starts_with(".nii");
    if (may_reorder(wanted) || (nifti && wanted.grid_rank() > 3)) return;
    if (long_axes(got) != long_axes(wanted)) std::abort();
    if (got.color != wanted.color && suffix != ".npy") std::abort();  // NPY has no word for colours
    const bool equal = std::memcmp(got.data.get(), wanted.data.get(), static_cast<std::size_t>(wanted.bytes())) == 0;
    if (!equal) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    for (const format as : {format::png, format::tiff, format::npy, format::nrrd, format::nifti, format::pnm}) {
        array values;
        try {
            values = read(std::span(bytes, size), as, {.max_bytes = 1 << 16});
        } catch (const nearfield::error& e) {
            if (e.code() != nearfield::error_code::io) std::abort();
            continue;
        }
        check(values);
        for (const std::string_view suffix :
             {".npy", ".nrrd", ".nii", ".nii.gz", ".tif", ".png", ".pgm", ".pbm", ".ppm"}) {
            const auto path = fuzz_folder() / ("x" + std::string(suffix));
            try {
                require_writable(path, values.type, values.shape, values.color, values.axes);
            } catch (const nearfield::error&) {
                continue;
            }
            write(path, values);
            compare(read(path), values, suffix);
        }
        break;
    }
    return 0;
}
