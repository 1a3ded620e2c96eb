// From a gray image to a mask of its bright or dark objects, in units of their own size.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "base/share.hpp"
#include "nearfield/components.hpp"
#include "nearfield/split.hpp"
#include "split/gray_values.hpp"
#include "split/room.hpp"

namespace nearfield {
namespace {

using splitting::each_cell, splitting::each_value, splitting::finite_range, splitting::histogram;

// Shares of the radius of a ball as large as an object. docs/objects.md has counts.
constexpr double blur = 0.125, reach = 1.5, relief = 0.0625;
constexpr double speck = 0.05;  // share of an object's cells
constexpr std::int64_t columns = 16;

/// A block of parallel lines: row i holds the cells i of up to `columns` of them.
struct lines {
    const double* from;
    double* to;
    std::int64_t rows, width;
};

/// Means with weights of a Gaussian, which ends with the line.
void blur_lines(const lines& l, double sigma) {
    const auto half = static_cast<std::int64_t>(std::min(3 * sigma + 0.5, static_cast<double>(l.rows)));
    for (std::int64_t i = 0; i < l.rows; ++i) {
        std::array<double, columns> sum{};
        double total = 0;
        for (std::int64_t k = std::max<std::int64_t>(0, i - half); k <= std::min(l.rows - 1, i + half); ++k) {
            const double apart = static_cast<double>(k - i) / sigma,
                         weight = half == 0 ? 1 : std::exp(-apart * apart / 2);
            total += weight;
            for (std::int64_t c = 0; c < l.width; ++c)
                sum[static_cast<std::size_t>(c)] += weight * l.from[k * l.width + c];
        }
        for (std::int64_t c = 0; c < l.width; ++c) l.to[i * l.width + c] = sum[static_cast<std::size_t>(c)] / total;
    }
}

/// Means over the rows up to `half` away that the line has.
void average_lines(const lines& l, std::int64_t half) {
    std::array<double, columns> sum{};
    std::int64_t first = 0, end = 0;
    for (std::int64_t i = 0; i < l.rows; ++i) {
        for (; end < std::min(l.rows, i + half + 1); ++end)
            for (std::int64_t c = 0; c < l.width; ++c) sum[static_cast<std::size_t>(c)] += l.from[end * l.width + c];
        for (; first < i - half; ++first)
            for (std::int64_t c = 0; c < l.width; ++c) sum[static_cast<std::size_t>(c)] -= l.from[first * l.width + c];
        for (std::int64_t c = 0; c < l.width; ++c)
            l.to[i * l.width + c] = sum[static_cast<std::size_t>(c)] / static_cast<double>(end - first);
    }
}

class gray_call {
public:
    gray_call(const host& on, const any_input<host>& image, const any_output<host>& mask, const split_options& options,
              bool dark)
        : on_{on.threads, {}}, image_(image), mask_(mask), given_(options), dark_(dark) {
        check_image<host>("image", image, std::int64_t{1} << 31);
        if (image.rank > 3)
            fail(fmt::format("image has {} axes; give one image of 1 to 3 axes, with one value a cell", image.rank));
        check_same_shape<host>("mask", mask, image);
        check_type("mask", mask.type, {dtype::boolean});
        const named_view<host> all[] = {{"image", image}, {"mask", mask}};
        check_data<host>(all);
        check_apart<host>(all);
        lengths_ = checked_spacing(options.spacing, image.shape.data(), image.rank);
        alone_.spacing = options.spacing;
    }

    split_options run() {
        split_options found = given_;
        const std::int64_t cells = std::max<std::int64_t>(image_.cells(), 1);
        with_bytes(on_, cells * 21, [&](void* memory) {
            if (rehearsing() != nullptr || image_.cells() == 0) return;
            const auto n = static_cast<std::size_t>(cells);
            value_ = {static_cast<double*>(memory), n}, around_ = {value_.data() + n, n};
            label_ = {reinterpret_cast<std::int32_t*>(around_.data() + n), n};
            inside_ = {reinterpret_cast<bool*>(label_.data() + n), n};
            found = measured();
        });
        return found;
    }

private:
    split_options measured() {
        split_options found = given_;
        read();
        cut();
        const double radius = radius_of(size_of_objects());
        subtract_mean(radius);
        cut();
        hand_out();
        const double shortest = *std::min_element(lengths_.begin(), lengths_.begin() + image_.rank);
        if (found.method == split_method::watershed) {
            if (!found.h) found.h = std::max(usual_height * shortest, relief * radius);
            alone_.h = found.h;
        }
        if (found.smallest == 1)
            found.smallest = std::max<std::int64_t>(1, std::llround(speck * static_cast<double>(size_of_objects())));
        return found;
    }

    /// Reads the values, of dark objects with the other sign, so that sums of as many as there are remain finite.
    void read() {
        double* to = value_.data();
        each_value(image_, [&](double value) { *to++ = dark_ ? -value : value; });
        auto [least, largest] =
            finite_range([&](const auto& use) { std::for_each(value_.begin(), value_.end(), use); });
        if (!(least <= largest)) least = largest = 0;
        const double scale = std::max(-least, largest) > 0x1p900 ? 0x1p-100 : 1;
        for (double& each : value_) each = scale * (std::isnan(each) ? least : std::clamp(each, least, largest));
    }

    /// Makes a mask of the values above Otsu's threshold, and fills its holes, which on a line all gaps would be.
    void cut() {
        const double above =
            histogram([&](const auto& use) { std::for_each(value_.begin(), value_.end(), use); }).otsu();
        for (std::size_t i = 0; i < value_.size(); ++i) inside_[i] = value_[i] > above;
        if (image_.rank == 1) return;
        const std::span<bool> holes{reinterpret_cast<bool*>(label_.data()), value_.size()};
        for (std::size_t i = 0; i < value_.size(); ++i) holes[i] = !inside_[i];
        label_options enclosed;
        enclosed.clear_border = true;
        remove_small(on_, shaped(holes.data(), dtype::boolean), shaped(holes.data(), dtype::boolean), 0, enclosed);
        for (std::size_t i = 0; i < value_.size(); ++i) inside_[i] = inside_[i] || holes[i];
    }

    /// Half of the cells of the mask's objects lie in objects of at least this many cells.
    std::int64_t size_of_objects() {
        std::int64_t count = 0, cells = 0, before = 0;
        const std::array<std::int64_t, 1> one{1};
        split(on_, shaped(inside_.data(), dtype::boolean), shaped(label_.data(), dtype::int32), alone_,
              any_output<host>::contiguous(&count, dtype::int64, one));
        std::vector<std::int64_t> sizes(static_cast<std::size_t>(count) + 1);
        for (const std::int32_t each : label_) ++sizes[static_cast<std::size_t>(each)];
        sizes[0] = 0;
        std::sort(sizes.begin(), sizes.end());
        for (const std::int64_t each : sizes) cells += each;
        for (const std::int64_t each : sizes)
            if (2 * (before += each) >= cells) return each;
        return 0;
    }

    [[nodiscard]] double radius_of(std::int64_t cells) const {
        double volume = static_cast<double>(cells);
        for (int axis = 0; axis < image_.rank; ++axis) volume *= lengths_[static_cast<std::size_t>(axis)];
        if (image_.rank == 1) return volume / 2;
        if (image_.rank == 2) return std::sqrt(volume / std::numbers::pi);
        return std::cbrt(volume * 3 / (4 * std::numbers::pi));
    }

    /// Blurs the values, and takes away their mean within a window.
    void subtract_mean(double radius) {
        for (int axis = 0; axis < image_.rank; ++axis) {
            const double sigma = blur * radius / lengths_[static_cast<std::size_t>(axis)];
            along(value_, axis, [&](const lines& l) { blur_lines(l, sigma); });
        }
        std::copy(value_.begin(), value_.end(), around_.begin());
        for (int axis = 0; axis < image_.rank; ++axis) {
            const double cells = std::round(reach * radius / lengths_[static_cast<std::size_t>(axis)]);
            along(around_, axis, [&](const lines& l) {
                average_lines(l, static_cast<std::int64_t>(std::min(cells, static_cast<double>(l.rows))));
            });
        }
        for (std::size_t i = 0; i < value_.size(); ++i) value_[i] -= around_[i];
    }

    /// Replaces the lines along an axis by what `filter` makes of them, up to `columns` of them at a time.
    template <class Filter>
    void along(std::span<double> cells, int axis, const Filter& filter) const {
        const std::int64_t rows = image_.shape[static_cast<std::size_t>(axis)];
        std::int64_t inner = 1;
        for (int k = axis + 1; k < image_.rank; ++k) inner *= image_.shape[static_cast<std::size_t>(k)];
        const std::int64_t across = (inner + columns - 1) / columns, count = image_.cells() / (rows * inner) * across;
        workers team(on_, count);
        team.for_each(count, 16, 1, [&](std::int64_t first, std::int64_t last, int) {
            std::vector<double> from(static_cast<std::size_t>(rows * columns)), to(from.size());
            for (; first < last; ++first) {
                const std::int64_t left = first % across * columns, width = std::min(columns, inner - left);
                double* const corner = cells.data() + first / across * rows * inner + left;
                for (std::int64_t i = 0; i < rows; ++i) std::copy_n(corner + i * inner, width, from.data() + i * width);
                filter(lines{from.data(), to.data(), rows, width});
                for (std::int64_t i = 0; i < rows; ++i) std::copy_n(to.data() + i * width, width, corner + i * inner);
            }
        });
    }

    void hand_out() const {
        std::int64_t at = 0;
        each_cell(mask_, [&](std::int64_t offset) {
            static_cast<bool*>(mask_.data)[offset] = inside_[static_cast<std::size_t>(at++)];
        });
    }

    [[nodiscard]] any_output<host> shaped(void* data, dtype type) const {
        return any_output<host>::contiguous(data, type,
                                            std::span(image_.shape.data(), static_cast<std::size_t>(image_.rank)));
    }

    const host on_;  // without progress: split(), which follows, reports it
    const any_input<host>& image_;
    const any_output<host>& mask_;
    const split_options& given_;
    const bool dark_;
    split_options alone_;
    std::array<double, max_rank> lengths_{};
    std::span<double> value_, around_;
    std::span<std::int32_t> label_;
    std::span<bool> inside_;
};

}  // namespace

split_options gray_objects(const host& on, const any_input<host>& image, const any_output<host>& mask,
                           const split_options& options, bool dark) {
    return in_call([&] { return gray_call(on, image, mask, options, dark).run(); });
}

}  // namespace nearfield
