#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/parse.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

sites sites_of(const arguments& args, sites otherwise) {
    if (args.multilabel && !args.sites.empty() && args.sites != "other-labels")
        refuse(fmt::format("--multilabel means --sites other-labels, and --sites is {}; leave one of them out",
                           args.sites));
    if (args.multilabel || args.sites == "other-labels") return sites::other_labels;
    return args.sites.empty() ? otherwise : args.sites == "zero" ? sites::zero : sites::nonzero;
}

double max_distance_of(const arguments& args) {
    if (args.max_distance.empty()) return std::numeric_limits<double>::infinity();
    const double most = parse_number("--max-distance", args.max_distance, "--max-distance 10");
    if (!(most >= 0))
        refuse(
            fmt::format("--max-distance is {}; give a length of 0 or more in units of the spacing, e.g. "
                        "--max-distance 10",
                        args.max_distance));
    return most;
}

/// One border for every axis of the array. The list may omit batch axes, which have no border.
std::vector<border> borders_of(const arguments& args, const std::vector<std::int64_t>& shape, std::size_t batch) {
    std::vector<border> given;
    for (const std::string& item : split(args.border.empty() ? "open" : args.border, ','))
        given.push_back(item == "closed" ? border::closed : item == "periodic" ? border::periodic : border::open);
    if (given.size() == 1) return std::vector<border>(shape.size(), given[0]);
    if (given.size() + batch == shape.size()) given.insert(given.begin(), batch, border::open);
    if (given.size() != shape.size()) {
        std::string example = "closed";
        for (std::size_t axis = batch + 1; axis < shape.size(); ++axis) example += ",open";
        refuse(
            fmt::format("--border has {} values for a {}-D array (shape {}); give one for all axes or one per axis in "
                        "array order, e.g. --border {}",
                        given.size(), shape.size(), text_of(shape), example));
    }
    return given;
}

}  // namespace

distance_options options_of(const arguments& args, sites otherwise) {
    distance_options options;
    options.sites = sites_of(args, otherwise);
    options.sign = args.sign.empty()       ? sign::none
                   : args.sign == "inside" ? sign::inside_negative
                                           : sign::outside_negative;
    options.half_cell = args.half_cell;
    options.max_distance = max_distance_of(args);
    check_batch_axes(args);
    options.batch_axes = asked_batch_axes(args);
    return options;
}

distance_options options_for(const arguments& args, sites otherwise, const loaded& input) {
    distance_options options = options_of(args, otherwise);
    const std::vector<std::int64_t>& shape = input.image.shape;
    options.batch_axes = input.batch_axes;
    if (static_cast<std::size_t>(options.batch_axes) >= shape.size())
        refuse(
            fmt::format("--batch-axes is {} and the array has {} ({}); leave at least one axis to search, e.g. "
                        "--batch-axes {}",
                        options.batch_axes, shape.size(), text_of(shape), shape.empty() ? 0 : shape.size() - 1));
    options.spacing = input.cell();
    const std::vector<border> beyond = borders_of(args, shape, static_cast<std::size_t>(options.batch_axes));
    options.border = {beyond.data(), beyond.size()};
    return options;
}

void check_batch_axes(const arguments& args) {
    if (args.batch_axes == arguments::as_the_file_says) return;
    if (args.batch_axes < 0 || args.batch_axes >= max_rank)
        refuse(
            fmt::format("--batch-axes is {}; give 0 to {}, fewer than the array has", args.batch_axes, max_rank - 1));
}

void check_picture_size(const arguments& args) {
    if (args.picture_size == usual_picture_size) return;
    if (args.picture_size < 1 || args.picture_size > 8192)
        refuse(fmt::format("--picture-size is {}; give 1 to 8192 pixels", args.picture_size));
}

page page_of(const arguments& args, const loaded& input) {
    const std::int64_t size = args.picture_size == usual_picture_size ? 0 : args.picture_size;
    return {args.slice, input.batch_axes, static_cast<int>(size)};
}

const char* name_of(sites which) {
    return which == sites::zero ? "zero" : which == sites::nonzero ? "nonzero" : "other-labels";
}

bool any_site(const io::array& image, sites which, const std::uint8_t* part) {
    return with_elements(image.data.get(), image.type, [&](const auto* cells) {
        const auto* first = cells;  // the first cell that takes part
        return std::any_of(cells, cells + image.cells(), [&](const auto& cell) {
            if (part != nullptr && part[&cell - cells] == 0) return first += first == &cell, false;
            const bool zero = static_cast<double>(cell) == 0;
            return which == sites::other_labels ? zero || cell != *first : zero == (which == sites::zero);
        });
    });
}

}  // namespace nearfield::cli
