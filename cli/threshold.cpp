// Turns gray images into masks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/load.hpp"
#include "cli/parse.hpp"
#include "cli/values.hpp"
#include "nearfield/split.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

}  // namespace

io::array make_like(const io::array& image, dtype type, std::vector<std::int64_t> shape) {
    io::array made = io::make_array(type, std::move(shape));
    made.spacing = image.spacing;
    made.unit = image.unit;
    made.axes = image.axes;
    const std::span grid(image.shape.data(), static_cast<std::size_t>(image.grid_rank()));
    if (std::ranges::equal(made.shape, grid)) made.place = image.place, made.place.no_data.clear();
    return made;
}

io::array make_mask(const io::array& image, double threshold) {
    io::array mask = make_like(image, dtype::uint8, image.shape);
    auto* out = reinterpret_cast<std::uint8_t*>(mask.data.get());
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        for (std::int64_t i = 0, n = image.cells(); i < n; ++i)
            out[i] = static_cast<double>(cells[i]) > threshold ? 255 : 0;
    });
    return mask;
}

double otsu_threshold(const io::array& image) {
    const double cut = threshold_otsu(host{}, image.in());
    const bool above = with_elements(image.data.get(), image.type, [&](const auto* cells) {
        return std::any_of(cells, cells + image.cells(), [&](double value) { return value > cut; });
    });
    if (!above)
        refuse("the threshold is Otsu's but all values of the image are equal; give a number, e.g. --threshold 0");
    return cut;
}

io::array without_background(const io::array& image) {
    if (image.shape.size() != 2)
        refuse(
            fmt::format("threshold is local, which is for 2-D images, but the array has shape {}; use --threshold auto",
                        text_of(image.shape)));
    const std::int64_t rows = image.shape[0], columns = image.shape[1],
                       reach = std::max<std::int64_t>(1, std::min(rows, columns) / 5);
    io::array flat = make_like(image, dtype::float64, image.shape);
    auto* out = reinterpret_cast<double*>(flat.data.get());
    // sums[r][c] is the sum of all values above and to the left, so the sum of a window takes four of them.
    std::vector<double> sums(static_cast<std::size_t>((rows + 1) * (columns + 1)), 0);
    const auto sum = [&](std::int64_t r, std::int64_t c) -> double& {
        return sums[static_cast<std::size_t>(r * (columns + 1) + c)];
    };
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < columns; ++c) {
                const auto value = static_cast<double>(cells[r * columns + c]);
                out[r * columns + c] = value;
                sum(r + 1, c + 1) = (std::isfinite(value) ? value : 0) + sum(r, c + 1) + sum(r + 1, c) - sum(r, c);
            }
    });
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
            const std::int64_t top = std::max<std::int64_t>(0, r - reach), bottom = std::min(rows, r + reach + 1);
            const std::int64_t left = std::max<std::int64_t>(0, c - reach), right = std::min(columns, c + reach + 1);
            const double inside = sum(bottom, right) - sum(top, right) - sum(bottom, left) + sum(top, left);
            out[r * columns + c] -= inside / static_cast<double>((bottom - top) * (right - left));
        }
    return flat;
}

io::array apply_threshold(const io::array& image, const std::string& threshold) {
    if (threshold == "auto" || threshold == "otsu") return make_mask(image, otsu_threshold(image));
    if (threshold == "local") {
        const io::array flat = without_background(image);
        return make_mask(flat, otsu_threshold(flat));
    }
    const double above =
        parse_number("--threshold", threshold, "--threshold 127, --threshold otsu or --threshold local");
    if (!std::isfinite(above))
        throw error(
            error_code::invalid_argument,
            fmt::format("--threshold is {}; give a number that values can be above, e.g. --threshold 127", threshold));
    return make_mask(image, above);
}

}  // namespace nearfield::cli
