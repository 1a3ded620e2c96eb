// nearfield sdf
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>

#include "cli/coverage.hpp"
#include "cli/files.hpp"
#include "cli/font.hpp"
#include "cli/load.hpp"
#include "cli/mask_verb.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

struct request {
    sdf_options options;
    dtype type = dtype::uint8;
    font_request font;  ///< without a path if no font is used
};

request request_of(const arguments& args) {
    request r;
    if (!args.radius.empty()) r.options.radius = parse_number("--radius", args.radius, "--radius 8");
    if (!args.cutoff.empty()) r.options.cutoff = parse_number("--cutoff", args.cutoff, "--cutoff 0.25");
    if (args.supersample < 0 || args.supersample > 256)
        refuse(fmt::format("--supersample is {}; give 1 to 256 cells along each axis of a pixel", args.supersample));
    const bool font = !args.font.empty();
    r.options.supersample = args.supersample > 0 ? static_cast<int>(args.supersample) : 1;
    r.options.antialias = !args.mask && args.threshold.empty();
    r.options.border = ends_of(args);
    if (!args.dtype.empty())
        r.type = args.dtype == "float32" ? dtype::float32 : args.dtype == "uint16" ? dtype::uint16 : dtype::uint8;
    if (font != args.input.empty())
        refuse(font ? "--font and an input both say what to draw; give one of them"
                    : "nothing to draw: give an image, or --font FILE");
    if (!font && (!args.metrics.empty() || !args.characters.empty() || !args.size.empty()))
        refuse("--characters, --size and --metrics need --font FILE; give it too or leave them out");
    if (!font) return r;
    if (args.supersample > 0 || args.mask || !args.threshold.empty() || !args.channel.empty() || !args.border.empty())
        refuse("--supersample, --mask, --threshold, --channel and --border are for images; leave them out with --font");
    if (args.device.starts_with("cuda"))
        refuse(fmt::format("--device is {}, but fields of fonts are computed on the CPU; leave it out with --font",
                           args.device));
    r.font.path = args.font;
    if (!args.size.empty()) r.font.size = parse_number("--size", args.size, "--size 48");
    if (!(r.font.size >= 1 && r.font.size <= 4096))
        refuse(fmt::format("--size is {:g}; give 1 to 4096 pixels an em", r.font.size));
    if (!(r.options.radius > 0 && r.options.radius <= 1e4))
        refuse("--radius is out of range; give more than 0 and at most 10000 pixels");
    r.font.margin = static_cast<int>(std::ceil(r.options.radius * (1 - r.options.cutoff)));
    return r;
}

/// --characters as they stand, or from @FILE; without the option all printable ASCII.
std::string characters_of(const arguments& args) {
    std::string text = args.characters;
    if (text.empty())
        for (char c = 32; c < 127; ++c) text += c;
    if (text[0] != '@' || text.size() == 1) return text;
    std::ifstream file(text.substr(1), std::ios::binary);
    if (!file)
        throw error(error_code::io,
                    fmt::format("{}, which --characters names, cannot be opened; check its name", text.substr(1)));
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Values of the field's type for distances in pixels.
io::array in_type(io::array distances, const request& r) {
    if (r.type == dtype::float32) return distances;
    io::array made = io::make_array(r.type, distances.shape);
    const auto* const from = reinterpret_cast<const float*>(distances.data.get());
    const double most = r.type == dtype::uint8 ? 255 : 65535;
    for (std::int64_t i = 0; i < made.cells(); ++i) {
        const double share = 1 - r.options.cutoff + static_cast<double>(from[i]) / r.options.radius;
        const double code = std::clamp(std::floor(most * share + 0.5), 0.0, most);
        if (r.type == dtype::uint8)
            reinterpret_cast<std::uint8_t*>(made.data.get())[i] = static_cast<std::uint8_t>(code);
        else reinterpret_cast<std::uint16_t*>(made.data.get())[i] = static_cast<std::uint16_t>(code);
    }
    return made;
}

struct drawn {
    io::array field;
    computed done;
    glyph_atlas atlas;
    json_report from;
};

drawn from_font(const arguments& args, request& r) {
    drawn made;
    r.font.characters = characters_of(args);
    made.done = draw_text(args, r.font, made.atlas);
    made.field = in_type(std::move(made.atlas.field), r);
    io::require_writable(args.output, r.type, made.field.shape);
    made.from = {{"path", args.font}, {"characters", r.font.characters}};
    return made;
}

drawn from_image(const arguments& args, request& r) {
    drawn made;
    const io::array coverage = coverage_of(read_file(args.input, args), args);
    if (coverage.type == dtype::boolean) r.options.antialias = false;
    std::vector<std::int64_t> shape = coverage.shape;
    for (std::int64_t& side : shape) side /= r.options.supersample;
    io::require_writable(args.output, r.type, shape);
    made.field = io::make_array(r.type, shape);
    made.done = make_field(args, coverage, made.field, r.options);
    made.from = describe(coverage), made.from["path"] = args.input;
    return made;
}

}  // namespace

int sdf_verb(const arguments& args) {
    request r = request_of(args);
    check_destination(args.output);
    if (!args.metrics.empty() && args.metrics != "-") io::require_place(args.metrics);
    const bool stdout_carries_data = one_stdout({args.output, args.metrics});
    in_words_of_options([&] {
        drawn made = args.font.empty() ? from_image(args, r) : from_font(args, r);
        if (!made.done.note.empty()) note(args, made.done.note);
        io::write(args.output, made.field);
        if (!args.metrics.empty()) {
            made.atlas.metrics["radius"] = r.options.radius, made.atlas.metrics["cutoff"] = r.options.cutoff;
            write_text(args.metrics, made.atlas.metrics.dump(2) + "\n");
        }
        json_report said = start_report(args);
        said["input"] = made.from;
        said["radius"] = r.options.radius, said["cutoff"] = r.options.cutoff;
        said["supersample"] = r.options.supersample, said["antialias"] = r.options.antialias;
        said["outputs"] = {{{"path", args.output}}};
        if (!args.metrics.empty()) said["outputs"].push_back({{"path", args.metrics}});
        said["run"] = describe(made.done, made.field.cells());
        finish(args, said,
               fmt::format("sdf: {} to {} {} in {} on {} ({}) -> {}", args.font.empty() ? args.input : args.font,
                           text_of(made.field.shape), nearfield::name_of(r.type), text_of_ms(made.done.median_ms()),
                           made.done.device, made.done.name, args.output),
               stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
