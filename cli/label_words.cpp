#include "cli/label_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/parse.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

template <class T>
bool is_whole(const std::string& text, T& value) {
    const char* last = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), last, value);
    return problem == std::errc() && end == last;
}

void take_criterion(const arguments& args, label_options& options) {
    if (args.criterion == "links") {
        options.criterion = criterion::links;
        if (!args.background.empty())
            refuse(
                fmt::format("--background is {}, and --criterion links has no background; --min-size 2 drops cells "
                            "without links",
                            args.background));
    } else if (args.criterion == "nonzero") {
        if (!args.background.empty())
            refuse(
                fmt::format("--background is {}, and --criterion nonzero has zero for its background; give --criterion "
                            "equal or a number too",
                            args.background));
    } else if (args.criterion == "equal") {
        options.criterion = criterion::equal;
    } else {
        options.criterion = criterion::within;
        options.tolerance =
            parse_scalar("--criterion", args.criterion, "--criterion 5, or one of the words nonzero, equal and links");
        if (options.tolerance.is_negative() || std::isnan(options.tolerance.real()))
            refuse(fmt::format("--criterion is {}; a difference is 0 or more, e.g. --criterion 5", args.criterion));
    }
    if (!args.norm.empty() && options.criterion != criterion::within)
        refuse("--norm says how two colours are compared; give the largest difference too, e.g. --criterion 20");
    options.norm = args.norm == "sum"         ? colour_norm::sum
                   : args.norm == "euclidean" ? colour_norm::euclidean
                                              : colour_norm::maximum;
    options.has_background = args.background != "none";
    if (options.has_background && !args.background.empty())
        options.background = parse_scalar("--background", args.background, "--background 255 or --background none");
}

void take_filters(const arguments& args, label_options& options) {
    const auto at_least_one = [](const char* name, std::int64_t value, const char* what) {
        if (value < 1) refuse(fmt::format("{} is {}; give 1 or more {}", name, value, what));
        return value;
    };
    options.smallest = at_least_one("--min-size", args.min_size, "cells");
    options.largest = at_least_one("--max-size", args.max_size, "cells");
    options.keep_largest = at_least_one("--largest", args.largest, "components");
    if (options.smallest > options.largest)
        refuse(fmt::format("--min-size is {} and --max-size is {}; no component is as large as that and as small",
                           args.min_size, args.max_size));
    options.clear_border = args.clear_border;
}

std::vector<border> borders_of(const arguments& args, std::span<const std::int64_t> axes) {
    if (args.periodic && !args.border.empty() && args.border != "periodic")
        refuse(fmt::format("--periodic is --border periodic, and --border is {}; leave one of them out", args.border));
    std::vector<border> given;
    if (args.periodic) given.push_back(border::periodic);
    else
        for (const std::string& item : split(args.border.empty() ? "open" : args.border, ','))
            given.push_back(item == "periodic" ? border::periodic : border::open);
    if (given.size() == 1) given.resize(axes.size(), given[0]);
    if (given.size() != axes.size()) {
        std::string example = "periodic";
        for (std::size_t axis = 1; axis < axes.size(); ++axis) example += ",open";
        refuse(
            fmt::format("--border has {} values for {} axes (shape {}); give one for all or one per axis in array "
                        "order, e.g. --border {}",
                        given.size(), axes.size(), text_of(axes), example));
    }
    return given;
}

void check_connectivity(const arguments& args, std::size_t axes) {
    const std::int64_t n = args.connectivity;
    const auto count = static_cast<std::int64_t>(axes);
    const bool by_count =
        (axes == 1 && n == 2) || (axes == 2 && (n == 4 || n == 8)) || (axes == 3 && (n == 6 || n == 18 || n == 26));
    if (by_count || (n >= 1 && n <= count)) return;
    const char* counts = axes == 1   ? " or 2"
                         : axes == 2 ? " to 2, or 4 or 8"
                         : axes == 3 ? " to 3, or 6, 18 or 26"
                                     : "";
    refuse(fmt::format("--connectivity is {} for an image of {} ax{}; give {}{}", n, axes, axes == 1 ? "is" : "es", 1,
                       axes > 3 ? fmt::format(" to {}", axes) : counts));
}

}  // namespace

scalar parse_scalar(const std::string& name, const std::string& text, const std::string& example) {
    if (std::int64_t whole = 0; is_whole(text, whole)) return whole;
    if (std::uint64_t whole = 0; is_whole(text, whole)) return whole;
    return parse_number(name, text, example);
}

label_options label_options_of(const arguments& args) {
    label_options options;
    take_criterion(args, options);
    take_filters(args, options);
    if (args.batch_axes < 0 || args.batch_axes >= max_rank)
        refuse(
            fmt::format("--batch-axes is {}; give 0 to {}, fewer than the array has", args.batch_axes, max_rank - 1));
    options.batch_axes = static_cast<int>(args.batch_axes);
    if (args.connectivity < 1 || args.connectivity > 26)
        refuse(fmt::format(
            "--connectivity is {}; give how many coordinates a step may change, 1 to the number of axes, or "
            "the number of neighbours: 4 or 8, 6, 18 or 26",
            args.connectivity));
    options.connectivity = static_cast<int>(args.connectivity);
    return options;
}

io::array comparable(const io::array& image) {
    if (image.type != dtype::float16) return {};
    io::array wide = make_like(image, dtype::float32, image.shape);
    wide.color = image.color;
    const auto* from = reinterpret_cast<const half*>(image.data.get());
    std::transform(from, from + image.cells(), reinterpret_cast<float*>(wide.data.get()),
                   [](const half& value) { return static_cast<float>(static_cast<double>(value)); });
    return wide;
}

propagation_options propagation_of(const arguments& args) {
    const propagation_options usual;
    const propagation_options options{.neighbours = !args.no_neighbours,
                                      .links = !args.no_links,
                                      .masters = !args.no_masters,
                                      .hooked = args.hooked,
                                      .gather_length = static_cast<int>(std::clamp<std::int64_t>(
                                          args.gather_length, 0, std::numeric_limits<int>::max())),
                                      .most_rounds = args.most_rounds};
    if (args.method == "fast") {
        const std::pair<bool, const char*> given[] = {{args.no_links, "--no-links"},
                                                      {args.no_neighbours, "--no-neighbours"},
                                                      {args.no_masters, "--no-masters"},
                                                      {args.hooked, "--hooked"},
                                                      {args.gather_length != usual.gather_length, "--gather-length"},
                                                      {args.most_rounds != 0, "--most-rounds"}};
        for (const auto& [is, name] : given)
            if (is) refuse(fmt::format("{} is an option of propagation; give --method propagation too", name));
        return options;
    }
    if (args.no_links && args.no_neighbours)
        refuse("--no-links and --no-neighbours leave no way for labels to move; leave one of them out");
    const arguments none;
    const std::pair<bool, const char*> refused[] = {{args.min_size != none.min_size, "--min-size"},
                                                    {args.max_size != none.max_size, "--max-size"},
                                                    {args.largest != none.largest, "--largest"},
                                                    {args.clear_border, "--clear-border"},
                                                    {args.batch_axes != 0, "--batch-axes"},
                                                    {args.periodic, "--periodic"},
                                                    {!args.border.empty() && args.border != "open", "--border"},
                                                    {!args.stats.empty(), "--stats"}};
    for (const auto& [is, name] : refused)
        if (is)
            refuse(fmt::format(
                "{} does not go with --method propagation, which finds labels alone; leave one of them out", name));
    return options;
}

label_options label_options_for(const arguments& args, const loaded& input) {
    label_options options = label_options_of(args);
    const std::span grid(input.image.shape.data(), static_cast<std::size_t>(input.image.grid_rank()));
    const auto batch = static_cast<std::size_t>(options.batch_axes);
    if (batch >= grid.size())
        refuse(
            fmt::format("--batch-axes is {} and the array has {} ({}); leave at least one axis to label, e.g. "
                        "--batch-axes {}",
                        batch, grid.size(), text_of(grid), grid.empty() ? 0 : grid.size() - 1));
    check_connectivity(args, grid.size() - batch);
    const std::vector<border> ends = borders_of(args, grid.subspan(batch));
    options.border = {ends.data(), ends.size()};
    options.channels = input.image.color;
    if (!args.norm.empty() && !options.channels)
        refuse("--norm says how two colours are compared, and the input has one value a cell; leave it out");
    return options;
}

}  // namespace nearfield::cli
