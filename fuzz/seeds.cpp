// fuzz_seeds FOLDER: writes the first corpus, one small file of each kind, to FOLDER/FORMAT.
#include <cstdio>
#include <string>

#include "io/io.hpp"

namespace {

using namespace nearfield;

struct seed {
    const char* name;
    dtype type;
    std::vector<std::int64_t> shape;
    bool color = false;
    const char* axes = "";  ///< the first letters of their kinds
};
const seed seeds[] = {{"png/bits.png", dtype::boolean, {5, 11}},
                      {"png/gray.png", dtype::uint8, {5, 7}},
                      {"png/gray16.png", dtype::uint16, {5, 7}},
                      {"png/rgb.png", dtype::uint8, {5, 7, 3}, true},
                      {"png/rgba16.png", dtype::uint16, {5, 7, 4}, true},
                      {"pnm/bits.pbm", dtype::boolean, {5, 11}},
                      {"pnm/gray.pgm", dtype::uint8, {5, 7}},
                      {"pnm/gray16.pgm", dtype::uint16, {5, 7}},
                      {"pnm/rgb.ppm", dtype::uint8, {5, 7, 3}, true},
                      {"tiff/bits.tif", dtype::boolean, {5, 11}},
                      {"tiff/deflate.tif", dtype::uint16, {5, 7}},
                      {"tiff/pages.tif", dtype::float32, {3, 5, 7}},
                      {"tiff/rgba.tif", dtype::uint8, {5, 7, 4}, true},
                      {"tiff/wide.tif", dtype::int64, {2, 3}},
                      {"npy/bool.npy", dtype::boolean, {5}},
                      {"npy/half.npy", dtype::float16, {2, 3}},
                      {"npy/deep.npy", dtype::int32, {2, 1, 3, 1, 2}},
                      {"nrrd/gzip.nrrd", dtype::int16, {3, 5, 7}},
                      {"nrrd/raw.nrrd", dtype::float64, {3, 5}},
                      {"nrrd/rgb.nrrd", dtype::uint8, {5, 7, 3}, true},
                      {"nifti/plain.nii", dtype::float32, {3, 5, 7}},
                      {"nifti/gzip.nii.gz", dtype::uint8, {3, 5, 7}},
                      {"nifti/rgb.nii", dtype::uint8, {5, 7, 3}, true},
                      {"nifti/version2.nii.gz", dtype::uint8, {1, 2, 32768}},
                      {"tiff/hyperstack.tif", dtype::uint8, {2, 3, 2, 4, 5}, false, "tcsss"},
                      {"nifti/series.nii", dtype::uint8, {2, 3, 4, 5}, false, "tsss"},
                      {"nrrd/vectors.nrrd", dtype::uint8, {3, 4, 5}, false, "vss"}};

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("usage: fuzz_seeds FOLDER\n", stderr);
        return 2;
    }
    for (const seed& s : seeds) {
        io::array values = io::make_array(s.type, s.shape);
        for (std::int64_t i = 0; i < values.bytes(); ++i)
            values.data[static_cast<std::size_t>(i)] =
                static_cast<std::byte>(s.type == dtype::boolean ? i % 3 == 0 : i * 7 % 4);
        values.color = s.color;
        for (const char letter : std::string_view(s.axes))
            values.axes.push_back(static_cast<io::axis_kind>(std::string_view("stclvu").find(letter)));
        values.spacing.assign(static_cast<std::size_t>(values.grid_rank()), 0.7);
        values.unit = "mm";
        const std::filesystem::path path = std::filesystem::path(arguments[1]) / s.name;
        std::filesystem::create_directories(path.parent_path());
        io::write(path, values);
    }
    return 0;
}
