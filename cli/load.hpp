// Reading an input: file, colour, threshold, spacing.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "io/io.hpp"

namespace nearfield::cli {

struct loaded {
    io::array image;               ///< no colour, unless load() was asked to keep it
    std::vector<double> per_axis;  ///< spacing, one value per axis; 1 for those that number images
    int batch_axes = 0;            ///< leading axes that number images, by --batch-axes or else by the file
    bool rows_up = false;          ///< a format whose rows are drawn from bottom to top
    double read_ms = 0;

    [[nodiscard]] nearfield::spacing cell() const { return {per_axis.data(), per_axis.size()}; }
};

/// The array of a file, within --max-bytes and --allow-outside. Throws what io::read throws.
[[nodiscard]] io::array read_file(const std::string& path, const arguments& args);

/// The channel that is asked for: of a colour image by take_channel(), else along the axis of channels or components,
/// which then goes. Throws invalid_argument where there is neither.
[[nodiscard]] io::array apply_channel(io::array image, const std::string& channel);

/// --batch-axes; 0 where it is not given.
[[nodiscard]] int asked_batch_axes(const arguments& args);
/// Throws invalid_argument for a --unit that cannot be written.
void check_unit(const arguments& args);
/// How many leading axes number images: --batch-axes, else those of which the file says that they count times, channels
/// or images. The image's axes say the same afterwards. Throws invalid_argument where neither the file nor the user
/// tells.
[[nodiscard]] int settle_axes(const arguments& args, const std::string& path, io::array& image);
/// "3 frames x 24x512x512"
[[nodiscard]] std::string text_of_axes(const io::array& image);
/// " (space: z y x)" of three axes and more, else nothing.
[[nodiscard]] std::string text_of_space(const io::array& image);

/// --channel, --threshold and --spacing applied to the file `path`. Throws what io::read throws, and invalid_argument.
/// With `keep_colour` an image keeps its samples unless one of the first two asks for one value a cell.
[[nodiscard]] loaded load(const std::string& path, const arguments& args, bool keep_colour = false);

/// --random-sites, --size and --seed: 255 in so many cells, else 0.
[[nodiscard]] loaded random_sites(const arguments& args);

/// One value a cell of a colour image: "red", "2" and the like are copied in the image's own type. Luminance is
/// (2126 R + 7152 G + 722 B) / 10000 (ITU-R BT.709) in double, so it is zero only where all three are. Throws
/// invalid_argument for a channel that the image does not have, and for the luminance of integers of 64 bits, which
/// double does not hold.
[[nodiscard]] io::array take_channel(const io::array& image, const std::string& channel);

/// 255 where a cell is above the threshold, else 0. NaN is not above it.
[[nodiscard]] io::array make_mask(const io::array& image, double threshold);

/// The threshold that best separates two classes, from a histogram of 1024 bins; `image` must have a finite value.
/// Otsu, "A threshold selection method from gray-level histograms", IEEE Trans. SMC 9(1), 1979.
[[nodiscard]] double otsu_threshold(const io::array& image);

/// The image less the mean of the square around each cell that reaches a fifth of the shorter side each way: uneven
/// light goes, shapes stay. Throws invalid_argument unless there are two axes.
[[nodiscard]] io::array without_background(const io::array& image);

/// The mask for "auto" (Otsu), "local" (Otsu without the background) or a number.
[[nodiscard]] io::array apply_threshold(const io::array& image, const std::string& threshold);

/// Uninitialised, with the image's spacing, unit and axes; of its shape also with its place.
[[nodiscard]] io::array make_like(const io::array& image, dtype type, std::vector<std::int64_t> shape);

}  // namespace nearfield::cli
