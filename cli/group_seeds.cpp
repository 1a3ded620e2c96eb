// Finds the sites that belong together.
#include <bit>
#include <memory>
#include <set>

#include "cli/picture.hpp"
#include "cli/values.hpp"
#include "nearfield/label.hpp"

namespace nearfield::cli {
namespace {

/// True if the values are labels: integers, with more than one value besides zero, but only a few.
bool carries_labels(const io::array& seeds) {
    if (is_floating(seeds.type) || seeds.type == dtype::boolean) return false;
    return with_elements(seeds.data.get(), seeds.type, [&](const auto* cells) {
        std::set<std::int64_t> values;
        for (std::int64_t i = 0, n = seeds.cells(); i < n && values.size() <= 65536; ++i) {
            // int8 labels are numbers, no characters. NOLINTNEXTLINE(bugprone-signed-char-misuse)
            const auto value = static_cast<std::int64_t>(cells[i]);
            if (value != 0 && (i == 0 || cells[i] != cells[i - 1])) values.insert(value);
        }
        return values.size() >= 2 && values.size() <= 65536;
    });
}

}  // namespace

std::function<std::int64_t(std::int64_t)> group_by_value(const io::array& seeds) {
    const std::byte* data = seeds.data.get();
    return [data, type = seeds.type](std::int64_t site) {
        return with_elements(data, type, [&]<class T>(const T* cells) {
            if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(cells[site]);
            else return std::bit_cast<std::int64_t>(static_cast<double>(cells[site]));
        });
    };
}

std::function<std::int64_t(std::int64_t)> group_seeds(const io::array& seeds, bool zero_is_site, int batch_axes) {
    if (!zero_is_site && carries_labels(seeds)) return group_by_value(seeds);
    // Sites that touch, also by corners, belong together.
    io::array mask = io::make_array(dtype::uint8, seeds.shape);
    with_elements(seeds.data.get(), seeds.type, [&](const auto* cells) {
        for (std::int64_t i = 0, n = seeds.cells(); i < n; ++i)
            mask.data[i] = std::byte{(static_cast<double>(cells[i]) == 0) == zero_is_site};
    });
    label_options options;
    options.batch_axes = batch_axes;
    options.connectivity = static_cast<int>(seeds.shape.size()) - batch_axes;
    const auto labels = std::make_shared<io::array>(io::make_array(dtype::int64, seeds.shape));
    label(host{}, mask.in(), labels->out(), options);
    std::int64_t image_cells = 1;
    for (std::size_t axis = static_cast<std::size_t>(batch_axes); axis < seeds.shape.size(); ++axis)
        image_cells *= seeds.shape[axis];
    return [labels, image_cells, stride = image_cells + 1](std::int64_t site) {
        return site / image_cells * stride + reinterpret_cast<const std::int64_t*>(labels->data.get())[site];
    };
}

}  // namespace nearfield::cli
