// nearfield sdf
#include <fmt/format.h>

#include <cmath>
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
    r.options.supersample = args.supersample > 0 ? static_cast<int>(args.supersample) : font ? 8 : 1;
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
    r.font.path = args.font, r.font.supersample = r.options.supersample;
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

}  // namespace

int sdf_verb(const arguments& args) {
    request r = request_of(args);
    check_destination(args.output);
    if (!args.metrics.empty() && args.metrics != "-") io::require_place(args.metrics);
    const bool stdout_carries_data = one_stdout({args.output, args.metrics});
    in_words_of_options([&] {
        glyph_atlas atlas;
        if (!args.font.empty()) {
            r.font.characters = characters_of(args);
            atlas = draw_glyphs(r.font);
        }
        const io::array coverage =
            args.font.empty() ? coverage_of(read_file(args.input, args), args) : std::move(atlas.coverage);
        if (coverage.type == dtype::boolean) r.options.antialias = false;
        std::vector<std::int64_t> shape = coverage.shape;
        for (std::int64_t& side : shape) side /= r.options.supersample;
        io::require_writable(args.output, r.type, shape);
        io::array field = io::make_array(r.type, shape);
        const computed done = make_field(args, coverage, field, r.options);
        if (!done.note.empty()) note(args, done.note);
        for (const std::string& each : atlas.missing)
            note(args, fmt::format("{} has no glyph for \"{}\"", args.font, each));
        io::write(args.output, field);
        if (!args.metrics.empty()) {
            atlas.metrics["radius"] = r.options.radius, atlas.metrics["cutoff"] = r.options.cutoff;
            write_text(args.metrics, atlas.metrics.dump(2) + "\n");
        }
        json_report said = start_report(args);
        said["input"] = describe(coverage), said["input"]["path"] = args.font.empty() ? args.input : args.font;
        said["radius"] = r.options.radius, said["cutoff"] = r.options.cutoff;
        said["supersample"] = r.options.supersample, said["antialias"] = r.options.antialias;
        said["outputs"] = {{{"path", args.output}}};
        if (!args.metrics.empty()) said["outputs"].push_back({{"path", args.metrics}});
        said["run"] = describe(done, coverage.cells());
        finish(
            args, said,
            fmt::format("sdf: {} to {} {} in {} on {} ({}) -> {}", text_of(coverage.shape), text_of(shape),
                        nearfield::name_of(r.type), text_of_ms(done.median_ms()), done.device, done.name, args.output),
            stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
