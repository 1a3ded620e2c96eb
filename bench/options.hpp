// The options of the full call, each beside the plain call: one list for host and device.
#pragma once

#include <string>
#include <vector>

#include "bench.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::bench {

/// What the cells of an image are.
enum class content { sites, few_sites, seeds, labels, few_labels, blobs };

struct option_case {
    const char* name;
    content image = content::sites;
    distance_options options{};
    bool index = false, label = false, trusted = false, distance = true;
    bool weighted = false;
};

inline std::vector<option_case> option_cases(int rank) {
    const double uneven[max_rank] = {2, 1, 3}, real[max_rank] = {0.7, 0.31, 0.5};
    const spacing whole(uneven, static_cast<std::size_t>(rank)), close(real, static_cast<std::size_t>(rank));
    return {
        {.name = "plain"},
        {.name = "spacing, integral", .options = {.spacing = whole}},
        {.name = "spacing, real", .options = {.spacing = close}},
        {.name = "closed borders", .options = {.border = border::closed}},
        {.name = "periodic borders", .options = {.border = border::periodic}},
        {.name = "max_distance 3", .options = {.max_distance = 3}},
        {.name = "max_distance 10", .options = {.max_distance = 10}},
        {.name = "max_distance 30", .options = {.max_distance = 30}},
        {.name = "0.01 % sites, plain", .image = content::few_sites},
        {.name = "0.01 % sites, max_distance 3", .image = content::few_sites, .options = {.max_distance = 3}},
        {.name = "0.01 % sites, max_distance 10", .image = content::few_sites, .options = {.max_distance = 10}},
        {.name = "half_cell", .options = {.half_cell = true}},
        {.name = "trusted", .trusted = true},
        {.name = "blobs, plain", .image = content::blobs},
        {.name = "blobs, signed", .image = content::blobs, .options = {.sign = sign::inside_negative}},
        {.name = "2 labels", .image = content::few_labels, .options = {.sites = sites::other_labels}},
        {.name = "a million labels", .image = content::labels, .options = {.sites = sites::other_labels}},
        {.name = "plain, index", .index = true, .distance = false},
        {.name = "periodic borders, index", .options = {.border = border::periodic}, .index = true, .distance = false},
        {.name = "nearest label",
         .image = content::seeds,
         .options = {.sites = sites::nonzero},
         .label = true,
         .distance = false},
        {.name = "a million labels, index",
         .image = content::labels,
         .options = {.sites = sites::other_labels},
         .index = true,
         .distance = false},
        {.name = "power diagram, index", .image = content::seeds, .index = true, .distance = false, .weighted = true},
    };
}

/// Cells of an image as uint32: sites are zeros (1 % at random, or 0.01 %), seeds the same cells as ones; labels are blocks of equal size, numbered from 1.
inline std::vector<std::uint32_t> option_image(const shape_t& shape, content what) {
    const std::int64_t cells = cells_of(shape), rank = static_cast<std::int64_t>(shape.size());
    std::vector<std::uint32_t> image(static_cast<std::size_t>(cells));
    if (what == content::sites || what == content::few_sites || what == content::seeds) {
        const auto sites = random_sites(cells, what == content::few_sites ? 0.0001 : 0.01);
        std::transform(sites.begin(), sites.end(), image.begin(), [&](std::uint8_t zero_is_site) {
            return what == content::seeds ? std::uint32_t{1} - zero_is_site : std::uint32_t{zero_is_site};
        });
        return image;
    }
    // 2 halves; or 100 blocks along each axis of a volume, 1000 of an image; or a checkerboard of blocks of 64.
    for (std::int64_t i = 0; i < cells; ++i) {
        std::int64_t rest = i, number = 0, parity = 0;
        for (std::int64_t axis = rank - 1; axis >= 0; --axis) {
            const std::int64_t n = shape[static_cast<std::size_t>(axis)], at = rest % n;
            rest /= n;
            const std::int64_t blocks = what == content::few_labels ? (axis == rank - 1 ? 2 : 1)
                                        : rank == 2                 ? 1000
                                                                    : 100;
            number = number * blocks + at * blocks / n;
            parity += at / 64;
        }
        image[static_cast<std::size_t>(i)] =
            what == content::blobs ? static_cast<std::uint32_t>(parity % 2) : static_cast<std::uint32_t>(number + 1);
    }
    return image;
}

/// Whether a case reads uint32 cells; the others read bytes.
inline bool reads_labels(const option_case& c) {
    return c.image == content::labels || c.image == content::few_labels || c.label;
}

struct option_result {
    std::string name;
    shape_t shape;
    double ms = 0;
    double times = 0;  ///< of the plain call of its kind
};

struct option_session {
    std::string place, device, details;
    double copy_gb_s = 0;
    std::vector<option_result> results;
};

/// Adds a result and prints its line; `plain` is the time to compare with, or 0.
void report(option_session& s, const std::string& name, const shape_t& shape, double ms, double plain);

/// The GPU's part; throws nearfield::error where there is none.
option_session measure_options_on_device(const std::vector<shape_t>& shapes);

}  // namespace nearfield::bench
