// nearfield effect
#include <fmt/format.h>

#include <algorithm>

#include "cli/coverage.hpp"
#include "cli/effect_words.hpp"
#include "cli/font.hpp"
#include "cli/load.hpp"
#include "cli/mask_verb.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"
#include "edge/arrays_run.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Runs a call of the library with an image and an output on the device that --device names.
template <class Call>
computed run(const arguments& args, const io::array& from, io::array& to, const Call& call) {
    const any_input<host> in = from.in();
    const any_output<host> out = to.out();
    const placed_call placed{
        [&](const host& on) { call(on, in, out); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&in, 1}, {&out, 1},
                [&](const device& on, auto read, auto made) { call(on, read[0], made[0]); }, warmups, repeat);
        },
    };
    return compute(args, placed);
}

/// Adds a margin of zeros around the image, in pixels.
io::array with_margin(io::array image, std::int64_t margin) {
    if (margin == 0) return image;
    std::vector<std::int64_t> shape = image.shape;
    shape[0] += 2 * margin, shape[1] += 2 * margin;
    io::array made = make_like(image, image.type, shape);
    made.color = image.color;
    std::fill_n(made.data.get(), made.bytes(), std::byte{0});
    const std::int64_t pixel = image.bytes() / (image.shape[0] * image.shape[1]), line = image.shape[1] * pixel;
    for (std::int64_t y = 0; y < image.shape[0]; ++y)
        std::copy_n(image.data.get() + y * line, line, made.data.get() + ((y + margin) * shape[1] + margin) * pixel);
    return made;
}

struct painting {
    io::array canvas, field;
    computed done;
    bool started = false;

    void add(const computed& part) {
        if (started) done.add(part);
        else done = part, started = true;
    }
};

void paint_effect(const arguments& args, painting& p, const asked_effect& each) {
    io::array layer = io::make_array(dtype::float32, p.field.shape);
    const auto& what = std::get<effects::effect>(each.what);
    const borders ends = ends_of(args);
    p.add(run(args, p.field, layer,
              [&](const auto& on, const auto& in, const auto& out) { effects::layer(on, in, out, what, ends); }));
    const host on{static_cast<int>(args.threads), {}};
    effects::paint(on, p.canvas.out(), layer.in(), each.with, each.how);
    if (each.name == "bevel") effects::paint(on, p.canvas.out(), layer.in(), {0, 0, 0, -each.with.alpha}, each.how);
}

/// Paints the image itself, in its own colours or in that of --fill.
void paint_shape(const arguments& args, painting& p, const io::array& image) {
    if (args.fill == "none") return;
    const host on{static_cast<int>(args.threads), {}};
    if (args.fill.empty() && image.color && image.shape.back() == 4) {
        io::array own = io::make_array(dtype::float32, p.canvas.shape);
        effects::decode(on, image.in(), own.out());
        auto* const to = reinterpret_cast<float*>(p.canvas.data.get());
        const auto* const from = reinterpret_cast<const float*>(own.data.get());
        for (std::int64_t i = 0; i < own.cells(); ++i) to[i] = from[i] + to[i] * (1 - from[i / 4 * 4 + 3]);
        return;
    }
    io::array solid = io::make_array(dtype::float32, p.field.shape);
    run(args, p.field, solid, [&](const auto& where, const auto& in, const auto& out) {
        effects::layer(where, in, out, effects::outline{1e6, 0});
    });
    effects::paint(on, p.canvas.out(), solid.in(), effects::colour_of(args.fill.empty() ? "#ffffff" : args.fill));
}

/// Share of ink that reflects as much light as the image has.
io::array tones_of(const arguments& args, const io::array& image) {
    io::array canvas = io::make_array(dtype::float32, {image.shape[0], image.shape[1], 4});
    io::array flat = image.color ? make_like(image, image.type, image.shape)
                                 : make_like(image, image.type, {image.shape[0], image.shape[1], 1});
    std::copy_n(image.data.get(), image.bytes(), flat.data.get());
    effects::decode(host{static_cast<int>(args.threads), {}}, flat.in(), canvas.out());
    io::array tone = io::make_array(dtype::float32, {image.shape[0], image.shape[1]});
    const auto* const from = reinterpret_cast<const float*>(canvas.data.get());
    auto* const to = reinterpret_cast<float*>(tone.data.get());
    for (std::int64_t i = 0; i < tone.cells(); ++i) {
        const float* const c = from + 4 * i;
        to[i] = c[3] - (0.2126F * c[0] + 0.7152F * c[1] + 0.0722F * c[2]);
    }
    return tone;
}

/// The picture to paint: an image, or a line of text as its coverage and field.
struct subject {
    io::array image, field;
    computed drawn;
};

subject subject_of(const arguments& args) {
    if (args.font.empty() != args.characters.empty() || (args.font.empty() && args.input.empty()))
        refuse("nothing to paint: give an image, or --font FILE and --text WORDS");
    if (args.font.empty()) return {.image = read_file(args.input, args), .field = {}, .drawn = {}};
    if (!args.input.empty()) refuse("--font and an input both say what to paint; give one of them");
    if (!args.threshold.empty() || !args.channel.empty())
        refuse("--threshold and --channel are for images; leave them out with --font");
    font_request text{.path = args.font, .characters = args.characters, .as_line = true};
    const borders ends = ends_of(args);
    text.margin = static_cast<int>(args.margin) + 1;
    text.down = ends[0] == border::periodic, text.across = ends[1] == border::periodic;
    if (!args.size.empty()) text.size = parse_number("--size", args.size, "--size 96");
    if (!(text.size >= 1 && text.size <= 4096))
        refuse(fmt::format("--size is {:g}; give 1 to 4096 pixels an em", text.size));
    subject made;
    glyph_atlas atlas;
    made.drawn = draw_text(args, text, atlas);
    made.field = std::move(atlas.field), made.image = io::make_array(dtype::uint8, made.field.shape);
    const auto* const from = reinterpret_cast<const float*>(made.field.data.get());
    auto* const to = reinterpret_cast<std::uint8_t*>(made.image.data.get());
    for (std::int64_t i = 0; i < made.image.cells(); ++i)
        to[i] = static_cast<std::uint8_t>(255 * std::clamp(from[i] + 0.5F, 0.0F, 1.0F) + 0.5F);
    return made;
}

void write_canvas(const arguments& args, const painting& p, bool opaque) {
    io::array picture = io::make_array(dtype::uint8, {p.canvas.shape[0], p.canvas.shape[1], opaque ? 3 : 4});
    picture.color = true;
    effects::encode(host{static_cast<int>(args.threads), {}}, p.canvas.in(), picture.out());
    io::write(args.output, picture);
}

void add_field(const arguments& args, painting& p, const io::array& image) {
    const io::array coverage = coverage_of(image, args);
    sdf_options options;
    options.border = ends_of(args);
    options.antialias = args.threshold.empty() && coverage.type != dtype::boolean;
    p.add(make_field(args, coverage, p.field, options));
}

computed paint_all(const arguments& args, const std::vector<asked_effect>& asked, subject& what) {
    painting p;
    const io::array& image = what.image;
    const bool tones = asked[0].name == "halftone";
    const std::vector<std::int64_t> shape{image.shape[0], image.shape[1]};
    p.canvas = io::make_array(dtype::float32, {shape[0], shape[1], 4});
    p.field = io::make_array(dtype::float32, shape);
    std::fill_n(p.canvas.data.get(), p.canvas.bytes(), std::byte{0});
    std::fill_n(reinterpret_cast<float*>(p.field.data.get()), p.field.cells(), 1.0F);
    effects::colour paper{1, 1, 1, tones ? 1.0F : 0.0F};
    if (!args.background.empty()) paper = effects::colour_of(args.background);
    effects::paint(host{static_cast<int>(args.threads), {}}, p.canvas.out(), p.field.in(), paper);
    if (tones) {
        p.field = tones_of(args, image);
        paint_effect(args, p, asked[0]);
    } else {
        if (!args.font.empty()) p.field = std::move(what.field);
        else add_field(args, p, image);
        for (const bool front : {false, true}) {
            if (front) paint_shape(args, p, image);
            for (const asked_effect& each : asked)
                if (each.in_front() == front) paint_effect(args, p, each);
        }
    }
    if (!args.font.empty()) p.add(what.drawn);
    write_canvas(args, p, paper.alpha == 1);
    return p.done;
}

computed pad_all(const arguments& args, const asked_effect& asked, const io::array& image) {
    effects::pad_options options = std::get<effects::pad_options>(asked.what);
    options.border = ends_of(args);
    if (!image.color || image.shape.back() != 4)
        refuse(fmt::format("{} has no alpha, by which pad finds the islands; give an RGBA image", args.input));
    io::array made = make_like(image, image.type, image.shape);
    made.color = true;
    const computed done = run(args, image, made, [&](const auto& on, const auto& in, const auto& out) {
        effects::pad(on, in, out, options);
    });
    io::write(args.output, made);
    return done;
}

}  // namespace

int effect_verb(const arguments& args) {
    const std::vector<asked_effect> asked = parse_effects(args.effects);
    static_cast<void>(ends_of(args));
    for (const std::string& text : {args.background, args.fill})
        if (!text.empty() && text != "none") static_cast<void>(effects::colour_of(text));
    if (args.margin < 0 || args.margin > 100000)
        refuse(fmt::format("--margin is {}; give a number of pixels, 0 or more", args.margin));
    check_destination(args.output);
    const bool stdout_carries_data = one_stdout({args.output});
    in_words_of_options([&] {
        subject what = subject_of(args);
        io::array& image = what.image;
        if (image.grid_rank() != 2)
            refuse(fmt::format("{} has {} axes; give an image of 2 axes", args.input, image.grid_rank()));
        if (args.font.empty()) image = with_margin(std::move(image), args.margin);
        io::require_writable(args.output, dtype::uint8, {image.shape[0], image.shape[1], 4}, true);
        const computed done = asked[0].name == "pad" ? pad_all(args, asked[0], image) : paint_all(args, asked, what);
        if (!done.note.empty()) note(args, done.note);
        json_report said = start_report(args);
        said["input"] = describe(image), said["input"]["path"] = args.font.empty() ? args.input : args.font;
        said["effects"] = json_report::array();
        for (const asked_effect& each : asked) said["effects"].push_back(each.name);
        said["outputs"] = {{{"path", args.output}}};
        said["run"] = describe(done, image.shape[0] * image.shape[1]);
        finish(args, said,
               fmt::format("effect: {}, {}x{} in {} on {} ({}) -> {}", args.effects, image.shape[0], image.shape[1],
                           text_of_ms(done.median_ms()), done.device, done.name, args.output),
               stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
