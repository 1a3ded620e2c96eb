#include "cli/mask_verb.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/file_facts.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

std::int64_t foreground(const io::array& image) {
    return with_elements(image.data.get(), image.type, [&](const auto* cells) -> std::int64_t {
        return std::count_if(cells, cells + image.cells(), [](auto cell) { return static_cast<double>(cell) != 0; });
    });
}

}  // namespace

io::array ones_of(const io::array& image) {
    io::array mask = make_like(image, dtype::uint8, image.shape);
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        std::transform(cells, cells + image.cells(), reinterpret_cast<std::uint8_t*>(mask.data.get()),
                       [](auto cell) { return static_cast<double>(cell) != 0 ? 1 : 0; });
    });
    return mask;
}

loaded load_mask(const arguments& args) {
    loaded input = load(args.input, args);
    if (!args.multilabel && args.sites.empty()) note_gray(args, args.input, input.image);
    return input;
}

io::array other_input(const std::string& path, const arguments& args, const io::array& image, const char* option) {
    arguments plain = args;
    plain.threshold.clear();
    io::array made = load(path, plain).image;
    if (made.shape != image.shape)
        refuse(fmt::format("{} has shape {} and {} {}; give the same shape for both", option, text_of(made.shape),
                           args.input, text_of(image.shape)));
    return made;
}

bool check_mask_outputs(const arguments& args) {
    if (is_png(args.output) && !args.picture.empty())
        refuse("-o and --picture both name a picture; give -o a format of arrays, e.g. -o shape.npy");
    if (!args.picture.empty() && !is_png(args.picture))
        refuse(fmt::format("--picture is {}; pictures are PNG files, e.g. --picture shape.png", args.picture));
    if (args.output.empty() && args.picture.empty() && args.graph.empty() && args.quiet && !args.json)
        refuse("nothing to make: give -o or --picture, or leave out --quiet to be told how many cells are left");
    check_destination(args.output), check_destination(args.picture);
    check_picture_size(args);
    return one_stdout({args.output, args.picture, args.graph});
}

void make_result(const arguments& args, mask_run& run, dtype type) {
    const io::array& image = run.input.image;
    if (!args.output.empty() && !is_png(args.output))
        io::require_writable(args.output, type, image.shape, false, image.axes);
    if (!args.picture.empty() || is_png(args.output))
        static_cast<void>(arrange(image.shape, run.input.per_axis, page_of(args, run.input), false));
    run.result = make_like(image, type, image.shape);
}

void count_cells(mask_run& run, bool mask) {
    run.before = foreground(run.input.image), run.after = foreground(run.result);
    if (!mask) return;
    auto* const cells = reinterpret_cast<std::uint8_t*>(run.result.data.get());
    std::transform(cells, cells + run.result.cells(), cells, [](std::uint8_t in) { return in != 0 ? 255 : 0; });
}

void save_mask(const arguments& args, const mask_run& run, bool mask) {
    if (!args.output.empty() && !is_png(args.output)) io::write(args.output, run.result);
    const std::string& path = is_png(args.output) ? args.output : args.picture;
    if (path.empty()) return;
    if (is_png(args.output) && mask && run.result.shape.size() == 2) return io::write(path, run.result);
    const sheet on = arrange(run.result.shape, run.input.per_axis, page_of(args, run.input), run.input.rows_up);
    io::write(path, to_array(mask ? draw_change(on, run.input.image, run.result) : draw_labels(on, run.result)));
}

json_report start_mask_report(const arguments& args, const mask_run& run, const computed& done) {
    json_report said = start_report(args);
    said["input"] = describe(run.input.image);
    said["input"]["path"] = args.input;
    said["spacing"] = run.input.per_axis;
    said["foreground_before"] = run.before;
    said["foreground_after"] = run.after;
    said["outputs"] = json_report::array();
    for (const std::string& path : {args.output, args.picture, args.graph, args.stats})
        if (!path.empty()) said["outputs"].push_back({{"path", path}});
    said["run"] = describe(done, run.result.cells());
    return said;
}

std::string text_of_files(const arguments& args) {
    std::string text;
    for (const std::string& path : {args.output, args.picture, args.graph, args.stats})
        if (!path.empty() && path != "-") text += (text.empty() ? " -> " : ", ") + path;
    return text;
}

void in_words_of_options(const std::function<void()>& work) {
    try {
        work();
    } catch (const error& problem) {
        std::string message = problem.what();
        const std::string theirs = "use host{}";
        if (const std::size_t at = message.find(theirs); at != std::string::npos)
            message.replace(at, theirs.size(), "give --device cpu");
        throw error(problem.code(), message);
    }
}

}  // namespace nearfield::cli
