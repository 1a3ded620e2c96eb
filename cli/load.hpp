// Reads an input: file, colour, threshold and spacing.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "io/io.hpp"

namespace nearfield::cli {

struct loaded {
    io::array image;               ///< without colour, unless load() was asked to keep it
    std::vector<double> per_axis;  ///< spacing, one value for each axis; 1 for axes that number images
    int batch_axes = 0;            ///< leading axes that number images, by --batch-axes or else by the file
    bool rows_up = false;          ///< true if the format's rows are drawn from bottom to top
    double read_ms = 0;

    [[nodiscard]] nearfield::spacing cell() const { return {per_axis.data(), per_axis.size()}; }
};

/// Reads the array of a file, within --max-bytes and --allow-outside. Throws what io::read throws.
[[nodiscard]] io::array read_file(const std::string& path, const arguments& args);

/// Selects a channel: of a colour image by take_channel(), else along the axis of channels or components, which it
/// drops. Throws invalid_argument if there is neither.
[[nodiscard]] io::array apply_channel(io::array image, const std::string& channel);

/// The value of --batch-axes; 0 if it is not given.
[[nodiscard]] int asked_batch_axes(const arguments& args);
/// Throws invalid_argument if --unit cannot be written into a file.
void check_unit(const arguments& args);
/// Number of leading axes that number images: --batch-axes, else those that count times, channels or images
/// according to the file. Marks the image's axes accordingly. Throws invalid_argument if neither the file nor the
/// user says it.
[[nodiscard]] int settle_axes(const arguments& args, const std::string& path, io::array& image);
/// Text of the axes, as "3 frames x 24x512x512".
[[nodiscard]] std::string text_of_axes(const io::array& image);
/// " (space: z y x)" for three axes and more, else "".
[[nodiscard]] std::string text_of_space(const io::array& image);

/// Loads `path` and applies --channel, --threshold and --spacing. Throws what io::read throws, and invalid_argument.
/// With `keep_colour` an image keeps its samples unless one of the first two options asks for one value a cell.
[[nodiscard]] loaded load(const std::string& path, const arguments& args, bool keep_colour = false);

/// Makes an input by --random-sites, --size and --seed: 255 in that many cells, else 0.
[[nodiscard]] loaded random_sites(const arguments& args);

/// One value a cell of a colour image. "red", "2" and the like are copied in the image's type. Luminance is
/// (2126 R + 7152 G + 722 B) / 10000 (ITU-R BT.709) in double, so it is zero only if all three are. Throws
/// invalid_argument for a missing channel, and for the luminance of 64-bit integers, which double cannot
/// hold.
[[nodiscard]] io::array take_channel(const io::array& image, const std::string& channel);

/// 255 if a cell is above the threshold, else 0. NaN is not above it.
[[nodiscard]] io::array make_mask(const io::array& image, double threshold);

/// threshold_otsu() of an image. Throws invalid_argument if all values are equal, or none is finite.
[[nodiscard]] double otsu_threshold(const io::array& image);

/// Subtracts from each cell the mean of a square around it, which reaches a fifth of the shorter side each way. This
/// removes uneven light and keeps shapes. Throws invalid_argument unless there are two axes.
[[nodiscard]] io::array without_background(const io::array& image);

/// The mask for "otsu" or "auto", "local" (Otsu without the background) or a number.
[[nodiscard]] io::array apply_threshold(const io::array& image, const std::string& threshold);

/// Uninitialised, with the image's spacing, unit and axes; of its shape also with its place.
[[nodiscard]] io::array make_like(const io::array& image, dtype type, std::vector<std::int64_t> shape);

}  // namespace nearfield::cli
