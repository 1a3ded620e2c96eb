#include "cli/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "cli/load.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"
#include "edge/arrays_run.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Scales luminance, a double in the range of the image's type, to coverage from 0 to 1.
void scale(io::array& gray, dtype was) {
    const double full = was == dtype::uint8 ? 255 : was == dtype::uint16 ? 65535 : 1;
    auto* const values = reinterpret_cast<double*>(gray.data.get());
    for (std::int64_t i = 0; i < gray.cells(); ++i) values[i] /= full;
}

/// Refuses masks of 0 and 1, whose 1 would be the least coverage above 0.
void refuse_mask(const io::array& one, const arguments& args) {
    const auto most = [&]<class T>(T) {
        const auto* const v = reinterpret_cast<const T*>(one.data.get());
        return one.cells() == 0 ? T{0} : *std::max_element(v, v + one.cells());
    };
    const bool bytes = one.type == dtype::uint8;
    if ((bytes ? most(std::uint8_t{}) : one.type == dtype::uint16 ? most(std::uint16_t{}) : 0) != 1) return;
    refuse(fmt::format("{} is a mask of 0 and 1 in {}, whose full coverage is {}; give {}", args.input,
                       name_of(one.type), bytes ? 255 : 65535, args.verb == "sdf" ? "--mask" : "--threshold 0"));
}

}  // namespace

io::array coverage_of(const io::array& image, const arguments& args) {
    io::array one;
    if (image.color) {
        const std::string usual = image.shape.back() == 4 ? "alpha" : "luminance";
        const std::string channel = args.channel.empty() ? usual : args.channel;
        one = take_channel(image, channel);
        if (channel == "luminance" && args.threshold.empty()) scale(one, image.type);
    } else {
        one = make_like(image, image.type, image.shape);
        std::copy_n(image.data.get(), image.bytes(), one.data.get());
        one = apply_channel(std::move(one), args.channel);
    }
    if (!args.threshold.empty()) one = apply_threshold(one, args.threshold);
    if (one.shape.size() != 2)
        refuse(fmt::format("{} has {} axes; {} takes images of 2 axes, so give one of its planes", args.input,
                           one.shape.size(), args.verb));
    if (!args.mask && args.threshold.empty()) refuse_mask(one, args);
    return one;
}

borders ends_of(const arguments& args) {
    if (args.border.empty()) return {};
    border ends[2];
    const std::vector<std::string> words = split(args.border, ',');
    if (words.size() > 2)
        refuse(fmt::format("--border has {} values; give one, or one for rows and one for columns", words.size()));
    for (std::size_t k = 0; k < 2; ++k) {
        const std::string& word = words[words.size() == 1 ? 0 : k];
        if (word != "open" && word != "periodic")
            refuse(fmt::format("--border is {}; give open or periodic", args.border));
        ends[k] = word == "open" ? border::open : border::periodic;
    }
    return {ends, 2};
}

computed draw_text(const arguments& args, const font_request& request, glyph_atlas& made) {
    arguments here = args;
    here.device = "cpu", here.threads = 1;
    const computed done = compute(here, {[&](const host&) { made = draw_glyphs(request); }, {}});
    for (const std::string& each : made.missing) note(args, fmt::format("{} has no glyph for \"{}\"", args.font, each));
    return done;
}

computed make_field(const arguments& args, const io::array& coverage, io::array& field, const sdf_options& options) {
    const any_input<host> in = coverage.in();
    const any_output<host> out = field.out();
    const placed_call call{
        [&](const host& on) { sdf(on, in, out, options); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&in, 1}, {&out, 1},
                [&](const device& on, auto read, auto to) { sdf(on, read[0], to[0], options); }, warmups, repeat);
        },
    };
    return compute(args, call);
}

}  // namespace nearfield::cli
