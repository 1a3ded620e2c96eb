// The options of the full call, each beside the plain call: one list for host and device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::bench {

/// What the cells of an image are.
enum class content { sites, few_sites, seeds, labels, few_labels, blobs };

struct option_case {
    const char* name;
    const char* with = "plain";  ///< the case whose time it is compared with; one of those before it, or itself
    content image = content::sites;
    distance_options options{};
    bool index = false, label = false, trusted = false, distance = true;
    bool weighted = false;
};

/// All cases; over 40 lines because it is one list.
inline std::vector<option_case> option_cases(int rank) {
    const double uneven[max_rank] = {2, 1, 3}, real[max_rank] = {0.7, 0.31, 0.5};
    const spacing whole(uneven, static_cast<std::size_t>(rank)), close(real, static_cast<std::size_t>(rank));
    constexpr content few = content::few_sites, blobs = content::blobs, labels = content::labels;
    constexpr const char *of_few = "0.01 % sites, plain", *of_blobs = "blobs, plain", *of_index = "plain, index";
    return {
        {.name = "plain"},
        {.name = "spacing, integral", .options = {.spacing = whole}},
        {.name = "spacing, real", .options = {.spacing = close}},
        {.name = "spacing, real, the same along all axes", .options = {.spacing = 0.65}},
        {.name = "closed borders", .options = {.border = border::closed}},
        {.name = "periodic borders", .options = {.border = border::periodic}},
        {.name = "max_distance 3", .options = {.max_distance = 3}},
        {.name = "max_distance 10", .options = {.max_distance = 10}},
        {.name = "max_distance 30", .options = {.max_distance = 30}},
        {.name = "signed", .options = {.sign = sign::inside_negative}},
        {.name = "half_cell", .options = {.half_cell = true}},
        {.name = "trusted", .trusted = true},
        {.name = "2 labels", .image = content::few_labels, .options = {.sites = sites::other_labels}},
        {.name = "a million labels", .image = labels, .options = {.sites = sites::other_labels}},
        {.name = of_few, .with = of_few, .image = few},
        {.name = "0.01 % sites, spacing the same along all axes",
         .with = of_few,
         .image = few,
         .options = {.spacing = 0.65}},
        {.name = "0.01 % sites, max_distance 3", .with = of_few, .image = few, .options = {.max_distance = 3}},
        {.name = "0.01 % sites, max_distance 10", .with = of_few, .image = few, .options = {.max_distance = 10}},
        {.name = of_blobs, .with = of_blobs, .image = blobs},
        {.name = "blobs, signed", .with = of_blobs, .image = blobs, .options = {.sign = sign::inside_negative}},
        {.name = of_index, .with = of_index, .index = true, .distance = false},
        {.name = "periodic borders, index",
         .with = of_index,
         .options = {.border = border::periodic},
         .index = true,
         .distance = false},
        {.name = "nearest label",
         .with = of_index,
         .image = content::seeds,
         .options = {.sites = sites::nonzero},
         .label = true,
         .distance = false},
        {.name = "a million labels, index",
         .with = of_index,
         .image = labels,
         .options = {.sites = sites::other_labels},
         .index = true,
         .distance = false},
        {.name = "power diagram, index",
         .with = of_index,
         .image = content::seeds,
         .index = true,
         .distance = false,
         .weighted = true},
    };
}

/// Cells of an image as uint32: sites are zeros (1 % at random, or 0.01 %), seeds the same cells as ones; labels are
/// blocks of equal size, numbered from 1.
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
    const auto value_of = [&](std::int64_t i) {
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
        return static_cast<std::uint32_t>(what == content::blobs ? parity % 2 : number + 1);
    };
    spread(cells, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) image[static_cast<std::size_t>(i)] = value_of(i);
    });
    return image;
}

/// The images of one shape, each made once.
class option_images {
public:
    explicit option_images(const shape_t& shape) : shape_(shape) {}
    const std::vector<std::uint32_t>& operator[](content what) {
        auto& image = made_[what];
        if (image.empty()) image = option_image(shape_, what);
        return image;
    }

private:
    shape_t shape_;
    std::map<content, std::vector<std::uint32_t>> made_;
};

/// Whether a case reads uint32 cells; the others read bytes.
inline bool reads_labels(const option_case& c) {
    return c.image == content::labels || c.image == content::few_labels || c.label;
}

struct option_result {
    std::string name;
    std::string with;  ///< what `times` compares with: a case, or what its name says
    shape_t shape;
    double ms = 0;
    double times = 0;
};

struct option_session {
    session head;  ///< its results stay empty
    std::vector<option_result> results;
};

/// Adds a result and prints its line; `compared` is the time of `with`.
void report(option_session& s, const std::string& name, const std::string& with, const shape_t& shape, double ms,
            double compared);

/// Every case on one shape; time_of(case, its image) gives milliseconds.
template <class Time>
void measure_options(option_session& s, const shape_t& shape, Time&& time_of) {
    option_images images(shape);
    std::map<std::string, double> all;
    for (const option_case& c : option_cases(static_cast<int>(shape.size()))) {
        const double ms = time_of(c, images[c.image]);
        all[c.name] = ms;
        report(s, c.name, c.with, shape, ms, all.at(c.with));
    }
}

/// The GPU's part; throws nearfield::error where there is none.
option_session measure_options_on_device(const std::vector<shape_t>& shapes);

}  // namespace nearfield::bench
