// The labels of a call and their codes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "base/check.hpp"
#include "base/lines.hpp"
#include "base/rehearsal.hpp"
#include "metrics/core.hpp"

namespace nearfield::metrics {

/// The place whose progress covers the share [from, to] of the call's.
inline host part_of(const host& on, double from, double to) {
    if (!on.progress) return on;
    return {on.threads, [&on, from, to](double share) { return on.progress(from + (to - from) * share); }};
}
inline device part_of(const device& on, double, double) { return on; }

template <class Place>
std::vector<std::int64_t> labels_of(const Place& on, const any_input<Place>& a, const any_input<Place>& b,
                                    std::span<const std::int64_t> given) {
    if (given.empty()) {
        if (a.cells() == 0) return {};
        if (rehearsing() != nullptr) return {1};
        std::vector<std::int64_t> found = values_of(part_of(on, 0, 0.05), a, b);
        if (!found.empty() && found.back() < 0)
            fail(fmt::format("a or b has values below 0 or beyond {}; name the labels to compare", most_found));
        return found;
    }
    return {given.begin(), given.end()};
}

inline constexpr int own_codes = 255;

/// Returns whether an image lies as codes do: a device reads whole words of them.
template <class Place>
bool lies_as_codes(const any_input<Place>& image) {
    const bool words = std::is_same_v<Place, host> ||
                       (image.cells() % 4 == 0 && reinterpret_cast<std::uintptr_t>(image.data) % 4 == 0);
    return words && (image.type == dtype::uint8 || image.type == dtype::boolean) &&
           is_contiguous(image.shape.data(), image.stride.data(), image.rank);
}
/// Returns whether the values of both images are their own codes. There are tallies of all codes for each image.
template <class Place>
bool are_codes(const any_input<Place>& a, const any_input<Place>& b, std::span<const std::int64_t> labels,
               std::int64_t images) {
    constexpr std::int64_t most_images = 16;
    return lies_as_codes(a) && lies_as_codes(b) && images <= most_images &&
           std::ranges::all_of(labels, [](std::int64_t label) { return label > 0 && label <= own_codes; });
}

inline coding coding_of(const std::vector<std::int64_t>& labels) {
    std::vector<std::uint32_t> order(labels.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::uint32_t k) { return labels[k]; });
    coding by;
    for (const std::uint32_t k : order) {
        if (!by.value.empty() && by.value.back() == labels[k])
            fail(fmt::format("labels has {} twice; give each value once", labels[k]));
        by.value.push_back(labels[k]), by.code.push_back(k + 1);
    }
    return by;
}

/// Returns the rows of the wanted labels, by default of those that occur, out of a row for each code of each image.
inline std::vector<surface_distances> wanted_of(const std::vector<surface_distances>& rows, const problem& p,
                                                std::span<const std::int64_t> wanted) {
    std::vector<std::int64_t> labels(wanted.begin(), wanted.end());
    const auto occurs = [](const surface_distances& row) { return row.cells[0] != 0 || row.cells[1] != 0; };
    const auto row_of = [&](std::int64_t image, std::int64_t label) -> const surface_distances& {
        return rows[static_cast<std::size_t>(image * p.labels + label - 1)];
    };
    for (std::int64_t label = 1; label <= p.labels && wanted.empty(); ++label)
        for (std::int64_t image = 0; image < p.images && (labels.empty() || labels.back() < label); ++image)
            if (occurs(row_of(image, label))) labels.push_back(label);
    std::vector<surface_distances> found;
    for (std::int64_t image = 0; image < p.images; ++image)
        for (const std::int64_t label : labels) found.push_back(row_of(image, label));
    return found;
}

}  // namespace nearfield::metrics
