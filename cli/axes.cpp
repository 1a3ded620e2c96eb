// Finds what each axis of a file counts, and which axes number images.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "cli/load.hpp"
#include "cli/parse.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

const char* plural_of(io::axis_kind kind) {
    constexpr const char* names[] = {"places", "frames", "channels", "images", "components", "of unknown meaning"};
    return names[static_cast<int>(kind)];
}

bool has(const io::array& image, io::axis_kind kind) {
    return std::find(image.axes.begin(), image.axes.end(), kind) != image.axes.end();
}

[[noreturn]] void ask_for_meaning(const arguments& args, const std::string& path, const io::array& image) {
    const int rank = image.grid_rank(), leading = image.leading_axes();
    std::string lengths = "5";
    for (int axis = 1; axis < rank; ++axis) lengths += ",0.4";
    const std::string came = fmt::format(
        "{} has {}, which the file does not explain: they may be depth, time or channels", path, text_of_axes(image));
    const std::string one = fmt::format("--spacing {}", lengths);
    const auto& options = find_verb(args.verb)->options;
    if (std::none_of(options.begin(), options.end(), [](const option& o) { return o.names == "--batch-axes"; }))
        refuse(fmt::format("{}; for a volume give {}", came, one));
    refuse(fmt::format(
        "{}; for a volume give --batch-axes 0 and its cells, e.g. --batch-axes 0 {}; for images one by one, "
        "--batch-axes {}",
        came, one, leading));
}

/// Takes the elements with one coordinate of an axis, and drops the axis.
io::array take_plane(const io::array& image, std::size_t axis, std::int64_t at) {
    const auto without = [axis](auto values) {
        if (axis < values.size()) values.erase(values.begin() + static_cast<std::ptrdiff_t>(axis));
        return values;
    };
    io::array made = io::make_array(image.type, without(image.shape));
    made.axes = without(image.axes), made.spacing = without(image.spacing);
    made.unit = image.unit, made.color = image.color;
    if (made.leading_axes() == 0) made.axes.clear();
    std::int64_t block = size_of(image.type), count = 1;
    for (std::size_t a = axis + 1; a < image.shape.size(); ++a) block *= image.shape[a];
    for (std::size_t a = 0; a < axis; ++a) count *= image.shape[a];
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(made.data.get() + i * block, image.data.get() + (i * image.shape[axis] + at) * block,
                    static_cast<std::size_t>(block));
    return made;
}

}  // namespace

io::array apply_channel(io::array image, const std::string& channel) {
    if (image.color) return take_channel(image, channel.empty() ? "luminance" : channel);
    if (channel.empty()) return image;
    const auto found = std::find_if(image.axes.begin(), image.axes.end(), [](io::axis_kind kind) {
        return kind == io::axis_kind::channel || kind == io::axis_kind::vector;
    });
    if (found == image.axes.end() && channel == "luminance") return image;
    if (found == image.axes.end())
        refuse(fmt::format("--channel is {} and the image has one value a cell; leave it out", channel));
    const auto axis = static_cast<std::size_t>(found - image.axes.begin());
    const std::int64_t count = image.shape[axis];
    const std::string range = fmt::format("give 0 to {}", count - 1);
    if (channel.find_first_not_of("0123456789") != std::string::npos)
        refuse(fmt::format("--channel is {}, and the image has {} {}; {}", channel, count, plural_of(*found), range));
    const std::int64_t at = parse_integer("--channel", channel, "--channel 0");
    if (at >= count)
        refuse(fmt::format("--channel is {}, and the image has {} {}; {}", channel, count, plural_of(*found), range));
    return take_plane(image, axis, at);
}

int asked_batch_axes(const arguments& args) {
    return args.batch_axes == arguments::as_the_file_says ? 0 : static_cast<int>(args.batch_axes);
}

int settle_axes(const arguments& args, const std::string& path, io::array& image) {
    using enum io::axis_kind;
    const int leading = image.leading_axes();
    int batch = asked_batch_axes(args);
    if (args.batch_axes == arguments::as_the_file_says && leading > 0) {
        if (has(image, vector))
            refuse(fmt::format(
                "{} has {}; give --channel 0 to {} for one component, or --batch-axes {} for each by itself", path,
                text_of_axes(image),
                image.shape[static_cast<std::size_t>(std::find(image.axes.begin(), image.axes.end(), vector) -
                                                     image.axes.begin())] -
                    1,
                leading));
        const bool told = !has(image, unknown);
        const bool all_unknown = std::count(image.axes.begin(), image.axes.end(), unknown) == leading;
        // Lengths for all axes, or the verb demo, imply that unknown axes are spatial.
        if (!told && !(all_unknown && (!args.spacing.empty() || args.verb == "demo")))
            ask_for_meaning(args, path, image);
        batch = told ? leading : 0;
    }
    // A time step is no length, even if a user takes a time axis for a spatial one.
    for (int axis = batch; axis < leading && !image.spacing.empty(); ++axis)
        image.spacing[static_cast<std::size_t>(axis)] = 1;
    image.axes.resize(static_cast<std::size_t>(image.grid_rank()), space);
    for (std::size_t axis = 0; axis < image.axes.size(); ++axis) {
        io::axis_kind& kind = image.axes[axis];
        if (static_cast<int>(axis) >= batch) kind = space;
        else if (kind == space || kind == unknown) kind = list;
    }
    if (image.leading_axes() == 0) image.axes.clear();
    return batch;
}

std::string text_of_axes(const io::array& image) {
    std::string text;
    const auto leading = static_cast<std::size_t>(image.leading_axes());
    for (std::size_t axis = 0; axis < leading; ++axis)
        text += fmt::format("{} {}{}", image.shape[axis], plural_of(image.axes[axis]), " x ");
    return text + text_of(std::span(image.shape).subspan(leading));
}

std::string text_of_space(const io::array& image) {
    const int space = image.grid_rank() - image.leading_axes();
    if (image.grid_rank() < 3) return "";
    if (space > 3) return fmt::format(" (space: {} {} axes)", image.leading_axes() > 0 ? "the last" : "all", space);
    return fmt::format(" (space: {})", std::string_view("z y x").substr(static_cast<std::size_t>(6 - 2 * space)));
}

}  // namespace nearfield::cli
